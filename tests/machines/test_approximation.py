"""Machines on the features of a map, against pipelines of the map and a linear machine."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mercer import memory
from mercer.errors import ParameterError
from mercer.features import Explicit, Homogeneous, Nystrom, PolynomialMap, RandomFourier
from mercer.kernels import Gaussian, Intersection, Linear, Matern, NGram, Sigmoid
from mercer.machines import SVC, SVR, IndefiniteKernelWarning, KernelLogistic, KernelPCA, KernelRidge

K = Gaussian(1.5)
MAPS = [Nystrom(K, 30, random_state=0), RandomFourier(Matern(2.5), 40, random_state=0), PolynomialMap(2)]
WORDS = [
    "banana",
    "bandana",
    "ananas",
    "cabana",
    "canna",
    "ban",
    "nab",
    "cab",
    "abba",
    "baba",
    "anna",
    "nana",
]
MACHINES = [SVC(), SVR(), KernelLogistic(), KernelPCA(n_components=2), KernelRidge()]


def data(n=300, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    value = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n)
    return X, value, np.digitize(value, np.quantile(value, np.arange(1, classes) / classes))


def name(machine):
    return type(machine).__name__


def output(machine, X):
    for method in ("decision_function", "transform", "predict"):
        if hasattr(machine, method):
            return getattr(machine, method)(X)


def target(machine, value, y):
    return {"SVR": value, "KernelRidge": value}.get(name(machine), y)


@pytest.mark.parametrize("map", MAPS, ids=name)
@pytest.mark.parametrize("machine", MACHINES, ids=name)
@pytest.mark.parametrize("classes", [2, 3])
def test_it_is_the_pipeline(machine, map, classes):
    X, value, y = data(classes=classes)
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], len(X))
    y = target(machine, value, y)
    model = clone(machine).set_params(approximation=clone(map), tol=1e-8).fit(X, y, sample_weight=weight)
    used = weight > 0
    features = clone(map).fit(X[used])
    linear = clone(machine).set_params(kernel=Linear(), tol=1e-8)
    linear.fit(features.transform(X[used]), y[used], sample_weight=weight[used])
    Z = data(seed=5)[0]
    np.testing.assert_allclose(output(model, Z), output(linear, features.transform(Z)), atol=2e-5)
    assert model.kernel_ == features.target
    assert model.n_features_in_ == 2
    assert f"on {features.dim} features of {name(map)}, whose relative error is" in status(model)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(output(again, Z), output(model, Z))


def status(model):
    return model.status_ if hasattr(model, "status_") else model.solution_.status


def test_logistic_regression_of_scikit_learn():
    X, _, y = data(classes=3)
    map = Nystrom(K, 30, random_state=0)
    pipeline = make_pipeline(clone(map), LogisticRegression(tol=1e-10, max_iter=10_000)).fit(X, y)
    model = KernelLogistic(approximation=map).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), pipeline.predict_proba(X), atol=1e-6)
    assert model.coef_.shape == (3, 30)
    with pytest.raises(AttributeError, match="only available without approximation"):
        _ = model.loo_decision_


@pytest.mark.parametrize("map", [*MAPS[:2], Explicit(NGram(2))], ids=name)
def test_components_of_scikit_learn(map):
    X = WORDS if isinstance(map, Explicit) else data()[0]
    features = clone(map).fit_transform(X)
    features = features.toarray() if hasattr(features, "toarray") else features
    expected = PCA(3).fit(features)
    model = KernelPCA(n_components=3, approximation=map)
    Z = model.fit_transform(X)
    np.testing.assert_allclose(np.abs(Z), np.abs(expected.transform(features)), atol=1e-8)
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-8)
    np.testing.assert_allclose(model.explained_variance_ratio_, expected.explained_variance_ratio_)
    left = ((features - expected.inverse_transform(expected.transform(features))) ** 2).sum(axis=1)
    np.testing.assert_allclose(model.score_samples(X), -left, atol=1e-8)
    assert (model.unexplained_ratio(X) <= 1).all()
    with pytest.raises(ParameterError, match="inverse_transform: there must be no `approximation`"):
        model.inverse_transform(Z)


@pytest.mark.parametrize("map", [Nystrom(NGram(2), 11, random_state=0), Explicit(NGram(2))], ids=name)
@pytest.mark.parametrize("machine", MACHINES, ids=name)
def test_words_with_all_features_give_the_exact_machine(machine, map):
    y = np.array([word[0] == "b" for word in WORDS], dtype=float)
    model = clone(machine).set_params(approximation=map, tol=1e-8)
    exact = clone(machine).set_params(kernel=NGram(2), tol=1e-8).fit(WORDS, y)
    model.fit(WORDS, y)
    assert model.approximation_error_ < 1e-10
    np.testing.assert_allclose(output(model, ["bananas"]), output(exact, ["bananas"]), atol=1e-6)
    if not hasattr(machine, "explain"):
        return
    if isinstance(map, Explicit):
        with pytest.raises(ParameterError, match="not sums over points"):
            model.explain("bananas")
    else:
        explained = model.explain("bananas")
        np.testing.assert_allclose(sum(c.weight for c in explained), explained.value, atol=1e-8)


def test_sparse_features_stay_sparse():
    model = SVC(approximation=Explicit(NGram(2))).fit(WORDS, [word[0] for word in WORDS])
    assert model.coef_.shape == (6, model.approximation_.dim)  # pairs of four classes
    assert model.predict(["banal"]).tolist() == ["b"]


def test_the_histograms_of_a_homogeneous_map():
    X = np.random.default_rng(0).dirichlet(np.ones(5), 60)
    model = SVC(approximation=Homogeneous(Intersection(), 4)).fit(X, X[:, 0] > 0.2)
    assert model.score(X, X[:, 0] > 0.2) > 0.8


@pytest.mark.parametrize("machine", MACHINES, ids=name)
def test_parameters_of_the_map(machine):
    X, value, y = data(120)
    model = clone(machine).set_params(approximation=Nystrom(K, 5, random_state=0))
    assert model.get_params()["approximation__n_components"] == 5
    assert clone(model).set_params(approximation__n_components=7).approximation.n_components == 7
    assert model.approximation.n_components == 5
    if name(machine) != "KernelPCA":
        grid = {"approximation__n_components": [1, 40], "approximation__kernel__sigma": [1.0]}
        search = GridSearchCV(model, grid, cv=2).fit(X, target(machine, value, y))
        assert search.best_params_["approximation__n_components"] == 40


@pytest.mark.parametrize("machine", MACHINES, ids=name)
def test_auto(machine, monkeypatch):
    X, value, y = data()
    y = target(machine, value, y)
    model = clone(machine).set_params(approximation="auto", kernel=K)
    exact = clone(machine).set_params(kernel=K).fit(X, y)
    assert model.fit(X, y).approximation_ is None
    np.testing.assert_allclose(output(model, X), output(exact, X))
    monkeypatch.setattr(memory, "HELD_BYTES", 8 * 300 * 299)
    model.fit(X, y)
    assert model.approximation_.target == K
    assert "features of Nystrom" in status(model)
    np.testing.assert_allclose(output(model, X), output(exact, X), atol=0.1)
    first = output(model, X)
    np.testing.assert_array_equal(output(model.fit(X, y), X), first)
    assert model.set_params(kernel=Linear()).fit(X, y).approximation_ is None  # its features are known


def test_auto_leaves_kernels_alone_that_are_not_certified(monkeypatch):
    X, _, y = data(60)
    monkeypatch.setattr(memory, "HELD_BYTES", 1)
    with pytest.warns(IndefiniteKernelWarning):
        model = SVC(Sigmoid(1.0, -1.0), approximation="auto").fit(X, y)
    assert model.approximation_ is None


@pytest.mark.parametrize("machine", MACHINES, ids=name)
def test_nothing_stays_of_an_approximation(machine):
    X, value, y = data(100)
    y = target(machine, value, y)
    model = clone(machine).set_params(approximation=MAPS[1]).fit(X, y)
    model.set_params(approximation=None, kernel=K).fit(X, y)
    assert not hasattr(model, "approximation_")
    exact = clone(machine).set_params(kernel=K).fit(X, y)
    np.testing.assert_allclose(output(model, X), output(exact, X))


def test_a_warm_start():
    X, _, y = data()
    model = SVC(approximation=MAPS[0], warm_start=True).fit(X, y)
    assert model.fit(X, y).n_iter_[0] <= SVC(approximation=MAPS[0]).fit(X, y).n_iter_[0]


def test_path_and_probabilities():
    X, _, y = data(classes=3)
    models = SVC(approximation=MAPS[0], probability=True).path(X, y, [0.1, 1.0])
    assert [model.predict_proba(X).shape for model in models] == [(300, 3)] * 2
    single = SVC(approximation=MAPS[0], C=0.1, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(models[0].decision_function(X), single.decision_function(X), atol=0.02)
    with pytest.raises(ParameterError, match=r"SVC.compress: there must be no `approximation`"):
        single.compress()


@pytest.mark.parametrize("machine", MACHINES, ids=name)
def test_bad_input_is_named(machine):
    X, value, y = data(20)
    y = target(machine, value, y)
    bad = [
        ({"approximation": "nystrom"}, "`approximation` must be a feature map"),
        ({"approximation": 3}, "`approximation` must be a feature map"),
        ({"approximation": MAPS[0], "kernel": Gaussian(9.0)}, "`kernel` must be left out"),
        ({"approximation": MAPS[0], "indefinite": "clip"}, "`indefinite` must be 'warn'"),
    ]
    if name(machine) == "KernelLogistic":
        bad.append(({"approximation": MAPS[0], "l1": 0.1}, "`l1` must be 0"))
        bad.append(({"approximation": MAPS[0], "alpha": "loo"}, "alpha='loo' needs approximation=None"))
    if name(machine) == "KernelPCA":
        bad.append(({"approximation": MAPS[0], "solver": "lanczos"}, "`solver` must be 'auto'"))
    if name(machine) == "SVC":
        bad.append(({"approximation": "auto", "store": "somewhere"}, "`store` must be None"))
    for parameters, message in bad:
        with pytest.raises(ParameterError, match=f"{name(machine)}: {message}"):
            clone(machine).set_params(**parameters).fit(X, y)
