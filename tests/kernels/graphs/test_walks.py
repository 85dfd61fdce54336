"""Random walk kernels against the enumeration of walks, and against elimination in fractions."""

import math
import os
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.linalg

from mercer.arithmetic import multiprecision
from mercer.domains import Graph
from mercer.errors import DivergenceError, InputError, MemoryLimitError, ParameterError
from mercer.kernel import Kernel
from mercer.kernels import Categorical, Constant, Gaussian, Linear, RandomWalk, WhiteNoise

from .walks_by_hand import enumerated, solved

pytestmark = pytest.mark.native

RTOL = 1e-12

PATH = Graph(4, [(0, 1), (1, 2), (2, 3)], labels="CCOC", edge_labels=[1, 2, 1])
TRIANGLE = Graph(3, [(0, 1), (1, 2), (2, 0)], labels="COC", edge_labels=[1, 1, 2], weights=[0.5, 2.0, 1.0])
LOOPED = Graph(3, [(0, 0), (0, 1), (0, 1), (1, 2)], labels="OCC", edge_labels=[1, 1, 2, 1])
ARCS = Graph(4, [(0, 1), (1, 2), (2, 0), (0, 3)], labels="CCCO", edge_labels=[1, 1, 1, 2], directed=True)
SIGNED = Graph(3, [(0, 1), (1, 2), (0, 2)], labels="CCC", weights=[1.0, -1.0, 0.5])
ALONE = Graph(2, labels="CO")
EMPTY = Graph(0)
GRAPHS = [PATH, TRIANGLE, LOOPED, ARCS, SIGNED, ALONE, EMPTY]


def bare(g: Graph) -> Graph:
    """The same graph without labels."""
    return Graph._of(g.n, g.sources, g.targets, (None,) * g.n, (None,) * len(g.targets), g.weights, None)


BARE = [bare(g) for g in GRAPHS]


def weights_of(k: RandomWalk, steps: int) -> list[Fraction]:
    decay = Fraction(k.decay)
    return [decay**n / (math.factorial(n) if k.series == "exponential" else 1) for n in range(steps + 1)]


def exact(k: RandomWalk, x: Graph, y: Graph, **similar: Any) -> float:
    if k.length is None and k.series == "geometric":
        value = solved(x, y, Fraction(k.decay), **similar)
    else:
        value = enumerated(x, y, weights_of(k, 6 if k.length is None else k.length), **similar)
    return float(value / max(x.n * y.n, 1) ** 2 if k.form == "uniform" else value)


@pytest.mark.parametrize("series", ["geometric", "exponential"])
@pytest.mark.parametrize("form", ["sum", "uniform"])
@pytest.mark.parametrize("length", [0, 1, 3, 4])
@pytest.mark.parametrize("decay", [0.0, 0.3, -0.7])
def test_truncated_series_are_sums_over_walks(decay: float, length: int, form: str, series: str) -> None:
    k = RandomWalk(decay, form=form, series=series, length=length)
    for graphs in (GRAPHS, BARE):
        want = np.array([[exact(k, x, y) for y in graphs] for x in graphs])
        np.testing.assert_allclose(k.block(graphs), want, rtol=RTOL, atol=RTOL)
        np.testing.assert_allclose([[k(x, y) for y in graphs] for x in graphs], want, rtol=RTOL, atol=RTOL)


@pytest.mark.parametrize("decay", [0.01, 0.06, -0.06])
def test_the_geometric_series_is_a_linear_system(decay: float) -> None:
    k = RandomWalk(decay)
    for graphs in (GRAPHS, [bare(g) for g in GRAPHS if g is not ARCS], [bare(g) for g in GRAPHS]):
        want = np.array([[exact(k, x, y) for y in graphs] for x in graphs])
        np.testing.assert_allclose(k.block(graphs), want, rtol=RTOL, atol=RTOL)
        np.testing.assert_allclose(k.block(graphs[:2], graphs[1:]), want[:2, 1:], rtol=RTOL, atol=RTOL)
        np.testing.assert_allclose(k.diagonal(graphs), want.diagonal(), rtol=RTOL, atol=RTOL)


