"""k-mers as columns of a sparse matrix of counts.

A k-mer has one number, its code: its letters in base b, where b is the number of letters of the data, if
that fits into 63 bits.  Otherwise as many letters as fit are numbered in the order of a sorted table, then
pairs of such codes: windows of w, 2w, 4w... letters (the last two may overlap) lead to those of n letters in
log2(n / w) steps.  Either way two k-mers have one code exactly if they are equal.

Codes belong to the vocabulary of one data set.  Another one is read in the same vocabulary; a letter or a
k-mer that did not occur has no code there, cannot match anything and is left out.
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

__all__ = ["Counted", "KmerCounts", "Kmers", "Vocabulary", "join_counted", "merge_codes"]

#: Codes are below this.
MOST_CODE = 1 << 62

#: Codes below this are columns as they are; others are numbered by a sorted table of those that occur.
MOST_DIRECT = 1 << 18

#: Windows, and the offsets of the letters in them that count.
Shape = tuple[Runs, np.ndarray]


class Counted(NamedTuple):
    """Codes of each row in order and what they count; row i has those from ``ends[i]`` to ``ends[i + 1]``."""

    codes: np.ndarray
    counts: np.ndarray
    ends: np.ndarray


class Vocabulary:
    """The k-mers of one data set: ``codes`` of windows, and columns for codes."""

    def __init__(self, n: int, base: int) -> None:
        self.n, self.base = n, base
        #: Number of possible k-mers; of all too many a number that is too large.
        self.width = base**n if base == 1 or n < MOST_CODE.bit_length() else 2 * MOST_CODE
        self.is_packed = self.width <= MOST_CODE
        self._tables: list[np.ndarray] = []  # pairs of codes by the code of the pair, level by level
        self._widths: list[int] = []  # letters of the windows of each level, if windows are doubled
        self._columns: np.ndarray | None = None

    def codes(self, shapes: Sequence[Shape], learn: bool) -> np.ndarray:
        """Code of every window, -1 if it has none; with `learn` the vocabulary becomes that of this data."""
        if self.is_packed:
            parts = [self._packed(*shape) for shape in shapes]
            return np.concatenate(parts) if len(parts) > 1 else parts[0]
        if len(shapes) == 1 and shapes[0][1][-1] == self.n - 1:
            runs = shapes[0][0]
            return np.asarray(self._doubled(runs.codes, learn)[runs.positions])
        codes = np.zeros(sum(int(runs.counts.sum()) for runs, _ in shapes), dtype=np.int64)
        for level in range(self.n):  # letter by letter
            found = np.concatenate([runs.codes[runs.positions + offsets[level]] for runs, offsets in shapes])
            letters = np.where(found < self.base, found, -1).astype(np.int64)
            codes = self._pair(codes, letters, self.base, level, learn)
        return codes

    def _packed(self, runs: Runs, offsets: np.ndarray) -> np.ndarray:
        codes = np.empty(int(runs.counts.sum()), dtype=np.int64)
        _native.window_keys(runs.native, offsets, self.base, codes)
        unknown = runs.codes >= self.base
        if unknown.any():
            positions = runs.positions
            for offset in offsets:
                codes[unknown[positions + offset]] = -1
        return codes

    def _doubled(self, letters: np.ndarray, learn: bool) -> np.ndarray:
        """Codes of the n letters from each place on, out of those of w, 2w, 4w... letters.

        The first w letters are as many as fit into a number.
        """
        width = 1
        while self.base ** (width + 1) <= MOST_CODE:  # at least two letters: with one all k-mers are packed
            width += 1
        windows = max(0, len(letters) - width + 1)
        run = Runs(letters, np.zeros(1, dtype=np.int64), np.array([windows]), np.array([0, 1]))
        codes, level = self._rank(self._packed(run, np.arange(width)), 0, learn), 0
        self._widths = [width]
        while width < self.n:
            step = min(width, self.n - width)
            left, right = codes[: max(0, len(codes) - step)], codes[step:]
            codes = self._pair(left, right, len(self._tables[level]), level + 1, learn)
            width, level = width + step, level + 1
            self._widths.append(width)
        return codes

    def _pair(self, left: np.ndarray, right: np.ndarray, count: int, level: int, learn: bool) -> np.ndarray:
        """Codes of pairs of codes, the right ones below a count: places in a table of those that occur."""
        return self._rank(np.where((left >= 0) & (right >= 0), left * count + right, -1), level, learn)

    def _rank(self, codes: np.ndarray, level: int, learn: bool) -> np.ndarray:
        if learn:  # a copy of a vocabulary learns it anew
            self._tables[level:] = [np.unique(codes[codes >= 0])]
        return _look_up(self._tables[level], codes)

    def matrix(self, counted: Counted, learn: bool) -> scipy.sparse.csr_array:
        """Counts as a canonical CSR array; codes without a column are left out."""
        codes, counts, ends = counted
        if learn and self.is_packed and self.width > MOST_DIRECT:
            self._columns = np.unique(codes)
        columns = codes if self._columns is None else _look_up(self._columns, codes)
        known = columns >= 0
        if not known.all():
            columns, counts = columns[known], counts[known]
            ends = np.concatenate([[0], np.cumsum(known)])[ends]
        width = self.n_codes if self._columns is None else len(self._columns)
        return scipy.sparse.csr_array((counts, columns, ends), shape=(len(ends) - 1, max(1, width)))

    def columns(self) -> np.ndarray:
        """The letters of the k-mer of each column, of shape (columns, n)."""
        codes = np.arange(self.n_codes) if self._columns is None else self._columns
        if self.is_packed:
            return _digits(codes, self.base, self.n)
        if self._widths:
            return self._joined(codes, len(self._widths) - 1)
        letters = []
        for table in reversed(self._tables):
            codes, last = np.divmod(table[codes], self.base)
            letters.append(last)
        return np.stack(letters[::-1], axis=1)

    def _joined(self, codes: np.ndarray, level: int) -> np.ndarray:
        """Letters of windows of ``_widths[level]``: those of the left part, then the last of the right."""
        table, width = self._tables[level], self._widths[level]
        if level == 0:
            return _digits(table[codes], self.base, width)
        parts = [
            self._joined(part, level - 1) for part in np.divmod(table[codes], len(self._tables[level - 1]))
        ]
        return np.hstack([parts[0], parts[1][:, self._widths[level - 1] - width :]])

    @property
    def n_codes(self) -> int:
        """All codes are below this."""
        return self.width if self.is_packed else len(self._tables[-1])


def _look_up(table: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Places of codes in a sorted table, -1 for those that it lacks."""
    if len(table) == 0:
        return np.full(len(codes), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(table, codes), len(table) - 1)
    return np.where(table[places] == codes, places, -1)


