"""Laplacian least squares and support vectors: identities, generic optimisers, missing labels."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import minimize
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV

from mercer.errors import InputError, ParameterError
from mercer.gram import gram
from mercer.graphs import laplacian
from mercer.graphs.similarity import affinity
from mercer.kernels import Gaussian, Linear, Polynomial, Precomputed, SetIntersection, Sigmoid
from mercer.machines import (
    SVC,
    IndefiniteKernelWarning,
    KernelRidge,
    LaplacianRLS,
    LaplacianRLSClassifier,
    LaplacianSVC,
)

GRAPHS = [
    {"graph_kernel": Gaussian(0.5)},
    {"graph_kernel": Gaussian(0.5), "normalized": False},
    {"n_neighbors": 4},
    {"n_neighbors": 5, "normalized": False, "graph_kernel": Gaussian(2.0)},
]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((25, 2))
    y = np.full(25, np.nan)
    y[:9] = np.sin(X[:9, 0]) + 0.1 * rng.standard_normal(9)
    return X, y


@pytest.fixture(scope="module")
def moons():
    X, truth = make_moons(120, noise=0.06, random_state=1)
    y = np.full(120, -1)
    y[[truth.argmin(), truth.argmax()]] = [0, 1]
    return X, truth, y


# -- least squares ------------------------------------------------------------------------------
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_minimises_the_stated_objective(data, graph, fit_intercept):
    X, y = data
    alpha, smoothness, k = 0.3, 0.7, Gaussian(1.2)
    w = np.random.default_rng(1).uniform(0.5, 2.0, 25)
    model = LaplacianRLS(k, alpha=alpha, smoothness=smoothness, fit_intercept=fit_intercept, **graph)
    model.fit(X, y, sample_weight=w)
    K, L, labelled = k.block(X), model.laplacian_, ~np.isnan(y)

    def objective(p):
        a, b = p[:25], p[25] if fit_intercept else 0.0
        f = K @ a
        error = (y - f - b)[labelled]
        return w[labelled] @ error**2 + alpha * a @ f + smoothness * f @ (L @ f)

    def gradient(p):
        a, b = p[:25], p[25] if fit_intercept else 0.0
        f = K @ a
        pull = np.where(labelled, w * (f + b - np.nan_to_num(y)), 0.0)
        rest = 2 * K @ (pull + alpha * a + smoothness * (L @ f))
        return np.append(rest, 2 * pull.sum()) if fit_intercept else rest

    ours = np.append(model.dual_coef_, model.intercept_) if fit_intercept else model.dual_coef_
    generic = minimize(objective, np.zeros(len(ours)), jac=gradient, method="BFGS", options={"gtol": 1e-9})
    assert objective(ours) == pytest.approx(generic.fun, rel=1e-6)
    assert objective(ours) <= generic.fun * (1 + 1e-10)
    f = K @ generic.x[:25] + (generic.x[25] if fit_intercept else 0.0)
    np.testing.assert_allclose(model.predict(X), f, atol=2e-4)
    assert model.solution_.gap < 1e-10


@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_is_ridge_regression_with_the_warped_kernel(data, graph):
    X, y = data
    model = LaplacianRLS(Gaussian(1.2), alpha=0.3, smoothness=0.7, fit_intercept=True, **graph).fit(X, y)
    ridge = KernelRidge(model.warped_kernel_, alpha=0.3, fit_intercept=True).fit(X[:9], y[:9])
    new = np.random.default_rng(2).standard_normal((8, 2))
    np.testing.assert_allclose(model.predict(new), ridge.predict(new), rtol=1e-9, atol=1e-11)
    assert model.warped_kernel_.certificate.is_psd


def test_no_smoothness_is_plain_ridge(data):
    X, y = data
    model = LaplacianRLS(Gaussian(1.0), alpha=0.5, smoothness=0.0).fit(X, y)
    ridge = KernelRidge(Gaussian(1.0), alpha=0.5).fit(X[:9], y[:9])
    np.testing.assert_allclose(model.predict(X), ridge.predict(X), rtol=1e-10)


def test_much_smoothness_is_the_harmonic_function():
    """On a path, with hardly any norm penalty, the values between two labels lie on a line."""
    X = np.arange(9.0)[:, None]
    y = np.full(9, np.nan)
    y[[0, 8]] = [1.0, 5.0]
    path = Gaussian(0.3)  # neighbours at distance 1, the others hardly at all
    model = LaplacianRLS(Gaussian(0.8), alpha=1e-9, smoothness=1e-3, graph_kernel=path, normalized=False)
    np.testing.assert_allclose(model.fit(X, y).predict(X), np.linspace(1, 5, 9), atol=0.05)


@pytest.mark.parametrize("graph", [GRAPHS[0], GRAPHS[1], GRAPHS[3]], ids=str)
def test_weights_are_repetition_and_zero_is_absence(data, graph):
    X, y = data
    w = np.random.default_rng(3).integers(0, 4, 25)
    w[:2] = 1
    index = np.repeat(np.arange(25), w)
    weighted = LaplacianRLS(Gaussian("median"), alpha=0.2, **graph).fit(X, y, sample_weight=w)
    repeated = LaplacianRLS(Gaussian("median"), alpha=0.2, **graph).fit(X[index], y[index])
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6, atol=1e-8)


def test_many_targets_are_many_fits(data):
    X, y = data
    Y = np.column_stack([y, 2 * y + 1, y**2])
    model = LaplacianRLS(Gaussian(1.0), fit_intercept=True).fit(X, Y)
    assert model.predict(X).shape == (25, 3)
    one = LaplacianRLS(Gaussian(1.0), fit_intercept=True).fit(X, Y[:, 1])
    np.testing.assert_allclose(model.predict(X)[:, 1], one.predict(X), rtol=1e-9)


# -- classification -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    "machine",
    [
        LaplacianRLSClassifier(Gaussian(0.3), alpha=1e-3, smoothness=1.0, n_neighbors=8),
        LaplacianRLSClassifier(
            Gaussian(0.3), alpha=1e-4, smoothness=1.0, graph_kernel=Gaussian(0.1), normalized=False
        ),
        LaplacianSVC(Gaussian(0.3), C=100.0, smoothness=1e3, n_neighbors=8),
    ],
    ids=["least squares", "all pairs", "support vectors"],
)
def test_two_labels_are_enough_for_two_moons(moons, machine):
    X, truth, y = moons
    model = machine.fit(X, y)
    assert model.score(X, truth) == 1.0
    new, labels = make_moons(60, noise=0.06, random_state=5)
    assert model.score(new, labels) > 0.95
    assert SVC(Gaussian(0.3), C=100.0).fit(X[y >= 0], y[y >= 0]).score(X, truth) < 0.95


def test_svc_is_that_with_the_warped_kernel(data):
    X, y = data
    labels = np.where(np.isnan(y), -1, (y > 0).astype(int))
    model = LaplacianSVC(Gaussian(1.0), C=2.0, smoothness=0.5, n_neighbors=5, tol=1e-8).fit(X, labels)
    svc = SVC(model.warped_kernel_, C=2.0, tol=1e-8).fit(X[labels >= 0], labels[labels >= 0])
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(labels >= 0)[svc.support_])


def test_svc_minimises_the_stated_objective(data):
    X, y = data
    labels = np.where(np.isnan(y), -1, (y > 0).astype(int))
    k, C, smoothness = Gaussian(1.0), 1.5, 0.8
    model = LaplacianSVC(k, C=C, smoothness=smoothness, fit_intercept=False, tol=1e-9).fit(X, labels)
    K, L, labelled = k.block(X), model.laplacian_, labels >= 0
    sign = np.where(labels == 1, 1.0, -1.0)

    def objective(a):
        f = K @ a
        return 0.5 * (a @ f + smoothness * f @ (L @ f)) + C * np.maximum(0, 1 - sign * f)[labelled].sum()

    a = np.zeros(25)
    chosen = np.flatnonzero(labelled)[model.svc_.support_]
    T = np.linalg.inv(np.eye(25) + smoothness * L @ K)
    a = T[:, chosen] @ model.svc_.dual_coef_[0]
    np.testing.assert_allclose(K @ a, model.decision_function(X), atol=1e-7)
    rng = np.random.default_rng(0)
    best = objective(a)
    for scale in (1e-1, 1e-3):  # convex: a local minimum is the minimum
        for _ in range(200):
            assert objective(a + scale * rng.standard_normal(25)) >= best - 1e-9
    smooth = minimize(objective, a + 0.01, method="Powell", options={"maxiter": 3})
    assert best <= smooth.fun + 1e-9


def test_strings_and_their_missing_labels(moons):
    X, truth, y = moons
    names = np.array(["left", "right", -1], dtype=object)[y]
    expected = np.array(["left", "right"])[truth]
    for machine in (
        LaplacianSVC(Gaussian(0.3), C=100.0, smoothness=1e3, n_neighbors=8),
        LaplacianRLSClassifier(Gaussian(0.3), alpha=1e-3, smoothness=1.0, n_neighbors=8),
    ):
        model = machine.fit(X, names)
        assert model.classes_.tolist() == ["left", "right"]
        np.testing.assert_array_equal(model.predict(X), expected)
        with pytest.raises(InputError, match="dtype object"):
            machine.fit(X, names.astype(str))


@pytest.mark.parametrize("machine", [LaplacianRLSClassifier(alpha=0.01), LaplacianSVC(C=10.0)], ids=repr)
def test_three_classes(machine):
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    X = np.repeat(centres, 15, axis=0) + rng.standard_normal((45, 2))
    truth = np.repeat([3, 5, 7], 15)
    y = np.where(np.arange(45) % 15 < 2, truth, -1)
    model = machine.fit(X, y)
    assert model.score(X, truth) > 0.95
    assert model.decision_function(X).shape == (45, 3)


def test_probabilities(moons):
    X, truth, y = moons
    y = np.where(np.arange(120) % 4 == 0, truth, -1)
    model = LaplacianSVC(Gaussian(0.3), C=10.0, probability=True).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    assert not hasattr(LaplacianSVC(), "predict_proba")


# -- any data -----------------------------------------------------------------------------------
def test_precomputed_and_objects_and_sparse(data):
    X, y = data
    k = Gaussian(1.0)
    direct = LaplacianRLS(k, alpha=0.3).fit(X, y).predict(X[:4])
    given = LaplacianRLS(Precomputed(), alpha=0.3).fit(k.block(X), y)
    np.testing.assert_allclose(given.predict(k.block(X[:4], X)), direct, rtol=1e-9)
    sparse = LaplacianRLS(k, alpha=0.3).fit(scipy.sparse.csr_array(X), y)
    np.testing.assert_allclose(sparse.predict(scipy.sparse.csr_array(X[:4])), direct, rtol=1e-9)
    np.testing.assert_allclose(
        LaplacianRLS(k, alpha=0.3).fit(X.astype(np.float32), y).predict(X[:4]), direct, rtol=1e-4
    )
    bags = [{"a", "b"}, {"a"}, {"b", "c"}, {"x"}, {"x", "y"}, {"y"}]
    model = LaplacianSVC(SetIntersection(), C=10.0).fit(bags, [0, -1, -1, 1, -1, -1])
    assert model.predict([{"c", "b"}, {"y", "x"}]).tolist() == [0, 1]


def test_duplicates_and_constant_targets():
    X = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    y = np.where(np.arange(12) % 4 == 0, 2.0, np.nan)
    model = LaplacianRLS(Gaussian(1.0), alpha=1e-8, smoothness=1.0, normalized=False).fit(X, y)
    np.testing.assert_allclose(model.predict(X), 2.0, rtol=1e-4)
    one = LaplacianRLS(alpha=1.0).fit([[1.0]], [3.0])
    assert one.predict([[1.0]])[0] == pytest.approx(1.5)


def test_indefinite_kernels(data):
    X, y = data
    bad = Sigmoid(1.0, -1.0)
    with pytest.warns(IndefiniteKernelWarning):
        LaplacianRLS(bad, alpha=10.0, graph_kernel=Gaussian(1.0)).fit(X, y)
    model = LaplacianRLS(bad, indefinite="clip", graph_kernel=Gaussian(1.0)).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    with pytest.raises(InputError, match="repaired"):
        _ = model.warped_kernel_


def test_grid_search_reaches_both_kernels(data):
    X, _ = data
    y = np.where(np.arange(25) % 5 == 0, -1, (X[:, 0] > 0).astype(int))
    machine = LaplacianRLSClassifier(Gaussian(1.0), graph_kernel=Gaussian(1.0))
    grid = {"kernel__sigma": [0.5], "graph_kernel__sigma": [0.3, 1.0], "smoothness": [0.1]}
    search = GridSearchCV(machine, grid, cv=2, scoring="accuracy", error_score="raise").fit(X, y)
    assert search.best_estimator_.kernel == Gaussian(0.5)
    assert machine.graph_kernel == Gaussian(1.0)


def test_pickles(data):
    X, y = data
    model = LaplacianRLS(n_neighbors=4).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (LaplacianRLS(alpha=0.0), "`alpha` must be a finite number > 0"),
        (LaplacianRLS(alpha=np.inf), "`alpha`"),
        (LaplacianRLS(smoothness=-1), "`smoothness`"),
        (LaplacianRLS(smoothness=np.nan), "`smoothness`"),
        (LaplacianRLS(n_neighbors=2.0), "`n_neighbors`"),
        (LaplacianRLS(normalized="yes"), "`normalized`"),
        (LaplacianRLS(graph_kernel="gauss"), "`graph_kernel` must be a mercer Kernel"),
    ],
    ids=repr,
)
def test_bad_parameters_are_named(data, machine, message):
    with pytest.raises(ParameterError, match=message):
        machine.fit(*data)


def test_bad_data_are_named(data):
    X, y = data
    with pytest.raises(InputError, match="All are NaN"):
        LaplacianRLS().fit(X, np.full(25, np.nan))
    with pytest.raises(ValueError, match="infinity"):
        LaplacianRLS().fit(X, np.where(np.isnan(y), np.inf, y))
    with pytest.raises(InputError, match="all known or all NaN"):
        LaplacianRLS().fit(X, np.column_stack([y, np.ones(25)]))
    with pytest.raises(InputError, match="positive weight"):
        LaplacianRLS().fit(X, y, sample_weight=np.isnan(y).astype(float))
    with pytest.raises(InputError, match=r"must be >= 0"):
        LaplacianRLS(Linear()).fit(X, y)
    labels = np.where(np.isnan(y), -1, 1)
    for machine in (LaplacianSVC(), LaplacianRLSClassifier()):
        with pytest.raises(InputError, match="Got one class only, 1"):
            machine.fit(X, labels)
        with pytest.raises(InputError, match="All are -1"):
            machine.fit(X, np.full(25, -1))
    with pytest.raises(ParameterError, match="`C`"):
        LaplacianSVC(C=-1.0).fit(X, labels)


def test_the_laplacian_is_that_of_the_graph(data):
    X, y = data
    model = LaplacianRLS(Polynomial(2), graph_kernel=Gaussian(0.7), n_neighbors=3).fit(X, y)
    A = affinity(gram(Gaussian(0.7), X), 3)
    np.testing.assert_allclose(model.laplacian_.toarray(), laplacian(A, normalized=True).toarray())
