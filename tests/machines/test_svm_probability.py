"""Probabilities of support vector classifiers: consistent with predictions, and calibrated."""

import threading
import time
import warnings
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse
import sklearn.svm
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer.domains import Objects, Vectors
from mercer.engine.runs import PAUSE
from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, GlobalAlignment, Linear, Precomputed
from mercer.machines import SVC, NuSVC
from mercer.machines.svm import calibration
from mercer.machines.svm.folds import FOLDS, distinct_points, make_folds
from mercer.machines.svm.probability import (
    KNOTS,
    LEAST,
    PiecewiseLogistic,
    Temperature,
    agree,
    class_margins,
)


def expected_failed_checks(estimator):
    """Checks of scikit-learn that cannot hold, by name, with the mathematical reason."""
    if not isinstance(estimator, NuSVC):
        return {}
    return {
        "check_class_weight_classifiers": "a class of weight 1e-4 cannot have half of the share nu, "
        "without which the problem has no feasible point",
        "check_estimator_sparse_tag": "random labels on few points: reduced hulls of two classes overlap, "
        "and there is no margin",
    }


@parametrize_with_checks(
    [SVC(probability=True), NuSVC(nu=0.35, probability=True)],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def blobs(n, classes, seed, d=2, noise=1.0):
    rng = np.random.default_rng(seed)
    centres = 2.0 * rng.standard_normal((classes, d))
    y = np.concatenate([np.arange(classes), np.arange(classes), rng.integers(classes, size=n - 2 * classes)])
    return centres[y] + noise * rng.standard_normal((n, d)), y


def assert_consistent(model, Z):
    P = model.predict_proba(Z)
    assert P.shape == (len(Z), len(model.classes_))
    assert ((P > 0) & (P < 1)).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(Z))
    np.testing.assert_allclose(model.predict_log_proba(Z), np.log(P))


