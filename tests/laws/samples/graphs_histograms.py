"""Samples of the kernels that count labels of graphs."""

from __future__ import annotations

from mercer.domains import Graph
from mercer.kernels.graphs.histograms import EdgeHistogram, VertexHistogram

from ..cases import Case

__all__ = ["CASES", "GRAPHS"]

#: Empty, one node, edgeless, disconnected, repeated, self-loops, parallel edges, arcs, labels of mixed types.
GRAPHS = [
    Graph(0),
    Graph(1, labels="C"),
    Graph(3, labels=["C", 1, None]),
    Graph(3, [(0, 1), (1, 2)], labels="CCO", edge_labels="-="),
    Graph(3, [(1, 2), (0, 1)], labels="CCO", edge_labels="=-"),
    Graph(4, [(0, 1), (2, 3)], labels=["O", "C", 1.0, True], edge_labels=[1, "-"]),
    Graph(3, [(0, 0), (0, 1), (0, 1), (1, 2)], labels="CNC", edge_labels="---=", weights=[1, 2, 3, 4]),
    Graph(3, [(0, 1), (1, 2), (2, 0)], labels="CCC", directed=True),
    Graph(3, [(0, 1), (1, 0), (1, 2)], labels="CCO", edge_labels=["-", "-", ("a", 2)], directed=True),
    Graph(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]),
    Graph(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]),
]

CASES: list[Case] = [Case(VertexHistogram(), GRAPHS), Case(EdgeHistogram(), GRAPHS)]
