"""n-grams: stretches of n letters, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from ...arithmetic import FLOAT, Arithmetic
from ...caches import Cache
from ...certificate import Certificate
from ...contributions import Contribution
from ...domains import Data, Domain, Sequences
from ...engine import pairwise
from ...engine.program import Builder, Program, Value
from ...engine.runs import checkpoint
from ...errors import ParameterError
from ...intervals import NONNEGATIVE
from ...kernel import Kernel
from ...parameters import parameter
from ..inner import squared_norms
from ..products import count_product
from .kmers import KmerCounts, Kmers, Vocabulary, join_counted, merge_codes
from .windows import Texts, as_text, find_runs

__all__ = ["NGram"]

#: Windows that are counted at a time.
MOST_WINDOWS = 1 << 22

Kmer = tuple[Any, ...]
Place = tuple[int, int]


class CountedKmers(Kernel):
    """Inner products of counts of n-grams, summed over lengths with weights.

    Subclasses say which lengths count how much (``_lengths``), what the k-mers of one sequence are
    (``_kmers``), and how a whole data set is read (``_read``).
    """

    _always_double: ClassVar[bool] = True

    @property
    def domain(self) -> Domain:
        return Sequences()

    def _lengths(self) -> list[tuple[int, float]]:
        """Lengths with their weights, all > 0."""
        raise TypeError(f"{type(self).__name__} must define _lengths")

    def _kmers(self, x: Any, n: int) -> Iterator[tuple[Kmer, Any, Place]]:
        """The k-mers of a sequence of symbols, each with what it counts and its place."""
        raise TypeError(f"{type(self).__name__} must define _kmers")

    def _read(self, texts: Texts, like: Texts, vocabulary: Vocabulary, learn: bool) -> Any:
        """Counts of all sequences in the vocabulary of the data set ``like``."""
        raise TypeError(f"{type(self).__name__} must define _read")

    def _base(self, texts: Texts) -> int:
        """Letters of a data set that n-grams are made of: those with numbers below this."""
        return texts.width

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        total = []
        for n, weight in self._lengths():
            counts, others = self._counts(x, n, m), self._counts(y, n, m)
            terms = [count * others[kmer] for kmer, count in counts.items() if kmer in others]
            total.append(m.real(weight) * m.fsum(terms))
        return m.fsum(total)

    def _counts(self, x: Any, n: int, m: Arithmetic) -> dict[Kmer, Any]:
        counts: dict[Kmer, Any] = {}
        for kmer, count, _ in self._kmers(x, n):
            counts[kmer] = counts.get(kmer, 0) + self._amount(count, m)
        return counts

    def _amount(self, count: Any, m: Arithmetic) -> Any:
        """What a k-mer counts, in the arithmetic."""
        return m.real(count)

    def _prepare(self, X: Data) -> KmerCounts:
        texts = Texts(X)
        base = self._base(texts)
        return KmerCounts(tuple(Kmers(texts, Vocabulary(n, base), self._read) for n, _ in self._lengths()))

    def _products(self, X: KmerCounts, Y: KmerCounts | None) -> Iterator[tuple[float, Any, Any]]:
        """Weight and matrices of counts for each length."""
        others = [None] * len(X.kmers) if Y is None else Y.matrices(X)
        for (_, weight), A, B in zip(self._lengths(), X.matrices(), others, strict=True):
            yield weight, A, B

    @property
    def _is_whole(self) -> bool:
        """Whether counts are whole numbers."""
        return False

    def _block(self, X: KmerCounts, Y: KmerCounts | None) -> np.ndarray:
        product = count_product if self._is_whole else pairwise.dot
        terms = [(weight, product(A, B)) for weight, A, B in self._products(X, Y)]
        if len(terms) == 1 and terms[0][0] == 1.0:
            return terms[0][1]
        return np.asarray(sum(weight * K for weight, K in terms))

    def _program(self, X: KmerCounts, Y: KmerCounts | None, layouts: Cache | None = None) -> Program | None:
        # Inside an expression the counts are steps of its program; alone, whole numbers have a faster way.
        return None if self._is_whole else super()._program(X, Y, layouts)

    def _compile(self, b: Builder, X: KmerCounts, Y: KmerCounts | None) -> Value | None:
        return b.add(b.scale(b.dot(A, B), weight) for weight, A, B in self._products(X, Y))

    def _embedding(self, X: KmerCounts, like: KmerCounts | None = None) -> Any:
        parts = [
            A if weight == 1.0 else np.sqrt(weight) * A
            for (_, weight), A in zip(self._lengths(), X.matrices(like), strict=True)
        ]
        return parts[0] if len(parts) == 1 else scipy.sparse.hstack(parts, format="csr")

    def _feature_names(self, X: KmerCounts) -> list[str]:
        names = (as_text(kmer) for kmers in X.kmers for kmer in self._columns(kmers))
        return [name if isinstance(name, str) else repr(name) for name in names]

    def _columns(self, kmers: Kmers) -> list[Kmer]:
        """The k-mers of one length, in the order of their columns."""
        return kmers.columns()

    def _diagonal(self, X: KmerCounts) -> np.ndarray:
        return np.asarray(sum(weight * squared_norms(A) for weight, A, _ in self._products(X, None)))

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        for n, weight in self._lengths():
            ours, theirs = _by_kmer(self._kmers(tuple(x), n)), _by_kmer(self._kmers(tuple(y), n))
            for kmer, (count, places) in ours.items():
                if kmer in theirs:
                    other, their_places = theirs[kmer]
                    yield Contribution(
                        as_text(kmer), float(weight * count * other), tuple(places), tuple(their_places)
                    )

    def _weighted_contributions(
        self, points: Sequence[Any], coefficients: np.ndarray, x: Any
    ) -> Iterable[Contribution]:
        return self._collapse(points, coefficients)(x)

    def _collapse(
        self, points: Sequence[Any], coefficients: np.ndarray
    ) -> Callable[[Any], Iterable[Contribution]]:
        totals = [
            weighted_counts((self._counts(tuple(p), n, FLOAT) for p in points), coefficients)
            for n, _ in self._lengths()
        ]
        return partial(self._spoken, totals)

    def _spoken(self, totals: Sequence[Mapping[Kmer, float]], x: Any) -> Iterator[Contribution]:
        """What the k-mers of x contribute, by the sums of their counts in points with coefficients."""
        for (n, weight), sums in zip(self._lengths(), totals, strict=True):
            for kmer, (count, places) in _by_kmer(self._kmers(tuple(x), n)).items():
                if kmer in sums:
                    yield Contribution(as_text(kmer), float(weight * sums[kmer] * count), tuple(places))

    bounds = NONNEGATIVE


def weighted_counts(counts: Iterable[Mapping[Kmer, float]], coefficients: np.ndarray) -> dict[Kmer, float]:
    """Sum of the counts of several sequences, each times its coefficient."""
    totals: dict[Kmer, float] = {}
    for found, a in zip(counts, coefficients.tolist(), strict=True):
        for kmer, count in found.items():
            totals[kmer] = totals.get(kmer, 0.0) + a * count
    return totals


def _by_kmer(kmers: Iterator[tuple[Kmer, Any, Place]]) -> dict[Kmer, tuple[Any, list[Place]]]:
    """Count and places of each k-mer."""
    counts: Counter[Kmer] = Counter()
    places: dict[Kmer, list[Place]] = {}
    for kmer, count, place in kmers:
        counts[kmer] += count
        places.setdefault(kmer, []).append(place)
    return {kmer: (counts[kmer], found) for kmer, found in places.items()}


class NGram(CountedKmers):
    r"""Kernel of n-grams: the inner product of the counts of all stretches of n letters.

    .. math:: k(x, y) = \sum_{z \in \Sigma^n} c_x(z) \, c_y(z), \qquad
              k(x, y) = \sum_{j=1}^n w_j \sum_{z \in \Sigma^j} c_x(z) \, c_y(z)

    where :math:`c_x(z)` is the number of times that z occurs in x, overlaps included; on the right with
    ``weights``.  Positive definite: an inner product of explicit features.  Not strictly: sequences shorter
    than n have none, and different sequences may have the same counts.  ``.normalized()`` takes the length
    out.

    Any symbols will do, and any n.  Cost: linear in the letters for the counts, then a sparse matrix product.

    Parameters
    ----------
    n : int
        Number of letters, >= 1.
    weights : sequence of n numbers >= 0, optional
        Weight of the k-mers of each length 1, ..., n.  Without it those of length n alone count, once.

    Examples
    --------
    >>> NGram(2)("aab", "aab")  # aa and ab, once each
    2.0
    >>> NGram(2, weights=[1.0, 0.5])("aab", "ab")  # 2 * 1 for a, 1 * 1 for b, 0.5 * 1 for ab
    3.5
    >>> print(NGram(2).contributions("banana", "ananas"))
    weight  pattern
       4.0  'an'  [1:3 3:5 | 0:2 2:4]
       4.0  'na'  [2:4 4:6 | 1:3 3:5]
    """

    n: int = parameter(low=1, integer=True)
    weights: Sequence[float] | None = None

    def _validate(self) -> None:
        if self.weights is None:
            return
        try:
            weights = tuple(float(w) for w in self.weights)
        except (TypeError, ValueError):
            weights = ()
        if len(weights) != self.n or not all(0 <= w < np.inf for w in weights):
            raise ParameterError(
                f"{type(self).__name__}: `weights` must be n={self.n} finite numbers >= 0, one for each "
                f"length from 1 on. Got {self.weights!r}."
            )
        object.__setattr__(self, "weights", weights)

    def _lengths(self) -> list[tuple[int, float]]:
        if self.weights is None:
            return [(self.n, 1.0)]
        return [(j, w) for j, w in enumerate(self.weights, 1) if w > 0] or [(self.n, 0.0)]

    @property
    def _is_whole(self) -> bool:
        return True

    def _kmers(self, x: Any, n: int) -> Iterator[tuple[Kmer, Any, Place]]:
        for start in range(len(x) - n + 1):
            yield x[start : start + n], 1, (start, start + n)

    def _counts(self, x: Any, n: int, m: Arithmetic) -> dict[Kmer, Any]:
        places = map(slice, range(len(x) - n + 1), range(n, len(x) + 1))
        return {kmer: m.real(count) for kmer, count in Counter(map(x.__getitem__, places)).items()}

    def _read(self, texts: Texts, like: Texts, vocabulary: Vocabulary, learn: bool) -> scipy.sparse.csr_array:
        runs = find_runs(texts.coded_like(like), texts.starts, vocabulary.n, vocabulary.base)
        most = (
            MOST_WINDOWS if vocabulary.is_packed else int(runs.starts[-1])
        )  # other vocabularies are learnt from all at once
        parts = []
        for part in map(runs.take, runs.parts(most)):
            codes = vocabulary.codes([(part, np.arange(vocabulary.n))], learn)
            parts.append(merge_codes(codes, part.starts, None, vocabulary))
            checkpoint()
        return vocabulary.matrix(join_counted(parts), learn)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "explicit features", "the inner product of the counts of n-grams, with weights >= 0"
        )
