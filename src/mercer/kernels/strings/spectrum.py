"""The spectrum of biological sequences: n-grams of one strand or of both, with ambiguous letters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse

from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...domains import Domain, Sequences
from ...errors import InputError, ParameterError
from ...parameters import parameter
from ...sequences.dna import DNA, IUPAC, LETTERS, NUCLEOTIDES, expand, reverse_complement
from .kmers import MOST_CODE, Vocabulary, merge_codes
from .ngrams import CountedKmers, Kmer, NGram, Place
from .strands import mirrored, other_strand
from .windows import Runs, Texts, find_runs

__all__ = ["Spectrum"]

#: Largest number of k-mers that one with ambiguous letters may stand for.
MOST_MEANINGS = 4096

#: The numbers of the nucleotides that each letter stands for.
MEANINGS = [np.array([NUCLEOTIDES.index(c) for c in IUPAC[letter]]) for letter in LETTERS]


class Spectrum(NGram):
    r"""Spectrum kernel: :class:`NGram` under its name in biology, with options for DNA.

    .. math:: k(x, y) = \sum_{z \in \Sigma^n} c_x(z) \, c_y(z)

    With ``weights`` the lengths 1, ..., n are added with weights.  Without the options it is :class:`NGram`,
    for DNA as for proteins.  Positive definite, as an inner product of explicit features; not strictly.
    Cost: linear in the letters, then a sparse matrix product.

    Parameters
    ----------
    n : int
        Number of letters, >= 1.
    weights : sequence of n numbers >= 0, optional
        Weight of each length 1, ..., n; without it those of length n alone count.
    reverse_complement : bool, default=False
        Whether an n-gram and its reverse complement are one feature (as with canonical k-mers: each window
        counts once, under the first of the two in the order of the letters ACGT...).  Then k(x, y) does not
        depend on the strand of x or y.
    ambiguity : {"literal", "skip", "expand"}, default="literal"
        What the letters RYSWKMBDHVN mean: themselves; n-grams that have one do not count; such an n-gram
        counts 1/q for each of the q that it stands for (at most 4096, for n up to 31).

    With either option the sequences must be DNA: small letters are read as capitals, U as T, and a letter
    that is not of IUPAC is an error.  Without them letters keep their case, as in any string: "acg" and "ACG"
    share nothing (``read_fasta(f, case="upper")`` brings them together).

    Examples
    --------
    >>> Spectrum(3)("MKVLA", "GKVLW")
    1.0
    >>> k = Spectrum(2, reverse_complement=True)
    >>> k("AAC", "GTT"), k("AAC", "AAC")
    (2.0, 2.0)
    >>> Spectrum(2, ambiguity="expand")("AR", "AA")  # AR is half AA and half AG
    0.5
    """

    reverse_complement: bool = parameter(default=False, choices=(False, True), kw_only=True)
    ambiguity: str = parameter(default="literal", choices=("literal", "skip", "expand"), kw_only=True)

    def _validate(self) -> None:
        super()._validate()
        if self.ambiguity == "expand" and 4**self.n > MOST_CODE:
            raise ParameterError(f"Spectrum: `n` must be at most 31 with ambiguity='expand'. Got {self.n}.")

    @property
    def domain(self) -> Domain:
        return DNA() if self.reverse_complement or self.ambiguity != "literal" else Sequences()

    @property
    def _is_whole(self) -> bool:
        return self.ambiguity != "expand"

    def _kmers(self, x: Any, n: int) -> Iterator[tuple[Kmer, Any, Place]]:
        for kmer, _, place in super()._kmers(x, n):
            if self.ambiguity == "literal" or set(kmer) <= set(NUCLEOTIDES):
                yield self._feature(kmer), 1, place
            elif self.ambiguity == "expand":
                meanings = expand("".join(kmer), MOST_MEANINGS)
                for meaning in meanings:
                    yield self._feature(tuple(meaning)), Fraction(1, len(meanings)), place

    def _feature(self, kmer: Kmer) -> Kmer:
        """The k-mer or its reverse complement, whichever is the first."""
        if not self.reverse_complement:
            return kmer
        return min(kmer, tuple(reverse_complement(kmer)), key=lambda g: [LETTERS.index(c) for c in g])

    def _counts(self, x: Any, n: int, m: Arithmetic) -> dict[Kmer, Any]:
        plain = self.domain == Sequences()
        return super()._counts(x, n, m) if plain else CountedKmers._counts(self, x, n, m)

    def _amount(self, count: Any, m: Arithmetic) -> Any:
        return m.real(count.numerator) / m.real(count.denominator)

    def _base(self, texts: Texts) -> int:
        plain = len(NUCLEOTIDES)
        if self.domain == Sequences():
            return texts.width
        return plain if self.ambiguity != "literal" or texts.width <= plain else len(LETTERS)

    def _read(self, texts: Texts, like: Texts, vocabulary: Vocabulary, learn: bool) -> scipy.sparse.csr_array:
        if self.domain == Sequences():
            return super()._read(texts, like, vocabulary, learn)
        runs = find_runs(texts.codes, texts.starts, vocabulary.n, vocabulary.base)
        codes = self._canonical(vocabulary, runs, learn)
        if self.ambiguity != "expand":
            return vocabulary.matrix(merge_codes(codes, runs.starts, None, vocabulary), learn)
        rows, more, weights = self._expanded(texts, vocabulary.n)
        rows = np.concatenate([np.repeat(np.arange(len(texts)), np.diff(runs.starts)), rows])
        order = np.argsort(rows, kind="stable")
        codes = np.concatenate([codes, more])[order]
        weights = np.concatenate([np.ones(len(rows) - len(more)), weights])[order]
        starts = np.searchsorted(rows[order], np.arange(len(texts) + 1)).astype(np.int64)
        return vocabulary.matrix(merge_codes(codes, starts, weights, vocabulary), learn)

    def _canonical(self, vocabulary: Vocabulary, runs: Runs, learn: bool) -> np.ndarray:
        """Codes of windows; of both strands the smaller one."""
        if not self.reverse_complement:
            return vocabulary.codes([(runs, np.arange(vocabulary.n))], learn)
        # One array of letters for both strands, so that a vocabulary is learnt from both.
        other = other_strand(runs, vocabulary.n)
        runs = replace(runs, codes=other.codes)
        backward = vocabulary.codes([(other, np.arange(vocabulary.n))], learn)
        forward = vocabulary.codes([(runs, np.arange(vocabulary.n))], False)
        return np.asarray(np.minimum(forward, backward[mirrored(runs)]))

    def _expanded(self, texts: Texts, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row, key and weight of all that windows with ambiguous letters stand for."""
        rows, codes, weights = [], [], []
        for row, window in _ambiguous_windows(texts, n):
            found = np.zeros(1, dtype=np.int64)
            for code in window.tolist():
                found = (4 * found[:, None] + MEANINGS[code]).ravel()
                if len(found) > MOST_MEANINGS:
                    letters = "".join(LETTERS[c] for c in window)
                    raise InputError(
                        f"Spectrum: with ambiguity='expand' an n-gram may stand for at most "
                        f"{MOST_MEANINGS:,}. Got {letters!r} in sequence {row}. "
                        f"Leave such n-grams out with ambiguity='skip'."
                    )
            rows.append(np.full(len(found), row))
            codes.append(
                np.minimum(found, _reverse_complement_codes(found, n)) if self.reverse_complement else found
            )
            weights.append(np.full(len(found), 1 / len(found)))
        if not rows:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
        return np.concatenate(rows), np.concatenate(codes), np.concatenate(weights)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "explicit features",
            "the inner product of the (fractional) counts of n-grams, with weights >= 0",
        )


def _reverse_complement_codes(codes: np.ndarray, n: int) -> np.ndarray:
    """Codes in base 4 of the reverse complements: the digits 3 - d, backwards."""
    result = np.zeros_like(codes)
    for _ in range(n):
        codes, digit = np.divmod(codes, 4)
        result = 4 * result + (3 - digit)
    return result


def _ambiguous_windows(texts: Texts, n: int) -> Iterator[tuple[int, np.ndarray]]:
    """Row and letters of the windows that have an ambiguous letter."""
    for row in np.unique(np.searchsorted(texts.starts, np.flatnonzero(texts.codes >= 4), side="right") - 1):
        codes = texts.codes[texts.starts[row] : texts.starts[row + 1]]
        if len(codes) >= n:
            windows = np.lib.stride_tricks.sliding_window_view(codes, n)
            for start in np.flatnonzero((windows >= 4).any(axis=1)):
                yield int(row), windows[start]
