r"""Fewer support vectors for nearly the same decisions.

The functions :math:`f_p = \sum_i a_{ip} k(x_i, \cdot)` of a machine are projected onto the span of few of its
support vectors.  These are chosen one after the other, each time the one that takes most from what is left of
the functions (orthogonal matching pursuit in feature space, by an incremental Cholesky factor), until no
decision value at a support vector changes by more than a tolerance.

Cost: O(m^2 r) for m support vectors of which r are kept, and the m x m matrix of their kernel values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

__all__ = ["Compression", "Projection", "project"]

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Compression:
    """What a compression did.

    Attributes
    ----------
    before, after : int
        Numbers of support vectors.
    change : float
        Largest change of a decision value, measured at the support vectors and at the points given.
    norm : float
        Norm of the change in feature space: no decision value at any x changes by more than
        ``norm * sqrt(k(x, x))``.
    """

    before: int
    after: int
    change: float
    norm: float


class Projection(NamedTuple):
    """Chosen positions, their coefficients (one column per function), and the squared norms of the rest."""

    chosen: NDArray[np.intp]
    coefficients: Matrix
    residual: NDArray[np.float64]


def project(K: Matrix, A: Matrix, tol: float) -> Projection:
    """Project the functions with coefficients ``A`` onto as few columns as ``tol`` allows.

    Parameters
    ----------
    K : array of shape (m, m)
        Kernel values of the support vectors.
    A : array of shape (m, p)
        Coefficients of p functions.
    tol : float
        Largest change of a function value at the m points.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.ones((3, 3))  # three copies of one point
    >>> chosen, coefficients, rest = project(K, np.array([[1.0], [2.0], [3.0]]), 1e-9)
    >>> len(chosen), coefficients.ravel(), rest.round(12)
    (1, array([6.]), array([0.]))
    """
    m = len(K)
    left = K @ A  # values of what is left of the functions
    squared = np.einsum("ip,ip->p", A, left)
    distance = K.diagonal().copy()  # squared distances from the span of the chosen ones
    # a support vector closer than this to the span of the chosen ones, relative to its norm, adds nothing
    floor = 1e-10 * np.maximum(distance, np.finfo(float).tiny)
    factor, heights = np.empty((m, 0)), np.empty((0, A.shape[1]))
    chosen: list[int] = []
    while len(chosen) < m and np.abs(left).max(initial=0.0) > tol:
        usable = distance > floor
        usable[chosen] = False
        if not usable.any():
            break
        gain = np.where(usable, np.einsum("ip,ip->i", left, left), -1.0)
        i = int(np.argmax(gain / np.where(usable, distance, 1.0)))
        if gain[i] <= 0:
            break
        if len(chosen) == factor.shape[1]:  # double the buffer
            grown = np.empty((m, max(16, 2 * len(chosen))))
            grown[:, : len(chosen)] = factor[:, : len(chosen)]
            factor = grown
        known = factor[:, : len(chosen)]
        root = np.sqrt(distance[i])
        column = (K[i] - known @ known[i]) / root
        height = left[i] / root
        factor[:, len(chosen)] = column
        heights = np.vstack([heights, height])
        left -= np.outer(column, height)
        distance -= column**2
        squared = squared - height**2
        chosen.append(i)
    index = np.array(chosen, dtype=np.intp)
    triangle = factor[index, : len(chosen)]
    coefficients = linalg.solve_triangular(triangle, heights, lower=True, trans="T") if chosen else heights
    return Projection(index, np.asarray(coefficients), np.maximum(squared, 0.0))
