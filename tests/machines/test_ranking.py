"""Ranking against classifiers of differences, optimisers and scikit-learn's contract."""

import itertools

import numpy as np
import pytest
import scipy.optimize
import sklearn
from scipy.special import expit
from sklearn.base import is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.svm import SVC as LibSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.errors import InputError, MemoryLimitError, ParameterError
from mercer.kernels import Gaussian, Linear, PowerDistance, Precomputed, Spectrum
from mercer.machines import KernelRanker, RepresenterMachine
from mercer.solvers.constraints import Constrained
from mercer.solvers.losses import Ranking

LOSSES = ["hinge", "squared_hinge", "logistic"]
KERNEL = Gaussian(1.3)

#: Checks of scikit-learn that cannot hold, by name, with the mathematical reason.  There are none.
EXPECTED_FAILED_CHECKS: dict[str, str] = {}


@parametrize_with_checks(
    [
        KernelRanker(),
        KernelRanker(loss="hinge"),
        KernelRanker(loss="logistic"),
        RepresenterMachine(loss="ranking"),
    ],
    expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((24, 2))
    y = np.round(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(24))  # with ties
    return X, y, np.arange(24) % 3


def pairs_of(y, groups):
    """By the definition, one pair after the other."""
    every = itertools.permutations(range(len(y)), 2)
    return np.array([(i, j) for i, j in every if groups[i] == groups[j] and y[i] > y[j]])


def kernel_of_differences(K, pairs):
    i, j = pairs.T
    return K[np.ix_(i, i)] - K[np.ix_(i, j)] - K[np.ix_(j, i)] + K[np.ix_(j, j)]


# -- oracles ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("alpha", [0.2, 1.0, 20.0])
@pytest.mark.parametrize("grouped", [False, True])
def test_hinge_is_a_support_vector_machine_of_differences(data, alpha, grouped):
    """Each pair is there in both orders, so that the intercept of LIBSVM is zero."""
    X, y, groups = data
    groups = groups if grouped else np.zeros_like(groups)
    pairs, K = pairs_of(y, groups), KERNEL.block(X)
    Q = kernel_of_differences(K, np.vstack([pairs, pairs[:, ::-1]]))
    labels = np.repeat([1, -1], len(pairs))
    svm = LibSVC(kernel="precomputed", C=0.5 / alpha, tol=1e-10).fit(Q, labels)
    model = KernelRanker(KERNEL, loss="hinge", alpha=alpha).fit(X, y, groups=groups)
    assert model.n_pairs_ == len(pairs)
    f = model.predict(X)
    np.testing.assert_allclose(
        f[pairs[:, 0]] - f[pairs[:, 1]], svm.decision_function(Q)[: len(pairs)], atol=2e-5
    )


@pytest.mark.parametrize("alpha", [0.1, 1.0, 10.0])
def test_logistic_is_a_logistic_regression_of_differences(data, alpha):
    X, y, groups = data
    pairs = pairs_of(y, groups)
    D = X[pairs[:, 0]] - X[pairs[:, 1]]
    both = LogisticRegression(C=0.5 / alpha, fit_intercept=False, tol=1e-10, max_iter=10000)
    w = both.fit(np.vstack([D, -D]), np.repeat([1, 0], len(D))).coef_[0]
    f = KernelRanker(Linear(), loss="logistic", alpha=alpha).fit(X, y, groups=groups).predict(X)
    np.testing.assert_allclose(f, X @ w, atol=1e-5)


VALUES = {
    "hinge": lambda m: (np.maximum(0, 1 - m), -1.0 * (m < 1.0)),
    "squared_hinge": lambda m: (np.maximum(0, 1 - m) ** 2, -2 * np.maximum(0, 1 - m)),
    "logistic": lambda m: (np.logaddexp(0, -m), -expit(-m)),
}


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_smooth_losses_against_a_plain_optimiser(data, loss):
    X, y, groups = data
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    pairs, K = pairs_of(y, groups), KERNEL.block(X)
    i, j = pairs.T

    def objective(a):
        F = K @ a
        value, slope = VALUES[loss](F[i] - F[j])
        g = np.bincount(i, w[i] * w[j] * slope, len(y)) - np.bincount(j, w[i] * w[j] * slope, len(y))
        return w[i] * w[j] @ value + 0.15 * a @ F, K @ g + 0.3 * F

    best = scipy.optimize.minimize(objective, np.zeros(len(y)), jac=True, tol=1e-14, method="BFGS")
    model = KernelRanker(KERNEL, loss=loss, alpha=0.3).fit(X, y, groups=groups, sample_weight=w)
    assert model.solution_.stats["objective"] == pytest.approx(best.fun, rel=1e-9)
    np.testing.assert_allclose(model.predict(X), K @ best.x, atol=1e-4)
    assert model.norm_**2 == pytest.approx(best.x @ K @ best.x, rel=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("alpha", [1e-4, 1.0, 1e4])
def test_the_gap_bounds_the_distance_to_the_minimum(data, loss, alpha):
    """Steps away from the solution raise the objective, and by no less than strong convexity says."""
    X, y, groups = data
    model = KernelRanker(KERNEL, loss=loss, alpha=alpha).fit(X, y, groups=groups)
    pairs, K, a = pairs_of(y, groups), KERNEL.block(X), model.dual_coef_

    def objective(a):
        F = K @ a
        return VALUES[loss](F[pairs[:, 0]] - F[pairs[:, 1]])[0].sum() + 0.5 * alpha * a @ F

    at = objective(a)
    assert model.solution_.stats["objective"] == pytest.approx(at, rel=1e-9)
    assert model.solution_.gap <= 1e-8 * at
    rng = np.random.default_rng(2)
    for size in (1e-3, 1e-1, 1.0):
        step = size * np.abs(a).max() * rng.standard_normal(len(a))
        convexity = 0.5 * alpha * step @ K @ step
        assert objective(a + step) >= at - model.solution_.gap + convexity * (1 - 1e-3) - 1e-9 * at


@pytest.mark.parametrize("loss", LOSSES)
def test_a_lazy_matrix_and_a_sparse_graph_of_pairs_change_nothing(data, loss, monkeypatch):
    X, y, groups = data
    plain = KernelRanker(KERNEL, loss=loss).fit(X, y, groups=groups).predict(X)
    monkeypatch.setattr("mercer.solvers.ranking.pairs.SPARSE", 10.0)
    monkeypatch.setattr("mercer.memory.HELD_BYTES", 0)
    np.testing.assert_allclose(
        KernelRanker(KERNEL, loss=loss).fit(X, y, groups=groups).predict(X), plain, atol=1e-6
    )


# -- pairs and weights ------------------------------------------------------------------------------
@pytest.mark.parametrize("loss", LOSSES)
def test_only_the_order_within_groups_matters(data, loss):
    X, y, groups = data
    machine = KernelRanker(KERNEL, loss=loss)
    first = machine.fit(X, y, groups=groups).predict(X)
    names = np.array(["b", "c", "a"])[groups]
    again = machine.fit(X, np.exp(y) + 100 * groups, groups=names).predict(X)
    np.testing.assert_allclose(again, first, atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_reversed_targets_reverse_the_scores(data, loss):
    X, y, _ = data
    machine = KernelRanker(KERNEL, loss=loss)
    np.testing.assert_allclose(machine.fit(X, -y).predict(X), -machine.fit(X, y).predict(X), atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_zero_weight_is_absence_and_integer_weight_is_repetition(data, loss):
    X, y, groups = data
    w = np.random.default_rng(2).integers(0, 3, len(y))
    index = np.repeat(np.arange(len(y)), w)
    machine = KernelRanker(Gaussian("median"), loss=loss)
    weighted = machine.fit(X, y, groups=groups, sample_weight=w)
    values, score = weighted.predict(X), weighted.score(X, y, groups, w)
    repeated = machine.fit(X[index], y[index], groups=groups[index])
    np.testing.assert_allclose(values, repeated.predict(X), atol=1e-6)
    assert score == pytest.approx(repeated.score(X[index], y[index], groups[index]), rel=1e-12)


def test_coefficients_of_a_group_sum_to_zero(data):
    X, y, groups = data
    model = KernelRanker(KERNEL, loss="hinge").fit(X, y, groups=groups)
    np.testing.assert_allclose(np.bincount(groups, model.dual_coef_), 0.0, atol=1e-9)


def test_a_conditionally_positive_definite_kernel_will_do(data):
    """Its coefficients sum to zero: centring the kernel moves all scores by a constant."""
    X, y, _ = data
    model = KernelRanker(-PowerDistance(1.0)).fit(X, y)
    K = (-PowerDistance(1.0)).block(X)
    difference = model.predict(X) - K @ model.dual_coef_
    np.testing.assert_allclose(difference, difference[0], atol=1e-9)
    assert model.score(X, y) > 0.9


# -- scores -----------------------------------------------------------------------------------------
def test_concordance_is_the_area_under_the_curve(data):
    X, y, _ = data
    model = KernelRanker(Gaussian(3.0), alpha=10.0).fit(X, y)
    above = (y > np.median(y)).astype(int)
    w = np.random.default_rng(3).uniform(0.5, 2.0, len(y))
    assert model.score(X, above) == pytest.approx(roc_auc_score(above, model.predict(X)), rel=1e-12)
    weighted = roc_auc_score(above, model.predict(X), sample_weight=w)
    assert model.score(X, above, sample_weight=w) == pytest.approx(weighted, rel=1e-12)


def test_concordance_by_counting(data, monkeypatch):
    X, y, groups = data
    monkeypatch.setattr("mercer.solvers.ranking.pairs.BAND", 20)  # a few rows at a time
    model = KernelRanker(Gaussian(3.0), alpha=10.0).fit(X, y, groups=groups)
    model.dual_coef_ = np.round(model.dual_coef_, 1)
    X = np.round(X)  # equal scores
    f, pairs = model.predict(X), pairs_of(y, groups)
    signs = np.sign(f[pairs[:, 0]] - f[pairs[:, 1]])
    assert (signs == 0).any()
    assert model.score(X, y, groups) == pytest.approx((0.5 + 0.5 * signs).mean(), rel=1e-12)
    assert np.isnan(model.score(X, np.zeros(len(y))))


def test_groups_go_through_cross_validation(data):
    X, y, groups = data
    with sklearn.config_context(enable_metadata_routing=True):
        machine = KernelRanker(Linear()).set_fit_request(groups=True).set_score_request(groups=True)
        search = GridSearchCV(machine, {"alpha": [0.1, 1.0]}, cv=GroupKFold(3)).fit(X, y, groups=groups)
    held = [np.flatnonzero(groups == g) for g in range(3)]
    expected = []
    for test in held:
        rest = np.setdiff1d(np.arange(len(y)), test)
        model = KernelRanker(Linear(), alpha=0.1).fit(X[rest], y[rest], groups=groups[rest])
        expected.append(model.score(X[test], y[test], groups[test]))
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(expected))


def test_strings_and_precomputed_matrices(data):
    words = ["".join(w) for w in itertools.product("ab", repeat=4)]
    y = [w.count("ab") for w in words]
    assert KernelRanker(Spectrum(2), alpha=0.01).fit(words, y).score(words, y) == 1.0
    X, y, groups = data
    K = KERNEL.block(X)
    direct = KernelRanker(KERNEL).fit(X, y, groups=groups).predict(X[:5])
    np.testing.assert_allclose(KernelRanker(Precomputed()).fit(K, y, groups=groups).predict(K[:5]), direct)


# -- errors -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "absolute"}, "`loss` must be one of 'hinge', 'squared_hinge', 'logistic'"),
        ({"alpha": 0.0}, "`alpha` must be a positive number"),
        ({"tol": 2.0}, "`tol` must be"),
        ({"max_iter": 0}, "`max_iter` must be"),
    ],
)
def test_parameters_out_of_range(data, options, message):
    with pytest.raises(ParameterError, match=message):
        KernelRanker(KERNEL, **options).fit(*data[:2])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.zeros(3), r"`groups` must be of shape \(24,\)"),
        (np.full(24, np.nan), "`groups` must hold no NaN. Got one in row 0"),
        (np.arange(24), "two different values within a group"),
        (np.array([1, "a"] * 12, dtype=object), "`groups` must hold labels of one kind"),
    ],
)
def test_groups_that_are_none(data, groups, message):
    with pytest.raises(InputError, match=message):
        KernelRanker(KERNEL).fit(*data[:2], groups=groups)