def test_fifty_digits_are_right() -> None:
    m = multiprecision(50)
    for k in (RandomWalk(0.06), RandomWalk(0.25, length=3)):
        decay = Fraction(k.decay)
        for x, y in pairwise(GRAPHS[:5]):
            want = solved(x, y, decay) if k.length is None else enumerated(x, y, weights_of(k, 3))
            exactly = m.real(want.numerator) / m.real(want.denominator)
            assert abs(k.precise(x, y) - exactly) <= abs(exactly) * m.real(10) ** -45


def test_the_exponential_series_is_the_exponential_of_the_product_graph() -> None:
    for decay in (0.5, -0.5, 3.0):
        k = RandomWalk(decay, series="exponential")
        for graphs in (GRAPHS, [bare(g) for g in GRAPHS], [bare(g) for g in GRAPHS if g is not ARCS]):
            want = np.array([[_expm(decay, x, y).sum() for y in graphs] for x in graphs])
            np.testing.assert_allclose(k.block(graphs), want, rtol=1e-11)
            assert k(graphs[0], graphs[2]) == pytest.approx(want[0, 2], rel=1e-11)


def _adjacency(g: Graph, *labels: Any) -> np.ndarray:
    """Weights of all arcs, or of those with one of the labels."""
    A = np.zeros((g.n, g.n))
    for u, v, w, label in zip(g.sources, g.targets, g.weights, g.edge_labels, strict=True):
        A[u, v] += w * (not labels or label in labels)
    return A


def _expm(decay: float, x: Graph, y: Graph) -> np.ndarray:
    """exp(decay W) on the pairs of nodes with equal labels, arcs with equal labels only."""
    labels = sorted({*x.edge_labels, *y.edge_labels}, key=repr)
    W = np.zeros((x.n * y.n, x.n * y.n))
    for label in labels:
        W += np.kron(_adjacency(x, label), _adjacency(y, label))
    match = np.array([[a == b for b in y.labels] for a in x.labels], dtype=bool).ravel()
    return np.asarray(scipy.linalg.expm(decay * W[np.ix_(match, match)])) if match.any() else np.zeros((0, 0))


# -- similarities of nodes and edges --------------------------------------------------------------
def test_kernels_compare_labels() -> None:
    def softly(a: Any, b: Any) -> Fraction:
        return Fraction(1) if a == b else Fraction(1, 4)

    def never(a: Any, b: Any) -> Fraction:
        return Fraction(1)

    labelled = GRAPHS[:-1]
    for node, by_hand in ((Categorical(0.25), softly), (Constant(1.0), never), (Constant(0.5), None)):
        for length in (2, None):
            k = RandomWalk(0.04, length=length, node=node, edge=WhiteNoise())
            node_by_hand = by_hand or (lambda a, b: Fraction(1, 2))
            want = [[exact(k, x, y, node=node_by_hand) for y in labelled] for x in labelled]
            np.testing.assert_allclose(k.block(labelled), want, rtol=RTOL)
            assert k(PATH, ARCS) == pytest.approx(want[0][3], rel=RTOL)


def test_kernels_on_vectors_compare_attributes() -> None:
    rng = np.random.default_rng(5)
    graphs = [
        Graph(
            n,
            [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.6],
            attributes=rng.normal(size=(n, 2)),
        )
        for n in (3, 4, 2, 5)
    ]
    for node in (Gaussian(0.7), Linear()):
        for k in (RandomWalk(0.02, node=node), RandomWalk(0.3, node=node, length=3)):
            want = np.empty((4, 4))
            for i, x in enumerate(graphs):
                for j, y in enumerate(graphs):
                    N = node.block(x.attributes, y.attributes).ravel()
                    W = np.kron(_adjacency(x), _adjacency(y)) * N
                    if k.length is None:
                        z = np.linalg.solve(np.eye(len(N)) - k.decay * W, np.ones(len(N)))
                    else:
                        z = sum(np.linalg.matrix_power(k.decay * W, n) @ np.ones(len(N)) for n in range(4))
                    want[i, j] = N @ z
            np.testing.assert_allclose(k.block(graphs), want, rtol=1e-11)
            np.testing.assert_allclose(k.diagonal(graphs), want.diagonal(), rtol=1e-11)
            assert k(graphs[0], graphs[3]) == pytest.approx(want[0, 3], rel=1e-11)
    with pytest.raises(InputError, match="vectors of nodes"):
        RandomWalk(0.1, node=Gaussian(1.0)).block([PATH])
    with pytest.raises(InputError, match="vectors of nodes"):
        RandomWalk(0.1, node=Gaussian(1.0))(PATH, PATH)


