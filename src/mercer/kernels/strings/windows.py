"""Windows of n letters: where they are in encoded sequences, and sequences in the numbers of any alphabet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...caches import Cache
from ...domains import EncodedSequences

__all__ = ["Runs", "Texts", "as_text", "find_runs"]


@dataclass(frozen=True, eq=False)
class Runs:
    """Windows of sequences, as runs of windows that begin one after the other.

    Attributes
    ----------
    codes : int32 array
    begins : int64 array
        Where the first window of each run begins in the codes.
    counts : int64 array
        Number of windows of each run.
    first : int64 array of shape (n + 1,)
        Runs ``first[i]`` to ``first[i + 1] - 1`` are those of sequence i.
    """

    codes: np.ndarray
    begins: np.ndarray
    counts: np.ndarray
    first: np.ndarray

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def native(self) -> tuple[np.ndarray, ...]:
        """As the native core takes them."""
        return self.codes, self.begins, self.counts, self.first

    @property
    def starts(self) -> np.ndarray:
        """Number of windows before each sequence, and in all."""
        return np.asarray(np.concatenate([[0], np.cumsum(self.counts)])[self.first])

    @property
    def positions(self) -> np.ndarray:
        """Where each window begins."""
        before = np.cumsum(self.counts) - self.counts
        return np.asarray(np.repeat(self.begins - before, self.counts) + np.arange(int(self.counts.sum())))

    def take(self, index: slice | np.ndarray) -> Runs:
        """Select sequences."""
        chosen = np.arange(len(self))[index]
        sizes = np.diff(self.first)[chosen]
        first = np.concatenate([[0], np.cumsum(sizes)])
        runs = np.repeat(self.first[chosen] - first[:-1], sizes) + np.arange(first[-1])
        return Runs(self.codes, self.begins[runs], self.counts[runs], first)

    def parts(self, most: int) -> Iterator[slice]:
        """Slices of sequences, each of at most ``most`` windows or of one sequence."""
        starts, row = self.starts, 0
        while row < len(self):
            last = max(row + 1, int(np.searchsorted(starts, starts[row] + most, side="right")) - 1)
            yield slice(row, last)
            row = last

    def pieces(self, most: int) -> Iterator[Runs]:
        """The same sequences with at most ``most`` of their windows at a time."""
        before = np.concatenate([[0], np.cumsum(self.counts)])
        for start in range(0, int(before[-1]), most):
            first = np.clip(start - before[:-1], 0, self.counts)
            last = np.clip(start + most - before[:-1], 0, self.counts)
            kept = last > first  # no run is empty
            yield Runs(
                self.codes,
                (self.begins + first)[kept],
                (last - first)[kept],
                np.concatenate([[0], np.cumsum(kept)])[self.first],
            )


def find_runs(codes: np.ndarray, starts: np.ndarray, length: int, limit: int | None = None) -> Runs:
    """All windows of a given length; with a limit, those whose letters are all below it."""
    rows, begins, ends = np.arange(len(starts) - 1), starts[:-1], starts[1:]
    breaks = np.flatnonzero(codes >= limit) if limit is not None else np.empty(0, dtype=np.int64)
    if len(breaks):
        rows = np.concatenate([rows, np.searchsorted(starts, breaks, side="right") - 1])
        begins = np.concatenate([begins, breaks + 1])
        order = np.lexsort((begins, rows))
        rows, begins = rows[order], begins[order]
        ends = ends[rows]
        inner = rows[1:] == rows[:-1]  # the next piece is of the same sequence: a break stands between
        ends[:-1][inner] = begins[1:][inner] - 1
    counts = ends - begins - length + 1
    kept = counts > 0
    first = np.searchsorted(rows[kept], np.arange(len(starts)))
    return Runs(codes, np.ascontiguousarray(begins[kept]), counts[kept], first.astype(np.int64))


class Texts:
    """Encoded sequences that remember their codes in the numbers of other alphabets.

    Attributes
    ----------
    codes : int32 array
        In the numbers of the own alphabet.
    starts : int64 array
        From 0 on.
    alphabet : Vocabulary
    width : int
        All codes are below this.
    longest : int
        Letters of the longest sequence.
    """

    def __init__(self, sequences: EncodedSequences) -> None:
        start, end = int(sequences.starts[0]), int(sequences.starts[-1])
        self.codes, self.starts = sequences.codes[start:end], sequences.starts - start
        self.alphabet = sequences.alphabet
        self.width = int(self.codes.max(initial=0)) + 1
        self.longest = int(np.diff(self.starts).max(initial=0))
        self._known = Cache()

    def __len__(self) -> int:
        return len(self.starts) - 1

    def coded_like(self, other: Texts) -> np.ndarray:
        """The codes in the numbers of other texts; symbols that they lack have numbers beyond theirs."""
        if other.alphabet is self.alphabet:
            return self.codes
        theirs = EncodedSequences(other.codes, other.starts, other.alphabet)
        return self._known.of(
            other.alphabet,
            lambda _: EncodedSequences(self.codes, self.starts, self.alphabet).coded_like(theirs).codes,
        )


def as_text(symbols: tuple[object, ...]) -> str | tuple[object, ...]:
    """Symbols as a pattern is shown: joined if all are letters."""
    letters = [s for s in symbols if isinstance(s, str) and len(s) == 1]
    return "".join(letters) if len(letters) == len(symbols) else symbols
