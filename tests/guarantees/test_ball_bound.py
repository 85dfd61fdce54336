from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from mercer.errors import InputError, ParameterError
from mercer.guarantees import enclosing_ball_bound, enclosing_ball_complexity

RTOL = 1e-12


def enumerated(K: NDArray[np.float64], R: float, L: float) -> float:
    """The complexity of the class by its definition: the supremum is solved by hand for each sign vector."""
    m = len(K)
    total: list[float] = []
    for signs in itertools.product((-1.0, 1.0), repeat=m):
        s = np.array(signs)
        t, q = s.sum(), math.sqrt(max(0.0, s @ K @ s))
        over_r = R * R * max(t, 0.0)
        # |c| = a along sum s_i Phi(x_i): maximise 2 a q - a^2 t over 0 <= a <= L
        a = L if t <= 0 else min(L, q / t)
        total.append(float(over_r + 2 * a * q - a * a * t - s @ K.diagonal()))
    return math.fsum(total) / 2.0**m / m


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("R", "L"), [(1.0, 1.0), (2.0, 0.5), (0.1, 3.0), (1.0, 0.0)])
def test_bounds_the_enumerated_complexity(seed: int, R: float, L: float) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 9))
    X = rng.normal(size=(m, int(rng.integers(1, 4))))
    K = X @ X.T
    exact, bound = enumerated(K, R, L), float(enclosing_ball_complexity(K, radius=R, norm_bound=L))
    assert 0 <= exact + RTOL <= bound + RTOL


def test_twice_in_the_second_term_is_needed() -> None:
    # With one L instead of 2 L the formula is false: orthogonal features, small spheres around far centres.
    m = 10
    K = 100.0 * np.eye(m)
    exact = enumerated(K, 0.01, 1.0)
    terms = enclosing_ball_complexity(K, radius=0.01, norm_bound=1.0).terms
    assert exact <= terms["constant"] + terms["centre"]
    assert exact > terms["constant"] + terms["centre"] / 2


def test_worked_values() -> None:
    # R = 2, L = 1, m = 100, Tr K = 25: (4 + 1)/10 + 2*5/100
    assert float(enclosing_ball_complexity(25.0, radius=2.0, norm_bound=1.0, n=100)) == pytest.approx(
        0.6, rel=RTOL
    )
    m = 10_000  # complexity: 5/100 + 2*50/10000 = 0.06
    arguments = {"K": 2500.0, "radius": 2.0, "norm_bound": 1.0, "delta": 0.02}
    uniform = enclosing_ball_bound(np.full(m, 0.25), 0.5, **arguments)
    expected = 0.5 + 8 * 0.06 + 3 * math.sqrt(math.log(2) / m) + 3 * math.sqrt(math.log(100) / (2 * m))
    assert uniform.value == pytest.approx(expected, rel=RTOL)
    fixed = enclosing_ball_bound(np.full(m, 0.25), 0.5, rho_max=None, **arguments)
    assert fixed.value == pytest.approx(0.5 + 4 * 0.06 + 3 * math.sqrt(math.log(100) / (2 * m)), rel=RTOL)


def test_monotone_in_the_class() -> None:
    def value(R: float, L: float, trace: float) -> float:
        return float(enclosing_ball_complexity(trace, radius=R, norm_bound=L, n=50))

    assert value(1, 1, 50) < value(2, 1, 50)
    assert value(1, 1, 50) < value(1, 2, 50)
    assert value(1, 1, 50) < value(1, 1, 60)


def test_vacuous_flag() -> None:
    assert enclosing_ball_bound(np.ones(20), 0.5, K=20.0, radius=1.0, norm_bound=1.0).vacuous
    assert not enclosing_ball_bound(np.ones(10**6), 0.5, K=1e6, radius=1.0, norm_bound=1.0).vacuous


def test_not_violated_on_a_finite_population() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.5, 0.5, size=(400, 2))
    m = 40_000
    for _ in range(20):
        S = X[rng.integers(0, len(X), size=m)]
        c = S.mean(axis=0)
        r2 = float(np.quantile(((S - c) ** 2).sum(axis=1), 0.9))
        scores = r2 - ((S - c) ** 2).sum(axis=1)
        false_alarms = np.mean(r2 < ((X - c) ** 2).sum(axis=1))
        bound = enclosing_ball_bound(
            scores, 0.1, K=float((S * S).sum()), radius=0.7, norm_bound=0.1, delta=0.5, rho_max=1.0
        )
        assert not bound.vacuous
        assert false_alarms <= float(bound)


def test_invalid_arguments_are_named() -> None:
    with pytest.raises(ParameterError, match=r"`enclosing_ball_bound`: `radius` must be a positive.*Got 0"):
        enclosing_ball_bound([1.0], 0.5, K=1.0, radius=0, norm_bound=1.0)
    with pytest.raises(ParameterError, match=r"`rho` must be in \(0, rho_max\]"):
        enclosing_ball_bound([1.0], 2.0, K=1.0, radius=1.0, norm_bound=1.0)
    with pytest.raises(InputError, match="`scores` must agree with the 3 rows"):
        enclosing_ball_bound([1.0], 0.5, K=np.eye(3), radius=1.0, norm_bound=1.0)
    with pytest.raises(ParameterError, match="`norm_bound`"):
        enclosing_ball_complexity(1.0, radius=1.0, norm_bound=-1.0, n=1)
    with pytest.raises(ParameterError, match="`n` must be given"):
        enclosing_ball_complexity(1.0, radius=1.0, norm_bound=1.0)
