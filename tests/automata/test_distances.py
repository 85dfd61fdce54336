"""Shortest distances in many semirings, against enumeration, exact equations and SciPy."""

import itertools
import math
import operator
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra, floyd_warshall

from mercer.automata import (
    ANY,
    Semiring,
    Transducer,
    shortest_distance,
    shortest_distances,
)
from mercer.errors import DivergenceError, ParameterError

from .oracle import solve
from .test_semirings import EXACT, LANGUAGES, POLYNOMIALS, weights_of

pytestmark = pytest.mark.native

VITERBI = Semiring("viterbi", max, operator.mul, 0.0, 1.0, samples=[0.5, 0.25])
BOTTLENECK = Semiring("bottleneck", max, min, 0.0, math.inf, samples=[1.0, 5.0])


def graph(arcs, n, semiring="tropical"):
    return Transducer([(s, t, "a", "a", w) for s, t, w in arcs], {}, {}, semiring=semiring, n_states=n)


def sums_by_enumeration(arcs, n, ring):
    """Entry (p, q): the sum over the paths from p to q of a graph without cycles, path by path."""
    table = [[ring.zero] * n for _ in range(n)]

    def walk(start, q, so_far):
        table[start][q] = ring.plus(table[start][q], so_far)
        for s, t, w in arcs:
            if s == q:
                walk(start, t, ring.times(so_far, w))

    for p in range(n):
        walk(p, p, ring.one)
    return table


@pytest.mark.parametrize("ring", [EXACT, POLYNOMIALS, LANGUAGES], ids=lambda r: r.name)
def test_graphs_without_cycles(ring):
    rng = np.random.default_rng(0)
    choices = weights_of(ring)
    for _ in range(30):
        n = int(rng.integers(1, 6))
        pairs = [p for p in itertools.combinations(rng.permutation(n).tolist(), 2) if rng.random() < 0.7]
        arcs = [(s, t, choices[rng.integers(len(choices))]) for s, t in pairs + pairs[:2]]
        T, expected = graph(arcs, n, ring), sums_by_enumeration(arcs, n, ring)
        assert shortest_distances(T).tolist() == expected
        for p in range(n):
            assert shortest_distance(T, source=p).tolist() == expected[p]


def random_costs(rng, n, low=0.0):
    """Costs w with no negative cycle: nonnegative ones, shifted by a potential."""
    W = np.where(rng.random((n, n)) < 0.4, rng.integers(1, 20, (n, n)), 0).astype(float)
    potential = rng.integers(0, 10, n) * low
    arcs = [(i, j, W[i, j] + potential[j] - potential[i]) for i in range(n) for j in range(n) if W[i, j]]
    return arcs, potential


def test_costs_against_scipy():
    rng = np.random.default_rng(1)
    for low in (0.0, 1.0):
        for _ in range(30):
            n = int(rng.integers(1, 12))
            arcs, potential = random_costs(rng, n, low)
            C = np.zeros((n, n))
            for s, t, w in arcs:
                C[s, t] = w - potential[t] + potential[s]  # scipy takes a cost of zero for no arc
            expected = floyd_warshall(csr_array(C)) + potential - potential[:, None]
            T = graph(arcs, n)
            np.testing.assert_array_equal(shortest_distances(T), expected)
            for p in range(n):
                np.testing.assert_array_equal(shortest_distance(T, source=p), expected[p])
            reached = shortest_distances(T.in_semiring("boolean"))
            assert reached.dtype == bool
            np.testing.assert_array_equal(reached, np.isfinite(expected))


def test_a_large_cyclic_graph_of_costs():
    # One component of 3,600 states, for which elimination would take minutes.
    side = 60
    rng = np.random.default_rng(2)
    number = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate([np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], 1),
                            np.stack([number[:-1].ravel(), number[1:].ravel()], 1)])  # fmt: skip
    both = np.concatenate([pairs, pairs[:, ::-1]])
    costs = rng.integers(1, 100, len(both)).astype(float)
    T = graph([(s, t, w) for (s, t), w in zip(both.tolist(), costs.tolist(), strict=True)], side * side)
    C = csr_array((costs, (both[:, 0], both[:, 1])), shape=(side * side,) * 2)
    np.testing.assert_array_equal(shortest_distance(T, source=5), dijkstra(C, indices=5))


def exact_sums(arcs, n):
    """(1 - A)^-1, exactly."""
    M = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    for s, t, w in arcs:
        M[s][t] -= Fraction(w)
    columns = [solve(M, [Fraction(int(i == j)) for i in range(n)]) for j in range(n)]
    return [[columns[j][i] for j in range(n)] for i in range(n)]


def random_contraction(rng, n, signs=True):
    arcs = []
    for q in range(n):
        for _ in range(int(rng.integers(1, 4))):
            w = Fraction(int(rng.integers(-4 if signs else 1, 5)), 16)
            arcs.append((q, int(rng.integers(n)), w))
    return arcs


