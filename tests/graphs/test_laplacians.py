"""Laplacians, components, eigenvectors and graphs of data against their definitions, loops and SciPy."""

import numpy as np
import pytest
import scipy.sparse.csgraph

from mercer.errors import InputError, ParameterError
from mercer.gram import gram
from mercer.graphs import Graph, components, eigenbasis, laplacian, similarity_graph, smoothness
from mercer.graphs.laplacians import without_loops
from mercer.graphs.similarity import affinity, nearest
from mercer.graphs.spectra import DENSE_SIZE
from mercer.kernels import Gaussian, Linear


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
    np.testing.assert_allclose(dense(laplacian(A, normalized=normalized)), expected, atol=1e-12)


@pytest.mark.parametrize(("n_neighbors", "normalized"), [(None, False), (None, True), (6, False)])
def test_weights_are_repetition(G, n_neighbors, normalized):
    """The energy of a function that is equal on copies is the same on the repeated points."""
    X = G._X
    w = np.random.default_rng(1).integers(1, 4, 30)
    index = np.repeat(np.arange(30), w)
    f = np.random.default_rng(2).standard_normal(30)
    repeated = laplacian(affinity(gram(G.kernel, X[index]), n_neighbors), normalized=normalized)
    weighted = laplacian(affinity(G, n_neighbors, w * 1.0), normalized=normalized, weight=w * 1.0)
    assert f @ (weighted @ f) == pytest.approx(f[index] @ (repeated @ f[index]), rel=1e-9)


def test_points_without_edges():
    A = np.zeros((3, 3))
    A[0, 1] = A[1, 0] = 2.0
    np.testing.assert_array_equal(laplacian(A, normalized=True)[2], 0.0)
    assert np.isfinite(laplacian(np.zeros((2, 2)), normalized=True)).all()


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
@pytest.mark.parametrize("normalized", [True, False])
def test_eigenbasis_against_the_dense_solver(n, n_neighbors, normalized):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((n - 10, 2)), 1e3 + rng.standard_normal((10, 2))])
    A = without_loops(affinity(gram(Gaussian(0.5), X), n_neighbors))
    basis = eigenbasis(A, 6, normalized=normalized)
    L = dense(laplacian(A, normalized=normalized))
    assert basis.n_components >= 2
    np.testing.assert_allclose(basis.values, np.linalg.eigvalsh(L)[:6], atol=1e-9)
    np.testing.assert_allclose(L @ basis.vectors, basis.vectors * basis.values, atol=1e-8)
    np.testing.assert_allclose(basis.vectors.T @ basis.vectors, np.eye(6), atol=1e-8)
    assert (basis.vectors.max(axis=0) >= (1 - 1e-5) * np.abs(basis.vectors).max(axis=0)).all()


def test_bad_weights_are_named(G):
    X = np.random.default_rng(0).standard_normal((10, 2))
    for k in (None, 4):
        with pytest.raises(InputError, match=r"must be >= 0.*points \d+ and \d+"):
            affinity(gram(Linear() - 100.0, X), k)
    with pytest.raises(InputError, match="weights >= 0"):
        laplacian(-np.eye(2))
    with pytest.raises(InputError, match="square"):
        laplacian(np.ones((2, 3)))
    for A in (np.array([[0.0, 1.0], [0.5, 0.0]]), Graph(2, [(0, 1)], directed=True)):
        with pytest.raises(InputError, match="laplacian: `graph` must be undirected"):
            laplacian(A)
    with pytest.raises(ParameterError, match="eigenbasis: `k` must be an integer >= 1 and <= 2"):
        eigenbasis(np.ones((2, 2)), 3)
    with pytest.raises(InputError, match="smoothness: `f` must have a value for each of 2 nodes"):
        smoothness(np.ones((2, 2)), np.ones(3))


