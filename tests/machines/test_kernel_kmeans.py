"""Kernel k-means: scikit-learn's KMeans for the linear kernel, normalised cuts for a graph, any objects."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
import sklearn.cluster
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from mercer.errors import InputError, MemoryLimitError, ParameterError
from mercer.kernels import Gaussian, Linear, Polynomial, Precomputed, SetIntersection, Sigmoid
from mercer.machines import IndefiniteKernelWarning, KernelKMeans


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(200, 4, centers=5, cluster_std=3.0, random_state=0)[0]


@pytest.mark.parametrize("seed", range(4))
def test_linear_kernel_is_scikit_learns_kmeans(blobs, seed):
    rng = np.random.default_rng(seed)
    start, w = rng.choice(200, 4, replace=False), rng.uniform(0.1, 2.0, 200)
    ours = KernelKMeans(Linear(), n_clusters=4, init=start, algorithm="lloyd").fit(blobs, sample_weight=w)
    theirs = sklearn.cluster.KMeans(4, init=blobs[start], n_init=1, tol=0, algorithm="lloyd")
    theirs.fit(blobs, sample_weight=w)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12)
    new = blobs[:20] + 0.5
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    np.testing.assert_allclose(ours.transform(new), theirs.transform(new), rtol=1e-9)
    assert ours.score(new, sample_weight=w[:20]) == pytest.approx(theirs.score(new, sample_weight=w[:20]))
    means = ours.dual_coef_.T @ blobs
    np.testing.assert_allclose(means, theirs.cluster_centers_, rtol=1e-9)


@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_a_large_offset_does_no_harm(blobs, offset):
    near = np.round(blobs, 3)  # so that the sum is exact to 1e-8
    here = KernelKMeans(Linear(), n_clusters=4, init=[0, 1, 2, 3]).fit(near)
    there = KernelKMeans(Linear(), n_clusters=4, init=[0, 1, 2, 3]).fit(near + offset)
    np.testing.assert_array_equal(here.labels_, there.labels_)
    assert there.inertia_ == pytest.approx(here.inertia_, rel=1e-6)
    np.testing.assert_allclose(there.transform(near + offset), here.transform(near), rtol=1e-5)


def test_restarts_and_single_moves_are_no_worse_than_scikit_learn(blobs):
    theirs = sklearn.cluster.KMeans(6, n_init=10, random_state=0, tol=0).fit(blobs)
    assert KernelKMeans(Linear(), n_clusters=6).fit(blobs).inertia_ <= theirs.inertia_ * (1 + 1e-9)


def test_weighted_kernel_kmeans_is_the_normalised_cut():
    """With K = D^-1 W D^-1 + sigma D^-1 and the weights d, the objective is the cut up to a constant."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((12, 2)), rng.normal([3.5, 0.0], size=(9, 2))])
    W = Gaussian(0.9).block(X)
    np.fill_diagonal(W, 0.0)
    d, n, k, sigma = W.sum(axis=1), 21, 3, 1.0
    K = W / np.outer(d, d) + sigma * np.diag(1 / d)

    def cut(labels):
        parts = [labels == c for c in range(k)]
        return sum(W[np.ix_(own, ~own)].sum() / d[own].sum() for own in parts)

    for start in (np.arange(n) % k, rng.integers(0, k, n)):
        model = KernelKMeans(Precomputed(), n_clusters=k, init=start).fit(K, sample_weight=d)
        assert model.inertia_ == pytest.approx(cut(model.labels_) - k + sigma * (n - k), rel=1e-9)
    best = KernelKMeans(Precomputed(), n_clusters=2).fit(K, sample_weight=d)
    spectral = sklearn.cluster.SpectralClustering(2, affinity="precomputed", random_state=0).fit(W)
    assert adjusted_rand_score(best.labels_, spectral.labels_) == 1.0


def test_distances_in_feature_space(blobs):
    X = blobs[:60]
    w = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    k = Gaussian(6.0)
    model = KernelKMeans(k, n_clusters=3).fit(X, sample_weight=w)
    K = k.block(X)
    for c in range(3):
        v = np.where(model.labels_ == c, w, 0.0)
        v /= v.sum()
        expected = np.sqrt(np.diag(K) - 2 * K @ v + v @ K @ v)
        np.testing.assert_allclose(model.transform(X)[:, c], expected, rtol=1e-8)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.transform(X).argmin(axis=1), model.labels_)
    assert model.inertia_ == pytest.approx(w @ model.transform(X).min(axis=1) ** 2, rel=1e-9)
    assert model.get_feature_names_out().tolist() == ["kernelkmeans0", "kernelkmeans1", "kernelkmeans2"]


