"""Histograms of labels against hand counts and GraKeL."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.certificate import Verdict
from mercer.domains import Graph
from mercer.kernels import EdgeHistogram, VertexHistogram
from mercer.kernels.graphs.counted import label_name


def test_nodes_by_hand() -> None:
    x, y = Graph(4, labels=["C", "C", 1, None]), Graph(3, labels=["C", True, 1.0])
    k = VertexHistogram()
    assert k(x, y) == 2 * 1 + 1 * 2  # 1, 1.0 and True are one label
    assert k(x, x) == 4 + 1 + 1
    assert k(x, Graph(5)) == 5  # no label is the label None
    assert k(x, Graph(0)) == 0


@pytest.mark.parametrize(
    ("graph", "edges"),
    [
        (Graph(2, [(0, 1)]), 1),
        (Graph(2, [(0, 1)], directed=True), 1),
        (Graph(2, [(1, 0)], directed=True), 1),
        (Graph(2, [(0, 1), (1, 0)], directed=True), 1),  # an undirected edge
        (Graph(2, [(0, 1), (1, 0)], edge_labels="ab", directed=True), 2),
        (Graph(2, [(0, 1), (0, 1), (0, 0)]), 3),
        (Graph(2, [(0, 1), (0, 1), (1, 0)], directed=True), 2),
        (Graph(2, [(0, 1), (1, 0), (1, 0)], directed=True), 2),
        (Graph(3), 0),
        (Graph(0), 0),
    ],
)
def test_edges_count_once(graph: Graph, edges: int) -> None:
    k = EdgeHistogram()
    assert k.features([graph]).sum() == edges
    assert len(list(k._features(graph))) == edges


def test_edges_by_hand() -> None:
    x = Graph(3, [(0, 1), (1, 2), (2, 0)], edge_labels=["-", "-", "="])
    y = Graph(4, [(0, 1), (1, 2), (2, 3)], edge_labels=["-", "=", "="])
    k = EdgeHistogram()
    assert k(x, y) == 2 * 1 + 1 * 2
    np.testing.assert_array_equal(k.block([x, y]), [[5, 4], [4, 5]])
    assert [(c.pattern, c.weight, c.x_places) for c in k.contributions(x, y)] == [
        ("-", 2.0, ((0, 1), (1, 2), (2, 3))),
        ("=", 2.0, ((0, 1), (2, 3))),
    ]
    parts = k.contributions(x, y)[0].placed()
    assert parts == {(0, 1): 0.5, (1, 2): 1.0, (2, 3): 0.5}  # node 1 has both edges


def test_grakel_agrees() -> None:
    grakel = pytest.importorskip("grakel")
    rng = np.random.default_rng(0)
    ours, theirs = [], []
    for _ in range(8):
        n = int(rng.integers(2, 7))
        edges = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.6] or [(1, 0)]
        labels, tags = rng.integers(0, 3, n).tolist(), rng.integers(0, 2, len(edges)).tolist()
        ours.append(Graph(n, edges, labels=labels, edge_labels=tags))
        arcs = {e: tag for (u, v), tag in zip(edges, tags, strict=True) for e in ((u, v), (v, u))}
        theirs.append(grakel.Graph(list(arcs), node_labels=dict(enumerate(labels)), edge_labels=arcs))
    nodes = grakel.VertexHistogram().fit_transform(theirs)
    np.testing.assert_array_equal(VertexHistogram().block(ours), nodes)
    both_arcs = grakel.EdgeHistogram().fit_transform(theirs)
    np.testing.assert_array_equal(4 * EdgeHistogram().block(ours), both_arcs)


def test_certificates() -> None:
    for k in (VertexHistogram(), EdgeHistogram()):
        assert k.certificate.verdict is Verdict.PSD
        assert k.certificate.positive.rule == "explicit features"


def test_names_tell_labels_apart() -> None:
    labels = ["C", "1", 1, None, "None", (1, "a"), "(1, 'a')", "", 2.5, "a b"]
    assert len({label_name(label) for label in labels}) == len(labels)
    assert [label_name(label) for label in ("C", 6, "=")] == ["C", "6", "="]
