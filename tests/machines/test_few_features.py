"""Machines on few known features solve in as many unknowns: linear kernels and polynomials of low degree."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import PolynomialFeatures

from mercer.features import Explicit, PolynomialMap
from mercer.gram import gram
from mercer.kernels import Linear, Polynomial
from mercer.machines import SVC, KernelLogistic, KernelRidge
from mercer.solvers import matrix
from mercer.solvers.matrix import LazyMatrix, few_features


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(matrix, "FEATURES_SIZE", 100)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    return X, X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(300), rng.uniform(0.1, 2.0, 300)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("alpha", [1e-6, 0.5, 1e6])
def test_ridge_regression_on_vectors(data, alpha, intercept):
    X, y, weight = data
    model = KernelRidge(Linear(), alpha=alpha, fit_intercept=intercept).fit(X, y, weight)
    assert model.solution_.status == "solved by the normal equations of 4 known features"
    assert model.solution_.converged
    expected = Ridge(alpha=alpha, fit_intercept=intercept, solver="cholesky").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-7)


def test_a_penalty_for_each_target(data):
    X, y, _ = data
    Y = np.column_stack([y, -y, X[:, 0]])
    model = KernelRidge(Linear(), alpha=[0.1, 10.0, 0.1]).fit(X, Y)
    for column, alpha in enumerate([0.1, 10.0, 0.1]):
        expected = Ridge(alpha=alpha, fit_intercept=False).fit(X, Y[:, column]).predict(X)
        np.testing.assert_allclose(model.predict(X)[:, column], expected, atol=1e-9)


def test_polynomials_of_low_degree(data):
    X, y, _ = data
    k = Polynomial(2, 0.5, 1.5)
    model = KernelRidge(k, alpha=0.1).fit(X, y)
    assert "normal equations of 15 known features" in model.solution_.status
    K = (X @ X.T / 1.5**2 + 0.5) ** 2
    expected = K @ np.linalg.solve(K + 0.1 * np.eye(300), y)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-9)
    assert (
        Explicit(k).fit(X).dim
        == PolynomialFeatures(2).fit(X).n_output_features_
        == PolynomialMap(2).fit(X).dim
    )
    machine = SVC(k, C=1.0, tol=1e-6).fit(X, y > 0)
    by_values = SVC("precomputed", C=1.0, tol=1e-6).fit(K, y > 0)
    np.testing.assert_allclose(machine.decision_function(X), by_values.decision_function(K), atol=1e-5)


def test_logistic_regression_holds_no_matrix(data, monkeypatch):
    X, y, _ = data
    monkeypatch.setattr(LazyMatrix, "dense", lambda self, dtype=None: pytest.fail("the matrix was held"))
    model = KernelLogistic(Linear(), alpha=0.5, fit_intercept=True).fit(X, y > 0)
    expected = LogisticRegression(C=2.0, tol=1e-10, max_iter=1000).fit(X, y > 0)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("scale", [1e-40, 1e-8, 1e8, 1e40])
def test_numbers_of_any_size(data, scale):
    X, y, _ = data
    model = KernelRidge(Linear(), alpha=0.5 * scale**2).fit(scale * X, y)
    np.testing.assert_allclose(
        model.predict(scale * X), KernelRidge(Linear(), alpha=0.5).fit(X, y).predict(X)
    )


def test_where_features_are_not_few(data):
    X, _, _ = data
    assert few_features(LazyMatrix(gram(Linear(), X))).shape == (300, 4)
    assert few_features(LazyMatrix(gram(Linear(), np.tile(X, 10)))) is None
    assert few_features(LazyMatrix(gram(Linear(), X[:90]))) is None
    assert few_features(LazyMatrix(gram(Polynomial(8), X))) is None  # 495 monomials
    assert few_features(LazyMatrix(gram(Polynomial(2, -0.5), X))) is None  # not positive definite
