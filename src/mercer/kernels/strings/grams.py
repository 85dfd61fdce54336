"""n-grams as columns of a sparse matrix of counts.

An n-gram is named by one number, its key: its letters in base b, where b is the number of letters of the data, if
that fits into 63 bits.  Otherwise the names of two halves (which may overlap) are paired, and pairs are numbered in
the order of a sorted table: names of windows of 1, 2, 4... letters lead to those of n in log2(n) steps.  Either way
two n-grams have one name exactly if they are equal.

Names are those of one data set.  Another one is read in its names; what has none there, a letter or an n-gram that
did not occur, cannot match anything and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse

from mercer import _native

from ...engine.threads import num_threads
from .windows import Runs, Texts

__all__ = ["GramCounts", "Grams", "Names", "count_matrix"]

#: Keys are below this.
MOST_KEY = 1 << 62

#: Keys below this are columns as they are; others are numbered by a sorted table of those that occur.
MOST_DIRECT = 1 << 18


class Names:
    """Names of the n-grams of one data set: ``keys`` of windows, and ``columns`` for keys."""

    def __init__(self, n: int, base: int) -> None:
        self.n, self.base = n, base
        self.width = base**n
        self.is_packed = self.width <= MOST_KEY
        self._tables: list[np.ndarray] = []
        self._columns: np.ndarray | None = None

    def keys(self, runs: Runs, learn: bool) -> np.ndarray:
        """Key of every window, -1 if it has none; the data set that the names are of is there to be learnt."""
        if self.is_packed:
            keys = np.empty(int(runs.counts.sum()), dtype=np.int64)
            _native.window_keys(runs.native, np.arange(self.n), self.base, keys)
            return keys
        names = self._paired(runs.codes, learn)
        return np.asarray(names[_positions(runs)])

    def columns(self, keys: np.ndarray, learn: bool) -> np.ndarray:
        """Column of every key, -1 if it has none."""
        if self.is_packed and self.width <= MOST_DIRECT or not self.is_packed:
            return keys
        if learn:
            self._columns = np.unique(keys)
        assert self._columns is not None
        return _look_up(self._columns, keys)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        if self.is_packed and self._columns is None:
            return self.width
        return max(1, len(self._tables[-1] if self._columns is None else self._columns))

    def _paired(self, codes: np.ndarray, learn: bool) -> np.ndarray:
        """Names of the windows of n letters that begin at each place."""
        names = np.where(codes < self.base, codes, -1).astype(np.int64)
        width, count, level = 1, self.base, 0
        while width < self.n:
            step = min(width, self.n - width)
            left, right = names[: max(0, len(names) - step)], names[step:]
            pairs = np.where((left >= 0) & (right >= 0), left * count + right, -1)
            if learn:
                self._tables.append(np.unique(pairs[pairs >= 0]))
            names = _look_up(self._tables[level], pairs)
            width, count, level = width + step, len(self._tables[level]), level + 1
        return names


def _look_up(table: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Places of keys in a sorted table, -1 for those that it lacks."""
    if len(table) == 0:
        return np.full(len(keys), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(table, keys), len(table) - 1)
    return np.where(table[places] == keys, places, -1)


def _positions(runs: Runs) -> np.ndarray:
    """Where each window begins."""
    before = np.cumsum(runs.counts) - runs.counts
    return np.repeat(runs.begins - before, runs.counts) + np.arange(int(runs.counts.sum()))


def count_matrix(
    keys: np.ndarray, starts: np.ndarray, weights: np.ndarray | None, names: Names, learn: bool
) -> scipy.sparse.csr_array:
    """Counts (or sums of weights) of the keys of each row, as a canonical CSR array.

    Keys ``starts[i]`` to ``starts[i + 1] - 1`` are those of row i.  Both arrays are overwritten.
    """
    known = keys >= 0
    if not known.all():
        starts = np.concatenate([[0], np.cumsum(known)])[starts]
        keys, weights = keys[known], None if weights is None else weights[known]
    counts = np.empty(len(keys)) if weights is None else weights
    ends = np.empty(len(starts), dtype=np.int64)
    merge = _native.count_keys if weights is None else _native.sum_keys
    size = merge(keys, np.ascontiguousarray(starts), counts, ends, num_threads())
    columns = names.columns(keys[:size], learn)
    matrix = scipy.sparse.csr_array((counts[:size], columns, ends), shape=(len(starts) - 1, names.n_columns))
    if not learn and (columns < 0).any():
        matrix = _without_unknown(matrix, columns)
    return matrix


def _without_unknown(matrix: scipy.sparse.csr_array, columns: np.ndarray) -> scipy.sparse.csr_array:
    known = columns >= 0
    ends = np.concatenate([[0], np.cumsum(known)])[matrix.indptr]
    return scipy.sparse.csr_array((matrix.data[known], columns[known], ends), shape=matrix.shape)


#: Makes the matrix of counts of texts in given names; the last argument says whether names are to be learnt.
Read = Callable[[Texts, Texts, Names, bool], scipy.sparse.csr_array]


class Grams:
    """The counts of one data set for n-grams of one length, in its own names and in those of others."""

    def __init__(self, texts: Texts, read: Read, names: Names) -> None:
        self.texts, self.names = texts, names
        self._read = read
        self.own = read(texts, texts, names, True)
        self._others: WeakKeyDictionary[Names, scipy.sparse.csr_array] = WeakKeyDictionary()

    def like(self, other: Grams) -> scipy.sparse.csr_array:
        """Counts in the names of another data set."""
        if other is self:
            return self.own
        found = self._others.get(other.names)
        if found is None:
            found = self._others[other.names] = self._read(self.texts, other.texts, other.names, False)
        return found


class GramCounts:
    """Prepared sequences: rows of several matrices of counts, one for each length of n-grams."""

    def __init__(self, grams: tuple[Grams, ...], rows: np.ndarray | None = None) -> None:
        self.grams, self.rows = grams, rows

    def __len__(self) -> int:
        return len(self.grams[0].texts) if self.rows is None else len(self.rows)

    def take(self, index: slice | np.ndarray) -> GramCounts:
        """Select sequences."""
        rows = np.arange(len(self)) if self.rows is None else self.rows
        return GramCounts(self.grams, rows[index])

    def matrices(self, other: GramCounts | None = None) -> list[scipy.sparse.csr_array]:
        """Counts in the own names, or in those of other sequences."""
        partners = self.grams if other is None else other.grams
        found = [g.like(p) for g, p in zip(self.grams, partners, strict=True)]
        return found if self.rows is None else [matrix[self.rows] for matrix in found]
