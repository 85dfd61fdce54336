r"""Pairs of points of which the first ranks above the second.

With the matrix D of the differences, :math:`(D F)_p = F_{i} - F_{j}` for the pair p = (i, j), a function of
the differences has the gradient :math:`D^\top s` and the curvature :math:`D^\top \mathrm{diag}(\theta) D`,
the Laplacian of the graph of the pairs with the weights :math:`\theta`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ... import memory

__all__ = ["Pairs", "concordance", "ordered_pairs"]

Array: TypeAlias = NDArray[np.float64]

#: Graphs with fewer pairs than this part of a full matrix have sparse Laplacians.
SPARSE = 1 / 128

#: Pairs that are compared at a time.
BAND = 1 << 22


class Pairs(NamedTuple):
    """Pairs (first, second) with weights, of points 0 to size - 1; no pair occurs twice."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    weight: Array
    size: int

    def differences(self, F: Array) -> Array:
        """``D F``."""
        return np.asarray(F[self.first] - F[self.second])

    def adjoint(self, s: Array) -> Array:
        """``D' s``."""
        up = np.bincount(self.first, s, self.size)
        return np.asarray(up - np.bincount(self.second, s, self.size), dtype=np.float64)

    def laplacian(self, theta: Array) -> Any:
        """``D' diag(theta) D``, an array or, of few pairs, a sparse array."""
        n = self.size
        degrees = np.bincount(self.first, theta, n) + np.bincount(self.second, theta, n)
        if len(theta) < SPARSE * n**2:
            half = sparse.coo_array((theta, (self.first, self.second)), shape=(n, n)).tocsr()
            return sparse.diags_array(degrees).tocsr() - half - half.T
        H = np.zeros((n, n))
        H[self.first, self.second] = -theta
        H[self.second, self.first] = -theta
        H[np.arange(n), np.arange(n)] = degrees
        return H


def ordered_pairs(y: Array, groups: NDArray[np.intp], weight: Array | None, caller: str) -> Pairs:
    """All pairs of points of the same group of which the first has the larger target.

    Parameters
    ----------
    y : array of shape (n,)
    groups : array of shape (n,)
        Codes of the groups.
    weight : array of shape (n,), optional
        A pair has the product of the weights of its points: weight 2 is a repeated point.
    caller : str
        Whose pairs they are, for the error if they do not fit into memory.
    """
    weight, members = np.ones(len(y)) if weight is None else weight, _members(groups)
    count = 0
    for index in members:
        ties = np.unique(y[index], return_counts=True)[1].astype(np.int64)
        count += int((len(index) ** 2 - (ties**2).sum()) // 2)
    # Bytes that solvers hold for each pair: indices, weights and a dozen vectors.
    memory.require(
        128 * count,
        f"{caller}: the {count:,} ordered pairs of {len(y):,} points",
        "Pass `groups`, or fewer points: pairs are formed within groups only.",
    )
    found = [np.nonzero(y[index, None] > y[None, index]) for index in members]
    first = np.concatenate([index[i] for index, (i, _) in zip(members, found, strict=True)])
    second = np.concatenate([index[j] for index, (_, j) in zip(members, found, strict=True)])
    products = weight[first] * weight[second]
    if not products.all():  # tiny weights may have no product
        first, second, products = (v[products > 0] for v in (first, second, products))
    return Pairs(first, second, products, len(y))


def concordance(y: Array, scores: Array, groups: NDArray[np.intp], weight: Array | None = None) -> float:
    """Share of the ordered pairs that the scores order alike; equal scores count one half.

    NaN if there is no pair.
    """
    right = total = 0.0
    weight = np.ones(len(y)) if weight is None else weight
    for index in _members(groups):
        rows = max(1, BAND // len(index))
        for start in range(0, len(index), rows):
            band = index[start : start + rows]
            above = weight[band, None] * weight[None, index] * (y[band, None] > y[None, index])
            differences = scores[band, None] - scores[None, index]
            total += float(above.sum())
            right += float(above[differences > 0].sum()) + 0.5 * float(above[differences == 0].sum())
    return right / total if total > 0 else float("nan")


def _members(groups: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Positions of the points of each group."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
