"""Graphlets: small induced subgraphs, counted by isomorphism type."""

from __future__ import annotations

import math
import secrets
from collections.abc import Hashable
from dataclasses import field
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse

from mercer import _native

from ...certificate import Certificate
from ...domains import Graph, GraphBatch, Vocabulary
from ...engine.runs import checkpoint
from ...engine.threads import num_threads
from ...errors import ParameterError
from ...parameters import parameter
from ..counts import Counts
from .counted import CountedFeatures, Occurrences
from .graphlet_types import PATTERNS, all_counts, connected_counts, graphlet_types, is_connected, type_numbers

__all__ = ["Graphlets", "graphlet_samples"]


class Graphlets(CountedFeatures):
    r"""Graphlet kernel: sets of 3, 4 or 5 nodes by the subgraph that they induce.

    .. math:: k(x, y) = \sum_F n_x(F)\, n_y(F)

    where :math:`n_x(F)` is the number of sets of ``size`` nodes of x whose induced subgraph is isomorphic to
    F, and F runs over the 4, 11 or 34 graphs with 3, 4 or 5 nodes, or over the 2, 6 or 21 connected ones.
    Counts grow with the size of a graph like :math:`n^\mathrm{size}`; ``.normalized()`` takes that out, and
    has the same values for counts as for the frequencies :math:`n_x(F) / \sum_G n_x(G)`.

    Graphs are taken as simple and undirected: arcs count without their direction, parallel edges are one,
    self-loops, labels and weights do not matter.  A graph with fewer than ``size`` nodes has k = 0 with
    everything.

    With ``samples`` the count of F is estimated: F's share of as many random sets of nodes, times the number
    of all sets.  :func:`graphlet_samples` says how many are enough.  The draws depend on ``random_state`` and
    on the number of nodes alone, so that a graph has the same features in any data set; they do depend on
    the order of its nodes.

    Positive definite: an inner product of explicit features.  Not strictly.  Cost of the exact counts: for 3
    and 4 nodes that of listing paths of two edges and triangles, for 5 nodes proportional to the number of
    connected sets of 5 nodes.  With samples O(size^2 log n) each.

    Parameters
    ----------
    size : {3, 4, 5}
        Number of nodes of a graphlet.
    connected : bool, default=False
        Whether connected graphlets alone count.
    samples : int, optional
        Number of random sets of nodes for each graph; by default all sets are counted, exactly.
    random_state : int or None, default=0
        Seed of the draws; None draws one when the kernel is made, which ``k.random_state`` holds then: a
        kernel never changes.

    References
    ----------
    N. Shervashidze, S. V. N. Vishwanathan, T. Petri, K. Mehlhorn and K. Borgwardt (2009), Efficient graphlet
    kernels for large graph comparison, AISTATS.

    Examples
    --------
    >>> from mercer.graphs import Graph
    >>> path, triangle = Graph(4, [(0, 1), (1, 2), (2, 3)]), Graph(3, [(0, 1), (1, 2), (2, 0)])
    >>> k = Graphlets(3)  # the path has two paths of three nodes, and twice an edge beside a node
    >>> k(path, path), k(path, triangle)
    (8.0, 0.0)
    >>> print(k.contributions(path, path))  # patterns by their edges
    weight  pattern
       4.0  '0-1 0-2'  [0:1 1:2 2:3 3:4 | 0:1 1:2 2:3 3:4]
       4.0  '0-1'
    """

    size: int = parameter(low=3, high=5, integer=True)
    connected: bool = parameter(default=False, choices=(False, True), kw_only=True)
    samples: int | None = field(default=None, kw_only=True)
    random_state: int | None = field(default=0, kw_only=True)

    def _validate(self) -> None:
        n: Any = self.samples
        most = 10_000_000  # a second of work for each graph, about
        if n is not None and (
            isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= most
        ):
            raise ParameterError(
                f"Graphlets: `samples` must be an integer from 1 to {most:,}, or None for exact "
                f"counts. Got {n!r}."
            )
        seed: Any = self.random_state
        if seed is None:
            seed = 0 if n is None else secrets.randbits(32)  # exact counts are the same for every seed
            object.__setattr__(self, "random_state", seed)
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise ParameterError(
                f"Graphlets: `random_state` must be an integer >= 0, or None for any. Got {seed!r}."
            )

    # -- counting -----------------------------------------------------------------------------
    @property
    def _types(self) -> Vocabulary:
        """Graphlets that count, by their edges."""
        return _types(self.size, self.connected)

    @property
    def _is_whole(self) -> bool:
        return self.samples is None

    def _table(self, X: GraphBatch) -> np.ndarray:
        """Counts of shape (graphs, types): whole numbers, or estimates."""
        found = _exact(X, self.size, self.connected) if self.samples is None else self._estimated(X)
        return found[:, [graphlet_types(self.size).index(edges) for edges in self._types.elements]]

    def _estimated(self, X: GraphBatch) -> np.ndarray:
        assert self.samples is not None
        assert self.random_state is not None
        numbers = type_numbers(self.size)
        found = np.zeros((len(X), len(graphlet_types(self.size))), dtype=np.int64)
        for n in np.unique(X.sizes).tolist():
            if n >= self.size:
                sets = _draws(n, self.size, self.samples, self.random_state)
                for i in np.flatnonzero(X.sizes == n).tolist():
                    checkpoint()
                    _native.count_sets(_arrays(X), i, sets, numbers, found[i])
        all_sets = [float(math.comb(n, self.size)) for n in X.sizes.tolist()]
        return np.asarray(found * np.array(all_sets)[:, None] / self.samples)

    def _counts(self, x: Graph) -> dict[Hashable, Any]:
        return dict(zip(self._types.elements, self._table(GraphBatch.of([x]))[0].tolist(), strict=True))

    def _prepare(self, X: GraphBatch) -> Counts:
        return Counts(scipy.sparse.csr_array(self._table(X).astype(np.float64)), self._types)

    # -- explanation --------------------------------------------------------------------------
    def _name(self, feature: Any) -> str:
        return " ".join(f"{i}-{j}" for i, j in feature) or "no edge"

    def _by_feature(self, x: Graph) -> dict[Hashable, Occurrences]:
        found = {feature: Occurrences(count) for feature, count in self._counts(x).items() if count}
        if self.samples is None:  # disconnected graphlets have no place
            sets = _connected_sets(GraphBatch.of([x]), self.size, at_nodes=True)
            for edges, column in zip(graphlet_types(self.size), sets.T, strict=True):
                for v in np.flatnonzero(column).tolist():
                    found[edges].places[v, v + 1] = int(column[v])
        return found

    # -- what is known ------------------------------------------------------------------------
    def _certify(self) -> Certificate:
        how = "counts" if self.samples is None else "estimated counts"
        return Certificate.psd(self, "explicit features", f"the inner product of the {how} of graphlets")


