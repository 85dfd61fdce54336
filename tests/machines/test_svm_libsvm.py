"""The same answer as LIBSVM, and as an interior-point method where LIBSVM does not converge."""

import os
import warnings

import numpy as np
import pytest
import sklearn.svm
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from mercer.kernels import Gaussian, Polynomial, Precomputed
from mercer.machines import SVC, SVR, NuSVC

from .svm_problems import draw

#: HYPOTHESIS_PROFILE=fuzz, as `make fuzz` sets it, tries many more problems.
COUNT = 4000 if os.environ.get("HYPOTHESIS_PROFILE") == "fuzz" else 160
BATCH = 20

SAME = 1e-8  # of the objective: the same solution
WORSE = 1e-9  # of the objective: rounding of two sums


def decisions(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def attempt(fit, excuse):
    """The model, or None where the problem has no solution, or LIBSVM overflows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # how good it is, is measured here
        try:
            return fit()
        except ValueError as error:
            if excuse not in str(error):
                raise
    return None


def check(trial):
    ours, theirs = attempt(trial.ours, "margin vanishes"), attempt(trial.theirs, "not finite")
    if ours is None:
        size = (trial.nu * trial.bounds.sum()) ** 2 * np.abs(trial.K).max()
        assert trial.least() <= 1e-7 * size, "the margin does not vanish"
        return
    b = trial.coefficients(ours)
    assert trial.infeasibility(b) <= 1e-12 * len(b)
    mine = trial.objective(b)
    best = trial.least() if theirs is None else trial.objective(trial.coefficients(theirs))
    # Objectives that cancel to nothing, as where one-class data surround the origin, count as zero.
    scale = max(abs(best), 1e-5 * float(np.abs(b) @ np.abs(trial.K) @ np.abs(b)))
    if theirs is None or theirs.fit_status_ != 0 or mine < best - SAME * scale:
        assert mine <= trial.least() + SAME * scale
        return
    assert mine <= best + WORSE * scale
    X = trial.K if isinstance(trial.kernel, Precomputed) else trial.X
    expected = decisions(theirs, trial.K)
    if scale == abs(best):
        np.testing.assert_allclose(
            decisions(ours, X), expected, rtol=0, atol=1e-3 * max(1.0, float(np.abs(expected).max()))
        )


@pytest.mark.parametrize("first", range(0, COUNT, BATCH))
def test_random_problems(first):
    for seed in range(first, first + BATCH):
        trial = draw(seed)
        try:
            check(trial)
        except AssertionError as error:
            raise AssertionError(f"draw({seed}): {trial}") from error


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_several_classes_as_scikit_learn_lays_them_out(shape):
    X, y = load_iris(return_X_y=True)
    y = np.array(["b", "c", "a"])[y]
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    kernel = Gaussian.from_gamma(0.5)
    ours = SVC(kernel, C=10.0, tol=1e-9, decision_function_shape=shape, break_ties=shape == "ovr").fit(X, y)
    theirs = sklearn.svm.SVC(
        C=10.0, gamma=0.5, tol=1e-9, decision_function_shape=shape, break_ties=shape == "ovr"
    ).fit(X, y)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_one_against_the_rest_is_a_machine_per_class():
    X, y = load_iris(return_X_y=True)
    model = SVC(C=3.0, multiclass="ovr", kernel=Gaussian(1.0)).fit(X, y)
    for c in range(3):
        one = SVC(C=3.0, kernel=Gaussian(1.0)).fit(X, y == c)
        np.testing.assert_allclose(model.decision_function(X)[:, c], one.decision_function(X), atol=1e-7)


def test_exclusive_or_by_hand():
    """(x.y + 1)^2 on the corners of a square: alpha = 1/8, dual value 1/4, margin sqrt 2, offset 0."""
    X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    y = np.array([1, -1, -1, 1])
    for C in (np.inf, 1e6, 1.0):
        model = SVC(Polynomial(2), C=C).fit(X, y)
        b = np.zeros(4)
        b[model.support_] = model.dual_coef_[0]
        np.testing.assert_allclose(b, y / 8, rtol=1e-12)
        np.testing.assert_allclose(model.intercept_, 0.0, atol=1e-12)
        K = Polynomial(2).block(X)
        assert np.abs(b).sum() - 0.5 * b @ K @ b == pytest.approx(0.25, rel=1e-12)
        assert 1 / np.sqrt(b @ K @ b) == pytest.approx(np.sqrt(2), rel=1e-12)
        np.testing.assert_allclose(model.decision_function(X), y, rtol=1e-12)


def test_the_nu_machine_is_the_c_machine_at_the_price_it_implies():
    """Dividing by the margin r turns the solution for nu into that for C = 1 / r."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 2))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(80) > 0
    nu = NuSVC(Gaussian(0.8), nu=0.4).fit(X, y)
    price = float(np.abs(nu.dual_coef_).max())
    c = SVC(Gaussian(0.8), C=price).fit(X, y)
    np.testing.assert_allclose(nu.decision_function(X), c.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_the_homogeneous_problem(C):
    """Without an offset every point has a condition of its own."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 2))
    y = np.where(X[:, 0] > 0.2, 1.0, -1.0)
    model = SVC(Gaussian(0.7), C=C, fit_intercept=False).fit(X, y)
    b = np.zeros(60)
    b[model.support_] = model.dual_coef_[0]
    margins = y * model.decision_function(X)
    alpha = y * b
    assert (model.intercept_ == 0).all()
    assert (margins[alpha == 0] >= 1 - 1e-6).all()
    assert (margins[alpha == C] <= 1 + 1e-6).all()
    free = (alpha > 0) & (alpha < C)
    np.testing.assert_allclose(margins[free], 1.0, atol=1e-6)
    z = np.cos(X[:, 1])
    regression = SVR(Gaussian(0.7), C=C, fit_intercept=False, epsilon=0.05).fit(X, z)
    residual = z - regression.predict(X)
    outside = np.setdiff1d(np.arange(60), regression.support_)
    assert (np.abs(residual[outside]) <= 0.05 + 1e-6).all()
