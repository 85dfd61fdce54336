"""Sums over paths: total weights and epsilon removal with cycles; errors where a sum diverges."""

import math
from fractions import Fraction

import numpy as np
import pytest

from mercer.automata import EPSILON, Transducer
from mercer.errors import DivergenceError, ParameterError

from .oracle import Exact, total_by_equations

pytestmark = pytest.mark.native


def cyclic_machine(rng, n, scale):
    """Arcs anywhere; the absolute weights that leave a state add up to less than `scale`."""
    arcs = []
    for q in range(n):
        count = int(rng.integers(1, 4))
        for _ in range(count):
            w = Fraction(int(rng.integers(-8, 9)), 8) * scale / count * Fraction(15, 16)
            labels = [("a", "b", EPSILON)[rng.integers(3)] for _ in range(2)]
            arcs.append((q, int(rng.integers(n)), *labels, w))
    return Exact(n, arcs, {0: Fraction(1), n // 2: Fraction(2)}, {n - 1: Fraction(1), 0: Fraction(1, 2)})


def test_total_weight_of_machines_with_cycles():
    rng = np.random.default_rng(0)
    for _ in range(300):
        m = cyclic_machine(rng, int(rng.integers(1, 7)), Fraction(1))
        expected = float(total_by_equations(m))
        assert m.build().total_weight() == pytest.approx(expected, rel=1e-12, abs=1e-13)
        assert not any(w == 0 for *_, w in m.build().trim().arcs)


def test_total_weight_in_logarithms():
    rng = np.random.default_rng(1)
    for _ in range(100):
        m = cyclic_machine(rng, 5, Fraction(1))
        m.arcs = [(*arc[:4], abs(arc[4])) for arc in m.arcs]
        T = m.build().in_semiring("log")
        assert T.total_weight() == pytest.approx(-math.log(total_by_equations(m)), rel=1e-12, abs=1e-12)
    # Weights that no real number of the machine could hold: e^-2000 times e^1990, round and round.
    loop = Transducer(
        [(0, 1, "a", "a", 2000.0), (1, 0, "b", "b", -1990.0)], {0: 3000.0}, {1: 0.0}, semiring="log"
    )
    assert loop.total_weight() == pytest.approx(5000.0 + math.log1p(-math.exp(-10.0)), rel=1e-15)


def test_shortest_distance():
    rng = np.random.default_rng(2)
    for _ in range(100):
        n = int(rng.integers(1, 6))
        arcs = [
            (*map(int, rng.integers(n, size=2)), "a", "a", float(rng.integers(0, 9))) for _ in range(2 * n)
        ]
        distance = np.full((n, n), np.inf)
        np.fill_diagonal(distance, 0.0)
        for s, t, _, _, w in arcs:
            distance[s, t] = min(distance[s, t], w)
        for k in range(n):
            distance = np.minimum(distance, distance[:, [k]] + distance[[k]])
        T = Transducer(arcs, {0: 1.0}, {n - 1: 2.0}, semiring="tropical", n_states=n)
        assert T.total_weight() == distance[0, n - 1] + 3.0
        reached = bool(np.isfinite(distance[0, n - 1]))
        assert T.in_semiring("boolean").total_weight() is reached


def test_a_free_round_is_no_negative_one():
    arcs = [
        (0, 1, "a", "a", 0.1),
        (1, 2, "a", "a", 0.2),
        (2, 0, "a", "a", -0.3),
    ]  # the floats add up to 6e-17
    turned = [(t, s, a, b, -w) for s, t, a, b, w in arcs]
    for rows in (arcs, turned):
        T = Transducer(rows, {0: 0.0}, {0: 0.0}, semiring="tropical")
        assert T.total_weight() == pytest.approx(0.0, abs=1e-15)
    arcs[2] = (2, 0, "a", "a", -0.30001)
    with pytest.raises(DivergenceError, match="negative"):
        Transducer(arcs, {0: 0.0}, {0: 0.0}, semiring="tropical").total_weight()


def test_convergence_is_that_of_the_spectral_radius():
    rng = np.random.default_rng(3)
    outcomes = []
    for _ in range(300):
        n = int(rng.integers(1, 6))
        A = np.where(rng.random((n, n)) < 0.5, rng.normal(size=(n, n)), 0.0) * 1.2 / np.sqrt(n)
        arcs = [(i, j, "a", "a", A[i, j]) for i in range(n) for j in range(n) if A[i, j] != 0]
        T = Transducer(arcs, {0: 1.0}, {n - 1: 1.0}, n_states=n)
        used = reached(A, 0) & reached(A.T, n - 1)
        radius = max(np.abs(np.linalg.eigvals(np.abs(A[np.ix_(used, used)]))), default=0.0)
        assert abs(radius - 1) > 1e-6
        outcomes.append(radius < 1)
        if radius < 1:
            expected = np.linalg.inv(np.eye(n)[np.ix_(used, used)] - A[np.ix_(used, used)])
            value = expected[0, -1] if used[0] and used[-1] else 0.0
            assert T.total_weight() == pytest.approx(value, rel=1e-9, abs=1e-12)
        else:
            with pytest.raises(DivergenceError, match="diverges"):
                T.total_weight()
    assert 50 < sum(outcomes) < 250


def reached(A, start):
    found = np.zeros(len(A), dtype=bool)
    found[start] = True
    for _ in A:
        found |= (np.abs(A[found]) > 0).any(axis=0)
    return found


@pytest.mark.parametrize(
    "weights",
    [[1.0], [2.0], [-1.0], [0.5, 0.5], [0.1] * 10, [2.0, -2.0], [0.25, -0.75]],
    ids=["one", "two", "minus one", "halves", "tenths", "cancelling", "signs"],
)
def test_divergence_is_seen_where_a_solve_would_give_a_number(weights):
    # 1 / (1 - a) is finite for a = 2 and -1; the floats of ten tenths add up to less than one.
    T = Transducer([(5, 5, "a", "a", w) for w in weights], {5: 1.0}, {5: 1.0})
    with pytest.raises(DivergenceError, match=r"states\s+5\."):
        T.total_weight()


def test_cycles_on_no_accepting_path_do_not_matter():
    arcs = [(0, 1, "a", "a", 3.0), (2, 2, "a", "a", 9.0), (2, 1, "a", "a", 1.0), (0, 3, "a", "a", 1.0)]
    T = Transducer([*arcs, (3, 3, "a", "a", 9.0), (0, 0, "a", "a", 0.0)], {0: 1.0}, {1: 2.0})
    assert T.total_weight() == 6.0
    assert T.is_acyclic
    assert not Transducer([(0, 0, "a", "a", 0.5)], {0: 1.0}, {0: 1.0}).is_acyclic


def test_long_chains_and_large_components():
    n = 200_000  # deeper than any stack
    T = Transducer([(i, i + 1, "a", "a", 1.0) for i in range(n)], {0: 1.0}, {n: 2.0})
    assert T.total_weight() == 2.0
    assert T.is_acyclic
    ring = [(i, (i + 1) % 300, "a", "a", 1.0) for i in range(300)]
    ring[7] = (7, 8, "a", "a", 0.5)
    assert Transducer(ring, {0: 1.0}, {0: 1.0}).total_weight() == pytest.approx(2.0, rel=1e-12)
    n = 9000
    with pytest.raises(ParameterError, match="9000 states"):
        Transducer([(i, (i + 1) % n, "a", "a", 0.5) for i in range(n)], {0: 1.0}, {0: 1.0}).total_weight()


def test_epsilon_cycles_are_summed():
    rng = np.random.default_rng(4)
    for _ in range(150):
        m = cyclic_machine(rng, 4, Fraction(1))
        T = m.build()
        free = T.remove_epsilons()
        assert all(a.input is not EPSILON or a.output is not EPSILON for a in free.arcs)
        for x, y in [("", ""), ("a", "b"), ("ab", "b")]:
            assert T(x, y) == pytest.approx(float(exact_value(m, x, y)), rel=1e-11, abs=1e-13)


def exact_value(m, x, y):
    """Total weight of the machine of (position in x, position in y, state), by exact equations."""
    wide = len(y) + 1
    number = {
        (i, j, q): (i * wide + j) * m.n + q
        for i in range(len(x) + 1)
        for j in range(wide)
        for q in range(m.n)
    }
    arcs = []
    for i, j, _ in [key for key in number if key[2] == 0]:
        for s, t, a, b, w in m.arcs:
            u, v = (0 if label is EPSILON else 1 for label in (a, b))
            if (not u or x[i : i + 1] == a) and (not v or y[j : j + 1] == b):
                arcs.append((number[i, j, s], number[i + u, j + v, t], a, b, w))
    initial = {number[0, 0, q]: w for q, w in m.initial.items()}
    final = {number[len(x), len(y), q]: w for q, w in m.final.items()}
    return total_by_equations(Exact(len(number), arcs, initial, final))


def test_divergent_epsilon_cycles_name_their_states():
    arcs = [
        (0, 1, "a", "a", 1.0),
        (1, 2, EPSILON, EPSILON, 2.0),
        (2, 1, EPSILON, EPSILON, 0.5),
        (2, 3, "b", "b", 1.0),
    ]
    T = Transducer(arcs, {0: 1.0}, {3: 1.0})
    for broken in (T.remove_epsilons, lambda: T("ab", "ab")):
        with pytest.raises(DivergenceError, match="states 1, 2"):
            broken()
    with pytest.raises(DivergenceError):
        Transducer([], {0: 1.0}, {0: 1.0}).star().total_weight()
