"""Kernels of the inner product."""

from __future__ import annotations

import numpy as np

from mercer.kernels import ExponentialDot, InverseRoot, Linear, Polynomial, Sigmoid
from mercer.kernels.cosine import Cosine

from ..cases import Case

__all__ = ["CASES"]

#: Zero, a repeated point, opposite points, parallel points of other length, tiny and large entries.
PLANE = np.array(
    [[0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [-1.0, -2.0], [0.5, 1.0], [1e-8, 0.0], [3.0, -4.0], [-0.3, 7.0]]
)
LINE = np.array([[0.0], [-0.0], [1.0], [-1.0], [0.1], [2.5], [-2.5], [1e-12]])
FAR = np.array([[1e30, 0.0], [0.0, 1e30], [1e-30, 1e-30], [0.0, 0.0], [-1e30, 1e30], [3.0, 4.0]])
BALL = np.array([[0.0, 0.0], [0.6, 0.0], [-0.6, 0.0], [0.6, 0.79], [0.6, 0.79], [-0.3, 0.2], [0.0, 0.999]])

CASES = [
    *(Case(Linear(), points) for points in (PLANE, LINE)),
    *(Case(Polynomial(degree), PLANE) for degree in (1, 2, 3, 7)),
    *(Case(Polynomial(3, offset), PLANE) for offset in (0.0, 0.25, -0.5)),
    Case(Polynomial(4, -2.0), LINE),
    *(Case(Polynomial(3, offset, sigma), PLANE) for offset, sigma in ((0.0, 2.0), (1.0, 0.3), (-0.5, 3.0))),
    *(Case(ExponentialDot(sigma), PLANE) for sigma in (1.0, 2.0, 30.0)),
    *(Case(Sigmoid(a, b), PLANE) for a, b in ((1.0, 0.0), (0.1, -1.0), (2.0, 3.0), (-0.5, 1.0), (0.0, 0.5))),
    Case(Sigmoid(0.0, -0.5), LINE),
    *(Case(Cosine(), points) for points in (PLANE, LINE, FAR)),
    *(Case(InverseRoot(), points) for points in (BALL, BALL[:, :1])),
]