def test_widths_are_taken_from_the_data() -> None:
    x = Graph(3, [(0, 1), (1, 2)], attributes=[0.0, 1.0, 5.0], edge_labels=[1.0, 3.0])
    k = RandomWalk(0.1, node=Gaussian("median"), edge=Gaussian("median")).resolve([x])
    assert k.node == Gaussian("median").resolve([[0.0], [1.0], [5.0]])
    assert k.edge == Gaussian("median").resolve([[1.0], [1.0], [3.0], [3.0]])


# -- divergence -----------------------------------------------------------------------------------
def cycle(n: int, labels: Any = None) -> Graph:
    return Graph(n, [(i, (i + 1) % n) for i in range(n)], labels=labels)


@pytest.mark.parametrize("labels", [None, "CN"])
def test_divergence_is_an_error_with_the_pair_and_the_bound(labels: str | None) -> None:
    # Without labels cycles have the radius 2, their products 4; with alternating labels half of the pairs
    # match, and the radius of those is 4 too.  A pair with a single edge has 2.
    ring = cycle(6, labels and labels * 3)
    edge = Graph(2, [(0, 1)], labels=labels)
    inside, outside = 0.2499999, 0.2500001
    value = RandomWalk(inside).block([edge, ring])
    matching = 36 if labels is None else 18
    assert value[1, 1] == pytest.approx(matching / (1 - 4 * inside), rel=1e-7)
    for decay in (outside, 0.25, -outside, 1e6):
        k = RandomWalk(decay)
        with pytest.raises(DivergenceError, match=r"`decay` must be below 0\.25 in size") as error:
            k.block([edge, edge, ring] if abs(decay) < 1 else [ring, ring])
        assert any("(X[2], X[2])" in note for note in error.value.__notes__) or abs(decay) > 1
        with pytest.raises(DivergenceError, match=r"`decay` must be below 0\.25 in size"):
            k(ring, ring)
        with pytest.raises(DivergenceError):
            k.diagonal([ring])
    np.testing.assert_allclose(RandomWalk(0.3).block([edge], [ring]), exact(RandomWalk(0.3), edge, ring))


def test_a_labelled_product_graph_converges_beyond_the_bound_of_its_graphs() -> None:
    x = Graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)], labels="CNOS")
    k = RandomWalk(0.4)  # pairs of equal labels: one cycle, radius 2; without labels it would be 4
    assert k(x, x) == pytest.approx(4 / (1 - 0.8), rel=RTOL)
    assert k.block([x])[0, 0] == pytest.approx(4 / (1 - 0.8), rel=RTOL)


def test_signs_may_make_a_series_converge() -> None:
    # Two edges of opposite weights between the same nodes cancel; so does a rotation by 90 degrees.
    cancelled = Graph(2, [(0, 1), (0, 1)], weights=[5.0, -5.0])
    rotation = Graph(2, [(0, 1), (1, 0)], weights=[0.8, -0.8], directed=True)
    for g, label in ((cancelled, None), (rotation, None), (rotation, "CC")):
        x = Graph._of(*g._parts()[:3], tuple(label or (None, None)), *g._parts()[4:])
        k = RandomWalk(1.1)
        want = float(solved(x, x, Fraction(1.1)))
        assert k(x, x) == pytest.approx(want, rel=1e-11)
        assert k.block([x])[0, 0] == pytest.approx(want, rel=1e-11)
    with pytest.raises(DivergenceError, match=r"below 1\.5625 in size"):
        RandomWalk(1.6).block([rotation])


def test_systems_of_all_kinds_are_solved_to_rounding() -> None:
    rng = np.random.default_rng(11)
    for trial in range(60):
        sizes = rng.integers(1, 9, 2)
        graphs = [
            Graph(
                int(n),
                [(i, j) for i in range(n) for j in range(n) if rng.random() < 0.35],
                labels=rng.integers(0, 2, n).tolist(),
                weights=None,
                directed=bool(trial % 2),
            )
            for n in sizes
        ]
        x, y = graphs
        match = np.array([[a == b for b in y.labels] for a in x.labels]).ravel()
        W = np.kron(_adjacency(x), _adjacency(y))[np.ix_(match, match)]
        radius = np.abs(np.linalg.eigvals(W)).max(initial=0.0)
        for share in (0.5, 0.99, 0.99999):
            decay = share / radius if radius > 1e-6 else 1.0
            z = np.linalg.solve(np.eye(len(W)) - decay * W, np.ones(len(W)))
            np.testing.assert_allclose(
                RandomWalk(decay).block([x], [y]), z.sum(), rtol=1e-11 / (1 - share), err_msg=str(trial)
            )


