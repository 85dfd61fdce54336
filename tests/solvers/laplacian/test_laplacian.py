"""Graphs of kernels against their definitions, loops and SciPy."""

import numpy as np
import pytest
import scipy.sparse.csgraph

from mercer.errors import InputError, ParameterError
from mercer.gram import gram
from mercer.kernels import Gaussian, Linear
from mercer.solvers.laplacian import affinity, components, degrees, graph_laplacian, nearest, without_loops
from mercer.solvers.laplacian.laplacian import DENSE_SIZE, consistent, harmonic, slow_waves


@pytest.fixture
def G():
    return gram(Gaussian(0.8), np.random.default_rng(0).standard_normal((30, 2)))


def dense(A):
    return A.toarray() if scipy.sparse.issparse(A) else A


@pytest.mark.parametrize("k", [1, 4, 30, 100])
def test_nearest_neighbours_against_sorting(G, k):
    K = G.dense()
    D = np.add.outer(np.diag(K), np.diag(K)) - 2 * K
    expected = np.zeros_like(K)
    for i in range(30):
        for j in sorted(range(30), key=lambda j, i=i: (j != i, D[i, j], j))[:k]:
            expected[i, j] += K[i, j] / 2
            expected[j, i] += K[i, j] / 2
    np.testing.assert_allclose(dense(affinity(G, k)), expected, rtol=1e-12)


def test_ties_are_decided_for_the_first():
    D = np.array([[1.0, 0.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0]])
    expected = [[1, 1, 0, 0], [1, 1, 0, 0]]
    np.testing.assert_array_equal(nearest(D, 2), expected)
    np.testing.assert_array_equal(nearest(D, 2, np.ones(4)), expected)
    np.testing.assert_allclose(nearest(D[:1], 2, np.array([3.0, 0.5, 5.0, 1.0])), [[0.5, 1.0, 0.0, 0.0]])


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("n_neighbors", [None, 5])
def test_laplacian_against_scipy(G, n_neighbors, normalized):
    A = without_loops(affinity(G, n_neighbors))
    expected = scipy.sparse.csgraph.laplacian(dense(A), normed=normalized)
    np.testing.assert_allclose(dense(graph_laplacian(A, normalized=normalized)), expected, atol=1e-12)


@pytest.mark.parametrize(("n_neighbors", "normalized"), [(None, False), (None, True), (6, False)])
def test_weights_are_repetition(G, n_neighbors, normalized):
    """The energy of a function that is equal on copies is the same on the repeated points."""
    X = G._X
    w = np.random.default_rng(1).integers(1, 4, 30)
    index = np.repeat(np.arange(30), w)
    f = np.random.default_rng(2).standard_normal(30)
    repeated = graph_laplacian(affinity(gram(G.kernel, X[index]), n_neighbors), normalized=normalized)
    weighted = graph_laplacian(affinity(G, n_neighbors, w * 1.0), normalized=normalized, weight=w * 1.0)
    assert f @ (weighted @ f) == pytest.approx(f[index] @ (repeated @ f[index]), rel=1e-9)


def test_points_without_edges():
    A = np.zeros((3, 3))
    A[0, 1] = A[1, 0] = 2.0
    np.testing.assert_array_equal(graph_laplacian(A, normalized=True)[2], 0.0)
    assert np.isfinite(graph_laplacian(np.zeros((2, 2)), normalized=True)).all()


@pytest.mark.parametrize("n_neighbors", [None, 3])
def test_components_against_scipy(n_neighbors):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((7, 1)), 100 + rng.standard_normal((5, 1)), [[500.0]]])
    X = X[rng.permutation(13)]
    A = without_loops(affinity(gram(Gaussian(1.0), X), n_neighbors))
    count, labels = components(A)
    expected = scipy.sparse.csgraph.connected_components(dense(A) > 0)[1]
    assert count == len(np.unique(expected)) >= 3
    assert len(np.unique(count * expected + labels)) == count


def test_a_link_below_rounding_is_none():
    A = np.array([[0, 1, 0, 0], [1, 0, 1e-30, 0], [0, 1e-30, 0, 1], [0, 0, 1, 0]])
    assert components(A)[0] == 2
    assert components(scipy.sparse.csr_array(A))[0] == 2
    A[1, 2] = A[2, 1] = 1e-12
    assert components(A)[0] == 1


@pytest.mark.parametrize("n", [40, DENSE_SIZE + 60])
@pytest.mark.parametrize("n_neighbors", [None, 12])
def test_slow_waves_against_the_dense_solver(n, n_neighbors):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((n - 10, 2)), 1e3 + rng.standard_normal((10, 2))])
    A = without_loops(affinity(gram(Gaussian(0.5), X), n_neighbors))
    waves = slow_waves(A, 6)
    L = dense(graph_laplacian(A, normalized=True))
    assert waves.n_components >= 2
    np.testing.assert_allclose(waves.values, np.linalg.eigvalsh(L)[:6], atol=1e-9)
    np.testing.assert_allclose(L @ waves.vectors, waves.vectors * waves.values, atol=1e-8)
    np.testing.assert_allclose(waves.vectors.T @ waves.vectors, np.eye(6), atol=1e-8)
    assert (waves.vectors.max(axis=0) >= (1 - 1e-5) * np.abs(waves.vectors).max(axis=0)).all()


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
    L = graph_laplacian(A, normalized=True)
    best = minimize(lambda f: alpha * f @ L @ f + (1 - alpha) * np.sum((f - y) ** 2), np.zeros(30), tol=1e-12)
    F = consistent(A, y[:, None], alpha)
    np.testing.assert_allclose(F.value[:, 0], best.x, atol=1e-5)
    assert F.gap < 1e-10


@pytest.mark.parametrize("alpha", [0.1, 0.99, 1 - 1e-9])
@pytest.mark.parametrize("n_neighbors", [None, 4])
def test_consistency_against_a_direct_solve(G, alpha, n_neighbors):
    A = without_loops(affinity(G, n_neighbors))
    Y = np.eye(30)[:, [0, 4, 9]] * [1.0, 1e-9, 0.0]  # of different sizes, and one of none
    S = np.eye(30) - dense(graph_laplacian(A, normalized=True))
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


def test_bad_weights_are_named(G):
    X = np.random.default_rng(0).standard_normal((10, 2))
    for k in (None, 4):
        with pytest.raises(InputError, match=r"must be >= 0.*points \d+ and \d+"):
            affinity(gram(Linear() - 100.0, X), k)
    with pytest.raises(InputError, match="weights >= 0"):
        graph_laplacian(-np.eye(2))
    with pytest.raises(ParameterError, match="square"):
        graph_laplacian(np.ones((2, 3)))
