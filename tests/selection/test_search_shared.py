"""Shared problems of support vector machines, leave-one-out in closed form, and threads of a search."""

import time
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, LeaveOneOut

import mercer
from mercer.errors import ParameterError
from mercer.kernels import Gaussian, Linear, Matern, Spectrum
from mercer.machines import SVC, SVR, GaussianProcessRegressor, KernelLogistic, KernelRidge
from mercer.selection import KernelSearchCV
from mercer.selection.search import evaluation
from mercer.selection.search.known import along_penalties
from mercer.selection.search.values import SharedValues

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
F = X[:, 0] * X[:, 1] + 0.3 * RNG.standard_normal(60)
TWO = np.where(F > 0, "yes", "no")
WEIGHT = RNG.integers(0, 3, 60).astype(float)
TRAIN = np.flatnonzero(RNG.random(60) < 0.7)
PENALTIES = [0.1, 1.0, 10.0]


def shared(kernel: Any = None) -> SharedValues:
    values = SharedValues(lambda kernel: kernel.domain.validate(X))
    values.points(Gaussian(1.0))
    return values


# -- known values ---------------------------------------------------------------------------------
@pytest.mark.parametrize("weight", [None, WEIGHT[TRAIN]], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    "machine",
    [
        SVC(Gaussian(1.0)),
        SVC(Matern(1.5), class_weight="balanced"),
        SVC(Gaussian("median"), fit_intercept=False),
        SVR(Gaussian("scale"), epsilon=0.2),
        SVR(Gaussian(0.5), fit_intercept=False),
    ],
    ids=["SVC", "balanced", "no intercept", "SVR", "SVR without intercept"],
)
def test_bounds_of_zero_are_absent_points(machine: Any, weight: Any) -> None:
    y = TWO[TRAIN] if isinstance(machine, SVC) else F[TRAIN]
    found = along_penalties(machine, shared(), TRAIN, y, weight, PENALTIES)
    assert found is not None
    for C, model in zip(PENALTIES, found, strict=True):
        refit = type(machine)(**{**machine.get_params(deep=False), "C": C}).fit(X[TRAIN], y, weight)
        values = refit.decision_function(X) if isinstance(machine, SVC) else refit.predict(X)
        np.testing.assert_allclose(model.values_, values, atol=1e-8)


def test_scores_on_rows_in_single_precision() -> None:
    rng = np.random.default_rng(1)
    points = rng.standard_normal((1400, 2))
    y = np.sin(3 * points[:, 0]) * points[:, 1] + 0.3 * rng.standard_normal(1400) > 0
    grid = {"kernel": [Gaussian(0.5)], "C": [1.0, 100.0]}
    ours = KernelSearchCV(SVC(), grid, cv=2, refit=False).fit(points, y)
    theirs = GridSearchCV(SVC(), grid, cv=2, refit=False).fit(points, y)
    difference = ours.cv_results_["mean_test_score"] - theirs.cv_results_["mean_test_score"]
    assert np.abs(difference).max() <= 2 / 1400  # a decision value within the tolerance of zero


@pytest.mark.parametrize("kernel", [Linear(), -mercer.kernels.PowerDistance(1.0)], ids=["linear", "distance"])
def test_what_needs_more_than_values_is_left_to_the_machine(kernel: Any) -> None:
    assert along_penalties(SVC(kernel), shared(), TRAIN, TWO[TRAIN], None, PENALTIES) is None


def test_widths_share_the_values_of_the_kernel_below() -> None:
    count = [0]

    @mercer.kernel(assume="PSD", reason="an inner product")
    def slow(x: Any, y: Any) -> float:
        count[0] += 1
        return float(x @ y)

    grid = {"kernel": [slow.gaussian(s) for s in (0.5, 1.0, 2.0)], "C": PENALTIES}
    points, y = list(X[:30]), TWO[:30]
    ours = KernelSearchCV(SVC(), grid, cv=3, refit=False, n_jobs=1).fit(points, y)
    # Each pair once, a few to learn how long they take, and the diagonal for each width.
    assert count[0] <= 30 * 31 / 2 + 64 + 3 * 30
    theirs = GridSearchCV(SVC(), grid, cv=3, refit=False).fit(points, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_parts_are_shared_beside_parts_on_smaller_domains() -> None:
    """A kernel on any objects, in sums with kernels on vectors whose widths differ between the splits."""
    count = [0]

    @mercer.kernel(assume="PSD", reason="an inner product")
    def slow(x: Any, y: Any) -> float:
        count[0] += 1
        return float(x @ y)

    grid = {
        "kernel": [slow + Gaussian("median"), slow * Gaussian("scale"), slow + Gaussian(1.0)],
        "C": PENALTIES,
    }
    ours = KernelSearchCV(SVC(), grid, cv=3, refit=False).fit(X[:30].tolist(), TWO[:30])
    assert count[0] <= 30 * 31 / 2 + 64
    theirs = GridSearchCV(SVC(), grid, cv=3, refit=False).fit(X[:30].tolist(), TWO[:30])
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


# -- leave-one-out --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("machine", "grid", "scoring"),
    [
        (KernelRidge(), {"kernel": [Gaussian(1.0), Linear()], "alpha": [0.1, 1.0]}, "neg_mean_squared_error"),
        (KernelRidge(Gaussian(0.5), fit_intercept=True), {"alpha": [0.1]}, "neg_mean_absolute_error"),
        (GaussianProcessRegressor(Gaussian(1.0), tune=None), {"alpha": [0.1, 1.0]}, "neg_mean_squared_error"),
    ],
    ids=["ridge", "intercept", "process"],
)
def test_leave_one_out_is_that_of_refits(machine: Any, grid: Any, scoring: str) -> None:
    ours = KernelSearchCV(machine, grid, cv="loo", scoring=scoring).fit(X[:25], F[:25])
    theirs = GridSearchCV(machine, grid, cv=LeaveOneOut(), scoring=scoring).fit(X[:25], F[:25])
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-10
    )
    assert ours.best_params_ == theirs.best_params_
    assert ours.n_splits_ == 1


