"""Graphs as they come: one meaning for each form, and errors that name the graph."""

import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

from mercer.domains import Adjacency, Graph, GraphBatch, Graphs, Vectors, join, owned
from mercer.errors import DigestError, InputError
from mercer.graphs import as_graph, as_graphs
from mercer.kernels import (
    Constant,
    EdgeHistogram,
    Gaussian,
    Graphlets,
    MarginalizedWalk,
    RandomWalk,
    ShortestPath,
    TreeWalk,
    VertexHistogram,
    WeisfeilerLehman,
)
from mercer.machines import SVC

TRIANGLE = Graph(3, [(0, 1), (1, 2), (0, 2)], labels="abc", weights=[1.0, 2.0, 3.0])
ADJACENCY = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])


def triangle() -> nx.Graph:
    g = nx.Graph()
    for name, label in zip("xyz", "abc", strict=True):
        g.add_node(name, label=label)
    g.add_weighted_edges_from([("x", "y", 1.0), ("y", "z", 2.0), ("x", "z", 3.0)])
    return g


class IGraph:
    """What igraph's graphs offer, as far as it is used."""

    def __init__(self) -> None:
        self.vs = [SimpleNamespace(attributes=lambda x=x: {"label": x}) for x in "abc"]
        self.es = [SimpleNamespace(attributes=lambda w=w: {"weight": w}) for w in (1.0, 2.0, 3.0)]

    def vcount(self) -> int:
        return 3

    def get_edgelist(self) -> list[tuple[int, int]]:
        return [(0, 1), (1, 2), (0, 2)]

    def is_directed(self) -> bool:
        return False


def arcs() -> SimpleNamespace:
    """A graph as PyTorch Geometric holds it: every arc in one array."""
    pairs = np.array([[0, 1, 1, 2, 0, 2], [1, 0, 2, 1, 2, 0]])
    return SimpleNamespace(
        edge_index=pairs, num_nodes=3, label=np.array(list("abc")), weight=[1, 1, 2, 2, 3, 3]
    )


@pytest.mark.parametrize(
    "x",
    [
        TRIANGLE,
        triangle(),
        (ADJACENCY, "abc"),
        (ADJACENCY.tolist(), ["a", "b", "c"]),
        (scipy.sparse.csr_array(ADJACENCY), np.array(["a", "b", "c"])),
        (scipy.sparse.coo_matrix(ADJACENCY), ("a", "b", "c")),
        IGraph(),
        arcs(),
    ],
    ids=lambda x: type(x[0] if isinstance(x, tuple) else x).__name__,
)
def test_all_forms_are_the_same_graph(x: object) -> None:
    assert as_graph(x) == TRIANGLE


def test_edges_and_labels() -> None:
    batch = Graphs().validate([(2, [(0, 1)]), (2, [(1, 0)], "CO"), (np.int64(1), [])])
    assert [g.labels for g in batch] == [(None, None), ("C", "O"), (None,)]
    assert batch[0].targets.tolist() == [1, 0]


def test_directed_graphs_have_one_arc_for_each_edge() -> None:
    g = nx.DiGraph([(0, 1), (1, 2)])
    expected = Graph(3, [(0, 1), (1, 2)], directed=True)
    assert as_graph(g) == expected
    assert as_graph(nx.to_numpy_array(g), directed=True) == expected
    assert as_graph((3, [(0, 1), (1, 2)]), directed=True) == expected
    assert as_graph(g.to_undirected(), directed=True) == Graph(3, [(0, 1), (1, 2)])  # it knows it itself


def test_parallel_edges_and_loops_are_kept() -> None:
    g = nx.MultiGraph([(0, 1), (0, 1), (1, 1)])
    found = as_graph(g)
    assert list(zip(found.sources.tolist(), found.targets.tolist(), strict=True)) == [
        (0, 1), (0, 1), (1, 0), (1, 0), (1, 1)
    ]  # fmt: skip
    d = as_graph(nx.MultiDiGraph([(0, 1), (0, 1), (1, 1)]))
    assert d.sources.tolist() == [0, 0, 1]


