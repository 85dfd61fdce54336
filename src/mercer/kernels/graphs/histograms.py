"""Histograms of labels: graphs as bags of nodes or of edges, the baselines of all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator

import numpy as np

from ...certificate import Certificate
from ...contributions import Places
from ...domains import Graph, GraphBatch
from ..counts import Counts
from .counted import CountedFeatures

__all__ = ["EdgeHistogram", "VertexHistogram"]


class VertexHistogram(CountedFeatures):
    r"""Number of pairs of nodes with equal labels.

    .. math:: k(x, y) = \sum_l n_x(l)\, n_y(l)

    where :math:`n_x(l)` is the number of nodes of x with the label l.  Without labels it is the product of
    the numbers of nodes.  Edges do not count: it is the baseline that a kernel between graphs must beat.

    Positive definite: an inner product of explicit features.  Not strictly: graphs with the same labels are
    not told apart.  A graph without nodes has k = 0 with everything.  Cost: linear in the nodes, then a
    sparse matrix product.

    Examples
    --------
    >>> from mercer.domains import Graph
    >>> x, y = Graph(3, [(0, 1), (1, 2)], labels="CCO"), Graph(2, [(0, 1)], labels="CO")
    >>> k = VertexHistogram()
    >>> k(x, y), k(x, x)
    (3.0, 5.0)
    >>> print(k.contributions(x, y))
    weight  pattern
       2.0  'C'  [0:1 1:2 | 0:1]
       1.0  'O'  [2:3 | 1:2]
    """

    _uses = frozenset({"label"})

    def _features(self, x: Graph) -> Iterator[tuple[Hashable, Places]]:
        for v, label in enumerate(x.labels):
            yield label, ((v, v + 1),)

    def _prepare(self, X: GraphBatch) -> Counts:
        return Counts.of(X.node_graphs, X.node_codes, len(X), X.node_labels)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "explicit features", "the inner product of the counts of the labels of nodes"
        )


class EdgeHistogram(CountedFeatures):
    r"""Number of pairs of edges with equal labels.

    .. math:: k(x, y) = \sum_l m_x(l)\, m_y(l)

    where :math:`m_x(l)` is the number of edges of x with the label l; the labels of their ends do not count.
    An undirected edge counts once, and so do an arc without its reverse and a self-loop.  An arc and its
    reverse with one label are an undirected edge.  Parallel edges count each.  Weights do not matter.

    Positive definite: an inner product of explicit features.  Not strictly.  A graph without edges has k = 0
    with everything.  Cost: sorting the arcs, then a sparse matrix product.

    Examples
    --------
    >>> from mercer.domains import Graph
    >>> x = Graph(3, [(0, 1), (1, 2)], edge_labels="-=")
    >>> y = Graph(3, [(0, 1), (1, 2), (2, 0)], edge_labels="---")
    >>> k = EdgeHistogram()
    >>> k(x, y), k(y, y)
    (3.0, 9.0)
    """

    _uses = frozenset({"edge_label"})

    def _features(self, x: Graph) -> Iterator[tuple[Hashable, Places]]:
        ends = zip(x.sources.tolist(), x.targets.tolist(), x.edge_labels, strict=True)
        arcs = Counter(ends)
        for (u, v, label), count in arcs.items():
            other = arcs[v, u, label]
            if u <= v or count > other:  # of arcs that go both ways those from the smaller node count
                for _ in range(count if u <= v else count - other):
                    yield label, ((u, u + 1),) if u == v else ((u, u + 1), (v, v + 1))

    def _prepare(self, X: GraphBatch) -> Counts:
        tails, heads, codes = X.sources, X.heads, X.arc_codes
        low, high, back = np.minimum(tails, heads), np.maximum(tails, heads), tails > heads
        order = np.lexsort((back, codes, high, low))
        ends = np.stack([low, high, codes])[:, order]
        back = back[order]
        # Arcs between two nodes with one label are neighbours now, first those from the smaller node.
        same = (ends[:, 1:] == ends[:, :-1]).all(axis=0)
        first = np.flatnonzero(np.concatenate([[True], ~same])[: len(order)])
        all_arcs = np.diff(np.append(first, len(order)))
        backward = np.add.reduceat(back, first, dtype=np.int64) if len(first) else all_arcs
        count = np.maximum(backward, all_arcs - backward)
        graphs = X.node_graphs[ends[0, first]]
        return Counts.of(np.repeat(graphs, count), np.repeat(ends[2, first], count), len(X), X.edge_labels)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "explicit features", "the inner product of the counts of the labels of edges"
        )
