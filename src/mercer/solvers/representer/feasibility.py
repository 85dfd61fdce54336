r"""Whether any function satisfies the constraints, and if none does, a proof.

Predictions :math:`F = K a + b` must lie in a box :math:`D = \prod_i [l_i, h_i]`.  They form a linear space.
 If it misses the box, the shortest difference :math:`d = z - F` of a point z of the box and a point of the
space is orthogonal to the space, and :math:`d^\top z' \ge |d|^2 > 0` for all :math:`z' \in D` (Farkas'
lemma): the constraints of the rows with :math:`d_i \ne 0` contradict each other.  It is a least-squares
problem with bounds.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from ...errors import InfeasibleError
from ..constraints import least_over
from .generic import Coordinates

__all__ = ["contradiction", "refuse_contradictions", "size_of"]

Vector: TypeAlias = NDArray[np.float64]


def refuse_contradictions(R: Coordinates, low: Vector, high: Vector, intercept: bool) -> None:
    """Raise :class:`~mercer.errors.InfeasibleError` if no function has predictions in the box."""
    d = contradiction(R, low, high, intercept)
    if d is not None:
        raise InfeasibleError("no function satisfies the constraints", np.flatnonzero(d), d)


def contradiction(R: Coordinates, low: Vector, high: Vector, intercept: bool) -> Vector | None:
    """Numbers d with ``d'F = 0`` for all functions and ``d'z >= 1`` for all of the box; None if not found."""
    outside = R.complement(intercept).copy()  # orthonormal columns
    rows = np.linalg.norm(outside, axis=1)
    # Entries of a certificate, and rows of the complement, below this part of the largest are rounding.
    negligible = 1e-6
    outside[rows <= negligible * rows.max(initial=0.0)] = 0.0  # large z would fit what rounding left there
    unit = size_of(low, high)
    low, high = low / unit, high / unit
    if not outside.shape[1]:
        return None
    fixed = low == high
    z = np.where(fixed, low, 0.0)
    if not fixed.all():
        bounds = low[~fixed], high[~fixed]
        z[~fixed] = lsq_linear(outside[~fixed].T, -outside.T @ z, bounds, method="bvls").x
    d = outside @ (outside.T @ z)
    # A difference this small, relative to the box, may be rounding.
    if float(np.abs(d).max()) <= 1e-7 * max(float(np.abs(z).max()), 1.0):
        return None
    d[np.abs(d) <= negligible * np.abs(d).max()] = 0.0
    least = float(least_over(low, high, d).sum())
    return d / (least * unit) if 0 < least < np.inf else None


def size_of(low: Vector, high: Vector) -> float:
    """The largest end that is finite; 1 if all are zero or infinite."""
    ends = np.abs(np.concatenate([low, high]))
    return float(ends[np.isfinite(ends)].max(initial=0.0)) or 1.0
