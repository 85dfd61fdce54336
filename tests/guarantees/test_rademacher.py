from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mercer.errors import DefinitenessError, InputError, ParameterError
from mercer.guarantees import (
    rademacher_complexity,
    rademacher_lower,
    rademacher_upper,
    rademacher_upper_from_radius,
)

EXACT_RTOL = 1e-12
STANDARD_ERRORS = (
    5.0  # a Monte Carlo mean strays further once in two million runs; the seeds are fixed anyway
)


class Lazy:
    """A Gram that offers its shape and products, and refuses to become an array."""

    def __init__(self, K: NDArray[Any]) -> None:
        self._K = K
        self.shape = K.shape

    def __matmul__(self, other: NDArray[Any]) -> NDArray[Any]:
        result: NDArray[Any] = self._K @ other
        return result

    def diagonal(self) -> NDArray[Any]:
        return np.diag(self._K)

    def dense(self) -> NDArray[Any]:
        raise AssertionError("dense() is not needed")


def gram(m: int, rank: int, seed: int) -> NDArray[np.float64]:
    X = np.random.default_rng(seed).normal(size=(m, rank))
    return X @ X.T


def enumerated(K: NDArray[Any], norm: float) -> float:
    """The definition, over all 2^m sign vectors, one at a time."""
    m = len(K)
    lengths: list[float] = []
    for s in itertools.product((-1, 1), repeat=m):
        energy = sum(s[i] * s[j] * float(K[i, j]) for i in range(m) for j in range(m))
        lengths.append(math.sqrt(max(0.0, energy)))
    return norm / m * math.fsum(lengths) / 2.0**m


@pytest.mark.parametrize(("m", "rank"), [(1, 1), (2, 1), (3, 2), (6, 6), (8, 3)])
def test_enumeration_is_the_definition(m: int, rank: int) -> None:
    K = gram(m, rank, seed=m)
    estimate = rademacher_complexity(K, 1.7)
    assert estimate.exact
    assert estimate.standard_error == 0.0
    assert estimate.n_draws == 2 ** (m - 1)
    assert estimate.value == pytest.approx(enumerated(K, 1.7), rel=EXACT_RTOL)


@pytest.mark.parametrize("seed", range(5))
def test_monte_carlo_agrees_with_enumeration(seed: int) -> None:
    K = gram(9, 4, seed)
    estimate = rademacher_complexity(K, 0.6, n_draws=255, random_state=seed)  # 256 would enumerate
    assert not estimate.exact
    assert estimate.n_draws == 255
    assert 0 < estimate.standard_error < 0.1 * estimate.value
    assert abs(estimate.value - enumerated(K, 0.6)) < STANDARD_ERRORS * estimate.standard_error


def test_standard_error_has_the_right_size() -> None:
    K = gram(12, 5, 0)
    runs = [rademacher_complexity(K, 1.0, n_draws=100, random_state=seed) for seed in range(300)]
    spread = np.std([run.value for run in runs], ddof=1)
    assert spread == pytest.approx(np.mean([run.standard_error for run in runs]), rel=0.2)


@pytest.mark.parametrize("seed", range(20))
def test_lower_exact_upper(seed: int) -> None:
    rng = np.random.default_rng(seed)
    K = gram(int(rng.integers(1, 10)), int(rng.integers(1, 6)), seed)
    exact = rademacher_complexity(K, 2.0).value
    assert float(rademacher_lower(K, 2.0)) <= exact * (1 + EXACT_RTOL)
    assert exact <= float(rademacher_upper(K, 2.0)) * (1 + EXACT_RTOL)
    radius = math.sqrt(K.diagonal().max())
    assert float(rademacher_upper(K, 2.0)) <= float(rademacher_upper_from_radius(radius, 2.0, n=len(K)))


def test_both_bounds_are_attained() -> None:
    # Orthogonal features reach the upper bound; two equal points reach the lower one.
    D = np.diag([1.0, 4.0, 9.0])
    assert rademacher_complexity(D, 1.0).value == pytest.approx(
        float(rademacher_upper(D, 1.0)), rel=EXACT_RTOL
    )
    J = np.ones((2, 2))
    assert rademacher_complexity(J, 1.0).value == pytest.approx(
        float(rademacher_lower(J, 1.0)), rel=EXACT_RTOL
    )


def test_equal_points_give_the_mean_absolute_random_walk() -> None:
    # K = 1 1': the complexity is E|s_1 + ... + s_m| / m, a rational number.
    for m in (1, 2, 5, 10):
        walk = sum(Fraction(math.comb(m, k) * abs(m - 2 * k), 2**m) for k in range(m + 1))
        assert rademacher_complexity(np.ones((m, m)), 1.0).value == pytest.approx(
            float(walk / m), rel=EXACT_RTOL
        )


def test_worked_values_of_the_bounds() -> None:
    assert float(rademacher_upper(np.eye(4), 3.0)) == 1.5  # 3 sqrt(4) / 4
    assert float(rademacher_lower(8.0, 3.0, n=4)) == 1.5  # 3 sqrt(4) / 4
    assert float(rademacher_upper_from_radius(2.0, 3.0, n=9)) == 2.0  # 2 * 3 / 3


def test_trace_and_matrix_agree() -> None:
    K = gram(30, 4, 1)
    for function in (rademacher_upper, rademacher_lower):
        assert float(function(K, 1.5)) == float(function(float(K.diagonal().sum()), 1.5, n=30))