def _digits(codes: np.ndarray, base: int, n: int) -> np.ndarray:
    """The n digits of each code, the highest first."""
    return np.asarray(codes[:, None] // base ** np.arange(n)[::-1] % base)


def merge_codes(
    codes: np.ndarray, starts: np.ndarray, weights: np.ndarray | None, vocabulary: Vocabulary
) -> Counted:
    """Count the codes of each row, ``starts[i]`` to ``starts[i + 1] - 1``, or add up their weights.

    Codes of -1 are left out.  The arrays are overwritten.
    """
    known = codes >= 0
    if not known.all():
        starts = np.concatenate([[0], np.cumsum(known)])[starts]
        codes, weights = codes[known], None if weights is None else weights[known]
    ends = np.empty(len(starts), dtype=np.int64)
    if weights is None:
        counts = np.empty(len(codes))
        size = _native.count_keys(codes, starts, vocabulary.n_codes, counts, ends, num_threads())
    else:
        counts = weights
        size = _native.sum_keys(codes, starts, counts, ends, num_threads())
    return Counted(codes[:size], counts[:size], ends)


def join_counted(parts: Sequence[Counted]) -> Counted:
    """The rows of several parts one after the other."""
    if len(parts) == 1:
        return parts[0]
    sizes = np.cumsum([0, *(len(part.codes) for part in parts)])
    ends = [part.ends[1:] + size for part, size in zip(parts, sizes[:-1], strict=True)]
    return Counted(
        np.concatenate([np.empty(0, dtype=np.int64), *(part.codes for part in parts)]),
        np.concatenate([np.empty(0), *(part.counts for part in parts)]),
        np.concatenate([np.zeros(1, dtype=np.int64), *ends]),
    )


#: Reads texts in a vocabulary: the texts, those of the vocabulary, the vocabulary, whether to learn it.
Read = Callable[[Texts, Texts, Vocabulary, bool], Any]


class Kmers:
    """The features of one data set for k-mers of one length, in its own vocabulary and in those of others."""

    def __init__(self, texts: Texts, vocabulary: Vocabulary, read: Read) -> None:
        self.texts, self.vocabulary = texts, vocabulary
        self._read = read
        self._known = Cache()

    @property
    def own(self) -> Any:
        """One row of features per sequence, in the own vocabulary."""
        return self._known.of(self.vocabulary, lambda _: self._features(self, 1, True))  # learnt once

    def like(self, other: Kmers) -> Any:
        """The same in the vocabulary of another data set."""
        if other is self:
            return self.own
        width = other.own.shape[1]  # its vocabulary is learnt now
        return self._known.of(other.vocabulary, lambda _: self._features(other, width, False))

    def columns(self) -> list[tuple[Any, ...]]:
        """The k-mer of each column of the own features; an empty one if there is none."""
        if self.own.shape[1] == 1 and self.texts.longest < self.vocabulary.n:
            return [()]
        symbols = self.texts.alphabet.elements
        return [tuple(symbols[i] for i in row) for row in self.vocabulary.columns().tolist()]

    def _features(self, other: Kmers, width: int, learn: bool) -> Any:
        if min(self.texts.longest, other.texts.longest) < self.vocabulary.n:  # there is no k-mer
            return scipy.sparse.csr_array((len(self.texts), width))
        return self._read(self.texts, other.texts, other.vocabulary, learn)


class KmerCounts:
    """Prepared sequences: rows of several matrices of features, one for each length of k-mers."""

    def __init__(self, kmers: tuple[Kmers, ...], rows: np.ndarray | None = None) -> None:
        self.kmers = kmers
        self.rows = np.arange(len(kmers[0].texts)) if rows is None else rows

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, index: slice | np.ndarray) -> KmerCounts:
        """Select sequences."""
        return KmerCounts(self.kmers, self.rows[index])

    def matrices(self, other: KmerCounts | None = None) -> list[Any]:
        """Features in the own vocabulary, or in that of other sequences."""
        partners = self.kmers if other is None else other.kmers
        found = [g.like(p) for g, p in zip(self.kmers, partners, strict=True)]
        index = self._index()
        return found if index is None else [matrix[index] for matrix in found]

    def _index(self) -> slice | np.ndarray | None:
        """The rows as a slice where they are one, and None if they are all there are: slices cost less."""
        size = len(self.rows)
        first = int(self.rows[0]) if size else 0
        if not np.array_equal(self.rows, np.arange(first, first + size)):
            return self.rows
        return None if size == len(self.kmers[0].texts) else slice(first, first + size)
