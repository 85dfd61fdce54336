"""Nodes of one graph, as points."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from ..digests import digest, encode
from ..errors import InputError
from .base import Domain
from .containers import points_of
from .graph import Graph
from .graphs import Graphs, weighted
from .sequences import check_symbols
from .sparse import check_sparse

__all__ = ["Adjacency", "NodeData", "Nodes"]

#: Edges and named nodes that ``repr`` shows; larger graphs are shown by their digest.
MOST_SHOWN = 40


class Adjacency:
    r"""The weights of an undirected graph, an immutable value: the symmetric matrix :math:`B`.

    :math:`B_{ij}` is the weight of the edge between i and j, 0 without one; weights of parallel edges add
    up, and a self-loop is one entry of the diagonal.  Kernels on nodes hold one; :meth:`of` makes it of any
    graph.

    Parameters
    ----------
    n : int
        Number of nodes, at least one.
    edges : sequence of (node, node) or (node, node, weight)
        Nodes are the numbers 0, ..., n - 1; a weight is 1 if it is not given.
    names : sequence of n hashables, optional
        What the nodes are called as points; their numbers without it.

    Attributes
    ----------
    matrix : scipy.sparse.csr_array of shape (n, n)
        Read-only, canonical, without stored zeros.
    names : tuple or None

    Examples
    --------
    >>> B = Adjacency(3, [(0, 1), (1, 2, 0.5)], names="abc")
    >>> B
    Adjacency(3, [(0, 1), (1, 2, 0.5)], names=['a', 'b', 'c'])
    >>> B.matrix.toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.5], [0.0, 0.5, 0.0]]
    """

    matrix: scipy.sparse.csr_array
    names: tuple[Any, ...] | None

    def __init__(
        self, n: int, edges: Iterable[Sequence[Any]] = (), names: Iterable[Hashable] | None = None
    ) -> None:
        ends, weights = weighted(edges, "Adjacency")
        self._set(_of_graph(Graph(n, ends, weights=weights)), names)

    def _set(self, matrix: scipy.sparse.csr_array, names: Iterable[Hashable] | None) -> None:
        n = matrix.shape[0]
        if n == 0:
            raise InputError("Adjacency: the graph must have at least one node. It has none.")
        for part in (matrix.data, matrix.indices, matrix.indptr):
            part.flags.writeable = False
        called = None if names is None else tuple(names)
        if called is not None:
            check_symbols(called, "Adjacency: names", "name")
            if len(called) != n or len(set(called)) != n:
                raise InputError(
                    f"Adjacency: `names` must be {n} different names, one for each node. "
                    f"Got {len(called)}, of which {len(set(called))} differ."
                )
        self.__dict__.update(matrix=matrix, names=None if called == tuple(range(n)) else called)

    @classmethod
    def _of(cls, matrix: scipy.sparse.csr_array, names: Iterable[Hashable] | None = None) -> Adjacency:
        graph = cls.__new__(cls)
        graph._set(matrix, names)
        return graph

    @classmethod
    def of(cls, graph: Any, names: Iterable[Hashable] | None = None) -> Adjacency:
        """The weights of a graph.

        Parameters
        ----------
        graph : Adjacency, Graph, networkx graph, (n, edges), array or sparse matrix of shape (n, n)
            Undirected: a matrix must be symmetric.  A networkx graph gives its nodes' names, and the edge
            attribute ``weight``.  Graphs of igraph and PyTorch Geometric are read as
            :class:`~mercer.domains.Graphs` reads them; edges must not be an iterator, nor a matrix complex.
        names : sequence of n hashables, optional
            Other names for the nodes.
        """
        if names is not None:
            return cls._of(cls.of(graph).matrix, names)
        if isinstance(graph, Adjacency):
            return graph
        if isinstance(graph, tuple) and len(graph) == 2 and isinstance(graph[0], int | np.integer):
            return cls(*graph)
        if hasattr(graph, "get_edgelist") or hasattr(graph, "edge_index"):
            graph = Graphs(label=None, edge_label=None, attributes=None).point(graph, "`graph`")
        if isinstance(graph, Graph):
            return cls._of(_symmetric(_of_graph(graph)))
        if hasattr(graph, "is_directed") and hasattr(graph, "nodes"):
            if graph.is_directed():
                raise InputError(
                    "`graph` must be undirected. Got a directed graph; graph.to_undirected() forgets "
                    "directions."
                )
            found = list(graph.nodes)
            index = {name: i for i, name in enumerate(found)}
            edges = [(index[u], index[v]) for u, v in graph.edges()]
            weights = [w for _, _, w in graph.edges(data="weight", default=1)]
            return cls._of(_of_graph(Graph(len(found), edges, weights=weights)), found)
        return cls._of(_symmetric(_of_matrix(graph)))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"an Adjacency never changes: `{name}` cannot be set.")

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (*self._parts, self.names)

    @property
    def _parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.matrix.indptr, self.matrix.indices, self.matrix.data

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.matrix.shape[0])

    @cached_property
    def degrees(self) -> np.ndarray:
        """Sums of the rows: a self-loop counts once."""
        return np.asarray(self.matrix.sum(axis=1), dtype=np.float64)

    @cached_property
    def index(self) -> dict[Any, int] | None:
        """The number of each name."""
        return None if self.names is None else {name: i for i, name in enumerate(self.names)}

    @cached_property
    def digest(self) -> str:
        """Name of the weights by their content: 32 hex digits."""
        return digest(self._parts)

    def _digest_form(self) -> bytes:
        return encode(("Adjacency", self.digest, self.names))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Adjacency):
            return NotImplemented
        if self is other:
            return True
        return self.names == other.names and all(map(np.array_equal, self._parts, other._parts))

    @cached_property
    def _hash(self) -> int:
        return hash((self.digest, self.names))

    def __hash__(self) -> int:
        return self._hash

    @property
    def n_edges(self) -> int:
        """Number of edges, self-loops included."""
        return int(self.matrix.nnz + np.count_nonzero(self.matrix.diagonal())) // 2

    def __repr__(self) -> str:
        if self.n_edges + (0 if self.names is None else self.n) > MOST_SHOWN:
            return f"<graph of {self.n} nodes and {self.n_edges} edges, {self.digest[:12]}>"
        upper = scipy.sparse.triu(self.matrix, format="coo")
        triples = sorted(zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True))
        edges = ", ".join(f"({i}, {j})" if w == 1 else f"({i}, {j}, {w!r})" for i, j, w in triples)
        names = "" if self.names is None else f", names={list(self.names)!r}"
        return f"Adjacency({self.n}, [{edges}]{names})"


def _unpickled(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, names: tuple[Any, ...] | None
) -> Adjacency:
    n = len(indptr) - 1
    return Adjacency._of(scipy.sparse.csr_array((data, indices, indptr), shape=(n, n)), names)


def _of_graph(graph: Graph) -> scipy.sparse.csr_array:
    ends = (graph.sources, graph.targets)
    return _canonical(scipy.sparse.coo_array((graph.weights, ends), shape=(graph.n, graph.n)))


def _canonical(matrix: Any) -> scipy.sparse.csr_array:
    """Weights as sorted compressed rows of their own, parallel edges added up, without zeros."""
    csr = scipy.sparse.csr_array(matrix, dtype=np.float64, copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    if csr.nnz < np.iinfo(np.int32).max:
        csr.indices, csr.indptr = csr.indices.astype(np.int32), csr.indptr.astype(np.int32)
    return csr


def _of_matrix(graph: Any) -> scipy.sparse.csr_array:
    if scipy.sparse.issparse(graph):
        check_sparse(graph, "graph")
        matrix = graph
    else:
        try:
            matrix = np.asarray(graph)
            matrix = matrix if np.iscomplexobj(matrix) else matrix.astype(np.float64)
        except (TypeError, ValueError):
            matrix = np.zeros(0)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            "`graph` must be a Graph, a networkx graph, a pair (n, edges), or a square matrix of weights. "
            f"Got {type(graph).__name__}{f' of shape {matrix.shape}' if hasattr(graph, 'shape') else ''}."
        )
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"`graph` must have real weights. Got {matrix.dtype}.")
    csr = _canonical(matrix)
    if not np.isfinite(csr.data).all():
        raise InputError("`graph` must have finite weights. Got a NaN or an infinity.")
    return csr


def _symmetric(matrix: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    difference = abs(matrix - matrix.T).tocoo()
    if difference.nnz and difference.data.max() > 0:
        worst = int(difference.data.argmax())
        i, j = int(difference.row[worst]), int(difference.col[worst])
        raise InputError(
            f"`graph` must be undirected: the weight from node {i} to node {j} is {matrix[i, j]:.6g}, and "
            f"back it is {matrix[j, i]:.6g}. Use (A + A.T) / 2 to forget directions."
        )
    return matrix


@dataclass(frozen=True, eq=False)
class NodeData:
    """Validated nodes: their numbers, and the graph, which knows their names."""

    numbers: np.ndarray
    graph: Adjacency

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Any]:
        numbers = self.numbers.tolist()
        names = self.graph.names
        return iter(numbers if names is None else [names[i] for i in numbers])

    def take(self, index: slice | np.ndarray) -> NodeData:
        """Select nodes."""
        return NodeData(self.numbers[index], self.graph)


@dataclass(frozen=True)
class Nodes(Domain):
    """Nodes of one graph, by their numbers 0, ..., n - 1, or by the names that the graph gives them.

    Parameters
    ----------
    graph : Adjacency, or anything that :meth:`Adjacency.of` takes

    Examples
    --------
    >>> domain = Nodes(Adjacency(3, [(0, 1)], names=["Ann", "Bob", "Eve"]))
    >>> list(domain.validate(["Eve", "Ann"]))
    ['Eve', 'Ann']
    >>> domain.validate(["Eve", "Dan"])
    Traceback (most recent call last):
        ...
    mercer.errors.InputError: X[1] is 'Dan', which is no node of the graph. Its 3 nodes: 'Ann', 'Bob', 'Eve'.
    """

    graph: Adjacency

    def __post_init__(self) -> None:
        object.__setattr__(self, "graph", Adjacency.of(self.graph))

    def validate(self, X: Any, name: str = "X") -> NodeData:
        if isinstance(X, NodeData) and X.graph == self.graph:
            return X
        given = np.asarray(X) if isinstance(X, range) or hasattr(X, "__array__") else None
        if given is not None and given.dtype.kind in "iu":
            if given.ndim == 2 and given.shape[1] == 1:
                given = given[:, 0]
            if given.ndim != 1:
                raise InputError(f"{name} must be one column of nodes. Got shape {given.shape}.")
            if self.graph.index is None:
                wrong = np.flatnonzero((given < 0) | (given >= self.graph.n))
                if len(wrong):
                    raise self._unknown(given[wrong[0]].item(), f"{name}[{wrong[0]}]")
                return NodeData(np.array(given, dtype=np.intp), self.graph)
            X = given.tolist()
        points = points_of(X, name, "a sequence of nodes")
        numbers = [self._number(x, f"{name}[{i}]") for i, x in enumerate(points)]
        return NodeData(np.array(numbers, dtype=np.intp), self.graph)

    def _number(self, x: Any, name: str) -> int:
        x = x.item() if isinstance(x, np.generic) else x
        if self.graph.index is None:
            if type(x) is int and 0 <= x < self.graph.n:
                return x
            raise self._unknown(x, name)
        try:
            return self.graph.index[x]
        except (KeyError, TypeError):
            raise self._unknown(x, name) from None

    def _unknown(self, x: Any, name: str) -> InputError:
        n, names = self.graph.n, self.graph.names
        if names is None:
            called = f"the numbers 0 to {n - 1}"
        else:
            called = ", ".join(map(repr, names[:5])) + (", ..." if n > 5 else "")
        return InputError(f"{name} is {x!r}, which is no node of the graph. Its {n} nodes: {called}.")

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        return list(NodeData(rng.integers(0, self.graph.n, n), self.graph))

    def __str__(self) -> str:
        return f"nodes of {self.graph!r}"
