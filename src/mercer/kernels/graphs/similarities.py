"""Similarity of two nodes or of two edges: equality of their labels, or a kernel on what they carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arithmetic import Arithmetic
from ...certificate import Claim
from ...domains import Graph, GraphBatch, Vectors, items
from ...errors import InputError, ParameterError
from ...intervals import Interval
from ...kernel import Kernel

__all__ = [
    "arc_points",
    "arc_similarities",
    "are_all_one",
    "check_similarity",
    "compares_vectors",
    "label_points",
    "node_data",
    "node_points",
    "node_similarities",
    "premises",
    "resolved",
    "similarity",
    "uses_of",
]

#: Rows and columns of a table, and the table.
Similarities = tuple[np.ndarray, np.ndarray, np.ndarray]

ONE = Interval(1.0, 1.0)


def check_similarity(owner: str, name: str, kernel: Any) -> None:
    """Raise unless it is a kernel or None, which stands for the equality of labels."""
    if kernel is not None and not isinstance(kernel, Kernel):
        raise ParameterError(
            f"{owner}: `{name}` must be a kernel, or None for the equality of labels. Got {kernel!r}."
        )


def compares_vectors(kernel: Kernel | None) -> bool:
    """Whether a kernel on nodes compares their vectors; any other compares labels."""
    return kernel is not None and isinstance(kernel.domain, Vectors)


def uses_of(node: Kernel | None, edge: Kernel | None) -> frozenset[str]:
    """What is used of graphs by walks, whose nodes and edges are compared by kernels or by equality."""
    uses = {"weight", "attributes" if compares_vectors(node) else "label", "edge_label"}
    ignored = {"label": node, "edge_label": edge}
    return frozenset(uses - {role for role, k in ignored.items() if k is not None and k.bounds == ONE})


def premises(*kernels: Kernel | None) -> list[Claim]:
    """The claims that a sum over products of similarities rests on; equality needs none."""
    return [kernel.certificate.positive for kernel in kernels if kernel is not None]


def label_points(kernel: Kernel | None, labels: Sequence[Any]) -> Any:
    """Labels as the points of a kernel: numbers are vectors of one coordinate for kernels on vectors."""
    if kernel is None:
        return labels
    if isinstance(kernel.domain, Vectors):
        labels = [label if isinstance(label, tuple) else (label,) for label in labels]
    return kernel.domain.validate(labels, "the labels of X")


# -- one pair of graphs -------------------------------------------------------------------------
def node_points(kernel: Kernel | None, graph: Graph, m: Arithmetic) -> list[Any]:
    """What is compared of each node, in the arithmetic."""
    if kernel is None or not compares_vectors(kernel):
        return _in_arithmetic(kernel, label_points(kernel, graph.labels), m)
    if graph.attributes is None:
        raise missing_vectors(kernel)
    return _in_arithmetic(kernel, kernel.domain.validate(graph.attributes, "the node attributes of X"), m)


def arc_points(kernel: Kernel | None, graph: Graph, m: Arithmetic) -> list[Any]:
    """What is compared of each arc, in the arithmetic."""
    return _in_arithmetic(kernel, label_points(kernel, graph.edge_labels), m)


def _in_arithmetic(kernel: Kernel | None, points: Any, m: Arithmetic) -> list[Any]:
    return list(points) if kernel is None else [kernel.domain.to_arithmetic(x, m) for x in items(points)]


def similarity(kernel: Kernel | None, a: Any, b: Any, m: Arithmetic) -> Any:
    """Similarity of two of these points."""
    return m.real(a == b) if kernel is None else kernel._define(a, b, m)


def missing_vectors(kernel: Kernel) -> InputError:
    return InputError(
        f"`node` {kernel!r} compares the vectors of nodes, and a graph has none. Pass `attributes`, "
        "or a kernel on labels."
    )


# -- batches ------------------------------------------------------------------------------------
def node_similarities(kernel: Kernel | None, X: GraphBatch, Y: GraphBatch) -> Similarities:
    """Row of each node of X, column of each node of Y, and the table of similarities."""
    if kernel is None or not compares_vectors(kernel):
        return _label_similarities(
            kernel, X.node_codes, X.node_labels.elements, Y.node_codes, Y.node_labels.elements
        )
    rows, columns = np.arange(len(X.node_codes)), np.arange(len(Y.node_codes))
    if len(rows) == 0 or len(columns) == 0:
        return rows, columns, np.zeros((len(rows), len(columns)))
    return rows, columns, _values(kernel, node_data(kernel, X), None if Y is X else node_data(kernel, Y))


def node_data(kernel: Kernel, X: GraphBatch) -> Any:
    """All nodes as points of a kernel: vectors, or labels."""
    if not compares_vectors(kernel):
        return label_points(kernel, [X.node_labels.elements[c] for c in X.node_codes.tolist()])
    if X.attributes is None:
        raise missing_vectors(kernel)
    return kernel.domain.validate(X.attributes, "the node attributes of X")


def arc_similarities(kernel: Kernel | None, X: GraphBatch, Y: GraphBatch) -> Similarities:
    """The same of arcs."""
    return _label_similarities(
        kernel, X.arc_codes, X.edge_labels.elements, Y.arc_codes, Y.edge_labels.elements
    )


def _label_similarities(
    kernel: Kernel | None, x: np.ndarray, x_labels: Any, y: np.ndarray, y_labels: Any
) -> Similarities:
    x_found, rows = np.unique(x, return_inverse=True)
    y_found, columns = np.unique(y, return_inverse=True)
    ours, theirs = [x_labels[c] for c in x_found.tolist()], [y_labels[c] for c in y_found.tolist()]
    if kernel is None:
        numbers = {label: j for j, label in enumerate(theirs)}
        table = np.zeros((len(ours), len(theirs)))
        for i, label in enumerate(ours):
            if label in numbers:
                table[i, numbers[label]] = 1.0
    elif ours and theirs:
        table = _values(kernel, label_points(kernel, ours), label_points(kernel, theirs))
    else:
        table = np.zeros((len(ours), len(theirs)))
    return rows.astype(np.int64), columns.astype(np.int64), table


def _values(kernel: Kernel, X: Any, Y: Any) -> np.ndarray:
    return np.ascontiguousarray(kernel.block(X, Y), dtype=np.float64)


def are_all_one(kernel: Kernel | None, codes: np.ndarray, labels: Any) -> bool:
    """Whether all labels that occur are similar to the degree 1, as far as that is quickly seen."""
    if kernel is not None and kernel.bounds == ONE:
        return True
    found = np.unique(codes)
    if compares_vectors(kernel) or len(found) > 1:
        return False
    return kernel is None or bool(
        (_values(kernel, label_points(kernel, [labels[c] for c in found]), None) == 1.0).all()
    )


def resolved(
    node: Kernel | None, edge: Kernel | None, X: GraphBatch, weight: np.ndarray | None
) -> dict[str, Kernel]:
    """The kernels on nodes and edges whose parameters come from the data, with those parameters."""
    own = {}
    by_node, by_arc = (
        (None, None) if weight is None else (weight[X.node_graphs], weight[X.node_graphs[X.sources]])
    )
    if node is not None and not node.is_resolved:
        own["node"] = node._resolve(node_data(node, X), by_node)
    if edge is not None and not edge.is_resolved:
        labels = [X.edge_labels.elements[c] for c in X.arc_codes.tolist()]
        own["edge"] = edge._resolve(label_points(edge, labels), by_arc)
    return own
