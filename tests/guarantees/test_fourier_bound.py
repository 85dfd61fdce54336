from __future__ import annotations

import math

import numpy as np
import pytest

from mercer.errors import ParameterError
from mercer.guarantees import (
    fourier_features_deviation,
    fourier_features_error_probability,
    fourier_features_needed,
)

RTOL = 1e-10
CASE = {"dim": 10, "radius": 1.0, "sigma_p": math.sqrt(10), "eps": 0.1}


def test_worked_value() -> None:
    bound = fourier_features_needed(**CASE, delta=0.01)  # type: ignore[arg-type]
    assert int(bound) == 92_426
    assert isinstance(bound.value, int)
    # 4 * 12 / 0.01 * log(2304 * 1000 / 0.01), written out
    assert 92_425 < 4800 * math.log(230_400_000) <= 92_426


def test_needed_is_the_least_number_that_the_probability_accepts() -> None:
    for tight in (False, True):
        D = int(fourier_features_needed(**CASE, delta=0.01, tight=tight))  # type: ignore[arg-type]
        probability = [
            float(fourier_features_error_probability(n, **CASE, tight=tight))  # type: ignore[arg-type]
            for n in (D - 1, D)
        ]
        assert probability[1] <= 0.01 < probability[0]


@pytest.mark.parametrize("N", [1, 2, 5, 40])
@pytest.mark.parametrize("D", [10, 1000, 100_000])
@pytest.mark.parametrize("eps", [0.05, 0.5, 2.0])
def test_forms_against_the_lemma_at_its_balancing_radius(N: int, D: int, eps: float) -> None:
    # a r^-N + b r^2 in logarithms, at the r that makes the two addends equal
    R, sigma = 1.5, 2.0
    log_a = math.log(2) + N * math.log(6 * R) - D * eps**2 / 8
    log_b = 2 * math.log(4 * sigma / eps)
    log_r = (log_a - log_b) / (N + 2)
    first, second = log_a - N * log_r, log_b + 2 * log_r
    assert first == pytest.approx(second, rel=RTOL, abs=RTOL)
    arguments = {"dim": N, "radius": R, "sigma_p": sigma, "eps": eps}
    tight = float(fourier_features_error_probability(D, **arguments, tight=True))  # type: ignore[arg-type]
    stated = float(fourier_features_error_probability(D, **arguments))  # type: ignore[arg-type]
    if first > -700:
        assert tight == pytest.approx(2 * math.exp(first), rel=RTOL)
    assert tight <= stated * (1 + RTOL)
    # Where the net would be coarser than its lemma allows, the bound must already be vacuous.
    if log_r > math.log(6 * R):
        assert stated >= 1


def test_covering_number_used_in_the_derivation() -> None:
    # (1 + 4R/r)^N <= (6R/r)^N exactly for r <= 2R; from there on one ball covers, and 6R/r >= 1 up to 6R.
    for q in np.linspace(0.01, 2.0, 200):
        assert 1 + 4 / q <= 6 / q + 1e-12


def test_monotone() -> None:
    def needed(**changes: float) -> int:
        arguments = {**CASE, "delta": 0.01, **changes}
        return int(fourier_features_needed(**arguments))  # type: ignore[arg-type]

    base = needed()
    assert needed(dim=11) > base
    assert needed(radius=2.0) > base
    assert needed(sigma_p=5.0) > base
    assert needed(eps=0.2) < base
    assert needed(delta=0.1) < base


@pytest.mark.parametrize("sigma", [0.5, 1.0])
def test_not_violated_for_the_gaussian_kernel(sigma: float) -> None:
    # One dimension, radius 1: differences fill [-2, 2]; the frequencies of width sigma are N(0, 1/sigma^2).
    rng = np.random.default_rng(0)
    eps, delta = 0.5, 0.5
    D = int(fourier_features_needed(1, 1.0, 1 / sigma, eps, delta, tight=True))
    z = np.linspace(-2, 2, 401)
    worst = []
    for _ in range(50):
        w = rng.normal(scale=1 / sigma, size=D)
        worst.append(np.abs(np.cos(np.outer(z, w)).mean(axis=1) - np.exp(-(z**2) / (2 * sigma**2))).max())
    assert max(worst) < eps


