"""Kernels that count common subsequences: symbols in the same order, not necessarily next to each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...contributions import Contribution
from ...engine.string_pairs import Pairs, Scaled, local_alignments, subsequences
from ...intervals import Interval
from ...parameters import parameter
from .base import ScaledKernel
from .common import common_subsequences
from .lengths import as_length_weights

__all__ = ["AllSubsequences", "Subsequence"]


class Subsequence(ScaledKernel):
    r"""Common subsequences of a given length, weighted by how far they spread.

    .. math::
        k(x, y) = \sum_{|u| = n} \phi_u(x) \phi_u(y), \qquad
        \phi_u(x) = \sum_{i_1 < \dots < i_n :\ x_{i_1} \dots x_{i_n} = u} \lambda^{i_n - i_1 + 1}

    (Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins, 2002).  Every way to find u in a sequence counts,
    with :math:`\lambda` to the length of the stretch that it takes.  Positive definite: :math:`\phi` lists
    explicit features.  With ``weights`` the sum :math:`\sum_k w_k k_k` of these kernels for the lengths
    :math:`k = 1, \dots, n`.

    A sequence shorter than n has no subsequence of length n, and k = 0 with all others.  With
    :math:`\lambda = 1` values are numbers of pairs of places, exact up to :math:`2^{53}`.  Long sequences and
    long subsequences have values beyond the range of floats: these are an error, while ``normalized()`` and
    :meth:`log_block` work on scaled numbers and give results at any length.  Block cost: O(n) per pair of
    symbols, on eight pairs of sequences at a time where the machine has vectors of that size.

    Parameters
    ----------
    n : int
        Length, from 1 to 10,000.
    decay : float, default=0.5
        The factor :math:`\lambda`, > 0 and <= 1.
    weights : n numbers, optional
        Weights >= 0 of the lengths 1, ..., n.  By default only length n counts.

    Examples
    --------
    >>> k = Subsequence(2, decay=0.5)
    >>> k("cat", "car"), k("cat", "cat")  # decay^4 and 2 decay^4 + decay^6
    (0.0625, 0.140625)
    >>> print(k.contributions("cat", "cat"))
      weight  pattern
      0.0625  'at'  [1:3 | 1:3]
      0.0625  'ca'  [0:2 | 0:2]
    0.015625  'ct'  [0:3 | 0:3]
    """

    n: int = parameter(low=1, high=10_000, integer=True)
    decay: float = parameter(default=0.5, low=0.0, high=1.0, open_low=True)
    weights: Sequence[float] | None = None

    def _validate(self) -> None:
        if self.weights is not None:
            object.__setattr__(self, "weights", as_length_weights("Subsequence", self.weights, self.n))

    @property
    def _lengths(self) -> tuple[float, ...]:
        """Weights of the lengths 1..n."""
        return (*(0.0,) * (self.n - 1), 1.0) if self.weights is None else tuple(self.weights)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        decay, zero = m.real(self.decay), m.real(0)
        spread = [[zero] * (len(y) + 1) for _ in range(self.n)]  # of length k + 1, up to here
        totals = [zero] * self.n
        for a in x:
            for k in reversed(range(self.n)):
                along = zero
                for j, b in enumerate(y):
                    ends = zero
                    if a == b:
                        ends = decay**2 * (spread[k - 1][j] if k else 1)
                        totals[k] += ends
                    along = decay * along + ends
                    spread[k][j + 1] = decay * spread[k][j + 1] + along
        return m.fsum([m.real(w) * total for w, total in zip(self._lengths, totals, strict=True)])

    def _scaled_values(self, pairs: Pairs) -> Scaled:
        m, e = subsequences(pairs, self.n, self.decay)
        factors, exponents = self._factors
        return _sum_of_scaled(m * factors, e + exponents)

    @property
    def _factors(self) -> Scaled:
        """The weight of each length times ``decay ** (2 * length)``, which may be below every float."""
        squared, power, exponent = self.decay**2, 1.0, 0
        found = []
        for weight in self._lengths:
            power, shift = math.frexp(power * squared)
            exponent += shift
            found.append((weight * power, exponent))
        m, e = np.array(found).T
        return m, e

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        return common_subsequences(x, y, self.decay, self._lengths)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "explicit features", "one feature per subsequence: the sum of decay^span over its places"
        )


class AllSubsequences(ScaledKernel):
    r"""Common subsequences of every length, the empty one among them.

    .. math::
        k(x, y) = \sum_{u} \phi_u(x) \phi_u(y), \qquad
        \phi_u(x) = \sum_{i_1 < \dots < i_p :\ x_{i_1} \dots x_{i_p} = u} \lambda^{i_p - i_1 + 1}

    with :math:`\phi_u = 1` for the empty u.  With :math:`\lambda = 1` it counts in how many ways a
    subsequence of x can be paired with an equal one of y: whole numbers, exact up to :math:`2^{53}`.  It is 1
    plus the sum over all n of ``Subsequence(n, decay)``, at the cost of one length.

    Strictly positive definite: the features are explicit, and since :math:`\phi_u(x) = 0` for :math:`|u| \ge
    |x|, u \ne x`, their matrix on distinct sequences, ordered by length, is triangular with diagonal
    :math:`\lambda^{|x|}`.

    Values grow exponentially with the length: for decay 1 and two random sequences of 1,000 letters out of
    four they have about 350 digits, more than a float can hold.  That is an error, while ``normalized()``
    and :meth:`log_block` work on scaled numbers and give results at any length.  Block cost: O(1) per pair
    of symbols.

    Parameters
    ----------
    decay : float, default=1.0
        The factor :math:`\lambda`, > 0 and <= 1.

    Examples
    --------
    >>> AllSubsequences()("aab", "ab")  # '', a twice, b, ab twice
    6.0
    >>> float(AllSubsequences().normalized()("ab" * 1000, "ba" * 1000)) < 1.0
    True
    """

    decay: float = parameter(default=1.0, low=0.0, high=1.0, open_low=True)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        decay, zero, total = m.real(self.decay), m.real(0), m.real(1)
        spread = [zero] * (len(y) + 1)
        for a in x:
            along, row = zero, [zero]
            for j, b in enumerate(y):
                ends = decay**2 * (1 + spread[j]) if a == b else zero
                total += ends
                along = decay * along + ends
                row.append(decay * spread[j + 1] + along)
            spread = row
        return total

    def _scaled_values(self, pairs: Pairs) -> Scaled:
        # A local alignment of equal symbols only, with one factor for every symbol in a gap.
        m, e = local_alignments(pairs, (self.decay**2, 0.0), self.decay, self.decay)
        return m + np.exp2(-np.minimum(e, 1000.0)), e

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        yield Contribution(x[:0], 1.0)
        yield from common_subsequences(x, y, self.decay, None)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "triangular features",
            "one feature per subsequence; that of x itself is positive at x and zero at all others that are "
            "not longer",
            strict=True,
        )

    bounds = Interval(1.0, math.inf)


def _sum_of_scaled(m: np.ndarray, e: np.ndarray) -> Scaled:
    """Sums of numbers ``m * 2 ** e`` along the last axis."""
    m, shift = np.frexp(m)
    e = np.where(m > 0, e + shift, -np.inf)
    top = e.max(axis=-1)
    top[np.isinf(top)] = 0.0  # a sum of zeros
    return np.ldexp(m, np.maximum(e - top[..., None], -2000.0).astype(np.intc)).sum(axis=-1), top
