"""The mismatch kernel: n-grams that are nearly there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, product
from typing import Any

import numpy as np

from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...contributions import Contribution
from ...domains import Domain
from ...errors import ParameterError
from ...parameters import parameter
from ...sequences.alphabets import SequencesOver
from ...sequences.dna import DNA, NUCLEOTIDES
from .matching import Matching
from .ngrams import weighted_counts
from .windows import as_text

__all__ = ["Mismatch"]

Kmer = tuple[Any, ...]


class Mismatch(Matching):
    r"""Mismatch kernel: n-grams counted wherever they occur with up to m letters changed.

    .. math:: k(x, y) = \sum_{z \in \Sigma^n} \phi_z(x) \, \phi_z(y), \qquad
              \phi_z(x) = |\{\text{windows } a \text{ of } x : d(a, z) \le m\}|

    with the Hamming distance d.  Positive definite: an inner product of explicit features.  Not strictly:
    sequences shorter than n have none.  Two windows at distance d share the z that are near to both, whose
    number depends on d and on the size of the alphabet alone; so the features are never listed.  Values are
    exact whole numbers (as long as the sums stay below 2^53).

    Cost: sum of C(n, i) passes over the letters for i up to 2m, whatever the alphabet, or all pairs of
    windows, whichever is less.  One value ``k(x, y)`` lists the neighbours of all windows, if
    they are few.

    Parameters
    ----------
    n : int
        Number of letters, >= 1.
    m : int, default=1
        The most mismatches, from 0 to n, up to 32.
    alphabet : collection of symbols, default="ACGT"
        The alphabet :math:`\Sigma`: z runs over all of it, whichever letters occur in the data.  Other
        letters are an error.  For "ACGT" small letters are read as capitals, and U as T.
    reverse_complement : bool, default=False
        Whether DNA is read on both strands: k(x, y) + k(x, reverse complement of y).

    Examples
    --------
    >>> Mismatch(2, 1)("AC", "AC")  # AC, A. and .C with three other letters each
    7.0
    >>> Mismatch(2, 1)("AC", "AG")  # AA, AC, AG, AT
    4.0
    >>> Mismatch(2, 1, alphabet="ab")("aa", "bb")  # ab, ba
    2.0
    """

    n: int = parameter(low=1, integer=True)
    m: int = parameter(default=1, low=0, high=32, integer=True)
    alphabet: Sequence[Any] = "ACGT"
    reverse_complement: bool = parameter(default=False, choices=(False, True), kw_only=True)

    def _validate(self) -> None:
        if self.m > self.n:
            raise ParameterError(f"Mismatch: `m` must be at most n={self.n}. Got {self.m}.")
        try:
            symbols = tuple(dict.fromkeys(self.alphabet))
        except TypeError:
            symbols = ()
        if not symbols:
            raise ParameterError(
                f"Mismatch: `alphabet` must be a string of letters or a sequence of hashable symbols. "
                f"Got {self.alphabet!r}."
            )
        if self.reverse_complement and set(symbols) != set(NUCLEOTIDES):
            raise ParameterError(
                f"Mismatch: `alphabet` must be 'ACGT' with reverse_complement=True. Got {self.alphabet!r}."
            )
        object.__setattr__(self, "alphabet", as_text(symbols))

    @property
    def domain(self) -> Domain:
        symbols = tuple(self.alphabet)
        return DNA(ambiguous=False) if set(symbols) == set(NUCLEOTIDES) else SequencesOver(symbols)

    @property
    def _window(self) -> int:
        return self.n

    def _levels(self) -> dict[int, Any]:
        return weights_of_patterns(self.n, self.m, len(self.alphabet))

    # -- the definition, by neighbours ----------------------------------------------------------------
    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        near = sum(math.comb(self.n, i) * (len(self.alphabet) - 1) ** i for i in range(self.m + 1))
        if near > 1 << 14:  # too many neighbours of a window to be listed
            return super()._define(x, y, m)
        ours = self._features([x])
        theirs = self._features(self._strands(y))
        return m.real(sum(count * theirs[z] for z, count in ours.items()))

    _block, _diagonal = Matching._block, Matching._diagonal

    def _features(self, strands: list[Any]) -> Counter[Kmer]:
        windows = Counter(window for strand in strands for _, window in self._windows(strand))
        features: Counter[Kmer] = Counter()
        for window, count in windows.items():
            for z in self._neighbours(window):
                features[z] += count
        return features

    def _neighbours(self, window: Kmer) -> Iterator[Kmer]:
        """All n-grams with at most m other letters than a window."""
        for changes in range(self.m + 1):
            for places in combinations(range(self.n), changes):
                others = [[s for s in self.alphabet if s != window[i]] for i in places]
                for letters in product(*others):
                    changed = dict(zip(places, letters, strict=True))
                    yield tuple(changed.get(i, s) for i, s in enumerate(window))

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        """The n-grams z that are near to a window of x and to one of y."""
        ours = self._places(tuple(x), flipped=False)
        for i, strand in enumerate(self._strands(tuple(y))):
            theirs = self._places(tuple(strand), flipped=i > 0)
            for z, found in ours.items():
                if z in theirs:
                    yield Contribution(
                        as_text(z), float(len(found) * len(theirs[z])), tuple(found), tuple(theirs[z])
                    )

    def _weighted_contributions(
        self, points: Sequence[Any], coefficients: np.ndarray, x: Any
    ) -> Iterator[Contribution]:
        sums: dict[Kmer, float] = {}
        for window, total in weighted_counts(map(self._window_counts, points), coefficients).items():
            for z in self._neighbours(window):
                sums[z] = sums.get(z, 0.0) + total
        for i, strand in enumerate(self._strands(tuple(x))):
            for z, found in self._places(tuple(strand), flipped=i > 0).items():
                if z in sums:
                    yield Contribution(as_text(z), float(len(found) * sums[z]), tuple(found))

    def _places(self, x: Kmer, flipped: bool) -> dict[Kmer, list[tuple[int, int]]]:
        found: dict[Kmer, list[tuple[int, int]]] = {}
        for start, window in self._windows(x):
            first = len(x) - start - self.n if flipped else start
            for z in self._neighbours(window):
                found.setdefault(z, []).append((first, first + self.n))
        return found

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "explicit features", "the inner product of the numbers of windows near to each n-gram"
        )


def shared_neighbours(n: int, m: int, size: int, distance: int) -> int:
    """Number of n-grams over an alphabet that are within m letters of both of two at a given distance."""
    total = 0
    if distance > 2 * m:
        return total
    for a in range(distance + 1):  # among the places where the two differ: a letters are those of the first,
        for b in range(distance + 1 - a):  # b those of the second, the others of neither
            neither = distance - a - b
            ways = math.comb(distance, a) * math.comb(distance - a, b) * (size - 2) ** neither
            remaining = m - (distance - min(a, b))  # changes that are left for the places where the two agree
            total += ways * sum(math.comb(n - distance, t) * (size - 1) ** t for t in range(remaining + 1))
    return total


@lru_cache(maxsize=256)
def weights_of_patterns(n: int, m: int, size: int) -> dict[int, int]:
    """Weights w_j with sum_j w_j C(s, j) = the shared neighbours of two n-grams that agree in s places."""
    least = max(0, n - 2 * m)  # with fewer places in common none is near to both
    values = {s: shared_neighbours(n, m, size, n - s) for s in range(least, n + 1)}
    weights = {
        j: sum((-1) ** (j - s) * math.comb(j, s) * values[s] for s in range(least, j + 1))
        for j in range(least, n + 1)
    }
    return {j: w for j, w in weights.items() if w}
