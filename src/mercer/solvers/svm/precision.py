"""What may be in single precision: which rows of K, and by how much that changes the gradient."""

from __future__ import annotations

import numpy as np

from ..matrix import HeldMatrix, Matrix
from .problem import BoxProblem, Vector

__all__ = [
    "DOUBLE_TOLERANCE",
    "can_be_single",
    "is_certain",
    "is_small",
    "is_steep",
    "rounding_of",
    "rounding_of_quick",
    "size_of",
]

#: Problems up to this size hold all of K, in double precision.
SMALL = 1024

#: Tolerances below this ask for rows in double precision.
DOUBLE_TOLERANCE = 1e-5

#: Relative rounding of a value of K in single precision, and a little for how it was computed.
ROUNDING_OF_SINGLE = 1.1 * 2.0**-24

#: The same for values of Gaussian kernels, which are at most 1, from quick squared distances.
ROUNDING_OF_QUICK = 2.0**-31

#: Relative rounding of a number in double precision.
ROUNDING_OF_DOUBLE = 2.0**-53

#: What is left of it in a sum of many terms, relative to the sum of their magnitudes.
TYPICAL = 1 / 8

#: Values of K, at their largest, whose products and sums single precision holds.
SINGLE_RANGE = (1e-25, 1e25)


def rounding_of(size: float) -> float:
    """By how much rounding K to single precision changes the gradient at most.

    A value of K is rounded by at most 2^-24 of itself, and was computed with an error far below that, so the
    gradient, a sum in double precision, changes by at most 2^-24 of ``size``, the largest sum of
    ``|K_ij b_j|`` over j.
    """
    return ROUNDING_OF_SINGLE * size


def rounding_of_quick(b: Vector) -> float:
    """By how much quick squared distances change the gradient of a Gaussian kernel at most."""
    return ROUNDING_OF_QUICK * float(np.abs(b).sum())


def size_of(b: Vector, diagonal: Vector) -> float:
    """A bound of the sums of ``|K_ij b_j|`` over j, if K has no negative eigenvalue."""
    roots = np.sqrt(np.abs(diagonal))
    with np.errstate(over="ignore", invalid="ignore"):
        return float(roots.max(initial=0.0)) * float(roots @ np.abs(b))


def is_certain(violation: float, size: float, tol: float) -> bool:
    """Whether a violation is at most ``tol`` also for others, who round sums of this size in other places.

    Roundings of many terms cancel for the most part: what two ways of adding differ by was measured to be up
    to a quarter of the rounding of one term as large as the sum, mostly a tenth.
    """
    return violation + TYPICAL * ROUNDING_OF_DOUBLE * size <= tol


def is_small(rounding: float, tol: float) -> bool:
    """Whether a violation, the difference of two numbers of the gradient, can be trusted all the same."""
    return rounding <= 0.1 * tol


def can_be_single(matrix: Matrix, tol: float) -> bool:
    """Whether rows of K are kept in single precision."""
    if isinstance(matrix, HeldMatrix):
        return bool(matrix.whole.dtype == np.float32)
    return matrix.size > SMALL and tol >= DOUBLE_TOLERANCE


def is_steep(problem: BoxProblem, diagonal: Vector) -> bool:
    """Whether single precision does not hold K, or rounds what one variable adds by more than the targets."""
    largest = float(np.abs(diagonal).max(initial=0.0))
    if largest > 0 and not SINGLE_RANGE[0] < largest < SINGLE_RANGE[1]:
        return True
    capacity = np.maximum(problem.high, -problem.low)
    with np.errstate(over="ignore"):
        added = np.abs(diagonal) * np.where(np.isfinite(capacity), capacity, 0.0)
    size = float(np.abs(problem.linear).max(initial=0.0))
    return size > 0 and ROUNDING_OF_SINGLE * float(added.max(initial=0.0)) > size
