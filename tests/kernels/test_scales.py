"""Kernels of distances at every scale of floats, against fifty digits: right, or an error if no float is."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from mercer import Kernel
from mercer.errors import ParameterError
from mercer.kernels import (
    Cauchy,
    Exponential,
    Gaussian,
    Laplacian,
    Matern,
    PowerDistance,
    PowerExponential,
    RationalQuadratic,
)

ROUNDING = 1e-12
#: Relative accuracy ends where floats lose digits.
TINY = float(np.finfo(np.float64).tiny)
X = np.random.default_rng(1).standard_normal((4, 2))
Y = np.vstack([X[:1], np.zeros((1, 2)), [[0.0, 1.0]]])
SCALES = [1e-307, 1e-300, 1e-200, 1e-162, 1e-155, 1e-100, 1.0, 1e100, 1e153, 1e160, 1e200, 1e300]


def kernels(scale: float) -> list[Kernel]:
    """Kernels of width 1, and of the width of the data."""
    powers: list[Kernel] = [PowerDistance(p) for p in (0.01, 0.5, 1.0, 1.5, 2.0)]
    powers += [PowerDistance(1.0).sqrt(), PowerDistance(1.0) ** 0.25, PowerDistance(1.0).log1p()]
    for s in {1.0, scale}:
        powers += [Gaussian(s), Exponential(s), Laplacian(s), Cauchy(s)]
        powers += [Matern(nu, s) for nu in (0.5, 1.5, 2.5)]
        powers += [RationalQuadratic(s, alpha) for alpha in (0.001, 0.3, 1.0, 2.0)]
        powers += [PowerExponential(p, s) for p in (0.001, 0.05, 0.5, 1.0, 2.0)]
    return powers


def check(k: Kernel, A: np.ndarray, B: np.ndarray) -> None:
    exact = np.array([[float(k.precise(a, b)) for b in B] for a in A])
    if not np.isfinite(exact).all():
        with pytest.raises(ParameterError, match="overflows on these"):
            k.block(A, B)
        return
    error = ROUNDING * np.abs(exact) + TINY
    assert (np.abs(k.block(A, B) - exact) <= error).all(), f"block of {k!r}"
    assert (np.abs(k.block(scipy.sparse.csr_array(A), B) - exact) <= error).all(), f"sparse block of {k!r}"
    pairs = np.array([[k(a, b) for b in B] for a in A])
    assert (np.abs(pairs - exact) <= error).all(), f"pairs of {k!r}"


@pytest.mark.parametrize("scale", SCALES)
def test_values_at_every_scale(scale: float) -> None:
    for k in kernels(scale):
        check(k, scale * X, scale * Y)
        assert np.array_equal(k.block(X), k.block(X).T)


def test_values_of_points_at_many_scales() -> None:
    points = np.array([[0.0, 0.0], [1e-200, 0.0], [1e-200, 3e-200], [1.0, 1e-200], [1.0, 0.0], [1e200, 1.0]])
    for k in (PowerDistance(1.0), PowerDistance(0.5), RationalQuadratic(1.0, 0.3), PowerExponential(0.05)):
        check(k, points, points)
        K = k.block(points)
        assert np.array_equal(K, K.T)
        assert np.array_equal(K.diagonal(), k.diagonal(points))


def test_single_precision() -> None:
    for scale in (1e-30, 1e-22, 1.0, 1e22, 1e30):
        A = (scale * X).astype(np.float32)
        for k in (
            PowerDistance(1.0),
            PowerDistance(0.5),
            RationalQuadratic(1.0, 0.3),
            PowerExponential(0.05),
        ):
            exact = np.array([[float(k.precise(a, b)) for b in A] for a in A])
            K = k.block(A)
            np.testing.assert_allclose(K, exact, rtol=1e-5)
            np.testing.assert_allclose(k._tiles_of_blocks(A, None), exact, rtol=1e-5)


def test_the_distance_itself() -> None:
    assert PowerDistance(1.0)([0.0], [1e-200]) == 1e-200
    assert PowerDistance(1.0)([0.0], [1e160]) == 1e160
    assert PowerDistance(1.0).block([[0.0], [1e160]])[0, 1] == 1e160
    with pytest.raises(ParameterError, match=r"`p=2\.0` overflows"):
        PowerDistance(2.0)([0.0], [1e160])