def test_entries_of_a_matrix_are_weights_and_zeros_are_no_edges() -> None:
    stored = scipy.sparse.csr_array(
        (np.array([0.0, 2.0, 2.0, 0.0]), (np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))), shape=(2, 2)
    )
    twice = scipy.sparse.coo_array((np.ones(4), ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))
    for matrix in (stored, twice, np.array([[0, 2], [2, 0]])):
        found = as_graph(matrix)
        assert (found.targets.tolist(), found.weights.tolist()) == ([1, 0], [2.0, 2.0])
    assert stored.nnz == 4, "the matrix given is as it was"
    assert as_graph(np.eye(2, dtype=bool)) == Graph(2, [(0, 0), (1, 1)])


def test_a_stack_of_matrices_is_many_graphs() -> None:
    assert len(Graphs().validate(np.zeros((5, 3, 3)))) == 5


def test_nodes_are_numbered_as_they_are_iterated() -> None:
    g = nx.Graph()
    g.add_nodes_from(["z", "a"])
    g.add_node("m", label=1)
    nx.set_node_attributes(g, {"z": 26, "a": 1.0, "m": "thirteen"}, "label")
    assert as_graph(g).labels == (26, 1.0, "thirteen")


def test_names_of_attributes() -> None:
    g = nx.Graph()
    g.add_node(0, atom="C", place=[0.0, 1.0])
    g.add_node(1, atom="O", place=[1.0, 1.0])
    g.add_edge(0, 1, bond="double", length=1.2)
    found = as_graph(g, label="atom", edge_label="bond", weight="length", attributes="place")
    assert (found.labels, found.edge_labels) == (("C", "O"), ("double", "double"))
    assert found.weights.tolist() == [1.2, 1.2]
    assert found.attributes is not None
    assert found.attributes.tolist() == [[0, 1], [1, 1]]
    assert as_graph(g, label=None) == Graph(2, [(0, 1)])
    with pytest.raises(
        InputError, match=r"^x: no node has the attribute 'atoms' \(`label`\).*'atom', 'place'"
    ):
        as_graph(g, label="atoms")
    with pytest.raises(InputError, match=r"X\[0\]: the graph has no attribute 'x' \(`attributes`\)"):
        as_graphs([arcs()], attributes="x")
    assert as_graph(nx.empty_graph(2), edge_label="bond").n == 2, "no edge, no name to miss"


def test_a_missing_weight_is_one() -> None:
    g = nx.path_graph(3)
    g[0][1]["weight"] = 5
    assert as_graph(g).weights.tolist() == [5, 5, 1, 1]


def test_a_batch_is_taken_as_it_is() -> None:
    batch = as_graphs([triangle()], label=None)
    assert Graphs().validate(batch) is batch


def test_degenerate_graphs() -> None:
    batch = Graphs().validate([nx.Graph(), nx.empty_graph(1), np.zeros((0, 0)), (0, []), nx.empty_graph(3)])
    assert batch.sizes.tolist() == [0, 1, 0, 0, 3]
    assert len(batch.targets) == 0
    assert len(Graphs().validate([])) == 0
    assert [g.n for g in batch] == [0, 1, 0, 0, 3]


NAN = np.array([[0.0, np.nan], [np.nan, 0.0]])


def vectors(*attributes: object) -> nx.Graph:
    g = nx.Graph()
    g.add_nodes_from((i, {"attributes": vector}) for i, vector in enumerate(attributes))
    return g


def labelled(**labels: object) -> nx.Graph:
    g = nx.path_graph(2)
    nx.set_node_attributes(g, {int(k[1:]): v for k, v in labels.items()}, "label")
    return g


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ((2, [(0, 1)], "abc"), "`labels` must have one label for each of the 2 nodes. Got 3."),
        ((ADJACENCY, "ab"), "`labels` must have one label for each of the 3 nodes. Got 2."),
        (np.triu(ADJACENCY), r"symmetric: entry \(0, 1\) is 1, entry \(1, 0\) is 0.*directed=True.*DiGraph"),
        (scipy.sparse.csr_array(np.triu(ADJACENCY)), "must be symmetric"),
        (np.zeros((2, 3)), r"square matrix. Got shape \(2, 3\)"),
        (NAN, r"`weights\[0\]`, of the edge \(0, 1\), must be a finite number. Got nan"),
        ((2, [(0, 1)], [["a"], ["b"]]), r"labels\[0\] must be a hashable label: unhashable type: 'list'"),
        ((2, [(0, 1)], [float("nan"), 1]), r"labels\[0\] is nan, which does not equal itself"),
        ((2, [(0, 2)]), r"`edges\[0\]` is \(0, 2\). The nodes are the numbers 0 to 1."),
        ((2, [("a", "b")]), "`edges` must be pairs of node numbers"),
        ((True, []), "`n`, the number of nodes, must be an integer >= 0. Got True."),
        ((-1, []), "`n`, the number of nodes, must be an integer >= 0. Got -1."),
        (labelled(_0="a"), "node 1 has no attribute 'label'.*other nodes have it"),
        (labelled(_0=["a"], _1=["b"]), "must be a hashable label"),
        (nx.Graph([(0, 1, {"weight": "heavy"})]), "`weights` must be numbers"),
        (vectors([1.0, 2.0], [1.0]), "of one length. That of node 0 has the length 2, that of node 1"),
        (vectors([1.0, 2.0], 1.0), "That of node 0 has the length 2, that of node 1 the length 1"),
        (nx.Graph([(0, 1, {"label": "a"}), (1, 2, {})]), r"edge \(1, 2\) has no attribute 'label'"),
    ],
)
def test_bad_graphs_are_named(x: object, message: str) -> None:
    with pytest.raises(InputError, match=rf"^X\[1\]: .*{message}"):
        Graphs().validate([TRIANGLE, x])


