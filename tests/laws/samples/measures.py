"""Samples of the kernels on Gaussian measures."""

from __future__ import annotations

import numpy as np

from mercer.kernels.divergences import GaussianJeffreys, Jeffreys
from mercer.kernels.measures import GaussianProduct, MeanVariance

from ..cases import Case

__all__ = ["CASES"]

#: Narrow, wide, far and repeated measures on the line.
ON_LINE = [(0.0, 1.0), (0.0, 1.0), (2.0, 1.0), (0.0, 1e-3), (-1.0, 50.0), (30.0, 0.5), (0.0, 1.0 + 1e-9)]

#: The same in the plane, with correlations.
IN_PLANE = [
    (np.array(mean), np.array(covariance))
    for mean, covariance in (
        ([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]),
        ([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]),
        ([1.0, -2.0], [[2.0, 0.9], [0.9, 0.5]]),
        ([1.0, -2.0], [[2.0, -0.9], [-0.9, 0.5]]),
        ([10.0, 10.0], [[1e-2, 0.0], [0.0, 30.0]]),
        ([0.0, 3.0], [[4.0, 0.0], [0.0, 4.0]]),
    )
]

#: Histograms without empty bins: nearly equal, repeated, and far apart.
HISTOGRAMS = np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.1], [1e-9, 1.0], [3.0, 4.0], [0.5, 0.5 + 1e-7]])

CASES: list[Case] = [
    Case(Jeffreys(), HISTOGRAMS),
    *(Case(GaussianJeffreys(), points) for points in (ON_LINE, IN_PLANE)),
    *(Case(GaussianProduct(power), points) for power in (0.3, 0.5, 1.0) for points in (ON_LINE, IN_PLANE)),
    *(Case(MeanVariance(), points) for points in (ON_LINE, IN_PLANE)),
]
