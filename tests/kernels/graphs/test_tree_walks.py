"""Tree-walk kernels against the enumeration of tree walks, walks and label histograms."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mercer.arithmetic import multiprecision
from mercer.domains import Graph
from mercer.errors import InputError, MemoryLimitError, ParameterError
from mercer.kernels import Categorical, Constant, Gaussian, RandomWalk, TreeWalk, VertexHistogram

from .tree_walks_by_hand import enumerated

pytestmark = pytest.mark.native

RTOL = 1e-13

PATH = Graph(4, [(0, 1), (1, 2), (2, 3)], labels="CCOC", edge_labels=[1, 2, 1])
STAR = Graph(4, [(0, 1), (0, 2), (0, 3)], labels="CCOC", edge_labels=[1, 1, 2], weights=[0.5, 2.0, 1.0])
LOOPED = Graph(3, [(0, 0), (0, 1), (0, 1), (1, 2)], labels="OCC", edge_labels=[1, 1, 2, 1])
ARCS = Graph(4, [(0, 1), (1, 2), (2, 0), (0, 3)], labels="CCCO", edge_labels=[1, 1, 1, 2], directed=True)
SIGNED = Graph(3, [(0, 1), (1, 2), (0, 2)], labels="CCC", weights=[1.0, -1.0, 0.5])
ALONE = Graph(2, labels="CO")
EMPTY = Graph(0)
GRAPHS = [PATH, STAR, LOOPED, ARCS, SIGNED, ALONE, EMPTY]
PLAIN = [Graph(g.n, np.stack([g.sources, g.targets], axis=1), directed=True) for g in GRAPHS]


def softly(a: Any, b: Any) -> Fraction:
    return Fraction(1) if a == b else Fraction(1, 4)


@pytest.mark.parametrize(("depth", "arity"), [(1, 2), (2, 1), (2, 2), (2, 3), (2, 8), (3, 2)])
@pytest.mark.parametrize("graphs", [GRAPHS, PLAIN[:2] + PLAIN[5:]], ids=["labelled", "plain"])
def test_values_are_sums_over_tree_walks(depth: int, arity: int, graphs: list[Graph]) -> None:
    if depth == 3:
        graphs = [g for g in graphs if g.n != 3]  # few tree walks, for they are listed
    k = TreeWalk(depth, arity=arity, decay=0.3)
    want = [[float(enumerated(x, y, depth, arity, Fraction(0.3))) for y in graphs] for x in graphs]
    np.testing.assert_allclose(k.block(graphs), want, rtol=RTOL)
    np.testing.assert_allclose(k.block(graphs[:2], graphs), want[:2], rtol=RTOL)
    np.testing.assert_allclose(k.diagonal(graphs), np.diag(want), rtol=RTOL)
    np.testing.assert_allclose([[k(x, y) for y in graphs] for x in graphs], want, rtol=RTOL)


def test_fifty_digits_are_right() -> None:
    m = multiprecision(50)
    exactly = enumerated(STAR, PATH, 3, 2, Fraction(0.3))
    want = m.real(exactly.numerator) / m.real(exactly.denominator)
    assert abs(TreeWalk(3, decay=0.3).precise(STAR, PATH) - want) <= want * m.real(10) ** -45


def test_a_star_has_the_matchings_of_its_leaves() -> None:
    # The roots of two stars with n and m leaves alike: 1 + sum over s of C(n, s) C(m, s) s! decay^s; a leaf
    # sees one arc.  The roots have a label of their own.
    def star(n: int) -> Graph:
        return Graph(n + 1, [(0, i) for i in range(1, n + 1)], labels=["r"] + ["l"] * n)

    counts = {1: 1 + 12, 2: 1 + 12 + 3 * 6 * 2, 3: 1 + 12 + 36 + 1 * 4 * 6, 4: 1 + 12 + 36 + 24}
    for arity, roots in counts.items():
        assert TreeWalk(2, arity=arity, decay=1.0)(star(3), star(4)) == roots + 12 * 2
        assert TreeWalk(2, arity=arity, decay=1.0).block([star(3)], [star(4)])[0, 0] == roots + 12 * 2


def test_depth_one_is_the_histogram_of_labels() -> None:
    for graphs in (GRAPHS, PLAIN):
        np.testing.assert_array_equal(TreeWalk(1).block(graphs), VertexHistogram().block(graphs))


@pytest.mark.parametrize("depth", [2, 3, 6])
def test_arity_one_is_the_kernel_of_walks(depth: int) -> None:
    for graphs in (GRAPHS, PLAIN):
        for similarities in ({}, {"node": Constant(0.5), "edge": Constant(2.0)}):
            walks = RandomWalk(0.3, length=depth - 1, **similarities)
            k = TreeWalk(depth, arity=1, decay=0.3, **similarities)
            np.testing.assert_allclose(k.block(graphs), walks.block(graphs), rtol=1e-12)


def test_kernels_compare_labels() -> None:
    graphs = GRAPHS[:3]
    k = TreeWalk(2, decay=0.5, node=Categorical(0.25), edge=Constant(2.0))
    alike = {"node": softly, "edge": lambda a, b: Fraction(2)}
    want = [[float(enumerated(x, y, 2, 2, Fraction(0.5), **alike)) for y in graphs] for x in graphs]
    np.testing.assert_allclose(k.block(graphs), want, rtol=RTOL)


def test_kernels_on_vectors_compare_attributes() -> None:
    # Each number is a node of a path; the definition takes vectors too.
    rng = np.random.default_rng(5)
    graphs = [
        Graph(n, [(i, i + 1) for i in range(n - 1)], attributes=rng.normal(size=(n, 2))) for n in (1, 3, 4, 5)
    ]
    node = Gaussian(0.7)
    k = TreeWalk(2, decay=0.5, node=node)
    want = np.zeros((4, 4))
    for i, x in enumerate(graphs):
        for j, y in enumerate(graphs):
            N = node.block(x.attributes, y.attributes)
            for u in range(x.n):
                for v in range(y.n):
                    M = 0.5 * N[x.targets[x.sources == u]][:, y.targets[y.sources == v]]
                    both = M[0, 0] * M[1, 1] + M[0, 1] * M[1, 0] if M.shape == (2, 2) else 0.0
                    want[i, j] += N[u, v] * (1 + M.sum() + both)
    np.testing.assert_allclose(k.block(graphs), want, rtol=1e-12)
    np.testing.assert_allclose(k(graphs[2], graphs[3]), want[2, 3], rtol=1e-12)
    assert k.replace(node=Gaussian("median")).resolve(graphs).node == Gaussian("median").resolve(
        np.concatenate([g.attributes for g in graphs])
    )
    with pytest.raises(InputError, match="vectors of nodes"):
        k.block([PATH])


def test_contributions_stand_at_the_roots() -> None:
    for k in (TreeWalk(2, decay=0.5), TreeWalk(3, node=Categorical(0.5), edge=Constant(1.0))):
        for x in GRAPHS:
            for y in (PATH, STAR, SIGNED):
                found = k.contributions(x, y)
                assert sum(c.weight for c in found) == pytest.approx(k(x, y), rel=1e-12, abs=1e-12)
    # The trees from one node of a path: those that the path has from there.
    alone = TreeWalk(2, decay=1.0).contributions(PATH, Graph(2, [(0, 1)], labels="OC", edge_labels=[2]))
    assert {c.pattern: c.placed("x") for c in alone} == {
        "trees from C": {(0, 1): 1.0, (1, 2): 2.0, (3, 4): 1.0},
        "trees from O": {(2, 3): 2.0},
    }
    assert {c.pattern: c.placed("y") for c in alone} == {
        "trees from C": {(1, 2): 4.0},
        "trees from O": {(0, 1): 2.0},
    }
    assert [c.pattern for c in TreeWalk(1).contributions(PLAIN[0], PLAIN[1])] == ["trees"]


def test_matrices_are_positive_semidefinite() -> None:
    rng = np.random.default_rng(0)
    graphs = [
        Graph(
            n,
            [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.5],
            labels=rng.integers(0, 2, n).tolist(),
            attributes=rng.normal(size=(n, 2)),
        )
        for n in rng.integers(1, 9, 40)
    ]
    for k in (TreeWalk(3), TreeWalk(4, arity=3, decay=1.0), TreeWalk(3, node=Gaussian(0.5))):
        assert k.certificate.positive.proved
        K = k.normalized().block(graphs)
        assert np.linalg.eigvalsh(K).min() > -1e-13 * len(K)


def test_tree_walks_tell_apart_what_walks_cannot() -> None:
    # Each C has one N and one O, or both of a kind: the same walks of one step, other trees.
    mixed = Graph(6, [(0, 1), (0, 2), (3, 4), (3, 5)], labels="CNOCNO")
    alike = Graph(6, [(0, 1), (0, 2), (3, 4), (3, 5)], labels="CNNCOO")
    walks, trees = (k.block([mixed, alike]) for k in (RandomWalk(1.0, length=1), TreeWalk(2, decay=1.0)))
    assert walks[0, 0] == walks[0, 1] == walks[1, 1]
    assert trees[0, 0] + trees[1, 1] > 2 * trees[0, 1]


def test_threads_and_tiles_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    graphs = [
        Graph(n, [(i, int(rng.integers(0, i))) for i in range(1, n)], labels=rng.integers(0, 3, n).tolist())
        for n in rng.integers(2, 20, 30)
    ]
    k = TreeWalk(4, arity=3, decay=0.37)
    monkeypatch.setenv("MERCER_NUM_THREADS", "1")
    K = k.block(graphs)
    monkeypatch.setenv("MERCER_NUM_THREADS", "2")
    np.testing.assert_array_equal(k.block(graphs), K)
    np.testing.assert_array_equal(np.tril(k.block(graphs[20:], graphs), 20), np.tril(K[20:], 20))


def test_bad_input_is_named() -> None:
    for name, value in (("depth", 0), ("arity", 0), ("arity", 9), ("decay", -0.1), ("node", "C")):
        with pytest.raises(ParameterError, match=f"TreeWalk: `{name}` must"):
            TreeWalk(**{"depth": 2, name: value})
    complete = Graph(12, [(i, j) for i in range(12) for j in range(i)])
    with pytest.raises(ParameterError, match=r"TreeWalk.* has the value (inf|nan)"):
        TreeWalk(100, decay=100.0).block([complete])


def test_memory_is_asked_for() -> None:
    wide = Graph(300, [(0, i) for i in range(1, 300)])
    with pytest.raises(MemoryLimitError, match="arity"):
        TreeWalk(2, arity=8).block([wide])
    assert TreeWalk(2, arity=2).block([wide])[0, 0] > 0
