"""Nodes of one graph assigned to those of another by their colours: optimal assignment and transport."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...contributions import Contribution
from ...domains import Graph, GraphBatch
from ...engine import pairwise
from ...engine.program import Builder, Value
from ...intervals import NONNEGATIVE, Interval
from ...parameters import parameter
from .colours import Colours, ColourTable
from .counted import contribution
from .weisfeiler_lehman import Coloured

__all__ = ["WLOptimalAssignment", "WassersteinWL"]


class WLOptimalAssignment(Coloured):
    r"""Optimal assignment of nodes by Weisfeiler-Lehman colours: the sum of minima of their counts.

    .. math:: k(x, y) = \sum_{t=0}^{h} \sum_c \min(n_x^t(c), n_y^t(c))
              = \max_\pi \sum_v \#\{t : v \text{ and } \pi(v) \text{ have one colour in iteration } t\}

    with the counts of :class:`WeisfeilerLehman`; on the right over all one-to-one assignments :math:`\pi` of
    the nodes of the smaller graph to nodes of the larger one.  Colours form a tree, so that the best
    assignment matches as many nodes as possible in each iteration.  Weights of edges do not matter.

    Positive definite: an intersection of histograms, whose features say for each colour whether it occurs
    once, twice, and so on.  Not strictly.  The empty graph has k = 0 with
    everything.  Cost: O(h m) for the colours of graphs with m edges in all, then sums over shared colours.

    Parameters
    ----------
    h : int, default=5
        Number of iterations, >= 0.
    edge_labels : bool, default=True
        Whether labels of edges count.

    References
    ----------
    Kriege, N. et al. (2016). On valid optimal assignment kernels and applications to graph classification.

    Examples
    --------
    >>> from mercer.domains import Graph
    >>> x, y = Graph(3, [(0, 1), (1, 2)], labels="CCO"), Graph(2, [(0, 1)], labels="CO")
    >>> k = WLOptimalAssignment(1)
    >>> k(x, y), k(x, x)  # a C and an O; then the O beside a C
    (3.0, 6.0)
    """

    def _define(self, x: Graph, y: Graph, m: Arithmetic) -> Any:
        return m.real(sum((Counter(a) & Counter(b)).total() for a, b in self._levels(x, y)))

    def _block(self, X: Colours, Y: Colours | None) -> np.ndarray:
        return pairwise.min_sums(X.matrix, None if Y is None else Y.coded_like(X))

    def _compile(self, b: Builder, X: Colours, Y: Colours | None) -> Value:
        return b.min_sums(X.matrix, None if Y is None else Y.coded_like(X))

    def _diagonal(self, X: Colours) -> np.ndarray:
        return np.asarray(X.matrix.sum(axis=1)).ravel()

    # -- explicit features: min(a, b) is the number of j >= 1 with j <= a and j <= b --------------
    def _embedding(self, X: Colours, like: Colours | None = None) -> Any:
        counts = X.matrix if like is None else X.coded_like(like)
        most: Any = (X if like is None else like).highest
        highest = most.astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum(highest)])
        sizes = np.minimum(counts.data.astype(np.int64), highest[counts.indices])
        ends = np.concatenate([[0], np.cumsum(sizes)])
        columns = np.arange(ends[-1]) + np.repeat(offsets[counts.indices] - ends[:-1], sizes)
        shape = counts.shape[0], max(int(offsets[-1]), 1)
        return scipy.sparse.csr_array((np.ones(len(columns)), columns, ends[counts.indptr]), shape=shape)

    def _feature_names(self, X: Colours) -> list[str]:
        colours = ((t, c) for t, size in enumerate(X.table.sizes) for c in range(size))
        sizes = X.highest.astype(np.int64).tolist()  # type: ignore[union-attr]
        names = [(X.table.name(*colour), size) for colour, size in zip(colours, sizes, strict=False)]
        return [f"{name}, {j} times" if j > 1 else name for name, n in names for j in range(1, n + 1)] or [""]

    # -- explanation ------------------------------------------------------------------------------
    def _contributions(self, x: Graph, y: Graph) -> Iterator[Contribution]:
        table, (ours, theirs) = self._occurrences([x, y])
        for colour, places in ours.items():
            if colour in theirs:
                weight = float(min(places.count, theirs[colour].count))
                yield contribution(table.name(*colour), weight, places, theirs[colour])

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "intersection of intervals", "each term is the length of [0, n_x(c)] with [0, n_y(c)]"
        )

    bounds = NONNEGATIVE


class WassersteinWL(Coloured):
    r"""Exponential of the Wasserstein distance between the nodes of two graphs, by their colours.

    .. math:: k(x, y) = e^{-g D(x, y)}, \qquad
        D(x, y) = \frac{1}{2 (h + 1)} \sum_{t=0}^{h} \sum_c
        \left| \frac{n_x^t(c)}{n_x} - \frac{n_y^t(c)}{n_y} \right|

    with the counts of :class:`WeisfeilerLehman` over the numbers of nodes.  D is the Wasserstein distance of
    the two sets of nodes, where two nodes are as far apart as the share of the iterations in which their
    colours differ: colours form a tree, on which the distance has this closed form.  The histograms of the
    empty graph are zero: its distance to any other graph is 1/2.  Weights of edges do not matter.

    Positive definite: D is an l1 distance, which is negative definite, and Schoenberg's theorem.  Not
    strictly.  Cost: O(h m) for the colours of graphs with m edges in all, then sums over shared colours.

    Parameters
    ----------
    h : int, default=5
        Number of iterations, >= 0.
    g : float, default=1.0
        The factor of the distance, > 0.
    edge_labels : bool, default=True
        Whether labels of edges count.

    References
    ----------
    Togninalli, M. et al. (2019). Wasserstein Weisfeiler-Lehman graph kernels.

    Examples
    --------
    >>> from mercer.domains import Graph
    >>> x, y = Graph(2, [(0, 1)], labels="CC"), Graph(2, [(0, 1)], labels="CO")
    >>> k = WassersteinWL(1)  # one of two nodes differs, then both do: D = 3/4
    >>> round(k(x, y), 6), k(x, x)
    (0.472367, 1.0)
    """

    g: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")

    def _define(self, x: Graph, y: Graph, m: Arithmetic) -> Any:
        terms = []
        for a, b in self._levels(x, y):
            ours, theirs = Counter(a), Counter(b)
            for colour in dict.fromkeys([*a, *b]):
                terms.append(abs(_share(ours[colour], x.n, m) - _share(theirs[colour], y.n, m)))
        return m.exp(-m.real(self.g) * m.fsum(terms) / m.real(2 * (self.h + 1)))

    def _read(self, graphs: GraphBatch, table: ColourTable, colours: np.ndarray) -> Any:
        """Histograms, over twice the number of iterations."""
        counts = super()._read(graphs, table, colours)
        sizes = np.repeat(np.maximum(graphs.sizes, 1), np.diff(counts.indptr))
        counts.data /= 2.0 * (self.h + 1) * sizes
        return counts

    def _distances(self, X: Colours, Y: Colours | None) -> np.ndarray:
        # |a - b| = a + b - 2 min(a, b): colours that one graph lacks are in its total alone.
        ours, theirs = _totals(X), _totals(X if Y is None else Y)
        shared = pairwise.min_sums(X.matrix, None if Y is None else Y.coded_like(X))
        D = np.maximum(ours[:, None] + theirs - 2 * shared, 0.0)
        if Y is None:
            np.fill_diagonal(D, 0.0)
        return np.asarray(D)

    def _block(self, X: Colours, Y: Colours | None) -> np.ndarray:
        return np.asarray(np.exp(-self.g * self._distances(X, Y)))

    def _diagonal(self, X: Colours) -> np.ndarray:
        return np.ones(len(X))

    def _gradient(self, X: Colours, Y: Colours | None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        D = self._distances(X, Y)
        K = np.exp(-self.g * D)
        return K, {"g": -self.g * D * K}

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "Schoenberg", "D is an l1 distance of histograms, which is negative definite"
        )

    bounds = Interval(0.0, 1.0)

    diagonal_bounds = Interval(1.0, 1.0)


def _share(count: int, n: int, m: Arithmetic) -> Any:
    return m.real(count) / m.real(max(n, 1))


def _totals(X: Colours) -> np.ndarray:
    return np.asarray(X.matrix.sum(axis=1)).ravel()