def test_real_exact_and_logarithmic_sums_with_cycles():
    rng = np.random.default_rng(3)
    for _ in range(40):
        n = int(rng.integers(1, 7))
        arcs = random_contraction(rng, n)
        expected = exact_sums(arcs, n)
        T = graph(arcs, n, EXACT)
        assert shortest_distances(T).tolist() == expected
        assert [shortest_distance(T, source=p).tolist() for p in range(n)] == expected
        floats = np.array(expected, dtype=float)
        real = graph(arcs, n, "real")
        np.testing.assert_allclose(shortest_distances(real), floats, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(shortest_distance(real, source=n - 1), floats[-1], rtol=1e-13, atol=1e-14)
        positive = [(s, t, abs(w)) for s, t, w in arcs]
        log = graph(positive, n, "real").in_semiring("log")
        sums = np.array(exact_sums(positive, n), dtype=float)
        np.testing.assert_allclose(np.exp(-shortest_distances(log)), sums, rtol=1e-12, atol=0)
        np.testing.assert_allclose(np.exp(-shortest_distance(log, source=0)), sums[0], rtol=1e-12, atol=0)


def test_the_most_probable_path_is_the_cheapest_in_logarithms():
    rng = np.random.default_rng(4)
    for _ in range(30):
        n = int(rng.integers(1, 9))
        arcs = [(s, t, w / 20) for s, t, w in random_costs(rng, n)[0]]  # NumPy's floats among them
        T = graph(arcs, n, VITERBI)
        costs = graph([(s, t, -math.log(w)) for s, t, w in arcs], n)
        D = shortest_distances(T)
        assert D.dtype == object
        np.testing.assert_allclose(D.astype(float), np.exp(-shortest_distances(costs)), rtol=1e-12)
        assert shortest_distance(T, source=0).tolist() == pytest.approx(D[0].tolist(), rel=1e-12)


def test_the_widest_path():
    rng = np.random.default_rng(5)
    for _ in range(20):
        n = int(rng.integers(2, 7))
        arcs, _ = random_costs(rng, n)
        D = shortest_distances(graph(arcs, n, BOTTLENECK))
        for p, q in itertools.permutations(range(n), 2):
            # The widest width at which q can still be reached from p.
            widths = [w for w in {w for *_, w in arcs} if connected([a for a in arcs if a[2] >= w], p, q)]
            assert D[p, q] == max(widths, default=0.0)
            assert shortest_distance(graph(arcs, n, BOTTLENECK), source=p)[q] == D[p, q]


def connected(arcs, p, q):
    found = {p}
    for _ in arcs:
        found |= {t for s, t, _ in arcs if s in found}
    return q in found


def test_closed_only_after_several_rounds():
    # Words of at most six letters: a loop is worked off seven times.  The order of the product shows.
    arcs = [(0, 1, frozenset("a")), (1, 0, frozenset("b")), (1, 2, frozenset("c"))]
    T = graph(arcs, 3, LANGUAGES)
    expected = [
        [{"", "ab", "abab", "ababab"}, {"a", "aba", "ababa"}, {"ac", "abac", "ababac"}],
        [{"b", "bab", "babab"}, {"", "ba", "baba", "bababa"}, {"c", "bac", "babac"}],
        [set(), set(), {""}],
    ]
    assert shortest_distances(T).tolist() == expected
    assert [shortest_distance(T, source=p).tolist() for p in range(3)] == expected


def test_paths_begin_in_initial_states():
    arcs = [(0, 1, "a", "a", 2.0), (1, 2, "a", "a", 3.0), (3, 2, "a", "a", 1.0)]
    T = Transducer(arcs, {0: 10.0, 3: 5.0}, {2: 1.0})
    assert shortest_distance(T).tolist() == [10.0, 20.0, 65.0, 5.0]
    assert shortest_distance(T)[2] * T.final[2] == T.total_weight()
    assert shortest_distance(T, source=1).tolist() == [0.0, 1.0, 3.0, 0.0]
    assert shortest_distances(Transducer([], {}, {})).shape == (0, 0)


def test_sums_that_do_not_exist():
    cases = [
        ("tropical", [(0, 1, 1.0), (1, 0, -2.0)], "negative"),
        ("real", [(0, 0, 1.0)], "below one"),
        ("real", [(0, 1, 2.0), (1, 0, -2.0)], "below one"),  # 1 / (1 + 4) is no sum
        ("real", [(0, 0, 0.75), (0, 0, -0.5)], "below one"),
        ("log", [(0, 0, 0.0)], "positive"),
        (EXACT, [(0, 0, Fraction(1))], "no sum"),
        (POLYNOMIALS, [(0, 0, (0, 1))], "star"),
        (VITERBI, [(0, 0, 1.5)], "star"),
    ]
    for semiring, arcs, reason in cases:
        T = graph(arcs, 3, semiring)
        for search in (lambda T: shortest_distance(T, source=0), shortest_distances):
            with pytest.raises(DivergenceError, match=rf"shortest_distances?: .*states \d.*{reason}"):
                search(T)
        assert shortest_distance(T, source=2)[2] == T.semiring.one  # the cycle is out of reach


def test_a_free_round_is_no_negative_one():
    arcs = [(0, 1, 0.1), (1, 2, 0.2), (2, 0, -0.3)]  # the floats add up to 6e-17
    for rows in (arcs, [(t, s, -w) for s, t, w in arcs]):
        T = graph(rows, 3)
        np.testing.assert_allclose(shortest_distance(T, source=0)[0], 0.0, atol=1e-15)
        np.testing.assert_allclose(np.diag(shortest_distances(T)), 0.0, atol=1e-15)


def test_what_is_refused():
    T = Transducer([(0, 1, ANY, ANY, 1.0), (2, 2, "a", "a", 0.5)], {0: 1.0}, {1: 1.0})
    for search in (shortest_distance, shortest_distances):
        with pytest.raises(DivergenceError, match="every symbol"):
            search(T)
    assert shortest_distance(T, source=2).tolist() == [0.0, 0.0, 2.0]
    assert shortest_distance(T.in_semiring("tropical")).tolist()[1] == 0.0
    for source in (3, -1, "a", True):
        with pytest.raises(ParameterError, match="shortest_distance: `source`"):
            shortest_distance(T, source=source)
