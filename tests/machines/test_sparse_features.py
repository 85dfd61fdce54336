"""Machines on sparse features take products with them, and have the solution of the kernel form."""

import numpy as np
import pytest

from mercer.kernels import NGram
from mercer.machines import KernelLogistic, KernelRidge
from mercer.solvers import matrix


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def words(rng, n):
    return ["".join(rng.choice(list("abcdefghijklmnop"), 3)) for _ in range(n)]


def both(fit, monkeypatch):
    """A machine trained by values of the kernel, and the same by products with features."""
    by_values = fit()
    monkeypatch.setattr(matrix, "FEATURES_SIZE", 100)
    return by_values, fit()


@pytest.mark.parametrize("weighted", [False, True])
def test_ridge(rng, weighted, monkeypatch):
    X = words(rng, 400)
    y = rng.standard_normal(400)
    weight = rng.uniform(0.1, 2.0, 400) if weighted else None
    expected, model = both(
        lambda: KernelRidge(NGram(2), alpha=0.5, tol=1e-10, fit_intercept=True).fit(X, y, weight), monkeypatch
    )
    assert "sparse features are cheap" in model.solution_.status
    assert model.solution_.stats["preconditioner_rank"] < 40
    new = words(rng, 50)
    np.testing.assert_allclose(model.predict(new), expected.predict(new), atol=1e-8)


def test_logistic(rng, monkeypatch):
    X = words(rng, 400)
    y = np.array([x[0] < "f" for x in X]) ^ (rng.random(400) < 0.1)
    expected, model = both(lambda: KernelLogistic(NGram(2), alpha=0.5).fit(X, y), monkeypatch)
    new = words(rng, 50)
    np.testing.assert_allclose(model.predict_proba(new), expected.predict_proba(new), atol=1e-8)


def test_many_features_of_a_point_are_no_reason(rng, monkeypatch):
    monkeypatch.setattr(matrix, "FEATURES_SIZE", 100)
    X = ["".join(rng.choice(list("abcd"), 60)) for _ in range(120)]
    model = KernelRidge(NGram(3)).fit(X, rng.standard_normal(120))
    assert "Cholesky" in model.solution_.status
