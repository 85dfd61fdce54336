"""Incomplete Cholesky factors against the matrix itself."""

import numpy as np
import pytest

from mercer.kernels import Gaussian
from mercer.solvers import incomplete_cholesky


def factorise(K, **options):
    asked = []

    def columns(index):
        asked.append(len(index))
        return K[:, index]

    return incomplete_cholesky(columns, np.diagonal(K), **options), asked


@pytest.fixture
def K():
    X = np.random.default_rng(0).standard_normal((200, 2))
    return Gaussian(1.0).block(X)


@pytest.mark.parametrize("tol", [1e-2, 1e-6, 0.0])
def test_residual_trace_is_the_error(K, tol):
    solution, asked = factorise(K, tol=tol)
    L, pivots = solution.value
    rest = K - L @ L.T
    assert solution.converged
    assert solution.gap == pytest.approx(np.trace(rest) / np.trace(K), abs=1e-13)
    assert solution.gap <= max(tol, 1e-12)
    assert np.linalg.eigvalsh(rest)[0] > -1e-12
    assert len(set(pivots)) == len(pivots) == L.shape[1] < len(K)
    assert sum(asked) <= 3 * len(pivots) + 48
    np.testing.assert_array_equal(np.triu(L[pivots], 1), 0)  # triangular in the order of the pivots
    np.testing.assert_allclose(rest[:, pivots], 0, atol=1e-12)


def test_rank_is_found():
    F = np.random.default_rng(0).standard_normal((60, 4))
    solution, _ = factorise(F @ F.T)
    assert solution.value.factor.shape == (60, 4)
    assert "nothing is left but rounding" in solution.status


def test_most_columns(K):
    solution, _ = factorise(K, tol=1e-12, max_rank=7)
    assert solution.value.factor.shape == (200, 7)
    assert not solution.converged
    assert "max_rank" in solution.status


def test_nearly_as_good_as_the_best_factor(K):
    L, _ = factorise(K, max_rank=20)[0].value
    best = np.linalg.eigvalsh(K)[:-20].sum()
    assert np.trace(K - L @ L.T) < 10 * best


@pytest.mark.parametrize("n", [0, 1, 5])
def test_zero_and_tiny_matrices(n):
    solution, _ = factorise(np.zeros((n, n)))
    assert solution.value.factor.shape == (n, 0)
    assert solution.gap == 0.0
    L, _ = factorise(np.eye(n))[0].value
    np.testing.assert_allclose(L @ L.T, np.eye(n), atol=1e-15)


def test_indefinite_matrices_are_refused():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(np.linalg.LinAlgError, match="negative diagonal"):
        factorise(K)
