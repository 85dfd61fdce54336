"""Reduced precision of tile programs: single precision throughout, for solvers that check their result.

A Gaussian kernel on dense points is the one program with a reduced form (``native/reduced.hpp``): inner
products, squared distances and powers of a tile stay in registers as floats, which takes a third to a
seventh of the time of rows that are correct up to their rounding.  All other programs ignore the request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mercer import _native
from mercer.engine.runs import checkpoint
from mercer.engine.threads import num_threads

if TYPE_CHECKING:
    from mercer.engine.program import Program

__all__ = ["fill_reduced"]

Array: TypeAlias = npt.NDArray[Any]

#: The steps of exp(-c |x - y|^2), and of its check.
GAUSSIAN = [_native.SQEUCLIDEAN, _native.SCALE, _native.EXP, _native.WITHIN]

#: Largest c |x - m|^2, with the mean m: values are off by about 2^-23 of that, relative to themselves.  Few
#: points are that far from the mean, and nearly all of their values are zero.
MOST_SPREAD = 4000.0

#: Multiplications and additions of one native call, so that Ctrl-C is seen.
CALL_OPERATIONS = 4e9


def fill_reduced(program: Program, slots: Array, out: Array) -> bool:
    """Write the rows of a program to the rows ``slots`` of an array of float32; False if it cannot."""
    if program.steps[:, 0].tolist() != GAUSSIAN or out.dtype != np.float32:
        return False
    X, Y, c = program.points[0].left, program.points[0].right, -float(program.parameters[0])
    if not isinstance(X, np.ndarray) or not isinstance(Y, np.ndarray) or X.dtype.kind != "f" or not c > 0:
        return False
    if not Y.size:
        return False
    mean = Y.mean(axis=0, dtype=np.float64)
    x, y = (_scaled(points, mean, c) for points in (X, Y))
    if x is None or y is None:
        return False
    step = max(1, int(CALL_OPERATIONS / y.size))
    for i in range(0, len(x), step):
        if i > 0:
            checkpoint()
        _native.fill_reduced(x[i : i + step], y, slots[i : i + step], out, num_threads())
    return True


def _scaled(points: Array, mean: Array, c: float) -> Array | None:
    """Points whose kernel is ``2 ** (-|x - y|^2 / 2)``; None if they are too far from the mean."""
    with np.errstate(over="ignore", invalid="ignore"):  # huge numbers are too far as well
        scaled = points - mean
        scaled *= (2 * c * np.log2(np.e)) ** 0.5
        squares = np.einsum("ij,ij->i", scaled, scaled)
    if not squares.max(initial=0.0) <= 2 * np.log2(np.e) * MOST_SPREAD:
        return None
    return scaled.astype(np.float32)