# -- invariance -----------------------------------------------------------------------------------
def renumbered(g: Graph, order: np.ndarray) -> Graph:
    place = np.argsort(order)
    return Graph(
        g.n,
        np.stack([place[g.sources], place[g.targets]], axis=1),
        labels=[g.labels[i] for i in order],
        edge_labels=g.edge_labels,
        weights=g.weights,
        directed=True,
    )


def test_the_order_of_nodes_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    for graphs in (GRAPHS, [bare(g) for g in GRAPHS if g is not ARCS]):
        other = [renumbered(g, rng.permutation(g.n)) for g in graphs]
        for k in (RandomWalk(0.06), RandomWalk(0.5, series="exponential"), RandomWalk(0.5, length=5)):
            np.testing.assert_allclose(k.block(other), k.block(graphs), rtol=1e-12)


def test_one_against_many_is_a_row_of_the_matrix() -> None:
    graphs = [
        Graph(n, [(i, i + 1) for i in range(n - 1)], labels=["CO"[i % 2] for i in range(n)])
        for n in [*range(1, 12)] * 6
    ]
    for k in (RandomWalk(0.2), RandomWalk(0.2, node=Constant(1.0))):
        K = k.block(graphs)
        np.testing.assert_allclose(k.block(graphs[7:8], graphs)[0], K[7], rtol=1e-13)
        np.testing.assert_allclose(k.diagonal(graphs), K.diagonal(), rtol=1e-13)


SCRIPT = """
import hashlib
from mercer.domains import Graph
from mercer.kernels import Constant, MarginalizedWalk, RandomWalk
graphs = [
    Graph(n, [(i, 3 * i % n) for i in range(n)] + [(i, i - 1) for i in range(1, n)], labels="ab" * (n // 2))
    for n in (2, 4, 6, 8) * 18
]
for k in (RandomWalk(0.005), RandomWalk(0.005, node=Constant(1.0)), MarginalizedWalk(0.2, tottering=False)):
    print(hashlib.sha256(k.block(graphs).tobytes()).hexdigest())
"""


def test_bits_depend_on_neither_threads_nor_hash_seeds() -> None:
    runs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "MERCER_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, threads in (("0", "1"), ("1", "2"))
    ]
    assert runs[0] == runs[1]


# -- certificates, contributions, errors ----------------------------------------------------------
def test_certificates_rest_on_the_kernels_of_nodes_and_edges() -> None:
    k = RandomWalk(0.1, node=Gaussian(1.0), edge=Categorical(0.5))
    assert k.certificate.is_psd
    assert {p.rule for p in k.certificate.premises} == {
        Gaussian(1.0).certificate.positive.rule,
        Categorical(0.5).certificate.positive.rule,
    }
    assert not RandomWalk(0.1, node=-1.0 * Gaussian(1.0)).certificate.is_psd
    assert str(RandomWalk(-0.1, node=Gaussian(1.0)).certificate.verdict) == "UNKNOWN"
    assert RandomWalk(-0.1, length=0).certificate.is_psd


@pytest.mark.parametrize("decay", [-1e-9, -0.3, -1.0, -50.0])
@pytest.mark.parametrize("form", ["sum", "uniform"])
@pytest.mark.parametrize("options", [{}, {"series": "exponential"}, {"length": 1}, {"length": 4}])
def test_negative_decays_are_refuted(decay: float, form: str, options: dict[str, Any]) -> None:
    witness = RandomWalk(decay, form=form, **options).certificate.witness
    assert witness is not None
    assert witness.value < 0


@pytest.mark.parametrize(
    "k",
    [
        RandomWalk(0.06),
        RandomWalk(0.3, length=3, form="uniform"),
        RandomWalk(0.4, series="exponential"),
        RandomWalk(0.05, node=Constant(1.0)),
        RandomWalk(0.05, node=Categorical(0.3), length=2, form="uniform"),
    ],
    ids=repr,
)
def test_contributions_add_up(k: Kernel) -> None:
    for x, y in [*pairwise(GRAPHS[:-1]), (PATH, PATH)]:
        assert k.contributions(x, y).total == pytest.approx(k(x, y), rel=1e-12, abs=1e-15)


