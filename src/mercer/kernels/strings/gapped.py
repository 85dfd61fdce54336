"""Gapped k-mers and wildcards: windows that agree in some of their places."""

from __future__ import annotations

from typing import Any

from ...certificate import Certificate
from ...errors import ParameterError
from ...parameters import parameter
from .matching import Matching

__all__ = ["GappedKmer", "Wildcard"]


class GappedKmer(Matching):
    r"""Kernel of gapped k-mers: stretches of l letters of which only k count.

    .. math:: k(x, y) = \sum_{|S| = k} \sum_u c_x(S, u) \, c_y(S, u)
              = \sum_{a, b} \binom{|\{i : a_i = b_i\}|}{k}

    where :math:`c_x(S, u)` is the number of windows of l letters of x that have the letters u in the places
    S; on the right a and b are all windows of x and of y.  Positive definite: an inner product of explicit
    features.  Not strictly: sequences shorter than l have none.  Values are exact whole numbers (up to
    2^53).

    Cost: C(l, k) passes over the letters, or all pairs of windows, or (if l letters fit into 18 bits) a table
    of all words for each string, whichever is less.

    Parameters
    ----------
    l : int
        Letters of a window, >= 1.
    k : int
        Letters that count, from 1 to l; with k = l it is the :class:`Spectrum` of length l.
    reverse_complement : bool, default=False
        Whether the sequences, then DNA, are read on both strands: k(x, y) + k(x, reverse complement of y),
        which does not depend on the strand of x or y.  (The inner product of features summed over both
        strands, halved.)
    ambiguity : {"literal", "skip"}, default="literal"
        Whether letters such as N are letters like others, or windows that have one do not count (and the
        sequences are DNA).

    With either option the sequences must be DNA: small letters are read as capitals, U as T, and a letter
    that is not of IUPAC is an error.  Without them letters keep their case.

    Examples
    --------
    >>> GappedKmer(3, 2)("ACG", "ATG")  # A.G
    1.0
    >>> print(GappedKmer(3, 2).contributions("ACGT", "ACG"))
    weight  pattern
       1.0  '.CG'  [0:3 | 0:3]
       1.0  'A.G'  [0:3 | 0:3]
       1.0  'AC.'  [0:3 | 0:3]
    """

    l: int = parameter(low=1, integer=True)  # noqa: E741 - the letters of the literature
    k: int = parameter(low=1, integer=True)
    reverse_complement: bool = parameter(default=False, choices=(False, True), kw_only=True)
    ambiguity: str = parameter(default="literal", choices=("literal", "skip"), kw_only=True)

    def _validate(self) -> None:
        if self.k > self.l:
            raise ParameterError(f"GappedKmer: `k` must be at most l={self.l}. Got {self.k}.")

    @property
    def _window(self) -> int:
        return self.l

    def _levels(self) -> dict[int, Any]:
        return {self.k: 1}

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "explicit features", "the inner product of the counts of gapped k-mers")


class Wildcard(Matching):
    r"""Wildcard kernel: patterns of n letters of which up to m may be anything.

    .. math:: k(x, y) = \sum_{j=0}^m \lambda^{2j} \sum_{|S| = n - j} \sum_u c_x(S, u) \, c_y(S, u)

    A pattern has letters u in the places S and wildcards in the j others; a window that fits it counts
    :math:`\lambda^j`.  Positive definite: an inner product of explicit features.  Not strictly: sequences
    shorter than n have none.

    Cost: sum of C(n, j) passes over the letters, or all pairs of windows, whichever is less.

    Parameters
    ----------
    n : int
        Letters of a window, >= 1.
    m : int, default=1
        The most wildcards, from 0 to n, up to 100.
    decay : float, default=0.5
        The factor :math:`\lambda` for each wildcard, in (0, 1].
    reverse_complement, ambiguity :
        As in :class:`GappedKmer`.

    Examples
    --------
    >>> Wildcard(2, 1, decay=0.5)("ab", "ab")  # ab, and a quarter for each of a. and .b
    1.5
    """

    n: int = parameter(low=1, integer=True)
    m: int = parameter(default=1, low=0, high=100, integer=True)
    decay: float = parameter(default=0.5, low=0.0, high=1.0, open_low=True)
    reverse_complement: bool = parameter(default=False, choices=(False, True), kw_only=True)
    ambiguity: str = parameter(default="literal", choices=("literal", "skip"), kw_only=True)

    def _validate(self) -> None:
        if self.m > self.n:
            raise ParameterError(f"Wildcard: `m` must be at most n={self.n}. Got {self.m}.")

    @property
    def _window(self) -> int:
        return self.n

    def _levels(self) -> dict[int, Any]:
        return {self.n - j: self.decay ** (2 * j) for j in range(self.m + 1)}

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "explicit features", "the inner product of the weighted counts of patterns"
        )
