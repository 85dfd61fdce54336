"""Weisfeiler-Lehman kernels against hand counts, nested tuples, GraKeL and transport problems."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from itertools import permutations
from math import exp
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from sklearn.svm import LinearSVC

import mercer
from mercer.certificate import Verdict
from mercer.domains import Graph, GraphBatch
from mercer.errors import DomainError, ParameterError
from mercer.features import Explicit
from mercer.kernel import Kernel
from mercer.kernels import (
    EdgeHistogram,
    Gaussian,
    Intersection,
    Linear,
    NGram,
    VertexHistogram,
    WassersteinWL,
    WeisfeilerLehman,
    WLOptimalAssignment,
)
from mercer.kernels.graphs.colours import ColourTable

from .brute_colours import colours, distance, minima, products

pytestmark = pytest.mark.native


def random_graph(rng: np.random.Generator, most: int = 8, directed: bool | None = None) -> Graph:
    """Any graph: labels, labels of edges, self-loops, parallel edges, arcs."""
    n = int(rng.integers(0, most))
    e = int(rng.integers(0, 2 * n + 1)) if n else 0
    return Graph(
        n,
        rng.integers(0, max(n, 1), (e, 2)),
        labels=rng.integers(0, 3, n).tolist(),
        edge_labels=[("-", "=")[i] for i in rng.integers(0, 2, e)],
        directed=bool(rng.integers(0, 2)) if directed is None else directed,
    )


def permuted(g: Graph, rng: np.random.Generator) -> Graph:
    """The same graph with its nodes in another order."""
    order = rng.permutation(g.n)
    at = np.argsort(order)
    return Graph(
        g.n,
        np.stack([at[g.sources], at[g.targets]], axis=1) if len(g.sources) else (),
        labels=[g.labels[i] for i in order],
        edge_labels=g.edge_labels,
        directed=True,
    )


RNG = np.random.default_rng(0)
GRAPHS = [random_graph(RNG) for _ in range(25)]
NEW = [random_graph(RNG) for _ in range(10)]
KERNELS: list[Kernel] = [
    WeisfeilerLehman(3),
    WeisfeilerLehman(2, edge_labels=False),
    WeisfeilerLehman(2).normalized(),
    WeisfeilerLehman(2, base=EdgeHistogram()),
    WeisfeilerLehman(2, base=VertexHistogram()),
    WeisfeilerLehman(2, base=Intersection()),
    WeisfeilerLehman(2, base=Gaussian(3.0)),
    WLOptimalAssignment(3),
    WLOptimalAssignment(2).normalized(),
    WassersteinWL(2, 1.5),
]


def test_by_hand() -> None:
    path, triangle = Graph(3, [(0, 1), (1, 2)]), Graph(3, [(0, 1), (1, 2), (2, 0)])
    k = WeisfeilerLehman(1)
    assert k(path, triangle) == 9 + 1 * 3  # the middle of the path has two neighbours
    assert k(path, path) == 9 + (2 * 2 + 1)
    assert k(triangle, triangle) == 9 + 9
    assert WeisfeilerLehman(2)(path, triangle) == 9 + 3 + 0
    assert k(Graph(0), path) == 0
    assert k(Graph(1), Graph(2)) == 2 + 2  # isolated nodes keep one colour


def test_hexagon_and_two_triangles_look_alike() -> None:
    ring = [(i, (i + 1) % 6) for i in range(6)]
    triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    K = WeisfeilerLehman(9).normalized().block([Graph(6, ring), Graph(6, triangles)])
    np.testing.assert_array_equal(K, np.ones((2, 2)))


def test_edge_labels() -> None:
    x, y = (Graph(2, [(0, 1)], edge_labels=[label]) for label in "-=")
    assert WeisfeilerLehman(1)(x, y) == 4
    assert WeisfeilerLehman(1, edge_labels=False)(x, y) == 8


def test_arcs() -> None:
    arc, back, both = (Graph(2, e, directed=True) for e in ([(0, 1)], [(1, 0)], [(0, 1), (1, 0)]))
    k = WeisfeilerLehman(1)
    assert k(arc, back) == 4 + 2  # the same graph in another order
    assert k(arc, both) == 4 + 0
    assert k(both, Graph(2, [(0, 1)])) == 8


def test_parallel_edges_and_loops() -> None:
    one, two = Graph(2, [(0, 1)]), Graph(2, [(0, 1), (0, 1)])
    k = WeisfeilerLehman(1)
    assert k(one, two) == 4
    assert k(Graph(1, [(0, 0)]), Graph(1)) == 1
    assert k(Graph(1, [(0, 0)]), one) == 2 + 2  # its own neighbour, once


@pytest.mark.parametrize("edge_labels", [False, True])
@pytest.mark.parametrize("h", [0, 1, 4])
def test_nested_tuples(h: int, edge_labels: bool) -> None:
    k = WeisfeilerLehman(h, edge_labels=edge_labels)
    expected = [[products(x, y, h, edge_labels) for y in GRAPHS] for x in GRAPHS]
    np.testing.assert_array_equal(k.block(GRAPHS), expected)
    new = [[products(x, y, h, edge_labels) for y in GRAPHS] for x in NEW]
    np.testing.assert_array_equal(k.block(NEW, GRAPHS), new)
    assert k(NEW[0], GRAPHS[3]) == new[0][3]
    np.testing.assert_array_equal(k.diagonal(NEW), [products(x, x, h, edge_labels) for x in NEW])


def test_minima_and_distances() -> None:
    k = WLOptimalAssignment(3)
    np.testing.assert_array_equal(k.block(GRAPHS), [[minima(x, y, 3) for y in GRAPHS] for x in GRAPHS])
    np.testing.assert_array_equal(k.block(NEW, GRAPHS), [[minima(x, y, 3) for y in GRAPHS] for x in NEW])
    k = WassersteinWL(3, 2.0)
    expected = [[exp(-2 * distance(x, y, 3)) for y in GRAPHS] for x in NEW]
    np.testing.assert_allclose(k.block(NEW, GRAPHS), expected, rtol=1e-14)
    assert float(k.precise(NEW[1], GRAPHS[2])) == pytest.approx(expected[1][2], rel=1e-15)
    assert k(Graph(0), Graph(0)) == 1
    assert k(Graph(0), Graph(2)) == exp(-2 * 0.5)


def test_assignment_is_the_best_one() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        x, y = sorted((random_graph(rng, 6), random_graph(rng, 6)), key=lambda g: g.n)
        a, b = colours(x, 2), colours(y, 2)
        best = max(
            sum(a[t][v] == b[t][w] for t in range(3) for v, w in enumerate(p))
            for p in permutations(range(y.n), x.n)
        )
        assert WLOptimalAssignment(2)(x, y) == best


def test_distance_is_the_cost_of_transport() -> None:
    rng = np.random.default_rng(4)
    for _ in range(15):
        x, y = random_graph(rng, 6), random_graph(rng, 6)
        if x.n == 0 or y.n == 0:
            continue
        a, b = colours(x, 2), colours(y, 2)
        cost = [[np.mean([a[t][v] != b[t][w] for t in range(3)]) for w in range(y.n)] for v in range(x.n)]
        rows = np.kron(np.eye(x.n), np.ones(y.n))
        columns = np.kron(np.ones(x.n), np.eye(y.n))
        masses = np.concatenate([np.full(x.n, 1 / x.n), np.full(y.n, 1 / y.n)])
        least = scipy.optimize.linprog(np.ravel(cost), A_eq=np.vstack([rows, columns]), b_eq=masses).fun
        assert -np.log(WassersteinWL(2)(x, y)) == pytest.approx(least, abs=1e-9)


def test_grakel_agrees_without_edge_labels() -> None:
    grakel = pytest.importorskip("grakel")
    rng = np.random.default_rng(1)
    ours, theirs = [], []
    for _ in range(12):
        n = int(rng.integers(2, 9))
        edges = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.4] or [(1, 0)]
        labels = rng.integers(0, 3, n).tolist()
        ours.append(Graph(n, edges, labels=labels))
        arcs = [e for u, v in edges for e in ((u, v), (v, u))]
        theirs.append(grakel.Graph(arcs, node_labels=dict(enumerate(labels))))
    used = grakel.WeisfeilerLehman(n_iter=4, base_graph_kernel=grakel.VertexHistogram)
    expected = used.fit_transform(theirs[:8])
    k = WeisfeilerLehman(4)
    np.testing.assert_array_equal(k.block(ours[:8]), expected)
    np.testing.assert_array_equal(k.block(ours[8:], ours[:8]), used.transform(theirs[8:]))


@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_one_against_many(k: Kernel) -> None:
    K = k.block(NEW, GRAPHS)
    for i in (0, 3, 7):
        np.testing.assert_allclose(k.block([NEW[i]], GRAPHS)[0], K[i], rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(k.block(NEW, [GRAPHS[i]])[:, 0], K[:, i], rtol=1e-14, atol=1e-14)
        assert k(NEW[i], GRAPHS[i]) == pytest.approx(K[i, i], rel=1e-14, abs=1e-14)
    whole = k.block([*GRAPHS, *NEW])
    np.testing.assert_allclose(whole[len(GRAPHS) :, : len(GRAPHS)], K, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(mercer.gram(k, NEW, GRAPHS).dense(), K, rtol=1e-14, atol=1e-14)
    part = mercer.gram(k, GRAPHS).block(slice(3, 5), slice(7, 9))
    np.testing.assert_allclose(part, k.block(GRAPHS)[3:5, 7:9], rtol=1e-14)


@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_order_of_nodes_and_names_of_labels_change_nothing(k: Kernel) -> None:
    rng = np.random.default_rng(5)
    K = k.block(GRAPHS)
    tolerance = 1e-15 if isinstance(k, WassersteinWL) else 0  # sums of fractions, in another order
    np.testing.assert_allclose(k.block([permuted(g, rng) for g in GRAPHS]), K, rtol=0, atol=tolerance)
    renamed = [
        Graph(
            g.n,
            np.stack([g.sources, g.targets], axis=1) if len(g.sources) else (),
            labels=[("C", None, (1, "x"))[label] for label in g.labels],
            edge_labels=[{"-": 7, "=": "double"}[label] for label in g.edge_labels],
            directed=True,
        )
        for g in GRAPHS
    ]
    np.testing.assert_allclose(k.block(renamed), K, rtol=0, atol=tolerance)


def test_hash_seed_and_threads_change_nothing() -> None:
    code = (
        "import numpy as np, mercer, hashlib\n"
        "from mercer.domains import Graph\n"
        "from mercer.kernels import WeisfeilerLehman\n"
        "rng = np.random.default_rng(0)\n"
        "X = [Graph(9, rng.integers(0, 9, (14, 2)), labels=['abc'[i] for i in rng.integers(0, 3, 9)])\n"
        "     for _ in range(40)]\n"
        "k = WeisfeilerLehman(3)\n"
        "F, K = k.features(X), k.normalized().block(X)\n"
        "names = repr(k._feature_names(k._prepare(k.domain.validate(X)))).encode()\n"
        "print(hashlib.sha256(F.data.tobytes() + F.indices.tobytes() + K.tobytes() + names).hexdigest())\n"
    )
    found = set()
    for seed, threads in (("0", "1"), ("1", "2")):
        env = {**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": threads}
        found.add(
            subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True).stdout
        )
    assert len(found) == 1


def test_colours_that_are_new_count_in_the_self_value() -> None:
    x, y = Graph(2, [(0, 1)], labels="NN"), Graph(2, [(0, 1)], labels="CC")
    k = WeisfeilerLehman(2)
    assert k(x, x) == 12
    assert k.block([x], [y])[0, 0] == 0
    mixed = Graph(2, labels="CN")
    assert k.normalized()(mixed, y) == pytest.approx(2 / np.sqrt(6 * 12))
    features = Explicit(k.normalized()).fit([y])
    assert features.transform([mixed]).toarray().tolist() == [[pytest.approx(1 / np.sqrt(6)), 0, 0]]


def test_features_for_new_graphs() -> None:
    for k in (WeisfeilerLehman(3), WeisfeilerLehman(2, base=EdgeHistogram())):
        features = pickle.loads(pickle.dumps(Explicit(k).fit(GRAPHS)))
        F, G = features.transform(GRAPHS), features.transform(NEW)
        np.testing.assert_array_equal((F @ F.T).toarray(), k.block(GRAPHS))
        np.testing.assert_array_equal((G @ F.T).toarray(), k.block(NEW, GRAPHS))
        names = features.get_feature_names_out()
        assert len({*names}) == features.dim
    small, large = (pickle.dumps(Explicit(WeisfeilerLehman(1)).fit(GRAPHS * n)) for n in (1, 50))
    assert len(large) < 1.2 * len(small)  # the vocabulary is kept, not the graphs


def test_a_linear_machine_on_features() -> None:
    rng = np.random.default_rng(6)
    X = [Graph(5, [(i, i + 1) for i in range(4)] + ([(4, 0)] if i % 2 else [])) for i in range(20)]
    y = np.arange(20) % 2
    features = Explicit(WeisfeilerLehman(2).normalized())
    model = LinearSVC().fit(features.fit_transform(X), y)
    assert model.score(features.transform([permuted(g, rng) for g in X]), y) == 1


# -- bases ----------------------------------------------------------------------------------------
def test_bases_with_known_values() -> None:
    same = [
        (WeisfeilerLehman(3, base=VertexHistogram()), WeisfeilerLehman(3)),
        (WeisfeilerLehman(3, base=Linear()), WeisfeilerLehman(3)),
        (WeisfeilerLehman(3, base=Intersection()), WLOptimalAssignment(3)),
    ]
    for k, other in same:
        np.testing.assert_array_equal(k.block(GRAPHS), other.block(GRAPHS))
        np.testing.assert_array_equal(k.block(NEW, GRAPHS), other.block(NEW, GRAPHS))
        np.testing.assert_array_equal(k.diagonal(NEW), other.diagonal(NEW))
        assert k(GRAPHS[3], NEW[2]) == other(GRAPHS[3], NEW[2])
    edges = WeisfeilerLehman(3, base=EdgeHistogram())  # colours of nodes do not matter to it
    np.testing.assert_array_equal(edges.block(GRAPHS), 4 * EdgeHistogram().block(GRAPHS))


def test_a_base_on_counts_sees_colours_that_are_new() -> None:
    x, y = Graph(2, labels="NN"), Graph(1, labels="C")
    k = WeisfeilerLehman(0, base=Gaussian(1.0))
    assert k(x, y) == pytest.approx(exp(-(4 + 1) / 2))
    assert k.block([x], [y])[0, 0] == pytest.approx(exp(-(4 + 1) / 2))
    assert k.block([y], [x])[0, 0] == pytest.approx(exp(-(4 + 1) / 2))


@pytest.mark.parametrize("base", [NGram(2), Gaussian("median"), 3])
def test_bases_that_are_refused(base: Any) -> None:
    with pytest.raises(ParameterError, match="WeisfeilerLehman: `base` must"):
        WeisfeilerLehman(2, base=base)


# -- certificates, names --------------------------------------------------------------------------
def test_certificates() -> None:
    for k in KERNELS:
        assert k.certificate.verdict is Verdict.PSD
    assert WeisfeilerLehman(2, base=-1.0 * VertexHistogram()).certificate.verdict is Verdict.UNKNOWN


def test_names_are_rooted_trees() -> None:
    x = Graph(3, [(0, 1), (1, 2)], labels=["C", "C", "O"], edge_labels="-=")
    features = Explicit(WeisfeilerLehman(2)).fit([x])
    assert features.get_feature_names_out().tolist() == [
        "0: C",
        "0: O",
        "1: C(-C)",
        "1: C(-C,=O)",
        "1: O(=C)",
        "2: C(-C(-C,=O))",
        "2: C(-C(-C),=O(=C))",
        "2: O(=C(-C,=O))",
    ]
    arc = Graph(2, [(0, 1)], labels=["a", 1], edge_labels=["to"], directed=True)
    names = Explicit(WeisfeilerLehman(1)).fit([arc]).get_feature_names_out().tolist()
    assert names == ["0: a", "0: 1", "1: a([to]1<)", "1: 1(<[to]a)"]
    names = Explicit(WeisfeilerLehman(1, edge_labels=False)).fit([x]).get_feature_names_out().tolist()
    assert names == ["0: C", "0: O", "1: C(C)", "1: C(C,O)", "1: O(C)"]


def test_long_names_are_cut_and_told_apart() -> None:
    rng = np.random.default_rng(2)
    X = [Graph(40, rng.integers(0, 40, (300, 2)), labels=rng.integers(0, 9, 40).tolist())]
    names = Explicit(WeisfeilerLehman(6)).fit(X).get_feature_names_out()
    assert len({*names}) == len(names)
    assert max(map(len, names)) <= 220


@pytest.mark.parametrize(
    "k",
    [
        WeisfeilerLehman(2),
        WeisfeilerLehman(2, edge_labels=False).normalized(),
        WLOptimalAssignment(2),
        WeisfeilerLehman(2, base=EdgeHistogram()),
        WeisfeilerLehman(1, base=VertexHistogram()),
    ],
    ids=repr,
)
def test_contributions_add_up(k: Kernel) -> None:
    for x, y in ((GRAPHS[1], GRAPHS[2]), (GRAPHS[5], NEW[3]), (GRAPHS[4], GRAPHS[4])):
        found = k.contributions(x, y)
        assert found.total == pytest.approx(k(x, y))
        for c in found:
            assert sum(c.placed("x").values()) == pytest.approx(c.weight)
            assert all(0 <= v < x.n and w == v + 1 for v, w in c.x_places)


def test_contributions_of_counts_are_not_known() -> None:
    with pytest.raises(DomainError, match="does not know"):
        WeisfeilerLehman(1, base=Gaussian(1.0)).contributions(GRAPHS[1], GRAPHS[2])


def test_machines_explain() -> None:
    rng = np.random.default_rng(8)
    X = [Graph(4, [(0, 1), (1, 2), (2, 3)], labels=["C", "C", "C", "CN"[i % 2]]) for i in range(12)]
    y = np.arange(12) % 2
    model = mercer.machines.SVC(WeisfeilerLehman(1)).fit(X, y)
    assert model.score([permuted(g, rng) for g in X], y) == 1
    found = model.explain(X[1])
    spoken = {c.pattern: c.weight for c in found}
    assert spoken["0: N"] > 0
    assert [c.x_places for c in found if c.pattern == "0: N"] == [((3, 4),)]


def test_tables_are_stored_by_number() -> None:
    batch = GraphBatch.of(GRAPHS)
    table = ColourTable(batch, 3, True)
    first = table.colours(batch)
    copy = pickle.loads(pickle.dumps(table))
    np.testing.assert_array_equal(copy.colours(batch), first)
    np.testing.assert_array_equal(table.colours(batch.take(slice(3, 9))).max(axis=1) < table.sizes, True)
