"""Shortest paths: pairs of nodes by their labels and their distance."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import field
from typing import Any, Self

import numpy as np
import scipy.sparse

from mercer import _native, memory

from ...algebra import tensor
from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...contributions import Contribution, Places
from ...domains import Data, Domain, Graph, GraphBatch, Graphs, Vectors, Vocabulary
from ...engine.runs import checkpoint
from ...engine.threads import num_threads
from ...errors import InputError, ParameterError
from ...intervals import NONNEGATIVE, REAL_LINE, Interval
from ...kernel import Kernel
from ...parameters import parameter
from ..counts import Counts
from ..noise import WhiteNoise
from .counted import CountedFeatures, label_name
from .path_tables import PathTable, as_lengths, lengths_of, named_values, sums_over_paths
from .similarities import uses_of

__all__ = ["ShortestPath"]


class ShortestPath(CountedFeatures):
    r"""Kernel of shortest paths: pairs of nodes by their labels and their distance.

    .. math:: k(x, y) = \sum_{u \ne v} \sum_{u' \ne v'}
              k_n(u, u')\, k_n(v, v')\, k_l(d(u, v), d(u', v'))

    The sums run over the ordered pairs of different nodes of x and of y where the second can be reached from
    the first.  :math:`k_n` compares nodes, :math:`k_l` distances; by default both are equality, and then the
    value is the inner product of the counts of (label, label, distance).

    A path follows the direction of arcs; a self-loop is never part of it, of parallel edges it takes the
    shortest.  A distance is the least sum of weights, added from u on in double precision, and equality of
    distances is exact: where weights are not whole numbers, rounding may tell equal sums apart, and a smooth
    ``length`` such as a Gaussian is the better choice.  A graph without edges has k = 0 with everything.

    Positive definite if :math:`k_n` and :math:`k_l` are: a convolution over paths of their products.  Not
    strictly.  Cost: n searches of each graph, O(n m) without weights and O(n m log n) with them; then a
    sparse matrix product.  With a kernel on nodes or lengths two graphs of n nodes (labels, if these are
    compared) with D different distances cost :math:`O(n^3)`, with a kernel on lengths :math:`O(D n^3)`, and
    at most :math:`O(n^4)`.

    Parameters
    ----------
    node : Kernel, optional
        Compares nodes.  A kernel on vectors compares the ``attributes`` of nodes, any other their labels.
        Equality of labels by default.
    length : Kernel, optional
        Compares distances, numbers >= 0: ``Min()``, ``Gaussian(2.0)``...  Equality by default.
    weighted : bool, default=True
        Whether the weights of edges are their lengths, >= 0.  Otherwise each edge has length 1.

    References
    ----------
    K. M. Borgwardt and H.-P. Kriegel (2005), Shortest-path kernels on graphs, ICDM.

    Examples
    --------
    >>> from mercer.graphs import Graph
    >>> x, y = Graph(3, [(0, 1), (1, 2)], labels="CCO"), Graph(2, [(0, 1)], labels="CO")
    >>> k = ShortestPath()
    >>> k(x, y), k(x, x)
    (2.0, 8.0)
    >>> print(k.contributions(x, y))
    weight  pattern
       1.0  'C to O, length 1'  [1:2 2:3 | 0:1 1:2]
       1.0  'O to C, length 1'  [2:3 1:2 | 1:2 0:1]
    >>> from mercer.kernels import Min
    >>> ShortestPath(length=Min())(x, y)
    4.0
    """

    node: Kernel | None = field(default=None, kw_only=True)
    length: Kernel | None = field(default=None, kw_only=True)
    weighted: bool = parameter(default=True, choices=(False, True), kw_only=True)

    def _validate(self) -> None:
        for name, value in (("node", self.node), ("length", self.length)):
            if value is not None and not isinstance(value, Kernel):
                raise ParameterError(f"ShortestPath: `{name}` must be a kernel or None. Got {value!r}.")

    @property
    def domain(self) -> Domain:
        return Graphs(uses=uses_of(self.node, None) - {"edge_label"})

    @property
    def _is_explicit(self) -> bool:
        """Whether the counts of (label, label, distance) are features."""
        return self.node is None and self.length is None

    @property
    def _compares_vectors(self) -> bool:
        return self.node is not None and isinstance(self.node.domain, Vectors)

    @property
    def _kernels(self) -> tuple[Kernel, Kernel]:
        """The kernels on nodes and on lengths."""
        return self.node or WhiteNoise(), self.length or WhiteNoise()

    # -- the definition -----------------------------------------------------------------------
    def _features(self, x: Graph) -> Iterator[tuple[Hashable, Places]]:
        for u, v, length in _paths(x, self.weighted):
            yield (x.labels[u], x.labels[v], length), ((u, u + 1), (v, v + 1))

    def _define(self, x: Graph, y: Graph, m: Arithmetic) -> Any:
        if self._is_explicit:
            return super()._define(x, y, m)
        (ours, points), (theirs, others) = (self._classes(g) for g in (x, y))
        if not (ours and theirs):
            return m.real(0)
        node, length = self._kernels
        nodes = named_values(node, points, others, m)
        lengths = named_values(length, lengths_of(length, ours), lengths_of(length, theirs), m)
        return m.fsum(
            count * other * nodes[a, p] * nodes[b, q] * lengths[d, e]
            for (a, b, d), count in ours.items()
            for (p, q, e), other in theirs.items()
        )

    def _classes(self, x: Graph) -> tuple[Counter[tuple[Any, Any, float]], dict[Any, Any]]:
        """Paths by the classes of their ends, and what the kernel on nodes sees of each class."""
        paths = list(_paths(x, self.weighted))
        if not self._compares_vectors:
            found = Counter((x.labels[u], x.labels[v], d) for u, v, d in paths)
            return found, {label: label for label in x.labels}
        if x.attributes is None and paths:
            raise InputError(_NO_VECTORS)
        return Counter(paths), dict(enumerate(() if x.attributes is None else x.attributes))

    # -- many graphs --------------------------------------------------------------------------
    def _prepare(self, X: GraphBatch) -> Counts | PathTable:
        codes = X.node_codes
        if self._compares_vectors:  # every pair of nodes is a path of its own
            most, pairs = int(X.sizes.max(initial=0)), int((X.sizes.astype(np.float64) ** 2).sum())
            remedy = "Compare smaller graphs, or labels of nodes in place of vectors."
            # Bytes of a path: its ends, length and count, and their places in tables.
            memory.require(48 * pairs, f"all paths of graphs of up to {most} nodes", remedy)
            codes = np.arange(len(X.node_codes), dtype=np.int32)
        starts, first, last, lengths, counts = _native.count_paths(
            (X.node_starts, X.arc_starts, X.targets), codes, self._weights(X), num_threads(), checkpoint
        )
        known, at = np.unique(lengths, return_inverse=True)
        if not self._is_explicit:
            return self._table(X, starts, np.concatenate([first, last]), at, counts, known)
        ends = np.unique(first.astype(np.int64) << 32 | last, return_inverse=True)[1]
        _, index, columns = np.unique(ends * max(len(known), 1) + at, return_index=True, return_inverse=True)
        shape = (len(X), max(len(index), 1))
        matrix = scipy.sparse.csr_array((counts.astype(np.float64), columns, starts), shape=shape)
        labels = X.node_labels.elements
        paths = zip(first[index].tolist(), last[index].tolist(), known[at[index]].tolist(), strict=True)
        return Counts(matrix, Vocabulary((labels[a], labels[b], d) for a, b, d in paths))

    def _table(
        self,
        X: GraphBatch,
        starts: np.ndarray,
        ends: np.ndarray,
        at: np.ndarray,
        counts: np.ndarray,
        lengths: np.ndarray,
    ) -> PathTable:
        """Paths with the points of both kernels; ``ends`` are all first, then all last nodes."""
        node, length = self._kernels
        used, places = np.unique(ends, return_inverse=True)
        first, last = places[: len(at)], places[len(at) :]
        if len(at) == 0:  # without paths nodes need no vectors
            return PathTable(starts, first, last, at, counts, [], [], [])
        points = self._points(X, used)
        return PathTable(
            starts,
            first,
            last,
            at,
            counts,
            points,
            node._prepare(points),
            length._prepare(as_lengths(length, lengths)),
        )

    def _weights(self, X: GraphBatch) -> np.ndarray | None:
        """Lengths of arcs; None if all are 1."""
        if not self.weighted or bool((X.weights == 1).all()):
            return None
        if (X.weights < 0).any():
            arc = int(np.argmax(X.weights < 0))
            graph = int(X.node_graphs[X.sources[arc]])
            _refuse(X.weights[arc], f"graph {graph}", X.sources[arc] - X.node_starts[graph], X.targets[arc])
        return X.weights

    def _points(self, X: GraphBatch, codes: np.ndarray) -> Data:
        """Points of the kernel on nodes: labels by their numbers, or vectors of nodes."""
        domain = self._kernels[0].domain
        if not self._compares_vectors:
            labels = X.node_labels.elements
            return domain.validate([labels[c] for c in codes.tolist()], "the node labels of X")
        if X.attributes is None:
            raise InputError(_NO_VECTORS)
        return domain.validate(X.attributes[codes], "the node attributes of X")

    def _block(self, X: Any, Y: Any) -> np.ndarray:
        if self._is_explicit:
            return super()._block(X, Y)
        return sums_over_paths(*self._kernels, X, Y)

    def _compile(self, b: Any, X: Any, Y: Any) -> Any:
        return super()._compile(b, X, Y) if self._is_explicit else None

    def _embedding(self, X: Any, like: Any = None) -> Any:
        return super()._embedding(X, like) if self._is_explicit else None

    def _feature_names(self, X: Any) -> list[str]:
        return super()._feature_names(X)

    def _diagonal(self, X: Any) -> np.ndarray:
        if self._is_explicit:
            return super()._diagonal(X)
        ones = (X.take(slice(i, i + 1)) for i in range(len(X)))
        return np.array([sums_over_paths(*self._kernels, one, None)[0, 0] for one in ones])

    # -- parameters that depend on data -------------------------------------------------------
    def _resolve(self, X: GraphBatch, weight: np.ndarray | None) -> Self:
        own: dict[str, Kernel] = {}
        if self.node is not None and not self.node.is_resolved:
            codes = np.arange(len(X.node_codes)) if self._compares_vectors else X.node_codes
            own["node"] = self.node._resolve(
                self._points(X, codes), None if weight is None else weight[X.node_graphs]
            )
        if self.length is not None and not self.length.is_resolved:
            starts, _, _, lengths, counts = _native.count_paths(
                (X.node_starts, X.arc_starts, X.targets),
                np.zeros(len(X.node_codes), dtype=np.int32),
                self._weights(X),
                num_threads(),
                checkpoint,
            )
            each = counts if weight is None else counts * np.repeat(weight, np.diff(starts))
            own["length"] = self.length._resolve(as_lengths(self.length, lengths), each.astype(np.float64))
        return self.replace(**own)

    # -- explanation --------------------------------------------------------------------------
    def _name(self, feature: Any) -> str:
        first, last, d = feature
        return f"{label_name(first)} to {label_name(last)}, length {int(d) if d.is_integer() else d!r}"

    def _contributions(self, x: Graph, y: Graph) -> Iterator[Contribution]:
        if not self._is_explicit:
            return iter(Kernel._contributions(self, x, y))
        return super()._contributions(x, y)

    def _weighted_contributions(self, points: Any, coefficients: np.ndarray, x: Graph) -> Any:
        return self._collapse(points, coefficients)(x)

    def _collapse(self, points: Any, coefficients: np.ndarray) -> Callable[[Graph], Any]:
        if not self._is_explicit:
            return lambda x: Kernel._contributions(self, x, x)
        return super()._collapse(points, coefficients)

    # -- what is known ------------------------------------------------------------------------
    def _certify(self) -> Certificate:
        if self._is_explicit:
            return Certificate.psd(
                self, "explicit features", "the inner product of the counts of (label, label, distance)"
            )
        positive = self._path_kernel.certificate.positive
        if not positive.proved:
            return Certificate.unknown(
                self, "the kernel on paths is not known to be positive definite", [positive]
            )
        reason = "the feature vector of a graph is the sum over its shortest paths"
        return Certificate.psd(self, "convolution", reason, premises=[positive])

    @property
    def _path_kernel(self) -> Kernel:
        """The kernel on paths (first node, last node, length)."""
        node, length = self._kernels
        return tensor(node, node, length)

    @property
    def bounds(self) -> Interval:
        return NONNEGATIVE if self._path_kernel.bounds.is_nonnegative else REAL_LINE


_NO_VECTORS = (
    "ShortestPath: `node` is a kernel on vectors, and the nodes have none. Give the graphs `attributes`, or "
    "take a kernel on labels, such as Categorical()."
)


def _paths(x: Graph, weighted: bool) -> Iterator[tuple[int, int, float]]:
    """Ordered pairs of different nodes with their distance, by Dijkstra's algorithm."""
    arcs: list[list[tuple[int, float]]] = [[] for _ in range(x.n)]
    for u, v, w in zip(x.sources.tolist(), x.targets.tolist(), x.weights.tolist(), strict=True):
        if weighted and w < 0:
            _refuse(w, "a graph", u, v)
        arcs[u].append((v, w if weighted else 1.0))
    for source in range(x.n):
        reached: dict[int, float] = {}
        heap = [(0.0, source)]
        while heap:
            d, u = heapq.heappop(heap)
            if u not in reached:
                reached[u] = d
                for v, w in arcs[u]:
                    heapq.heappush(heap, (d + w, v))
        for v in sorted(reached):
            if v != source:
                yield source, v, reached[v]


def _refuse(weight: float, graph: str, u: int, v: int) -> None:
    raise InputError(
        f"ShortestPath: weights of edges must be lengths >= 0. Got {float(weight)} in {graph}, from node {u} "
        f"to node {v}. With weighted=False each edge has length 1."
    )
