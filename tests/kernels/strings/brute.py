"""Kernels on strings by listing everything that they sum over, in exact arithmetic."""

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

Pairing = tuple[tuple[int, int], ...]


def strings(letters: str, longest: int) -> list[str]:
    """All strings of at most so many letters."""
    return ["".join(t) for n in range(longest + 1) for t in product(letters, repeat=n)]


def subsequence_features(x: Any, n: int, decay: Fraction) -> Counter:
    """Decay to the span of every choice of n places, by the symbols that stand there."""
    features: Counter = Counter()
    for places in combinations(range(len(x)), n):
        features[tuple(x[i] for i in places)] += decay ** (places[-1] - places[0] + 1) if n else Fraction(1)
    return features


def subsequence(x: Any, y: Any, n: int, decay: Fraction) -> Fraction:
    a, b = subsequence_features(x, n, decay), subsequence_features(y, n, decay)
    return sum((a[u] * b[u] for u in a), Fraction(0))


def pairings(n: int, m: int) -> Iterator[Pairing]:
    """All increasing lists of pairs of places."""
    for p in range(min(n, m) + 1):
        for left in combinations(range(n), p):
            for right in combinations(range(m), p):
                yield tuple(zip(left, right, strict=True))


def alignment_sum(
    x: Any, y: Any, weight: Callable[[Any, Any], Fraction], first: Fraction, further: Fraction
) -> Fraction:
    """Sum over all pairings of the weights of pairs and gaps."""

    def gap(skipped: int) -> Fraction:
        return first * further ** (skipped - 1) if skipped else Fraction(1)

    total = Fraction(0)
    for pairs in pairings(len(x), len(y)):
        value = Fraction(1)
        for q, (i, j) in enumerate(pairs):
            value *= weight(x[i], y[j])
            if q:
                value *= gap(i - pairs[q - 1][0] - 1) * gap(j - pairs[q - 1][1] - 1)
        total += value
    return total


def edit_distance(x: Any, y: Any, gap: Fraction, substitute: Fraction) -> Fraction:
    """Least cost over all pairings: what is paired is kept or replaced, all else deleted or inserted."""
    return min(
        gap * (len(x) + len(y) - 2 * len(pairs)) + substitute * sum(x[i] != y[j] for i, j in pairs)
        for pairs in pairings(len(x), len(y))
    )


def weighted_degree(x: Any, y: Any, weights: list[Fraction], shift: int) -> Fraction:
    total = Fraction(0)
    for k, w in enumerate(weights, start=1):
        for p in range(len(x) - k + 1):
            for q in range(len(y) - k + 1):
                if abs(p - q) <= shift and x[p : p + k] == y[q : q + k]:
                    total += w * (Fraction(1, 2 * (abs(p - q) + 1)) if p != q else 1)
    return total
