"""Functions on graphs against their definitions and direct solves."""

import numpy as np
import pytest
import scipy.sparse

from mercer.gram import gram
from mercer.graphs import laplacian
from mercer.graphs.laplacians import degrees, without_loops
from mercer.graphs.similarity import affinity
from mercer.kernels import Gaussian
from mercer.solvers.laplacian import consistent, harmonic


@pytest.fixture
def G():
    return gram(Gaussian(0.8), np.random.default_rng(0).standard_normal((30, 2)))


def dense(A):
    return A.toarray() if scipy.sparse.issparse(A) else A


def test_harmonic_function_is_the_mean_of_its_neighbours(G):
    A = affinity(G, 6)
    known = np.zeros(30, dtype=bool)
    known[[0, 7, 11]] = True
    Y = np.random.default_rng(0).standard_normal((30, 2))
    F = harmonic(A, known, Y).value
    np.testing.assert_array_equal(F[known], Y[known])
    means = dense(A) @ F / degrees(A)[:, None]
    np.testing.assert_allclose(F[~known], means[~known], atol=1e-10)


def test_harmonic_function_on_a_path_is_linear():
    A = np.diag(np.ones(9), 1) + np.diag(np.ones(9), -1)
    known = np.isin(np.arange(10), [0, 9])
    F = harmonic(A, known, np.linspace(2, 20, 10)[:, None])
    np.testing.assert_allclose(F.value[:, 0], np.linspace(2, 20, 10), rtol=1e-12)
    assert F.converged


def test_points_that_no_label_reaches():
    A = np.zeros((4, 4))
    A[0, 1] = A[1, 0] = A[2, 3] = A[3, 2] = 1.0
    F = harmonic(A, np.array([True, False, False, False]), np.ones((4, 1))).value
    np.testing.assert_array_equal(np.isnan(F[:, 0]), [False, False, True, True])
    assert F[1, 0] == 1.0


def test_consistency_minimises_its_objective(G):
    from scipy.optimize import minimize

    A, alpha = without_loops(affinity(G)), 0.7
    y = np.where(np.arange(30) < 3, 1.0, 0.0)
    L = laplacian(A, normalized=True)
    best = minimize(lambda f: alpha * f @ L @ f + (1 - alpha) * np.sum((f - y) ** 2), np.zeros(30), tol=1e-12)
    F = consistent(A, y[:, None], alpha)
    np.testing.assert_allclose(F.value[:, 0], best.x, atol=1e-5)
    assert F.gap < 1e-10


@pytest.mark.parametrize("alpha", [0.1, 0.99, 1 - 1e-9])
@pytest.mark.parametrize("n_neighbors", [None, 4])
def test_consistency_against_a_direct_solve(G, alpha, n_neighbors):
    A = without_loops(affinity(G, n_neighbors))
    Y = np.eye(30)[:, [0, 4, 9]] * [1.0, 1e-9, 0.0]  # of different sizes, and one of none
    S = np.eye(30) - dense(laplacian(A, normalized=True))
    F = consistent(A, Y, alpha)
    expected = (1 - alpha) * np.linalg.solve(np.eye(30) - alpha * S, Y)
    scale = np.abs(expected).max(axis=0) + 1e-300
    np.testing.assert_allclose(F.value / scale, expected / scale, atol=1e-6)
    assert F.gap < 1e-6


def test_a_nearly_singular_system_says_so():
    A = np.array([[0, 1e-14, 0], [1e-14, 0, 1.0], [0, 1.0, 0]])
    F = harmonic(A, np.array([True, False, False]), np.ones((3, 1)))
    assert not F.converged
    assert "close to singular" in F.status
    assert np.abs(F.value - 1).max() < F.gap  # the harmonic function is 1 everywhere
    A[0, 1] = A[1, 0] = 1e-6
    assert harmonic(A, np.array([True, False, False]), np.ones((3, 1))).converged
