r"""The spectrum of a kernel matrix by its alignment with targets that some of the points have.

With eigenvectors :math:`v_i` of a matrix of all points and :math:`u_i` their parts on the points with
targets, centred, the cosine between :math:`\sum_i w_i u_i u_i^\top`, w >= 0, and :math:`Y Y^\top` is largest
for the multiples of the minimum of

.. math:: \tfrac12 w^\top M w - a^\top w, \qquad M_{ij} = (u_i^\top u_j)^2, \quad a_i = |u_i^\top Y|^2 .

Weights that do not grow along the spectrum are sums of nonnegative steps, :math:`w_i = \sum_{j \ge i} s_j`:
the same problem in s.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .alignment import nonnegative_minimum
from .problem import Array

__all__ = ["AlignedSpectrum", "align_spectrum"]


class AlignedSpectrum(NamedTuple):
    """Weights (r,) of the eigenvectors, all zero if none goes with the targets, and the cosine."""

    weights: Array
    alignment: float


def align_spectrum(U: Array, Y: Array, *, order: bool) -> AlignedSpectrum:
    """Weights of the columns of U (l, r) that align best with the targets Y (l, c).

    Parameters
    ----------
    U, Y : arrays
        They are centred here.
    order : bool
        Whether weights may not grow from one column to the next.
    """
    longest = float((U**2).sum(axis=0).max(initial=0.0))
    U, Y = U - U.mean(axis=0), Y - Y.mean(axis=0)
    M, a = (U.T @ U) ** 2, ((U.T @ Y) ** 2).sum(axis=1)
    square = float(((Y.T @ Y) ** 2).sum())
    steps = np.tril(np.ones_like(M)) if order else np.eye(len(M))  # row j: what step j adds to the weights
    moments, gains = steps @ M @ steps.T, steps @ a
    scale = np.sqrt(np.diag(moments))
    # Directions whose centred matrix is shorter than this part of the longest, not centred, are rounding.
    used = scale > 1e-14 * longest
    found = np.zeros(len(a))
    if used.any() and gains[used].max() > 0:
        unit = scale[used]
        part = moments[np.ix_(used, used)] / np.outer(unit, unit)
        found[used] = nonnegative_minimum(part, gains[used] / unit, np.zeros(len(unit))) / unit
    weights = found @ steps
    norm = float(weights @ M @ weights) * square
    return AlignedSpectrum(weights, float(a @ weights) / norm**0.5 if norm > 0 else 0.0)
