"""Substrings that two sequences share at the same positions, or at positions close to each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...contributions import Contribution
from ...engine.string_pairs import Pairs, weighted_degree
from ...parameters import parameter
from .base import PairKernel
from .lengths import as_length_weights

__all__ = ["WeightedDegree"]


class WeightedDegree(PairKernel):
    r"""Weighted degree kernel: substrings of up to d symbols that stand at the same positions.

    .. math::
        k(x, y) = \sum_{k=1}^{d} w_k \sum_{p, q} \gamma_{|p - q|}\, [x_{p:p+k} = y_{q:q+k}], \qquad
        \gamma_0 = 1, \quad \gamma_s = \frac{1}{2(s + 1)} \ (1 \le s \le \text{shift}), \quad
        \gamma_s = 0 \text{ beyond}

    (Rätsch and Sonnenburg, 2004; with shifts Rätsch, Sonnenburg and Schölkopf, 2005).  Made for sequences
    with a common origin, such as windows around a site of the genome.  Sequences may differ in length: a
    substring counts wherever it lies within both.

    Positive definite.  Without shifts the features are explicit, one for each position and substring.  With
    shifts it is the product of equality of substrings and of :math:`\gamma_{|p-q|}`, summed over positions;
    :math:`\gamma` is a positive definite function on the integers, for its Fourier series :math:`1 +
    \sum_{s=1}^S \cos(s\theta) / (s + 1)` is at least 1/2 by the inequality of Rogosinski and Szegö (1928).
    Block cost: O(1 + 2 shift) per position, whatever d.

    Parameters
    ----------
    degree : int
        Longest substring d, from 1 to 10,000.
    weights : d numbers, optional
        Weights >= 0 of the lengths 1, ..., d.  By default :math:`w_k = 2 (d - k + 1) / (d (d + 1))`, which
        sum to 1: every position of a long match counts 1.
    shift : int, default=0
        How far positions may differ, up to 10,000.

    Examples
    --------
    >>> k = WeightedDegree(2, weights=[1.0, 10.0])
    >>> k("gatta", "catta")  # a, t, t, a and at, tt, ta
    34.0
    >>> print(k.contributions("gatta", "cabta"))
    weight  pattern
      10.0  'ta'  [3:5 | 3:5]
       2.0  'a'  [1:2 4:5 | 1:2 4:5]
       1.0  't'  [3:4 | 3:4]
    """

    degree: int = parameter(low=1, high=10_000, integer=True)
    weights: Sequence[float] | None = None
    shift: int = parameter(default=0, low=0, high=10_000, integer=True)

    def _validate(self) -> None:
        if self.weights is not None:
            object.__setattr__(
                self, "weights", as_length_weights("WeightedDegree", self.weights, self.degree)
            )

    @property
    def _lengths(self) -> tuple[float, ...]:
        """Weights of the lengths 1..d."""
        if self.weights is not None:
            return tuple(self.weights)
        d = self.degree
        return tuple(2 * (d - k) / (d * (d + 1)) for k in range(d))

    @property
    def _shifts(self) -> list[float]:
        """Weights of differences between positions."""
        return [1.0, *(1 / (2 * (s + 1)) for s in range(1, self.shift + 1))]

    def _matches(self, x: Any, y: Any) -> Iterator[tuple[int, int, int]]:
        """Pairs of positions p, q within reach of each other, with the length of the longest match there."""
        for p in range(len(x)):
            for q in range(max(0, p - self.shift), min(len(y), p + self.shift + 1)):
                length = 0
                longest = min(self.degree, len(x) - p, len(y) - q)
                while length < longest and x[p + length] == y[q + length]:
                    length += 1
                if length:
                    yield p, q, length

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        shifts = [m.real(1), *(1 / m.real(2 * (s + 1)) for s in range(1, self.shift + 1))]
        lengths = [m.real(w) for w in self._lengths]
        return m.fsum([shifts[abs(p - q)] * sum(lengths[:length]) for p, q, length in self._matches(x, y)])

    def _values(self, pairs: Pairs) -> np.ndarray:
        gains = np.concatenate([[0.0], np.cumsum(self._lengths)])
        return weighted_degree(pairs, gains, np.array(self._shifts))

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        for p, q, length in self._matches(x, y):
            for k, weight in enumerate(self._lengths[:length], start=1):
                if weight:
                    places = ((p, p + k),), ((q, q + k),)
                    yield Contribution(x[p : p + k], weight * self._shifts[abs(p - q)], *places)

    def _certify(self) -> Certificate:
        if self.shift == 0:
            return Certificate.psd(self, "explicit features", "one feature per position and substring there")
        return Certificate.psd(
            self,
            "Rogosinski-Szegö",
            "equality of substrings times a positive definite function of the difference of their positions: "
            "its Fourier series 1 + sum_s cos(s t) / (s + 1) is at least 1/2",
        )
