"""Graphs as they come: of networkx and other libraries, as matrices, as lists of edges."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from ..digests import POINT_BYTES, encode
from ..errors import DigestError, InputError
from .base import Domain
from .containers import points_of
from .graph import Graph
from .graph_batch import GraphBatch

__all__ = ["Graphs"]

FORMS = (
    "a networkx graph, a square adjacency matrix, a pair (adjacency, labels), (n, edges) or "
    "(n, edges, labels)"
)

#: Names of attributes that need not be there.
DEFAULTS = {"label": "label", "edge_label": "label", "weight": "weight", "attributes": "attributes"}


@dataclass(frozen=True)
class Graphs(Domain):
    """Graphs with optional labels, weights and node vectors.

    A graph is one of

    - a networkx graph, directed or not, with or without parallel edges; its nodes are numbered as they are
      iterated.  Graphs of igraph and of PyTorch Geometric are read in the same way;
    - a square matrix, dense or sparse: its nonzero entries are edges, their values the weights.  A symmetric
      matrix is an undirected graph; any other is refused unless ``directed`` is set;
    - a pair ``(adjacency, labels)`` of such a matrix and the labels of the nodes;
    - ``(n, edges)`` or ``(n, edges, labels)``, with edges (i, j) or (i, j, weight) between the numbers
      0, ..., n - 1;
    - a :class:`~mercer.graphs.Graph`.

    Many of them come as a list, an array of adjacencies of shape (g, n, n), a column of a frame, or a
    :class:`~mercer.graphs.GraphBatch`.

    Parameters
    ----------
    label, edge_label, weight, attributes : str or None
        Names of the attributes that hold labels of nodes and edges, weights of edges, and vectors of nodes.
        None reads nothing.  Under the default names, attributes may be absent; a name of your own must be
        there.  In one graph all nodes have a label or none has; a missing weight is 1.
    directed : bool, default=False
        Whether matrices and lists of edges are directed graphs; graphs of libraries know it themselves.

    Examples
    --------
    >>> batch = Graphs().validate([(3, [(0, 1), (1, 2)]), ([[0, 1], [1, 0]], "CO")])
    >>> batch
    <GraphBatch of 2 graphs with 5 nodes and 6 arcs>
    >>> batch[1].labels
    ('C', 'O')
    """

    label: str | None = "label"
    edge_label: str | None = "label"
    weight: str | None = "weight"
    attributes: str | None = "attributes"
    directed: bool = False

    def validate(self, X: Any, name: str = "X") -> GraphBatch:
        if isinstance(X, GraphBatch):
            return X
        if _is_single(X):
            raise InputError(
                f"{name} must be a sequence of graphs. Got a single one ({type(X).__name__}). Pass a list of "
                f"one: [{name}]."
            )
        stacked = isinstance(X, np.ndarray) and X.ndim == 3
        points = list(X) if stacked else points_of(X, name, "a sequence of graphs")
        return GraphBatch.of([self._graph(x, f"{name}[{i}]") for i, x in enumerate(points)])

    def point(self, x: Any, name: str = "x") -> Graph:
        return self._graph(x, name)

    def pair(self, x: Any, y: Any) -> tuple[Graph, Graph]:
        return self._graph(x, "x"), self._graph(y, "y")

    def _graph(self, x: Any, name: str) -> Graph:
        if isinstance(x, Graph):
            return x
        try:
            found = self._converted(x)
        except InputError as error:
            raise InputError(f"{name}: {str(error).removeprefix('Graph: ')}") from error
        if found is None:
            kind = getattr(x, "dtype", None)
            what = f"{type(x).__name__}{'' if kind is None else f' of type {kind}'}"
            raise InputError(f"{name} must be a graph: {FORMS}. Got {what}.")
        return found

    def _converted(self, x: Any) -> Graph | None:
        if _is_networkx(x):
            return self._from_networkx(x)
        if _is_igraph(x):
            nodes, edges = ([item.attributes() for item in seq] for seq in (x.vs, x.es))
            return self.from_records(range(x.vcount()), nodes, x.get_edgelist(), edges, x.is_directed())
        if hasattr(x, "edge_index"):
            return self._from_arcs(x)
        if isinstance(x, tuple):
            return self._from_tuple(x)
        matrix = _matrix(x)
        return None if matrix is None else self._from_matrix(matrix, None)

    def _from_tuple(self, x: tuple[Any, ...]) -> Graph | None:
        if len(x) not in (2, 3):
            return None
        first, second, *labels = x
        if isinstance(first, int | np.integer):
            n: Any = first
            edges, weights = _weighted(second)
            own = labels[0] if labels else None
            return Graph(n, edges, labels=own, weights=weights, directed=self.directed)
        matrix = None if labels else _matrix(first)
        return None if matrix is None else self._from_matrix(matrix, second)

    def _from_matrix(self, A: Any, labels: Any) -> Graph:
        if A.shape[0] != A.shape[1]:
            raise InputError(f"the adjacency must be a square matrix. Got shape {A.shape}.")
        A = scipy.sparse.csr_array(A, dtype=np.float64, copy=True)
        A.sum_duplicates()
        A.eliminate_zeros()
        rows, columns = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr)), A.indices
        graph = Graph(
            A.shape[0], np.column_stack([rows, columns]), labels=labels, weights=A.data, directed=True
        )
        if not self.directed and (wrong := (A != A.T).tocoo()).nnz:
            i, j = int(wrong.row[0]), int(wrong.col[0])
            raise InputError(
                f"the adjacency must be symmetric: entry ({i}, {j}) is {A[i, j]:g}, entry ({j}, {i}) is "
                f"{A[j, i]:g}. For directed graphs use mercer.graphs.as_graphs(X, directed=True), or pass "
                "graphs of networkx.DiGraph; of rounding errors take (A + A.T) / 2."
            )
        return graph

    def _from_networkx(self, x: Any) -> Graph:
        nodes = dict(x.nodes(data=True))
        number = {v: i for i, v in enumerate(nodes)}
        edges = list(x.edges(data=True))
        ends = [(number[u], number[v]) for u, v, _ in edges]
        return self.from_records(nodes, nodes.values(), ends, [d for _, _, d in edges], x.is_directed())

    def from_records(
        self, names: Any, nodes: Any, ends: list[tuple[int, int]], edges: Any, directed: bool
    ) -> Graph:
        """The graph of a dict of attributes for each node and each edge."""
        nodes, edges = list(nodes), list(edges)
        return Graph(
            len(nodes),
            ends,
            labels=self._read(nodes, "label", "node", names),
            edge_labels=self._read(edges, "edge_label", "edge", ends),
            weights=self._read(edges, "weight", "edge", ends, default=1.0),
            attributes=self._read(nodes, "attributes", "node", names),
            directed=directed,
        )

    def _read(
        self, records: Sequence[Mapping[str, Any]], role: str, kind: str, names: Any, default: Any = None
    ) -> list[Hashable] | None:
        """One attribute of all nodes or edges; None if it is absent from all and need not be there."""
        name = getattr(self, role)
        have = [name in record for record in records] if name is not None else []
        if not any(have):
            if records and name not in (None, DEFAULTS[role]):
                known = sorted({str(key) for record in records for key in record})
                raise InputError(f"no {kind} has the attribute {name!r} (`{role}`). There are {known}.")
            return None
        if default is None and not all(have):
            which = list(names)[have.index(False)]
            raise InputError(
                f"{kind} {which!r} has no attribute {name!r} (`{role}`), while other {kind}s have it. Give "
                f"it to all {kind}s of the graph or to none."
            )
        return [record.get(name, default) for record in records]

    def _from_arcs(self, x: Any) -> Graph:
        """The graph of an object with arrays, as those of PyTorch Geometric: every arc is listed."""
        found: dict[str, Any] = {}
        for role, default in DEFAULTS.items():
            name = getattr(self, role)
            if role == "edge_label" and name == self.label:  # nodes and edges have no names apart here
                name = None
            found[role] = None if name is None else getattr(x, name, None)
            if found[role] is None and name not in (None, default):
                raise InputError(f"the graph has no attribute {name!r} (`{role}`).")
        return Graph(
            int(x.num_nodes),
            np.asarray(x.edge_index).T,
            labels=found["label"],
            edge_labels=found["edge_label"],
            weights=found["weight"],
            attributes=found["attributes"],
            directed=True,
        )

    def _digests(self, X: GraphBatch) -> list[str]:
        """Digests of graphs; labels count by their own digests, so that no number of a batch matters."""
        nodes, edges = (
            np.array([_label_digest(label) for label in labels.elements], dtype=f"V{POINT_BYTES}")
            for labels in (X.node_labels, X.edge_labels)
        )
        vectors = np.zeros((len(X.node_codes), 0)) if X.attributes is None else X.attributes
        head = b"graph" if X.attributes is None else b"graph with vectors of %d" % vectors.shape[1]
        by_node = [memoryview(_raw(a)) for a in (X.degrees, nodes[X.node_codes], vectors + 0.0)]
        by_arc = [memoryview(_raw(a)) for a in (X.targets, edges[X.arc_codes], X.weights + 0.0)]
        bounds = X.node_starts.tolist(), X.arc_starts[X.node_starts].tolist()
        found = []
        for i in range(len(X)):
            state = hashlib.blake2b(head, digest_size=POINT_BYTES)
            for parts, starts in zip((by_node, by_arc), bounds, strict=True):
                for part in parts:
                    state.update(part[starts[i] : starts[i + 1]])
            found.append(state.hexdigest())
        return found

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        return [_random_graph(rng) for _ in range(n)]

    def __str__(self) -> str:
        return "graphs"


def _is_networkx(x: Any) -> bool:
    return hasattr(x, "adj") and hasattr(x, "is_directed") and hasattr(x, "nodes")


def _is_igraph(x: Any) -> bool:
    return hasattr(x, "get_edgelist") and hasattr(x, "vs") and hasattr(x, "es")


def _is_single(X: Any) -> bool:
    if isinstance(X, Graph) or _is_networkx(X) or _is_igraph(X) or hasattr(X, "edge_index"):
        return True
    if isinstance(X, np.ndarray) or scipy.sparse.issparse(X):
        return bool(X.ndim == 2 and X.dtype.kind in "biuf")
    return isinstance(X, tuple) and len(X) > 0 and isinstance(X[0], int | np.integer)


def _weighted(edges: Any) -> tuple[Any, Any]:
    """Edges (i, j) or (i, j, weight) as pairs, and the weights where there are any."""
    if isinstance(edges, np.ndarray):
        if edges.ndim != 2 or edges.shape[1] != 3 or edges.dtype.kind not in "iuf":
            return edges, None
        ends = edges[:, :2]
        return (ends.astype(np.int64) if (ends == np.rint(ends)).all() else ends), edges[:, 2]
    edges = list(edges)
    sizes = {len(edge) if isinstance(edge, tuple | list | np.ndarray) else 0 for edge in edges}
    if 3 not in sizes or not sizes <= {2, 3}:
        return edges, None
    return [(edge[0], edge[1]) for edge in edges], [edge[2] if len(edge) > 2 else 1.0 for edge in edges]


def _matrix(x: Any) -> Any:
    """A matrix of numbers, dense or sparse; None if it is something else."""
    if not scipy.sparse.issparse(x):
        if not isinstance(x, list) and not hasattr(x, "__array__"):
            return None
        try:
            x = np.asarray(x)
        except ValueError:  # rows of several lengths
            return None
    return x if x.ndim == 2 and x.dtype.kind in "biuf" else None


def _raw(array: np.ndarray) -> Any:
    """The bytes of the rows of an array, one item for each row, the same on every machine."""
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    width = little.dtype.itemsize * int(np.prod(little.shape[1:]))
    return little.view(np.uint8).reshape(len(array), width)


def _label_digest(label: Any) -> bytes:
    """Digest of a label; numbers that are equal have the same, whatever their type."""
    if isinstance(label, bool) or (isinstance(label, float) and label.is_integer()):
        label = int(label)
    try:
        return hashlib.blake2b(encode(label), digest_size=POINT_BYTES).digest()
    except DigestError as error:
        raise DigestError(f"label {label!r}: {error}") from error


def _random_graph(rng: np.random.Generator) -> Graph:
    """A graph of up to six nodes with up to three labels."""
    n = int(rng.integers(0, 7))
    edges = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.5]
    return Graph(n, edges, labels=rng.integers(0, 3, n).tolist(), weights=rng.integers(1, 4, len(edges)))
