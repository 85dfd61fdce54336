"""Tuned machines know no unit: the fit on c y + b is c times that on y, plus b; the fit on c X is that on X.

Without an intercept (``fit_intercept=False``, the default of ``KernelRidge``) a machine knows where zero is,
and with a kernel that states its variance (``Gaussian(1.0)`` in a Gaussian process) it knows the unit of y.
SVR has no criterion but the alignment: its kernel knows no unit, its ``C`` and ``epsilon`` are those of y.
"""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer.kernels import Gaussian, Laplacian, Linear, Matern, WhiteNoise
from mercer.machines import (
    SVC,
    SVR,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    KernelLogistic,
    KernelRidge,
)
from mercer.selection import tune

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 6, (60, 2))
F = np.sin(X[:, 0]) + 0.3 * X[:, 1]
Y = F + 0.1 * RNG.standard_normal(60)
LABELS = np.median(F) < F
NEW = RNG.uniform(0, 6, (20, 2))

EXPLICIT = 1.0 * Gaussian(1.0) + WhiteNoise(0.1)
SCALES = [1e-12, 1e-3, 100.0, 1e12]


def fitted(machine):
    return lambda X, y: machine.fit(X, y)


def tuned(machine, criterion, **options):
    return lambda X, y: tune(machine, X, y, criterion=criterion, **options).machine


PROCESSES = {
    "process": fitted(GaussianProcessRegressor()),
    "process, explicit": fitted(GaussianProcessRegressor(EXPLICIT)),
    "process, no noise": fitted(GaussianProcessRegressor(1.0 * Laplacian(2.0))),
    "process, two terms": fitted(
        GaussianProcessRegressor(2.0 * Matern(1.5, "median") + 0.1 * Linear() + WhiteNoise(0.1))
    ),
    "process, normalised": fitted(GaussianProcessRegressor(EXPLICIT, normalize_y=True)),
    "process, restarts": fitted(GaussianProcessRegressor(EXPLICIT, n_restarts=2, random_state=0)),
    "process, tune": tuned(GaussianProcessRegressor(EXPLICIT, tune=None), "evidence"),
}
RIDGE = KernelRidge(Gaussian("median"), alpha=0.1)
LEVEL = KernelRidge(Gaussian("median"), alpha=0.1, fit_intercept=True)
WITH_LEVEL = PROCESSES | {
    f"ridge {criterion}, intercept": tuned(LEVEL, criterion) for criterion in ("evidence", "loo", "alignment")
}
WITHOUT_LEVEL = {
    "process without level": fitted(GaussianProcessRegressor(EXPLICIT, fit_intercept=False)),
    "ridge fit evidence": fitted(KernelRidge(Gaussian("median"), alpha=0.1, tune="evidence")),
    "ridge fit loo": fitted(KernelRidge(Gaussian("median"), alpha=0.1, tune="loo")),
    "ridge evidence": tuned(RIDGE, "evidence"),
    "ridge evidence, per feature": tuned(RIDGE, "evidence", per_feature=True),
    "ridge loo": tuned(RIDGE, "loo"),
    "ridge alignment": tuned(RIDGE, "alignment"),
}
REGRESSORS = WITH_LEVEL | WITHOUT_LEVEL


@pytest.mark.parametrize("c", SCALES)
@pytest.mark.parametrize("name", REGRESSORS)
def test_targets_in_other_units(name, c):
    expected = REGRESSORS[name](X, Y).predict(NEW)
    found = REGRESSORS[name](X, c * Y).predict(NEW) / c
    # each step of the search multiplies the rounding of c y: 1e-8 for most, 3e-6 after eighty steps
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("c", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("name", WITH_LEVEL)
def test_targets_with_another_origin(name, c):
    expected = WITH_LEVEL[name](X, Y).predict(NEW)
    found = WITH_LEVEL[name](X, c * (Y + 1000.0)).predict(NEW) / c - 1000.0
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)  # 1000 takes three digits of y


def test_deviations_have_the_unit_of_the_targets():
    _, expected = GaussianProcessRegressor().fit(X, Y).predict(NEW, return_std=True, include_noise=True)
    for c in SCALES:
        model = GaussianProcessRegressor().fit(X, c * Y)
        _, std = model.predict(NEW, return_std=True, include_noise=True)
        np.testing.assert_allclose(std / c, expected, rtol=1e-6)
        assert np.sqrt(model.noise_variance_) / c == pytest.approx(0.1, rel=0.3)


CLASSIFIERS = {
    "process of labels": fitted(GaussianProcessClassifier()),
    "logistic loo": tuned(KernelLogistic(Gaussian("median"), alpha=0.1), "loo"),
    "radius margin": tuned(SVC(Gaussian("median"), C=1.0), "radius_margin"),
    "span": tuned(SVC(Gaussian("median"), C=1.0), "span"),
    "SVC alignment": tuned(SVC(Gaussian("median")), "alignment"),
}


def values_of(model, points):
    if isinstance(model, GaussianProcessClassifier):
        return model.predict_proba(points)[:, 1]
    return model.decision_function(points) if hasattr(model, "decision_function") else model.predict(points)