def test_contributions_are_the_walks_with_their_labels() -> None:
    found = {c.pattern: c.weight for c in RandomWalk(0.5, length=2).contributions(PATH, PATH)}
    assert found["C"] == 9.0
    assert found["C -1- C"] == 0.5 * 2 * 2  # both directions of the first edge
    assert found["C -2- O -1- C"] == 0.25
    ends = {c.pattern: c for c in RandomWalk(0.5, length=2).contributions(PATH, PATH)}["C -1- C"]
    assert ends.placed("x") == ends.placed("y") == {(0, 1): 1.0, (1, 2): 1.0}
    unlabelled = RandomWalk(0.5, length=2).contributions(bare(PATH), bare(PATH))
    assert [(c.pattern, c.weight) for c in unlabelled] == [
        ("walks of 2 steps", 0.25 * 10 * 10),
        ("walks of 1 step", 0.5 * 6 * 6),
        ("walks of 0 steps", 16.0),
    ]


def test_memory_is_said_first() -> None:
    large = [Graph(10**6, [(0, 1)]), Graph(10**6, [(0, 1)], directed=True)]
    with pytest.raises(MemoryLimitError, match="the eigenvectors of a graph of 1000000 nodes"):
        RandomWalk(0.1).block(large[:1])
    with pytest.raises(MemoryLimitError, match="a product graph of up to 1000000000000 nodes"):
        RandomWalk(0.1, edge=Constant(0.5)).block(large)


def test_parameters_are_checked() -> None:
    for wrong in (-1, 1.5, True):
        with pytest.raises(ParameterError, match="RandomWalk: `length` must be an integer from 0"):
            RandomWalk(0.1, length=wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="RandomWalk: `node` must be a kernel"):
        RandomWalk(0.1, node="equal")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="`series` must be one of"):
        RandomWalk(0.1, series="harmonic")


# -- another library ------------------------------------------------------------------------------
def test_grakel_agrees_where_it_converges() -> None:
    grakel = pytest.importorskip("grakel")
    graphs = [bare(g) for g in (PATH, cycle(5), Graph(5, [(0, i) for i in range(1, 5)]))]
    given = [grakel.Graph(_adjacency(g)) for g in graphs]
    for kind, k in (("geometric", RandomWalk(0.03)), ("exponential", RandomWalk(0.03, series="exponential"))):
        peer = grakel.RandomWalk(lamda=0.03, method_type="baseline", kernel_type=kind)
        np.testing.assert_allclose(k.block(graphs), peer.fit_transform(given), rtol=1e-10)
    peer = grakel.RandomWalk(lamda=0.5, p=3, method_type="baseline")
    np.testing.assert_allclose(RandomWalk(0.5, length=3).block(graphs), peer.fit_transform(given), rtol=1e-10)
    # With labels it counts pairs of nodes with different labels, too, as walks of no steps.
    labelled = [Graph(g.n, _edges(g), labels=["CO"[i % 2] for i in range(g.n)]) for g in graphs]
    given = [grakel.Graph(_adjacency(g), dict(enumerate(g.labels))) for g in labelled]
    peer = grakel.RandomWalkLabeled(lamda=0.03, method_type="baseline")
    other = [[sum(a != b for a in x.labels for b in y.labels) for y in labelled] for x in labelled]
    np.testing.assert_allclose(
        RandomWalk(0.03).block(labelled) + other, peer.fit_transform(given), rtol=1e-10
    )


def _edges(g: Graph) -> list[tuple[int, int]]:
    return [(u, v) for u, v in zip(g.sources.tolist(), g.targets.tolist(), strict=True) if u < v]


@pytest.mark.slow
def test_a_graph_of_more_nodes_than_are_taken_at_a_time():
    n, decay = 2100, 1e-3
    path = Graph(n, [(i, i + 1) for i in range(n - 1)])
    degrees = np.array([1, *[2] * (n - 2), 1])  # walks of two steps: pairs of neighbours of a node
    expected = n**2 + decay * degrees.sum() ** 2 + decay**2 * (degrees**2).sum() ** 2
    K = RandomWalk(decay, length=2).block([path, Graph(1)])
    np.testing.assert_allclose(K, [[expected, n], [n, 1]], rtol=1e-10)