def graphlet_samples(size: int, eps: float, delta: float, *, connected: bool = False) -> int:
    r"""Number of samples after which the shares of graphlets are known up to ``eps``.

    .. math:: \Big\lceil \frac{2 (a \ln 2 + \ln(1 / \delta))}{\varepsilon^2} \Big\rceil

    where a is the number of types: 4, 11 or 34, or, if connected graphlets alone count, one more than there
    are of these.  With probability at least :math:`1 - \delta` the estimated shares of the types among all
    sets of ``size`` nodes differ from the true ones by at most :math:`\varepsilon` in sum, for each graph.

    Parameters
    ----------
    size : {3, 4, 5}
    eps, delta : float
        Error and probability of failure, each in (0, 1).
    connected : bool, default=False

    References
    ----------
    T. Weissman, E. Ordentlich, G. Seroussi, S. Verdu and M. Weinberger (2003), Inequalities for the L1
    deviation of the empirical distribution, HP Labs.

    Examples
    --------
    >>> graphlet_samples(4, 0.1, 0.05)
    2125
    >>> k = Graphlets(4, samples=graphlet_samples(4, 0.1, 0.05))
    """
    for name, value in (("eps", eps), ("delta", delta)):
        if not 0 < value < 1:
            raise ParameterError(f"graphlet_samples: `{name}` must lie in (0, 1). Got {value!r}.")
    a = len(Graphlets(size, connected=connected)._types) + connected
    return math.ceil(2 * (a * math.log(2) + math.log(1 / delta)) / eps**2)


@cache
def _types(size: int, connected: bool) -> Vocabulary:
    """The types of a size; one object for each, which makes their columns the same."""
    return Vocabulary(e for e in graphlet_types(size) if not connected or is_connected(size, e))


def _arrays(X: GraphBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return X.node_starts, X.arc_starts, X.targets


def _connected_sets(X: GraphBatch, size: int, *, at_nodes: bool = False) -> np.ndarray:
    """Connected sets of nodes of each graph by type; or those that each node is in."""
    rows = len(X.node_codes) if at_nodes else len(X)
    counts = np.empty((rows, len(graphlet_types(size))), dtype=np.int64)
    _native.count_connected(_arrays(X), size, type_numbers(size), at_nodes, counts, num_threads(), checkpoint)
    return counts


def _exact(X: GraphBatch, size: int, connected: bool) -> np.ndarray:
    """Counts of all types of a size; of disconnected ones only if they are asked for, else 0."""
    patterns = np.empty((len(X), len(PATTERNS)), dtype=np.int64)
    _native.count_patterns(_arrays(X), size > 3, patterns, num_threads(), checkpoint)
    # Products of counts are below n ** size: beyond 64 bits they are Python's integers.
    if int(X.sizes.max(initial=0)) ** size >= 1 << 62:
        patterns = patterns.astype(object)
    known = {(1, 0): X.sizes.astype(patterns.dtype), (2, 1): patterns[:, 0]}
    for s in range(3, min(size, 4) + 1):
        known.update(connected_counts(s, patterns))
    if size == 5:
        sets = _connected_sets(X, size).astype(patterns.dtype)
        types = enumerate(graphlet_types(size))
        known.update({(size, i): sets[:, i] for i, edges in types if is_connected(size, edges)})
    if not connected:
        all_counts(size, known)
    none = np.zeros(len(X), dtype=patterns.dtype)
    return np.stack([known.get((size, i), none) for i in range(len(graphlet_types(size)))], axis=1)


def _draws(n: int, size: int, samples: int, seed: int) -> np.ndarray:
    """Uniform random sets of ``size`` of n nodes, a row for each."""
    rng = np.random.default_rng(seed)
    sets = np.empty((samples, 0), dtype=np.int32)
    for i in range(size):
        drawn = rng.integers(0, n - i, samples, dtype=np.int32)
        for taken in sets.T:  # in increasing order: the number of a node among those that are left
            drawn += drawn >= taken
        sets = np.sort(np.column_stack([sets, drawn]), axis=1)
    return sets
