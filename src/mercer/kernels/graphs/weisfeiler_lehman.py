"""The Weisfeiler-Lehman kernel: graphs compared by the colours of their nodes over several iterations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from functools import reduce
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...contributions import Contribution
from ...domains import Domain, Graph, GraphBatch, Graphs, Vectors, meet
from ...engine.program import Builder, Program, Value
from ...errors import DomainError, ParameterError
from ...intervals import NONNEGATIVE, Interval
from ...kernel import Kernel
from ...parameters import parameter
from ..inner import squared_norms
from ..products import count_product
from .colours import Colours, ColourTable, colours_of, count_colours, relabelled
from .counted import Occurrences, contribution

__all__ = ["WeisfeilerLehman"]


class Coloured(Kernel):
    """Functions of how often each colour of the iterations 0, ..., h occurs in two graphs."""

    _always_double: ClassVar[bool] = True

    h: int = parameter(default=5, low=0, high=1000, integer=True)
    edge_labels: bool = parameter(default=True, choices=(False, True), kw_only=True)

    @property
    def domain(self) -> Domain:
        return Graphs(uses=frozenset({"label", "edge_label"} if self.edge_labels else {"label"}))

    def _levels(self, x: Graph, y: Graph) -> Iterator[list[list[int]]]:
        """Colours of both graphs, iteration by iteration."""
        return colours_of([x, y], self.h, self.edge_labels)

    def _prepare(self, X: GraphBatch) -> Colours:
        return Colours.of(X, self.h, self.edge_labels, self._read)

    def _read(self, graphs: GraphBatch, table: ColourTable, colours: np.ndarray) -> Any:
        """What is kept of the colours of a batch: by default the counts."""
        return count_colours(graphs, table.sizes, colours)

    def _occurrences(self, graphs: Sequence[Graph]) -> tuple[ColourTable, list[dict[Any, Occurrences]]]:
        """Colours of each graph by (iteration, number) with their nodes, and the table that names them."""
        batch = GraphBatch.of(graphs)
        table = ColourTable(batch, self.h, self.edge_labels)
        colours = table.colours(batch)
        found = []
        for first, last in zip(batch.node_starts[:-1].tolist(), batch.node_starts[1:].tolist(), strict=True):
            own: dict[Any, Occurrences] = {}
            for t, row in enumerate(colours[:, first:last].tolist()):
                for v, colour in enumerate(row):
                    own.setdefault((t, colour), Occurrences()).add(((v, v + 1),))
            found.append(own)
        return table, found


class WeisfeilerLehman(Coloured):
    r"""Weisfeiler-Lehman kernel: the inner product of how often each colour occurs.

    .. math:: k(x, y) = \sum_{t=0}^{h} \sum_c n_x^t(c)\, n_y^t(c), \qquad
              k(x, y) = \sum_{t=0}^{h} b(x_t, y_t)

    where :math:`n_x^t(c)` is the number of nodes of x with the colour c in iteration t.  In iteration 0 the
    colour of a node is its label.  In the next it is the colour so far with the multiset of (edge label,
    colour) of the neighbours: a colour of iteration t stands for the tree of all walks of t steps from a
    node.  Colours of different iterations differ.  Of directed graphs the multisets of in-arcs and out-arcs
    count apart where they differ.  Weights do not matter; parallel edges count each; a self-loop makes a node
    its own neighbour.  Colours that training graphs do not have match none of them, but count in k(x, x).

    On the right with ``base``, :math:`x_t` is the graph x with its colours as labels of nodes, if b is a
    kernel between graphs.  If b is a kernel on vectors, :math:`x_t` is the vector of counts :math:`n_x^t`
    over all colours; zeros at colours that neither graph has must not change b.  All kernels of inner
    products, distances and sums of minima are so.

    Positive definite: an inner product of explicit features; with a base, if that is positive definite.  Not
    strictly: there are different graphs that no number of iterations tells apart.  The empty graph has k = 0
    with everything, if there is no base.  Cost: O(h m) for the colours of graphs with m edges in all, then a
    sparse matrix product.

    Parameters
    ----------
    h : int, default=5
        Number of iterations, >= 0.  With 0 it is :class:`VertexHistogram`.
    base : Kernel, optional
        A kernel between graphs or on vectors, with fixed parameters.
    edge_labels : bool, default=True
        Whether labels of edges count.

    References
    ----------
    Shervashidze, N. et al. (2011). Weisfeiler-Lehman graph kernels.

    Examples
    --------
    >>> from mercer.domains import Graph
    >>> x = Graph(3, [(0, 1), (1, 2)], labels="CCO", edge_labels="-=")
    >>> y = Graph(2, [(0, 1)], labels="CO", edge_labels="=")
    >>> k = WeisfeilerLehman(1)
    >>> k(x, y), k(x, x)
    (4.0, 8.0)
    >>> print(k.contributions(x, y))
    weight  pattern
       2.0  '0: C'  [0:1 1:2 | 0:1]
       1.0  '0: O'  [2:3 | 1:2]
       1.0  '1: O(=C)'  [2:3 | 1:2]
    >>> k.features([x, y]).toarray()
    array([[2., 1., 1., 1., 1., 0.],
           [1., 1., 0., 0., 1., 1.]])
    """

    base: Kernel | None = field(default=None, kw_only=True)

    def _validate(self) -> None:
        base: Any = self.base
        if base is None:
            return
        if not isinstance(base, Kernel) or not isinstance(base.domain, Graphs | Vectors):
            raise ParameterError(
                f"WeisfeilerLehman: `base` must be a kernel between graphs, or one on vectors for the counts "
                f"of colours. Got {base!r}."
            )
        if not base.is_resolved:
            raise ParameterError(
                f"WeisfeilerLehman: `base` must have fixed parameters: each iteration has other data. "
                f"Got {base!r}."
            )

    @property
    def domain(self) -> Domain:
        own = super().domain
        return own if self.base is None or self._on_counts else meet(own, self.base.domain)

    @property
    def _on_counts(self) -> bool:
        """Whether the base is a kernel on vectors."""
        return self.base is not None and not isinstance(self.base.domain, Graphs)

    # -- the definition -----------------------------------------------------------------------
    def _define(self, x: Graph, y: Graph, m: Arithmetic) -> Any:
        levels = self._levels(x, y)
        if self.base is None:
            counted = [(ours, Counter(theirs)) for ours, theirs in levels]
            return m.real(sum(counts[colour] for ours, counts in counted for colour in ours))
        domain = self.base.domain
        values = []
        for ours, theirs in levels:
            if self._on_counts:
                colours = [*dict.fromkeys([*ours, *theirs])] or [0]
                counts = Counter(ours), Counter(theirs)
                a, b = domain.pair(*(np.array([float(own[c]) for c in colours]) for own in counts))
            else:
                a, b = (_with_labels(g, own) for g, own in ((x, ours), (y, theirs)))
            values.append(self.base._define(domain.to_arithmetic(a, m), domain.to_arithmetic(b, m), m))
        return reduce(lambda p, q: p + q, values)

    # -- many graphs --------------------------------------------------------------------------
    def _read(self, graphs: GraphBatch, table: ColourTable, colours: np.ndarray) -> Any:
        if self.base is None:
            return super()._read(graphs, table, colours)
        if not self._on_counts:
            return [self.base._prepare(relabelled(graphs, own)) for own in colours]
        levels = zip(table.sizes, colours, strict=True)
        sizes = [max(size, int(own.max(initial=0)) + 1) for size, own in levels]
        return [count_colours(graphs, [size], own[None]) for size, own in zip(sizes, colours, strict=True)]

    def _parts(self, X: Colours, Y: Colours | None) -> Iterator[tuple[Any, Any]]:
        """What the base sees of each iteration, prepared."""
        assert self.base is not None
        others: list[Any] = [None] * (self.h + 1) if Y is None else Y.coded_like(X)
        for ours, theirs in zip(X.matrix, others, strict=True):
            if not self._on_counts:
                yield ours, theirs
                continue
            width = max(M.shape[1] for M in (ours, theirs) if M is not None)
            yield tuple(None if M is None else self._vectors(M, width) for M in (ours, theirs))  # type: ignore[misc]

    def _vectors(self, M: Any, width: int) -> Any:
        """Counts over more columns, prepared for the base."""
        assert self.base is not None
        wider = scipy.sparse.csr_array((M.data, M.indices, M.indptr), shape=(M.shape[0], width))
        return self.base._prepare(self.base.domain.validate(wider))

    def _block(self, X: Colours, Y: Colours | None) -> np.ndarray:
        if self.base is None:
            return count_product(X.matrix, None if Y is None else Y.coded_like(X))
        return np.asarray(reduce(np.add, (self.base._block(a, b) for a, b in self._parts(X, Y))))

    def _program(self, X: Colours, Y: Colours | None, layouts: Any = None) -> Program | None:
        # Inside an expression counts are steps of its program; alone, whole numbers have a faster way.
        return None if self.base is None else super()._program(X, Y, layouts)

    def _compile(self, b: Builder, X: Colours, Y: Colours | None) -> Value:
        if self.base is None:
            return b.dot(X.matrix, None if Y is None else Y.coded_like(X))
        return b.add(b.kernel(self.base, p, q) for p, q in self._parts(X, Y))

    def _diagonal(self, X: Colours) -> np.ndarray:
        if self.base is None:
            return squared_norms(X.matrix)
        return np.asarray(reduce(np.add, (self.base._diagonal(a) for a, _ in self._parts(X, None))))

    # -- explicit features --------------------------------------------------------------------
    def _embedding(self, X: Colours, like: Colours | None = None) -> Any:
        if self.base is None:
            return X.matrix if like is None else X.coded_like(like)
        if self._on_counts:
            return None
        own = X.matrix if like is None else X.coded_like(like)
        theirs = [None] * (self.h + 1) if like is None else like.matrix
        parts = [self.base._embedding(a, b) for a, b in zip(own, theirs, strict=True)]
        return None if any(part is None for part in parts) else scipy.sparse.hstack(parts, format="csr")

    def _feature_names(self, X: Colours) -> list[str]:
        if self.base is not None:  # colours have numbers there
            names = (self.base._feature_names(part) for part in X.matrix)
            return [f"{t}: {name}" for t, found in enumerate(names) for name in found]
        table = X.table
        return [table.name(t, c) for t, size in enumerate(table.sizes) for c in range(size)] or [""]

    # -- explanation --------------------------------------------------------------------------
    def _contributions(self, x: Graph, y: Graph) -> Iterator[Contribution]:
        table, (ours, theirs) = self._occurrences([x, y])
        if self.base is None:
            for colour, places in ours.items():
                if colour in theirs:
                    weight = float(places.count * theirs[colour].count)
                    yield contribution(table.name(*colour), weight, places, theirs[colour])
            return
        if self._on_counts:
            raise DomainError(f"{self!r} does not know which patterns its values are made of.")
        for t in range(self.h + 1):
            relabelled_pair = []
            for g, found in ((x, ours), (y, theirs)):
                names = {
                    v: table.name(t, c) for (s, c), own in found.items() if s == t for v, _ in own.places
                }
                relabelled_pair.append(_with_labels(g, [names[v] for v in range(len(names))]))
            yield from self.base._contributions(*relabelled_pair)

    def _weighted_contributions(
        self, points: Sequence[Graph], coefficients: np.ndarray, x: Graph
    ) -> Iterable[Contribution]:
        if self.base is not None:
            yield from super()._weighted_contributions(points, coefficients, x)
            return
        table, [*others, own] = self._occurrences([*points, x])
        totals = dict.fromkeys(own, 0.0)
        for other, a in zip(others, coefficients.tolist(), strict=True):
            for colour in other.keys() & own.keys():
                totals[colour] += a * other[colour].count
        for colour, places in own.items():
            if totals[colour] != 0:
                yield contribution(table.name(*colour), totals[colour] * places.count, places, Occurrences())

    # -- what is known ------------------------------------------------------------------------
    def _certify(self) -> Certificate:
        if self.base is None:
            return Certificate.psd(
                self, "explicit features", "the inner product of the counts of colours of all iterations"
            )
        claim = self.base.certificate.positive
        if not claim.proved:
            return Certificate.unknown(self, "the base is not known to be positive definite", [claim])
        what = "counts of colours" if self._on_counts else "relabelled graphs"
        reason = f"a sum over iterations of a positive definite kernel on the {what}"
        return Certificate.psd(self, "sum of pull-backs", reason, premises=[claim])

    @property
    def bounds(self) -> Interval:
        return NONNEGATIVE if self.base is None else self.base.bounds.scale(self.h + 1)


def _with_labels(g: Graph, labels: Sequence[Any]) -> Graph:
    return Graph._of(g.n, g.sources, g.targets, tuple(labels), g.edge_labels, g.weights, g.attributes)
