"""Monomials of the coordinates of vectors: the explicit features of polynomials of the inner product."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

__all__ = ["children", "count_polynomial_features", "monomials", "polynomial_features"]


def count_polynomial_features(kernel: Any, n: int) -> int:
    """Number of features of a polynomial kernel on vectors of n numbers."""
    d = kernel.degree
    if kernel.offset > 0:
        return math.comb(n + d, d)
    return math.comb(n + d - 1, d) if n else 0


def polynomial_features(X: np.ndarray, kernel: Any) -> np.ndarray:
    r"""Features of a polynomial kernel at vectors, in order of degree.

    .. math:: \sqrt{\frac{d! \, c^{d - |i|}}{i_1! \cdots i_N! \, (d - |i|)!}} \; x_1^{i_1} \cdots x_N^{i_N},
              \qquad |i| \le d

    for the width 1: other vectors are divided by it before.
    """
    features, degrees = monomials(X, kernel.degree, np.ones(X.shape[0]))
    # The monomials come divided by sqrt(i!); what is left of the weight depends on the degree alone.
    factorials = np.array([float(math.factorial(s)) for s in range(kernel.degree + 1)])
    scale = np.sqrt(kernel.weights() * factorials)
    keep = slice(0, None) if kernel.offset > 0 else degrees == kernel.degree
    return np.asarray((features * scale[degrees])[:, keep])


def monomials(X: np.ndarray, degree: int, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Monomials :math:`f \, x^i / \sqrt{i!}` of degrees 0..degree, and their degrees.

    Each comes from one of lower degree by one product, so that a small factor ``first`` keeps large powers in
    range.
    """
    levels = _levels(X.shape[1], degree)
    levels_values = [np.asarray(first, dtype=X.dtype)[:, None]]
    for parents, variables, roots in levels:
        levels_values.append(levels_values[-1][:, parents] * X[:, variables] / roots.astype(X.dtype))
    degrees = np.repeat(np.arange(degree + 1), [values.shape[1] for values in levels_values])
    return np.hstack(levels_values), degrees


@lru_cache(maxsize=16)
def _levels(n: int, degree: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """For each degree from 1: which monomial each extends, by which variable, the root of its exponent."""
    last, exponent = np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp)
    levels = []
    for _ in range(degree):
        parents, variables = children(last, n)
        exponent = np.where(variables == last[parents], exponent[parents], 0) + 1
        last = variables
        levels.append((parents, variables, np.sqrt(exponent)))
    return levels


def children(start: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Extend each item by the variables ``start[i], ..., n - 1``: indices of the items, and the variables."""
    counts = np.maximum(n - start, 0)
    parents = np.repeat(np.arange(len(start)), counts)
    offsets = np.arange(len(parents)) - np.repeat(np.cumsum(counts) - counts, counts)
    return parents, start[parents] + offsets
