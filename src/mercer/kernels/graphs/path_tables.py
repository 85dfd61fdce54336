"""Paths of graphs as points of kernels on nodes and on lengths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from ...arithmetic import Arithmetic
from ...domains import Data, Vectors, items, take
from ...engine.runs import checkpoint
from ...kernel import Kernel
from ..products import mirrored_up

__all__ = ["PathTable", "as_lengths", "lengths_of", "named_values", "sums_over_paths"]

#: Nodes of the graphs that are compared at a time with as many others; one graph may have more.
MOST_NODES = 2048


@dataclass(frozen=True, eq=False)
class PathTable:
    """Paths of graphs, those of graph i from ``starts[i]`` to ``starts[i + 1]``.

    Attributes
    ----------
    starts : int array of shape (g + 1,)
    first, last, at : int arrays
        Ends of each path, as positions in ``points`` and ``nodes``; its length, as a position in ``lengths``.
    counts : float array
        How often it occurs.
    points, nodes, lengths : Data
        Points of the kernel on nodes; the same prepared; lengths, prepared.
    """

    starts: np.ndarray
    first: np.ndarray
    last: np.ndarray
    at: np.ndarray
    counts: np.ndarray
    points: Data
    nodes: Data
    lengths: Data

    def __len__(self) -> int:
        return len(self.starts) - 1

    def take(self, index: slice | np.ndarray) -> PathTable:
        """Select graphs."""
        chosen = np.arange(len(self))[index]
        paths = [np.arange(self.starts[i], self.starts[i + 1]) for i in chosen]
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *paths])
        return replace(
            self,
            starts=np.concatenate([[0], np.cumsum(np.diff(self.starts)[chosen])]),
            first=self.first[rows],
            last=self.last[rows],
            at=self.at[rows],
            counts=self.counts[rows],
        )

    def used(self) -> PathTable:
        """The same paths, with the nodes and lengths that occur in them."""
        nodes, places = np.unique(np.concatenate([self.first, self.last]), return_inverse=True)
        lengths, at = np.unique(self.at, return_inverse=True)
        return replace(
            self,
            first=places[: len(at)],
            last=places[len(at) :],
            at=at,
            points=take(self.points, nodes),
            nodes=take(self.nodes, nodes),
            lengths=take(self.lengths, lengths),
        )

    def strips(self) -> Iterator[slice]:
        """Ranges of graphs that have :data:`MOST_NODES` ends of paths, or are one."""
        ends = self.ends()
        sizes = np.bincount(ends.graphs, minlength=len(self))
        start = total = 0
        for i, size in enumerate(sizes.tolist()):
            if total and total + size > MOST_NODES:
                yield slice(start, i)
                start, total = i, 0
            total += size
        yield slice(start, len(self))

    def ends(self) -> Ends:
        """The different ends of the paths of each graph."""
        graphs = np.repeat(np.arange(len(self)), np.diff(self.starts))
        width = 1 + int(max(self.first.max(initial=0), self.last.max(initial=0)))
        keys = np.concatenate([graphs * width + self.first, graphs * width + self.last])
        found, places = np.unique(keys, return_inverse=True)
        return Ends(found // width, found % width, places[: len(graphs)], places[len(graphs) :])


class Ends(NamedTuple):
    """Ends of paths: their graphs and points; then, for each path, the numbers of its ends."""

    graphs: np.ndarray
    points: np.ndarray
    first: np.ndarray
    last: np.ndarray


def sums_over_paths(node: Kernel, length: Kernel, X: PathTable, Y: PathTable | None) -> np.ndarray:
    """Sums over the pairs of paths of two graphs of node(u, u') node(v, v') length(d, d')."""
    if Y is not None and len(X.first) and len(Y.first):
        node.domain.match(X.points, Y.points)
    Z = X if Y is None else Y
    K = np.zeros((len(X), len(Z)))
    for rows in X.strips():
        for columns in Z.strips():
            if Y is not None or columns.start <= rows.start:
                K[rows, columns] = _sums(node, length, X.take(rows).used(), Z.take(columns).used())
    return mirrored_up(K) if Y is None else K


def _sums(node: Kernel, length: Kernel, X: PathTable, Y: PathTable) -> np.ndarray:
    """The same for few graphs.

    For each length d of X, with C the counts of pairs (u, v) at that distance and D those of Y, weighted by
    length(d, d'): the sum of the entries of M * (C M D'), graph by graph, where M are the values of nodes.
    """
    K = np.zeros((len(X), len(Y)))
    if not (len(X.first) and len(Y.first)):
        return K
    ours, theirs = X.ends(), Y.ends()
    M = node._block(X.nodes, Y.nodes)[ours.points][:, theirs.points]
    lengths = length._block(X.lengths, Y.lengths)
    of_graph = _indicator(theirs.graphs, len(Y))
    order = np.argsort(X.at, kind="stable")
    for paths in np.split(order, np.flatnonzero(np.diff(X.at[order])) + 1):
        checkpoint()
        weights = Y.counts * lengths[X.at[paths[0]], Y.at]
        some = np.flatnonzero(weights)
        D = scipy.sparse.csr_array(
            (weights[some], (theirs.first[some], theirs.last[some])), shape=(M.shape[1], M.shape[1])
        )
        u, u_place = np.unique(ours.first[paths], return_inverse=True)
        v, v_place = np.unique(ours.last[paths], return_inverse=True)
        C = scipy.sparse.csr_array((X.counts[paths], (u_place, v_place)), shape=(len(u), len(v)))
        terms = M[u] * (C @ (D @ M[v].T).T)
        K += _indicator(ours.graphs[u], len(X)) @ (of_graph @ terms.T).T
    return K


def _indicator(graphs: np.ndarray, count: int) -> scipy.sparse.csr_array:
    """Row i has ones for the nodes of graph i."""
    shape = (count, len(graphs))
    return scipy.sparse.csr_array((np.ones(len(graphs)), (graphs, np.arange(len(graphs)))), shape=shape)


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