def test_ties_alone_are_no_ranking(data):
    with pytest.raises(InputError, match="`y` must have two different values within a group"):
        KernelRanker(KERNEL).fit(data[0], np.ones(24))


def test_pairs_beyond_memory(monkeypatch):
    monkeypatch.setenv("MERCER_MEMORY", "40MB")
    with pytest.raises(MemoryLimitError, match="499,500 ordered pairs of 1,000 points"):
        KernelRanker().fit(np.zeros((1000, 1)), np.arange(1000))


def test_a_limit_is_told(data):
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model = KernelRanker(KERNEL, loss="hinge", max_iter=1).fit(*data[:2])
    assert not model.solution_.converged


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_kernels_of_any_scale(data, loss, scale):
    X, y, _ = data
    plain = KernelRanker(KERNEL, loss=loss).fit(X, y).predict(X)
    scaled = KernelRanker(scale * KERNEL, loss=loss, alpha=scale).fit(X, y).predict(X)
    np.testing.assert_allclose(scaled, plain, atol=1e-6)


# -- the representer machine ------------------------------------------------------------------------
@pytest.mark.parametrize("loss", LOSSES)
def test_the_representer_machine_with_the_squared_norm_is_the_ranker(data, loss):
    X, y, _ = data
    w = np.random.default_rng(4).uniform(0.5, 2.0, len(y))
    ranker = KernelRanker(KERNEL, loss=loss, alpha=0.3).fit(X, y, sample_weight=w)
    machine = RepresenterMachine(KERNEL, loss=Ranking(loss), alpha=0.3, fit_intercept=True)
    machine.fit(X, y, sample_weight=w)
    np.testing.assert_allclose(machine.predict(X), ranker.predict(X), atol=1e-6)
    assert machine.score(X, y, sample_weight=w) == ranker.score(X, y, sample_weight=w)
    assert machine.intercept_ == 0.0
    assert machine.solution_.gap <= 1e-8 * machine.solution_.stats["objective"]
    assert not is_regressor(machine)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", ["norm", 3.0, lambda t: (np.log1p(t), 1 / (1 + t))])
