"""Marginalised walks: the probability that two random walks read the same labels."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from ...arithmetic import FLOAT, Arithmetic
from ...certificate import Certificate
from ...contributions import Contribution
from ...domains import Domain, Graph, GraphBatch, Graphs
from ...engine.tiles import PAIRWISE_TILE_SIZE
from ...errors import InputError, ParameterError
from ...intervals import Interval
from ...kernel import Kernel
from ...parameters import parameter
from .explained import Walked, by_sequence
from .product import ProductGraph
from .walk_sums import Pairs, Series, Walkers, sums

__all__ = ["MarginalizedWalk"]

#: Probabilities are factors of the steps already.
SERIES = Series(1.0, False, None)


class MarginalizedWalk(Kernel):
    r"""Marginalised graph kernel: the probability that random walks on both graphs read the same labels.

    .. math:: k(x, y) = \sum_{h} \sum_{h'} p_x(h) \, p_y(h') \, [\text{h and h' have the same labels}]
              = s' (I - T)^{-1} q

    A walk h starts at a node chosen uniformly.  At every node it stops with the probability ``stop``, else
    takes one of the arcs with probabilities proportional to their weights; at a node without arcs it stops
    for certain.  Labels are those of its nodes and edges, in order (Kashima, Tsuda and Inokuchi 2003).  On
    the pairs of nodes with equal labels, s holds the products of the probabilities to start, q of those to
    stop, and T of those of steps with equal labels.

    Positive definite: the inner product of the probabilities of all sequences of labels.  Between 0 and 1.
    Without labels it only compares lengths, and is the constant :math:`\text{stop} / (2 - \text{stop})` on
    all graphs in which every node has an arc.

    Two extensions (Mahe and others 2004): without tottering a walk never returns at once to the node it
    came from, which keeps it from reading the same edge again and again; Morgan indices refine the labels of
    nodes by the number of walks of some length that start there, so that fewer pairs match, and the kernel is
    faster too.

    Cost: a sparse linear system of all pairs of nodes with equal labels, for each pair of graphs; without
    tottering of pairs of arcs.

    Parameters
    ----------
    stop : float
        Probability to stop at a node, 0 < stop <= 1.
    tottering : bool, default=True
        Whether a walk may return at once to the node it came from.
    morgan : int, default=0
        Steps of the Morgan indices, which start at 1 and become the sum over the neighbours; 0 leaves labels
        as they are.

    Examples
    --------
    >>> from mercer.domains import Graph
    >>> ethanol, ether = Graph(3, [(0, 1), (1, 2)], labels="CCO"), Graph(3, [(0, 1), (1, 2)], labels="COC")
    >>> MarginalizedWalk(0.5)(ethanol, Graph(1, labels="O"))  # stop at O at once: 1/3 * 1/2 against 1
    0.16666666666666666
    >>> k = MarginalizedWalk(0.5)
    >>> round(k(ethanol, ether), 6), round(k(ethanol, ethanol), 6)
    (0.155914, 0.167435)
    >>> print(k.contributions(ethanol, ether)[:2])
       weight  pattern
     0.111111  'C'  [0:1 1:2 | 0:1 2:3]
    0.0277778  'O'  [2:3 | 1:2]
    """

    _always_double: ClassVar[bool] = True

    stop: float = parameter(low=0.0, open_low=True, high=1.0)
    tottering: bool = dataclasses.field(default=True, kw_only=True)
    morgan: int = parameter(default=0, low=0, high=100, integer=True, kw_only=True)

    def _validate(self) -> None:
        if not isinstance(self.tottering, bool):
            raise ParameterError(
                f"MarginalizedWalk: `tottering` must be True or False. Got {self.tottering!r}."
            )

    @property
    def domain(self) -> Domain:
        return Graphs(uses=frozenset({"label", "edge_label", "weight"}))

    _tile_size = PAIRWISE_TILE_SIZE

    def _extended(self, graph: Graph) -> Graph:
        """The graph that is walked on; its first nodes are those of the graph itself."""
        graph = with_morgan_indices(graph, self.morgan) if self.morgan else graph
        return graph if self.tottering else without_tottering(graph)

    # -- values -------------------------------------------------------------------------------
    def _define(self, x: Graph, y: Graph, m: Arithmetic) -> Any:
        if x.n == 0 or y.n == 0:
            return m.real(0)
        for g in (x, y):
            check_weights(g.weights, lambda arc, g=g: f"{g.sources[arc]} to {g.targets[arc]}")  # type: ignore[misc]
        ours, theirs = self._extended(x), self._extended(y)
        (steps, stops), (other_steps, other_stops) = (
            self._probabilities(ours, m),
            self._probabilities(theirs, m),
        )
        product = ProductGraph.of(ours, theirs, m, weights=(steps, other_steps))
        z = product.solved([stops[u] * other_stops[v] for u, v in product.pairs], m.real(1))
        started = (value for (u, v), value in zip(product.pairs, z, strict=True) if u < x.n and v < y.n)
        return m.fsum(started) / (x.n * y.n)

    def _probabilities(self, graph: Graph, m: Arithmetic) -> tuple[list[Any], list[Any]]:
        """Of the step along each arc, and to stop at each node."""
        stop, weights, sources = m.real(self.stop), [*map(m.real, graph.weights)], graph.sources.tolist()
        totals = [m.real(0)] * graph.n
        for weight, u in zip(weights, sources, strict=True):
            totals[u] += weight
        steps = [(1 - stop) * weight / totals[u] for weight, u in zip(weights, sources, strict=True)]
        return steps, [stop if total > 0 else m.real(1) for total in totals]

    def _prepare(self, X: GraphBatch) -> Walkers:
        check_weights(X.weights, lambda arc: _arc_of(X, arc))
        sizes = X.sizes
        if self.morgan or not self.tottering:
            X = GraphBatch.of([self._extended(g) for g in X])
        totals = np.bincount(X.sources, X.weights, len(X.node_codes))
        steps = (1 - self.stop) * X.weights / totals[X.sources]
        return Walkers(dataclasses.replace(X, weights=steps), sizes, self.stop)

    def _block(self, X: Walkers, Y: Walkers | None) -> np.ndarray:
        pairs = Pairs.block(X, Y)
        return pairs.matrix(self._values(pairs))

    def _diagonal(self, X: Walkers) -> np.ndarray:
        own = np.arange(len(X))
        return self._values(Pairs(X, X, own, own))

    def _values(self, pairs: Pairs) -> np.ndarray:
        values, _ = sums(pairs, SERIES, None, None)  # T has row sums below 1: the series converges
        values /= np.maximum(pairs.X.sizes[pairs.rows] * pairs.Y.sizes[pairs.cols], 1)
        return values

    # -- explanation and proof ----------------------------------------------------------------
    def _contributions(self, x: Graph, y: Graph) -> Iterator[Contribution]:
        return by_sequence(self._walked(x), self._walked(y), SERIES, self(x, y))

    def _walked(self, x: Graph) -> Walked:
        graph = self._extended(x)
        steps, stops = self._probabilities(graph, FLOAT)
        starts = np.where(np.arange(graph.n) < x.n, 1 / max(x.n, 1), 0.0)
        nodes = np.concatenate([np.arange(x.n), x.targets])[: graph.n]  # arcs stand for where they lead to
        return Walked(graph, np.array(steps), starts, np.array(stops), nodes)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "explicit features", "the inner product of the probabilities of sequences of labels"
        )

    bounds = Interval(0.0, 1.0)


def _arc_of(X: GraphBatch, arc: int) -> str:
    graph = int(X.node_graphs[X.sources[arc]])
    return f"{X.sources[arc] - X.node_starts[graph]} to {X.targets[arc]} of graph {graph}"


def check_weights(weights: np.ndarray, where: Callable[[int], str]) -> None:
    """Raise unless all weights are positive; ``where`` names the nodes of an arc."""
    wrong = np.flatnonzero(~(weights > 0))
    if len(wrong):
        raise InputError(
            "MarginalizedWalk: weights of edges must be positive numbers, for steps are taken with "
            f"probabilities proportional to them. Got {weights[wrong[0]]} from node {where(int(wrong[0]))}."
        )


def with_morgan_indices(graph: Graph, steps: int) -> Graph:
    """The graph with labels (label, index): the number of walks of so many steps from each node."""
    indices = [1] * graph.n
    arcs = [*zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)]
    for _ in range(steps):
        before, indices = indices, [0] * graph.n
        for u, v in arcs:
            indices[u] += before[v]
    return Graph._of(*graph._parts()[:3], tuple(zip(graph.labels, indices, strict=True)), *graph._parts()[4:])


def without_tottering(graph: Graph) -> Graph:
    """The graph whose nodes are those of a graph and then its arcs.

    An arc has the label of the node that it leads to, and goes on along all arcs but those that lead back to
    where it came from.  Walks that begin at one of the first nodes are the walks that do not totter.
    """
    sources, targets = graph.sources.tolist(), graph.targets.tolist()
    leaving: list[list[int]] = [[] for _ in range(graph.n)]
    for a, u in enumerate(sources):
        leaving[u].append(a)
    steps = [(sources[a], a) for a in range(len(sources))]
    steps += [
        (graph.n + a, b)
        for a, (u, v) in enumerate(zip(sources, targets, strict=True))
        for b in leaving[v]
        if targets[b] != u
    ]
    return Graph(
        graph.n + len(sources),
        [(source, graph.n + b) for source, b in steps],
        labels=[*graph.labels, *(graph.labels[v] for v in targets)],
        edge_labels=[graph.edge_labels[b] for _, b in steps],
        weights=[graph.weights[b] for _, b in steps],
        directed=True,
    )