def test_the_path_has_known_eigenvalues():
    n = 9
    path = Graph(n, [(i, i + 1) for i in range(n - 1)])
    want = 2 - 2 * np.cos(np.pi * np.arange(n) / n)
    np.testing.assert_allclose(eigenbasis(path, n, normalized=False).values, want, atol=1e-13)


def test_smoothness_sums_over_edges():
    edges = [(0, 1, 2.0), (1, 2, 0.5), (3, 3, 7.0)]
    F = np.random.default_rng(0).standard_normal((4, 3))
    want = sum(w * (F[i] - F[j]) ** 2 for i, j, w in edges)
    np.testing.assert_allclose(smoothness((4, edges), F), want, rtol=1e-12)
    assert smoothness((4, edges), F[:, 0]) == pytest.approx(want[0])
    degrees = np.array([2.0, 2.5, 0.5, 7.0])
    scaled = F / np.sqrt(degrees)[:, None]
    want = sum(w * (scaled[i] - scaled[j]) ** 2 for i, j, w in edges)
    np.testing.assert_allclose(smoothness((4, edges), F, normalized=True), want, rtol=1e-12)


def test_all_forms_of_a_graph_have_one_laplacian():
    networkx = pytest.importorskip("networkx")
    g = networkx.karate_club_graph()
    want = networkx.laplacian_matrix(g).toarray()
    np.testing.assert_allclose(laplacian(g).toarray(), want)
    np.testing.assert_allclose(laplacian(networkx.to_numpy_array(g)), want)
    assert components(g)[0] == 1


def test_similarity_graphs_against_loops():
    X = np.random.default_rng(0).standard_normal((12, 2))
    k = Gaussian(1.0)
    K = k.block(X)
    distance = np.linalg.norm(X[:, None] - X, axis=2)
    np.testing.assert_allclose(similarity_graph(X, k).matrix.toarray(), K - np.eye(12), atol=1e-15)
    chosen = np.argsort(distance, axis=1)[:, 1:4]
    want = np.zeros((12, 12))
    for i in range(12):
        for j in chosen[i]:
            want[i, j] += K[i, j] / 2
            want[j, i] += K[i, j] / 2
    np.testing.assert_allclose(similarity_graph(X, k, k=3).matrix.toarray(), want, atol=1e-15)
    reach = np.sqrt(2 - 2 * np.exp(-(0.9**2) / 2))  # of 0.9 in the plane
    want = np.where((distance < 0.9) & (distance > 0), K, 0.0)
    np.testing.assert_allclose(similarity_graph(X, k, epsilon=reach).matrix.toarray(), want, atol=1e-15)


def test_similarity_graphs_check_their_arguments():
    for arguments, words in (
        ({"k": 0}, "`k` must be an integer >= 1. Got 0"),
        ({"k": 3, "epsilon": 1.0}, "exclude each other"),
        ({"epsilon": -1.0}, "`epsilon` must be a finite number > 0"),
    ):
        with pytest.raises(ParameterError, match=words):
            similarity_graph(np.eye(3), Gaussian(1.0), **arguments)
    with pytest.raises(ParameterError, match="`kernel` must be a Kernel"):
        similarity_graph(np.eye(3), "rbf")


@pytest.mark.parametrize("use", [laplacian, components, lambda A: eigenbasis(A, 1)])
@pytest.mark.parametrize("make", [np.array, scipy.sparse.csr_array])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused(use, make, bad):
    with pytest.raises(InputError, match="`graph` must have finite weights"):
        use(make([[0.0, bad], [bad, 0.0]]))


def test_smoothness_wants_finite_numbers():
    path = (2, [(0, 1)])
    with pytest.raises(InputError, match="smoothness: `f` must be numbers"):
        smoothness(path, ["a", "b"])
    with pytest.raises(InputError, match="smoothness: `f` must be finite"):
        smoothness(path, [1.0, np.nan])
    with pytest.raises(InputError, match="laplacian: `graph` must be a Graph"):
        laplacian(np.array([["a"]]))