# -- agreement with predict ---------------------------------------------------------------------
@pytest.mark.parametrize("classes", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("seed", range(8))
def test_the_prediction_is_the_most_probable_class(classes, seed):
    rng = np.random.default_rng(seed)
    X, y = blobs(60, classes, seed, noise=rng.choice([0.3, 1.0, 3.0]))
    if seed % 2:  # imbalanced: few points of all but the first class
        rare = rng.random(len(y)) < 0.7
        rare[: 2 * classes] = False
        X, y = X[~rare | (y == 0)], y[~rare | (y == 0)]
    model = SVC(
        C=10.0 ** rng.integers(-3, 4),
        kernel=[Gaussian("scale"), Linear(), Gaussian(0.2)][seed % 3],
        multiclass=["ovo", "ovr"][seed // 2 % 2],
        break_ties=bool(seed // 4),
        class_weight=[None, "balanced"][seed // 3 % 2],
        probability=True,
    ).fit(X, y, sample_weight=rng.integers(1, 4, size=len(y)) if seed > 3 else None)
    assert_consistent(model, np.concatenate([X, 4 * rng.standard_normal((300, 2))]))


@pytest.mark.parametrize("nu", [0.05, 0.3])
@pytest.mark.parametrize("classes", [2, 4])
def test_nu_machines_have_probabilities(nu, classes):
    X, y = blobs(80, classes, 3)
    model = NuSVC(nu=nu, probability=True).fit(X, y)
    assert_consistent(model, 3 * np.random.default_rng(0).standard_normal((200, 2)))


def test_nu_at_its_limit_is_feasible_without_a_fold():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((23, 2))
    y = (np.arange(23) < 9).astype(int)
    model = NuSVC(Gaussian(0.1), nu=2 * 9 / 23, probability=True).fit(X, y)
    assert_consistent(model, X)


@pytest.mark.parametrize("f", [0.0, -0.0, 5e-324, -5e-324, 1e-200, 1e-17, -1e-17, 1e300, -1e300])
def test_extreme_decision_values(f):
    map_ = PiecewiseLogistic((1e-3, 1.0, 2.0), (1.0, 1e-3, 2.0), 10)
    f = np.array([f])
    P = agree(map_(f), (f > 0).astype(np.intp))
    assert P.argmax() == (f[0] > 0)
    assert ((P > 0) & (P < 1)).all()


def test_a_decision_value_of_zero_means_one_half():
    X = np.array([[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]])
    model = SVC(kernel=Linear(), fit_intercept=False, probability=True).fit(X, [0, 0, 0, 1, 1, 1])
    assert model.decision_function([[0.0]]) == 0
    np.testing.assert_array_equal(model.predict_proba([[0.0]]), [[0.5, 0.5]])
    assert model.predict([[0.0]]) == 0


def test_ties_of_all_classes():
    P = agree(np.full((3, 3), 1 / 3), np.array([0, 1, 2]))
    np.testing.assert_array_equal(P.argmax(axis=1), [0, 1, 2])
    np.testing.assert_allclose(P, 1 / 3)


def test_the_predicted_class_shares_with_those_above_it():
    P = agree(np.array([[0.5, 0.3, 0.15, 0.05], [0.5, 0.3, 0.15, 0.05]]), np.array([2, 0]))
    np.testing.assert_allclose(P, [[0.95 / 3, 0.95 / 3, 0.95 / 3, 0.05], [0.5, 0.3, 0.15, 0.05]])
    assert P[0].argmax() == 2


def test_only_a_class_that_wins_all_comparisons_has_a_positive_margin():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((200, 6))
    margins = class_margins(values, 4)
    for row, margin in zip(values, margins, strict=True):
        signed = {(i, j): v for (i, j), v in zip(combinations(range(4), 2), row, strict=True)}
        signed |= {(j, i): -v for (i, j), v in signed.items()}
        expected = [min(signed[c, d] for d in range(4) if d != c) for c in range(4)]
        np.testing.assert_array_equal(margin, expected)
        assert (margin > 0).sum() <= 1


# -- the functions from decision values to probabilities --------------------------------------------
def decision_values(n, seed, error=0.1):
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=n)
    f = (2 * codes - 1) * rng.gamma(2.0, 0.5, size=n)
    f = np.where(rng.random(n) < error, -f, f)
    return f, codes, rng.integers(1, 4, size=n).astype(float)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("error", [0.0, 0.1, 0.5, 1.0])
def test_slopes_are_those_of_greatest_likelihood(seed, error):
    f, codes, weight = decision_values(40, seed, error)
    N = np.bincount(codes, weight)
    target = np.where(codes == 1, (N[1] + 1) / (N[1] + 2), 1 / (N[0] + 2))
    scale = np.average(np.abs(f), weights=weight)

    def likelihood(z, side=slice(None)):
        t, w = target[side], weight[side]
        return -w @ (t * log_expit(z) + (1 - t) * log_expit(-z))

    tight = {"method": "L-BFGS-B", "options": {"ftol": 1e-15, "gtol": 1e-10}}
    common = (
        minimize(lambda a: likelihood(a * f / scale), [1.0], bounds=[(LEAST, None)], **tight).x[0] / scale
    )
    model = PiecewiseLogistic.fit(f, codes, weight)
    for slopes, sign in ((model.negative, -1), (model.positive, 1)):
        side = f * sign > 0
        ends = [*KNOTS[1:], np.inf]
        H = sign * np.column_stack(
            [np.clip(abs(f[side]), u, v) - u for u, v in zip(KNOTS, ends, strict=True)]
        )

        def penalised(a, H=H, side=side):
            return likelihood(common * (H @ a), side) + 4.0 / 2 * np.sum((a - 1) ** 2)

        ours = np.array(slopes) / common
        assert (ours >= LEAST * (1 - 1e-6)).all()
        for start in (np.ones(3), np.full(3, 5.0)):
            oracle = minimize(penalised, start, bounds=[(LEAST, None)] * 3, **tight)
            assert penalised(ours) <= oracle.fun + 1e-9 * abs(oracle.fun)
            np.testing.assert_allclose(ours, oracle.x, atol=1e-3)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("noise", [0.1, 1.0, 10.0])
def test_the_temperature_is_that_of_greatest_likelihood(seed, noise):
    rng = np.random.default_rng(seed)
    codes = rng.integers(4, size=50)
    scores = 3 * (np.arange(4) == codes[:, None]) + noise * rng.standard_normal((50, 4))
    weight = rng.integers(1, 3, size=50).astype(float)
    N = weight.sum()
    target = np.where(np.arange(4) == codes[:, None], (N + 1) / (N + 2), 1 / (N + 2) / 3)

    def loss(log_temperature):
        return -weight @ (target * log_softmax(scores / np.exp(log_temperature), axis=1)).sum(axis=1)

    fitted = Temperature.fit(scores, codes, weight)
    grid = np.linspace(-6, 9, 3001)
    assert loss(np.log(fitted.temperature)) <= min(loss(t) for t in grid) + 1e-9


def test_probabilities_increase_with_the_decision_value():
    for seed in range(20):
        model = PiecewiseLogistic.fit(*decision_values(30, seed, error=seed / 20))
        f = np.linspace(-4, 4, 801)
        p = model(f)[:, 1]
        assert (np.diff(p) > 0).all()
        assert p[400] == 0.5


def test_slopes_scale_with_units_where_there_is_one_slope():
    f, codes, weight = decision_values(200, 0)
    z = PiecewiseLogistic.fit(f, codes, weight)
    assert min(z.negative + z.positive) > 0
    # Without values inside the margin no piece but the last can differ from the rest by much.
    far = PiecewiseLogistic.fit(1e6 * f, codes, weight)
    np.testing.assert_allclose(
        far(1e6 * f), PiecewiseLogistic.fit(1e9 * f, codes, weight)(1e9 * f), rtol=1e-3
    )


@pytest.mark.parametrize("f", [np.zeros(6), np.full(6, 1e-300), np.full(6, -1e9)], ids=["0", "tiny", "huge"])
def test_decision_values_that_say_nothing(f):
    codes, weight = np.array([0, 1, 0, 1, 0, 1]), np.ones(6)
    P = PiecewiseLogistic.fit(f, codes, weight)(np.array([-1.0, 0.0, 1.0]))
    assert np.isfinite(P).all()
    assert P[1, 1] == 0.5
    P = Temperature.fit(np.column_stack([f, f, f]), np.array([0, 1, 2, 0, 1, 2]), weight)(np.eye(3))
    assert np.isfinite(P).all()


# -- folds --------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(5))
def test_folds_have_their_share_of_every_class(seed):
    rng = np.random.default_rng(seed)
    codes = rng.choice(3, p=[0.7, 0.2, 0.1], size=200)
    folds = make_folds(codes, np.arange(200), None, np.random.RandomState(seed))
    assert len(folds) == FOLDS
    np.testing.assert_array_equal(np.sort(np.concatenate([f.left_out for f in folds])), np.arange(200))
    counts = np.array([np.bincount(codes[f.left_out], minlength=3) for f in folds])
    assert (np.ptp(counts, axis=0) <= 1).all()
    assert np.ptp(counts.sum(axis=1)) <= 1
    for fold in folds:
        assert not np.intersect1d(fold.left_out, fold.rest).size


@pytest.mark.parametrize("seed", range(5))
def test_groups_stay_together_and_are_spread(seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(30, size=300)
    codes = (groups % 3 == 0).astype(int)
    folds = make_folds(codes, np.arange(300), groups, np.random.RandomState(0))
    for fold in folds:
        assert not np.intersect1d(groups[fold.left_out], groups[fold.rest]).size
    shares = np.array([np.bincount(codes[f.left_out], minlength=2) for f in folds]) / np.bincount(codes)
    assert shares.min() > 0.05
    assert shares.max() < 0.4


def test_small_classes_are_left_out_point_by_point_and_single_points_never():
    codes = np.array([0] * 20 + [1] * 3 + [2])
    folds = make_folds(codes, np.arange(24), None, np.random.RandomState(0))
    left_out = np.concatenate([f.left_out for f in folds])
    np.testing.assert_array_equal(np.sort(left_out), np.arange(23))
    for fold in folds:
        assert (codes[fold.left_out] == 1).sum() <= 1
        assert set(codes[fold.rest]) == {0, 1, 2}


def test_a_class_in_one_group_is_never_left_out():
    codes = np.array([0, 0, 0, 0, 0, 0, 1, 1, 0])
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3])
    folds = make_folds(codes, np.arange(9), groups, np.random.RandomState(0))
    left_out = np.concatenate([f.left_out for f in folds])
    np.testing.assert_array_equal(np.sort(left_out), np.arange(6))


def test_copies_of_a_point_stay_together():
    X = np.repeat(np.random.default_rng(0).standard_normal((20, 2)), 3, axis=0)
    points = distinct_points(Vectors(), X, 60)
    np.testing.assert_array_equal(points.reshape(20, 3), points[::3, None] * [1, 1, 1])
    for fold in make_folds(np.tile([0, 0, 1], 20), points, None, np.random.RandomState(0)):
        assert not np.intersect1d(points[fold.left_out], points[fold.rest]).size


@pytest.mark.parametrize("factor", [2.0**-9, 2.0**7, 3.7])
@pytest.mark.parametrize("convert", [np.asarray, scipy.sparse.csr_array])
def test_another_unit_changes_no_probability(convert, factor):
    X, y = blobs(90, 3, 5)
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    Z = 2 * np.random.default_rng(0).standard_normal((40, 2))
    one = SVC(Gaussian(1.5), probability=True, tol=1e-8).fit(convert(X), y)
    other = SVC(Gaussian(1.5 * factor), probability=True, tol=1e-8).fit(convert(factor * X), y)
    P, Q = one.predict_proba(convert(Z)), other.predict_proba(convert(factor * Z))
    if factor == 3.7:
        np.testing.assert_allclose(Q, P, atol=1e-6)
    else:
        np.testing.assert_array_equal(Q, P)


def test_another_unit_changes_no_probability_of_series():
    rng = np.random.default_rng(0)
    X = [np.cumsum(rng.standard_normal(rng.integers(4, 8))) for _ in range(40)]
    y = np.array([x[-1] > 0 for x in X])
    one = SVC(GlobalAlignment(2.0), probability=True).fit(X, y)
    other = SVC(GlobalAlignment(8.0), probability=True).fit([4 * x for x in X], y)
    np.testing.assert_array_equal(other.predict_proba([4 * x for x in X]), one.predict_proba(X))


def test_points_without_a_digest_are_all_different():
    thing = object()
    np.testing.assert_array_equal(distinct_points(Objects(), [thing, thing], 2), [0, 1])


# -- weights and groups in fit ------------------------------------------------------------------
@pytest.mark.parametrize("classes", [2, 3])
def test_integer_weights_are_repetition_and_zero_is_absence(classes):
    X, y = blobs(60, classes, 1)
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, size=60)
    weight[: 2 * classes] = 1
    order = rng.permutation(weight.sum())
    one = SVC(probability=True).fit(X, y, sample_weight=weight)
    two = SVC(probability=True).fit(np.repeat(X, weight, axis=0)[order], np.repeat(y, weight)[order])
    Z = 3 * rng.standard_normal((50, 2))
    np.testing.assert_allclose(one.predict_proba(Z), two.predict_proba(Z), rtol=1e-6)


def test_class_weights_are_weights():
    X, y = blobs(60, 2, 1)
    Z = 3 * np.random.default_rng(0).standard_normal((50, 2))
    one = SVC(kernel=Gaussian(1.0), probability=True, class_weight={1: 3.0}).fit(X, y)
    two = SVC(kernel=Gaussian(1.0), probability=True).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    np.testing.assert_allclose(one.predict_proba(Z), two.predict_proba(Z), rtol=1e-9)


def test_without_groups_near_copies_make_overconfident():
    """Labels are coin flips per group: a left-out point is known by its siblings unless they go with it."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 5)
    labels = rng.integers(2, size=60)
    X = rng.standard_normal((60, 5))[groups] + 0.01 * rng.standard_normal((300, 5))
    model = SVC(Gaussian(1.0), C=10.0, probability=True)
    Z = rng.standard_normal((500, 5))
    fooled = model.fit(X, labels[groups]).predict_proba(Z).max(axis=1).mean()
    honest = clone(model).fit(X, labels[groups], groups=groups).predict_proba(Z).max(axis=1).mean()
    assert honest < 0.65 < 0.75 < fooled


def test_groups_must_fit_the_points():
    X, y = blobs(20, 2, 0)
    with pytest.raises(InputError, match="one entry per point"):
        SVC(probability=True).fit(X, y, groups=[1, 2, 3])
    with pytest.raises(InputError, match="points of two groups"):
        SVC(probability=True).fit(X, y, groups=np.zeros(20))
    with pytest.raises(InputError, match="two different points"):
        SVC(probability=True).fit([[0.0], [1.0]], [0, 1])


def test_rows_of_weight_zero_need_no_group_of_their_own():
    X, y = blobs(40, 2, 0)
    weight = np.r_[np.ones(30), np.zeros(10)]
    groups = np.arange(40) // 3
    one = SVC(probability=True).fit(X, y, sample_weight=weight, groups=groups)
    two = SVC(probability=True).fit(X[:30], y[:30], groups=groups[:30])
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-9)


# -- any kernel ---------------------------------------------------------------------------------
def test_left_out_values_are_those_of_models_without_the_fold():
    X, y = blobs(50, 3, 4)
    model = SVC(kernel=Gaussian(1.0), probability=True).fit(X, y)
    order = np.argsort(y, kind="stable")
    codes = y[order]
    folds = make_folds(codes, distinct_points(Vectors(), X[order], 50), None, np.random.RandomState(0))
    values = np.zeros((50, 3))
    for fold in folds:
        rest = SVC(kernel=Gaussian(1.0), decision_function_shape="ovo", break_ties=False)
        rest.fit(X[order][fold.rest], codes[fold.rest])
        values[fold.left_out] = rest.decision_function(X[order][fold.left_out])
    expected = Temperature.fit(class_margins(values, 3), codes, np.ones(50))
    assert model.calibration_.points == 50
    np.testing.assert_allclose(model.calibration_.temperature, expected.temperature, rtol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_matrix_that_is_not_held_gives_the_same(classes):
    X, y = blobs(60, classes, 2)
    held = SVC(kernel=Gaussian(1.0), probability=True).fit(X, y)
    lazy = SVC(kernel=Gaussian(1.0), probability=True, cache_size=1e-3).fit(X, y)
    np.testing.assert_allclose(held.predict_proba(X), lazy.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_precomputed(classes):
    X, y = blobs(60, classes, 2)
    Z = 3 * np.random.default_rng(0).standard_normal((30, 2))
    k = Gaussian(1.0)
    model = SVC(kernel=Precomputed(), probability=True, indefinite="error").fit(k.block(X), y)
    P = model.predict_proba(k.block(Z, X))
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(k.block(Z, X)))


def test_strings():
    @mercer.kernel(version="1")
    def shared_letters(a: str, b: str) -> float:
        return float(len(set(a) & set(b)))

    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdef" if i % 2 else "efghij"), size=4)) for i in range(40)]
    model = SVC(kernel=shared_letters.assume("PSD"), probability=True).fit(words, ["low", "high"] * 20)
    P = model.predict_proba(["abcd", "ghij", "efef"])
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(["abcd", "ghij", "efef"]))


def test_hard_margins():
    X, y = blobs(40, 3, 0, noise=0.01)
    model = SVC(Linear(), C=np.inf, probability=True).fit(X, y)
    assert_consistent(model, 3 * np.random.default_rng(0).standard_normal((100, 2)))


def test_many_classes_with_few_points():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((31, 2))
    model = SVC(probability=True).fit(X, [*range(10), *range(10), *range(10), 10])
    assert_consistent(model, rng.standard_normal((50, 2)))
    assert model.calibration_.points == 30


# -- the contract -------------------------------------------------------------------------------
def test_only_with_probability():
    X, y = blobs(20, 2, 0)
    model = SVC().fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "predict_log_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(X)
    with pytest.raises(NotFittedError, match="probability=False"):
        model.set_params(probability=True).predict_proba(X)
    model.fit(X, y)
    model.set_params(probability=False).fit(X, y)
    assert not hasattr(model, "calibration_")


def test_probability_is_a_switch():
    with pytest.raises(ParameterError, match="`probability` must be True or False"):
        SVC(probability="yes").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("classes", [2, 4])
def test_repeats_have_the_same_bits(classes):
    X, y = blobs(60, classes, 0)
    one, two = (SVC(probability=True).fit(X, y).predict_proba(X) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_the_path_has_probabilities():
    X, y = blobs(60, 2, 0)
    Cs = [0.1, 1.0, 10.0]
    for model, C in zip(SVC(probability=True).path(X, y, Cs), Cs, strict=True):
        alone = SVC(C=C, probability=True).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), rtol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("machine", [SVC(C=10.0), NuSVC(nu=0.4)], ids=["SVC", "NuSVC"])
def test_fits_without_a_fold_start_from_the_whole_model(classes, machine, monkeypatch):
    X, y = blobs(600, classes, 0, noise=0.5)
    solve, steps, results = calibration.left_out_values, [], []

    for factor in (1.0, 0.0):  # from the whole model, from zero

        def counted(machine, folds, betas, *rest, factor=factor):
            values, fits = solve(machine, folds, [factor * beta for beta in betas], *rest)
            steps.append(sum(fit.solution.stats["iterations"] for fit in fits))
            return values, fits

        monkeypatch.setattr(calibration, "left_out_values", counted)
        results.append(clone(machine).set_params(probability=True).fit(X, y).predict_proba(X))
    assert steps[0] < steps[1]
    np.testing.assert_allclose(*results, atol=1e-3)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("machine", [SVC(C=10.0), NuSVC(nu=0.4)], ids=["SVC", "NuSVC"])
def test_a_stop_leaves_a_model_without_probabilities(classes, machine):
    X, y = blobs(200, classes, 0, noise=0.5)
    model = clone(machine).set_params(probability=True)

    def in_calibration(_):
        time.sleep(2 * PAUSE)  # so that the next problem calls again
        return hasattr(model, "dual_coef_")

    with pytest.warns(ConvergenceWarning, match="calibration"):
        model.set_callbacks(in_calibration).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), clone(machine).fit(X, y).predict(X))
    with pytest.raises(NotFittedError, match="stopped"):
        model.predict_proba(X)


def test_an_interrupt_within_the_calibration(monkeypatch):
    X, y = blobs(60, 2, 0)
    model = SVC(probability=True)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(calibration, "left_out_values", interrupt)
    with pytest.warns(ConvergenceWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    np.testing.assert_array_equal(model.predict(X), SVC().fit(X, y).predict(X))
    with pytest.raises(NotFittedError, match="stopped"):
        model.predict_proba(X)


def test_a_time_budget_covers_all_fits():
    X, y = blobs(300, 3, 0, noise=3.0)
    with pytest.warns(ConvergenceWarning, match="time budget"):
        model = SVC(C=1e3, probability=True, time_budget=1e-9).fit(X, y)
    with pytest.raises(NotFittedError, match="stopped"):
        model.predict_proba(X)


def test_from_several_threads():
    X, y = blobs(60, 3, 0)
    expected, results = SVC(probability=True).fit(X, y).predict_proba(X), []
    threads = [
        threading.Thread(target=lambda: results.append(SVC(probability=True).fit(X, y).predict_proba(X)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 3
    for result in results:
        np.testing.assert_array_equal(result, expected)


# -- calibration --------------------------------------------------------------------------------
def brier_and_error(P, codes, bins=10):
    """Brier score and expected calibration error of the most probable class."""
    brier = np.mean(np.sum((P - np.eye(P.shape[1])[codes]) ** 2, axis=1))
    top, right = P.max(axis=1), P.argmax(axis=1) == codes
    place = np.minimum((bins * top).astype(int), bins - 1)
    error = sum(abs((top - right)[place == b].sum()) for b in range(bins)) / len(codes)
    return np.array([brier, error])


@pytest.mark.parametrize(
    "load", [load_breast_cancer, load_wine, load_digits], ids=["cancer", "wine", "digits"]
)
def test_no_worse_than_calibrated_classifier_cv(load):
    X, y = load(return_X_y=True)
    ours, theirs = {"ovo": [], "ovr": []}, []
    for seed in range(3):
        A, B, a, b = train_test_split(X, y, train_size=min(len(y) // 2, 400), stratify=y, random_state=seed)
        scaler = StandardScaler().fit(A)
        A, B = scaler.transform(A), scaler.transform(B)
        for multiclass, errors in ours.items():
            model = SVC(multiclass=multiclass, probability=True).fit(A, a)
            errors.append(brier_and_error(model.predict_proba(B), b))
        peer = CalibratedClassifierCV(sklearn.svm.SVC(), method="sigmoid", cv=5).fit(A, a)
        theirs.append(brier_and_error(peer.predict_proba(B), b))
    # Both vary by about this much with the split.
    for errors in ours.values():
        assert (np.mean(errors, axis=0) - np.mean(theirs, axis=0) <= [0.003, 0.005]).all()


def test_probabilities_of_a_known_distribution():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 1))
    p = expit(2 * X[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVC(kernel=Linear(), probability=True).fit(X, rng.random(2000) < p)
    assert np.abs(model.predict_proba(X)[:, 1] - p).mean() < 0.03
