"""n-grams as columns of a sparse matrix of counts.

An n-gram is named by one number, its key: its letters in base b, where b is the number of letters of the
data, if that fits into 63 bits.  Otherwise as many letters as fit are numbered in the order of a sorted
table, then pairs of such names: windows of w, 2w, 4w... letters (the last two may overlap) lead to those
of n in log2(n / w) steps.  Either way two n-grams have one name exactly if they are equal.

Names are those of one data set.  Another one is read in its names; what has none there, a letter or an
n-gram that did not occur, cannot match anything and is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from mercer import _native

from ...caches import Cache
from ...engine.threads import num_threads
from .windows import Runs, Texts

__all__ = ["Counted", "GramCounts", "Grams", "Names", "join_counted", "merge_keys"]

#: Keys are below this.
MOST_KEY = 1 << 62

#: Keys below this are columns as they are; others are numbered by a sorted table of those that occur.
MOST_DIRECT = 1 << 18

#: Windows, and the offsets of the letters in them that count.
Shape = tuple[Runs, np.ndarray]


class Counted(NamedTuple):
    """Keys of each row in order and what they count; row i has those from ``ends[i]`` to ``ends[i + 1]``."""

    keys: np.ndarray
    counts: np.ndarray
    ends: np.ndarray


class Names:
    """Names of the n-grams of one data set: ``keys`` of windows, and columns for keys."""

    def __init__(self, n: int, base: int) -> None:
        self.n, self.base = n, base
        #: Number of possible n-grams; of all too many a number that is too large.
        self.width = base**n if base == 1 or n < MOST_KEY.bit_length() else 2 * MOST_KEY
        self.is_packed = self.width <= MOST_KEY
        self._tables: list[np.ndarray] = []  # pairs of names by the names of their pairs, level by level
        self._columns: np.ndarray | None = None

    def keys(self, shapes: Sequence[Shape], learn: bool) -> np.ndarray:
        """Key of every window, -1 if it has none; to learn means that the names are those of this data."""
        if self.is_packed:
            parts = [self._packed(*shape) for shape in shapes]
            return np.concatenate(parts) if len(parts) > 1 else parts[0]
        if len(shapes) == 1 and shapes[0][1][-1] == self.n - 1:
            runs = shapes[0][0]
            return np.asarray(self._doubled(runs.codes, learn)[runs.positions])
        return self._letter_by_letter(shapes, learn)

    def _packed(self, runs: Runs, offsets: np.ndarray) -> np.ndarray:
        keys = np.empty(int(runs.counts.sum()), dtype=np.int64)
        _native.window_keys(runs.native, offsets, self.base, keys)
        unknown = runs.codes >= self.base
        if unknown.any():
            positions = runs.positions
            for offset in offsets:
                keys[unknown[positions + offset]] = -1
        return keys

    def _doubled(self, codes: np.ndarray, learn: bool) -> np.ndarray:
        """Names of the n letters from each place on, out of those of w, 2w, 4w... letters.

        The first w letters are as many as fit into a number.
        """
        width = 1
        while self.base ** (width + 1) <= MOST_KEY:  # at least two letters: with one all n-grams are packed
            width += 1
        windows = max(0, len(codes) - width + 1)
        run = Runs(codes, np.zeros(1, dtype=np.int64), np.array([windows]), np.array([0, 1]))
        names, level = self._rank(self._packed(run, np.arange(width)), 0, learn), 0
        while width < self.n:
            step = min(width, self.n - width)
            left, right = names[: max(0, len(names) - step)], names[step:]
            names = self._pair(left, right, len(self._tables[level]), level + 1, learn)
            width, level = width + step, level + 1
        return names

    def _letter_by_letter(self, shapes: Sequence[Shape], learn: bool) -> np.ndarray:
        """Names of the letters at the offsets of all windows."""
        names = np.zeros(sum(int(runs.counts.sum()) for runs, _ in shapes), dtype=np.int64)
        for level in range(self.n):
            found = np.concatenate([runs.codes[runs.positions + offsets[level]] for runs, offsets in shapes])
            letters = np.where(found < self.base, found, -1).astype(np.int64)
            names = self._pair(names, letters, self.base, level, learn)
        return names

    def _pair(self, left: np.ndarray, right: np.ndarray, count: int, level: int, learn: bool) -> np.ndarray:
        """Names of pairs of names, the right ones below a count: places in a table of those that occur."""
        return self._rank(np.where((left >= 0) & (right >= 0), left * count + right, -1), level, learn)

    def _rank(self, keys: np.ndarray, level: int, learn: bool) -> np.ndarray:
        if learn:
            self._tables.append(np.unique(keys[keys >= 0]))
        return _look_up(self._tables[level], keys)

    def matrix(self, counted: Counted, learn: bool) -> scipy.sparse.csr_array:
        """Counts as a canonical CSR array; keys without a column are left out."""
        keys, counts, ends = counted
        if learn and self.is_packed and self.width > MOST_DIRECT:
            self._columns = np.unique(keys)
        columns = keys if self._columns is None else _look_up(self._columns, keys)
        known = columns >= 0
        if not known.all():
            columns, counts = columns[known], counts[known]
            ends = np.concatenate([[0], np.cumsum(known)])[ends]
        width = self.n_keys if self._columns is None else len(self._columns)
        return scipy.sparse.csr_array((counts, columns, ends), shape=(len(ends) - 1, max(1, width)))

    @property
    def n_keys(self) -> int:
        """All keys are below this."""
        return self.width if self.is_packed else len(self._tables[-1])


def _look_up(table: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Places of keys in a sorted table, -1 for those that it lacks."""
    if len(table) == 0:
        return np.full(len(keys), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(table, keys), len(table) - 1)
    return np.where(table[places] == keys, places, -1)


