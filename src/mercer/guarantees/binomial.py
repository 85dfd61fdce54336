"""The relative entropy of two coins, and its inverse: tails of error counts."""

from __future__ import annotations

import math

__all__ = ["binary_entropy", "largest_probability", "log_binomial"]


def binary_entropy(q: float, p: float) -> float:
    r"""Relative entropy :math:`kl(q \| p) = q \log(q/p) + (1-q) \log((1-q)/(1-p))`.

    Examples
    --------
    >>> round(binary_entropy(0.0, 0.5), 6)
    0.693147
    """
    if q == p:
        return 0.0
    if p <= 0.0 or p >= 1.0:
        return math.inf
    left = 0.0 if q == 0.0 else q * math.log(q / p)
    right = 0.0 if q == 1.0 else (1 - q) * (math.log1p(-q) - math.log1p(-p))
    return left + right


def largest_probability(q: float, entropy: float) -> float:
    r"""The largest p with :math:`kl(q \| p) \le` ``entropy``: what q errors on average may come from.

    Rounded upwards: a bound stays one.

    Examples
    --------
    >>> round(largest_probability(0.0, math.log(2)), 9)
    0.5
    """
    if entropy == math.inf or q >= 1.0:
        return 1.0
    if q <= 0.0:  # -log(1 - p) <= entropy
        return -math.expm1(-entropy)
    low, high = q, 1.0
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return high
        low, high = (middle, high) if binary_entropy(q, middle) <= entropy else (low, middle)


def log_binomial(n: int, k: int) -> float:
    """Logarithm of the number of subsets of k of n."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
