"""Weisfeiler-Lehman colours: what a node is, told by its label and its surroundings up to some depth.

In each iteration the colour of a node becomes the number of its *key*: its colour so far and the multiset of
(edge label, colour) of its out-arcs; where the multiset of its in-arcs differs from that one, also this.  A
colour of iteration t names the tree of all walks of t steps from a node.  Keys are compared in full and are
numbered as they come, so that two nodes have one colour exactly if they have one key.

Colours belong to the table of one batch of graphs.  Other graphs are read in the same table; keys that it
lacks have numbers beyond its own, match nothing in it, and match each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse

from mercer import _native

from ...caches import Cache
from ...domains import Graph, GraphBatch, Vocabulary, take
from ...engine.runs import checkpoint
from ...engine.threads import num_threads
from .counted import label_name

__all__ = ["ColourTable", "ColouredGraphs", "Colours", "colours_of", "count_colours", "relabelled"]


def colours_of(graphs: Sequence[Graph], h: int, edge_labels: bool) -> Iterator[list[list[int]]]:
    """The definition: the colours of the nodes of some graphs in the iterations 0, ..., h."""
    numbers: dict[Hashable, int] = {}
    colours = [[numbers.setdefault(label, len(numbers)) for label in g.labels] for g in graphs]
    yield colours
    for _ in range(h):
        numbers = {}
        colours = [
            [numbers.setdefault(key, len(numbers)) for key in _keys(g, own, edge_labels)]
            for g, own in zip(graphs, colours, strict=True)
        ]
        yield colours


def _keys(g: Graph, colours: list[int], edge_labels: bool) -> Iterator[Hashable]:
    out: list[Counter[Any]] = [Counter() for _ in range(g.n)]
    into: list[Counter[Any]] = [Counter() for _ in range(g.n)]
    for u, v, label in zip(g.sources.tolist(), g.targets.tolist(), g.edge_labels, strict=True):
        label = label if edge_labels else None
        out[u][label, colours[v]] += 1
        into[v][label, colours[u]] += 1
    for v in range(g.n):
        reverse = None if into[v] == out[v] else frozenset(into[v].items())
        yield colours[v], frozenset(out[v].items()), reverse


class ColourTable:
    """The colours of a batch of graphs.

    Attributes
    ----------
    labels : GraphBatch
        No graphs, with the labels of nodes, which are the colours of iteration 0, and those of edges.
    keys : list of h pairs of arrays
        The keys of the colours of each later iteration, as the native core writes them: the words of key c
        are ``words[starts[c]:starts[c + 1]]``: a colour, then pairs ``label * 2^32 + colour`` in order, and
        after -1 those of in-arcs.  Empty until colours are read for the first time.
    """

    def __init__(self, graphs: GraphBatch, h: int, edge_labels: bool) -> None:
        self.labels, self.h, self.edge_labels = graphs.take(slice(0, 0)), h, edge_labels
        self.keys: list[tuple[np.ndarray, np.ndarray]] = []
        self._names: dict[tuple[int, int], str] = {}

    @property
    def sizes(self) -> list[int]:
        """Number of colours of each iteration."""
        return [len(self.labels.node_labels), *(len(starts) - 1 for _, starts in self.keys)]

    def colours(self, graphs: GraphBatch) -> np.ndarray:
        """Colours of all nodes in all iterations, of shape (h + 1, N); the first graphs make the table."""
        graphs = graphs.coded_like(self.labels)
        codes = graphs.arc_codes if self.edge_labels else np.zeros_like(graphs.arc_codes)
        arcs = graphs.arc_starts, graphs.heads, codes
        reverse = tuple(np.empty_like(part) for part in arcs)
        symmetric = _native.transpose_arcs(arcs, *reverse)
        colours = np.empty((self.h + 1, len(graphs.node_codes)), dtype=np.int32)
        colours[0] = graphs.node_codes
        none = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
        keys = []
        for t in range(self.h):
            known = self.keys[t] if self.keys else none
            into = None if symmetric else reverse
            keys.append(_native.refine_colours(arcs, into, colours[t], known, colours[t + 1], checkpoint))
        self.keys = self.keys or keys
        return colours

    def name(self, t: int, colour: int) -> str:
        """A colour in words: the iteration and the tree of walks, such as ``1: C(-N,=O)``."""
        return f"{t}: {self._tree(t, colour)}"

    def _tree(self, t: int, colour: int) -> str:
        if t == 0:
            return label_name(self.labels.node_labels.elements[colour])
        if (t, colour) not in self._names:
            words, starts = self.keys[t - 1]
            key = words[starts[colour] : starts[colour + 1]].tolist()
            cut = key.index(-1) if -1 in key else len(key)
            branches = ",".join(self._branches(t, key[1:cut]))
            if cut < len(key):
                branches += "<" + ",".join(self._branches(t, key[cut + 1 :]))
            text = f"{self._root(t, colour)}({branches})"
            if len(text) > 200:  # longer names are cut, and end with the number of the colour
                text = f"{text[:200]}...#{colour}"
            self._names[t, colour] = text
        return self._names[t, colour]

    def _root(self, t: int, colour: int) -> str:
        for s in range(t, 0, -1):
            words, starts = self.keys[s - 1]
            colour = int(words[starts[colour]])
        return self._tree(0, colour)

    def _branches(self, t: int, pairs: list[int]) -> list[str]:
        """Edge and subtree of each neighbour, in alphabetical order."""
        return sorted(self._edge(pair >> 32) + self._tree(t - 1, pair & 0xFFFFFFFF) for pair in pairs)

    def _edge(self, code: int) -> str:
        label = self.labels.edge_labels.elements[code] if self.edge_labels else None
        if label is None:
            return ""
        name = label_name(label)
        return name if not any(c.isalnum() or c in "()'\"" for c in name) else f"[{name}]"


#: What a kernel needs of the colours of graphs: the graphs, the table, and the colours in its numbers.
Read = Callable[[GraphBatch, ColourTable, np.ndarray], Any]


class ColouredGraphs:
    """What a kernel reads from the colours of a batch of graphs, in their own table and in others.

    Of no graphs, ``highest`` and ``given`` are what is known of those that the table was made of: the largest
    count of each colour, and what was read, without rows.
    """

    def __init__(
        self,
        graphs: GraphBatch,
        table: ColourTable,
        read: Read,
        highest: np.ndarray | None = None,
        given: Any = None,
    ) -> None:
        self.graphs, self.table, self.highest, self._given = graphs, table, highest, given
        self._read = read
        self._known = Cache()

    @property
    def own(self) -> Any:
        """What is read in the own table; made when it is first asked for."""
        return self._known.of(self.table, self._read_in) if self._given is None else self._given

    def like(self, other: ColouredGraphs) -> Any:
        """The same in the table of other graphs."""
        if other.table is self.table:
            return self.own
        _ = other.own  # its table is complete now
        return self._known.of(other.table, self._read_in)

    def _read_in(self, table: ColourTable) -> Any:
        return self._read(self.graphs, table, table.colours(self.graphs))


class Colours:
    """Prepared graphs: some of those that were coloured together.

    What is read may be a sparse matrix with a row for each graph, or a list of prepared data.
    """

    def __init__(self, source: ColouredGraphs, rows: np.ndarray) -> None:
        self.source, self.rows = source, rows

    @classmethod
    def of(cls, graphs: GraphBatch, h: int, edge_labels: bool, read: Read) -> Colours:
        """Graphs with a table of their own."""
        table = ColourTable(graphs, h, edge_labels)
        return cls(ColouredGraphs(graphs, table, read), np.arange(len(graphs)))

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, index: slice | np.ndarray) -> Colours:
        """Select graphs; of no graphs the table alone is kept, and what a base knows of its features."""
        rows = self.rows[index]
        source = self.source
        if len(rows) == 0:
            own, none = source.own, slice(0, 0)
            empty = [take(part, none) for part in own] if isinstance(own, list) else own[none]
            graphs = source.graphs.take(none)
            source = ColouredGraphs(graphs, source.table, source._read, self.highest, empty)
        return Colours(source, rows)

    @property
    def highest(self) -> np.ndarray | None:
        """How often each colour occurs in a graph, at most; None if not counts of colours are kept."""
        if self.source.highest is None and scipy.sparse.issparse(self.source.own):
            own = self.source.own
            none = np.zeros(own.shape[1])
            self.source.highest = own.max(axis=0).toarray().ravel() if own.shape[0] else none
        return self.source.highest

    @property
    def table(self) -> ColourTable:
        """The table, complete."""
        _ = self.source.own
        return self.source.table

    @property
    def matrix(self) -> Any:
        """What was read, in the own table."""
        return self._chosen(self.source.own)

    def coded_like(self, other: Colours) -> Any:
        """The same in the table of other graphs."""
        return self._chosen(self.source.like(other.source))

    def _chosen(self, found: Any) -> Any:
        size = len(self.rows)
        first = int(self.rows[0]) if size else 0
        index: Any = self.rows
        if np.array_equal(index, np.arange(first, first + size)):
            if size == len(self.source.graphs):
                return found
            index = slice(first, first + size)  # costs less
        return [take(part, index) for part in found] if isinstance(found, list) else found[index]


def count_colours(graphs: GraphBatch, sizes: Sequence[int], colours: np.ndarray) -> scipy.sparse.csr_array:
    """How often each colour of each iteration occurs in each graph; numbers beyond the sizes are left out.

    Iteration t has the columns from ``sum(sizes[:t])`` on.
    """
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    width = max(int(offsets[-1]), 1)
    levels = len(colours)
    found: list[tuple[np.ndarray, np.ndarray]] = []
    ends = [np.zeros(1, dtype=np.int64)]
    for rows in _parts(graphs.node_starts * levels):
        first, last = graphs.node_starts[[rows.start, rows.stop]]
        part = colours[:, first:last]
        known = (part < np.asarray(sizes)[:, None]).T.ravel()
        codes = (part + offsets[:-1, None]).T.ravel()[known]
        starts = (graphs.node_starts[rows.start : rows.stop + 1] - first) * levels
        starts = np.concatenate([[0], np.cumsum(known)])[starts]
        counts, stops = np.empty(len(codes)), np.empty(len(starts), dtype=np.int64)
        size = _native.count_keys(codes, starts, width, counts, stops, num_threads())
        found.append((codes[:size].astype(np.int32), counts[:size]))
        ends.append(stops[1:] + ends[-1][-1])
        checkpoint()
    columns = np.concatenate([np.zeros(0, dtype=np.int32), *(c for c, _ in found)])
    values = np.concatenate([np.zeros(0), *(v for _, v in found)])
    return scipy.sparse.csr_array((values, columns, np.concatenate(ends)), shape=(len(graphs), width))


def _parts(starts: np.ndarray) -> Iterator[slice]:
    """Slices of graphs, each of at most so many colours or of one graph."""
    row, most = 0, 1 << 22
    while row < len(starts) - 1:
        last = max(row + 1, int(np.searchsorted(starts, starts[row] + most, side="right")) - 1)
        yield slice(row, last)
        row = last


def relabelled(graphs: GraphBatch, colours: np.ndarray) -> GraphBatch:
    """The same graphs with the numbers of colours as labels of nodes."""
    labels: Vocabulary = Vocabulary(range(int(colours.max(initial=-1)) + 1))
    return replace(graphs, node_codes=np.ascontiguousarray(colours), node_labels=labels)
