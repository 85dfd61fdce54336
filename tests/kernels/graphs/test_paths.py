"""Shortest paths against networkx and the sum over all pairs of paths in exact arithmetic; hard inputs."""

from collections import Counter
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from mercer import _native
from mercer.certificate import Verdict
from mercer.domains import Vectors
from mercer.errors import DomainError, InputError, MemoryLimitError, ParameterError
from mercer.features import Explicit
from mercer.graphs import Graph, GraphBatch
from mercer.kernels import Gaussian, Linear, Min, ShortestPath, Sigmoid, WhiteNoise
from mercer.kernels.graphs import path_tables
from mercer.machines import KernelRidge

pytestmark = pytest.mark.native

LABELS = ["a", 1, None]


def random_graph(rng, n, *, directed=False, weights=(0, 1, 2, 0.5)):
    edges = [(i, j) for i in range(n) for j in range(n) if (directed or i <= j) and rng.random() < 0.4]
    edges += edges[: len(edges) // 4]  # parallel edges
    return Graph(
        n,
        edges,
        labels=[LABELS[i] for i in rng.integers(0, len(LABELS), n)],
        weights=rng.choice(weights, len(edges)),
        attributes=rng.integers(-2, 4, (n, 2)),
        directed=directed,
    )


def graphs(seed, count=11):
    rng = np.random.default_rng(seed)
    return [random_graph(rng, 2 + i % 5, directed=i % 2 == 1) for i in range(count)]


X, Y = [Graph(0), *graphs(0)], graphs(1, 7)


def paths_of(g, weighted):
    """Ordered pairs of nodes with their distance, by networkx."""
    found = nx.MultiDiGraph()
    found.add_nodes_from(range(g.n))
    for u, v, w in zip(g.sources.tolist(), g.targets.tolist(), g.weights.tolist(), strict=True):
        found.add_edge(u, v, weight=w)
    lengths = nx.all_pairs_dijkstra_path_length(found, weight="weight" if weighted else None)
    return [(u, v, d) for u, row in lengths for v, d in row.items() if u != v]


def value(x, y, weighted, node, length):
    """The sum over all pairs of paths, in fractions."""
    return sum(
        Fraction(node(x, u, y, p)) * Fraction(node(x, v, y, q)) * Fraction(length(d, e))
        for u, v, d in paths_of(x, weighted)
        for p, q, e in paths_of(y, weighted)
    )


def same_label(x, u, y, p):
    return x.labels[u] == y.labels[p]


def product(x, u, y, p):
    return int(x.attributes[u] @ y.attributes[p])


def equal(d, e):
    return d == e


CASES = [
    ({}, same_label, equal),
    ({"length": Min()}, same_label, min),
    ({"node": 0.75 * WhiteNoise() + 0.25}, lambda *a: 1 if same_label(*a) else Fraction(1, 4), equal),
    ({"node": Linear()}, product, equal),
    ({"node": Linear(), "length": Linear()}, product, lambda d, e: Fraction(d) * Fraction(e)),
]


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(
    ("options", "node", "length"), CASES, ids=lambda c: str(c) if isinstance(c, dict) else ""
)
def test_values_are_the_sum_over_pairs_of_paths(options, node, length, weighted) -> None:
    k = ShortestPath(**options, weighted=weighted)
    expected = [[float(value(x, y, weighted, node, length)) for y in Y] for x in X]
    assert np.array_equal([[k(x, y) for y in Y] for x in X], expected)
    assert np.array_equal(k.block(X, Y), expected)
    assert np.array_equal(k.block(X), [[float(value(x, y, weighted, node, length)) for y in X] for x in X])
    assert np.array_equal(k.diagonal(X), np.diag(k.block(X)))
    assert np.count_nonzero(expected) > 10


def test_one_against_many_is_a_row_of_the_matrix() -> None:
    for k in (ShortestPath(), ShortestPath(node=Gaussian(1.5), length=Gaussian(2.0))):
        K = k.block(X)
        for i, x in enumerate(X):
            np.testing.assert_allclose(k.block([x], X)[0], K[i], rtol=1e-13)
        assert np.array_equal(K, K.T)


def test_the_order_of_nodes_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    moved = []
    for g in X:
        p = rng.permutation(g.n)
        back = np.argsort(p)
        arcs = list(zip(p[g.sources].tolist(), p[g.targets].tolist(), strict=True))
        labels = [g.labels[v] for v in back]
        moved.append(Graph(g.n, arcs, labels=labels, weights=g.weights, directed=True))
    assert np.array_equal(ShortestPath().block(X, moved), ShortestPath().block(X))


def test_lengths_are_summed_from_the_first_node_on() -> None:
    # 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 in floating point, and both graphs have one path of each kind.
    edges, weights = [(0, 1), (1, 2), (2, 3)], [0.1, 0.2, 0.3]
    x = Graph(4, edges, labels="abbc", weights=weights)
    y = Graph(4, [(3, 2), (2, 1), (1, 0)], labels="cbba", weights=weights)
    k = ShortestPath()
    assert k(x, y) == k(x, x) == k.block([x], [y])[0, 0] == 14.0
    assert {c.pattern for c in k.contributions(x, y)} >= {
        "a to c, length 0.6000000000000001",
        "c to a, length 0.6",
    }


def test_a_chain_of_unequal_lengths() -> None:
    # Paths of length d in a chain of n nodes: 2 (n - d).
    n = 300
    chain = Graph(n, [(i, i + 1) for i in range(n - 1)])
    assert ShortestPath().block([chain])[0, 0] == sum((2 * (n - d)) ** 2 for d in range(1, n))
    one_way = Graph(n, [(i, i + 1) for i in range(n - 1)], directed=True)
    assert ShortestPath()(chain, one_way) == sum(2 * (n - d) ** 2 for d in range(1, n))


def test_graphs_without_paths_have_value_zero() -> None:
    bare = [Graph(0), Graph(1, labels="a"), Graph(3, labels="aaa"), Graph(1, [(0, 0)])]
    for k in (ShortestPath(), ShortestPath(length=Min()), ShortestPath(node=WhiteNoise(2.0))):
        assert not k.block(bare, X).any()
        assert not k.block(bare).any()
        assert not k.diagonal(bare).any()
        assert k(bare[0], X[3]) == 0.0
    assert ShortestPath().block([], X).shape == (0, len(X))


def test_new_labels_at_prediction_match_each_other_alone() -> None:
    seen, new = Graph(2, [(0, 1)], labels="ab"), Graph(2, [(0, 1)], labels="xy")
    k = ShortestPath()
    assert np.array_equal(k.block([new, seen], [seen]), [[0.0], [2.0]])
    assert np.array_equal(k.block([new]), [[2.0]])


def test_equal_labels_of_different_types_are_one() -> None:
    x, y = Graph(2, [(0, 1)], labels=[1, 0]), Graph(2, [(0, 1)], labels=[True, 0.0])
    for k in (ShortestPath(), ShortestPath(node=WhiteNoise())):
        assert k(x, y) == k.block([x], [y])[0, 0] == 2.0


def test_features_are_counts_of_paths() -> None:
    k = ShortestPath()
    prepared = k._prepare(k.domain.validate(X))
    for row, x in zip(prepared.matrix.toarray(), X, strict=True):
        counts = Counter((x.labels[u], x.labels[v], d) for u, v, d in paths_of(x, True))
        assert {e: c for e, c in zip(prepared.vocabulary.elements, row.tolist(), strict=False) if c} == counts


def test_contributions_name_paths_and_their_ends() -> None:
    x = Graph(3, [(0, 1), (1, 2)], labels="CCO")
    found = ShortestPath().contributions(x, x)
    assert found.total == ShortestPath()(x, x) == 8.0
    assert {c.pattern: c.weight for c in found} == {
        "C to C, length 1": 4.0,
        "C to O, length 1": 1.0,
        "O to C, length 1": 1.0,
        "C to O, length 2": 1.0,
        "O to C, length 2": 1.0,
    }
    assert set(next(c for c in found if c.pattern == "C to O, length 2").x_places) == {(0, 1), (2, 3)}
    with pytest.raises(DomainError, match="does not know which patterns"):
        ShortestPath(length=Min()).contributions(x, x)


def test_a_machine_explains_by_paths() -> None:
    data = [x for x in X if x.n > 2] + [y for y in Y if y.n > 2]
    y = np.arange(len(data)) % 2 * 2.0 - 1
    machine = KernelRidge(ShortestPath()).fit(data, y)
    assert machine.explain(data[0]).total == pytest.approx(machine.predict(data[:1])[0])


def test_certificates_follow_from_the_parts() -> None:
    assert ShortestPath().certificate.verdict is Verdict.PSD
    assert ShortestPath(node=Gaussian(1.0), length=Min()).certificate.verdict is Verdict.PSD
    assert ShortestPath(node=Sigmoid(1.0, -1.0)).certificate.verdict is Verdict.UNKNOWN
    assert ShortestPath(length=Min()).bounds.is_nonnegative
    assert not ShortestPath(node=Linear()).bounds.is_nonnegative


def test_rules_are_resolved_on_nodes_and_lengths() -> None:
    k = ShortestPath(node=Gaussian("median"), length=Gaussian("median")).resolve(X)
    attributes = np.concatenate([x.attributes for x in X if x.n])
    assert k.node.sigma == Gaussian("median").resolve(attributes).sigma
    lengths = [d for x in X for _, _, d in paths_of(x, True)]
    assert k.length.sigma == pytest.approx(Gaussian("median").resolve(np.array(lengths)[:, None]).sigma)


def test_bad_input_is_named() -> None:
    good, bad = Graph(2, [(0, 1)]), Graph(3, [(0, 1), (1, 2)], weights=[1, -2])
    with pytest.raises(
        InputError, match=r"ShortestPath: .* >= 0. Got -2.0 in graph 1, from node 1 to node 2"
    ):
        ShortestPath().block([good, bad])
    with pytest.raises(InputError, match=r"Got -2.0"):
        ShortestPath()(good, bad)
    assert ShortestPath(weighted=False)(bad, bad) == 20.0
    assert isinstance(Gaussian(1.0).domain, Vectors)
    for call in (lambda k: k(good, good), lambda k: k.block([good])):
        with pytest.raises(InputError, match="`node` is a kernel on vectors, and the nodes have none"):
            call(ShortestPath(node=Gaussian(1.0)))
    two, three = (Graph(2, [(0, 1)], attributes=np.ones((2, d))) for d in (2, 3))
    for call in (lambda k: k(two, three), lambda k: k.block([two], [three])):
        with pytest.raises(InputError, match="columns"):
            call(ShortestPath(node=Gaussian(1.0)))
    with pytest.raises(ParameterError, match="`length` must be a kernel or None"):
        ShortestPath(length="min")


@pytest.mark.parametrize("threads", ["1", "2"])
def test_threads_change_nothing(threads, monkeypatch) -> None:
    expected = ShortestPath().block(X)
    monkeypatch.setenv("MERCER_NUM_THREADS", threads)
    assert np.array_equal(ShortestPath().block(X), expected)


def test_strips_of_graphs_change_nothing(monkeypatch) -> None:
    for k in (ShortestPath(node=Linear(), length=Min()), ShortestPath(length=Linear())):
        expected, rectangle = k.block(X), k.block(X, Y)
        monkeypatch.setattr(path_tables, "MOST_NODES", 5)
        assert np.array_equal(k.block(X), expected)
        assert np.array_equal(k.block(X, Y), rectangle)
        monkeypatch.undo()


def test_features_of_new_graphs_have_the_columns_of_the_old() -> None:
    features = Explicit(ShortestPath()).fit(X)
    F, new = features.transform(X), features.transform(Y)
    assert np.array_equal((F @ F.T).toarray(), ShortestPath().block(X))
    assert np.array_equal((new @ F.T).toarray(), ShortestPath().block(Y, X))


def test_grakel_agrees() -> None:
    grakel = pytest.importorskip("grakel")
    chosen = [g for g in X + Y if len(g.sources) and g.is_symmetric and None not in g.labels]
    assert len(chosen) >= 2
    peers = []
    for g in chosen:
        arcs = dict.fromkeys(zip(g.sources.tolist(), g.targets.tolist(), strict=True), 1.0)
        arcs |= {(v, v): 0.0 for v in range(g.n)}  # else it drops nodes without edges, and loops have lengths
        peers.append([arcs, {v: str(label) for v, label in enumerate(g.labels)}])
    K = grakel.ShortestPath(algorithm_type="dijkstra").fit_transform(peers)
    assert np.array_equal(ShortestPath(weighted=False).block(chosen), K)


def test_a_search_can_be_ended() -> None:
    n = 3000
    ring = GraphBatch.of([Graph(n, [(i, (i + 1) % n) for i in range(n)])])

    def end() -> None:
        raise KeyboardInterrupt

    arrays = (ring.node_starts, ring.arc_starts, ring.targets)
    with pytest.raises(KeyboardInterrupt):
        _native.count_paths(arrays, ring.node_codes, ring.weights, 1, end)


def test_the_memory_of_all_paths_is_said_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERCER_MEMORY", "1MB")
    path = Graph(300, [(i, i + 1) for i in range(299)], attributes=np.zeros((300, 1)))
    with pytest.raises(MemoryLimitError, match=r"all paths of graphs of up to 300 nodes needs 4\.12 MiB"):
        ShortestPath(node=Gaussian(1.0)).block([path])
    assert ShortestPath().block([path]).shape == (1, 1)
