"""Graphlets against the enumeration of all sets of nodes and isomorphism tests of networkx; sampling."""

import itertools
import math
import os
import subprocess
import sys
from collections import Counter
from functools import cache

import networkx as nx
import numpy as np
import pytest

from mercer import _native
from mercer.certificate import Verdict
from mercer.errors import ParameterError
from mercer.features import Explicit
from mercer.graphs import Graph, GraphBatch
from mercer.kernels import Graphlets, graphlet_samples
from mercer.kernels.graphs.graphlet_types import graphlet_types, is_connected, type_numbers
from mercer.machines import KernelRidge

pytestmark = pytest.mark.native

SIZES = (3, 4, 5)


def names(size):
    """All graphs of one size with their numbers in the atlas of networkx, by an invariant."""
    found = {}
    for i, g in enumerate(nx.graph_atlas_g()):
        if len(g) == size:
            found.setdefault(invariant(g), []).append((i, g))
    return found


def invariant(g):
    """Degrees with the degrees of neighbours and triangles."""
    degree, triangles = dict(g.degree), nx.triangles(g)
    return tuple(sorted((degree[v], triangles[v], *sorted(degree[w] for w in g[v])) for v in g))


NAMES = {size: names(size) for size in SIZES}


def name(g):
    """The number of a graph in the atlas."""
    same = NAMES[len(g)][invariant(g)]
    return same[0][0] if len(same) == 1 else next(i for i, other in same if nx.is_isomorphic(g, other))


def counts_by_enumeration(g, size):
    """How often each graph of the atlas is induced, by looking at every set of nodes."""
    return Counter(
        name_of_edges(size, tuple(g.has_edge(u, v) for u, v in itertools.combinations(nodes, 2)))
        for nodes in itertools.combinations(g, size)
    )


@cache
def name_of_edges(size, present):
    """The same for the graph with those edges of (0, 1), (0, 2), ... that are present."""
    g = nx.empty_graph(size)
    g.add_edges_from(itertools.compress(itertools.combinations(range(size), 2), present))
    return name(g)


def counts(kernel, graphs):
    """The features of the kernel by numbers in the atlas."""
    prepared = kernel._prepare(kernel.domain.validate(graphs))
    types = []
    for edges in prepared.vocabulary.elements:
        g = nx.empty_graph(kernel.size)
        g.add_edges_from(edges)
        types.append(name(g))
    rows = prepared.matrix.toarray().astype(int).tolist()
    return [Counter(dict(zip(types, row, strict=True))) for row in rows]


def as_graph(g):
    return Graph(len(g), list(g.edges))


ATLAS = nx.graph_atlas_g()
LARGER = [
    nx.gnp_random_graph(n, p, seed=n) for n, p in ((8, 0.5), (10, 0.2), (11, 0.8), (12, 0.4), (13, 0.15))
]


@pytest.mark.parametrize("size", SIZES)
def test_types_are_the_graphs_of_the_atlas(size) -> None:
    graphs = [nx.Graph(list(edges)) for edges in graphlet_types(size)]
    for g in graphs:
        g.add_nodes_from(range(size))
    assert len(graphs) == {3: 4, 4: 11, 5: 34}[size]
    assert len({name(g) for g in graphs}) == len(graphs)
    connected = [nx.is_connected(g) for g in graphs]
    assert connected == [is_connected(size, edges) for edges in graphlet_types(size)]
    assert sum(connected) == {3: 2, 4: 6, 5: 21}[size]


