"""Values that are dear to compute, kept in memory: each pair of points is computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .indexing import Selection, positions

__all__ = ["KeptValues"]

#: Values of some points with others; with themselves if the second argument is None.
Compute: TypeAlias = Callable[[np.ndarray, np.ndarray | None], np.ndarray]


class KeptValues:
    """Symmetric matrix of values that are computed when first asked for, and then kept.

    Parameters
    ----------
    size : int
    compute : callable
        ``compute(rows, columns)`` gives the values of some rows and columns; with ``columns=None`` those of
        the rows with themselves, each pair computed once.

    Examples
    --------
    >>> import numpy as np
    >>> kept = KeptValues(3, lambda rows, columns: np.add.outer(rows, rows if columns is None else columns))
    >>> kept.block(slice(0, 2), slice(1, 3))
    array([[1., 2.],
           [2., 3.]])
    """

    def __init__(self, size: int, compute: Compute) -> None:
        self.values = np.zeros((size, size))
        self._known = np.zeros((size, size), dtype=bool)
        self._compute, self.is_complete = compute, size == 0

    @staticmethod
    def nbytes_of(size: int) -> int:
        """Memory that a matrix of this size takes."""
        return 9 * size * size

    def block(self, rows: Selection, cols: Selection) -> np.ndarray:
        """Values of some rows and columns; for slices a view, not to be written to."""
        if not self.is_complete:
            self._complete(np.unique(positions(rows)), np.unique(positions(cols)))
            self.is_complete = bool(self._known.all())
        if isinstance(rows, slice) or isinstance(cols, slice):
            values: np.ndarray = self.values[rows, cols]
            return values
        return np.asarray(self.values[np.ix_(rows, cols)])

    def diagonal(self) -> np.ndarray | None:
        """Values of each point with itself, if they are known."""
        return self.values.diagonal().copy() if self._known.diagonal().all() else None

    def select(self, index: np.ndarray, compute: Compute) -> KeptValues:
        """The same for some of the points: what is known of them stays known."""
        result = KeptValues(len(index), compute)
        if self._known.any():
            square = np.ix_(index, index)
            result.values, result._known = self.values[square], self._known[square]
            result.is_complete = bool(result._known.all())
        return result

    def _complete(self, rows: np.ndarray, cols: np.ndarray) -> None:
        """Compute what is missing of a block: rows that lack the same columns make a rectangle."""
        if not len(rows) or not len(cols):
            return
        missing = ~self._known[_place(rows, cols)]
        if not missing.any():
            return
        if missing.all():
            first, group = np.zeros(1, dtype=np.intp), np.zeros(len(rows), dtype=np.intp)
        else:
            packed = np.packbits(missing, axis=1)
            _, first, group = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        for g, row in enumerate(first):
            left, right = rows[group.ravel() == g], cols[missing[row]]
            both = np.intersect1d(left, right)
            if not len(right):
                continue
            if len(both):  # a triangle; what is left of the rectangle has no pair in both orders
                self._put(both, both, self._compute(both, None))
                self._complete(left, right)
            elif self._known[_place(left, right)].any():  # another group has computed k(y, x)
                self._complete(left, right)
            else:
                self._put(left, right, self._compute(left, right))

    def _put(self, rows: np.ndarray, cols: np.ndarray, values: np.ndarray) -> None:
        place = _place(rows, cols)
        self.values[place], self._known[place] = values, True
        if rows is not cols:
            mirror = _place(cols, rows)
            self.values[mirror], self._known[mirror] = values.T, True


def _place(rows: np.ndarray, cols: np.ndarray) -> Any:
    """A rectangle of increasing positions, as slices where they are neighbours: copies are faster then."""
    ends = [(int(index[0]), int(index[-1]) + 1) for index in (rows, cols)]
    if all(stop - start == len(index) for (start, stop), index in zip(ends, (rows, cols), strict=True)):
        return slice(*ends[0]), slice(*ends[1])
    return np.ix_(rows, cols)
