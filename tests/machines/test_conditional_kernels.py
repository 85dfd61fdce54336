"""Conditionally positive definite kernels in machines with an intercept, against the problems themselves."""

import warnings

import clarabel
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from sklearn.base import clone

from mercer.errors import DefinitenessError
from mercer.kernels import Gaussian, PowerDistance, SetIntersection, Sigmoid, ThinPlate
from mercer.machines import (
    SVC,
    SVR,
    KernelLogistic,
    KernelRidge,
    NuSVC,
    NuSVR,
    OneClassSVM,
    RepresenterMachine,
)
from mercer.machines.indefinite import beside_intercept

#: Certified of order 1, and not positive definite.
KERNELS = {
    "-|x - y|": -PowerDistance(1.0),
    "-|x - y|^2": -PowerDistance(2.0),
    "-|x - y|^1.3 + k - 1": Gaussian(1.0) - PowerDistance(1.3) - 1.0,
    "thin plate": ThinPlate(order=2, dim=3),
}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) + 1
    score = X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(40)
    return X, score, np.where(score > np.median(score), 1.0, -1.0), rng.standard_normal((15, 3))


def function(kernel, X, Z, a, b):
    """Values of the expansion in the kernel as it was given."""
    return kernel.block(Z, X) @ a + b


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_is_the_bordered_system(data, name, weighted):
    kernel, (X, y, _, Z) = KERNELS[name], data
    w = np.random.default_rng(1).uniform(0.2, 2.0, 40) if weighted else np.ones(40)
    one = np.ones((40, 1))
    A = np.block([[kernel.block(X) + 0.7 * np.diag(1 / w), one], [one.T, np.zeros((1, 1))]])
    *a, b = np.linalg.solve(A, np.append(y, 0.0))
    for solver in ("cholesky", "eigen", "cg"):
        model = KernelRidge(kernel, alpha=0.7, fit_intercept=True, solver=solver, tol=1e-10)
        model.fit(X, y, sample_weight=w if weighted else None)
        np.testing.assert_allclose(model.predict(Z), function(kernel, X, Z, a, b), rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(model.dual_coef_, a, atol=1e-7)
        assert abs(model.dual_coef_.sum()) < 1e-8


def test_leave_one_out_of_ridge_is_refitting(data):
    X, y, _, _ = data
    machine = KernelRidge(-PowerDistance(1.0), alpha=0.3, fit_intercept=True)
    found = clone(machine).fit(X, y).loo_residuals()
    for i in (0, 1, 17, 39):  # also the point at which the kernel is centred
        kept = np.arange(40) != i
        left_out = y[i] - clone(machine).fit(X[kept], y[kept]).predict(X[i : i + 1])[0]
        assert found[i] == pytest.approx(left_out, rel=1e-8)
    assert clone(machine).set_params(alpha="loo").fit(X, y).alpha_ > 0
    _, std = clone(machine).fit(X, y).predict(X[:3], return_std=True)
    assert (std > 0).all()


def dual(K, y, P, q, A, lower, upper, total):
    """min 1/2 v'Pv + q'v for v in a box with A v = total, by clarabel on an exact root of P."""
    n = len(q)
    rows = scipy.sparse.csc_matrix(np.vstack([A, np.eye(n), -np.eye(n)]))
    right = np.concatenate([total, upper, -lower])
    cones = [clarabel.ZeroConeT(len(total)), clarabel.NonnegativeConeT(2 * n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solver = clarabel.DefaultSolver(scipy.sparse.csc_matrix(np.triu(P)), q, rows, right, cones, settings)
    return np.array(solver.solve().x)


def projected(K, y):
    """The quadratic form of the dual on the subspace y'v = 0, extended by zero: positive semidefinite."""
    Q = y[:, None] * K * y
    project = np.eye(len(y)) - np.outer(y, y) / len(y)
    P = project @ Q @ project
    assert np.linalg.eigvalsh(P)[0] > -1e-10 * np.abs(P).max()
    return (P + P.T) / 2 + 1e-13 * np.abs(P).max() * np.eye(len(y))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("C", [0.1, 3.0])
def test_classifier_is_the_projected_dual(data, name, C):
    kernel, (X, _, y, Z) = KERNELS[name], data
    K = kernel.block(X)
    v = dual(K, y, projected(K, y), -np.ones(40), y[None], np.zeros(40), np.full(40, C), np.zeros(1))
    model = SVC(kernel, C=C, tol=1e-9).fit(X, y)
    a = np.zeros(40)
    a[model.support_] = model.dual_coef_[0]
    objective = 0.5 * a @ K @ a - np.abs(a).sum()
    assert objective == pytest.approx(0.5 * (v * y) @ K @ (v * y) - v.sum(), rel=1e-6)
    free = np.flatnonzero((v > 1e-6 * C) & (v < C * (1 - 1e-6)))
    assert len(free)
    b = np.mean(y[free] - K[free] @ (v * y))
    np.testing.assert_allclose(model.decision_function(Z), function(kernel, X, Z, v * y, b), atol=1e-4)


@pytest.mark.parametrize("name", KERNELS)
def test_regression_is_the_projected_dual(data, name):
    kernel, (X, y, _, Z) = KERNELS[name], data
    K, epsilon, C = kernel.block(X), 0.1, 2.0
    signs = np.concatenate([np.ones(40), -np.ones(40)])
    KK = np.tile(K, (2, 2))
    q = np.concatenate([epsilon - y, epsilon + y])
    v = dual(KK, signs, projected(KK, signs), q, signs[None], np.zeros(80), np.full(80, C), np.zeros(1))
    a = v[:40] - v[40:]
    model = SVR(kernel, C=C, epsilon=epsilon, tol=1e-9).fit(X, y)
    found = np.zeros(40)
    found[model.support_] = model.dual_coef_[0]

    def value(a):
        return 0.5 * a @ K @ a - y @ a + epsilon * np.abs(a).sum()

    assert value(found) == pytest.approx(value(a), rel=1e-6)
    free = np.flatnonzero((np.abs(a) > 1e-6) & (np.abs(a) < C - 1e-6))
    b = np.mean(y[free] - K[free] @ a - epsilon * np.sign(a[free]))
    np.testing.assert_allclose(model.predict(Z), function(kernel, X, Z, a, b), atol=1e-4)


def test_nu_classifier_is_the_projected_dual(data):
    kernel, (X, _, y, _) = -PowerDistance(1.0), data
    K, nu = kernel.block(X), 0.4
    A = np.vstack([y, np.ones(40)])
    v = dual(K, y, projected(K, y), np.zeros(40), A, np.zeros(40), np.full(40, 1 / 40), np.array([0.0, nu]))
    model = NuSVC(kernel, nu=nu, tol=1e-9).fit(X, y)
    a = np.zeros(40)
    a[model.support_] = model.dual_coef_[0]
    # scikit-learn's coefficients are those of the problem divided by the margin: compare directions
    a *= nu / np.abs(a).sum()
    assert a @ K @ a == pytest.approx((v * y) @ K @ (v * y), rel=1e-5)


def test_nu_regression_is_the_projected_dual(data):
    kernel, (X, y, _, _) = -PowerDistance(1.0), data
    K, nu, C = kernel.block(X), 0.5, 1.0
    signs = np.concatenate([np.ones(40), -np.ones(40)])
    KK = np.tile(K, (2, 2))
    A = np.vstack([signs, np.ones(80)])
    total = np.array([0.0, C * nu * 40])
    q = np.concatenate([-y, y])
    v = dual(KK, signs, projected(KK, signs), q, A, np.zeros(80), np.full(80, C), total)
    a = v[:40] - v[40:]
    model = NuSVR(kernel, nu=nu, C=C, tol=1e-9).fit(X, y)
    found = np.zeros(40)
    found[model.support_] = model.dual_coef_[0]
    assert 0.5 * found @ K @ found - y @ found == pytest.approx(0.5 * a @ K @ a - y @ a, rel=1e-5)


@pytest.mark.parametrize("name", KERNELS)
def test_logistic_regression_minimises_on_the_subspace(data, name):
    kernel, (X, _, y, Z) = KERNELS[name], data
    K, alpha = kernel.block(X), 0.5
    basis = np.linalg.svd(np.ones((1, 40)))[2][1:].T  # of the coefficients that sum to zero

    def objective(v):
        a, b = basis @ v[:-1], v[-1]
        margin = y * (K @ a + b)
        slope = -y / (1 + np.exp(margin))
        gradient = np.append(basis.T @ (K @ slope + alpha * K @ a), slope.sum())
        return np.logaddexp(0, -margin).sum() + 0.5 * alpha * a @ K @ a, gradient

    found = scipy.optimize.minimize(
        objective, np.zeros(40), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000}
    )
    expected = function(kernel, X, Z, basis @ found.x[:-1], found.x[-1])
    model = KernelLogistic(kernel, alpha=alpha).fit(X, y)
    assert model.solution_.converged
    assert model.solution_.stats["objective"] == pytest.approx(found.fun, rel=1e-8)
    np.testing.assert_allclose(model.decision_function(Z), expected, atol=1e-3)
    again = RepresenterMachine(kernel, loss="logistic", alpha=alpha, fit_intercept=True).fit(X, y)
    np.testing.assert_allclose(again.decision_function(Z), model.decision_function(Z), atol=1e-5)


MACHINES = [
    KernelRidge(fit_intercept=True),
    KernelLogistic(),
    SVC(),
    SVR(),
    RepresenterMachine(fit_intercept=True),
]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)
def test_without_an_intercept_they_are_refused(data, machine):
    X, y, labels, _ = data
    target = labels if isinstance(machine, SVC | KernelLogistic) else y
    without = clone(machine).set_params(kernel=-PowerDistance(1.0), fit_intercept=False)
    with pytest.raises(DefinitenessError, match=r"conditionally positive definite only.*fit_intercept=True"):
        without.fit(X, target)
    repaired = clone(without).set_params(indefinite="clip").fit(X, target)  # the user's choice
    assert np.isfinite(repaired.predict(X[:2])).all()
    # positive definite, though no rule says so
    certain = clone(without).set_params(kernel=Gaussian(1.0) + 1.0 - 1.0)
    assert np.isfinite(certain.fit(X, target).predict(X[:2])).all()


def test_absolute_values_of_coefficients_do_not_make_them_sum_to_zero(data):
    X, _, y, _ = data
    with pytest.raises(DefinitenessError, match="fit_intercept=True and l1=0"):
        KernelLogistic(-PowerDistance(1.0), alpha=1.0, l1=0.1).fit(X, y)
    assert KernelLogistic(-PowerDistance(1.0), alpha=0.0, l1=0.1).fit(X, y).solution_.converged


def test_near_misses_are_not_accepted(data):
    """Of order 2, of no order, and a machine whose intercept is no free constant."""
    X, y, labels, _ = data
    assert beside_intercept(ThinPlate(order=3, dim=3), X) == ThinPlate(order=3, dim=3)
    with pytest.warns(UserWarning, match="not positive definite"), pytest.raises(DefinitenessError):
        KernelRidge(ThinPlate(order=3, dim=3), alpha=1e-3, fit_intercept=True).fit(X, y)
    with pytest.raises(DefinitenessError, match="least eigenvalue"):
        SVC(Sigmoid(1.0, -1.0), indefinite="error").fit(X, labels)
    with pytest.raises(DefinitenessError, match="distance"):
        SVC(PowerDistance(1.0)).fit(X, labels)
    with pytest.raises(DefinitenessError, match="least eigenvalue"):
        OneClassSVM(-PowerDistance(1.0), indefinite="error").fit(X)


def test_other_data():
    X = [{"a", "b"}, {"a"}, {"b", "c"}, {"c"}, {"a", "c"}, set(), {"b"}, {"a", "b", "c"}] * 2
    y = ["a" in x for x in X]
    model = SVC(-SetIntersection().distance(), C=10.0).fit(X, y)
    assert model.predict([{"a", "b", "c"}, {"b"}, set()]).tolist() == [True, False, False]
    assert model.kernel_.certificate.is_psd


def test_several_classes(data):
    X, score, _, Z = data
    labels = np.digitize(score, np.quantile(score, [0.33, 0.66]))
    shifted = SVC(PowerDistance(1.0).shifted(X[3])).fit(X, labels)  # another origin
    model = SVC(-PowerDistance(1.0)).fit(X, labels)
    np.testing.assert_allclose(model.decision_function(Z), shifted.decision_function(Z), atol=1e-2)
