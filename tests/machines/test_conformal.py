"""Conformal prediction: intervals of refitted models, and coverage on many data sets."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor as SklearnProcess
from sklearn.gaussian_process.kernels import Matern as SklearnMatern
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.errors import InputError, ParameterError
from mercer.features import Nystrom
from mercer.kernels import (
    Gaussian,
    Linear,
    Matern,
    Polynomial,
    PowerDistance,
    Precomputed,
    Spectrum,
    WhiteNoise,
)
from mercer.machines import (
    SVC,
    SVR,
    Conformal,
    ConformalWarning,
    GaussianProcessRegressor,
    KernelLogistic,
    KernelPCA,
    KernelRidge,
)
from mercer.machines.conformal.ridge import conforming

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (25, 2))
Y = X[:, 0] ** 2 + X[:, 1] + 0.3 * RNG.normal(size=25)
NEW = RNG.uniform(-2.5, 2.5, (3, 2))

MACHINES = [
    KernelRidge(Gaussian(1.0), alpha=0.1),
    KernelRidge(Gaussian(0.5), alpha=0.5, fit_intercept=True),
    KernelRidge(Polynomial(2), alpha=0.01),
    KernelRidge(Linear(), alpha=1e-3, fit_intercept=True),
    KernelRidge(-PowerDistance(1.0), alpha=0.1, fit_intercept=True),
    GaussianProcessRegressor(2.0 * Gaussian(1.0) + WhiteNoise(0.2), alpha=0.1, tune=None),
    GaussianProcessRegressor(Matern(1.5, 2.0), alpha=0.3, tune=None, fit_intercept=True),
]


def refitted_jackknife(machine, points, alpha):
    """The definition: one fit for each point that is left out."""
    low, high = [], []
    for i in range(len(X)):
        kept = np.arange(len(X)) != i
        model = machine.fit(X[kept], Y[kept])
        error = abs(Y[i] - model.predict(X[i : i + 1])[0])
        value = model.predict(points)
        low.append(value - error)
        high.append(value + error)
    n = len(X)
    k = int(np.floor(alpha * (n + 1) + 1e-9))
    return np.c_[np.sort(low, axis=0)[k - 1], np.sort(high, axis=0)[n - k]]


def p_value(machine, x, y):
    """The definition: one fit with the new point, and the rank of its residual."""
    points, targets = np.vstack([X, x]), np.append(Y, y)
    residuals = np.abs(targets - machine.fit(points, targets).predict(points))
    return np.mean(residuals >= residuals[-1] * (1 - 1e-9))


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_jackknife_intervals_are_those_of_refitted_models(machine):
    model = Conformal(machine, method="jackknife+").fit(X, Y)
    for alpha in (0.1, 0.3):
        found = model.predict_interval(NEW, alpha)
        expected = refitted_jackknife(machine, NEW, alpha)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    machine.fit(X, Y)
    is_ridge = isinstance(machine, KernelRidge)
    residuals = machine.loo_residuals() if is_ridge else Y - machine.leave_one_out()[0]
    np.testing.assert_allclose(model.loo_residuals_, residuals, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.predict(NEW), machine.fit(X, Y).predict(NEW), rtol=1e-10)


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_full_intervals_end_where_targets_cease_to_conform(machine):
    model = Conformal(machine, method="full").fit(X, Y)
    for alpha in (0.1, 0.3):
        for x, (low, high) in zip(NEW[:2], model.predict_interval(NEW[:2], alpha), strict=True):
            step = 1e-5 * (high - low)
            assert p_value(machine, x, low + step) > alpha
            assert p_value(machine, x, high - step) > alpha
            for y in (low - step, high + step, low - 1, high + 1, high + 10):
                assert p_value(machine, x, y) <= alpha


def test_processes_on_the_line_and_with_noise_of_each_observation():
    """Against the models of scikit-learn, one for each point that is left out."""
    line, noise = X[:, :1], np.linspace(0.05, 0.5, len(X))
    for points, alpha in ((line, 0.2), (line, noise), (X, noise)):
        process = GaussianProcessRegressor(Matern(1.5, 1.3), alpha=alpha, tune=None, fit_intercept=False)
        model = Conformal(process, method="jackknife+").fit(points, Y)
        new = NEW[:, : points.shape[1]]
        ends = []
        for i in range(len(Y)):
            kept = np.arange(len(Y)) != i
            peer = SklearnProcess(
                SklearnMatern(1.3, nu=1.5), alpha=np.broadcast_to(alpha, len(Y))[kept], optimizer=None
            ).fit(points[kept], Y[kept])
            error = abs(Y[i] - peer.predict(points[i : i + 1])[0])
            ends.append(peer.predict(new) + np.array([[-error], [error]]))
        k = int(0.2 * (len(Y) + 1))
        low, high = np.sort(np.array(ends), axis=0).transpose(1, 0, 2)
        expected = np.c_[low[k - 1], high[len(Y) - k]]
        np.testing.assert_allclose(model.predict_interval(new, 0.2), expected, rtol=1e-6)
        assert Conformal(process).fit(points, Y).method_ == ("jackknife+" if np.ndim(alpha) else "full")


@pytest.mark.parametrize("seed", range(20))
def test_sets_of_conforming_targets(seed):
    """Weights beyond one make rays; the hull against a fine grid."""
    rng = np.random.default_rng(seed)
    n, count = 7, int(rng.integers(1, 6))
    a, C = rng.normal(size=n), rng.normal(size=(n, 3)) * rng.choice([0.3, 1.0, 2.0])
    C[rng.random(C.shape) < 0.1] = 1.0
    C[rng.random(C.shape) < 0.1] = -1.0
    grid = np.linspace(-200, 200, 400_001)
    for c, (low, high) in zip(C.T, conforming(a, C, count), strict=True):
        holds = (np.abs(a[:, None] - c[:, None] * grid) >= np.abs(grid) - 1e-12).sum(axis=0) >= count
        inside = grid[holds]
        assert (inside[0] <= -200) if low < -200 else abs(inside[0] - low) < 2e-3
        assert (inside[-1] >= 200) if high > 200 else abs(inside[-1] - high) < 2e-3


@pytest.mark.parametrize(("method", "share"), [("full", 1), ("jackknife+", 2), ("split", 1)])
def test_coverage(method, share):
    """At least 1 - alpha (1 - 2 alpha), less three standard errors, on a model that is wrong."""
    rng = np.random.default_rng(1)
    alpha, runs, new = 0.2, 100, 20
    hits = []
    for _ in range(runs):
        points = rng.normal(size=(24 + new, 1))
        targets = np.sin(3 * points[:, 0]) + (0.1 + np.abs(points[:, 0])) * rng.standard_t(3, 24 + new)
        model = Conformal(KernelRidge(Gaussian(1.0), alpha=0.5), method=method, random_state=0)
        low, high = model.fit(points[:24], targets[:24]).predict_interval(points[24:], alpha).T
        hits.append(np.mean((low <= targets[24:]) & (targets[24:] <= high)))
    error = np.std(hits, ddof=1) / np.sqrt(runs)
    assert np.mean(hits) >= 1 - share * alpha - 3 * error
    assert np.mean(hits) <= 0.93  # and not by saying nothing


@pytest.mark.parametrize(
    "machine",
    [SVC(Gaussian(1.0)), KernelLogistic(Gaussian(1.0)), LogisticRegression()],
    ids=lambda m: type(m).__name__,
)
def test_coverage_of_sets(machine):
    rng = np.random.default_rng(2)
    alpha, runs = 0.2, 40
    hits, sizes = [], []
    for _ in range(runs):
        labels = rng.integers(0, 3, 80)
        points = rng.normal(size=(80, 2)) + 1.5 * np.c_[labels == 1, labels == 2]
        names = np.array(["a", "b", "c"])[labels]
        model = Conformal(machine, random_state=0).fit(points[:60], names[:60])
        sets = model.predict_set(points[60:], alpha)
        hits.append(sets[np.arange(20), labels[60:]].mean())
        sizes.append(sets.sum(axis=1).mean())
    assert np.mean(hits) >= 1 - alpha - 3 * np.std(hits, ddof=1) / np.sqrt(runs)
    assert np.mean(hits) <= 0.9
    assert np.mean(sizes) < 2.5
    assert model.classes_.tolist() == ["a", "b", "c"]


def test_split_by_hand():
    model = Conformal(LinearRegression(), calibration=0.4, random_state=3).fit(X, Y)
    order = np.random.RandomState(3).permutation(25)
    fitted = LinearRegression().fit(X[order[10:]], Y[order[10:]])
    scores = np.sort(np.abs(Y - fitted.predict(X))[order[:10]])
    low, high = model.predict_interval(NEW, 0.2).T
    np.testing.assert_allclose((high - low) / 2, scores[8])  # the ninth of ten: ceil(0.8 * 11)
    np.testing.assert_allclose((high + low) / 2, fitted.predict(NEW))
    assert np.isinf(model.predict_interval(NEW, 0.05)).all()
    for method in ("full", "jackknife+"):
        ridge = Conformal(KernelRidge(Gaussian(1.0)), method=method).fit(X, Y)
        assert np.isinf(ridge.predict_interval(NEW, 0.03)).all()
        assert np.isfinite(ridge.predict_interval(NEW, 1 / 26)).all()


def test_methods_that_are_chosen():
    def chosen(machine, points=X):
        return Conformal(machine, random_state=0).fit(points, Y).method_

    assert chosen(KernelRidge(Gaussian("scale"))) == "full"
    assert chosen(KernelRidge(Precomputed()), X @ X.T) == "jackknife+"
    assert chosen(SVR(Gaussian(1.0))) == "split"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert chosen(KernelRidge(Gaussian(1.0), tune="evidence")) == "split"
        assert chosen(KernelRidge(Gaussian(1.0), alpha="loo")) == "split"
        assert chosen(KernelRidge(Gaussian(1.0), alpha=0.0)) == "split"
        assert chosen(GaussianProcessRegressor(Gaussian(1.0) + WhiteNoise(0.1))) == "split"
        assert chosen(GaussianProcessRegressor(Linear(), alpha=0.1)) == "full"  # nothing is tuned
        assert chosen(GaussianProcessRegressor(Gaussian(1.0), alpha=0.1, tune=None)) == "full"
        normalised = GaussianProcessRegressor(Gaussian(1.0), alpha=0.1, tune=None, normalize_y=True)
        assert chosen(normalised) == "split"
        assert chosen(KernelRidge(approximation=Nystrom(Gaussian(1.0), 5, random_state=0))) == "split"
        search = GridSearchCV(KernelRidge(Gaussian(1.0)), {"alpha": [0.1, 1.0]}, cv=3)
        assert chosen(make_pipeline(StandardScaler(), search)) == "split"


@pytest.mark.parametrize("method", ["full", "jackknife+"])
def test_parameters_chosen_with_the_same_targets_are_warned_about(method):
    for options, word in (({"tune": "evidence"}, "tune='evidence'"), ({"alpha": "gcv"}, "alpha='gcv'")):
        with pytest.warns(ConformalWarning, match=word):
            Conformal(KernelRidge(Gaussian(1.0), **options), method=method).fit(X, Y)
    with pytest.warns(ConformalWarning, match="tune='evidence'"):
        Conformal(GaussianProcessRegressor(Gaussian(1.0), alpha=0.1), method=method).fit(X, Y)


def test_guarantees_say_what_they_assume():
    full = Conformal(KernelRidge(Gaussian(1.0))).fit(X, Y).guarantee(0.1)
    assert float(full) == 0.9
    assert not full.vacuous
    assert any("exchangeable" in text for text in full.assumptions)
    plus = Conformal(KernelRidge(Gaussian("median")), method="jackknife+").fit(X, Y).guarantee(0.6)
    assert plus.vacuous
    assert any("depends on the training points" in text for text in plus.assumptions)


def test_strings_frames_and_precomputed_matrices():
    words = ["ab" * (i % 3) + "ba" * (i % 4) + "c" for i in range(25)]
    low, high = Conformal(KernelRidge(Spectrum(2), alpha=0.1)).fit(words, Y).predict_interval(words[:3]).T
    assert (low < high).all()
    sets = Conformal(SVC(Spectrum(2)), random_state=0).fit(words, Y > 1).predict_set(words[:3], 0.2)
    assert sets.shape == (3, 2)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = Conformal(SVR(Gaussian(1.0)), random_state=0).fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    same = Conformal(SVR(Gaussian(1.0)), random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.predict_interval(frame[:2]), same.predict_interval(X[:2]))
    K = Gaussian(1.0).block(X)
    given = Conformal(KernelRidge(Precomputed(), alpha=0.3)).fit(K, Y)
    direct = Conformal(KernelRidge(Gaussian(1.0), alpha=0.3), method="jackknife+").fit(X, Y)
    cross = Gaussian(1.0).block(NEW, X)
    np.testing.assert_allclose(given.predict_interval(cross), direct.predict_interval(NEW), rtol=1e-8)


def test_a_class_that_the_machine_has_not_seen_fits_nowhere():
    labels = np.array([0, 1] * 12 + [2])
    for seed in range(10):
        model = Conformal(SVC(Gaussian(1.0)), calibration=0.5, random_state=seed).fit(X, labels)
        if len(model.classes_) == 2:
            assert np.isinf(model.scores_[-1])
            assert np.isfinite(model.scores_[:-1]).all()
            break
    else:
        raise AssertionError("no split without the rare class")


def test_bad_input_is_named():
    with pytest.raises(ParameterError, match="`machine` must be a regressor or a classifier"):
        Conformal(KernelPCA(Gaussian(1.0))).fit(X, Y)
    with pytest.raises(ParameterError, match="`machine` must be a regressor or a classifier"):
        Conformal(KernelRidge).fit(X, Y)
    with pytest.raises(ParameterError, match="`method` must be one of"):
        Conformal(KernelRidge(), method="plus").fit(X, Y)
    with pytest.raises(ParameterError, match="`calibration` must be a number between 0 and 1"):
        Conformal(KernelRidge(), calibration=1.0).fit(X, Y)
    with pytest.raises(ParameterError, match="SVR has no closed form"):
        Conformal(SVR(Gaussian(1.0)), method="full").fit(X, Y)
    with pytest.raises(ParameterError, match="one positive `alpha`"):
        Conformal(KernelRidge(alpha=0.0), method="full").fit(X, Y)
    each = GaussianProcessRegressor(Gaussian(1.0), alpha=np.full(25, 0.1))
    with pytest.raises(ParameterError, match=r"that of a new point is not known\. Use method='jackknife"):
        Conformal(each, method="full").fit(X, Y)
    with pytest.raises(ParameterError, match="one `alpha` for all observations"):
        Conformal(each, method="split").fit(X, Y)
    with pytest.raises(ParameterError, match="normalize_y"):
        Conformal(GaussianProcessRegressor(normalize_y=True), method="full").fit(X, Y)
    with pytest.raises(ParameterError, match="without noise"):
        Conformal(GaussianProcessRegressor(Gaussian(1.0), alpha=0.0, tune=None), method="full").fit(X, Y)
    with pytest.raises(ParameterError, match="precomputed"):
        Conformal(KernelRidge(Precomputed()), method="full").fit(X @ X.T, Y)
    with pytest.raises(ParameterError, match="precomputed"):
        Conformal(KernelRidge(Precomputed()), method="split").fit(X @ X.T, Y)
    with pytest.raises(InputError, match="same length"):
        Conformal(KernelRidge()).fit(X, Y[:-1])
    with pytest.raises(InputError, match="`y` is not valid"):
        Conformal(KernelRidge()).fit(X, np.c_[Y, Y])
    with pytest.raises(InputError, match="`y` is not valid"):
        Conformal(KernelRidge()).fit(X, np.where(Y > 1, np.nan, Y))
    with pytest.raises(InputError, match="2 samples"):
        Conformal(SVR()).fit(X[:1], Y[:1])
    model = Conformal(KernelRidge()).fit(X, Y)
    for alpha in (0, 1, 1.5, "0.1", True, np.nan):
        with pytest.raises(ParameterError, match="`alpha` must be a number between 0 and 1"):
            model.predict_interval(NEW, alpha)
    with pytest.raises(NotFittedError):
        Conformal(KernelRidge()).predict_interval(NEW)
    with pytest.raises(AttributeError, match="predict_set"):
        _ = model.predict_set
    with pytest.raises(AttributeError, match="predict_interval"):
        _ = Conformal(SVC()).predict_interval
    three = SVC(Gaussian(1.0), decision_function_shape="ovo", break_ties=False)
    with pytest.raises(InputError, match="one score for each class"):
        Conformal(three, random_state=0).fit(X, np.digitize(Y, [0, 1]))


@parametrize_with_checks(
    [
        Conformal(KernelRidge(Gaussian(1.0))),
        Conformal(KernelRidge(Gaussian(1.0)), method="split", random_state=0),
        Conformal(SVC(Gaussian(1.0)), random_state=0),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
