"""Graphs: nodes and edges with optional labels, weights and vectors."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..digests import digest
from ..errors import InputError
from .base import Domain
from .containers import points_of
from .sequences import check_symbols
from .vocabulary import Vocabulary

__all__ = ["Graph", "GraphBatch", "Graphs"]


class Graph:
    """One graph, an immutable value.

    Nodes are the numbers 0, ..., n - 1.  An *arc* is an edge in one direction: an undirected edge is two
    arcs, an undirected self-loop is one.  So an undirected graph and the directed graph with both arcs of
    every edge are the same graph.  Arcs are in the order of their sources, then of their targets.

    Parameters
    ----------
    n : int
        Number of nodes; 0 is the empty graph.
    edges : sequence of pairs of nodes
        Parallel edges are kept: a walk may take each of them, and each is a neighbour.
    labels : sequence of n hashables, optional
        Labels of nodes; without them every node has the label None.
    edge_labels : sequence of hashables, optional
        One for each edge; None without them.
    weights : sequence of numbers, optional
        One for each edge; 1 without them.
    attributes : array of shape (n, d), optional
        A vector for each node.
    directed : bool, default=False

    Examples
    --------
    >>> g = Graph(3, [(0, 1), (1, 2)], labels="CCO")
    >>> g
    <Graph with 3 nodes and 2 edges>
    >>> g.sources.tolist(), g.targets.tolist()
    ([0, 1, 1, 2], [1, 0, 2, 1])
    """

    __slots__ = ("attributes", "edge_labels", "labels", "n", "sources", "targets", "weights")

    n: int
    sources: np.ndarray
    targets: np.ndarray
    labels: tuple[Any, ...]
    edge_labels: tuple[Any, ...]  # one for each arc
    weights: np.ndarray
    attributes: np.ndarray | None

    def __init__(
        self,
        n: int,
        edges: Iterable[tuple[int, int]] = (),
        *,
        labels: Sequence[Hashable] | None = None,
        edge_labels: Sequence[Hashable] | None = None,
        weights: Any = None,
        attributes: Any = None,
        directed: bool = False,
    ) -> None:
        n = _count(n)
        ends = _ends(edges, n)
        e = len(ends)
        tags = _labels(edge_labels, e, "edge_labels", "edge")
        values = _weights(weights, e)
        loop = ends[:, 0] == ends[:, 1]
        back = np.zeros(0, dtype=np.intp) if directed else np.flatnonzero(~loop)
        sources = np.concatenate([ends[:, 0], ends[back, 1]])
        targets = np.concatenate([ends[:, 1], ends[back, 0]])
        edge = np.concatenate([np.arange(e), back])
        order = np.lexsort((edge, targets, sources))
        self._set(
            n,
            sources[order],
            targets[order],
            _labels(labels, n, "labels", "node"),
            tuple(tags[i] for i in edge[order].tolist()),
            values[edge[order]],
            _attributes(attributes, n),
        )

    def _set(self, *parts: Any) -> None:
        names = ("n", "sources", "targets", "labels", "edge_labels", "weights", "attributes")
        for name, part in zip(names, parts, strict=True):
            if isinstance(part, np.ndarray):
                part.flags.writeable = False
            object.__setattr__(self, name, part)

    @classmethod
    def _of(cls, *parts: Any) -> Graph:
        """A graph of arcs that are known to be right and in order."""
        graph = cls.__new__(cls)
        graph._set(*parts)
        return graph

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Graph never changes: `{name}` cannot be set.")

    def _parts(self) -> tuple[Any, ...]:
        return (
            self.n,
            self.sources,
            self.targets,
            self.labels,
            self.edge_labels,
            self.weights,
            self.attributes,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Graph._of, self._parts()

    def __eq__(self, other: object) -> bool:
        """Whether both have the same nodes, arcs, labels, weights and vectors; isomorphic graphs need not."""
        if not isinstance(other, Graph):
            return NotImplemented
        pairs = zip(self._parts(), other._parts(), strict=True)
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    def __hash__(self) -> int:
        return hash((self.n, self.labels, self.sources.tobytes(), self.targets.tobytes()))

    @property
    def is_symmetric(self) -> bool:
        """Whether every arc has its reverse, with the same label and weight: the graph is undirected."""
        codes = Vocabulary(self.edge_labels)
        tags = np.array([codes.index[t] for t in self.edge_labels], dtype=np.intp)
        forth = np.lexsort((self.weights, tags, self.targets, self.sources))
        back = np.lexsort((self.weights, tags, self.sources, self.targets))
        return bool(
            np.array_equal(self.sources[forth], self.targets[back])
            and np.array_equal(self.targets[forth], self.sources[back])
            and np.array_equal(tags[forth], tags[back])
            and np.array_equal(self.weights[forth], self.weights[back])
        )

    def __repr__(self) -> str:
        a, loops = len(self.sources), int((self.sources == self.targets).sum())
        arcs = f"{(a + loops) // 2} edges" if self.is_symmetric else f"{a} arcs"
        return f"<Graph with {self.n} nodes and {arcs}>"


def _count(n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise InputError(f"Graph: `n`, the number of nodes, must be an integer >= 0. Got {n!r}.")
    return int(n)


def _ends(edges: Any, n: int) -> np.ndarray:
    found = edges if isinstance(edges, np.ndarray) else list(edges)
    try:
        ends = np.asarray(found)
        ends = ends.reshape(0, 2) if ends.size == 0 else ends
        right = ends.ndim == 2 and ends.shape[1] == 2 and ends.dtype.kind in "iu"
    except ValueError:
        right = False
    if len(found) == 0:
        return np.zeros((0, 2), dtype=np.int32)
    if not right:
        raise InputError("Graph: `edges` must be pairs of node numbers, such as [(0, 1), (1, 2)].")
    wrong = np.flatnonzero(((ends < 0) | (ends >= n)).any(axis=1))
    if len(wrong):
        i = int(wrong[0])
        raise InputError(
            f"Graph: `edges[{i}]` is {tuple(ends[i].tolist())}. The nodes are the numbers 0 to {n - 1}."
            if n
            else "Graph: `edges` must be empty for a graph without nodes."
        )
    return np.asarray(ends.astype(np.int32))


def _labels(labels: Any, n: int, name: str, kind: str) -> tuple[Any, ...]:
    if labels is None:
        return (None,) * n
    found = tuple(labels.tolist() if isinstance(labels, np.ndarray) else labels)
    if len(found) != n:
        raise InputError(
            f"Graph: `{name}` must have one label for each of the {n} {kind}s. Got {len(found)}."
        )
    found = tuple(x.item() if isinstance(x, np.generic) else x for x in found)
    check_symbols(found, f"Graph: {name}", "label")
    return found


def _weights(weights: Any, e: int) -> np.ndarray:
    if weights is None:
        return np.ones(e)
    values = np.array(weights, dtype=np.float64)
    if values.shape != (e,):
        raise InputError(
            f"Graph: `weights` must be {e} numbers, one for each edge. Got shape {values.shape}."
        )
    if not np.isfinite(values).all():
        i = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"Graph: `weights[{i}]` must be a finite number. Got {values[i]}.")
    return values


def _attributes(attributes: Any, n: int) -> np.ndarray | None:
    if attributes is None:
        return None
    values = np.array(attributes, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 and n else values.reshape(n, -1) if not n else values
    if values.ndim != 2 or len(values) != n:
        raise InputError(
            f"Graph: `attributes` must have a row for each of the {n} nodes. Got shape {values.shape}."
        )
    if not np.isfinite(values).all():
        i = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise InputError(f"Graph: `attributes[{i}]` must be finite numbers. Got {values[i]}.")
    return values


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Graphs one after the other, in compressed rows: no Python object per node.

    Attributes
    ----------
    node_starts : int64 array of shape (g + 1,)
        Graph i has the nodes ``node_starts[i]:node_starts[i + 1]`` of the batch; it begins at 0.
    arc_starts : int64 array of shape (N + 1,)
        Node v has the arcs ``arc_starts[v]:arc_starts[v + 1]``.
    targets : int32 array
        Where each arc leads to: the number of a node within its graph, 0, ..., n - 1.
    node_codes, arc_codes : int32 arrays
        Numbers of labels, in ``node_labels`` and ``edge_labels``.
    weights : float64 array
        Weights of arcs.
    attributes : float64 array of shape (N, d), or None
        Vectors of nodes.
    node_labels, edge_labels : Vocabulary
        The label of each number, shared by all that is taken from the batch.  No label is the label None.
    """

    node_starts: np.ndarray
    arc_starts: np.ndarray
    targets: np.ndarray
    node_codes: np.ndarray
    arc_codes: np.ndarray
    weights: np.ndarray
    attributes: np.ndarray | None
    node_labels: Vocabulary
    edge_labels: Vocabulary

    @classmethod
    def of(cls, graphs: Sequence[Graph]) -> GraphBatch:
        """The batch of some graphs."""
        nodes: Vocabulary = Vocabulary(label for g in graphs for label in g.labels)
        edges: Vocabulary = Vocabulary(label for g in graphs for label in g.edge_labels)
        degrees = [np.bincount(g.sources, minlength=g.n) for g in graphs]
        return cls(
            _starts([g.n for g in graphs]),
            _starts(np.concatenate([np.zeros(0, dtype=np.int64), *degrees])),
            np.concatenate([np.zeros(0, dtype=np.int32), *(g.targets for g in graphs)]),
            _codes((label for g in graphs for label in g.labels), nodes),
            _codes((label for g in graphs for label in g.edge_labels), edges),
            np.concatenate([np.zeros(0), *(g.weights for g in graphs)]),
            _joined_attributes(graphs),
            nodes,
            edges,
        )

    def __len__(self) -> int:
        return len(self.node_starts) - 1

    def __iter__(self) -> Iterator[Graph]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: int) -> Graph:
        """Graph number i."""
        i = range(len(self))[i]
        first, last = (int(v) for v in self.node_starts[i : i + 2])
        start, end = (int(v) for v in self.arc_starts[[first, last]])
        degrees = np.diff(self.arc_starts[first : last + 1])
        nodes, edges = self.node_labels.elements, self.edge_labels.elements
        return Graph._of(
            last - first,
            np.repeat(np.arange(last - first, dtype=np.int32), degrees),
            self.targets[start:end].copy(),
            tuple(nodes[c] for c in self.node_codes[first:last].tolist()),
            tuple(edges[c] for c in self.arc_codes[start:end].tolist()),
            self.weights[start:end].copy(),
            None if self.attributes is None else self.attributes[first:last].copy(),
        )

    @property
    def sizes(self) -> np.ndarray:
        """Number of nodes of each graph."""
        return np.diff(self.node_starts)

    @property
    def degrees(self) -> np.ndarray:
        """Number of arcs that leave each node."""
        return np.diff(self.arc_starts)

    @cached_property
    def node_graphs(self) -> np.ndarray:
        """The graph of each node."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def sources(self) -> np.ndarray:
        """Where each arc comes from: the number of a node of the batch."""
        return np.repeat(np.arange(len(self.node_codes)), self.degrees)

    @cached_property
    def heads(self) -> np.ndarray:
        """Where each arc leads to: the number of a node of the batch."""
        return np.asarray(self.targets + self.node_starts[self.node_graphs[self.sources]])

    def take(self, index: slice | np.ndarray) -> GraphBatch:
        """Select graphs."""
        chosen = np.arange(len(self))[index]
        nodes = _ranges(self.node_starts[:-1][chosen], self.sizes[chosen])
        arcs = _ranges(self.arc_starts[:-1][nodes], self.degrees[nodes])
        return GraphBatch(
            _starts(self.sizes[chosen]),
            _starts(self.degrees[nodes]),
            self.targets[arcs],
            self.node_codes[nodes],
            self.arc_codes[arcs],
            self.weights[arcs],
            None if self.attributes is None else self.attributes[nodes],
            self.node_labels,
            self.edge_labels,
        )

    def coded_like(self, other: GraphBatch) -> GraphBatch:
        """The same graphs in the label numbers of ``other``; labels that it lacks get numbers beyond its own.

        The vocabularies of the result stay the own ones: its numbers are good for comparing with ``other``,
        not for reading labels back.
        """
        codes = [
            _recoded(mine, own, theirs)
            for mine, own, theirs in (
                (self.node_codes, self.node_labels, other.node_labels),
                (self.arc_codes, self.edge_labels, other.edge_labels),
            )
        ]
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return GraphBatch(**{**fields, "node_codes": codes[0], "arc_codes": codes[1]})


def _recoded(codes: np.ndarray, own: Vocabulary, theirs: Vocabulary) -> np.ndarray:
    if own is theirs:
        return codes
    known = theirs.columns_of(own)
    table = np.where(known < 0, len(theirs) + np.arange(len(known)), known).astype(np.int32)
    return np.asarray(table[codes])


def _joined_attributes(graphs: Sequence[Graph]) -> np.ndarray | None:
    found = [g.attributes for g in graphs if g.attributes is not None]
    if not found:
        return None
    widths = {a.shape[1] for a in found if len(a)}
    if len(widths) > 1:
        raise InputError(f"graphs must have node attributes of one length. Got the lengths {sorted(widths)}.")
    width = widths.pop() if widths else 0
    for i, g in enumerate(graphs):
        if g.attributes is None and g.n:
            raise InputError(
                f"graph {i} has no node attributes, while others have vectors of length {width}."
            )
    return np.concatenate([a.reshape(-1, width) for a in found])


def _codes(labels: Iterable[Hashable], vocabulary: Vocabulary) -> np.ndarray:
    return np.fromiter((vocabulary.index[label] for label in labels), dtype=np.int32)


def _starts(lengths: Any) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The numbers ``start, ..., start + length - 1`` of all ranges, one after the other."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(int(ends[-1]) if len(ends) else 0)


@dataclass(frozen=True)
class Graphs(Domain):
    """Graphs with optional labels and weights.

    Examples
    --------
    >>> batch = Graphs().validate([(3, [(0, 1), (1, 2)]), Graph(2, [(0, 1)], labels="CO")])
    >>> len(batch), batch.sizes.tolist()
    (2, [3, 2])
    """

    def validate(self, X: Any, name: str = "X") -> GraphBatch:
        if isinstance(X, GraphBatch):
            return X
        points = points_of(X, name, "a sequence of graphs")
        return GraphBatch.of([self._graph(x, f"{name}[{i}]") for i, x in enumerate(points)])

    def _graph(self, x: Any, name: str) -> Graph:
        if isinstance(x, Graph):
            return x
        if isinstance(x, tuple) and len(x) == 2:
            return Graph(*x)
        raise InputError(f"{name} must be a graph, or a pair (n, edges). Got {type(x).__name__}.")

    def _digests(self, X: GraphBatch) -> list[str]:
        return [digest(g._parts()) for g in X]

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        return [_random_graph(rng) for _ in range(n)]

    def __str__(self) -> str:
        return "graphs"


def _random_graph(rng: np.random.Generator) -> Graph:
    """A graph of up to six nodes with up to three labels."""
    n = int(rng.integers(0, 7))
    edges = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.5]
    return Graph(n, edges, labels=rng.integers(0, 3, n).tolist(), weights=rng.integers(1, 4, len(edges)))