@pytest.mark.parametrize("connected", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_counts_are_those_of_the_enumeration(size, connected) -> None:
    # All 1253 graphs with up to seven nodes for the smaller sizes, every third of them for the largest.
    graphs = ATLAS[:: 1 if size < 5 else 3] + LARGER
    found = counts(Graphlets(size, connected=connected), [as_graph(g) for g in graphs])
    for g, ours in zip(graphs, found, strict=True):
        expected = counts_by_enumeration(g, size)
        if connected:
            expected = Counter({i: c for i, c in expected.items() if nx.is_connected(ATLAS[i])})
        assert +ours == expected


def test_values_are_inner_products_of_counts() -> None:
    graphs = [as_graph(g) for g in (*ATLAS[100:110], *LARGER)]
    for size in SIZES:
        k = Graphlets(size)
        rows = counts(k, graphs)
        expected = [[sum(a[i] * b[i] for i in a) for b in rows] for a in rows]
        assert np.array_equal(k.block(graphs), expected)
        assert np.array_equal([[k(x, y) for y in graphs] for x in graphs[-3:]], expected[-3:])
        assert np.array_equal(k.block(graphs[:1], graphs), expected[:1])
        assert np.array_equal(k.diagonal(graphs), np.diag(expected))


def test_graphs_are_taken_as_simple_and_undirected() -> None:
    rng = np.random.default_rng(0)
    g = LARGER[0]
    edges = [(u, v) if rng.random() < 0.5 else (v, u) for u, v in g.edges]
    messy = Graph(
        len(g),
        [*edges, *edges[:5], (2, 2), (3, 3)],
        labels=range(len(g)),
        weights=rng.normal(size=len(edges) + 7),
        directed=True,
    )
    p = rng.permutation(len(g))
    moved = Graph(len(g), [(int(p[u]), int(p[v])) for u, v in g.edges])
    for size in SIZES:
        k = Graphlets(size)
        assert len({k(as_graph(g), x) for x in (as_graph(g), messy, moved)}) == 1
        rows = counts(k, [as_graph(g), messy, moved])
        assert rows[0] == rows[1] == rows[2]


@pytest.mark.parametrize("size", SIZES)
def test_small_graphs_have_no_graphlets(size) -> None:
    small = [Graph(0), Graph(1), Graph(2, [(0, 1)]), Graph(size - 1)]
    for k in (Graphlets(size), Graphlets(size, connected=True), Graphlets(size, samples=10)):
        assert not k.block(small, [Graph(8)]).any()
        assert not k.block(small).any()
    assert Graphlets(size)(Graph(size), Graph(size)) == 1.0
    assert Graphlets(size, connected=True)(Graph(size), Graph(size)) == 0.0


def test_large_graphs_have_exact_counts() -> None:
    # A star and a cycle: the numbers have closed forms, some of them beyond 64 bits.
    n = 200_000
    star = Graph(n, [(0, i) for i in range(1, n)])
    cycle = Graph(n, [(i, (i + 1) % n) for i in range(n)])
    batch = GraphBatch.of([star, cycle])
    table = dict(zip(graphlet_types(4), Graphlets(4)._table(batch).T.tolist(), strict=True))
    assert table[((0, 1), (0, 2), (0, 3))] == [math.comb(n - 1, 3), 0]
    assert table[()] == [math.comb(n - 1, 4), n * math.comb(n - 5, 3) // 4]
    assert sum(np.array(list(table.values()), dtype=object))[0] == math.comb(n, 4)
    five = Graphlets(5)._table(GraphBatch.of([cycle]))[0].tolist()
    assert sum(five) == math.comb(n, 5)
    assert five[graphlet_types(5).index(())] == n * math.comb(n - 6, 4) // 5


def test_samples_estimate_the_counts_within_the_bound() -> None:
    graphs = [as_graph(g) for g in LARGER]
    for size, connected in ((3, False), (4, False), (5, True)):
        m = graphlet_samples(size, 0.1, 0.01, connected=connected)
        exact = Graphlets(size, connected=connected)
        true = exact._table(GraphBatch.of(graphs))
        sets = np.array([[math.comb(g.n, size)] for g in graphs])
        for seed in range(5):
            k = Graphlets(size, connected=connected, samples=m, random_state=seed)
            error = np.abs(k._table(GraphBatch.of(graphs)) - true) / sets
            assert 0 < error.sum(axis=1).max() <= 0.1


def test_samples_are_uniform_sets() -> None:
    # Every set of three of six nodes has its own triangle: the shares of 20 graphs are those of the 20 sets.
    sets = list(itertools.combinations(range(6), 3))
    triangles = [Graph(6, list(itertools.combinations(nodes, 2))) for nodes in sets]
    samples = 40_000
    found = (
        Graphlets(3, connected=True, samples=samples)._table(GraphBatch.of(triangles))[:, -1] * samples / 20
    )
    assert found.sum() == pytest.approx(samples)
    expected = samples / 20
    assert ((found - expected) ** 2 / expected).sum() < 43.8  # chi-square with 19 degrees of freedom, 0.1 %


def test_the_number_of_samples_is_that_of_the_bound() -> None:
    assert graphlet_samples(3, 0.05, 0.05) == math.ceil(2 * (4 * math.log(2) + math.log(20)) / 0.0025) == 4615
    assert graphlet_samples(5, 0.1, 0.1) == math.ceil(2 * (34 * math.log(2) + math.log(10)) / 0.01)
    assert graphlet_samples(4, 0.1, 0.1, connected=True) == math.ceil(200 * (7 * math.log(2) + math.log(10)))


def test_a_sampled_graph_has_the_same_features_in_any_batch() -> None:
    graphs = [as_graph(g) for g in LARGER]
    k = Graphlets(4, samples=50, random_state=3)
    K = k.block(graphs)
    for i, x in enumerate(graphs):
        np.testing.assert_allclose(k.block([x], graphs)[0], K[i], rtol=1e-14)
        assert k(x, graphs[0]) == pytest.approx(K[i, 0])
    assert not np.array_equal(K, k.replace(random_state=4).block(graphs))


def test_any_seed_is_drawn_once() -> None:
    kernels = [Graphlets(4, samples=20, random_state=None) for _ in range(3)]
    assert len({k.random_state for k in kernels}) > 1
    for k in kernels:
        assert k.replace() == k == eval(repr(k), {"Graphlets": Graphlets})
    assert Graphlets(4, random_state=None) == Graphlets(4)  # exact counts know no seed
    for seed in (-1, 0.5, True, "a"):
        with pytest.raises(ParameterError, match="`random_state` must be an integer >= 0, or None"):
            Graphlets(4, samples=20, random_state=seed)


def test_contributions_name_graphlets_and_their_nodes() -> None:
    # A triangle with a tail of two nodes, 2 - 3 - 4.
    x = Graph(5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)])
    found = {c.pattern: c for c in Graphlets(3).contributions(x, x)}
    assert {pattern: c.weight for pattern, c in found.items()} == {
        "0-1 0-2 1-2": 1.0,
        "0-1 0-2": 9.0,
        "0-1": 36.0,
    }
    assert found["0-1 0-2 1-2"].x_places == ((0, 1), (1, 2), (2, 3))
    assert found["0-1"].x_places == ()
    k = Graphlets(4, connected=True)
    assert k.contributions(x, as_graph(LARGER[0])).total == k(x, as_graph(LARGER[0]))


