"""Kernels of the Euclidean distance."""

from __future__ import annotations

import numpy as np

from mercer.kernels.mahalanobis import Mahalanobis
from mercer.kernels.matern import Matern
from mercer.kernels.powers import PowerDistance, PowerExponential
from mercer.kernels.radial import Exponential, Gaussian, RationalQuadratic

from ..cases import Case

__all__ = ["CASES"]

#: Zero, a repeated point, near points, points far from the others.
PLANE = np.array(
    [[0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [-1.0, 0.5], [1e-7, 0.0], [3.0, -4.0], [40.0, 1.0], [-0.2, 0.3]]
)
LINE = np.array([[0.0], [1.0], [1.0 + 1e-9], [-2.0], [0.25], [7.0], [1e3]])
OFFSET = PLANE + np.array([1e6, -3e5])
WIDTHS = np.array([0.5, 3.0])

CASES = [
    *(Case(Gaussian(sigma), PLANE) for sigma in (1.0, 0.1, 50.0, WIDTHS, "median", "scale")),
    *(Case(Gaussian(sigma), OFFSET) for sigma in (1.3, WIDTHS)),
    *(Case(Exponential(sigma), PLANE) for sigma in (1.0, 5.0, WIDTHS, "median")),
    *(Case(Exponential(0.7), points) for points in (LINE, OFFSET)),
    *(Case(RationalQuadratic(sigma), PLANE) for sigma in (1.0, WIDTHS, "scale")),
    *(Case(RationalQuadratic(2.0, alpha), PLANE) for alpha in (0.1, 0.5, 3.0)),
    *(Case(Matern(nu), PLANE) for nu in (0.3, 0.5, 1.0, 1.5, 2.0, 2.5, 4.2, 60.0)),
    *(Case(Matern(nu, WIDTHS), PLANE) for nu in (0.5, 0.8, 1.5, 2.5, 3.3)),
    Case(Matern(1.5, "median"), LINE),
    *(Case(PowerExponential(p), PLANE) for p in (0.3, 1.0, 1.5, 2.0, 2.01, 4.0)),
    *(Case(PowerExponential(p, WIDTHS), PLANE) for p in (1.2, 3.0)),
    Case(PowerExponential(1.7, "median"), LINE),
    *(Case(PowerDistance(p), PLANE) for p in (0.5, 1.0, 1.5, 2.0, 2.5)),
    Case(PowerDistance(1.5), OFFSET),
    *(
        Case(Mahalanobis(np.array(matrix)), points)
        for matrix in ([[2.0, 0.5], [0.5, 1.0]], [[1.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]])
        for points in (PLANE, OFFSET)
    ),
]
