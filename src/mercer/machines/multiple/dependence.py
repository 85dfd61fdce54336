r"""Weights that are not determined because some matrices are sums of others.

Weights d are determined by the combined matrix :math:`\sum_l d_l K_l` unless others, :math:`x \ge 0` with the
same sum, combine to the same matrix.  The kernels in use must then be independent, and no sum of the others,
with nonnegative weights, may be in their span: of what is left of these outside of the span, zero must not
be a convex combination.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from ...solvers import KernelFamily

__all__ = ["undetermined"]

Vector = NDArray[np.float64]

#: Lengths and distances below this part of the lengths of the matrices are zero.
ROUNDING = 1e-8


def undetermined(family: KernelFamily, weights: Vector) -> NDArray[np.intp]:
    """Matrices whose weights could be others, with the same sum and the same combined matrix.

    Matrices are compared by their products with random vectors, of which there are as many as it takes to
    tell all of them apart.  Cost: one pass over the matrices.
    """
    m, n = len(family), family.size
    probes = np.random.default_rng(1).standard_normal((n, 1 + 2 * m // n))
    columns = np.vstack([family.images(probes).reshape(m, -1).T, np.zeros(m)])
    lengths = np.linalg.norm(columns, axis=0)
    columns[-1] = lengths.max()  # the sum of the weights
    columns /= np.linalg.norm(columns, axis=0)
    used = weights > 0
    left, values, right = np.linalg.svd(columns[:, used], full_matrices=False)
    if values[-1] <= ROUNDING * values[0]:
        among = np.abs(right[-1]) > ROUNDING
        return np.asarray(np.flatnonzero(used)[among])
    others = columns[:, ~used] - left @ (left.T @ columns[:, ~used])
    if not others.shape[1]:
        return np.empty(0, dtype=np.intp)
    share, distance = nnls(np.vstack([others, np.ones(others.shape[1])]), np.r_[np.zeros(len(others)), 1.0])
    if distance > ROUNDING:
        return np.empty(0, dtype=np.intp)
    change = np.zeros(m)
    change[~used] = share
    change[used] = -(right.T / values) @ (left.T @ (columns[:, ~used] @ share))
    return np.flatnonzero(np.abs(change) > ROUNDING)
