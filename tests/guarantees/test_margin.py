from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from mercer.errors import InputError, ParameterError
from mercer.guarantees import margin_bound, margin_loss, rademacher_upper

RTOL = 1e-12
RNG = np.random.default_rng(0)
MARGINS = RNG.normal(0.5, 1.0, size=400)


def test_margin_loss_in_exact_arithmetic() -> None:
    margins = [Fraction(-3, 2), Fraction(0), Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(7)]
    rho = Fraction(1, 2)
    exact = sum(min(Fraction(1), max(Fraction(0), 1 - x / rho)) for x in margins) / len(margins)
    assert margin_loss([float(x) for x in margins], 0.5) == pytest.approx(float(exact), rel=RTOL)


@pytest.mark.parametrize("rho", [1e-300, 1e-3, 0.5, 1.0, 50.0])
def test_margin_loss_lies_between_two_counts(rho: float) -> None:
    loss = margin_loss(MARGINS, rho)
    errors, below = (float(np.less_equal(MARGINS, level).mean()) for level in (0.0, rho))
    assert errors - RTOL <= loss <= below + RTOL


def test_margin_loss_grows_with_rho() -> None:
    losses = [margin_loss(MARGINS, rho) for rho in np.geomspace(1e-3, 1e3, 30)]
    assert np.all(np.diff(losses) >= 0)


def test_worked_value_with_the_radius() -> None:
    # m = 10000, L = 2, r = 1, rho = 1: 0 + 2*2/100 + sqrt(log(20) / 20000)
    bound = margin_bound(np.ones(10_000), 1.0, norm_bound=2.0, radius=1.0, delta=0.05)
    assert bound.value == pytest.approx(0.04 + math.sqrt(math.log(20) / 20_000), rel=RTOL)


def test_worked_value_with_the_trace() -> None:
    # Tr K = 2500, m = 10000, L = 3, rho = 1/2: 2*3*50 / (0.5*10000) = 0.06; the printed form would say 6.
    bound = margin_bound(np.ones(10_000), 0.5, norm_bound=3.0, K=2500.0, delta=0.02)
    assert bound.terms["complexity"] == pytest.approx(0.06, rel=RTOL)
    assert bound.value == pytest.approx(0.06 + 3 * math.sqrt(math.log(100) / 20_000), rel=RTOL)


def test_uniform_worked_values() -> None:
    # rho_max / rho = 8, so log2(16) = 4
    m, ones = 10_000, np.ones(10_000)
    by_trace = margin_bound(ones, 0.5, norm_bound=1.0, K=2500.0, rho_max=4.0)
    expected = 4 * 50 / (0.5 * m) + 3 * math.sqrt(math.log(4) / m) + 3 * math.sqrt(math.log(40) / (2 * m))
    assert by_trace.value == pytest.approx(expected, rel=RTOL)
    by_radius = margin_bound(ones, 0.5, norm_bound=1.0, radius=0.5, rho_max=4.0)
    expected = 4 * 0.5 / (0.5 * 100) + math.sqrt(math.log(4) / m) + math.sqrt(math.log(40) / (2 * m))
    assert by_radius.value == pytest.approx(expected, rel=RTOL)


def test_uniform_form_costs_nothing_extra_at_its_top_but_the_constants() -> None:
    bound = margin_bound(MARGINS, 2.0, norm_bound=1.0, radius=1.0, rho_max=2.0)
    assert bound.terms["all rho at once"] == 0.0


def test_trace_form_uses_the_complexity_of_the_sample() -> None:
    X = RNG.normal(size=(400, 3))
    K = X @ X.T
    bound = margin_bound(MARGINS, 0.7, norm_bound=1.3, K=K)
    assert bound.terms["complexity"] == pytest.approx(2 / 0.7 * float(rademacher_upper(K, 1.3)), rel=RTOL)


@pytest.mark.parametrize("kind", ["K", "radius"])
def test_monotone(kind: str) -> None:
    def value(
        m: int = 900, norm: float = 1.0, size: float = 1.0, delta: float = 0.1, rho: float = 1.0
    ) -> float:
        margins = np.full(m, 0.3)
        if kind == "K":
            return float(margin_bound(margins, rho, norm_bound=norm, K=size**2 * m, delta=delta))
        return float(margin_bound(margins, rho, norm_bound=norm, radius=size, delta=delta))

    assert value(m=3600) < value()
    assert value(norm=2.0) > value()
    assert value(size=2.0) > value()
    assert value(delta=0.01) > value()


