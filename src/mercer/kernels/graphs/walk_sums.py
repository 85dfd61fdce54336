"""Sums over walks in the product graphs of two batches, on the native core."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ... import _native, memory
from ...domains import GraphBatch
from ...engine.factorizations import SMALL_EIGEN, eigh
from ...engine.runs import checkpoint
from ...engine.threads import num_threads, single_threaded_blas
from ...engine.workers import located
from ...errors import MemoryLimitError
from ...kernel import Kernel
from ..counts import Counts
from .similarities import arc_similarities, node_similarities

__all__ = [
    "Pairs",
    "Series",
    "Spectra",
    "Walkers",
    "diagonal",
    "native_arrays",
    "spectral_sums",
    "sums",
]

CONVERGES, UNPROVED, NOT_CONVERGED = range(3)

REMEDY = "Compare smaller graphs: walks take memory as the product of both sizes."


@dataclass(frozen=True)
class Series:
    """Weights of the lengths of walks: a geometric or an exponential series, whole or cut off."""

    decay: float
    exponential: bool
    length: int | None

    @property
    def is_solved(self) -> bool:
        """Whether it is a geometric series of infinitely many terms, which may diverge."""
        return self.length is None and not self.exponential

    def ratio(self, steps: int, real: Any = float) -> Any:
        """Weight of walks of that many steps, divided by the weight of those with one less."""
        return real(self.decay) / steps if self.exponential else real(self.decay)

    def ratios(self, real: Any = float) -> list[Any]:
        """The ratios of all lengths; of a whole series the first."""
        count = 1 if self.length is None else self.length
        return [self.ratio(steps, real) for steps in range(1, count + 1)]

    @property
    def native(self) -> tuple[int, np.ndarray]:
        """What the native functions take."""
        kind = _native.WALKS_EXPONENTIAL if self.exponential else _native.WALKS_SOLVED
        return _native.WALKS_TRUNCATED if self.length is not None else kind, np.array(self.ratios())


@dataclass(frozen=True, eq=False)
class Spectra:
    """Eigenvalues of adjacency matrices A = sum_i l_i v_i v_i', with the weights (1'v_i)^2.

    Attributes
    ----------
    values, weights : float64 arrays
        Of all graphs of a data set, one after the other.
    starts : int64 array
        Where those of each graph begin.
    index : int64 array
        The graphs of the data set that are meant.
    """

    values: np.ndarray
    weights: np.ndarray
    starts: np.ndarray
    index: np.ndarray

    @classmethod
    def of(cls, graphs: GraphBatch) -> Spectra | None:
        """The spectra of all graphs, if all are undirected."""
        values, weights = np.empty(len(graphs.node_codes)), np.empty(len(graphs.node_codes))
        most = int(graphs.sizes.max(initial=0))
        memory.require(3 * 8 * most * most, f"the eigenvectors of a graph of {most} nodes", REMEDY)
        with single_threaded_blas():
            for some in _of_equal_size(graphs.sizes):
                n, same = int(graphs.sizes[some[0]]), graphs.take(some)
                flat = same.sources * n + same.targets  # weights of parallel edges are added
                A: np.ndarray = np.bincount(flat, same.weights, len(some) * n * n).reshape(len(some), n, n)
                if not np.array_equal(A, A.transpose(0, 2, 1)):
                    return None
                nodes = graphs.node_starts[some][:, None] + np.arange(n)
                if n <= SMALL_EIGEN:
                    values[nodes], V = np.linalg.eigh(A)
                    weights[nodes] = V.sum(axis=1) ** 2
                else:  # in panels, which Ctrl-C can end
                    for one, graph in zip(nodes, A, strict=True):
                        values[one], V = eigh(graph)
                        weights[one] = V.sum(axis=0) ** 2
                checkpoint()
        return cls(values, weights, graphs.node_starts, np.arange(len(graphs)))

    def take(self, index: slice | np.ndarray) -> Spectra:
        """Select graphs."""
        return Spectra(self.values, self.weights, self.starts, self.index[index])

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What the native function takes."""
        return self.values, self.weights, self.starts

    @property
    def radii(self) -> np.ndarray:
        """Spectral radius of each graph; eigenvalues come in ascending order."""
        first, last = self.starts[self.index], self.starts[self.index + 1]
        ends = np.abs(np.append(self.values, 0.0)[np.stack([first, last - 1])])
        return np.asarray(np.where(first < last, ends.max(axis=0), 0.0))


