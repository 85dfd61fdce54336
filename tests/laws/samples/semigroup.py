"""Samples of the kernels of sums and differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels.compositions import Semicharacters, Semigroup
from mercer.kernels.mixtures import LaplaceMixture, SpectralMixture
from mercer.kernels.semigroup import ExponentialSum, InverseSum, LogSum

from ..cases import Case
from .reals import POSITIVE, VECTORS

__all__ = ["CASES"]


def inverse_square(s: np.ndarray) -> Any:
    """An even function of one vector or of many."""
    return 1.0 / (1.0 + np.sum(s * s, axis=-1))


def inverse_length(s: Any) -> float:
    """A mixture of semicharacters on strings and on sets under disjoint union."""
    return 1.0 / (1.0 + len(s))


def halves(s: Any) -> float:
    """A semicharacter on strings."""
    return float(0.5 ** len(s))


def without_a(s: Any) -> float:
    """A semicharacter on strings and on sets."""
    return float("a" not in s)


def lacks_b(s: Any) -> float:
    """A semicharacter on strings and on sets."""
    return float("b" not in s)


def decay(x: np.ndarray) -> float:
    """A semicharacter on vectors."""
    return float(np.exp(-0.1 * x.sum()))


def longest(x: Any, y: Any) -> Any:
    """An associative composition of numbers."""
    return max(x, y)


def below_two(x: Any) -> float:
    """A semicharacter of the maximum."""
    return float(x < 2)


STRINGS = ["", "a", "ab", "ba", "abab", "b", "bbbbbbb"]
SETS = [set(), {"a"}, {"a", "b"}, {"b"}, {"c"}, {"a"}]
SUMS = [0.0, 1e-8, 0.25, 0.25, 1.0, 2.0, 40.0, 1e30]
NEAR = [0.0, 1e-8, 0.1, 0.25, 0.25, 0.5, 0.6]
ORTHANT = np.abs(VECTORS)
FAR = np.array([[0.0], [0.0], [-4.0], [1e3], [1e5], [1e5 + 0.5]])

CASES: list[Case] = [
    Case(InverseSum(), POSITIVE),
    Case(LogSum(), POSITIVE),
    *(Case(ExponentialSum(p), SUMS) for p in (0.2, 0.5, 1.0)),
    *(Case(ExponentialSum(p), NEAR) for p in (1.5, 2.0, 7.0)),
    *(Case(ExponentialSum(p), SUMS[1:]) for p in (0.0, -0.5, -1.0, -3.0)),
    Case(SpectralMixture([[1.0, 0.0, -2.0], [0.0, 0.0, 0.0], [0.5, 3.0, 1.0]], [0.5, 1.0, 0.0]), VECTORS),
    Case(SpectralMixture([[1.0, 0.0, -2.0]], 1.0), VECTORS),
    Case(SpectralMixture([[2.0], [0.3]], 0.5), FAR),
    Case(LaplaceMixture([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.5, 3.0, 1.0]], [0.5, 1.0, 0.0]), ORTHANT),
    Case(LaplaceMixture([[1.0, 0.5, 2.0]], 2.0), ORTHANT),
    Case(Semigroup(inverse_square, "identity"), VECTORS),
    Case(Semigroup(inverse_square, "negation", vectorized=True), VECTORS),
    Case(Semigroup(inverse_square, "identity", nonnegative=True, vectorized=True), ORTHANT),
    Case(Semigroup(inverse_length, compose="concatenation"), STRINGS),
    Case(Semigroup(inverse_length, "reversal", compose="concatenation"), STRINGS),
    Case(Semigroup(inverse_length, compose="union"), SETS),
    Case(Semicharacters([halves, without_a], [1.0, 2.0], compose="concatenation"), STRINGS),
    Case(Semicharacters([halves], compose="concatenation", involution="reversal"), STRINGS),
    Case(Semicharacters([without_a, lacks_b], 0.5, compose="union"), SETS),
    Case(Semicharacters([decay]), ORTHANT),
    Case(Semicharacters([below_two], compose=longest), [0.0, 1.0, 1.0, 2.0, 3.0, -1.0]),
]
