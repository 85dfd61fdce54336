"""Paths of graphs as points of kernels on nodes and on lengths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...arithmetic import Arithmetic
from ...domains import Data, Vectors, items, take
from ...engine.runs import checkpoint
from ...kernel import Kernel

__all__ = ["PathTable", "as_lengths", "lengths_of", "named_values", "sums_over_paths"]

#: Pairs of paths that are compared at a time.
MOST_PAIRS = 1 << 22


@dataclass(frozen=True, eq=False)
class PathTable:
    """Graphs as rows of counts of paths, and what kernels see of the paths.

    Attributes
    ----------
    counts : csr_array of shape (n, p)
    first, last : int arrays of shape (p,)
        Ends of each path, as positions in ``points`` and ``nodes``.
    at : int array of shape (p,)
        Its length, as a position in ``lengths``.
    points, nodes, lengths : Data
        Points of the kernel on nodes; the same prepared; lengths, prepared.
    """

    counts: Any
    first: np.ndarray
    last: np.ndarray
    at: np.ndarray
    points: Data
    nodes: Data
    lengths: Data

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def take(self, index: slice | np.ndarray) -> PathTable:
        """Select graphs."""
        return replace(self, counts=self.counts[index])

    def used(self) -> PathTable:
        """The same graphs, with the paths, nodes and lengths that occur in them."""
        columns = np.unique(self.counts.indices)
        ends = np.concatenate([self.first[columns], self.last[columns]])
        nodes, places = np.unique(ends, return_inverse=True)
        lengths, at = np.unique(self.at[columns], return_inverse=True)
        half = len(columns)
        return PathTable(
            self.counts[:, columns],
            places[:half],
            places[half:],
            at,
            take(self.points, nodes),
            take(self.nodes, nodes),
            take(self.lengths, lengths),
        )


def sums_over_paths(node: Kernel, length: Kernel, X: PathTable, Y: PathTable | None) -> np.ndarray:
    """Sums over all pairs of paths of two graphs of node(u, u') node(v, v') length(d, d')."""
    Z = X if Y is None else Y
    K = np.zeros((len(X), len(Z)))
    if not (len(X.first) and len(Z.first)):
        return K
    if Y is not None:
        node.domain.match(X.points, Y.points)
    nodes = node._block(X.nodes, None if Y is None else Y.nodes)
    lengths = length._block(X.lengths, None if Y is None else Y.lengths)
    step = max(1, MOST_PAIRS // len(Z.first))
    for start in range(0, len(X.first), step):
        part = slice(start, start + step)
        G = nodes[X.first[part]][:, Z.first]
        G *= nodes[X.last[part]][:, Z.last]
        G *= lengths[X.at[part]][:, Z.at]
        K += X.counts[:, part] @ (Z.counts @ G.T).T
        checkpoint()
    return K


def named_values(
    kernel: Kernel, points: dict[Any, Any], others: dict[Any, Any], m: Arithmetic
) -> dict[tuple[Any, Any], Any]:
    """Values of a kernel on all pairs of points, by their names."""
    domain = kernel.domain
    X, Y = (domain.validate(list(p.values()), "nodes") for p in (points, others))
    domain.match(X, Y)
    ours, theirs = ([domain.to_arithmetic(z, m) for z in items(Z)] for Z in (X, Y))
    return {
        (a, b): kernel._define(p, q, m)
        for a, p in zip(points, ours, strict=True)
        for b, q in zip(others, theirs, strict=True)
    }


def lengths_of(kernel: Kernel, paths: Iterable[tuple[Any, Any, float]]) -> dict[Any, Any]:
    """Lengths of paths as points of a kernel on them, by the length."""
    found = sorted({d for _, _, d in paths})
    return dict(zip(found, items(as_lengths(kernel, np.array(found))), strict=True))


def as_lengths(kernel: Kernel, values: np.ndarray) -> Data:
    """Lengths as points of a kernel on them."""
    points = values[:, None] if isinstance(kernel.domain, Vectors) else values.tolist()
    return kernel.domain.validate(points, "the lengths of paths")
