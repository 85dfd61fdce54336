"""Graphs as they come: of networkx and other libraries, as matrices, as lists of edges."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse

from ..digests import POINT_BYTES, encode
from ..errors import DigestError, InputError
from .base import Domain
from .containers import points_of
from .graph import Graph, edge_list
from .graph_batch import GraphBatch
from .sparse import check_sparse

__all__ = ["Graphs", "weighted"]

#: Names of attributes that need not be there.
DEFAULTS = {"label": "label", "edge_label": "label", "weight": "weight", "attributes": "attributes"}

#: What PyTorch Geometric calls them, where an object has none of that name.
GEOMETRIC = {"weight": "edge_weight", "attributes": "x"}


@dataclass(frozen=True)
class Graphs(Domain):
    """Graphs with optional labels, weights and node vectors.

    A graph is one of

    - a networkx graph, directed or not, with or without parallel edges; its nodes are numbered as they are
      iterated.  Graphs of igraph are read in the same way;
    - a graph of PyTorch Geometric: ``x`` holds vectors of nodes, ``edge_weight`` weights, and ``edge_attr``
      labels of edges if its numbers are integers, or whole in several columns; others are refused unless an
      argument names them;
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
    uses : frozenset of str, default=frozenset()
        Which of "label", "edge_label", "weight" and "attributes" a kernel uses.  A warning, one for each
        call, names a graph that has no labels where the kernel uses them, but what may be meant as labels.

    Examples
    --------
    >>> batch = Graphs().validate([(3, [(0, 1), (1, 2)]), ([[0, 1], [1, 0]], "CO")])
    >>> batch
    <GraphBatch of 2 graphs with 5 nodes and 6 arcs, node labels 'C' 'O'>
    >>> batch[1].labels
    ('C', 'O')
    """

    label: str | None = "label"
    edge_label: str | None = "label"
    weight: str | None = "weight"
    attributes: str | None = "attributes"
    directed: bool = False
    uses: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

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
        return GraphBatch.of(self._graphs(points, [f"{name}[{i}]" for i in range(len(points))], name))

    def point(self, x: Any, name: str = "x") -> Graph:
        return self._graphs([x], [name], f"[{name}]")[0]

    def pair(self, x: Any, y: Any) -> tuple[Graph, Graph]:
        a, b = self._graphs([x, y], ["x", "y"], "[x, y]")
        return a, b

    def _graphs(self, points: Sequence[Any], names: Sequence[str], whole: str) -> list[Graph]:
        """Read graphs; warn of the first without labels, where the kernel uses them and it may have them."""
        graphs = [self._graph(x, name) for x, name in zip(points, names, strict=True)]
        for role, kind in (("label", "node"), ("edge_label", "edge")):
            if role not in self.uses or getattr(self, role) is None:
                continue
            for x, graph, name in zip(points, graphs, names, strict=True):
                labels = graph.labels if kind == "node" else graph.edge_labels
                problem = None if any(label is not None for label in labels) else self._unread(x, graph, role)
                if problem is not None:
                    warnings.warn(f"{name}: no {kind} has a label. {problem.format(whole)}", stacklevel=3)
                    break
        return graphs

    def _unread(self, x: Any, graph: Graph, role: str) -> str | None:
        """What may be meant as labels in a graph without them, and what to write; None if nothing may."""
        kind = "node" if role == "label" else "edge"
        used = {getattr(self, other) for other in self.uses - {role}} | ({self.weight} - {None})
        if "attributes" in self.uses:
            used.add(GEOMETRIC["attributes"])
        # What the nodes or edges carry, as far as the form of the graph has names.
        named: set[Any] = set()
        if _is_networkx(x):
            named.update(*(d for *_, d in (x.nodes if kind == "node" else x.edges)(data=True)))
        elif _is_igraph(x):
            named.update(*(item.attributes() for item in (x.vs if kind == "node" else x.es)))
        elif kind == "node" and getattr(x, "x", None) is not None:
            named.add("x")
        if unread := sorted(map(str, named - used)):
            return (
                f"Its {kind}s have {', '.join(map(repr, unread))}, which is not used. To take it for labels "
                f"pass mercer.graphs.as_graphs({{}}, {role}={unread[0]!r}); for graphs without labels, "
                f"{role}=None."
            )
        is_unnamed = isinstance(x, tuple) or _matrix(x) is not None
        if kind == "node" or "weight" in self.uses or not is_unnamed or len(np.unique(graph.weights)) < 2:
            return None
        return (
            "The numbers of its edges are weights, which are not used. If they are labels, make graphs by "
            "mercer.graphs.Graph(n, edges, edge_labels=...); if not, pass mercer.graphs.as_graphs({})."
        )

    def _meet(self, other: Domain) -> Self | None:
        return replace(self, uses=self.uses | other.uses) if self == other else None

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
            raise InputError(
                f"{name} must be a graph: a networkx graph, a square adjacency matrix, a pair (adjacency, "
                f"labels), (n, edges) or (n, edges, labels). Got {what}."
            )
        return found

    def _converted(self, x: Any) -> Graph | None:
        if _is_networkx(x):
            nodes = dict(x.nodes(data=True))
            number = {v: i for i, v in enumerate(nodes)}
            edges = list(x.edges(data=True))
            ends = [(number[u], number[v]) for u, v, _ in edges]
            carried = [d for _, _, d in edges]
            return self.from_records(nodes, nodes.values(), ends, carried, x.is_directed())
        if _is_igraph(x):
            records = [[item.attributes() for item in items] for items in (x.vs, x.es)]
            return self.from_records(
                range(x.vcount()), records[0], x.get_edgelist(), records[1], x.is_directed()
            )
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
            edges, weights = weighted(second, "Graph")
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
        names = {role: getattr(self, role) for role in DEFAULTS}
        if names["edge_label"] == names["label"]:  # nodes and edges have no names apart here
            names["edge_label"] = None
        found: dict[str, Any] = {}
        for role, name in names.items():
            other = GEOMETRIC.get(role) if name == DEFAULTS[role] else None
            found[role] = None if name is None else _array(getattr(x, name, None))
            if found[role] is None and other is not None and other not in names.values():
                found[role] = _array(getattr(x, other, None))
            if found[role] is None and name not in (None, DEFAULTS[role]):
                raise InputError(f"the graph has no attribute {name!r} (`{role}`).")
        if found["edge_label"] is None and "edge_attr" not in names.values():
            found["edge_label"] = self._edge_attr(x, found["weight"] is not None)
        n = getattr(x, "num_nodes", None)
        if n is None:
            raise InputError("the graph must have `num_nodes`, the number of its nodes. It has none.")
        return Graph(
            int(n),
            np.asarray(_array(x.edge_index)).T,
            labels=_rows(found["label"]),
            edge_labels=_rows(found["edge_label"]),
            weights=_rows(found["weight"]),
            attributes=found["attributes"],
            directed=True,
        )

    def _edge_attr(self, x: Any, is_weighted: bool) -> Any:
        """Labels of edges that PyTorch Geometric holds in ``edge_attr``."""
        found = _array(getattr(x, "edge_attr", None))
        if found is None or (self.edge_label is None and (is_weighted or self.weight is None)):
            return None
        found = np.asarray(found)
        columns = 1 if found.ndim == 1 else int(np.prod(found.shape[1:]))
        if found.dtype.kind in "biu" or (columns > 1 and bool((found == np.rint(found)).all())):
            return None if self.edge_label is None else found.astype(np.int64)
        raise InputError(
            f"`edge_attr`, of type {found.dtype} and shape {found.shape}, may be weights or labels of edges. "
            "Say which with mercer.graphs.as_graphs(X, weight='edge_attr') or edge_label='edge_attr'; with "
            "weight=None, edge_label=None it is not read."
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
        """Graphs of up to six nodes with up to three labels."""
        graphs = []
        for _ in range(n):
            size = int(rng.integers(0, 7))
            edges = [(i, j) for i in range(size) for j in range(i) if rng.random() < 0.5]
            labels, weights = rng.integers(0, 3, size).tolist(), rng.integers(1, 4, len(edges))
            graphs.append(Graph(size, edges, labels=labels, weights=weights))
        return graphs

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


def weighted(edges: Any, caller: str) -> tuple[Any, Any]:
    """Edges (i, j) or (i, j, weight) as pairs, and the weights where there are any."""
    edges = edge_list(edges, caller)
    if isinstance(edges, np.ndarray):
        if edges.ndim != 2 or edges.shape[1] != 3 or edges.dtype.kind not in "iuf":
            return edges, None
        ends = edges[:, :2]
        return (ends.astype(np.int64) if (ends == np.rint(ends)).all() else ends), edges[:, 2]
    sizes = {len(edge) if isinstance(edge, tuple | list | np.ndarray) else 0 for edge in edges}
    if 3 not in sizes or not sizes <= {2, 3}:
        return edges, None
    for i, edge in enumerate(edges):
        if len(edge) > 2 and (isinstance(edge[2], str | bytes) or not hasattr(edge[2], "__float__")):
            raise InputError(
                f"{caller}: `edges[{i}]` is {tuple(edge)!r}. A third entry is a weight, a number. For labels "
                "of edges write mercer.graphs.Graph(n, [e[:2] for e in edges], edge_labels=[e[2] for e in "
                "edges])."
            )
    return [(edge[0], edge[1]) for edge in edges], [edge[2] if len(edge) > 2 else 1.0 for edge in edges]


def _array(values: Any) -> Any:
    """A tensor as an array; anything else as it is."""
    for step in ("detach", "cpu", "numpy"):
        if hasattr(values, step):
            values = getattr(values, step)()
    return np.asarray(values) if hasattr(values, "__array__") else values


def _rows(values: Any) -> Any:
    """One value for each row: a number, or a tuple of several."""
    if not isinstance(values, np.ndarray) or values.ndim < 2:
        return values
    table = values.reshape(len(values), -1)
    return table[:, 0] if table.shape[1] == 1 else [tuple(row) for row in table.tolist()]


def _matrix(x: Any) -> Any:
    """A matrix of numbers, dense or sparse; None if it is something else."""
    if scipy.sparse.issparse(x):
        check_sparse(x, "the adjacency")
    else:
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
