"""Learned metrics: planted directions are recovered, and gradients are those of differences."""

import numpy as np
import pytest

from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, Mahalanobis
from mercer.machines import KernelRidge
from mercer.selection import learn_metric

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 6))


def test_a_planted_plane_is_recovered():
    rng = np.random.default_rng(1)
    plane = np.linalg.qr(rng.standard_normal((6, 2)))[0].T
    points, new = rng.standard_normal((150, 6)), rng.standard_normal((500, 6))

    def truth(Z):
        a, b = plane @ Z.T
        return a * b + np.sin(a)

    y = truth(points) + 0.1 * rng.standard_normal(150)
    found = learn_metric(points, y)
    cosines = np.linalg.svd(found.directions(2) @ plane.T)[1]
    assert cosines.min() > 0.99
    assert (np.diff(found.errors) < 0).all()
    assert found.importance.sum() == pytest.approx(1.0)
    learned = KernelRidge(found.kernel, alpha=found.alpha, fit_intercept=True).fit(points, y)
    plain = KernelRidge(Gaussian("scale"), alpha="loo", fit_intercept=True).fit(points, y)
    error, other = (np.mean((m.predict(new) - truth(new)) ** 2) for m in (learned, plain))
    assert error < 0.2 * other
    assert np.mean(learned.loo_residuals() ** 2) == pytest.approx(found.errors[-1])
    assert isinstance(found.kernel, Mahalanobis)
    assert found.certificate.is_psd


def test_gradients_are_those_of_differences():
    Y = np.c_[X[:, 0] * X[:, 1], np.cos(X[:, 2])]
    found = learn_metric(X, Y, max_steps=2)
    assert len(found.errors) > 1
    model = KernelRidge(found.kernel, alpha=found.alpha, fit_intercept=True).fit(X, Y)
    step = 1e-5
    gradients = np.stack(
        [(model.predict(X + step * e) - model.predict(X - step * e)) / (2 * step) for e in np.eye(6)]
    )  # (d, n, t)
    expected = np.einsum("int,jnt->ij", gradients, gradients)
    np.testing.assert_allclose(found.gradients, expected / np.trace(expected), atol=1e-7)


def test_noise_and_features_that_do_not_vary():
    noise = np.random.default_rng(5).standard_normal(120)
    assert len(learn_metric(X, noise).errors) == 1
    found = learn_metric(np.c_[X[:, :2], np.ones(120)], np.c_[X[:, 0], X[:, 0] ** 2])
    assert found.importance.argmax() == 0
    assert found.importance[2] < 1e-20
    assert len(learn_metric(X, X[:, 0] ** 2, max_steps=1).errors) <= 2
    assert "6 features" in repr(learn_metric(X, X[:, 0] > 0, max_steps=1))


@pytest.mark.parametrize(("n", "d"), [(20, 100), (60, 30)])
def test_many_features_of_noise_have_no_metric(n, d):
    """Leave-one-out errors fall, because the metric has seen all targets."""
    rng = np.random.default_rng(0)
    assert len(learn_metric(rng.standard_normal((n, d)), rng.standard_normal(n)).errors) == 1


def test_few_points():
    for n in (4, 5, 6):
        assert np.isfinite(learn_metric(X[:n], X[:n, 0]).errors).all()
    found = learn_metric([[1.0], [0.0], [0.0], [0.0]], [0.0, 1.0, 1.0, 2.0])  # half of them are equal
    assert np.isfinite(found.errors).all()


def test_bad_input_is_named():
    for y, message in (
        (np.ones(120), "two different values"),
        (X[:5, 0], r"shape \(120,\) or \(120, t\). Got \(5,\)"),
        (["a"] * 120, "must be numbers"),
        (np.full(120, np.nan), "finite"),
    ):
        with pytest.raises(InputError, match=f"learn_metric: `y` .*{message}"):
            learn_metric(X, y)
    with pytest.raises(InputError, match="`X` must have two different rows"):
        learn_metric(np.ones((4, 2)), [0.0, 1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="at least 4 points"):
        learn_metric(X[:3], [0.0, 1.0, 2.0])
    with pytest.raises(InputError, match="X"):
        learn_metric(["a", "b", "c"], [0.0, 1.0, 2.0])
    for steps in (0, 1.5, True):
        with pytest.raises(ParameterError, match="`max_steps` must be an integer >= 1"):
            learn_metric(X, X[:, 0], max_steps=steps)
    with pytest.raises(ParameterError, match="`count` must be"):
        learn_metric(X, X[:, 0], max_steps=1).directions(0)
