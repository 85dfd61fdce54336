"""Distances in feature space against high precision, and in scikit-learn's nearest neighbours."""

import pickle
import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

import mercer
from mercer.errors import DefinitenessError, MemoryLimitError, ParameterError, UnresolvedError
from mercer.kernels import (
    Cosine,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    SetIntersection,
)
from mercer.machines import kernel_distance

KERNELS = [Gaussian(1.0), Gaussian(1e4), Linear(), Polynomial(3), Gaussian(2.0) * Linear(), Cosine(),
           Laplacian(1.0), Matern(1.5)]  # fmt: skip


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((40, 3))


@pytest.mark.parametrize("k", KERNELS, ids=repr)
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_equal_points_are_at_distance_zero(X, k, offset):
    d, X = kernel_distance(k), X + offset
    D = d.pairwise(X, X.copy())  # two arrays: the diagonal is not known to be one
    assert not np.isnan(D).any()
    np.testing.assert_array_equal(np.diag(D), 0.0)
    np.testing.assert_array_equal(np.diag(d.pairwise(X)), 0.0)
    assert d(X[0], X[0].copy()) == 0.0
    assert (D[~np.eye(40, dtype=bool)] > 0).all()


@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_against_fifty_digits(X, k):
    D = kernel_distance(k).pairwise(X[:5], X[5:9])
    for i in range(5):
        for j in range(4):
            x, y = X[i], X[5 + j]
            square = k.precise(x, x) + k.precise(y, y) - 2 * k.precise(x, y)
            assert D[i, j] == pytest.approx(float(square) ** 0.5, rel=1e-8)
            assert kernel_distance(k)(x, y) == pytest.approx(D[i, j], rel=1e-8)


def test_small_distances_keep_their_digits():
    x, y = np.full(3, 1e3), np.array([1e3 + 1e-6, 1e3, 1e3])
    for k in (Linear(), Gaussian(1.0)):  # these know their distances without cancellation
        gap = (y - x)[0]
        assert kernel_distance(k)(x, y) == pytest.approx(gap, rel=1e-9)
        assert kernel_distance(k).pairwise([x], [y])[0, 0] == pytest.approx(gap, rel=1e-9)


def test_linear_kernel_is_the_euclidean_distance(X):
    np.testing.assert_allclose(kernel_distance(Linear()).pairwise(X, X[:7]), cdist(X, X[:7]), atol=1e-12)
    single = kernel_distance(Linear()).pairwise(X.astype(np.float32) + np.float32(1e4))
    assert single.dtype == np.float64
    np.testing.assert_allclose(single, cdist(X, X), atol=1e-2)


def test_is_a_metric_of_nearest_neighbours(X):
    y = (X[:, 0] > 0).astype(int)
    d = kernel_distance(Polynomial(2))
    new = X[:10] + 0.1
    matrix = KNeighborsClassifier(3, metric="precomputed").fit(d.pairwise(X), y)
    called = clone(KNeighborsClassifier(3, metric=d)).fit(X, y)
    np.testing.assert_array_equal(matrix.predict(d.pairwise(new, X)), called.predict(new))
    monotone = KNeighborsClassifier(3, metric=kernel_distance(Gaussian(2.0)), algorithm="ball_tree").fit(X, y)
    euclidean = KNeighborsClassifier(3).fit(X, y)  # the same neighbours, for the Gaussian is monotone
    np.testing.assert_array_equal(monotone.predict(new), euclidean.predict(new))


def test_bands_are_the_matrix(X, monkeypatch):
    d = kernel_distance(Cosine())
    expected = d.pairwise(X)
    monkeypatch.setattr(sys.modules["mercer.gram.base"], "BAND_BYTES", 8 * 40)
    parts = list(d.bands(X))
    assert len(parts) == 3
    np.testing.assert_allclose(np.concatenate([values for _, values in parts]), expected, atol=1e-15)
    np.testing.assert_array_equal(d.pairwise(X), expected)
    np.testing.assert_array_equal(expected, expected.T)


def test_memory_is_asked_for_first(X, monkeypatch):
    monkeypatch.setenv("MERCER_MEMORY", "1KB")
    with pytest.raises(MemoryLimitError, match="bands"):
        kernel_distance(Linear()).pairwise(X)


def test_any_objects():
    d = kernel_distance(SetIntersection())
    bags = [{"a", "b"}, {"b", "c", "d"}, set()]
    np.testing.assert_allclose(d.pairwise(bags) ** 2, [[0, 3, 2], [3, 0, 3], [2, 3, 0]])
    assert d(bags[0], {"b", "a"}) == 0.0
    K = SetIntersection().block(bags)
    np.testing.assert_allclose(kernel_distance(Precomputed()).pairwise(K), d.pairwise(bags))


def test_a_users_kernel_without_proof():
    @mercer.kernel
    def dot(x, y):
        return 0.1 * float(np.dot(x, y))

    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, 4))
    d = kernel_distance(dot)
    D = d.pairwise(X, X.copy())
    np.testing.assert_array_equal(np.diag(D), 0.0)
    np.testing.assert_allclose(D, np.sqrt(0.1) * cdist(X, X), atol=1e-7)

    @mercer.kernel
    def wrong(x, y):
        return float(abs(x[0] - y[0]))

    with pytest.raises(DefinitenessError, match="not positive definite"):
        kernel_distance(wrong).pairwise(X)
    with pytest.raises(DefinitenessError, match="not positive definite"):
        kernel_distance(wrong)(X[0], X[1])


def test_is_a_value():
    d = kernel_distance(Gaussian(2.0))
    assert pickle.loads(pickle.dumps(d)) == d == kernel_distance(Gaussian(2.0)) != kernel_distance(Linear())
    assert hash(d) == hash(kernel_distance(Gaussian(2.0)))
    assert repr(d) == "kernel_distance(Gaussian(sigma=2.0))"


def test_bad_arguments_are_named():
    with pytest.raises(ParameterError, match="`kernel` must be a mercer Kernel"):
        kernel_distance("rbf")
    with pytest.raises(UnresolvedError, match="resolve"):
        kernel_distance(Gaussian("median"))
