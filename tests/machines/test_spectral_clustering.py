"""Spectral clustering against scikit-learn, and on graphs in pieces."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.cluster
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, Linear, Precomputed, SetIntersection
from mercer.machines import SpectralClustering


@pytest.fixture(scope="module")
def moons():
    return make_moons(200, noise=0.05, random_state=0)


@pytest.mark.parametrize("n_neighbors", [None, 10])
def test_two_moons(moons, n_neighbors):
    X, truth = moons
    sigma = 0.12
    ours = SpectralClustering(Gaussian(sigma), n_clusters=2, n_neighbors=n_neighbors).fit(X)
    theirs = sklearn.cluster.SpectralClustering(2, gamma=1 / (2 * sigma**2), random_state=0).fit(X)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    assert adjusted_rand_score(ours.labels_, truth) == 1.0
    assert scipy.sparse.issparse(ours.affinity_matrix_) == (n_neighbors is not None)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_cut_is_no_worse_than_scikit_learns(k):
    X = np.random.default_rng(1).standard_normal((80, 2))
    W = Gaussian(0.7).block(X)
    np.fill_diagonal(W, 0.0)

    def cut(labels):
        parts = [labels == c for c in range(k)]
        return sum(W[np.ix_(own, ~own)].sum() / W[own].sum() for own in parts)

    ours = SpectralClustering(Precomputed(), n_clusters=k).fit(W)
    theirs = sklearn.cluster.SpectralClustering(k, affinity="precomputed", random_state=0).fit(W)
    assert ours.cut_ == pytest.approx(cut(ours.labels_), rel=1e-9)
    assert ours.cut_ <= cut(theirs.labels_) * (1 + 1e-9)
    assert ours.eigenvalues_.sum() <= ours.cut_  # the relaxation is a lower bound
    for i in range(80):  # no move of a single point lowers it
        for c in range(k):
            moved = ours.labels_.copy()
            moved[i] = c
            assert len(np.unique(moved)) < k or cut(moved) >= ours.cut_ * (1 - 1e-9)


def test_embedding_is_that_of_the_random_walk(moons):
    model = SpectralClustering(Gaussian(0.3), n_clusters=3).fit(moons[0])
    W = model.affinity_matrix_
    walk = W / W.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        walk @ model.embedding_, model.embedding_ * (1 - model.eigenvalues_), atol=1e-10
    )
    np.testing.assert_allclose(model.embedding_[:, 0], model.embedding_[0, 0])
    assert np.diag(W).max() == 0


def test_same_bits_every_time(moons):
    fits = [SpectralClustering(Gaussian(0.2), n_clusters=4).fit(moons[0]) for _ in range(2)]
    assert fits[0].labels_.tobytes() == fits[1].labels_.tobytes()
    assert fits[0].embedding_.tobytes() == fits[1].embedding_.tobytes()


def groups(*sizes):
    """Points in groups so far apart that their kernel values are zero."""
    rng = np.random.default_rng(0)
    return np.concatenate([1e3 * i + rng.uniform(0, 1, (size, 1)) for i, size in enumerate(sizes)])


@pytest.mark.parametrize("n_neighbors", [None, 4])
def test_as_many_components_as_clusters(n_neighbors):
    model = SpectralClustering(Gaussian(1.0), n_clusters=3, n_neighbors=n_neighbors).fit(groups(5, 7, 6))
    assert model.n_components_ == 3
    assert model.labels_.tolist() == [2] * 5 + [0] * 7 + [1] * 6
    np.testing.assert_array_equal(model.eigenvalues_, 0.0)


def test_fewer_components_than_clusters():
    X = np.concatenate([groups(6), groups(7) + 30, 1e6 + groups(5)])  # two groups hold together, a bit
    model = SpectralClustering(Gaussian(5.0), n_clusters=3).fit(X)
    assert model.n_components_ == 2
    assert model.labels_.tolist() == [1] * 6 + [0] * 7 + [2] * 5


def test_more_components_than_clusters():
    with pytest.warns(UserWarning, match="4 components for n_clusters=2"):
        model = SpectralClustering(Gaussian(1.0), n_clusters=2).fit(groups(9, 3, 1, 1))
    assert model.labels_.tolist() == [0] * 9 + [1] * 5


def test_isolated_points():
    X = np.concatenate([groups(10), groups(8) + 4, [[1e5]]])
    model = SpectralClustering(Gaussian(1.0), n_clusters=3).fit(X)
    assert model.labels_.tolist() == [0] * 10 + [1] * 8 + [2]
    assert model.affinity_matrix_[-1].max() == 0
    alone = SpectralClustering(Gaussian(1.0), n_clusters=2).fit(groups(1, 1))
    assert alone.labels_.tolist() == [0, 1]
    assert SpectralClustering(n_clusters=1).fit([[1.0], [2.0]]).labels_.tolist() == [0, 0]


def test_refitting_leaves_nothing_behind(moons):
    model = SpectralClustering(Gaussian(0.5), n_clusters=2).fit(moons[0])
    assert hasattr(model, "embedding_")
    assert not hasattr(model.fit(groups(5, 5)), "embedding_")


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_affinities_of_any_scale(moons, scale):
    W = Gaussian(0.3).block(moons[0][:60])
    a, b = (SpectralClustering(Precomputed(), n_clusters=3).fit(s * W) for s in (1.0, scale))
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert b.cut_ == pytest.approx(a.cut_, rel=1e-9)


def test_any_objects():
    bags = [{"a", "b"}, {"a"}, {"b"}, {"x", "y"}, {"x"}, {"y", "x", "b"}]
    labels = SpectralClustering(SetIntersection().normalized(), n_clusters=2).fit_predict(bags)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]


def test_negative_affinities_are_refused(moons):
    with pytest.raises(InputError, match=r"weights of a graph must be >= 0.*points \d+ and \d+"):
        SpectralClustering(Linear(), n_clusters=2).fit(moons[0])


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (SpectralClustering(n_clusters=0), "`n_clusters`"),
        (
            SpectralClustering(n_clusters=2, n_neighbors=0),
            "`n_neighbors` must be an integer >= 1, or None",
        ),
        (SpectralClustering(n_clusters=2, n_init=0.5), "`n_init`"),
        (SpectralClustering(n_clusters=2, max_iter=None), "`max_iter`"),
    ],
    ids=repr,
)
def test_bad_parameters_are_named(moons, machine, message):
    with pytest.raises(ParameterError, match=message):
        machine.fit(moons[0])


def test_too_many_clusters():
    with pytest.raises(InputError, match="n_samples=3"):
        SpectralClustering(n_clusters=4).fit([[1.0], [2.0], [3.0]])