def test_leave_one_out_of_logistic_regression_is_close() -> None:
    grid = {"alpha": [0.1, 1.0]}
    machine = KernelLogistic(Gaussian(1.0))
    ours = KernelSearchCV(machine, grid, cv="loo", scoring="neg_log_loss").fit(X, TWO)
    for alpha, found in zip(grid["alpha"], ours.cv_results_["mean_test_score"], strict=True):
        losses = []
        for i in range(60):
            kept = np.arange(60) != i
            model = KernelLogistic(Gaussian(1.0), alpha=alpha).fit(X[kept], TWO[kept])
            losses.append(model.predict_log_proba(X[i : i + 1])[0, int(TWO[i] == "yes")])
        assert found == pytest.approx(np.mean(losses), rel=0.02)


def test_leave_one_out_without_rows_of_weight_zero() -> None:
    kept, grid = WEIGHT > 0, {"alpha": [0.1, 1.0]}
    machine = KernelRidge(Gaussian(1.0))
    ours = KernelSearchCV(machine, grid, cv="loo").fit(X, F, sample_weight=WEIGHT)
    other = KernelSearchCV(machine, grid, cv="loo").fit(X[kept], F[kept], sample_weight=WEIGHT[kept])
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    ("machine", "options", "message"),
    [
        (SVC(Gaussian(1.0)), {"cv": "loo"}, "closed form"),
        (KernelRidge(), {"cv": "loo", "return_train_score": True}, "return_train_score"),
        (KernelRidge(), {"cv": "loo", "scoring": lambda m, X, y: 1.0}, "scoring"),
        (KernelRidge(), {"cv": "five"}, "`cv` must be"),
        (KernelRidge(), {"n_jobs": 0}, "`n_jobs`"),
        (KernelRidge(), {"n_jobs": 1.5}, "`n_jobs`"),
    ],
)
def test_arguments_are_named(machine: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        KernelSearchCV(machine, {"kernel": [Gaussian(1.0)]}, **options).fit(X, F > 0)


# -- threads --------------------------------------------------------------------------------------
def test_scores_do_not_depend_on_threads() -> None:
    grid = {"kernel": [Gaussian("median"), Gaussian(0.5), Linear()], "C": PENALTIES}
    found = [KernelSearchCV(SVC(), grid, n_jobs=n, refit=False).fit(X, TWO).cv_results_ for n in (1, 2, 3)]
    for other in found[1:]:
        np.testing.assert_array_equal(other["mean_test_score"], found[0]["mean_test_score"])


def test_an_error_ends_the_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [0]

    def broken(*arguments: Any) -> None:
        calls[0] += 1
        if calls[0] > 2:
            raise KeyboardInterrupt
        time.sleep(0.01)
        raise RuntimeError("no")

    monkeypatch.setattr(evaluation, "along_penalties", broken)
    search = KernelSearchCV(SVC(), {"kernel": [Gaussian(s) for s in range(1, 9)], "C": PENALTIES}, n_jobs=2)
    with pytest.raises((RuntimeError, KeyboardInterrupt)):
        search.fit(X, TWO)
    assert calls[0] < 40
    assert np.isnan(search.cv_results_["mean_test_score"]).all()


def test_strings_in_threads() -> None:
    words = ["".join(RNG.choice(list("ab"), 8)) for _ in range(40)]
    labels = np.array([w.count("ab") % 2 for w in words])
    grid = {"kernel": [Spectrum(2).normalized(), (Spectrum(2) + Spectrum(3)).gaussian(1.0)], "C": PENALTIES}
    ours = KernelSearchCV(SVC(), grid, cv=3, n_jobs=2, refit=False).fit(words, labels)
    theirs = GridSearchCV(SVC(), grid, cv=3, refit=False).fit(words, labels)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
