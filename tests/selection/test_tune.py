"""``tune``: gradients against differences, criteria against refits, and what is refused by name."""

import numpy as np
import pytest
import scipy.stats
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer.engine.runs import running
from mercer.errors import InputError, ParameterError
from mercer.features import Nystrom
from mercer.kernels import Gaussian, Linear, NGram, Precomputed
from mercer.machines import (
    SVC,
    SVR,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    KernelLogistic,
    KernelRidge,
)
from mercer.selection import tune
from mercer.selection.tuning.criteria import problem_of

RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 3))
F = X[:, 0] * X[:, 1] + 0.3 * RNG.standard_normal(50)
LABELS = np.where(F > 0, "yes", "no")
KERNEL = 2.0 * Gaussian([1.0, 1.5, 2.0]) + 0.1 * Linear()
WEIGHT = RNG.integers(1, 4, 50).astype(float)

#: Steps of central differences in a logarithm: that of logistic regression hides the error of its solver.
STEP, LOGISTIC_STEP = 1e-5, 1e-4
#: What they may be off by, relative to the largest.
TOL = 2e-5

CASES = {
    "ridge evidence": (KernelRidge(KERNEL, alpha=0.3), "evidence", F, WEIGHT),
    "ridge loo": (KernelRidge(KERNEL, alpha=0.3, fit_intercept=True), "loo", F, WEIGHT),
    "process": (GaussianProcessRegressor(KERNEL, alpha=0.3), "evidence", F, None),
    "labels": (GaussianProcessClassifier(KERNEL), "evidence", LABELS, None),
    "logistic": (KernelLogistic(KERNEL, alpha=0.3), "loo", LABELS, WEIGHT),
    "logistic, no intercept": (KernelLogistic(KERNEL, alpha=0.3, fit_intercept=False), "loo", LABELS, None),
    "alignment": (SVR(KERNEL), "alignment", F, None),
    "radius": (SVC(KERNEL, C=3.0), "radius_margin", LABELS, WEIGHT),
    "radius, no intercept": (SVC(KERNEL, C=3.0, fit_intercept=False), "radius_margin", LABELS, None),
    "radius, hard": (SVC(Gaussian([0.5, 0.6, 0.7]), C=np.inf), "radius_margin", LABELS, None),
    "span": (SVC(KERNEL, C=3.0), "span", LABELS, WEIGHT),
    "span, no intercept": (SVC(KERNEL, C=3.0, fit_intercept=False), "span", LABELS, None),
    "span, hard": (SVC(Gaussian([0.5, 0.6, 0.7]), C=np.inf), "span", LABELS, None),
}


def objective_of(machine, criterion, y, weight=None, points=X):
    with running("test"):
        return problem_of(machine, criterion, points, y, weight)


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_differences(case):
    objective, start, *_ = objective_of(*CASES[case])
    theta, step = start.theta, LOGISTIC_STEP if "logistic" in case else STEP
    _, slopes = objective(start, None)
    for i, slope in enumerate(slopes):
        shift = step * np.eye(len(theta))[i]
        up, down = (objective(start.at(theta + sign * shift), None)[0] for sign in (1, -1))
        assert slope == pytest.approx((up - down) / (2 * step), abs=TOL * np.abs(slopes).max()), start.names[
            i
        ]


def test_a_hundred_widths_at_once():
    points = RNG.standard_normal((40, 120))
    objective, start, *_ = objective_of(
        SVC(Gaussian(np.full(120, 10.0))), "radius_margin", LABELS[:40], points=points
    )
    _, slopes = objective(start, None)
    assert len(slopes) == 121
    for i in (0, 60, 119):
        shift = STEP * np.eye(121)[i]
        up, down = (objective(start.at(start.theta + sign * shift), None)[0] for sign in (1, -1))
        assert slopes[i] == pytest.approx((up - down) / (2 * STEP), abs=1e-7)


@mercer.kernel(assume="PSD", reason="the Gaussian kernel")
def own(x, y, *, width=1.2):
    return float(np.exp(-np.sum((x - y) ** 2) / (2 * width**2)))


