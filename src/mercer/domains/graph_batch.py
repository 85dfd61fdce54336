"""Many graphs in compressed rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain
from typing import Any, overload

import numpy as np

from ..errors import InputError
from .base import starts_of
from .graph import Graph, contents
from .sequences import check_symbols
from .vocabulary import Vocabulary

__all__ = ["GraphBatch"]


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Graphs one after the other, in compressed rows: no Python object per node.

    Attributes
    ----------
    node_starts : int64 array of shape (g + 1,)
        Graph i has the nodes ``node_starts[i]:node_starts[i + 1]`` of the batch; it begins at 0.
    arc_starts : int64 array of shape (N + 1,)
        Node v has the arcs ``arc_starts[v]:arc_starts[v + 1]``.
    targets : int32 array
        Where each arc leads to: the number of a node within its graph, 0, ..., n - 1.
    node_codes, arc_codes : int32 arrays
        Numbers of labels, in ``node_labels`` and ``edge_labels``.
    weights : float64 array
        Weights of arcs.
    attributes : float64 array of shape (N, d), or None
        Vectors of nodes.
    node_labels, edge_labels : Vocabulary
        The label of each number, shared by all that is taken from the batch.  No label is the label None.
    """

    node_starts: np.ndarray
    arc_starts: np.ndarray
    targets: np.ndarray
    node_codes: np.ndarray
    arc_codes: np.ndarray
    weights: np.ndarray
    attributes: np.ndarray | None
    node_labels: Vocabulary
    edge_labels: Vocabulary

    def __post_init__(self) -> None:
        for field in fields(self):
            if isinstance(array := getattr(self, field.name), np.ndarray):
                array.flags.writeable = False

    @classmethod
    def of(cls, graphs: Sequence[Graph]) -> GraphBatch:
        """The batch of some graphs."""
        nodes: Vocabulary = Vocabulary(chain.from_iterable(g.labels for g in graphs))
        edges: Vocabulary = Vocabulary(chain.from_iterable(g.edge_labels for g in graphs))
        starts = starts_of([g.n for g in graphs])
        sources = np.concatenate([np.zeros(0, dtype=np.int32), *(g.sources for g in graphs)])
        first = np.repeat(starts[:-1], [len(g.sources) for g in graphs])
        return cls(
            starts,
            starts_of(np.bincount(sources + first, minlength=int(starts[-1]))),
            np.concatenate([np.zeros(0, dtype=np.int32), *(g.targets for g in graphs)]),
            _codes(chain.from_iterable(g.labels for g in graphs), nodes),
            _codes(chain.from_iterable(g.edge_labels for g in graphs), edges),
            np.concatenate([np.zeros(0), *(g.weights for g in graphs)]),
            _joined_attributes(graphs),
            nodes,
            edges,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle no derived arrays, and numbers in as few bytes as they need."""
        counts = (_packed(part) for part in (self.sizes, self.degrees, self.targets))
        codes = (_packed(part) for part in (self.node_codes, self.arc_codes))
        weights = None if (self.weights == 1).all() else self.weights
        return _unpacked, (*counts, *codes, weights, self.attributes, self.node_labels, self.edge_labels)

    def __repr__(self) -> str:
        nodes, arcs = len(self.node_codes), len(self.targets)
        node_labels = [self.node_labels.elements[c] for c in np.unique(self.node_codes).tolist()]
        edge_labels = [self.edge_labels.elements[c] for c in np.unique(self.arc_codes).tolist()]
        more = contents(node_labels, edge_labels, self.weights, self.attributes)
        return f"<GraphBatch of {len(self)} graphs with {nodes} nodes and {arcs} arcs{more}>"

    def __len__(self) -> int:
        return len(self.node_starts) - 1

    def __iter__(self) -> Iterator[Graph]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Graph: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int] | np.ndarray) -> GraphBatch: ...
    def __getitem__(self, index: Any) -> Graph | GraphBatch:
        """Graph number ``index``, or the batch of several graphs."""
        if not isinstance(index, int | np.integer):
            return self.take(index)
        i = range(len(self))[index]
        first, last = (int(v) for v in self.node_starts[i : i + 2])
        start, end = (int(v) for v in self.arc_starts[[first, last]])
        degrees = np.diff(self.arc_starts[first : last + 1])
        nodes, edges = self.node_labels.elements, self.edge_labels.elements
        return Graph._of(
            last - first,
            np.repeat(np.arange(last - first, dtype=np.int32), degrees),
            self.targets[start:end].copy(),
            tuple(nodes[c] for c in self.node_codes[first:last].tolist()),
            tuple(edges[c] for c in self.arc_codes[start:end].tolist()),
            self.weights[start:end].copy(),
            None if self.attributes is None else self.attributes[first:last].copy(),
        )

    @property
    def sizes(self) -> np.ndarray:
        """Number of nodes of each graph."""
        return np.diff(self.node_starts)

    @property
    def degrees(self) -> np.ndarray:
        """Number of arcs that leave each node."""
        return np.diff(self.arc_starts)

    @cached_property
    def node_graphs(self) -> np.ndarray:
        """The graph of each node."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def sources(self) -> np.ndarray:
        """Where each arc comes from: the number of a node of the batch."""
        return np.repeat(np.arange(len(self.node_codes)), self.degrees)

    @cached_property
    def heads(self) -> np.ndarray:
        """Where each arc leads to: the number of a node of the batch."""
        return np.asarray(self.targets + self.node_starts[self.node_graphs[self.sources]])

    def take(self, index: slice | Sequence[int] | np.ndarray) -> GraphBatch:
        """Select graphs by a slice, positions, or an array of booleans."""
        chosen = np.arange(len(self))[index]
        nodes = _ranges(self.node_starts[:-1][chosen], self.sizes[chosen])
        arcs = _ranges(self.arc_starts[:-1][nodes], self.degrees[nodes])
        return GraphBatch(
            starts_of(self.sizes[chosen]),
            starts_of(self.degrees[nodes]),
            self.targets[arcs],
            self.node_codes[nodes],
            self.arc_codes[arcs],
            self.weights[arcs],
            None if self.attributes is None else self.attributes[nodes],
            self.node_labels,
            self.edge_labels,
        )

    def relabel(
        self, nodes: Mapping[Any, Hashable] | None = None, edges: Mapping[Any, Hashable] | None = None
    ) -> GraphBatch:
        """The same graphs with other labels.

        Parameters
        ----------
        nodes, edges : mapping from labels to labels, optional
            Labels that are not there stay as they are.  Two labels may become one.

        Examples
        --------
        >>> batch = GraphBatch.of([Graph(3, [(0, 1), (1, 2)], labels=[6, 6, 8])])
        >>> batch.relabel(nodes={6: "C", 8: "O"})[0].labels
        ('C', 'C', 'O')
        """
        node_codes, node_labels = _renamed(self.node_codes, self.node_labels, nodes or {})
        arc_codes, edge_labels = _renamed(self.arc_codes, self.edge_labels, edges or {})
        return replace(
            self, node_codes=node_codes, arc_codes=arc_codes, node_labels=node_labels, edge_labels=edge_labels
        )

    def coded_like(self, other: GraphBatch) -> GraphBatch:
        """The same graphs in the label numbers of ``other``; labels that it lacks get numbers beyond its own.

        The vocabularies of the result stay the own ones: its numbers are good for comparing with ``other``,
        not for reading labels back.
        """
        codes = [
            mine if own is theirs else np.asarray(theirs.numbers_of(own)[mine])
            for mine, own, theirs in (
                (self.node_codes, self.node_labels, other.node_labels),
                (self.arc_codes, self.edge_labels, other.edge_labels),
            )
        ]
        return replace(self, node_codes=codes[0], arc_codes=codes[1])


def _renamed(
    codes: np.ndarray, labels: Vocabulary, names: Mapping[Any, Hashable]
) -> tuple[np.ndarray, Vocabulary]:
    renamed = [names.get(label, label) for label in labels.elements]
    check_symbols(renamed, "GraphBatch.relabel: labels", "label")
    vocabulary: Vocabulary = Vocabulary(renamed)
    return _codes(renamed, vocabulary)[codes], vocabulary


def _joined_attributes(graphs: Sequence[Graph]) -> np.ndarray | None:
    found = [g.attributes for g in graphs if g.attributes is not None]
    if not found:
        return None
    remedy = "Where vectors are not needed, mercer.graphs.as_graphs(X, attributes=None) does not read them."
    widths = {a.shape[1] for a in found if len(a)}
    if len(widths) > 1:
        raise InputError(
            f"graphs must have node attributes of one length. Got the lengths {sorted(widths)}. {remedy}"
        )
    width = widths.pop() if widths else 0
    for i, g in enumerate(graphs):
        if g.attributes is None and g.n:
            raise InputError(
                f"graph {i} has no node attributes, while others have vectors of length {width}. {remedy}"
            )
    return np.concatenate([a.reshape(len(a), width) for a in found])


def _codes(labels: Iterable[Hashable], vocabulary: Vocabulary) -> np.ndarray:
    return np.fromiter(map(vocabulary.index.__getitem__, labels), dtype=np.int32)


def _ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The numbers ``start, ..., start + length - 1`` of all ranges, one after the other."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(int(ends[-1]) if len(ends) else 0)


def _packed(numbers: np.ndarray) -> np.ndarray:
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def _unpacked(
    sizes: np.ndarray,
    degrees: np.ndarray,
    targets: np.ndarray,
    node_codes: np.ndarray,
    arc_codes: np.ndarray,
    weights: np.ndarray | None,
    attributes: np.ndarray | None,
    node_labels: Vocabulary,
    edge_labels: Vocabulary,
) -> GraphBatch:
    return GraphBatch(
        starts_of(sizes),
        starts_of(degrees),
        targets.astype(np.int32),
        node_codes.astype(np.int32),
        arc_codes.astype(np.int32),
        np.ones(len(targets)) if weights is None else weights,
        attributes,
        node_labels,
        edge_labels,
    )