def test_a_curved_boundary_that_plain_kmeans_cannot_draw():
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, 120), np.repeat([0.5, 3.0], [50, 70])
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None]
    model = KernelKMeans(Linear().on(lambda x: [x @ x]), n_clusters=2).fit(X)
    assert adjusted_rand_score(model.labels_, radius > 1) == 1.0
    assert model.labels_[-1] == 0  # the larger cluster
    assert adjusted_rand_score(KernelKMeans(Linear(), n_clusters=2).fit(X).labels_, radius > 1) < 0.5


def test_numbers_do_not_depend_on_the_order(blobs):
    order = np.random.default_rng(0).permutation(200)
    one = KernelKMeans(Gaussian(8.0), n_clusters=3).fit(blobs)
    other = KernelKMeans(Gaussian(8.0), n_clusters=3).fit(blobs[order])
    np.testing.assert_array_equal(one.labels_[order], other.labels_)
    assert (np.diff(np.bincount(one.labels_)) <= 0).all()


def test_same_bits_every_time(blobs):
    fits = [KernelKMeans(n_clusters=5, random_state=3).fit(blobs) for _ in range(3)]
    assert len({fit.labels_.tobytes() for fit in fits}) == len({fit.inertia_ for fit in fits}) == 1


def test_weights_are_repetition_and_zero_is_absence(blobs):
    X = blobs[:40]
    w = np.random.default_rng(0).integers(0, 4, 40)
    index = np.repeat(np.arange(40), w)
    weighted = KernelKMeans(Gaussian("median"), n_clusters=3, n_init=20).fit(X, sample_weight=w)
    repeated = KernelKMeans(Gaussian("median"), n_clusters=3, n_init=20).fit(X[index])
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-9)
    assert weighted.kernel_.sigma == pytest.approx(repeated.kernel_.sigma)
    np.testing.assert_array_equal(weighted.labels_, repeated.predict(X))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_weights_of_any_scale(blobs, scale):
    w = np.random.default_rng(0).uniform(0.5, 2.0, 200)
    a, b = (KernelKMeans(Gaussian(6.0), n_clusters=4).fit(blobs, sample_weight=s * w) for s in (1.0, scale))
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert b.inertia_ == pytest.approx(scale * a.inertia_, rel=1e-10)


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_sets_precomputed_and_sparse(init):
    bags = [{"a", "b"}, {"a"}, {"b"}, {"x", "y"}, {"x"}, {"y", "x", "z"}]
    model = KernelKMeans(SetIntersection().normalized(), n_clusters=2, init=init).fit(bags)
    assert model.labels_.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    assert model.predict([{"z"}])[0] == model.labels_[5]
    K = SetIntersection().normalized().block(bags)
    given = KernelKMeans(Precomputed(), n_clusters=2, init=init).fit(K)
    np.testing.assert_array_equal(given.labels_, model.labels_)
    np.testing.assert_array_equal(given.predict(K[:2]), model.labels_[:2])
    with pytest.raises(InputError, match="themselves"):
        given.transform(K[:2])
    X = scipy.sparse.random_array((30, 5), density=0.5, rng=np.random.default_rng(0)).tocsr()
    a, b = (
        KernelKMeans(Linear(), n_clusters=3, init=init).fit(X),
        KernelKMeans(Linear(), n_clusters=3, init=init).fit(X.toarray()),
    )
    np.testing.assert_array_equal(a.labels_, b.labels_)


def test_single_precision(blobs):
    a, b = (KernelKMeans(Gaussian(6.0), n_clusters=4).fit(blobs.astype(t)) for t in (np.float32, np.float64))
    assert adjusted_rand_score(a.labels_, b.labels_) == 1.0
    assert a.inertia_ == pytest.approx(b.inertia_, rel=1e-5)


def test_too_few_different_points():
    with pytest.warns(ConvergenceWarning, match="only 2 of the n_clusters=3"):
        model = KernelKMeans(Linear(), n_clusters=3).fit([[0.0], [0.0], [1.0], [1.0], [1.0]])
    assert model.inertia_ == 0.0
    assert np.isfinite(model.transform([[0.5]])).all()
    one = KernelKMeans(n_clusters=1).fit([[2.0]])
    assert one.labels_.tolist() == [0]
    assert one.inertia_ == 0.0