@pytest.mark.parametrize(
    ("machine", "criterion", "y"),
    [
        (KernelRidge(alpha=0.3), "loo", F),
        (SVC(C=3.0), "radius_margin", LABELS),
        (SVC(C=3.0), "span", LABELS),
        (KernelLogistic(), "loo", LABELS),
        (SVC(), "alignment", LABELS),
    ],
    ids=["ridge", "radius", "span", "logistic", "alignment"],
)
def test_own_kernels_take_finite_differences(machine, criterion, y):
    twin = machine.set_params(kernel=Gaussian(1.2)).__class__(
        **{**machine.get_params(deep=False), "kernel": own}
    )
    value, slopes = (lambda p: p.objective(p.start, None))(
        objective_of(twin, criterion, y[:25], points=[*X[:25]])
    )
    expected, closed = (lambda p: p.objective(p.start, None))(
        objective_of(machine, criterion, y[:25], points=X[:25])
    )
    assert value == pytest.approx(expected, rel=1e-7)
    np.testing.assert_allclose(slopes, closed, atol=1e-5)


# -- what the values are --------------------------------------------------------------------------
def test_values_are_those_of_the_fitted_machine():
    found = tune(KernelRidge(Gaussian(1.0), alpha=0.1), X, F, criterion="loo")
    assert found.value == pytest.approx((found.machine.loo_residuals() ** 2).mean(), rel=1e-9)
    refits = [
        F[i] - KernelRidge(found.kernel, alpha=found.parameters["alpha"]).fit(X[k], F[k]).predict(X[[i]])[0]
        for i in range(50)
        for k in [np.arange(50) != i]
    ]
    assert found.value == pytest.approx(np.mean(np.square(refits)), rel=1e-8)
    logistic = tune(KernelLogistic(Gaussian(1.0), alpha=0.1), X, LABELS, criterion="loo")
    assert logistic.value == pytest.approx(logistic.machine.loo_log_loss_, rel=1e-6)
    process = tune(GaussianProcessRegressor(Gaussian(1.0), alpha=0.1), X, F, criterion="evidence")
    assert process.value == pytest.approx(process.machine.log_marginal_likelihood())
    aligned = tune(SVC(Gaussian(1.0)), X, LABELS, criterion="alignment")
    assert aligned.value == pytest.approx(mercer.gram(aligned.kernel, X).alignment(LABELS, centered=True))


def test_least_squares_classification_is_ridge_on_signs():
    signs = np.where(LABELS == "yes", 1.0, -1.0)
    found = tune(KernelRidge(Gaussian(1.0), alpha=0.1, fit_intercept=True), X, signs, criterion="loo")
    left_out = signs - found.machine.loo_residuals()
    refits = []
    for i in range(50):
        k = np.arange(50) != i
        model = KernelRidge(found.kernel, alpha=found.machine.alpha, fit_intercept=True).fit(X[k], signs[k])
        refits.append(model.predict(X[[i]])[0])
    np.testing.assert_allclose(left_out, refits, rtol=1e-7)


def test_the_criterion_is_the_evidence_unless_another_is_named():
    found = tune(KernelRidge(Gaussian(1.0), alpha=0.1), X, F)
    assert found.criterion == "evidence"
    assert found.value == tune(KernelRidge(Gaussian(1.0), alpha=0.1), X, F, criterion="evidence").value
    with pytest.raises(ParameterError, match=r"'evidence' is for .* Got a SVC, which has 'radius_margin'"):
        tune(SVC(Gaussian(1.0)), X, LABELS)


def test_the_machine_and_ridge_regression_search_alike():
    machine = KernelRidge(Gaussian(1.0), alpha=0.1, tune="evidence").fit(X, F)
    found = tune(KernelRidge(Gaussian(1.0), alpha=0.1), X, F, criterion="evidence")
    assert found.machine.kernel_ == machine.kernel_
    assert found.machine.alpha_ == machine.alpha_
    np.testing.assert_array_equal(found.history, machine.tuning_.stats["history"])