def merge_keys(keys: np.ndarray, starts: np.ndarray, weights: np.ndarray | None, names: Names) -> Counted:
    """Count the keys of each row, ``starts[i]`` to ``starts[i + 1] - 1``, or add up their weights.

    Keys without a name are left out.  The arrays are overwritten.
    """
    known = keys >= 0
    if not known.all():
        starts = np.concatenate([[0], np.cumsum(known)])[starts]
        keys, weights = keys[known], None if weights is None else weights[known]
    ends = np.empty(len(starts), dtype=np.int64)
    if weights is None:
        counts = np.empty(len(keys))
        size = _native.count_keys(keys, starts, names.n_keys, counts, ends, num_threads())
    else:
        counts = weights
        size = _native.sum_keys(keys, starts, counts, ends, num_threads())
    return Counted(keys[:size], counts[:size], ends)


def join_counted(parts: Sequence[Counted]) -> Counted:
    """The rows of several parts one after the other."""
    if len(parts) == 1:
        return parts[0]
    sizes = np.cumsum([0, *(len(part.keys) for part in parts)])
    ends = [part.ends[1:] + size for part, size in zip(parts, sizes[:-1], strict=True)]
    return Counted(
        np.concatenate([np.empty(0, dtype=np.int64), *(part.keys for part in parts)]),
        np.concatenate([np.empty(0), *(part.counts for part in parts)]),
        np.concatenate([np.zeros(1, dtype=np.int64), *ends]),
    )


#: Reads texts in the names of others: the texts, the others, their names, and whether these are to be learnt.
Read = Callable[[Texts, Texts, Names, bool], Any]


class Grams:
    """The features of one data set for n-grams of one length, in its own names and in those of others."""

    def __init__(self, texts: Texts, names: Names, read: Read) -> None:
        self.texts, self.names = texts, names
        self._read = read
        self._known = Cache()

    @property
    def own(self) -> Any:
        """One row of features per sequence, in the own names."""
        return self._known.of(self.names, lambda _: self._features(self, 1, True))  # names are learnt once

    def like(self, other: Grams) -> Any:
        """The same in the names of another data set."""
        if other is self:
            return self.own
        width = other.own.shape[1]  # its names are learnt now
        return self._known.of(other.names, lambda _: self._features(other, width, False))

    def _features(self, other: Grams, width: int, learn: bool) -> Any:
        if min(self.texts.longest, other.texts.longest) < self.names.n:  # there is no gram
            return scipy.sparse.csr_array((len(self.texts), width))
        return self._read(self.texts, other.texts, other.names, learn)


class GramCounts:
    """Prepared sequences: rows of several matrices of features, one for each length of n-grams."""

    def __init__(self, grams: tuple[Grams, ...], rows: np.ndarray | None = None) -> None:
        self.grams = grams
        self.rows = np.arange(len(grams[0].texts)) if rows is None else rows

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, index: slice | np.ndarray) -> GramCounts:
        """Select sequences."""
        return GramCounts(self.grams, self.rows[index])

    def matrices(self, other: GramCounts | None = None) -> list[Any]:
        """Features in the own names, or in those of other sequences."""
        partners = self.grams if other is None else other.grams
        found = [g.like(p) for g, p in zip(self.grams, partners, strict=True)]
        index = self._index()
        return found if index is None else [matrix[index] for matrix in found]

    def _index(self) -> slice | np.ndarray | None:
        """The rows as a slice where they are one, and None if they are all there are: slices cost less."""
        size = len(self.rows)
        first = int(self.rows[0]) if size else 0
        if not np.array_equal(self.rows, np.arange(first, first + size)):
            return self.rows
        return None if size == len(self.grams[0].texts) else slice(first, first + size)
