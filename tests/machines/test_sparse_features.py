"""Machines on sparse features take products with them, and have the solution of the kernel form."""

import numpy as np
import pytest

from mercer.contributions import Contributions
from mercer.errors import DomainError
from mercer.features import Explicit
from mercer.kernels import Gaussian, NGram
from mercer.machines import SVC, KernelLogistic, KernelRidge
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


def test_a_model_as_weights_of_features(rng):
    X, new = words(rng, 150), words(rng, 20)
    y = np.array([x[0] < "f" for x in X])
    kernel = NGram(1) + 0.5 * NGram(2)
    for machine in (SVC(kernel), KernelLogistic(kernel), KernelRidge(kernel, fit_intercept=True)):
        found = machine.fit(X, y.astype(float)).feature_weights()
        rows = Explicit(kernel).fit(X + new)
        column = {name: i for i, name in enumerate(rows.get_feature_names_out())}
        values = rows.transform(new)[:, [column[name] for name in found.names]] @ found.weights
        expected = getattr(machine, "decision_function", machine.predict)(new)
        np.testing.assert_allclose(values[:, 0] + found.intercepts[0], expected, atol=1e-9)
        top = found.largest(3)
        assert [abs(c.weight) for c in top] == sorted(np.abs(found.weights[:, 0]), reverse=True)[:3]


def test_weights_of_several_classes(rng):
    X = words(rng, 120)
    machine = SVC(NGram(2), decision_function_shape="ovo", break_ties=False).fit(X, rng.integers(0, 3, 120))
    found = machine.feature_weights()
    rows = Explicit(NGram(2)).fit([X[i] for i in machine.support_])
    np.testing.assert_allclose(
        rows.transform(X) @ found.weights + found.intercepts, machine.decision_function(X), atol=1e-9
    )


def test_a_kernel_without_features_has_no_weights(rng):
    machine = SVC(Gaussian(1.0)).fit(rng.standard_normal((20, 2)), np.arange(20) % 2)
    with pytest.raises(DomainError, match="features"):
        machine.feature_weights()


def test_explanations_and_predictions_add_up_the_points_once(rng, monkeypatch):
    X = words(rng, 200)
    y = np.array([x[0] < "f" for x in X])
    for kernel in (NGram(2), (NGram(1) + 0.5 * NGram(2)).normalized(), (2.0 * NGram(2)).assume("PSD")):
        model = SVC(kernel, C=10.0).fit(X, y)
        first = model.explain("abcab")
        np.testing.assert_allclose(first.value, abs(model.decision_function(["abcab"])[0]), atol=1e-9)
        np.testing.assert_allclose(first.total, first.value, atol=1e-9)
        by_pairs = {
            c.pattern: c.weight
            for c in Contributions(
                kernel._weighted_contributions([X[i] for i in model.support_], model.dual_coef_[0], "abcab")
            )
        }
        sign = 1.0 if first.prediction else -1.0
        for c in first:
            if c.pattern in by_pairs:
                assert c.weight == pytest.approx(sign * by_pairs[c.pattern])
        monkeypatch.setattr(NGram, "_counts", lambda *args: pytest.fail("counted anew"))
        again = model.explain("abcab")
        monkeypatch.undo()
        assert [(c.pattern, c.weight) for c in again] == [(c.pattern, c.weight) for c in first]
        assert model.set_params(C=0.01).fit(X, y).explain("abcab").value != first.value  # nothing old stays
