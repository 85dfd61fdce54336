"""The domain of nodes of one graph, and the weights that it holds."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from mercer.domains import Adjacency, Graph, Nodes
from mercer.errors import InputError
from mercer.graphs import laplacian
from mercer.kernels import Diffusion

PATH = Adjacency(4, [(0, 1), (1, 2, 0.5), (3, 3, 2.0)])
NAMED = Adjacency(3, [(0, 1)], names=["Ann", "Bob", ("Eve", 2)])
MATRIX = np.array([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.5, 0.0], [0.0, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0]])


@pytest.mark.parametrize(
    "graph",
    [
        MATRIX,
        MATRIX.tolist(),
        scipy.sparse.coo_matrix(MATRIX),
        (4, [(0, 1), (1, 2, 0.5), (3, 3, 2.0)]),
        Graph(4, [(1, 0), (2, 1), (3, 3)], weights=[1.0, 0.5, 2.0]),
        Graph(4, [(1, 0), (0, 1), (2, 1), (1, 2), (3, 3)], weights=[1.0, 1.0, 0.5, 0.5, 2.0], directed=True),
        Graph(4, [(1, 0), (2, 1), (2, 1), (3, 3)], weights=[1.0, 0.25, 0.25, 2.0]),
    ],
    ids=["dense", "lists", "sparse", "pair", "graph", "both arcs", "parallel edges"],
)
def test_all_ways_to_give_a_graph_give_the_same_weights(graph: Any) -> None:
    found = Adjacency.of(graph)
    assert found == PATH
    assert hash(found) == hash(PATH)
    assert found.digest == PATH.digest
    np.testing.assert_array_equal(found.matrix.toarray(), MATRIX)


def test_networkx_graphs_give_names_and_weights() -> None:
    networkx = pytest.importorskip("networkx")
    g = networkx.Graph([("b", "a", {"weight": 2.0}), ("a", "c")])
    found = Adjacency.of(g)
    assert found.names == ("b", "a", "c")
    np.testing.assert_array_equal(found.matrix.toarray(), [[0, 2, 0], [2, 0, 1], [0, 1, 0]])
    assert Adjacency.of(networkx.path_graph(3)).names is None
    with pytest.raises(InputError, match="undirected"):
        Adjacency.of(networkx.DiGraph([(0, 1)]))


def test_a_graph_is_a_value() -> None:
    for graph in (PATH, NAMED):
        assert eval(repr(graph), {"Adjacency": Adjacency}) == graph
        assert pickle.loads(pickle.dumps(graph)) == graph
        assert not pickle.loads(pickle.dumps(graph)).matrix.data.flags.writeable
    assert PATH != NAMED
    assert Adjacency(3, [(0, 1)]) != NAMED
    with pytest.raises(AttributeError):
        PATH.names = ("a",)
    weights = MATRIX.copy()
    held = Adjacency.of(weights)
    weights[0, 1] = 7.0
    assert held == PATH


def test_a_large_graph_is_shown_by_its_digest() -> None:
    ring = Adjacency(100, [(i, (i + 1) % 100) for i in range(100)])
    assert repr(ring) == f"<graph of 100 nodes and 100 edges, {ring.digest[:12]}>"


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (np.array([[0.0, 1.0], [0.5, 0.0]]), "node 0 to node 1 is 1, and back it is 0.5"),
        (Graph(2, [(0, 1)], directed=True), "undirected"),
        (np.ones((2, 3)), r"shape \(2, 3\)"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), "finite"),
        (Graph(0), "at least one node"),
        ("abc", "Got str"),
        (None, "Got NoneType"),
    ],
)
def test_wrong_graphs_are_refused(graph: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Adjacency.of(graph)


def test_names_are_one_for_each_node() -> None:
    for names in (["a"], ["a", "a"]):
        with pytest.raises(InputError, match="names"):
            Adjacency(2, [(0, 1)], names=names)


@pytest.mark.parametrize(
    "X",
    [
        [3, 0, 0],
        (3, 0, 0),
        np.array([3, 0, 0], dtype=np.uint8),
        np.array([[3], [0], [0]]),
        pd.Series([3, 0, 0]),
        pd.DataFrame({"node": [3, 0, 0]}),
    ],
)
def test_nodes_by_number(X: Any) -> None:
    data = Nodes(PATH).validate(X)
    assert list(data) == [3, 0, 0]
    assert list(data.take(np.array([1, 0]))) == [0, 3]
    assert Nodes(PATH).validate(data) is data


def test_nodes_by_name() -> None:
    domain = Nodes(NAMED)
    data = domain.validate([("Eve", 2), "Bob"])
    assert data.numbers.tolist() == [2, 1]
    assert list(data) == [("Eve", 2), "Bob"]
    assert len(set(domain.digests(["Ann", "Bob", "Ann"]))) == 2


@pytest.mark.parametrize(
    ("graph", "X", "words"),
    [
        (PATH, [0, 4], r"X\[1\] is 4, which is no node of the graph. Its 4 nodes: the numbers 0 to 3"),
        (PATH, np.array([0, -1]), r"X\[1\] is -1"),
        (PATH, [True], r"X\[0\] is True"),
        (PATH, ["a"], r"X\[0\] is 'a'"),
        (PATH, np.zeros((2, 2), dtype=int), "one column"),
        (PATH, 3, "list of one"),
        (NAMED, ["Ann", "Dan"], r"X\[1\] is 'Dan'"),
        (NAMED, [0], r"X\[0\] is 0"),
        (NAMED, [["Ann"]], r"X\[0\] is \['Ann'\]"),
    ],
)
def test_unknown_nodes_are_named(graph: Adjacency, X: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Nodes(graph).validate(X)


def test_domains_of_one_graph_meet() -> None:
    assert Nodes(PATH) == Nodes(MATRIX)
    assert Nodes(PATH)._meet(Nodes(NAMED)) is None


def test_what_would_be_read_wrongly_is_refused() -> None:
    edges = zip([0, 1], [1, 2], strict=True)
    for use in (Adjacency.of, laplacian, lambda graph: Diffusion(graph, 0.5)):
        with pytest.raises(
            InputError, match=r"`edges` must be .*empty when it is read again. Pass list\(edges\)"
        ):
            use((3, edges))
    with pytest.raises(InputError, match=r"`edges` must be .*Got a dict"):
        Adjacency(3, {(0, 1): 2.0})
    with pytest.raises(InputError, match=r"`edges\[0\]` is \(0, 1, '2'\). A third entry is a weight"):
        Adjacency(3, [(0, 1, "2")])
    hermitian = np.array([[0, 1j], [-1j, 0]])
    for graph in (hermitian, hermitian.tolist(), hermitian.real.astype(complex)):
        with pytest.raises(InputError, match=r"`graph` must have real weights\. Got complex128"):
            Adjacency.of(graph)
