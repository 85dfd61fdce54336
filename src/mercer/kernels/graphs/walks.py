"""Random walks: all pairs of walks of equal length in two graphs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse

from ...arithmetic import FLOAT, Arithmetic
from ...certificate import Certificate, Witness
from ...contributions import Contribution
from ...domains import Domain, Graph, GraphBatch, Graphs
from ...engine.tiles import PAIRWISE_TILE_SIZE
from ...engine.workers import mark
from ...errors import DivergenceError, ParameterError
from ...intervals import Interval
from ...kernel import Kernel
from ...parameters import parameter
from ..counts import Counts
from .explained import Walked, by_length, by_sequence, walk_name
from .product import ProductGraph
from .similarities import (
    arc_similarities,
    are_all_one,
    check_similarity,
    node_similarities,
    premises,
    resolved,
    uses_of,
)
from .walk_features import walk_counts
from .walk_sums import CONVERGES, UNPROVED, Pairs, Series, Spectra, Walkers, diagonal, spectral_sums, sums

__all__ = ["RandomWalk"]

#: Rounding of eigenvalues, relative to the spectral radius and per node.
EIGENVALUE_ERROR = 4 * float(np.finfo(np.float64).eps)


class RandomWalk(Kernel):
    r"""Random walk kernel: the pairs of walks of equal length in two graphs, weighted by their similarity.

    .. math:: k(x, y) = \sum_{l = 0}^{\infty} c_l \sum_{u_0 \to \dots \to u_l} \sum_{v_0 \to \dots \to v_l}
              \prod_{i = 0}^{l} \kappa(u_i, v_i) \prod_{i = 1}^{l} w_i w'_i \, \kappa'(e_i, e'_i)

    over the walks u of x and v of y, with the weights w of their arcs.  :math:`\kappa` compares nodes and
    :math:`\kappa'` edges, both by the equality of labels unless a kernel is given; on graphs without labels
    all walks of a length match.  With W the matrix of the direct product graph, whose nodes are the pairs of
    nodes that match and whose arcs are pairs of arcs, this is

    ============================  =================  ==========================================
    ``series="geometric"``        c_l = decay^l      :math:`1' (I - \text{decay}\, W)^{-1} 1`
    ``series="exponential"``      c_l = decay^l/l!   :math:`1' \exp(\text{decay}\, W)\, 1`
    ============================  =================  ==========================================

    and with ``length=L`` the sum ends with walks of L steps.  ``form="uniform"`` starts and stops at each
    node with the probability 1/n instead of the factor 1: it divides the sum by :math:`(n n')^2`.

    The geometric series converges iff :math:`|\text{decay}| < 1/\rho(W)`.  That is checked for every pair
    (without labels :math:`\rho(W) = \rho(A) \rho(A')`); beyond, the value does not exist, and
    :class:`~mercer.errors.DivergenceError` names the pair and the bound.  ``decay`` is never changed.

    Positive definite for decay >= 0 if the kernels on nodes and edges are: a series of products of kernels
    on walks with coefficients >= 0 (Gaertner, Flach and Wrobel 2003; Kashima, Tsuda and Inokuchi 2003).  For
    decay < 0 it is not.

    With ``length``, decay >= 0 and labels compared by equality, or ignored, the weights of walks by the
    labels along them are explicit features, if they are not too many (see
    :class:`~mercer.features.Explicit`).

    Cost: undirected graphs without labels need one eigendecomposition each, :math:`A = \sum_i \lambda_i v_i
    v_i'`, and then O(n n') per pair: :math:`k = \sum_{ij} (1'v_i)^2 (1'v'_j)^2 / (1 - \text{decay}\,
    \lambda_i \lambda'_j)`.  Others need a linear system of all pairs of nodes that match, which is solved by
    stabilised bi-conjugate gradients to rounding: O(m m') per iteration for graphs of m and m' arcs.

    Parameters
    ----------
    decay : float
        Weight of each step.
    form : {"sum", "uniform"}, default="sum"
        Factors of the first and last node of a walk.
    series : {"geometric", "exponential"}, default="geometric"
        Weights of lengths.
    length : int, optional
        Longest walks, in steps; without it all lengths count.
    node : Kernel, optional
        Similarity of nodes: a kernel on vectors compares their attributes, any other their labels.
        ``Constant(1.0)`` ignores them.  By default equal labels match.
    edge : Kernel, optional
        Similarity of the labels of edges, in the same way.

    Notes
    -----
    :meth:`contributions` names walks by the labels along them and places them at their last nodes; where a
    kernel compares nodes or edges, by their number of steps.  Walks that are too long to list are one
    contribution, "longer walks".

    Examples
    --------
    >>> from mercer.domains import Graph
    >>> from mercer.kernels import Constant
    >>> ethanol, ether = Graph(3, [(0, 1), (1, 2)], labels="CCO"), Graph(3, [(0, 1), (1, 2)], labels="COC")
    >>> k = RandomWalk(0.1, length=1)
    >>> k(ethanol, ether)  # 5 pairs of equal nodes; C-O twice and O-C twice
    5.4
    >>> print(k.contributions(ethanol, ether))
    weight  pattern
       4.0  'C'  [0:1 1:2 | 0:1 2:3]
       1.0  'O'  [2:3 | 1:2]
       0.2  'C - O'  [2:3 | 1:2]
       0.2  'O - C'  [1:2 | 0:1 2:3]
    >>> k = RandomWalk(0.1, length=1, node=Constant(1.0))
    >>> round(k(ethanol, ether), 9)  # 9 pairs of nodes, 16 of arcs
    10.6
    >>> RandomWalk(0.5, node=Constant(1.0))(ethanol, ether)
    Traceback (most recent call last):
        ...
    mercer.errors.DivergenceError: RandomWalk: `decay` must be below 0.5 in size ...
    """

    _always_double: ClassVar[bool] = True

    decay: float = parameter()
    form: str = parameter(default="sum", choices=("sum", "uniform"), kw_only=True)
    series: str = parameter(default="geometric", choices=("geometric", "exponential"), kw_only=True)
    length: int | None = dataclasses.field(default=None, kw_only=True)
    node: Kernel | None = dataclasses.field(default=None, kw_only=True)
    edge: Kernel | None = dataclasses.field(default=None, kw_only=True)

    def _validate(self) -> None:
        length: Any = self.length
        most = 1_000_000
        if length is not None and (
            isinstance(length, bool) or not isinstance(length, int) or not 0 <= length <= most
        ):
            raise ParameterError(
                f"RandomWalk: `length` must be an integer from 0 to {most:,}, or None for walks of all "
                f"lengths. Got {length!r}."
            )
        check_similarity("RandomWalk", "node", self.node)
        check_similarity("RandomWalk", "edge", self.edge)

    @property
    def domain(self) -> Domain:
        return Graphs(uses=uses_of(self.node, self.edge))

    @property
    def _series(self) -> Series:
        return Series(self.decay, self.series == "exponential", self.length)

    _tile_size = PAIRWISE_TILE_SIZE

    # -- the definition -----------------------------------------------------------------------
    def __call__(self, x: Any, y: Any) -> float:
        """Value on one pair, as a block has it; ``precise`` evaluates the definition on the product graph."""
        x, y = self.domain.pair(x, y)
        return float(self.block([x], [y])[0, 0])

    def _define(self, x: Graph, y: Graph, m: Arithmetic) -> Any:
        product = ProductGraph.of(x, y, m, node=self.node, edge=self.edge)
        ones = [m.real(1)] * len(product.pairs)
        series = self._series
        if series.length is not None:
            z = product.truncated(ones, series.ratios(m.real))
        elif series.exponential:
            z = product.exponential(ones, m.real(self.decay))
        else:
            if not product.converges(self.decay):
                raise self._divergence(product.radius())
            z = product.solved(ones, m.real(self.decay))
        total = m.fsum(s * v for s, v in zip(product.similarities, z, strict=True))
        return total / m.real(x.n * y.n) ** 2 if self.form == "uniform" and x.n * y.n else total

    def _divergence(self, radius: float) -> DivergenceError:
        return DivergenceError(
            f"RandomWalk: `decay` must be below {1 / radius:.6g} in size for this pair of graphs: one over "
            f"the spectral radius of their product graph. Got {self.decay!r}. Lower it, or give the longest "
            "walks with `length`."
        )

    # -- blocks -------------------------------------------------------------------------------
    def _prepare(self, X: GraphBatch) -> Walkers:
        alike = are_all_one(self.node, X.node_codes, X.node_labels.elements)
        alike = alike and are_all_one(self.edge, X.arc_codes, X.edge_labels.elements)
        return Walkers(X, X.sizes, spectra=Spectra.of(X) if alike else None)

    def _block(self, X: Walkers, Y: Walkers | None) -> np.ndarray:
        pairs = Pairs.block(X, Y)
        return pairs.matrix(self._values(pairs))

    def _diagonal(self, X: Walkers) -> np.ndarray:
        return diagonal(X, self._values)

    def _values(self, pairs: Pairs) -> np.ndarray:
        X, Y = pairs.X, pairs.Y
        # Nothing is told apart where all nodes and all arcs have similarity 1.
        if (
            X.spectra is not None
            and Y.spectra is not None
            and (node_similarities(self.node, X.graphs, Y.graphs)[2] == 1.0).all()
            and (arc_similarities(self.edge, X.graphs, Y.graphs)[2] == 1.0).all()
        ):
            values = self._spectral(X.spectra, Y.spectra, pairs)
        else:
            values, status = sums(pairs, self._series, self.node, self.edge)
            for k in np.flatnonzero(status != CONVERGES).tolist():
                self._check(pairs, k, status[k])
        if self.form == "uniform":
            values /= np.maximum(X.sizes[pairs.rows] * Y.sizes[pairs.cols], 1).astype(float) ** 2
        return values

    def _spectral(self, X: Spectra, Y: Spectra, pairs: Pairs) -> np.ndarray:
        if self._series.is_solved:
            radii = X.radii[pairs.rows] * Y.radii[pairs.cols]
            nodes = pairs.X.sizes[pairs.rows] + pairs.Y.sizes[pairs.cols]
            diverging = np.flatnonzero(abs(self.decay) * radii >= 1 - EIGENVALUE_ERROR * nodes)
            if len(diverging):
                k = int(diverging[0])
                raise self._located(self._divergence(radii[k]), pairs, k)
        return spectral_sums(X, Y, self._series, pairs)

    def _check(self, pairs: Pairs, k: int, status: int) -> None:
        """Decide about a pair of graphs whose series may diverge."""
        x, y = pairs.X.graphs[int(pairs.rows[k])], pairs.Y.graphs[int(pairs.cols[k])]
        product = ProductGraph.of(x, y, FLOAT, node=self.node, edge=self.edge)
        if status != UNPROVED or not product.converges(self.decay):
            raise self._located(self._divergence(product.radius()), pairs, k)

    def _located(self, error: DivergenceError, pairs: Pairs, k: int) -> DivergenceError:
        mark(error, int(pairs.rows[k]), int(pairs.cols[k]), pairs.mirrored)
        return error

    def _resolve(self, X: GraphBatch, weight: np.ndarray | None) -> Self:
        return self.replace(**resolved(self.node, self.edge, X, weight))

    # -- explicit features --------------------------------------------------------------------
    def _features(self, X: Walkers) -> Counts | None:
        """Weights of walks by the labels along them; None if they are not finite, or too many."""
        if self.length is None or self.decay < 0:
            return None
        if any(k is not None and k.bounds != Interval(1.0, 1.0) for k in (self.node, self.edge)):
            return None  # labels are not compared by equality
        if self not in X.features:
            graphs = X.graphs
            if self.node is not None:
                graphs = graphs.relabel(nodes=dict.fromkeys(graphs.node_labels.elements))
            if self.edge is not None:
                graphs = graphs.relabel(edges=dict.fromkeys(graphs.edge_labels.elements))
            X.features[self] = walk_counts(graphs, self._series)
        return X.features[self]

    def _embedding(self, X: Walkers, like: Walkers | None = None) -> Any:
        ours = self._features(X)
        theirs = ours if like is None else self._features(like)
        if ours is None or theirs is None:
            return None
        found = ours.coded_like(theirs)
        if self.form == "sum":
            return found
        sizes = np.maximum(X.sizes, 1).astype(float) ** 2
        return scipy.sparse.diags_array(1 / sizes).tocsr() @ found

    def _feature_names(self, X: Walkers) -> list[str]:
        found = self._features(X)
        assert found is not None
        return [walk_name(labels) for labels in found.vocabulary.elements] or [""]

    # -- explanation --------------------------------------------------------------------------
    def _contributions(self, x: Graph, y: Graph) -> Iterator[Contribution]:
        total = self(x, y)
        factor = 1.0 if self.form == "sum" else 1.0 / max(x.n * y.n, 1) ** 2
        if self.node is None and self.edge is None:
            ours, theirs = (Walked(g, g.weights, np.ones(g.n), np.ones(g.n), np.arange(g.n)) for g in (x, y))
            found = by_sequence(ours, theirs, self._series, total / factor)
            return (c.scaled(factor) for c in found)
        product = ProductGraph.of(x, y, FLOAT, node=self.node, edge=self.edge)
        return by_length(product, factor, self._series, total)

    # -- proof --------------------------------------------------------------------------------
    def _certify(self) -> Certificate:
        rests_on = premises(self.node, self.edge)
        conditions = ["the series converges on every pair of graphs"] if self._series.is_solved else []
        if not all(claim.proved for claim in rests_on):
            why = "the kernels on nodes and edges are not known to be positive definite"
            return Certificate.unknown(self, why, rests_on)
        if self.decay >= 0 or self.length == 0:
            return Certificate.psd(
                self,
                "convolution over walks",
                "a series with coefficients >= 0 of sums over walks of products of similarities along them",
                conditions=conditions,
                premises=rests_on,
            )
        if rests_on:
            return Certificate.unknown(self, "no rule covers decay < 0", rests_on)
        # c'Kc = f(decay w^2) - 1 up to a factor > 0, with f the series, which is below 1 at -1/2.
        weight = float(np.sqrt(0.5) / np.sqrt(-self.decay))
        points = [Graph(1), Graph(2, [(0, 1)], weights=[weight])]
        witness = Witness.of(self, points, (2.0, -1.0) if self.form == "sum" else (2.0, -4.0))
        reason = "a node and an edge: the walks of one step weigh less than none"
        return Certificate.refuted(self, "alternating series", reason, witness=witness)
