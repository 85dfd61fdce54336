"""Tree walks: all pairs of tree-shaped walks in two graphs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from math import comb
from typing import Any, ClassVar, Self

import numpy as np

from ... import _native, memory
from ...arithmetic import FLOAT, Arithmetic
from ...certificate import Certificate
from ...contributions import Contribution
from ...domains import Domain, Graph, GraphBatch, Graphs
from ...engine.runs import checkpoint
from ...engine.threads import num_threads
from ...engine.tiles import PAIRWISE_TILE_SIZE
from ...kernel import Kernel
from ...parameters import parameter
from .counted import label_name
from .product import arcs_by_source
from .similarities import (
    arc_points,
    arc_similarities,
    check_similarity,
    node_points,
    node_similarities,
    premises,
    resolved,
    similarity,
    uses_of,
)
from .walk_sums import Pairs, Walkers, diagonal, native_arrays

__all__ = ["TreeWalk"]


class TreeWalk(Kernel):
    r"""Tree-walk kernel: the pairs of tree-shaped walks of equal shape in two graphs.

    A tree walk begins at a node and goes on along a set of its arcs at once, then from each of the nodes that
    these lead to, and so forth; a node may come up many times.  From the root to a leaf there are at most
    ``depth`` nodes, and each node has at most ``arity`` children.  The kernel is

    .. math:: k(x, y) = \sum_{u, v} T_{\text{depth}}(u, v), \qquad T_1(u, v) = \kappa(u, v), \qquad
              T_{d + 1}(u, v) = \kappa(u, v) \sum_{R} \prod_{(a, b) \in R}
              \text{decay}\, w_a w'_b\, \kappa'(a, b)\, T_d(a, b)

    over the nodes u of x and v of y, and over all matchings R: sets of at most ``arity`` pairs of an arc a
    that leaves u and an arc b that leaves v, in which no arc comes up twice.  :math:`T_d(a, b)` is the value
    at the two nodes that the arcs lead to; the empty matching adds 1.  So a pair of trees of e edges has the
    weight :math:`\text{decay}^e`, and children have no order.  :math:`\kappa` compares nodes and
    :math:`\kappa'` edges, both by the equality of labels unless a kernel is given; w are the weights of
    edges, and parallel edges are children each.

    Depth 1 is :class:`VertexHistogram`, and arity 1 is :class:`RandomWalk` with ``length=depth - 1``.  Walks
    cannot see that a node has two neighbours of different kinds; tree walks can.

    Positive definite if the kernels on nodes and edges are: every matching of s arcs is s! pairs of ordered
    tuples of different arcs, and the sum over pairs of tuples of products is a convolution (Haussler 1999);
    so :math:`T_{d + 1}` is a sum of such kernels with the coefficients :math:`\text{decay}^s / s! \ge 0`
    (Ramon and Gaertner 2003; Harchaoui and Bach 2007; Mahe and Vert 2009).

    Cost: O(g s C(g', s)) for each level and each pair of nodes that match, where g >= g' are their numbers of
    arcs and s = min(arity, g').  Nothing is subtracted: values are right to rounding.  They grow fast with
    the depth; take ``normalized()``, or lower ``decay``.

    Parameters
    ----------
    depth : int
        Most nodes from the root to a leaf, from 1 to 100.
    arity : int, default=2
        Most children of a node, from 1 to 8.
    decay : float, default=0.1
        Weight of each edge of a tree, >= 0.
    node : Kernel, optional
        Similarity of nodes: a kernel on vectors compares their attributes, any other their labels.
        ``Constant(1.0)`` ignores them.  By default equal labels match.
    edge : Kernel, optional
        Similarity of the labels of edges, in the same way.

    Notes
    -----
    :meth:`contributions` names tree walks by the labels of their roots and places them there.

    Examples
    --------
    >>> from mercer.domains import Graph
    >>> path = Graph(3, [(0, 1), (1, 2)], labels="OCN")
    >>> fork = Graph(4, [(0, 1), (0, 2), (0, 3)], labels="CONO")
    >>> TreeWalk(1)(path, fork)  # O twice, C, N
    4.0
    >>> TreeWalk(2, decay=1.0)(path, fork)  # O-C and C-O twice each, N-C, C-N; C with both O and N twice
    12.0
    >>> TreeWalk(2, arity=1, decay=1.0)(path, fork)
    10.0
    >>> print(TreeWalk(2, decay=1.0).contributions(path, fork))
    weight  pattern
       6.0  'trees from C'  [1:2 | 0:1]
       4.0  'trees from O'  [0:1 | 1:2 3:4]
       2.0  'trees from N'  [2:3 | 2:3]
    """

    _always_double: ClassVar[bool] = True

    depth: int = parameter(low=1, high=100, integer=True)
    arity: int = parameter(default=2, low=1, high=8, integer=True, kw_only=True)
    decay: float = parameter(default=0.1, low=0.0, kw_only=True)
    node: Kernel | None = dataclasses.field(default=None, kw_only=True)
    edge: Kernel | None = dataclasses.field(default=None, kw_only=True)

    def _validate(self) -> None:
        check_similarity("TreeWalk", "node", self.node)
        check_similarity("TreeWalk", "edge", self.edge)

    @property
    def domain(self) -> Domain:
        return Graphs(uses=uses_of(self.node, self.edge))

    _tile_size = PAIRWISE_TILE_SIZE

    # -- the definition -----------------------------------------------------------------------
    def _define(self, x: Graph, y: Graph, m: Arithmetic) -> Any:
        return m.fsum(value for row in self._table(x, y, m) for value in row)

    def _table(self, x: Graph, y: Graph, m: Arithmetic) -> list[list[Any]]:
        """The sum over pairs of tree walks from each pair of roots."""
        points, others = node_points(self.node, x, m), node_points(self.node, y, m)
        tags, other_tags = arc_points(self.edge, x, m), arc_points(self.edge, y, m)
        similar = [[similarity(self.node, a, b, m) for b in others] for a in points]
        ours, theirs = arcs_by_source(x), arcs_by_source(y)
        decay, table = m.real(self.decay), similar
        weights, other_weights = [*map(m.real, x.weights)], [*map(m.real, y.weights)]

        def factors(u: int, v: int) -> list[list[Any]]:
            """Of each arc of u with each of v."""
            return [
                [
                    decay
                    * (weights[a] * other_weights[b])
                    * (similarity(self.edge, tags[a], other_tags[b], m) * table[s][t])
                    for b, t in theirs[v]
                ]
                for a, s in ours[u]
            ]

        for _ in range(self.depth - 1):
            table = [
                [s * _matchings(factors(u, v), self.arity, m) if s != 0 else s for v, s in enumerate(row)]
                for u, row in enumerate(similar)
            ]
        return table

    # -- blocks -------------------------------------------------------------------------------
    def _prepare(self, X: GraphBatch) -> Walkers:
        return Walkers(X, X.sizes)

    def _block(self, X: Walkers, Y: Walkers | None) -> np.ndarray:
        pairs = Pairs.block(X, Y)
        return pairs.matrix(self._values(pairs))

    def _diagonal(self, X: Walkers) -> np.ndarray:
        return diagonal(X, self._values)

    def _values(self, pairs: Pairs) -> np.ndarray:
        X, Y = pairs.X.graphs, pairs.Y.graphs
        self._check_memory(X, Y)
        node_rows, node_columns, nodes = node_similarities(self.node, X, Y)
        arc_rows, arc_columns, arcs = arc_similarities(self.edge, X, Y)
        values = np.empty(len(pairs.rows))
        _native.tree_walk_sums(
            native_arrays(pairs.X, node_rows, arc_rows),
            native_arrays(pairs.Y, node_columns, arc_columns),
            nodes,
            arcs,
            self.depth,
            self.arity,
            self.decay,
            pairs.rows,
            pairs.cols,
            values,
            num_threads(),
            checkpoint,
        )
        return values

    def _check_memory(self, X: GraphBatch, Y: GraphBatch) -> None:
        most = int(X.sizes.max(initial=0)) * int(Y.sizes.max(initial=0))
        arcs = min(int(X.degrees.max(initial=0)), int(Y.degrees.max(initial=0)))
        sets = sum(comb(arcs, size) for size in range(self.arity + 1)) if self.depth > 1 else 0
        memory.require(
            24 * most * num_threads() + (48 + 32 * self.arity + 8 * num_threads()) * sets,
            f"the pairs of nodes and {sets:,} sets of up to {self.arity} of {arcs} arcs of a node",
            "Lower `arity`, or compare smaller graphs.",
        )

    def _resolve(self, X: GraphBatch, weight: np.ndarray | None) -> Self:
        return self.replace(**resolved(self.node, self.edge, X, weight))

    # -- explanation and proof ----------------------------------------------------------------
    def _contributions(self, x: Graph, y: Graph) -> Iterator[Contribution]:
        table = np.array(self._table(x, y, FLOAT), dtype=np.float64).reshape(x.n, y.n)
        roots: dict[Any, list[int]] = {}
        for u, label in enumerate(x.labels):
            roots.setdefault(label, []).append(u)
        for label, some in roots.items():
            values = table[some]
            ours = {
                (u, u + 1): part for u, part in zip(some, values.sum(axis=1).tolist(), strict=True) if part
            }
            theirs = {(v, v + 1): part for v, part in enumerate(values.sum(axis=0).tolist()) if part}
            if ours or theirs:
                yield Contribution(
                    "trees" if label is None else f"trees from {label_name(label)}",
                    float(values.sum()),
                    tuple(ours),
                    tuple(theirs),
                    _x_parts=tuple(ours.values()),
                    _y_parts=tuple(theirs.values()),
                )

    def _certify(self) -> Certificate:
        rests_on = premises(self.node, self.edge)
        if not all(claim.proved for claim in rests_on):
            why = "the kernels on nodes and edges are not known to be positive definite"
            return Certificate.unknown(self, why, rests_on)
        return Certificate.psd(
            self,
            "convolution over tree walks",
            "sums over tuples of different arcs of products of kernels, with coefficients decay^s / s! >= 0",
            premises=rests_on,
        )


def _matchings(factors: Sequence[Sequence[Any]], most: int, m: Arithmetic) -> Any:
    """Sum over the matchings of at most so many rows with columns, of the products of their entries."""
    sums: dict[frozenset[int], Any] = {frozenset(): m.real(1)}  # by the columns that are used
    for row in factors:
        for used, value in list(sums.items()):
            for column, factor in enumerate(row):
                if len(used) < most and column not in used and factor != 0:
                    larger = used | {column}
                    sums[larger] = sums.get(larger, m.real(0)) + value * factor
    return m.fsum(sums.values())