def test_indefinite_kernels(blobs):
    X = blobs[:50] / 10
    bad = Sigmoid(1.0, -1.0)
    with pytest.warns(IndefiniteKernelWarning):
        KernelKMeans(bad, n_clusters=3).fit(X)
    shifted = KernelKMeans(bad, n_clusters=3, indefinite="shift").fit(X)
    assert shifted.solution_.converged
    assert (shifted.transform(X + 0.01) >= 0).all()


def test_an_early_end_is_told(blobs):
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        KernelKMeans(Linear(), n_clusters=8, init=np.arange(200) % 8, max_iter=1, algorithm="lloyd").fit(
            blobs
        )


def test_pickles(blobs):
    model = KernelKMeans(Polynomial(2), n_clusters=3).fit(blobs)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(blobs), model.transform(blobs))


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (KernelKMeans(n_clusters=0), "`n_clusters` must be an integer >= 1"),
        (KernelKMeans(n_clusters=2.5), "`n_clusters`"),
        (KernelKMeans(n_clusters=True), "`n_clusters`"),
        (KernelKMeans(n_clusters=2, n_init=0), "`n_init`"),
        (KernelKMeans(n_clusters=2, max_iter=-1), "`max_iter`"),
        (KernelKMeans(n_clusters=2, algorithm="elkan"), "`algorithm` must be 'hartigan' or 'lloyd'"),
        (KernelKMeans(n_clusters=2, init="best"), "`init` must be 'k-means\\+\\+' or 'random'"),
        (KernelKMeans(n_clusters=2, init=[0, 0]), "different positions"),
        (KernelKMeans(n_clusters=2, init=[0, 400]), "from 0 to 199"),
        (KernelKMeans(n_clusters=2, init=[0.5, 1.0]), "whole numbers"),
        (KernelKMeans(n_clusters=2, init=np.full(200, 2)), "labels from 0 to 1"),
        (KernelKMeans("gauss", n_clusters=2), "`kernel` must be a mercer Kernel"),
    ],
    ids=repr,
)
def test_bad_parameters_are_named(blobs, machine, message):
    with pytest.raises(ParameterError, match=message):
        machine.fit(blobs)


def test_bad_data_are_named(blobs):
    with pytest.raises(InputError, match=r"n_samples=5 .* n_clusters=8"):
        KernelKMeans().fit(blobs[:5])
    w = np.zeros(200)
    w[3:5] = 1.0
    with pytest.raises(InputError, match="n_samples=2"):
        KernelKMeans(n_clusters=3).fit(blobs, sample_weight=w)
    with pytest.raises(ParameterError, match="sample_weight is zero"):
        KernelKMeans(n_clusters=2, init=[0, 3]).fit(blobs, sample_weight=w)


# -- weights of any size ------------------------------------------------------------------------
def exact_objective(K, weight, labels):
    """The objective of a partition in rational numbers."""
    total = Fraction(0)
    for c in set(labels):
        own = [i for i, label in enumerate(labels) if label == c]
        products = sum(weight[i] * weight[j] * K[i][j] for i in own for j in own)
        total += sum(weight[i] * K[i][i] for i in own) - products / sum(weight[i] for i in own)
    return total


@pytest.mark.parametrize("size", [1e-300, 1e-10, 1e5, 1e10, 1e20, 1e200, 1e300])
@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.0)], ids=repr)
def test_one_weight_of_another_size(kernel, size):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, weight = rng.standard_normal((7, 2)), np.ones(7)
        weight[seed] = size
        model = KernelKMeans(kernel, n_clusters=2).fit(X, sample_weight=weight)
        labels = model.labels_.tolist()
        K = [[Fraction(float(v)) for v in row] for row in kernel.block(X)]
        w = [Fraction(float(v)) for v in weight]
        found = exact_objective(K, w, labels)
        np.testing.assert_allclose(model.inertia_, float(found), rtol=1e-6)
        for i in range(7):  # no move of a single point is better
            moved = [*labels[:i], 1 - labels[i], *labels[i + 1 :]]
            assert len(set(moved)) == 1 or exact_objective(K, w, moved) >= found * (1 - Fraction(1, 10**9))


def test_too_many_clusters_for_the_memory_are_refused_at_once(monkeypatch):
    monkeypatch.setenv("MERCER_MEMORY", "1GiB")
    X = np.zeros((47_000, 1))
    with pytest.raises(MemoryLimitError, match=r"47000 means.*needs 98.75 GiB.*fewer clusters"):
        KernelKMeans(Gaussian(1.0), n_clusters=47_000).fit(X)