def test_vacuous_flag_and_reason() -> None:
    tiny = margin_bound(np.ones(10), 0.1, norm_bound=5.0, K=10.0)
    assert tiny.vacuous
    assert "never exceeds 1" in str(tiny)
    assert "complexity" in tiny.vacuous_because
    assert not margin_bound(np.ones(10**5), 0.5, norm_bound=1.0, radius=1.0).vacuous
    assert margin_bound(np.ones(10), 5e-324, norm_bound=1.0, radius=1.0).vacuous
    assert not math.isnan(
        float(margin_bound(np.ones(10**4), 5e-324, norm_bound=0.0, radius=1.0, rho_max=1e300))
    )


def population(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    X = rng.normal(size=(500, 2))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
    y = np.sign(X[:, 0] + 0.3 * rng.normal(size=500))
    return X, y


@pytest.mark.parametrize("rho_max", [None, 1.0])
def test_not_violated_on_a_finite_population(rho_max: float | None) -> None:
    # The points are drawn with replacement from 500, so the true error is a plain count.
    rng = np.random.default_rng(1)
    X, y = population(rng)
    m, L, delta, failures, useful = 3000, 1.0, 0.5, 0, 0
    for _ in range(100):
        draw = rng.integers(0, len(X), size=m)
        A, b = X[draw], y[draw]
        w = np.linalg.lstsq(A, b, rcond=None)[0]
        w *= L / np.linalg.norm(w)
        error = np.mean(y * (X @ w) <= 0)
        margins = b * (A @ w)
        rho = 0.5 if rho_max is None else float(np.quantile(np.abs(margins), 0.4))
        for bound in (
            margin_bound(margins, rho, norm_bound=L, radius=1.0, delta=delta, rho_max=rho_max),
            margin_bound(margins, rho, norm_bound=L, K=float((A * A).sum()), delta=delta, rho_max=rho_max),
        ):
            failures += int(error > float(bound))
            useful += not bound.vacuous
    assert failures == 0
    assert useful == 200


def test_complexity_term_cannot_be_dropped() -> None:
    # A rich class fits random labels: without its complexity term the bound would be false every time.
    rng = np.random.default_rng(2)
    m = 200
    y = rng.choice(
        [-1.0, 1.0], size=m
    )  # K = I: h(x_i) = y_i has norm sqrt(m) and knows nothing about new points
    bound = margin_bound(y * y, 1.0, norm_bound=math.sqrt(m), K=np.eye(m))
    assert float(bound) >= 0.5
    assert float(bound) - bound.terms["complexity"] < 0.5
    assert bound.vacuous


def test_invalid_arguments_are_named() -> None:
    with pytest.raises(ParameterError, match=r"`margin_bound`: `delta` must be in \(0, 1\). Got 2."):
        margin_bound([1.0], 1.0, norm_bound=1.0, radius=1.0, delta=2)
    with pytest.raises(ParameterError, match=r"exactly one of `K` and `radius` must be given. Got neither"):
        margin_bound([1.0], 1.0, norm_bound=1.0)
    with pytest.raises(ParameterError, match=r"exactly one of `K` and `radius` must be given. Got both"):
        margin_bound([1.0], 1.0, norm_bound=1.0, K=1.0, radius=1.0)
    with pytest.raises(ParameterError, match=r"`rho` must be in \(0, rho_max\]"):
        margin_bound([1.0], 1.0, norm_bound=1.0, radius=1.0, rho_max=0.5)
    with pytest.raises(ParameterError, match="`rho_max` must be a positive"):
        margin_bound([1.0], 1.0, norm_bound=1.0, radius=1.0, rho_max="big")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"`margins` must agree with the 2 rows of `K`. Got 1"):
        margin_bound([1.0], 1.0, norm_bound=1.0, K=np.eye(2))
    with pytest.raises(ParameterError, match="`margin_loss`: `rho` must be a positive"):
        margin_loss([1.0], 0.0)
    with pytest.raises(InputError, match=r"`margins` must be finite. Got nan at index 1"):
        margin_loss([1.0, math.nan], 1.0)
    with pytest.raises(InputError, match="`margins` must be a non-empty vector"):
        margin_loss([], 1.0)
    with pytest.raises(InputError, match="`margins` must be a vector of real numbers"):
        margin_loss(["a"], 1.0)
