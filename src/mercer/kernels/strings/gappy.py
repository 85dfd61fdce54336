"""n-grams with gaps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from mercer import _native

from ...arithmetic import FLOAT, Arithmetic
from ...certificate import Certificate
from ...contributions import Contribution
from ...engine.program import Builder, Value
from ...engine.runs import checkpoint
from ...engine.threads import num_threads
from ...errors import ParameterError
from ...parameters import parameter
from .kmers import Counted, KmerCounts, Kmers, Vocabulary, join_counted, merge_codes
from .ngrams import CountedKmers, Kmer, Place
from .slices import slices
from .windows import Texts, as_text, find_runs

__all__ = ["GappyNGram"]

#: Features of a sequence, and of all sequences together, that may be laid out in full.
MOST_FEATURES = 1 << 16
MOST_NUMBERS = 1 << 25

#: Windows whose codes are held at a time.
MOST_WINDOWS = 1 << 22

#: A native call may take this many steps.
MOST_STEPS = 1 << 27


class GappyNGram(CountedKmers):
    r"""Kernel of n-grams with gaps: n letters in order, with a penalty for the letters between them.

    .. math:: k(x, y) = \sum_{z \in \Sigma^n} \phi_z(x) \, \phi_z(y), \qquad
              \phi_z(x) = \sum_{i_1 < \dots < i_n, \; x_i = z} \lambda^{(i_n - i_1 + 1) - n}

    The exponent is the number of letters left out between the first and the last one.  Positive definite: an
    inner product of explicit features.  Not strictly: sequences shorter than n have none.  Up to the factor
    :math:`\lambda^{2n}` it is the subsequence kernel whose weight is :math:`\lambda` for every letter of the
    stretch.

    Cost: linear in the letters, for the weights of all k-mers, if there are at most 65,536 or if ``max_gap``
    is set; else :math:`O(n |x| |y|)` for a pair.

    Parameters
    ----------
    n : int
        Number of letters, >= 1.
    decay : float, default=0.5
        The penalty :math:`\lambda`, in (0, 1].
    max_gap : int, optional
        The most letters that may be left out in all, up to 1000.  By default any number.

    Examples
    --------
    >>> GappyNGram(2, decay=0.5)("aab", "aab")  # aa; ab with no gap and with one of 1: 1 + (1 + 0.5)^2
    3.25
    >>> GappyNGram(2, decay=0.5, max_gap=0)("aab", "aab")
    2.0
    """

    n: int = parameter(low=1, integer=True)
    decay: float = parameter(default=0.5, low=0.0, high=1.0, open_low=True)
    max_gap: int | None = None

    def _validate(self) -> None:
        gap: Any = self.max_gap
        if gap is None:
            return
        largest = 1000  # letters that may be left out, if not any number
        if isinstance(gap, bool) or not isinstance(gap, int) or not 0 <= gap <= largest:
            raise ParameterError(
                f"GappyNGram: `max_gap` must be an integer from 0 to {largest}, or None. Got {gap!r}."
            )
        shapes = math.comb(self.n - 1 + gap, gap) if self.n > 1 else 1
        most = 1 << 12  # shapes of gaps that may be listed
        if shapes > most:
            raise ParameterError(
                f"GappyNGram: `max_gap` must leave at most {most:,} shapes of an n-gram. Got {gap}, "
                f"with {shapes:,}. Leave it out: gaps of any length are counted in another way."
            )

    # -- the definition -----------------------------------------------------------------------------
    def _lengths(self) -> list[tuple[int, float]]:
        return [(self.n, 1.0)]

    def _counts(self, x: Any, n: int, m: Arithmetic) -> dict[Kmer, Any]:
        if self.max_gap is not None:
            return super()._counts(x, n, m)
        if len(x) < n:
            return {}
        decay = m.real(self.decay)
        levels: list[dict[Kmer, Any]] = [{(): m.real(1)}, *({} for _ in range(n))]
        for letter in x:  # what ends before this letter is made longer by it, or its gap is
            for k in range(n, 0, -1):
                if 0 < k < n:
                    levels[k] = {kmer: decay * weight for kmer, weight in levels[k].items()}
                for kmer, weight in levels[k - 1].items():
                    longer = (*kmer, letter)
                    levels[k][longer] = levels[k].get(longer, m.real(0)) + weight
        return levels[n]

    def _kmers(self, x: Any, n: int) -> Iterator[tuple[Kmer, Any, Place]]:
        longest = len(x) if self.max_gap is None else n + self.max_gap
        for start in range(len(x) - n + 1):
            rest = range(start + 1, min(len(x), start + longest))
            for others in combinations(rest, n - 1):
                places = (start, *others)
                gap = places[-1] - start + 1 - n
                yield tuple(x[i] for i in places), gap, (start, places[-1] + 1)

    def _amount(self, count: Any, m: Arithmetic) -> Any:
        return m.real(self.decay) ** count

    # -- explanation --------------------------------------------------------------------------------
    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        ours, theirs = self._counts(tuple(x), self.n, FLOAT), self._counts(tuple(y), self.n, FLOAT)
        places, their_places = self._places(tuple(x)), self._places(tuple(y))
        for kmer, weight in ours.items():
            if kmer in theirs:
                yield Contribution(
                    as_text(kmer), weight * theirs[kmer], tuple(places[kmer]), tuple(their_places[kmer])
                )

    def _places(self, x: Kmer) -> dict[Kmer, list[Place]]:
        """The tightest stretches that hold each k-mer: gaps of any length would give too many."""
        if len(x) < self.n:
            return {}
        latest: list[dict[Kmer, int]] = [{} for _ in range(self.n)]  # where the last k-mer so far begins
        found: dict[Kmer, list[Place]] = {}
        for end, letter in enumerate(x):
            latest[0][()] = end
            for kmer, begin in latest[self.n - 1].items():
                place = (begin, end + 1)
                before = found.setdefault((*kmer, letter), [place])
                width = before[0][1] - before[0][0]
                if place[1] - begin < width:
                    before[:] = [place]
                elif place[1] - begin == width and before[-1] != place:
                    before.append(place)
            for k in range(self.n - 1, 0, -1):
                latest[k] |= {(*kmer, letter): begin for kmer, begin in latest[k - 1].items()}
        return found

    # -- whole data sets ----------------------------------------------------------------------------
    def _read(self, texts: Texts, like: Texts, vocabulary: Vocabulary, learn: bool) -> Any:
        codes = texts.coded_like(like)
        if self.max_gap is not None:
            return vocabulary.matrix(self._read_shapes(codes, texts.starts, vocabulary, learn), learn)
        features = np.empty((len(texts), vocabulary.width))
        for part in slices(len(texts)):
            starts = texts.starts[part.start : part.stop + 1]
            _native.gappy_features(
                codes, starts, self.n, vocabulary.base, self.decay, features[part], num_threads()
            )
        return features

    def _read_shapes(
        self, codes: np.ndarray, starts: np.ndarray, vocabulary: Vocabulary, learn: bool
    ) -> Counted:
        """Weights of k-mers with gaps of limited length, some rows at a time."""
        shapes = [(np.array(s), self.decay ** (s[-1] + 1 - self.n)) for s in self._shapes()]
        parts = []
        for rows in self._parts(starts, len(shapes), vocabulary):
            some = starts[rows.start : rows.stop + 1]
            windows = [(find_runs(codes, some, int(offsets[-1]) + 1), offsets) for offsets, _ in shapes]
            sizes = [int(runs.counts.sum()) for runs, _ in windows]
            owners = np.concatenate([np.repeat(np.arange(len(r)), np.diff(r.starts)) for r, _ in windows])
            order = np.argsort(owners, kind="stable")
            bounds = np.searchsorted(owners[order], np.arange(len(some))).astype(np.int64)
            weights = np.repeat([weight for _, weight in shapes], sizes)[order]
            parts.append(merge_codes(vocabulary.codes(windows, learn)[order], bounds, weights, vocabulary))
        return join_counted(parts)

    def _shapes(self) -> Iterator[tuple[int, ...]]:
        """Offsets of the letters of a k-mer."""
        assert self.max_gap is not None
        for others in combinations(range(1, self.n + self.max_gap), self.n - 1):
            yield (0, *others)

    def _parts(self, starts: np.ndarray, shapes: int, vocabulary: Vocabulary) -> Iterator[slice]:
        """Rows whose windows are held at a time; one that is not packed is learnt from all of them."""
        most = MOST_WINDOWS // shapes if vocabulary.is_packed else int(starts[-1]) + 1
        row = 0
        while row < len(starts) - 1:
            last = int(np.searchsorted(starts, starts[row] + most, side="right")) - 1
            last = max(row + 1, last)
            yield slice(row, last)
            checkpoint()
            row = last

    # -- gaps of any length over many letters: pair by pair -------------------------------------------
    def _has_features(self, X: KmerCounts, Y: KmerCounts | None) -> bool:
        """Whether the k-mers are few enough to be listed."""
        width = X.kmers[0].vocabulary.width
        rows = len(X.kmers[0].texts) + (0 if Y is None else len(Y.kmers[0].texts))
        # Of 64 letters at most: over one letter there is one k-mer of every length.
        few = self.n <= 64 and width <= MOST_FEATURES and rows * width <= MOST_NUMBERS
        return self.max_gap is not None or few

    def _block(self, X: KmerCounts, Y: KmerCounts | None) -> np.ndarray:
        return super()._block(X, Y) if self._has_features(X, Y) else self._values(X, X if Y is None else Y)

    def _compile(self, b: Builder, X: KmerCounts, Y: KmerCounts | None) -> Value | None:
        return super()._compile(b, X, Y) if self._has_features(X, Y) else None

    def _embedding(self, X: KmerCounts, like: KmerCounts | None = None) -> Any:
        return super()._embedding(X, like) if self._has_features(X, like) else None

    _feature_names = CountedKmers._feature_names

    def _columns(self, kmers: Kmers) -> list[Kmer]:
        found = super()._columns(kmers)  # in full rows the first letter is the lowest digit
        return found if self.max_gap is not None else [kmer[::-1] for kmer in found]

    def _diagonal(self, X: KmerCounts) -> np.ndarray:
        if self._has_features(X, None):
            return super()._diagonal(X)
        points = [X.take(slice(i, i + 1)) for i in range(len(X))]
        return np.array([self._values(point, point)[0, 0] for point in points], dtype=float)

    def _values(self, X: KmerCounts, Y: KmerCounts) -> np.ndarray:
        texts, others = X.kmers[0].texts, Y.kmers[0].texts
        codes, their_codes = texts.codes, others.coded_like(texts)
        longest = int(np.diff(others.starts)[Y.rows].max(initial=0))
        K = np.zeros((len(X), len(Y)))
        for i, row in enumerate(X.rows):
            size = int(texts.starts[row + 1] - texts.starts[row])
            if self.n * size * longest <= MOST_STEPS:
                for part in slices(len(Y)):
                    out = np.empty((1, part.stop - part.start))
                    _native.gappy_values(
                        codes, texts.starts, X.rows[i : i + 1], their_codes, others.starts, Y.rows[part],
                        self.n, self.decay, out, num_threads(),
                    )  # fmt: skip
                    K[i, part] = out
            else:
                x = codes[texts.starts[row] : texts.starts[row + 1]]
                for j, other in enumerate(Y.rows):
                    y = their_codes[others.starts[other] : others.starts[other + 1]]
                    if min(len(x), len(y)) >= self.n:
                        ends = np.zeros((self.n - 1, len(y)))
                        for part in slices(len(x)):
                            K[i, j] += _native.gappy_steps(x, part.start, part.stop, y, self.decay, ends)
        return K

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "explicit features", "the inner product of the weights of all n-grams")