@pytest.mark.parametrize("x", ["C", 3, None, ["a", "b"], [[1, 2], [3]], (1, 2, 3, 4), ("a", "b"), object()])
def test_wrong_types_are_refused_by_name(x: object) -> None:
    with pytest.raises(InputError, match=rf"^X\[1\] must be a graph: .*Got {type(x).__name__}\.$"):
        Graphs().validate([TRIANGLE, x])


@pytest.mark.parametrize(
    "X", [TRIANGLE, triangle(), ADJACENCY, scipy.sparse.csr_array(ADJACENCY), (2, [(0, 1)]), IGraph(), arcs()]
)
def test_a_single_graph_is_no_sequence(X: object) -> None:
    with pytest.raises(InputError, match=r"X must be a sequence of graphs. Got a single one .*\[X\]"):
        Graphs().validate(X)


@pytest.mark.parametrize("X", ["CCO", 3, {"a": 1}, {TRIANGLE}])
def test_what_is_no_sequence_of_graphs(X: object) -> None:
    with pytest.raises(InputError, match=r"^X must"):
        Graphs().validate(X)


def test_vectors_have_one_length() -> None:
    with_vectors = Graph(2, attributes=[[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(InputError, match="graph 1 has no node attributes"):
        Graphs().validate([with_vectors, TRIANGLE])
    with pytest.raises(InputError, match=r"one length. Got the lengths \[1, 2\]"):
        Graphs().validate([with_vectors, Graph(1, attributes=[[1.0]])])


# -- digests -----------------------------------------------------------------------------------------------
def test_digests_name_the_graph_and_not_its_batch() -> None:
    others = [Graph(4, [(0, 1)], labels="zyxc", edge_labels=["single"]), TRIANGLE]
    alone, among = Graphs().digest(triangle()), Graphs().digests(others)
    assert among[1] == alone
    assert len(set(among)) == 2


def test_graphs_that_differ_have_different_digests() -> None:
    edges = [(0, 1), (1, 2)]
    graphs = [
        Graph(0),
        Graph(1),
        Graph(3),
        Graph(3, edges),
        Graph(3, edges, directed=True),
        Graph(3, [(0, 1), (0, 2)]),
        Graph(3, edges, labels="abc"),
        Graph(3, edges, labels=[1, 2, 3]),
        Graph(3, edges, labels=["1", "2", "3"]),
        Graph(3, edges, edge_labels="ab"),
        Graph(3, edges, weights=[1, 2]),
        Graph(4, edges),
        Graph(3, [*edges, (1, 2)]),
    ]
    assert len(set(Graphs().digests(graphs))) == len(graphs)
    vectors = [Graph(3, edges, attributes=a) for a in (np.zeros((3, 1)), np.zeros((3, 2)), np.ones((3, 1)))]
    assert len({Graphs().digest(g) for g in [Graph(3, edges), *vectors]}) == 4


def test_equal_labels_have_equal_digests() -> None:
    same = [Graph(2, labels=labels, weights=[]) for labels in ([1, 0], [1.0, -0.0], [True, False])]
    assert len(set(Graphs().digests(same))) == 1
    assert same[0] == same[1] == same[2]


def test_a_label_without_canonical_form_has_no_digest() -> None:
    with pytest.raises(DigestError, match=r"label Fraction\(1, 2\)"):
        Graphs().digests([Graph(1, labels=[Fraction(1, 2)])])


def test_digests_stay_the_same_in_every_process() -> None:
    code = (
        "from mercer.domains import Graph, Graphs;"
        "g = Graph(3, [(0, 1), (1, 2)], labels=['b', frozenset('xyz'), 2], edge_labels='ab');"
        "print(Graphs().digest(g))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


# -- batches -----------------------------------------------------------------------------------------------
def random_batch(n: int = 20) -> GraphBatch:
    return Graphs().validate(Graphs().sample(n, np.random.default_rng(0)))


@pytest.mark.parametrize(
    "index", [slice(3, 9, 2), [4, 4, 1], np.arange(20) % 3 == 0, np.array([], dtype=int)]
)
def test_graphs_are_selected_as_of_an_array(index: object) -> None:
    batch = random_batch()
    numbers = np.arange(len(batch))[index].tolist()  # type: ignore[index]
    assert list(batch[index]) == [batch[i] for i in numbers]  # type: ignore[call-overload]
    assert batch[-1] == batch[19]
    with pytest.raises(IndexError):
        batch[20]


def test_pickles_are_small_and_hold_no_derived_arrays() -> None:
    batch = random_batch(500)
    _ = batch.sources, batch.heads, batch.node_graphs
    copied = pickle.loads(pickle.dumps(batch))
    assert list(copied) == list(batch)
    unweighted = GraphBatch.of(
        [Graph(g.n, np.column_stack([g.sources, g.targets]), directed=True) for g in batch]
    )
    assert len(pickle.dumps(unweighted)) < 3 * (len(batch.node_codes) + len(batch.targets)) + 3000
    assert pickle.loads(pickle.dumps(TRIANGLE)) == TRIANGLE


def test_a_batch_and_its_graphs_never_change() -> None:
    batch = owned(random_batch(), None)
    for name in ("targets", "node_codes", "weights"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(batch, name)[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        batch[3].weights[0] = 7
    with pytest.raises(AttributeError, match="`n` cannot be set"):
        TRIANGLE.n = 4


def test_what_the_caller_gave_may_change() -> None:
    weights, g = np.array([1.0]), triangle()
    one, other = Graph(2, [(0, 1)], weights=weights), Graphs().validate([g])
    weights[0] = 7
    g.add_edge("x", "w")
    assert one.weights.tolist() == [1, 1]
    assert other[0] == TRIANGLE


def test_joined_batches() -> None:
    a, b = random_batch(3), Graphs().validate([TRIANGLE])
    both = join(Graphs(), a, b)
    assert list(both) == [*a, TRIANGLE]


def test_labels_are_replaced() -> None:
    batch = as_graphs(
        [Graph(3, [(0, 1), (1, 2)], labels=[6, 6, 8], edge_labels=[1, 2]), Graph(1, labels=[7])]
    )
    found = batch.relabel(nodes={6: "C", 8: "O", 99: "Es"}, edges={2: 1})
    expected = [Graph(3, [(0, 1), (1, 2)], labels=["C", "C", "O"], edge_labels=[1, 1]), Graph(1, labels=[7])]
    assert list(found) == expected
    assert list(batch.relabel()) == list(batch)
    assert batch.relabel(nodes={6: 8})[0].labels == (8, 8, 8)
    with pytest.raises(InputError, match=r"relabel: labels\[0\] must be a hashable label"):
        batch.relabel(nodes={6: []})


def test_codes_of_another_batch() -> None:
    first, second = as_graphs([Graph(2, labels="ab")]), as_graphs([Graph(3, labels="cba")])
    codes = second.coded_like(first).node_codes.tolist()
    assert codes[1:] == [1, 0]
    assert codes[0] >= 2


def test_many_small_graphs_are_few_objects() -> None:
    batch = random_batch(300)
    held = [value for value in vars(batch).values() if not isinstance(value, np.ndarray)]
    assert all(len(value) < 10 for value in held if value is not None), "the two vocabularies alone"


def test_other_domains_refuse_graphs() -> None:
    with pytest.raises(InputError):
        Vectors().validate([TRIANGLE])


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1, 1.0), (1, 2, 2.0), (0, 2, 3.0)],
        [(0, 1), (1, 2, 2.0), [0, 2, 3]],
        np.array([[0, 1, 1.0], [1, 2, 2.0], [0, 2, 3.0]]),
    ],
    ids=["tuples", "some without weight", "array"],
)
def test_edges_may_have_weights(edges):
    assert as_graph((3, edges, "abc")) == TRIANGLE


def test_edges_that_are_none_are_shown():
    for edges in ([(0.5, 1.0)], ["ab"], [(0, 1, 2, 3)], np.array([[0.5, 1.0, 2.0]]), [5]):
        with pytest.raises(InputError, match=r"x: `edges` must be pairs of node numbers.* Got \["):
            as_graph((3, edges))
    with pytest.raises(InputError, match="Got ndarray of type complex128"):
        as_graph(np.eye(2, dtype=complex))


# -- what would be read wrongly without a word ---------------------------------------------------------------
@pytest.mark.parametrize(
    ("make", "remedy"),
    [
        (lambda: (3, zip([0, 1], [1, 2], strict=True)), r"list\(edges\)"),
        (lambda: (3, ((i, i + 1) for i in range(2)), "CCO"), r"list\(edges\)"),
        (lambda: (3, [(0, 1)], (c for c in "CCO")), r"list\(labels\)"),
        (lambda: (np.eye(3), iter("CCO")), r"list\(labels\)"),
    ],
    ids=["edges", "edges and labels", "labels", "labels of a matrix"],
)
def test_iterators_inside_a_graph_are_refused_at_the_first_reading(make, remedy):
    for use in (
        as_graph,
        lambda x: VertexHistogram().block([x]),
        lambda x: SVC(VertexHistogram()).fit([x], [0]),
    ):
        with pytest.raises(InputError, match=rf"empty when it is read again\. Pass {remedy}"):
            use(make())


@pytest.mark.parametrize("name", ["labels", "edge_labels", "weights", "attributes"])
def test_iterators_are_no_values_of_nodes_or_edges(name):
    with pytest.raises(InputError, match=rf"^Graph: `{name}` must be a sequence\..*Pass list\({name}\)"):
        Graph(2, [(0, 1), (1, 0)], **{name: iter([1, 2])})
    with pytest.raises(InputError, match=rf"^Graph: `{name}` must have an order\. Got a set"):
        Graph(2, [(0, 1), (1, 0)], **{name: {1, 2}})


def test_dicts_are_read_by_node_and_by_edge():
    expected = Graph(
        3,
        [(0, 1), (2, 1)],
        labels="CON",
        edge_labels="=-",
        weights=[3.0, 2.0],
        attributes=[[1, 2], [3, 4], [0, 0]],
    )
    found = Graph(
        3,
        [(0, 1), (2, 1)],
        labels={2: "N", 0: "C", 1: "O"},
        edge_labels={(1, 2): "-", (0, 1): "="},
        weights={(2, 1): 2.0, (1, 0): 3.0},
        attributes={1: [3, 4], 0: [1, 2], 2: [0, 0]},
    )
    assert found == expected
    assert as_graph((3, [(0, 1)], {2: "N", 0: "C", 1: "O"})).labels == ("C", "O", "N")
    assert as_graph((np.eye(2), {1: "O", 0: "C"})).labels == ("C", "O")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"labels": {0: "C", 1: "O"}}, "`labels` must have a value for each node. It has none for 2."),
        (
            {"labels": dict(enumerate("CONF"))},
            "`labels` must have values of nodes of the graph alone.*for 3.",
        ),
        ({"labels": {"0": "C", "1": "O", "2": "N"}}, "`labels` .* It has none for 0, 1, 2."),
        ({"edge_labels": {(0, 1): "="}}, r"`edge_labels` .* It has none for \(2, 1\)."),
        ({"weights": {(0, 1): 1, (1, 2): 2, (0, 2): 3}}, r"`weights` .* Got one for \(0, 2\)."),
        ({"weights": {(0, 1): 1, (1, 0): 2, (1, 2): 2}}, r"`weights` .* Got one for \(1, 0\)."),
        ({"edge_labels": {(0, 1): 1, (1, 2): 2}, "directed": True}, r"It has none for \(2, 1\)."),
    ],
)
def test_dicts_name_what_they_lack_and_what_they_have_too_much(values, message):
    with pytest.raises(InputError, match=rf"^Graph: .*{message}"):
        Graph(3, [(0, 1), (2, 1)], **values)