def test_vacuous_flag() -> None:
    few = fourier_features_error_probability(10, **CASE)  # type: ignore[arg-type]
    assert few.vacuous
    assert "more frequencies" in str(few)
    assert not fourier_features_error_probability(10**6, **CASE).vacuous  # type: ignore[arg-type]
    extreme = fourier_features_error_probability(1, dim=1, radius=1e300, sigma_p=1e300, eps=1e-300)
    assert extreme.value == math.inf
    assert extreme.vacuous


def test_states_that_the_map_has_two_coordinates_per_frequency() -> None:
    assert "2 D coordinates" in str(fourier_features_needed(**CASE, delta=0.01))  # type: ignore[arg-type]


def test_limit_of_eps() -> None:
    limit = 24 * 1.0 * 0.01
    fourier_features_needed(2, 1.0, 0.01, limit, 0.1)
    with pytest.raises(
        ParameterError, match=r"`eps` must be at most 24 \* radius \* sigma_p = 0.24. Got 0.3"
    ):
        fourier_features_needed(2, 1.0, 0.01, 0.3, 0.1)


def test_infinite_frequency_moment_is_refused_with_the_reason() -> None:
    with pytest.raises(
        ParameterError, match=r"`sigma_p` must be a positive finite number. Got inf.*Laplacian"
    ):
        fourier_features_needed(2, 1.0, math.inf, 0.1, 0.1)


def test_invalid_arguments_are_named() -> None:
    with pytest.raises(
        ParameterError, match=r"`fourier_features_needed`: `delta` must be in \(0, 1\). Got 1"
    ):
        fourier_features_needed(2, 1.0, 1.0, 0.1, 1)
    with pytest.raises(ParameterError, match=r"`dim` must be an integer of at least 1. Got 0"):
        fourier_features_needed(0, 1.0, 1.0, 0.1, 0.1)
    with pytest.raises(ParameterError, match=r"`radius`.*Got nan"):
        fourier_features_needed(2, math.nan, 1.0, 0.1, 0.1)
    with pytest.raises(ParameterError, match=r"`n_frequencies`.*Got 1.5"):
        fourier_features_error_probability(1.5, **CASE)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="`eps` must be larger"):
        fourier_features_needed(2, 1.0, 1.0, 1e-200, 0.1)


@pytest.mark.parametrize("n_frequencies", [200, 5_000, 10**7])
@pytest.mark.parametrize(("dim", "radius", "delta"), [(1, 0.5, 0.3), (10, 1.0, 0.01), (300, 40.0, 1e-9)])
def test_deviation_inverts_the_probability(n_frequencies: int, dim: int, radius: float, delta: float) -> None:
    ball = {"dim": dim, "radius": radius, "sigma_p": math.sqrt(dim)}
    bound = fourier_features_deviation(n_frequencies, **ball, delta=delta)
    back = fourier_features_error_probability(n_frequencies, **ball, eps=float(bound))
    assert float(back) == pytest.approx(delta, rel=1e-9)
    assert bound.vacuous == (float(bound) >= 2)


def test_deviation_of_sriperumbudur_and_szabo() -> None:
    """The formula written out, and its rate: four times the frequencies halve the error."""
    name = "sriperumbudur-szabo"
    ball = {"dim": 3, "radius": 2.0, "sigma_p": 1.5, "delta": 0.1}
    first, second = (float(fourier_features_deviation(D, **ball, theorem=name)) for D in (10**6, 4 * 10**6))
    h = 32 * (6 * math.log(9)) ** 0.5 + 32 * (6 * math.log(2.5)) ** 0.5 + 16 * (6 / math.log(9)) ** 0.5
    assert first == pytest.approx((h + (2 * math.log(10)) ** 0.5) / 1000)
    assert second == pytest.approx(first / 2)


def test_deviation_beyond_the_theorem() -> None:
    bound = fourier_features_deviation(1, dim=50, radius=0.01, sigma_p=0.1, delta=0.01)
    assert float(bound) == math.inf
    assert bound.vacuous
    with pytest.raises(ParameterError, match="`theorem` must be"):
        fourier_features_deviation(1, dim=1, radius=1.0, sigma_p=1.0, delta=0.1, theorem="other")
    with pytest.raises(ParameterError, match=r"`sigma_p` must be.*Laplacian"):
        fourier_features_deviation(1, dim=1, radius=1.0, sigma_p=math.inf, delta=0.1)
