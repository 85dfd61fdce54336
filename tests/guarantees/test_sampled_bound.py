from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from mercer.errors import ParameterError
from mercer.guarantees import (
    sampled_kernel_deviation,
    sampled_kernel_error_probability,
    sampled_kernel_size,
)

RTOL = 1e-12


def test_worked_value() -> None:
    bound = sampled_kernel_size(bound=1.0, eps=0.1, delta=0.05, n=100)
    assert int(bound) == 2444
    assert isinstance(bound.value, int)
    assert 2443 < 200 * math.log(202_000) <= 2444


def test_fourth_power_of_the_feature_bound() -> None:
    # Doubling the features multiplies products by 4, so the same accuracy needs 16 times the draws.
    one, two = (200 * c**4 * math.log(202_000) for c in (1, 2))
    assert int(sampled_kernel_size(2.0, 0.1, 0.05, 100)) == math.ceil(two) == math.ceil(16 * one)
    # Units: features and eps scaled together change nothing.
    assert int(sampled_kernel_size(3.0, 0.9, 0.05, 100)) == int(sampled_kernel_size(1.0, 0.1, 0.05, 100))


def binomial_tail(N: int, k: Fraction, eps: Fraction) -> Fraction:
    """Exact P[|mean - k| >= eps] for N products of features that are -1 or 1 and have mean k."""
    p = (1 + k) / 2
    tail = Fraction(0)
    for heads in range(N + 1):
        if abs(Fraction(2 * heads - N, N) - k) >= eps:
            tail += math.comb(N, heads) * p**heads * (1 - p) ** (N - heads)
    return tail


@pytest.mark.parametrize("N", [1, 5, 20, 60])
@pytest.mark.parametrize("k", [Fraction(0), Fraction(1, 3), Fraction(-4, 5), Fraction(1)])
@pytest.mark.parametrize("eps", [Fraction(1, 20), Fraction(1, 4), Fraction(1), Fraction(2)])
def test_covers_the_exact_binomial_tail(N: int, k: Fraction, eps: Fraction) -> None:
    bound = sampled_kernel_error_probability(N, bound=1.0, eps=float(eps))
    assert float(binomial_tail(N, k, eps)) <= float(bound)


def test_square_in_place_of_fourth_power_would_be_false() -> None:
    # Features -c or c with c = 2 and k = 0: the printed 2 exp(-N eps^2 / 2 c^2) is below the exact tail.
    c, N, eps = 2, 50, Fraction(3, 2)
    exact = float(binomial_tail(N, Fraction(0), eps / c**2))
    assert exact > 2 * math.exp(-N * float(eps) ** 2 / (2 * c**2))
    assert exact <= float(sampled_kernel_error_probability(N, bound=c, eps=float(eps)))


def test_three_functions_are_one_formula() -> None:
    N = int(sampled_kernel_size(1.5, 0.2, 0.03, 40))
    at, below = (float(sampled_kernel_error_probability(d, bound=1.5, eps=0.2, n=40)) for d in (N, N - 1))
    assert at <= 0.03 < below
    eps = float(sampled_kernel_deviation(N, bound=1.5, delta=0.03, n=40))
    assert eps <= 0.2
    assert float(sampled_kernel_error_probability(N, bound=1.5, eps=eps, n=40)) == pytest.approx(
        0.03, rel=1e-9
    )
    pair = float(sampled_kernel_deviation(N, bound=1.5, delta=0.03))
    assert float(sampled_kernel_error_probability(N, bound=1.5, eps=pair)) == pytest.approx(0.03, rel=1e-9)


def test_matrix_is_the_pair_times_the_number_of_entries() -> None:
    pair = float(sampled_kernel_error_probability(500, bound=1.0, eps=0.3))
    matrix = float(sampled_kernel_error_probability(500, bound=1.0, eps=0.3, n=7))
    assert matrix == pytest.approx(28 * pair, rel=RTOL)
    assert float(sampled_kernel_error_probability(500, bound=1.0, eps=0.3, n=1)) == pytest.approx(
        pair, rel=RTOL
    )


def test_not_violated_on_random_sets() -> None:
    # Intersection kernel of random sets: features are indicators, c = 1.
    rng = np.random.default_rng(0)
    sets = (rng.random((20, 3000)) < 0.4).astype(float)
    K = sets @ sets.T / 3000
    N = int(sampled_kernel_size(1.0, 0.1, 0.5, 20))
    for _ in range(30):
        F = sets[:, rng.integers(0, 3000, size=N)]
        assert np.abs(F @ F.T / N - K).max() < 0.1


def test_monotone() -> None:
    base = int(sampled_kernel_size(1.0, 0.1, 0.05, 100))
    assert int(sampled_kernel_size(1.1, 0.1, 0.05, 100)) > base
    assert int(sampled_kernel_size(1.0, 0.2, 0.05, 100)) < base
    assert int(sampled_kernel_size(1.0, 0.1, 0.01, 100)) > base
    assert int(sampled_kernel_size(1.0, 0.1, 0.05, 1000)) > base


def test_vacuous_flags() -> None:
    assert sampled_kernel_error_probability(3, bound=1.0, eps=0.1).vacuous
    assert not sampled_kernel_error_probability(3000, bound=1.0, eps=0.1).vacuous
    coarse = sampled_kernel_deviation(1, bound=3.0, delta=0.05)
    assert coarse.vacuous
    assert "never differ by more than 2 c^2" in str(coarse)
    assert not sampled_kernel_deviation(1000, bound=3.0, delta=0.05).vacuous


def test_invalid_arguments_are_named() -> None:
    with pytest.raises(ParameterError, match=r"`sampled_kernel_size`: `bound` must be a positive.*Got 0"):
        sampled_kernel_size(0, 0.1, 0.05, 100)
    with pytest.raises(ParameterError, match=r"`eps`.*Got -0.1"):
        sampled_kernel_size(1.0, -0.1, 0.05, 100)
    with pytest.raises(ParameterError, match=r"`delta`.*Got 0"):
        sampled_kernel_size(1.0, 0.1, 0, 100)
    with pytest.raises(ParameterError, match=r"`n` must be an integer of at least 1. Got None"):
        sampled_kernel_size(1.0, 0.1, 0.05, None)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"`n_features`.*Got 0"):
        sampled_kernel_deviation(0, bound=1.0, delta=0.05)
    with pytest.raises(ParameterError, match="`eps` must be larger"):
        sampled_kernel_size(1e100, 1e-100, 0.05, 100)
