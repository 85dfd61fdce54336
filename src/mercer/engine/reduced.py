r"""Reduced precision of tile programs: single precision throughout, for solvers that check their result.

A program has a reduced form if its values are a function f of one number per pair, the squared distance or
the inner product of dense points: Gaussian, Matern and polynomial kernels, and their sums, products and
functions.  With :math:`a_i = |x_i|^2 / 2`, of points minus their mean, or with the same :math:`a_i` for all,
this number is a multiple of

.. math:: s = a_i + b_j - \langle x_i, y_j \rangle ,

or a constant minus one, in units in which s is between 0 and 1.  The native core (``native/reduced.hpp``)
computes s in registers, and f by *piecewise cubic polynomials* in s, on 32 segments for every power of two
from :math:`2^{-26}` on.  Their coefficients come from values of the program itself, in double precision.  So
rows of all these kernels take the same time: for 10 to 100 features a third to a half of that of rows of a
Matern kernel that are correct up to their rounding, and two thirds to a half of that of a Gaussian one.

All other programs ignore the request and give rows that are correct up to their rounding.  A table of
polynomials needs an axis for each number of a pair, so that there is none for ``Gaussian(1) * Polynomial(2)``
and for normalised kernels; values of packed zeros and ones are looked up already; sums over sparse rows have
loops of their own.  Those that would lose digits by it ignore it too (:data:`MOST_ERROR`,
:data:`MOST_ROUNDING`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mercer import _native
from mercer.engine.runs import checkpoint
from mercer.engine.tables import values_at
from mercer.engine.threads import num_threads

if TYPE_CHECKING:
    from mercer.engine.program import Program

__all__ = ["fill_reduced"]

Array: TypeAlias = npt.NDArray[Any]

#: Largest error of the polynomials, relative to a value plus that of a typical point with itself: rounding
#: to single precision.
MOST_ERROR = 2.0**-23

#: Rounding error of s, and the largest change of a value that it may cause, relative as above.  A Gaussian
#: kernel exceeds it if points are farther than 65 sigma from their mean; exp(-|x - y|) usually does, because
#: a distance near zero is the square root of rounding.
ROUNDING, MOST_ROUNDING = 2.0**-23, 1e-3

#: Smaller coefficients are zero: arithmetic on subnormal numbers is slow.
SMALLEST = 1e-30

#: Multiplications and additions of one native call, so that Ctrl-C is seen.
CALL_OPERATIONS = 4e9


def fill_reduced(program: Program, slots: Array, out: Array) -> bool:
    """Write the rows of a program to the rows ``slots`` of an array of float32; False if it cannot."""
    if len(program.points) != 1 or out.dtype != np.float32:
        return False
    X, Y = program.points[0].left, program.points[0].right
    if not isinstance(X, np.ndarray) or not isinstance(Y, np.ndarray) or X.dtype.kind != "f" or not Y.size:
        return False
    name = (program.steps.tobytes(), program.parameters.tobytes())
    columns = program.layouts.of(Y, lambda Y: _Columns.of(program, Y), name)
    rows = None if columns is None else columns.scale.points(X)
    if columns is None or rows is None:
        return False
    (x, a), (y, b) = rows, columns.points
    step = max(1, int(CALL_OPERATIONS / y.size))
    for i in range(0, len(x), step):
        if i > 0:
            checkpoint()
        part = slice(i, i + step)
        _native.fill_reduced(x[part], a[part], y, b, columns.coefficients, slots[part], out, num_threads())
    return True


class _Scale(NamedTuple):
    """The points of the native core, and what s stands for; 1 is twice the largest ``|y|^2``."""

    is_distance: bool
    mean: Array
    most: float

    def points(self, X: Array) -> tuple[Array, Array] | None:
        """Points with their numbers a; None if one is longer than the longest ``y``."""
        with np.errstate(over="ignore", invalid="ignore"):
            centred = X - self.mean
            squares = np.einsum("ij,ij->i", centred, centred)
        if not squares.max(initial=0.0) <= self.most:
            return None
        centred *= (2 * self.most) ** -0.5
        a = squares / (4 * self.most) if self.is_distance else np.full(len(X), 0.25)
        return centred.astype(np.float32), a.astype(np.float32)

    def number(self, s: Array) -> Array:
        """The squared distance, or the inner product, that belongs to s."""
        return self.most * (4 * s if self.is_distance else 1 - 2 * s)


class _Columns(NamedTuple):
    """The points of the columns, and the polynomials of a program on them."""

    scale: _Scale
    points: tuple[Array, Array]
    coefficients: Array

    @staticmethod
    def of(program: Program, Y: Array) -> _Columns | None:
        """None if the program has no reduced form on these points."""
        first = int(program.steps[0, 0])
        if first not in (_native.SQEUCLIDEAN, _native.DOT):
            return None
        is_distance = first == _native.SQEUCLIDEAN
        mean = Y.mean(axis=0, dtype=np.float64) if is_distance else np.zeros(Y.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.einsum("ij,ij->i", Y - mean, Y - mean)
        if not 1e-100 < squares.max() < 1e100:  # and not if there are infinite ones
            return None
        scale = _Scale(is_distance, mean, float(squares.max()))
        typical = 0.0 if is_distance else float(np.median(squares))

        def f(s: Array) -> Array | None:
            numbers = np.append(typical, scale.number(s))
            return values_at(numbers, program.steps, program.parameters, program.registers)

        coefficients, points = _interpolate(f), scale.points(Y)
        return None if coefficients is None or points is None else _Columns(scale, points, coefficients)


def _interpolate(f: Callable[[Array], Array | None]) -> Array | None:
    """Coefficients of the polynomials, a column for each segment; None if they are not accurate.

    ``f(s)`` gives the value of a typical point with itself, and then those at ``s``; None if there are none.
    """
    each, degree = _native.SEGMENTS_PER_BINADE, _native.DEGREE
    width = np.repeat(2.0 ** np.arange(-_native.BINADES, 0) / each, each)
    start = width * (each + np.arange(len(width)) % each)
    nodes = (1 - np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))) / 2  # of Chebyshev
    between = np.linspace(0.0, 1.0, degree + 2)
    at, checked = (start + width * u[:, np.newaxis] for u in (nodes, between))
    shifted = np.append(0.0, checked.ravel())
    values = f(np.concatenate([at.ravel(), shifted, shifted + ROUNDING]))
    if values is None:
        return None
    typical, known, exact, moved = np.split(values, [1, 1 + at.size, 1 + at.size + shifted.size])
    powers = np.arange(degree + 1)
    coefficients = np.linalg.solve(nodes[:, np.newaxis] ** powers, known.reshape(at.shape))
    error = between[:, np.newaxis] ** powers @ coefficients - exact[1:].reshape(checked.shape)
    unit = np.abs(typical) + np.abs(exact)
    if (np.abs(error).ravel() > MOST_ERROR * unit[1:]).any():
        return None
    if (np.abs(moved - exact) > MOST_ROUNDING * unit).any():
        return None
    coefficients[:, 0] = exact[0], *np.zeros(degree)  # of numbers that are zero but for rounding, too
    coefficients[np.abs(coefficients) < SMALLEST] = 0.0
    return coefficients.astype(np.float32)
