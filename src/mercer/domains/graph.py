"""One graph: nodes and edges with optional labels, weights and vectors."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse

from ..errors import InputError
from .sequences import check_symbols
from .vocabulary import Vocabulary

__all__ = ["Graph", "contents", "edge_list"]


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
        Parallel edges are kept: a walk may take each of them, and each is a neighbour.  A set of edges can
        have neither labels nor weights, for it has no order.
    labels : sequence of n hashables, or dict by node, optional
        Labels of nodes; without them every node has the label None.
    edge_labels : sequence of hashables, or dict by edge, optional
        One for each edge; None without them.
    weights : sequence of numbers, or dict by edge, optional
        One for each edge; 1 without them.
    attributes : array of shape (n, d), or dict by node, optional
        A vector for each node.
    directed : bool, default=False

    Raises
    ------
    InputError
        Also for iterators, such as ``zip(...)``, which are empty when they are read again.  A dict must have
        a value for each node or edge and none for others; an undirected edge (i, j) may be (j, i) in it.

    Examples
    --------
    >>> g = Graph(3, [(0, 1), (1, 2)], labels="CCO")
    >>> g
    <Graph with 3 nodes and 2 edges, node labels 'C' 'O'>
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
        given: Any = n
        if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 0:
            raise InputError(f"Graph: `n`, the number of nodes, must be an integer >= 0. Got {n!r}.")
        n = int(given)
        if isinstance(edges, set | frozenset) and not (edge_labels is None and weights is None):
            raise InputError(
                "Graph: `edges` must have an order for their labels and weights. "
                f"Got a {type(edges).__name__}. Pass a list."
            )
        ends = _ends(edges, n)
        e = len(ends)
        pairs = [tuple(pair) for pair in ends.tolist()]
        tags = _labels(_in_order(edge_labels, pairs, "edge_labels", directed), e, "edge_labels", "edge")
        values = _weights(_in_order(weights, pairs, "weights", directed), ends)
        labels = _in_order(labels, range(n), "labels")
        attributes = _in_order(attributes, range(n), "attributes")
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
        more = contents(self.labels, self.edge_labels, self.weights, self.attributes)
        return f"<Graph with {self.n} nodes and {arcs}{more}>"


def contents(
    labels: Iterable[Any], edge_labels: Iterable[Any], weights: np.ndarray, attributes: np.ndarray | None
) -> str:
    """What graphs have beside nodes and arcs, for their ``repr``."""
    parts = []
    for kind, found in (("node", labels), ("edge", edge_labels)):
        shown = [repr(label) for label in dict.fromkeys(found) if label is not None]
        if shown:
            parts.append(f", {kind} labels {' '.join(shown[:5])}{' ...' if len(shown) > 5 else ''}")
    if (weights != 1).any():
        parts.append(f", weights {weights.min():g} to {weights.max():g}")
    if attributes is not None:
        parts.append(f", node vectors of length {attributes.shape[1]}")
    return "".join(parts)


def edge_list(edges: Any, caller: str) -> Any:
    """Edges as a list or an array that can be read again, with nothing lost."""
    if isinstance(edges, list | np.ndarray):
        return edges
    problem = ""
    if isinstance(edges, Iterator):
        problem = f"a {type(edges).__name__}, which is empty when it is read again. Pass list(edges)"
    elif isinstance(edges, dict):
        problem = "a dict. Pass list(edges), with its values, edges.values(), as labels or weights"
    elif scipy.sparse.issparse(edges):
        problem = "a sparse matrix. Pass an adjacency matrix without the number of nodes"
    elif isinstance(edges, str) or not isinstance(edges, Iterable):
        problem = repr(edges)
    if problem:
        raise InputError(
            f"{caller}: `edges` must be a sequence of pairs of node numbers, such as [(0, 1), (1, 2)]. "
            f"Got {problem}."
        )
    return list(edges)


def _ends(edges: Any, n: int) -> np.ndarray:
    found = edge_list(edges, "Graph")
    try:
        ends = np.asarray(found)
        ends = ends.reshape(0, 2) if ends.size == 0 else ends
        right = ends.ndim == 2 and ends.shape[1] == 2 and ends.dtype.kind in "iu"
    except ValueError:
        right = False
    if len(found) == 0:
        return np.zeros((0, 2), dtype=np.int32)
    if not right:
        raise InputError(
            "Graph: `edges` must be pairs of node numbers, such as [(0, 1), (1, 2)]. "
            f"Got {str(list(found)[:2]).removesuffix(']')}{', ...]' if len(found) > 2 else ']'}."
        )
    wrong = np.flatnonzero(((ends < 0) | (ends >= n)).any(axis=1))
    if len(wrong):
        i = int(wrong[0])
        raise InputError(
            f"Graph: `edges[{i}]` is {tuple(ends[i].tolist())}. The nodes are the numbers 0 to {n - 1}."
            if n
            else "Graph: `edges` must be empty for a graph without nodes."
        )
    return np.asarray(ends.astype(np.int32))


def _in_order(values: Any, keys: Sequence[Any], name: str, directed: bool = True) -> Any:
    """Values of nodes or edges in the order of these; those of a dict by its keys.

    What has no order is refused, and what can be read only once.
    """
    if values is None or isinstance(values, list | tuple | str | np.ndarray):
        return values
    if isinstance(values, set | frozenset):
        raise InputError(
            f"Graph: `{name}` must have an order. Got a {type(values).__name__}. Pass a list or a dict."
        )
    if isinstance(values, Iterator):
        raise InputError(
            f"Graph: `{name}` must be a sequence. Got a {type(values).__name__}, which is empty when it is "
            f"read again. Pass list({name})."
        )
    if not isinstance(values, Mapping):
        return values
    own = [key if directed or key in values or key[::-1] not in values else key[::-1] for key in keys]
    kind = "node" if isinstance(keys, range) else "edge"
    for problem, wrong in (
        (f"must have a value for each {kind}. It has none for", (key for key in own if key not in values)),
        (f"must have values of {kind}s of the graph alone. Got one for", values.keys() - set(own)),
    ):
        if some := ", ".join(map(repr, islice(wrong, 3))):
            raise InputError(f"Graph: `{name}` {problem} {some}.")
    return [values[key] for key in own]


def _labels(labels: Any, n: int, name: str, kind: str) -> tuple[Any, ...]:
    if labels is None:
        return (None,) * n
    found = tuple(labels.tolist() if hasattr(labels, "tolist") else labels)
    if len(found) != n:
        raise InputError(
            f"Graph: `{name}` must have one label for each of the {n} {kind}s. Got {len(found)}."
        )
    found = tuple(x.item() if isinstance(x, np.generic) else x for x in found)
    check_symbols(found, f"Graph: {name}", "label")
    return found


def _weights(weights: Any, ends: np.ndarray) -> np.ndarray:
    e = len(ends)
    if weights is None:
        return np.ones(e)
    values = _numbers(weights, "weights")
    if values.shape != (e,):
        raise InputError(
            f"Graph: `weights` must be {e} numbers, one for each edge. Got shape {values.shape}."
        )
    if not np.isfinite(values).all():
        i = int(np.flatnonzero(~np.isfinite(values))[0])
        edge = tuple(ends[i].tolist())
        raise InputError(
            f"Graph: `weights[{i}]`, of the edge {edge}, must be a finite number. Got {values[i]}."
        )
    return values


def _numbers(values: Any, name: str) -> np.ndarray:
    try:
        if np.iscomplexobj(values):
            raise TypeError("they are complex")
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"Graph: `{name}` must be numbers: {error}.") from error


def _attributes(attributes: Any, n: int) -> np.ndarray | None:
    if attributes is None:
        return None
    if isinstance(attributes, list | tuple):
        lengths = [len(vector) if hasattr(vector, "__len__") else 1 for vector in attributes]
        if len(set(lengths)) > 1:
            i = next(i for i, length in enumerate(lengths) if length != lengths[0])
            raise InputError(
                "Graph: `attributes` must be vectors of one length. That of node 0 has the length "
                f"{lengths[0]}, that of node {i} the length {lengths[i]}."
            )
    values = _numbers(attributes, "attributes")
    if values.ndim == 1:
        values = values[:, None] if n else values.reshape(0, 0)
    if values.ndim != 2 or len(values) != n:
        raise InputError(
            f"Graph: `attributes` must have a row for each of the {n} nodes. Got shape {values.shape}."
        )
    if not np.isfinite(values).all():
        i = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise InputError(f"Graph: `attributes[{i}]` must be finite numbers. Got {values[i]}.")
    return values