def test_edges_as_dicts_sets_and_matrices():
    with pytest.raises(InputError, match=r"Got a dict. Pass list\(edges\), with its values"):
        as_graph((3, {(0, 1): 2.0, (1, 2): 1.0}))
    assert Graph(3, {(0, 1), (1, 2)}) == Graph(3, [(0, 1), (1, 2)])
    with pytest.raises(InputError, match="`edges` must have an order"):
        Graph(3, {(0, 1), (1, 2)}, weights=[1, 2])
    with pytest.raises(InputError, match=r"sparse matrix\. Pass an adjacency matrix without the number"):
        as_graph((3, scipy.sparse.csr_array(ADJACENCY)))
    for edges in (5, "ab", None):
        with pytest.raises(InputError, match=rf"`edges` must be a sequence of pairs.*Got {edges!r}"):
            as_graph((3, edges))


@pytest.mark.parametrize("third", ["double", "1", None, {"weight": 2}, 1j])
def test_a_third_entry_that_is_no_number_is_no_weight(third):
    with pytest.raises(
        InputError, match=r"`edges\[1\]` is \(1, 2, .*A third entry is a weight.*edge_labels="
    ):
        as_graph((3, [(0, 1, 2.0), (1, 2, third)]))
    for two in (2, np.float32(2), Fraction(2), Decimal(2), np.array(2)):
        assert as_graph((2, [(0, 1, two)])).weights.tolist() == [2, 2]