@pytest.mark.parametrize("c", SCALES)
@pytest.mark.parametrize(
    "name", ["process", *sorted(set(WITHOUT_LEVEL) - {"process without level"}), *CLASSIFIERS]
)
def test_points_in_other_units(name, c):
    """Widths from a rule: the search is the same, but for rounding."""
    fit, y = (CLASSIFIERS[name], LABELS) if name in CLASSIFIERS else (REGRESSORS[name], Y)
    expected = values_of(fit(X, y), NEW)
    np.testing.assert_allclose(values_of(fit(c * X, y), c * NEW), expected, rtol=1e-4, atol=1e-4)


EXPLICIT_WIDTHS = {
    "process": (fitted(GaussianProcessRegressor(EXPLICIT)), Y),
    "process, a width per feature": (
        fitted(GaussianProcessRegressor(1.0 * Gaussian([1.0, 1.0]) + WhiteNoise(0.1))),
        Y,
    ),
    "process without level": (fitted(GaussianProcessRegressor(EXPLICIT, fit_intercept=False)), Y),
    "process of labels": (fitted(GaussianProcessClassifier(1.0 * Gaussian(1.0))), LABELS),
    "ridge evidence": (tuned(KernelRidge(Gaussian(1.0), alpha=0.1), "evidence"), Y),
    "ridge loo": (tuned(KernelRidge(Gaussian(1.0), alpha=0.1), "loo"), Y),
    "logistic loo": (tuned(KernelLogistic(Gaussian(1.0), alpha=0.1), "loo"), LABELS),
    "alignment": (tuned(KernelRidge(Gaussian(2.0), alpha=0.1), "alignment"), Y),
}


@pytest.mark.parametrize("c", SCALES)
@pytest.mark.parametrize("name", EXPLICIT_WIDTHS)
def test_points_in_other_units_than_the_width(name, c):
    """The search starts from the width and from the distances: the optimum is the same to its tolerance."""
    fit, y = EXPLICIT_WIDTHS[name]
    expected = values_of(fit(X, y), NEW)
    found = values_of(fit(c * X, y), c * NEW)
    np.testing.assert_allclose(found, expected, atol=2e-2 * np.abs(expected).max())


def test_features_in_different_units():
    units = np.array([1e-4, 1e4])
    kernel = 1.0 * Gaussian([1.0, 1.0]) + WhiteNoise(0.1)
    expected = GaussianProcessRegressor(kernel).fit(X, Y).predict(NEW)
    found = GaussianProcessRegressor(kernel).fit(units * X, Y).predict(units * NEW)
    np.testing.assert_allclose(found, expected, atol=2e-2)


def test_an_origin_far_away_without_a_level():
    """No intercept, and a mean of a thousand standard deviations: the process follows all the same."""
    model = GaussianProcessRegressor(EXPLICIT, fit_intercept=False).fit(X, Y + 1000.0)
    error = model.predict(X) - 1000.0 - F
    assert 1 - error.var() / F.var() > 0.98
    assert abs(error.mean()) < 0.05


def test_the_kernel_of_a_regression_with_support_vectors_knows_no_unit():
    expected = tune(SVR(Gaussian("median")), X, Y, criterion="alignment").kernel.sigma
    for c in SCALES:
        assert tune(SVR(Gaussian("median")), X, c * Y, criterion="alignment").kernel.sigma == pytest.approx(
            expected
        )
        found = tune(SVR(Gaussian("median")), c * X, Y, criterion="alignment").kernel.sigma
        assert found / c == pytest.approx(expected)


# -- the ends of ranges -----------------------------------------------------------------------------
def test_an_end_beyond_which_the_criterion_rises_is_warned_of():
    """A linear function without noise: the wider the Gaussian, and the larger its factor, the better."""
    with pytest.warns(
        ConvergenceWarning, match=r"kernel__term0__factor ended at the end of its range, from"
    ) as seen:
        model = GaussianProcessRegressor().fit(X, X[:, 0])
    assert "mercer.tune(machine, X, y, bounds={'kernel__term0__factor': (low, high)})" in str(seen[0].message)
    assert list(model.tuning_.stats["rising"]) == ["kernel__term0__factor"]


@pytest.mark.parametrize(
    "fit",
    [
        lambda: GaussianProcessRegressor().fit(X, F),  # no noise: its level goes to the least one
        lambda: GaussianProcessRegressor().fit(X, RNG.standard_normal(60)),  # nothing but noise
        lambda: GaussianProcessRegressor().fit(X, X[:, 0] + 0.05 * RNG.standard_normal(60)),  # flat beyond
        lambda: GaussianProcessRegressor(1.0 * Gaussian([1.0, 1.0]) + WhiteNoise(0.1)).fit(
            X, np.sin(X[:, 0])
        ),
        lambda: KernelRidge(Gaussian("median"), alpha=0.1, tune="evidence").fit(X, F),
        lambda: tune(
            KernelRidge(Gaussian("median")), X, Y, criterion="evidence", bounds={"alpha": (1.0, 2.0)}
        ),
    ],
)
def test_ends_that_say_something_are_no_reason_to_warn(fit):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit()


def test_a_variance_that_no_search_can_change_is_warned_of():
    with pytest.warns(
        ConvergenceWarning, match=r"states a variance of 1, and the targets have .*Write 1\.0 \* kernel"
    ):
        GaussianProcessRegressor(Gaussian(1.0) + WhiteNoise(0.1)).fit(X, 1e5 * Y)
