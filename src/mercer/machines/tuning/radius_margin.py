r"""The radius-margin bound of support vector machines, with its derivatives.

.. math:: B = \frac{4}{n} \Big(R^2 + \frac1C\Big) \Big(\|f\|^2 + 2 \sum_i C_i \xi_i\Big)

bounds the share of leave-one-out errors of a machine with an offset; R is the radius of the smallest ball
around the points (see :func:`mercer.guarantees.radius_margin_bound`, which is smaller for finite C and no
better to minimise: it prefers C = 0).  Without an offset :math:`\max k(x, x)` takes the place of :math:`4
R^2`.  Both factors are optimal values of quadratic problems, so that their derivatives need only the
solutions (Danskin): :math:`d R^2 = \sum_i a_i \, dK_{ii} - a^\top dK \, a`, and half of the second factor has
:math:`-\frac12 \beta^\top dK \, \beta + \sum_i \xi_i \, dC_i`.

Source: Vapnik 1998; Chapelle, Vapnik, Bousquet and Mukherjee 2002; the form for finite C is that of Chung,
Kao, Sun, Wang and Lin 2003.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .objectives import Weights

__all__ = ["Ball", "radius_margin"]

Vector: TypeAlias = NDArray[np.float64]


class Ball(NamedTuple):
    """A squared radius, and the weights of the points in the centre.

    Without an offset the centre is zero: ``squared_radius`` is the largest k(x, x), ``self_weights`` has a
    one at its place, and ``weights`` are zero.
    """

    squared_radius: float
    self_weights: Vector  # of K_ii in the differential
    weights: Vector  # of the centre


def radius_margin(
    beta: Vector, squared_norm: float, loss: float, ball: Ball, C: float, factor: float
) -> tuple[float, Weights]:
    """The logarithm of B, and the weights of its differential.

    Parameters
    ----------
    beta : array of shape (n,)
        Signed dual variables of the points that the weights are for.
    squared_norm : float
        Of f.
    loss : float
        The sum of the C_i xi_i.
    ball : Ball
    C : float
        Price of errors; inf for the hard margin.
    factor : float
        4 / n with an offset, else 1 / n.
    """
    radius, twice = ball.squared_radius + 1.0 / C, squared_norm + 2 * loss
    a, b = ball.weights, beta

    def tile(rows: slice, cols: slice) -> Vector:
        W = -np.outer(a[rows], a[cols]) / radius - np.outer(b[rows], b[cols]) / twice
        same, i, j = np.intersect1d(
            np.arange(rows.start, rows.stop), np.arange(cols.start, cols.stop), return_indices=True
        )
        W[i, j] += ball.self_weights[same] / radius
        return np.asarray(W)

    ridge = 0.0 if np.isinf(C) else (2 * loss / twice - 1.0 / (C * radius)) / C
    return float(np.log(factor * radius * twice)), Weights(tile, len(beta), ridge)
