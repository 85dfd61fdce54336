"""Explicit features of walks of bounded length: how often each sequence of labels is read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse

from ...domains import GraphBatch, Vocabulary
from ..counts import Counts
from .walk_sums import Series

__all__ = ["walk_counts"]


def walk_counts(graphs: GraphBatch, series: Series) -> Counts | None:
    r"""Weights of the walks of each graph by the labels along them, times the root of their coefficient.

    .. math:: \phi_s(x) = \sqrt{c_l} \sum_{u_0 \to \dots \to u_l \text{ reads } s} w_1 \cdots w_l

    A feature is the tuple of labels of node, edge, node, and so on.  Walks are extended by one step at a
    time, all that end at one node with one sequence together.

    Returns
    -------
    Counts, or None if there are more pairs of a node and a sequence than some 0.3 s allow
    """
    assert series.length is not None
    starts, degrees, heads = graphs.arc_starts, graphs.degrees, graphs.heads
    tags, labels = graphs.edge_labels.elements, graphs.node_labels.elements
    names: list[tuple[Any, ...]] = [(label,) for label in labels]
    node, sequence = np.arange(len(graphs.node_codes)), graphs.node_codes.astype(np.int64)
    weight: np.ndarray = np.ones(len(node))
    factor = 1.0
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    # Pairs of a node and a sequence of labels of the walks that end there, and labels of the sequences, over
    # all lengths: some 0.3 s.
    most = 1 << 20
    first = total = 0  # the number of the first sequence of this length; entries so far
    for steps in range(series.length + 1):
        found.append((graphs.node_graphs[node], sequence, math.sqrt(factor) * weight))
        total += int(degrees[node].sum())
        if steps == series.length or not degrees[node].any():
            break
        if total > most:
            return None
        leaving = degrees[node]
        last = np.repeat(np.arange(len(node)), leaving)
        arcs = np.arange(len(last)) + np.repeat(starts[node] + leaving - np.cumsum(leaving), leaving)
        keys = (sequence[last] - first) * len(tags) + graphs.arc_codes[arcs]
        keys = keys * len(labels) + graphs.node_codes[heads[arcs]]
        distinct, number = np.unique(keys, return_inverse=True)
        if first + len(names) * len(tags) * len(labels) > np.iinfo(np.int64).max // len(node):
            return None
        total += len(distinct) * (2 * steps + 3)
        if total > most:
            return None
        before, first = first, len(names)
        for key in distinct.tolist():
            rest, label = divmod(key, len(labels))
            known, tag = divmod(rest, len(tags))
            names.append((*names[before + known], tags[tag], labels[label]))
        ends, place = np.unique(heads[arcs] * len(distinct) + number, return_inverse=True)
        weight = np.bincount(place, weight[last] * graphs.weights[arcs], len(ends))
        node, sequence = ends // len(distinct), first + ends % len(distinct)
        factor *= series.ratio(steps + 1)
    rows, columns, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
    shape = len(graphs), max(len(names), 1)
    matrix = scipy.sparse.csr_array((values, (rows, columns)), shape=shape)
    matrix.sum_duplicates()
    return Counts(matrix, Vocabulary(names))