def _of_equal_size(sizes: np.ndarray) -> Iterator[np.ndarray]:
    """Graphs with the same number of nodes, with 32 MiB of adjacency matrices at a time."""
    for n in np.unique(sizes).tolist():
        same = np.flatnonzero(sizes == n)
        yield from np.array_split(same, min(len(same), len(same) * n * n // (1 << 22) + 1))


@dataclass(frozen=True, eq=False)
class Walkers:
    """Graphs prepared for sums over walks.

    Attributes
    ----------
    graphs : GraphBatch
        Its weights are the factors of the steps of a walk.
    sizes : int64 array
        How many nodes of each graph, its first ones, a walk may start at.
    stop : float, optional
        Factor of the last node of a walk; it is 1 where the node has no arcs, and without it.
    spectra : Spectra, optional
        Where all nodes are alike, and all edges.
    features : dict
        Explicit features, by kernel, as far as they have been asked for.
    """

    graphs: GraphBatch
    sizes: np.ndarray
    stop: float = 1.0
    spectra: Spectra | None = None
    features: dict[Any, Counts | None] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.graphs)

    def take(self, index: slice | np.ndarray) -> Walkers:
        """Select graphs."""
        spectra = None if self.spectra is None else self.spectra.take(index)
        features = {k: None if found is None else found.take(index) for k, found in self.features.items()}
        return Walkers(self.graphs.take(index), self.sizes[index], self.stop, spectra, features)

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Factor of each node as the first and as the last one of a walk."""
        graphs = self.graphs
        place = np.arange(len(graphs.node_codes)) - graphs.node_starts[graphs.node_graphs]
        starts = (place < self.sizes[graphs.node_graphs]).astype(float)
        return starts, np.where(graphs.degrees > 0, self.stop, 1.0)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of graphs of one or of two batches."""

    X: Walkers
    Y: Walkers
    rows: np.ndarray
    cols: np.ndarray
    mirrored: bool = False

    @classmethod
    def block(cls, X: Walkers, Y: Walkers | None) -> Pairs:
        """Every graph of X with every one of Y, or each two of X once."""
        if Y is None:
            rows, cols = np.tril_indices(len(X))
            return cls(X, X, rows.astype(np.int64), cols.astype(np.int64), mirrored=True)
        rows, cols = np.divmod(np.arange(len(X) * len(Y)), max(len(Y), 1))
        return cls(X, Y, rows, cols)

    def matrix(self, values: np.ndarray) -> np.ndarray:
        """Values of a block as a matrix."""
        K = np.empty((len(self.X), len(self.Y)))
        K[self.rows, self.cols] = values
        if self.mirrored:
            K[self.cols, self.rows] = values
        return K


def diagonal(X: Walkers, values: Callable[[Pairs], np.ndarray]) -> np.ndarray:
    """Values of each graph with itself."""
    found = [np.zeros(0)]
    for start in range(0, len(X), 16):  # a few at a time: their vectors are compared all with all
        some = slice(start, min(start + 16, len(X)))
        part, own = X.take(some), np.arange(some.stop - some.start)
        with located(some, some, True):
            found.append(values(Pairs(part, part, own, own)))
    return np.concatenate(found)


def sums(
    pairs: Pairs, series: Series, node: Kernel | None, edge: Kernel | None
) -> tuple[np.ndarray, np.ndarray]:
    """Sum over walks of each pair; and whether it converges, as :data:`CONVERGES` and the others say."""
    X, Y = pairs.X.graphs, pairs.Y.graphs
    most = int((X.sizes[pairs.rows] * Y.sizes[pairs.cols]).max(initial=0))
    memory.require(8 * most, f"a product graph of up to {most} nodes", REMEDY)
    limit = (1 << 31) - 1  # the native core numbers nodes with 32 bits
    if most > limit:
        raise MemoryLimitError(f"a product graph must have at most {limit} nodes. Got up to {most}. {REMEDY}")
    node_rows, node_columns, nodes = node_similarities(node, X, Y)
    arc_rows, arc_columns, arcs = arc_similarities(edge, X, Y)
    values, status = np.empty(len(pairs.rows)), np.empty(len(pairs.rows), dtype=np.int32)
    _native.walk_sums(
        native_arrays(pairs.X, node_rows, arc_rows),
        native_arrays(pairs.Y, node_columns, arc_columns),
        nodes,
        arcs,
        *series.native,
        pairs.rows,
        pairs.cols,
        values,
        status,
        num_threads(),
        checkpoint,
    )
    return values, status


def native_arrays(X: Walkers, node_codes: np.ndarray, arc_codes: np.ndarray) -> tuple[Any, ...]:
    """What the native functions take of graphs."""
    g = X.graphs
    return ((g.node_starts, g.arc_starts, g.targets), node_codes, arc_codes, g.weights, *X.ends)


def spectral_sums(X: Spectra, Y: Spectra, series: Series, pairs: Pairs) -> np.ndarray:
    """The same for graphs without labels from their spectra; infinite series are taken to converge."""
    values = np.empty(len(pairs.rows))
    rows, cols = X.index[pairs.rows], Y.index[pairs.cols]
    _native.spectral_walk_sums(
        X.arrays, Y.arrays, *series.native, rows, cols, values, num_threads(), checkpoint
    )
    return values