def test_scales_linearly_with_the_norm_and_as_a_root_with_the_kernel() -> None:
    K = gram(7, 3, 2)
    base = rademacher_complexity(K, 1.0).value
    assert rademacher_complexity(K, 3.0).value == pytest.approx(3 * base, rel=EXACT_RTOL)
    assert rademacher_complexity(4 * K, 1.0).value == pytest.approx(2 * base, rel=EXACT_RTOL)
    assert rademacher_complexity(K, 0.0).value == 0.0


def test_lazy_operator_gives_the_same_number_without_densifying() -> None:
    K = gram(40, 5, 3)
    dense = rademacher_complexity(K, 1.0, n_draws=200, random_state=0)
    assert rademacher_complexity(Lazy(K), 1.0, n_draws=200, random_state=0) == dense
    assert float(rademacher_upper(Lazy(K), 1.0)) == float(rademacher_upper(K, 1.0))


def test_other_carriers_of_a_matrix() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    K = np.array([[2, 1, 0], [1, 2, 1], [0, 1, 2]])
    value = enumerated(K, 1.0)
    for carrier in (K, K.tolist(), K.astype(np.float32), sparse.csr_array(K.astype(float))):
        assert rademacher_complexity(carrier, 1.0).value == pytest.approx(value, rel=1e-6)


def test_batches_do_not_change_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    K = gram(10, 4, 4)
    whole = rademacher_complexity(K, 1.0).value
    monkeypatch.setattr("mercer.guarantees.rademacher._BATCH_ENTRIES", 70)
    assert rademacher_complexity(K, 1.0).value == pytest.approx(whole, rel=EXACT_RTOL)
    assert rademacher_complexity(K, 1.0, n_draws=101, random_state=0).n_draws == 101


def test_seeds_reproduce() -> None:
    K = gram(30, 5, 5)
    again = [rademacher_complexity(K, 1.0, n_draws=50, random_state=7) for _ in range(2)]
    assert again[0] == again[1]
    assert again[0] != rademacher_complexity(K, 1.0, n_draws=50, random_state=8)
    legacy = [
        rademacher_complexity(K, 1.0, n_draws=50, random_state=np.random.RandomState(3)) for _ in range(2)
    ]
    assert legacy[0] == legacy[1]


def test_singular_gram_survives_round_off() -> None:
    # Entries of 0.01 are not exact and one sign vector in twenty is balanced: s'Ks is zero up to rounding.
    m = 300
    walk = sum(Fraction(math.comb(m, k) * abs(m - 2 * k), 2**m) for k in range(m + 1))
    estimate = rademacher_complexity(np.full((m, m), 0.01), 1.0, n_draws=2000, random_state=0)
    assert abs(estimate.value - 0.1 * float(walk) / m) < STANDARD_ERRORS * estimate.standard_error


def test_negative_round_off_counts_as_zero() -> None:
    above_one = 1 + 2 * np.finfo(float).eps  # the signs (1, -1) give -4 eps
    K = np.array([[1.0, above_one], [above_one, 1.0]])
    assert rademacher_complexity(K, 1.0).value == pytest.approx(0.5, rel=EXACT_RTOL)


def test_str_tells_how_it_was_computed() -> None:
    assert "all sign vectors" in str(rademacher_complexity(np.eye(3), 1.0))
    text = str(rademacher_complexity(np.eye(30), 1.0, n_draws=64, random_state=0))
    assert "64 random sign vectors" in text


@pytest.mark.parametrize(
    ("K", "error", "words"),
    [
        (np.ones((2, 3)), InputError, r"`K` must be a square.*\(2, 3\)"),
        (np.ones((0, 0)), InputError, "`K` must be a square"),
        (np.ones(3), InputError, "`K` must be a square"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), InputError, "`K` must be finite.*row 0, column 1"),
        (np.array([[1.0, 0.5], [0.2, 1.0]]), InputError, "`K` must be symmetric.*0.3"),
        (np.eye(2) * 1j, InputError, "`K` must be a matrix of real numbers"),
        ([["a", "b"], ["c", "d"]], InputError, "`K` must be a matrix of real numbers"),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), DefinitenessError, "`K` must be positive semidefinite"),
        (Lazy(np.full((2, 2), np.nan)), InputError, "`K` must be finite"),
    ],
)
def test_bad_matrices_are_named(K: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        rademacher_complexity(K, 1.0)


def test_bad_parameters_are_named() -> None:
    K = np.eye(3)
    with pytest.raises(
        ParameterError, match=r"`rademacher_complexity`: `norm_bound` must be a nonnegative.*Got -1"
    ):
        rademacher_complexity(K, -1)
    with pytest.raises(ParameterError, match=r"`n_draws` must be an integer of at least 2. Got 1"):
        rademacher_complexity(K, 1.0, n_draws=1)
    with pytest.raises(ParameterError, match="`random_state`"):
        rademacher_complexity(np.eye(30), 1.0, random_state="seed")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="`rademacher_upper`: `n` must be given"):
        rademacher_upper(3.0, 1.0)
    with pytest.raises(ParameterError, match="`K` must be a nonnegative"):
        rademacher_upper(-3.0, 1.0, n=3)
    with pytest.raises(InputError, match="`n` must agree with the 3 rows"):
        rademacher_lower(K, 1.0, n=4)
    with pytest.raises(DefinitenessError, match="diagonal entry -1"):
        rademacher_upper(np.diag([1.0, -1.0]), 1.0)
    with pytest.raises(ParameterError, match="`radius`"):
        rademacher_upper_from_radius(math.inf, 1.0, n=3)
    with pytest.raises(ParameterError, match="`n` must be an integer"):
        rademacher_upper_from_radius(1.0, 1.0, n=3.0)  # type: ignore[arg-type]