def test_complex_weights_are_refused():
    with pytest.raises(InputError, match="`weights` must be numbers: they are complex"):
        Graph(2, [(0, 1)], weights=np.array([1 + 1j]))


class Tensor:
    """What a tensor offers that is on a device and has a gradient: NumPy cannot read it itself."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.values


ONE_HOT = np.eye(3)[[0, 1, 0]]


def geometric(**parts):
    """A path of three nodes as PyTorch Geometric holds it."""
    edges = Tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    return SimpleNamespace(edge_index=edges, num_nodes=3, **{k: Tensor(v) for k, v in parts.items()})


@pytest.mark.parametrize(
    ("parts", "names", "expected"),
    [
        ({"x": ONE_HOT}, {}, {"attributes": ONE_HOT}),
        ({"x": ONE_HOT}, {"label": "x"}, {"labels": [tuple(row) for row in ONE_HOT.tolist()]}),
        ({"x": [[6], [8], [6]]}, {"label": "x"}, {"labels": [6, 8, 6]}),
        ({"edge_weight": [0.5, 0.5, 2, 2]}, {}, {"weights": [0.5, 2]}),
        ({"edge_attr": [7, 7, 9, 9]}, {}, {"edge_labels": [7, 9]}),
        ({"edge_attr": [[7], [7], [9], [9]]}, {}, {"edge_labels": [7, 9]}),
        ({"edge_attr": np.eye(2)[[0, 0, 1, 1]]}, {}, {"edge_labels": [(1, 0), (0, 1)]}),
        ({"edge_attr": [[0.5], [0.5], [2], [2]]}, {"weight": "edge_attr"}, {"weights": [0.5, 2]}),
        ({"edge_attr": [0.5, 0.5, 2, 2]}, {"edge_label": "edge_attr"}, {"edge_labels": [0.5, 2.0]}),
        ({"edge_attr": [0.5, 0.5, 2, 2]}, {"weight": None, "edge_label": None}, {}),
        ({"x": ONE_HOT, "edge_weight": [1, 1, 2, 2]}, {"attributes": None, "weight": None}, {}),
    ],
)
def test_graphs_of_pytorch_geometric(parts, names, expected):
    assert as_graph(geometric(**parts), **names) == Graph(3, [(0, 1), (1, 2)], **expected)


def test_what_edge_attr_means_is_asked_for():
    for values in ([0.5, 0.5, 2, 2], [[0.5, 1.0]] * 4, [1.0, 1.0, 2.0, 2.0]):
        with pytest.raises(
            InputError, match=r"^x: `edge_attr`.*weight='edge_attr'\) or edge_label='edge_attr'"
        ):
            as_graph(geometric(edge_attr=values))
    with pytest.raises(InputError, match="`edge_attr`"):
        Adjacency.of(geometric(edge_attr=[0.5, 0.5, 2, 2]))
    weighted = Adjacency.of(geometric(edge_attr=[0.1, 0.1, 0.2, 0.2], edge_weight=[0.5, 0.5, 2, 2]))
    assert weighted == Adjacency(3, [(0, 1, 0.5), (1, 2, 2.0)])
    with pytest.raises(InputError, match="must have `num_nodes`"):
        as_graph(SimpleNamespace(edge_index=np.zeros((2, 0), dtype=int)))


def elements():
    g = nx.path_graph(3)
    nx.set_node_attributes(g, {0: "C", 1: "C", 2: "O"}, "element")
    nx.set_edge_attributes(g, 2.0, "weight")
    return g


@pytest.mark.parametrize(
    "k",
    [
        VertexHistogram(),
        WeisfeilerLehman(1),
        WeisfeilerLehman(1).normalized(),
        Graphlets(3) + VertexHistogram(),
        ShortestPath(),
        RandomWalk(0.1),
        TreeWalk(2),
        MarginalizedWalk(0.5),
    ],
    ids=repr,
)
def test_labels_under_another_name_are_said(k):
    labelled = Graph(3, [(0, 1), (1, 2)], labels="CCO")
    for use, which, whole in (
        (lambda: k.block([labelled, elements(), elements()]), r"X\[1\]", "X"),
        (lambda: k(labelled, elements()), "y", r"\[x, y\]"),
    ):
        with pytest.warns(
            UserWarning, match=rf"^{which}: no node has a label.*{whole}, label='element'"
        ) as found:
            use()
        assert len(found) == 1
    k.block(as_graphs([elements()], label="element"))
    k.block(as_graphs([elements()], label=None))
    with pytest.warns(UserWarning, match="label='element'"):
        as_graphs([elements()])


def test_kernels_that_use_no_labels_read_graphs_without_a_word():
    one = Constant(1.0)
    for k in (Graphlets(3), RandomWalk(0.1, node=one), ShortestPath(node=one), EdgeHistogram()):
        k.block([elements()])
    as_graph(elements())
    ShortestPath(node=Gaussian(1.0)).block([geometric(x=ONE_HOT)])
    with pytest.warns(UserWarning, match=r"^X\[0\]: no node has a label. Its nodes have 'x'.*label='x'"):
        VertexHistogram().block([geometric(x=ONE_HOT)])


def test_labels_of_edges_under_another_name_are_said():
    g = nx.Graph([(0, 1, {"bond": "double", "weight": 2.0})])
    for k in (EdgeHistogram(), WeisfeilerLehman(1), RandomWalk(0.1)):
        with pytest.warns(
            UserWarning, match=r"^X\[0\]: no edge has a label. Its edges have 'bond'.*edge_label='bond'"
        ):
            k.block([g])
    for k in (VertexHistogram(), WeisfeilerLehman(1, edge_labels=False), ShortestPath()):
        k.block([g])


@pytest.mark.parametrize(
    "x", [(3, [(0, 1, 2), (1, 2, 1)]), np.diag([1.0, 2.0, 3.0])], ids=["edges", "matrix"]
)
def test_numbers_on_edges_that_are_not_used_are_said_once(x):
    for k in (WeisfeilerLehman(1), EdgeHistogram()):
        with pytest.warns(
            UserWarning, match=r"^X\[0\]: no edge has a label. The numbers .* are weights"
        ) as found:
            SVC(k, indefinite="error").fit([x, x], [0, 1])
        assert len(found) == 1
        k.block(as_graphs([x]))
    for k in (RandomWalk(0.01), WeisfeilerLehman(1, edge_labels=False), Graphlets(3)):
        k.block([x])
    WeisfeilerLehman(1).block([(3, [(0, 1, 2), (1, 2, 2)]), Graph(2, [(0, 1), (0, 1)], weights=[1, 2])])


def test_a_graph_shows_what_was_found():
    assert repr(Graph(2, [(0, 1)])) == "<Graph with 2 nodes and 1 edges>"
    assert repr(TRIANGLE) == "<Graph with 3 nodes and 3 edges, node labels 'a' 'b' 'c', weights 1 to 3>"
    g = Graph(7, [(0, 1)], labels=range(7), edge_labels="=", attributes=np.zeros((7, 2)), directed=True)
    contents = "node labels 0 1 2 3 4 ..., edge labels '=', node vectors of length 2"
    assert repr(g) == f"<Graph with 7 nodes and 1 arcs, {contents}>"
    assert repr(as_graphs([g])) == f"<GraphBatch of 1 graphs with 7 nodes and 1 arcs, {contents}>"
    assert repr(as_graphs([TRIANGLE, Graph(1, labels="z")])[1:]).endswith("and 0 arcs, node labels 'z'>")
