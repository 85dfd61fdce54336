"""Rows of K for the two-variable steps: where they lie, how many are kept, how they are filled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _native
from ...engine.arrays import reused
from ...memory import memory_limit
from ..matrix import HeldMatrix, Matrix

__all__ = ["Rows"]

#: Rows and columns of a larger matrix are used in place if they lie in at most so many runs of neighbours.
MOST_RUNS = 16

#: Without a wish, the cache has so many bytes, or room for so many working sets, whichever is more.  A larger
#: one would save kernel values, but new memory costs about as much as computing what is put there.
CACHE_BYTES, CACHE_SETS = 1 << 29, 2.5

#: Values of at most so many elementary operations cost less than that: for them the cache has room for so
#: many working sets.
CHEAP, CHEAP_SETS = 160.0, 1.5

#: Rows that a cache must hold at least.
LEAST_ROWS = 64


class Rows(NamedTuple):
    """All of K, or memory for some of its rows."""

    array: NDArray[Any]
    places: NDArray[np.int64] | None  # rows and columns of the variables, if all of K is there
    source: Matrix
    is_rough: bool  # values are about right
    values: _native.RoughRows | None = None  # computes them again, if that is quicker than to pick them

    @staticmethod
    def of(matrix: Matrix, dtype: np.dtype[Any], cache_bytes: float | None) -> Rows:
        """What is there, or room for as many rows as the cache may have."""
        n = matrix.size
        if isinstance(matrix, HeldMatrix):
            if matrix.index is None:
                source = matrix.rough_source()
                values = None if source is None else source.native
                return Rows(matrix.whole, np.arange(n), matrix, matrix.is_reduced, values)
            if _has_few_runs(matrix.index):
                return Rows(matrix.whole, matrix.index, matrix, matrix.is_reduced)
            return Rows(matrix.dense(dtype), np.arange(n), matrix, matrix.is_reduced)
        each = dtype.itemsize * n
        budget = _budget(matrix, each) if cache_bytes is None else cache_bytes
        capacity = int(min(n, max(budget // each, min(n, LEAST_ROWS))))
        if capacity == n and n <= _native.SET_SIZE:
            return Rows(matrix.dense(dtype), np.arange(n), matrix, False)
        rough = matrix.rough() if dtype == np.float32 else None
        if rough is None:
            return Rows(reused((capacity, n), dtype), None, matrix, False)
        return Rows(reused((capacity, n), dtype), None, matrix, True, rough.native)

    def fetch(self, rows: list[int], slots: list[int]) -> None:
        """Compute some rows, to places of the cache."""
        self.source.rows(np.array(rows), np.array(slots), self.array, reduced=self.is_rough)


def _budget(matrix: Matrix, each: int) -> float:
    """Bytes for rows of so many bytes, without a wish."""
    if matrix.cost <= CHEAP:
        sets, least = CHEAP_SETS, 0
    else:
        sets, least = CACHE_SETS, CACHE_BYTES
    return min(memory_limit() / 2, max(least, sets * _native.SET_SIZE * each))


def _has_few_runs(index: NDArray[np.int64]) -> bool:
    """Whether positions increase, in few runs of neighbours."""
    gaps = np.diff(index)
    return bool((gaps > 0).all() and np.count_nonzero(gaps != 1) < MOST_RUNS)