@pytest.mark.parametrize(
    ("machine", "criterion"),
    [
        (KernelRidge(Gaussian("median"), alpha=0.1), "evidence"),
        (KernelRidge(Gaussian("median"), alpha=0.1), "loo"),
        (SVC(Gaussian("median"), C=10.0), "radius_margin"),
        (SVC(Gaussian("median"), C=10.0), "span"),
        (SVC(Gaussian("median")), "alignment"),
        (KernelLogistic(Gaussian("median"), alpha=0.1), "loo"),
    ],
    ids=["evidence", "loo", "radius", "span", "alignment", "logistic"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_features_of_noise_are_found(machine, criterion):
    rng = np.random.default_rng(1)
    points = rng.standard_normal((100, 4))
    f = np.tanh(3 * points[:, 0]) + 0.1 * rng.standard_normal(100)
    y = f if isinstance(machine, KernelRidge) else f > 0
    bounds = {"alpha": (0.01, 10.0)} if isinstance(machine, KernelLogistic) else None  # else ever less of it
    one, found = (
        tune(machine, points, y, criterion=criterion, per_feature=p, bounds=bounds) for p in (False, True)
    )
    relevances = found.relevances["kernel__sigma"]
    if criterion == "span":  # a rugged function of few errors
        assert relevances.argmax() == 0
    else:
        assert relevances[0] > 2 * relevances[1:].max()
    better = found.value - one.value
    assert better > 0 if criterion in ("evidence", "alignment") else better < 0


def test_any_objects():
    strings = ["".join(RNG.choice(list("ab"), 12)) for _ in range(30)]
    y = [s.count("ab") for s in strings]
    found = tune(KernelRidge(0.5 * NGram(2), alpha=0.1), strings, y, criterion="evidence", fixed=["alpha"])
    assert found.parameters["alpha"] == 0.1
    assert set(found.parameters) == {"kernel__factor", "alpha"}
    assert found.relevances == {}
    matrix = mercer.gram(NGram(2), strings).dense()
    only = tune(KernelRidge(Precomputed(), alpha=0.1), matrix, y, criterion="loo")
    assert set(only.parameters) == {"alpha"}


# -- bounds, fixed parameters, priors ---------------------------------------------------------------
def test_bounds_fixed_and_priors():
    machine = KernelRidge(Gaussian([1.0, 1.0, 1.0]), alpha=0.1)
    options = {
        "fixed": ["kernel__sigma[0]"],
        "bounds": {"kernel__sigma": (0.9, 1.1), "alpha": (1e-3, 10.0)},
        "priors": {"alpha": scipy.stats.gamma(2.0)},
    }
    found = tune(machine, X, F, criterion="evidence", **options)
    assert found.parameters["kernel__sigma"][0] == 1.0
    assert (found.parameters["kernel__sigma"] <= 1.1 * (1 + 1e-12)).all()
    assert "kernel__sigma[2]" in found.at_bound
    assert "end of the range" in found.solution.status
    prior = scipy.stats.gamma(2.0).logpdf(found.parameters["alpha"])
    assert found.history.max() == pytest.approx(found.value + prior, rel=1e-6)
    options = {"alpha": found.parameters["alpha"], "signal_variance": "evidence"}
    fitted = KernelRidge(found.kernel, **options).fit(X, F)
    assert fitted.log_marginal_likelihood() == pytest.approx(found.value)


def test_fixed_entries_stay_when_widths_are_split():
    found = tune(
        KernelRidge(Gaussian(0.7), alpha=0.1),
        X,
        F,
        criterion="loo",
        per_feature=True,
        fixed=["kernel__sigma[1]"],
    )
    assert found.parameters["kernel__sigma"][1] == 0.7


def test_what_does_not_matter_is_said():
    found = tune(SVC(2.0 * Gaussian(1.0)), X, LABELS, criterion="alignment")
    assert found.flat == ("kernel__factor",)
    assert "does not depend on kernel__factor" in str(found)
    with pytest.warns(ConvergenceWarning, match="is flat: it depends on none of kernel__factor"):
        tune(SVC(2.0 * Linear()), X, LABELS, criterion="alignment")


def test_the_result_prints():
    found = tune(KernelRidge(Gaussian(1.0), alpha=0.1), X, F, criterion="loo", per_feature=True)
    text = str(found)
    assert text.startswith("KernelRidge, leave-one-out error")
    assert "relevances of kernel__sigma" in text
    assert "feature 0" in text
    assert repr(found).startswith("Tuned(loo=")
    assert "<table>" in found._repr_html_()


# -- bad input --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("machine", "options", "message"),
    [
        (SVC(), {"criterion": "aic"}, "`criterion` must be one of 'evidence'"),
        (
            SVC(),
            {"criterion": "evidence"},
            "is for KernelRidge, Gaussian.* Got a SVC, which has",
        ),
        (KernelRidge(), {"criterion": "span"}, "is for SVC. Got a KernelRidge"),
        (SVR(), {"criterion": "loo"}, "which has 'alignment'"),
        (object(), {"criterion": "loo"}, "must be a machine with a kernel"),
        (KernelRidge(approximation=Nystrom(Gaussian(1.0), 5)), {"criterion": "loo"}, "no `approximation`"),
        (SVC(NGram(2)), {"criterion": "alignment"}, "there is nothing to tune"),
        (KernelRidge(alpha="loo"), {"criterion": "loo"}, "`alpha` must be a positive number"),
        (KernelLogistic(alpha="loo"), {"criterion": "loo"}, "needs a number `alpha`"),
        (SVC(), {"criterion": "span", "bounds": {"sigma": (1, 2)}}, r"among \['kernel__sigma', 'C'\]. Got"),
        (SVC(), {"criterion": "span", "bounds": {"C": (2, 1)}}, "0 < low < high. Got"),
        (SVC(), {"criterion": "span", "bounds": {"C": 3}}, "0 < low < high. Got 3"),
        (SVC(), {"criterion": "span", "bounds": [1, 2]}, "`bounds` must map names"),
        (SVC(), {"criterion": "span", "fixed": ["alpha"]}, "`fixed` must name parameters among"),
        (SVC(), {"criterion": "span", "fixed": ["C", "kernel__sigma"]}, "must leave something to tune"),
        (SVC(), {"criterion": "span", "priors": {"c": abs}}, "`priors` must name parameters among"),
        (SVC(), {"criterion": "span", "priors": {"C": 1.0}}, "functions, or to objects with `logpdf`"),
        (SVC(), {"criterion": "span", "n_restarts": -1}, "`n_restarts` must be"),
        (SVC(Linear()), {"criterion": "span", "per_feature": True}, "`per_feature` needs a kernel"),
        (SVC(), {"criterion": "alignment", "sample_weight": WEIGHT}, "takes no `sample_weight`"),
    ],
)
def test_bad_arguments_are_named(machine, options, message):
    points = ["ab"] * 50 if isinstance(getattr(machine, "kernel", None), NGram) else X
    with pytest.raises(ParameterError, match=message):
        tune(machine, points, LABELS if isinstance(machine, SVC | KernelLogistic) else F, **options)


def test_bad_targets_are_named():
    with pytest.raises(InputError, match="`y` must have two different values"):
        tune(KernelRidge(), X, np.ones(50), criterion="evidence")
    with pytest.raises(InputError, match=r"two classes for this criterion\. Got 3"):
        tune(SVC(), X, np.arange(50) % 3, criterion="span")


class Bounded(mercer.Kernel):
    """A constant between 1 and 2 times the Gaussian."""

    height: float = mercer.parameter(1.5, low=1.0, high=2.0, scale="log")

    def __call__(self, x, y):
        return self.height * float(np.exp(-np.sum(np.subtract(x, y) ** 2)))


def test_bounds_lie_within_the_range_of_the_parameter():
    machine = KernelRidge(Bounded().assume("PSD"))
    with pytest.raises(ParameterError, match=r"must lie between 1 and 2, the range of the parameter"):
        tune(machine, [*X], F, criterion="loo", bounds={"kernel__base__height": (0.5, 2.0)})
