"""Rows of Gaussian Gram matrices in single precision throughout, for solvers that check their result.

Two to four times as quick as rows that are exact up to their rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mercer import _native
from mercer.engine.arrays import reused
from mercer.engine.program import Program
from mercer.engine.runs import checkpoint
from mercer.engine.threads import num_threads

__all__ = ["Cloud", "RoughRows"]

Array: TypeAlias = npt.NDArray[Any]

#: The steps of exp(-c |x - y|^2), and of its check.
GAUSSIAN = [_native.SQEUCLIDEAN, _native.SCALE, _native.EXP, _native.WITHIN]

#: Largest c |x - m|^2, with the mean m: values are off by about 2^-23 of that, relative to themselves.  Few
#: points are that far from the mean, and nearly all of their values are zero.
MOST_SPREAD = 4000.0

#: Rows that are scaled at a time.
ROWS_AT_A_TIME = 4096

#: Features up to which a value is computed in less time than it is picked from a row that is not in cache.
FEW_FEATURES = 48

#: Multiplications and additions of one native call, so that Ctrl-C is seen.
CALL_OPERATIONS = 4e9


class Cloud(NamedTuple):
    """Dense points with the kernel ``exp(-c |x - y|^2)``."""

    points: Array
    c: float
    mean: Array
    spread: float  # largest c |x - mean|^2

    @staticmethod
    def of(program: Program | None) -> Cloud | None:
        """What a program computes the kernel of, if it is this one."""
        if program is None or program.steps[:, 0].tolist() != GAUSSIAN or not program.symmetric:
            return None
        points, c = program.points[0].left, -float(program.parameters[0])
        if not isinstance(points, np.ndarray) or points.dtype.kind != "f" or not c > 0 or not points.size:
            return None
        # Squares of huge numbers overflow; they are too far apart as well.
        with np.errstate(over="ignore", invalid="ignore"):
            mean = points.mean(axis=0, dtype=np.float64)
            spread = max(
                float(np.square(points[i : i + ROWS_AT_A_TIME] - mean).sum(axis=1).max())
                for i in range(0, len(points), ROWS_AT_A_TIME)
            )
        return Cloud(points, c, mean, c * spread)

    def scaled(self, factor: float, dtype: npt.DTypeLike) -> Array:
        """``factor (x - mean)``."""
        result = np.empty(self.points.shape, dtype=dtype)
        for i in range(0, len(result), ROWS_AT_A_TIME):
            result[i : i + ROWS_AT_A_TIME] = factor * (self.points[i : i + ROWS_AT_A_TIME] - self.mean)
        return result


class RoughRows:
    """Rows of ``exp(-c |x - y|^2)`` on dense points."""

    def __init__(self, scaled: Array) -> None:
        """Of points that are scaled so that the kernel is ``2 ** (-|x - y|^2 / 2)``, in single precision."""
        self._points, self._native = scaled, _native.RoughRows(scaled)

    @staticmethod
    def of(program: Program | None) -> RoughRows | None:
        """Those of a program, if it is a Gaussian kernel on points that are not too far from each other."""
        cloud = Cloud.of(program)
        if cloud is None or cloud.spread > MOST_SPREAD:
            return None
        return RoughRows(cloud.scaled((2 * cloud.c * np.log2(np.e)) ** 0.5, np.float32))

    @property
    def native(self) -> _native.RoughRows | None:
        """What computes them, if their values cost less than looking them up."""
        return self._native if self._points.shape[1] <= FEW_FEATURES else None

    def fill(self, rows: Array, slots: Array, out: Array) -> None:
        """Write the rows with these numbers to the rows ``slots`` of an array."""
        for part in self._calls(len(rows)):
            self._native.fill(rows[part], slots[part], out, num_threads())

    def product(self, rows: Array, factors: Array) -> Array:
        """``factors @ K[rows]``."""
        out, factors = np.zeros(len(self._points)), np.ascontiguousarray(factors, dtype=np.float64)
        for part in self._calls(len(rows)):
            self._native.add_product(rows[part], factors[part], out, num_threads())
        return out

    def _calls(self, rows: int, columns: int | None = None, unit: int = 1) -> Iterator[slice]:
        """Rows of one native call each, which begin at multiples of a unit."""
        n, features = self._points.shape
        each = max(1, (n if columns is None else columns) * features)
        step = unit * max(1, int(CALL_OPERATIONS / each / unit))
        for i in range(0, rows, step):
            if i > 0:
                checkpoint()
            yield slice(i, min(i + step, rows))

    def square(self, index: Array, out: Array) -> None:
        """Write values of some points with each other, on and below the diagonal; others mean nothing."""
        some = _native.RoughRows(self._points[index])
        for part in self._calls(len(index), len(index)):
            some.fill_lower(part.start, part.stop, out, num_threads())

    def whole(self) -> Array:
        """All of it."""
        n = len(self._points)
        result = reused((n, n), np.float32)
        for part in self._calls(n, n, _native.RoughRows.MIRRORED):
            self._native.fill_whole(part.start, part.stop, result, num_threads())
        return result
