r"""Kernels that compare windows of l letters by the places in which they agree.

.. math:: k(x, y) = \sum_{a, b} f(|\{i : a_i = b_i\}|), \qquad f(s) = \sum_j w_j \binom{s}{j}

over all windows a of x and b of y.  There are three ways, and the one with the fewest operations is taken:

- by neighbours: if all words of l letters fit into a table, f is added up for the windows of x at all words
  near to them, and read off at the windows of y;
- by patterns: as :math:`\binom{s}{j}` counts the sets of j places in which a and b agree, k is a weighted sum
  over patterns (sets of places) of products of counts: one spectrum for each, in time linear in the letters;
- by pairs of windows, where words are long and patterns many.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice, product
from operator import itemgetter
from typing import Any

import numpy as np

from mercer import _native

from ...arithmetic import Arithmetic
from ...caches import Cache
from ...contributions import Contribution
from ...domains import Data, Domain, Sequences
from ...engine.runs import checkpoint
from ...engine.threads import num_threads
from ...intervals import NONNEGATIVE
from ...kernel import Kernel
from ...sequences.dna import DNA, NUCLEOTIDES, reverse_complement
from ..products import mirrored_up
from .neighbours import count_neighbours, sum_over_neighbours, table_bits
from .ngrams import weighted_counts
from .slices import slices
from .strands import both_strands
from .windows import Runs, Texts, as_text, find_runs

__all__ = ["WindowData"]  # Matching is a base of kernels, not one

#: Windows of one side that are held at a time.
MOST_WINDOWS = 1 << 21

#: Pairs of windows that one native call compares.
MOST_PAIRS = 1_000_000_000


class WindowData:
    """Prepared sequences: where their windows are, in the numbers of any alphabet."""

    def __init__(self, texts: Texts, length: int, limit: int | None, rows: np.ndarray | None = None) -> None:
        self.texts, self.length, self.limit = texts, length, limit
        self.rows = np.arange(len(texts)) if rows is None else rows
        self._known = Cache()

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, index: slice | np.ndarray) -> WindowData:
        """Select sequences."""
        chosen = WindowData(self.texts, self.length, self.limit, self.rows[index])
        chosen._known = self._known  # what is remembered is that of all rows
        return chosen

    def runs(self, like: Texts) -> tuple[Runs, int]:
        """Windows in the numbers of other texts, and the number of letters."""
        runs, letters = self._known.of(like.alphabet, lambda _: self._all_runs(like))
        return runs.take(self.rows), letters

    def _all_runs(self, like: Texts) -> tuple[Runs, int]:
        codes = self.texts.coded_like(like)
        return find_runs(codes, self.texts.starts, self.length, self.limit), int(codes.max(initial=0)) + 1


class Matching(Kernel):
    """Sums over pairs of windows of a function of the number of places in which they agree.

    Subclasses give the length of windows and the weights w_j as ``_window`` and ``_levels``.
    """

    _tile_size = 2048  # tables and keys of its rows are made once for all its columns

    @property
    def _window(self) -> int:
        """Letters of a window."""
        raise TypeError(f"{type(self).__name__} must define _window")

    def _levels(self) -> dict[int, Any]:
        """Weights of patterns by their number of places, none of them 0."""
        raise TypeError(f"{type(self).__name__} must define _levels")

    @property
    def _both_strands(self) -> bool:
        return bool(getattr(self, "reverse_complement", False))

    @property
    def _skips(self) -> bool:
        """Whether windows with an ambiguous letter are left out."""
        return getattr(self, "ambiguity", "literal") == "skip"

    @property
    def domain(self) -> Domain:
        return DNA() if self._both_strands or self._skips else Sequences()

    # -- the definition -----------------------------------------------------------------------------
    def _windows(self, x: Any) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Windows of a sequence of symbols with their places."""
        for start in range(len(x) - self._window + 1):
            window = tuple(x[start : start + self._window])
            if not self._skips or set(window) <= set(NUCLEOTIDES):
                yield start, window

    def _strands(self, y: Any) -> list[Any]:
        """The readings of the second sequence."""
        return [y, tuple(reverse_complement(y))] if self._both_strands else [y]

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        windows = Counter(window for _, window in self._windows(x))
        others = Counter(window for strand in self._strands(y) for _, window in self._windows(strand))
        patterns = (math.comb(self._window, j) for j in self._levels())
        if not (windows and others) or len(windows) * len(others) <= sum(patterns):
            pairs: Counter[int] = Counter()  # by the number of places in which they agree
            for (a, count), (b, other) in product(windows.items(), others.items()):
                pairs[sum(s == t for s, t in zip(a, b, strict=True))] += count * other
            levels = self._levels().items()
            return m.fsum(
                [m.real(w) * m.real(n * math.comb(s, j)) for s, n in pairs.items() for j, w in levels]
            )
        return m.fsum(
            [m.real(w) * m.real(self._agreeing(windows, others, j)) for j, w in self._levels().items()]
        )

    def _agreeing(self, windows: Counter[Any], others: Counter[Any], places: int) -> int:
        """Pairs of windows that agree in a set of places of a given size, summed over the sets."""
        total = 0
        for pattern in combinations(range(self._window), places):
            counts, their_counts = _masked(windows, pattern), _masked(others, pattern)
            total += sum(count * their_counts[key] for key, count in counts.items())
        return total

    # -- many points ----------------------------------------------------------------------------------
    def _prepare(self, X: Data) -> WindowData:
        return WindowData(Texts(X), self._window, len(NUCLEOTIDES) if self._skips else None)

    def _block(self, X: WindowData, Y: WindowData | None) -> np.ndarray:
        ours, width = X.runs(X.texts)
        theirs, their_width = (X if Y is None else Y).runs(X.texts)
        symmetric = Y is None and not self._both_strands
        if self._both_strands:
            theirs = both_strands(theirs, self._window)
        return self._values(ours, theirs, max(width, their_width), symmetric)

    def _diagonal(self, X: WindowData) -> np.ndarray:
        points = [X.take(slice(i, i + 1)) for i in range(len(X))]
        return np.array([self._block(point, None)[0, 0] for point in points], dtype=float)

    def _values(self, X: Runs, Y: Runs, base: int, symmetric: bool) -> np.ndarray:
        K = np.zeros((len(X), len(Y)))
        parts = list(X.parts(MOST_WINDOWS))
        for i, rows in enumerate(parts):
            for cols in parts[: i + 1] if symmetric else Y.parts(MOST_WINDOWS):
                square = symmetric and cols == rows
                K[rows, cols] = self._part(X.take(rows), Y.take(cols), base, square)
        return mirrored_up(K) if symmetric else K

    def _part(self, X: Runs, Y: Runs, base: int, symmetric: bool) -> np.ndarray:
        if not (len(X.counts) and len(Y.counts)):
            return np.zeros((len(X), len(Y)))
        costs = self._costs(X, Y, base, symmetric)
        ways = {"neighbours": self._by_neighbours, "patterns": self._by_patterns, "pairs": self._by_pairs}
        return ways[min(costs, key=costs.__getitem__)](X, Y, base, symmetric)

    def _costs(self, X: Runs, Y: Runs, base: int, symmetric: bool) -> dict[str, float]:
        """Nanoseconds that each way takes, about, on one thread."""
        ours, theirs = int(X.counts.sum()), int(Y.counts.sum())
        length, levels, half = self._window, self._levels(), 0.5 if symmetric else 1.0
        distance = length - min(levels)
        patterns = 0.0
        for j in levels:
            words = float(base) ** min(j, 64)
            # To put windows into buckets, by their letters; to clear the buckets; to count pairs that meet.
            meet = min(ours * theirs / words, len(X) * len(Y) * words)
            each = (ours + theirs) * (5.0 + 0.5 * j) + 2e4 + meet
            patterns += _as_float(math.comb(length, j)) * each
        narrow = 1 if max(base - 1, length) < 256 else 4
        edges = ours * len(Y) + theirs * len(X)
        # For each window of a pair of rows; to compare two windows, by the numbers of places that count.
        pairs = edges * 10.0 + ours * theirs * narrow * (0.1 + 0.03 * (distance + 1))
        costs = {"patterns": half * patterns, "pairs": half * pairs}
        if bits := table_bits(length, base):
            near = count_neighbours(length, bits, distance)
            # To clear the words of the table and look windows up; to add up a value at each neighbour.
            found = 0.2 * 2 ** (bits * length) + half * theirs
            costs["neighbours"] = len(X) * found + 2.0 * ours * near
        return costs

    def _values_by_agreement(self) -> np.ndarray:
        """The values f(0), ..., f(l)."""
        levels = self._levels().items()
        return np.array(
            [_as_float(sum(w * math.comb(s, j) for j, w in levels)) for s in range(self._window + 1)]
        )

    def _by_neighbours(self, X: Runs, Y: Runs, base: int, symmetric: bool) -> np.ndarray:
        bits = table_bits(self._window, base)
        assert bits is not None
        return sum_over_neighbours(X, Y, symmetric, bits, self._values_by_agreement())

    def _by_patterns(self, X: Runs, Y: Runs, base: int, symmetric: bool) -> np.ndarray:
        K = np.zeros((len(X), len(Y)))
        for places, weight in self._levels().items():
            counts = np.zeros_like(K)  # whole numbers: exact, and the same in whatever order they are added
            patterns = combinations(range(self._window), places)
            for part in slices(math.comb(self._window, places)):
                some = np.array(list(islice(patterns, part.stop - part.start)), dtype=np.int64)
                some = some.reshape(part.stop - part.start, places)
                _native.count_agreements(X.native, Y.native, symmetric, some, base, counts, num_threads())
            K += float(weight) * counts
        return K

    def _by_pairs(self, X: Runs, Y: Runs, base: int, symmetric: bool) -> np.ndarray:
        values = self._values_by_agreement()
        K = np.zeros((len(X), len(Y)))
        most = max(1, MOST_PAIRS // max(1, int(Y.counts.sum())))
        for piece in X.pieces(most):
            _native.sum_over_agreements(
                piece.native, Y.native, symmetric, self._window, base, values, K, num_threads()
            )
            checkpoint()
        return K

    # -- explanation ----------------------------------------------------------------------------------
    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        """Patterns with a dot for a place that does not matter.  On both strands places of y are those of the
        given strand.
        """
        x, strands = tuple(x), [tuple(strand) for strand in self._strands(tuple(y))]
        for places, weight in self._levels().items():
            for pattern in combinations(range(self._window), places):
                ours = self._by_key(x, pattern, flipped=False)
                for i, strand in enumerate(strands):
                    theirs = self._by_key(strand, pattern, flipped=i > 0)
                    for key, found in ours.items():
                        if key in theirs:
                            amount = float(weight) * len(found) * len(theirs[key])
                            yield Contribution(
                                self._shown(pattern, key), amount, tuple(found), tuple(theirs[key])
                            )

    def _weighted_contributions(
        self, points: Sequence[Any], coefficients: np.ndarray, x: Any
    ) -> Iterator[Contribution]:
        totals = weighted_counts(map(self._window_counts, points), coefficients)
        strands = [tuple(strand) for strand in self._strands(tuple(x))]
        for places, weight in self._levels().items():
            for pattern in combinations(range(self._window), places):
                read, sums = _reader(pattern), dict[Any, float]()
                for window, total in totals.items():
                    key = read(window)
                    sums[key] = sums.get(key, 0.0) + total
                for i, strand in enumerate(strands):
                    for key, found in self._by_key(strand, pattern, flipped=i > 0).items():
                        if key in sums:
                            amount = float(weight) * len(found) * sums[key]
                            yield Contribution(self._shown(pattern, key), amount, tuple(found))

    def _window_counts(self, x: Any) -> Counter[Any]:
        return Counter(window for _, window in self._windows(tuple(x)))

    def _by_key(
        self, x: tuple[Any, ...], pattern: tuple[int, ...], flipped: bool
    ) -> dict[tuple[Any, ...], list[tuple[int, int]]]:
        """Places of the windows by their letters in a pattern."""
        found: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
        read = _reader(pattern)
        for start, window in self._windows(x):
            first = len(x) - start - self._window if flipped else start
            found.setdefault(read(window), []).append((first, first + self._window))
        return found

    def _shown(self, pattern: tuple[int, ...], key: tuple[Any, ...]) -> Any:
        letters = dict(zip(pattern, key, strict=True))
        return as_text(tuple(letters.get(i, ".") for i in range(self._window)))

    bounds = NONNEGATIVE


def _as_float(number: Any) -> float:
    """A float, infinite if the number is too large for one: values that come of it are refused as such."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _reader(pattern: tuple[int, ...]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """The letters of a window at the places of a pattern."""
    return itemgetter(*pattern) if len(pattern) > 1 else lambda window: tuple(window[i] for i in pattern)


def _masked(windows: Counter[Any], pattern: tuple[int, ...]) -> Counter[Any]:
    counts: Counter[Any] = Counter()
    read = _reader(pattern)
    for window, count in windows.items():
        counts[read(window)] += count
    return counts