def test_other_penalties_of_the_norm(data, loss, penalty):
    """The solution has the squared norm's factor that its derivative asks for."""
    X, y, _ = data
    model = RepresenterMachine(KERNEL, loss=Ranking(loss), penalty=penalty, alpha=2.0).fit(X, y)
    slope = {"norm": 1.0, 3.0: model.norm_**2}.get(penalty, 1 / (1 + model.norm_))
    assert model.solution_.converged
    twin = KernelRanker(KERNEL, loss=loss, alpha=2.0 * slope / model.norm_).fit(X, y)
    np.testing.assert_allclose(model.predict(X), twin.predict(X), atol=1e-4)


def test_a_large_penalty_of_the_norm_gives_zero(data):
    X, y, _ = data
    model = RepresenterMachine(KERNEL, loss="ranking", penalty="norm", alpha=1e4).fit(X, y)
    assert model.norm_ == 0.0
    assert not model.predict(X).any()
    assert model.solution_.converged


def test_a_ranking_of_the_representer_machine_names_its_faults(data):
    X, y, _ = data
    with pytest.raises(InputError, match="RepresenterMachine: `y` must have two different values"):
        RepresenterMachine(KERNEL, loss="ranking").fit(X, np.ones(len(y)))
    with pytest.raises(ParameterError, match="Ranking: `margin` must be one of 'hinge'"):
        Ranking("absolute")
    with pytest.raises(ParameterError, match="`Constrained` must be smooth"):
        RepresenterMachine(KERNEL, loss=Constrained("ranking", (0.0, 1.0))).fit(X, y)