def test_a_machine_explains_by_graphlets() -> None:
    graphs = [as_graph(g) for g in (*LARGER, *ATLAS[200:208])]
    for k in (Graphlets(3), Graphlets(4, samples=100)):
        machine = KernelRidge(k.normalized()).fit(graphs, np.arange(len(graphs)) % 2 * 2.0 - 1)
        assert machine.explain(graphs[0]).total == pytest.approx(machine.predict(graphs[:1])[0])


def test_normalised_counts_are_normalised_frequencies() -> None:
    graphs = [as_graph(g) for g in LARGER]
    rows = Graphlets(4)._table(GraphBatch.of(graphs))
    frequencies = rows / rows.sum(axis=1, keepdims=True)
    unit = frequencies / np.linalg.norm(frequencies, axis=1, keepdims=True)
    np.testing.assert_allclose(Graphlets(4).normalized().block(graphs), unit @ unit.T, rtol=1e-14)


def test_parameters_are_checked() -> None:
    for size in (2, 6, 3.5):
        with pytest.raises(ParameterError, match="Graphlets: `size`"):
            Graphlets(size)
    for samples in (0, -1, 2.5, True):
        with pytest.raises(ParameterError, match="Graphlets: `samples` must be an integer"):
            Graphlets(3, samples=samples)
    for eps, delta, wrong in ((0.0, 0.1, "eps"), (0.1, 1.0, "delta")):
        with pytest.raises(ParameterError, match=f"`{wrong}` must lie in"):
            graphlet_samples(3, eps, delta)
    assert Graphlets(3, samples=7).certificate.verdict is Verdict.PSD


SCRIPT = """
from mercer.graphs import Graph
from mercer.kernels import Graphlets, ShortestPath
graphs = [Graph(6, [(0, 1), (1, 2), (2, 3), (3, 0), (i % 6, 5)], labels="abcabc") for i in range(4)]
for k in (Graphlets(4), Graphlets(5, samples=20), ShortestPath()):
    print(k.block(graphs).tolist(), k._feature_names(k._prepare(k.domain.validate(graphs))))
"""


def test_hash_seeds_and_threads_change_nothing() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "MERCER_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, threads in (("0", "1"), ("77", "2"))
    }
    assert len(outputs) == 1


def test_an_enumeration_can_be_ended() -> None:
    full = GraphBatch.of([Graph(150, list(itertools.combinations(range(150), 2)))])
    counts = np.zeros((1, 34), dtype=np.int64)

    def end() -> None:
        raise KeyboardInterrupt

    arrays = (full.node_starts, full.arc_starts, full.targets)
    with pytest.raises(KeyboardInterrupt):
        _native.count_connected(arrays, 5, type_numbers(5), False, counts, 1, end)


def test_features_are_counts_in_named_columns() -> None:
    graphs = [as_graph(g) for g in LARGER]
    features = Explicit(Graphlets(3)).fit(graphs[:3])
    F = features.transform(graphs)
    assert np.array_equal((F @ F.T).toarray(), Graphlets(3).block(graphs))
    assert list(features.get_feature_names_out()) == ["no edge", "0-1", "0-1 0-2", "0-1 0-2 1-2"]
