"""Kernel k-means against its definition and against all partitions."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse

from mercer.gram import base, gram
from mercer.kernels import Gaussian, Linear
from mercer.solvers.clusters import FeatureMatrix, GraphMatrix, around, kernel_kmeans, kmeans, seed
from mercer.solvers.matrix import matrix_of


def objective(K, labels, w):
    """The sum of squared distances from weighted means, by the definition."""
    total = 0.0
    for c in np.unique(labels):
        own = labels == c
        v = np.where(own, w, 0.0) / w[own].sum()
        total += sum(w[i] * (K[i, i] - 2 * K[i] @ v + v @ K @ v) for i in np.flatnonzero(own))
    return total


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((8, 2))
    return X, Gaussian(1.0).block(X), rng.uniform(0.2, 3.0, 8)


def starts_of(geometry, k, w, count=10):
    random = np.random.RandomState(0)
    return [seed(geometry, k, w, random) for _ in range(count)]


@pytest.mark.parametrize("k", [1, 2, 3, 7, 8])
def test_finds_the_best_of_all_partitions(problem, k):
    X, K, w = problem
    geometry = matrix_of(gram(Gaussian(1.0), X))
    found = kernel_kmeans(geometry, k, w, starts_of(geometry, k, w))
    labelings = (np.array(p) for p in product(range(min(k, 3)), repeat=8)) if k <= 3 else ()
    best = min((objective(K, p, w) for p in labelings if len(np.unique(p)) == k), default=None)
    assert found.value.inertia == pytest.approx(objective(K, found.value.labels, w), abs=1e-12)
    assert len(np.unique(found.value.labels)) == k
    if best is not None:
        assert found.value.inertia == pytest.approx(best, rel=1e-10)
    if k == 8:
        assert found.value.inertia == pytest.approx(0.0, abs=1e-12)
    assert found.converged


def test_every_step_lowers_the_objective(problem, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    K, w = Gaussian(1.0).block(X), rng.uniform(0.1, 2.0, 200)
    seen = []
    relabel, measure = kmeans._Search._relabel, kmeans._Search._measure

    def noted(self, new):
        seen.append(objective(K, self.labels, w))
        relabel(self, new)
        seen.append(objective(K, new, w))

    moved = []

    def noted_move(self, c):
        measure(self, c)
        moved.append(objective(K, self.labels, w))

    monkeypatch.setattr(kmeans._Search, "_relabel", noted)
    geometry = matrix_of(gram(Gaussian(1.0), X))
    search = kmeans._Search(geometry, 6, w, np.arange(200) % 6)
    search.lloyd(300)
    assert len(seen) >= 6
    assert (np.diff(seen) <= 1e-12).all()
    monkeypatch.setattr(kmeans._Search, "_measure", noted_move)
    search.hartigan()
    assert len(moved) >= 4
    assert (np.diff(moved[::2]) < 0).all()


def test_single_moves_go_below_lloyds_optimum():
    X = np.array([[0.0], [2.1], [3.0], [4.0]])  # {0, 2.1} and {3, 4}: Lloyd stays, and 2.1 should move
    geometry, w = FeatureMatrix(X), np.ones(4)
    start = np.array([0, 0, 1, 1])
    stuck = kernel_kmeans(geometry, 2, w, [start], single_moves=False)
    better = kernel_kmeans(geometry, 2, w, [start])
    assert stuck.value.labels.tolist() == [0, 0, 1, 1]
    assert stuck.converged
    assert better.value.labels.tolist() == [0, 1, 1, 1]
    assert better.value.inertia < stuck.value.inertia
    assert better.stats["moves"] == 1


def test_rows_and_gram_agree(problem):
    X, _, w = problem
    rows, lazy = FeatureMatrix(X), matrix_of(gram(Linear(), X))
    start = np.arange(8) % 3
    a, b = (kernel_kmeans(g, 3, w, [start]).value for g in (rows, lazy))
    np.testing.assert_array_equal(a.labels, b.labels)
    np.testing.assert_allclose(a.squares, b.squares)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_geometry_of_a_graph_against_its_matrix(kind):
    rng = np.random.default_rng(0)
    A = np.triu(rng.uniform(size=(9, 9)) * (rng.uniform(size=(9, 9)) < 0.6))
    A += A.T
    d, V, index = A.sum(axis=1), rng.standard_normal((9, 2)), np.array([4, 1, 7])
    K = A / np.outer(d, d) + np.diag(1 / d)
    geometry = GraphMatrix(kind(A))
    np.testing.assert_allclose(geometry.diagonal(), np.diag(K))
    np.testing.assert_allclose(geometry.product(V), K @ V)
    np.testing.assert_allclose(geometry.block(index, slice(None)), K[index])
    W = np.zeros((9, 2))
    W[index] = V[:3]
    np.testing.assert_allclose(geometry.product(W), K[:, index] @ V[:3])


def test_lazy_products_give_the_same(problem, monkeypatch):
    X = np.random.default_rng(1).standard_normal((150, 2))
    G, w = gram(Gaussian(0.5), X), np.ones(150)
    held = matrix_of(G)
    monkeypatch.setattr("mercer.memory.HELD_BYTES", 0)
    monkeypatch.setattr(base, "BAND_BYTES", 8 * 150 * 7)
    monkeypatch.setattr(type(G), "dense", lambda self: pytest.fail("the matrix must not be held"))
    lazy = matrix_of(G)
    start = np.arange(150) % 5
    a, b = (kernel_kmeans(g, 5, w, [start]) for g in (held, lazy))
    np.testing.assert_array_equal(a.value.labels, b.value.labels)
    assert a.value.inertia == pytest.approx(b.value.inertia, rel=1e-12)


def test_empty_clusters_get_the_farthest_point():
    X = np.array([[0.0], [0.1], [0.2], [5.0]])
    found = kernel_kmeans(FeatureMatrix(X), 2, np.ones(4), [np.zeros(4, dtype=int)], single_moves=False)
    assert found.value.labels.tolist() == [0, 0, 0, 1]


def test_seeding_draws_by_weight_like_copies():
    X = np.random.default_rng(0).standard_normal((20, 2))
    w = np.random.default_rng(1).integers(1, 4, 20)
    index = np.repeat(np.arange(20), w)
    for s in range(5):
        weighted = seed(FeatureMatrix(X), 4, w.astype(float), np.random.RandomState(s))
        repeated = seed(FeatureMatrix(X[index]), 4, np.ones(len(index)), np.random.RandomState(s))
        np.testing.assert_array_equal(weighted[index], repeated)


def test_seeding_with_too_few_different_points():
    labels = seed(FeatureMatrix(np.ones((5, 2))), 3, np.ones(5), np.random.RandomState(0))
    assert len(np.unique(labels)) == 3
    assert around(FeatureMatrix(np.ones((3, 1))), np.array([2, 0])).tolist() == [1, 0, 0]


def test_an_early_end_is_told():
    X = np.random.default_rng(0).standard_normal((300, 2))
    found = kernel_kmeans(
        FeatureMatrix(X), 9, np.ones(300), [np.arange(300) % 9], single_moves=False, max_iter=1
    )
    assert not found.converged
    assert "Raise max_iter" in found.status
    assert found.gap > 1e-6
