"""Losses against finite differences and against conjugates found by search."""

import numpy as np
import pytest

from mercer.solvers.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    PiecewiseLinear,
    Pinball,
    Poisson,
    SmoothLoss,
    Softmax,
    Squared,
)

SCALAR = [Squared(), Huber(0.7), Poisson(), Logistic(), Hinge(), EpsilonInsensitive(0.2), Pinball(0.3)]
SMOOTH = [loss for loss in SCALAR if isinstance(loss, SmoothLoss)]


def targets(loss, n):
    rng = np.random.default_rng(0)
    if loss.of_margins:
        return rng.choice([-1.0, 1.0], (n, 1))
    return (
        rng.poisson(2.0, (n, 1)).astype(float) if isinstance(loss, Poisson) else rng.standard_normal((n, 1))
    )


def names(loss):
    return type(loss).__name__


@pytest.mark.parametrize("loss", SMOOTH, ids=names)
def test_gradients_and_curvatures(loss):
    y, f = targets(loss, 50), np.random.default_rng(1).uniform(-2, 2, (50, 1))
    h = 1e-6
    slope = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
    np.testing.assert_allclose(loss.gradient(y, f)[:, 0], slope, atol=1e-7)
    curvature = (loss.gradient(y, f + h) - loss.gradient(y, f - h)) / (2 * h)
    np.testing.assert_allclose(loss.root(y, f).scale ** 2, curvature, atol=1e-6)


def test_softmax():
    rng = np.random.default_rng(2)
    f, y = rng.standard_normal((20, 3)), np.eye(3)[rng.integers(0, 3, 20)]
    h, loss = 1e-6, Softmax()
    H = np.einsum("icd,ied->ice", *[loss.root(y, f).dense()] * 2)
    for c in range(3):
        e = h * np.eye(3)[c]
        slope = (loss.value(y, f + e) - loss.value(y, f - e)) / (2 * h)
        np.testing.assert_allclose(loss.gradient(y, f)[:, c], slope, atol=1e-7)
        curvature = (loss.gradient(y, f + e) - loss.gradient(y, f - e)) / (2 * h)
        np.testing.assert_allclose(H[:, :, c], curvature, atol=1e-7)
    u, root = rng.standard_normal((20, 3)), loss.root(y, f).weighted(np.full(20, 2.0))
    np.testing.assert_allclose(root.times(root.transposed_times(u)), 2 * np.einsum("ice,ie->ic", H, u))
    s = loss.gradient(y, f)  # equality in Fenchel's inequality
    np.testing.assert_allclose(loss.value(y, f) + loss.conjugate(y, s), (s * f).sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("loss", SCALAR, ids=names)
def test_conjugates(loss):
    y = targets(loss, 8)
    grid = np.linspace(-12, 12, 24_001)
    at_grid = np.stack([loss.value(y, np.full_like(y, f)) for f in grid])
    if isinstance(loss, PiecewiseLinear):
        low, high = loss.bounds(y)
        slopes = [-(low + share * (high - low)) for share in (0.0, 0.3, 1.0)]
    else:
        slopes = [loss.gradient(y, np.full_like(y, f)) for f in (-1.5, 0.2, 1.5)]
    for s in slopes:
        searched = (grid[:, None] * s[:, 0] - at_grid).max(axis=0)
        coarse = isinstance(loss, PiecewiseLinear)  # the kink lies between points of the grid
        np.testing.assert_allclose(loss.conjugate(y, s), searched, atol=1e-3 if coarse else 1e-5)


def test_a_quantile_minimises_the_pinball_loss():
    y = np.random.default_rng(3).standard_normal((201, 1))
    grid = np.linspace(-3, 3, 601)
    values = [Pinball(0.8).value(y, np.full_like(y, f)).sum() for f in grid]
    assert grid[np.argmin(values)] == pytest.approx(np.quantile(y, 0.8), abs=0.02)
