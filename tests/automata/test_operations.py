"""Operations on thousands of random machines against path enumeration in exact arithmetic."""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from mercer.automata import ANY, EPSILON, AnyExcept, Transducer, compose, n_way, union, weight_between
from mercer.errors import DivergenceError

from .oracle import (
    RINGS,
    SIGMA,
    exact_of,
    joined,
    random_machine,
    relation,
    spelled_out,
    strings,
    weight,
)

pytestmark = pytest.mark.native

EXACT = ("real", "tropical", "boolean")


@pytest.mark.parametrize("ring", EXACT)
def test_composition_weighs_pairs_of_paths_once(ring):
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(400):
        a, b = random_machine(rng, ring=ring), random_machine(rng, ring=ring)
        expected = joined(relation(a), relation(b), ring)
        A, B = a.build(), b.build()
        for connect in (True, False):
            assert relation(exact_of(compose(A, B, connect=connect))) == expected
        found += len(expected)
    assert found > 500


def test_composition_in_logarithms():
    rng = np.random.default_rng(1)
    for _ in range(200):
        a, b = (positive(random_machine(rng)) for _ in range(2))
        both = a.build().in_semiring("log") @ b.build().in_semiring("log")
        expected = joined(relation(a), relation(b))
        for pair in expected:
            assert both(*pair) == pytest.approx(-math.log(expected[pair]), rel=1e-12, abs=1e-12)
        assert both("aaaaaaa", "") == math.inf


def positive(machine):
    machine.arcs = [(*arc[:4], abs(arc[4])) for arc in machine.arcs]
    machine.initial = {q: abs(w) for q, w in machine.initial.items()}
    machine.final = {q: abs(w) for q, w in machine.final.items()}
    return machine


@pytest.mark.parametrize("ring", EXACT)
def test_composition_of_three_at_once(ring):
    rng = np.random.default_rng(2)
    for _ in range(150):
        a, b, c = (random_machine(rng, n=3, arcs=5, ring=ring) for _ in range(3))
        expected = joined(joined(relation(a), relation(b), ring), relation(c), ring)
        at_once = n_way(a.build(), b.build(), c.build())
        assert relation(exact_of(at_once)) == expected
        assert relation(exact_of(a.build() @ (b.build() @ c.build()))) == expected


def test_composition_of_four_and_of_one():
    rng = np.random.default_rng(3)
    for _ in range(100):
        machines = [random_machine(rng, n=3, arcs=5) for _ in range(4)]
        expected = relation(machines[0])
        for m in machines[1:]:
            expected = joined(expected, relation(m))
        built = [m.build() for m in machines]
        assert relation(exact_of(n_way(*built))) == expected
        assert relation(exact_of(n_way(built[0]))) == relation(machines[0])


@pytest.mark.parametrize("ring", EXACT)
def test_composition_of_machines_with_cycles(ring):
    rng = np.random.default_rng(4)
    for _ in range(60):
        # The first machine writes no more than it reads and a bit, so that the sum over z is finite.
        a = random_machine(rng, n=3, arcs=5, ring=ring, acyclic=False)
        a.arcs = [arc for arc in a.arcs if arc[2] is not EPSILON or arc[0] < arc[1]]
        b = random_machine(rng, n=3, arcs=5, ring=ring, acyclic=False)
        plus, times, zero, _ = RINGS[ring]
        both = a.build() @ b.build()
        for x, y in [("", ""), ("a", "b"), ("ab", "a"), ("ba", "bb")]:
            total = zero
            for z in strings(len(x) + 2):
                total = plus(total, times(weight(a, x, z), weight(b, z, y)))
            assert both(x, y) == total


@pytest.mark.parametrize("ring", EXACT)
def test_weights_of_pairs_of_strings(ring):
    rng = np.random.default_rng(5)
    pairs = [(x, y) for x in strings(2) for y in strings(2)]
    for _ in range(40):
        m = random_machine(rng, ring=ring, acyclic=False, classes=True)
        T = m.build()
        for x, y in pairs:
            assert T(x, y) == weight(m, x, y)


def test_figure_six_four():
    # F, figure 6.4: two paths read aab and write baa.
    arcs = [
        (0, 1, "a", "b", 3.0),
        (1, 2, "a", "a", 1.0),
        (2, 3, "b", "a", 4.0),
        (1, 2, "a", "a", 2.0),
        (2, 3, "b", "a", 3.0),
    ]
    chain = Transducer(arcs, {0: 1.0}, {3: 2.0})
    assert chain("aab", "baa") == 3 * (1 + 2) * (4 + 3) * 2
    figure = Transducer(
        [
            (0, 1, "a", "b", 3.0),
            (1, 2, "a", "a", 1.0),
            (2, 4, "b", "a", 4.0),
            (1, 3, "a", "a", 2.0),
            (3, 4, "b", "a", 3.0),
        ],
        {0: 1.0},
        {4: 2.0},
    )
    assert figure("aab", "baa") == 3 * 1 * 4 * 2 + 3 * 2 * 3 * 2 == 60
    assert figure.total_weight() == 60


def test_filter_of_figure_six_six():
    # F, figure 6.6: abcd -> a__d composed with ad -> dea-like epsilons; one path must survive, not several.
    first = Transducer(
        [(0, 1, "a", "a", 1.0), (1, 2, "b", EPSILON, 1.0), (2, 3, "c", EPSILON, 1.0), (3, 4, "d", "d", 1.0)],
        {0: 1.0},
        {4: 1.0},
    )
    second = Transducer(
        [(0, 1, "a", "d", 1.0), (1, 2, EPSILON, "e", 1.0), (2, 3, "d", "a", 1.0)], {0: 1.0}, {3: 1.0}
    )
    assert (first @ second)("abcd", "dea") == 1.0
    assert (first @ second).total_weight() == 1.0


@pytest.mark.parametrize("ring", EXACT)
def test_rational_operations(ring):
    plus, times, zero, _ = RINGS[ring]
    rng = np.random.default_rng(6)
    for _ in range(150):
        a, b = (random_machine(rng, n=3, arcs=4, ring=ring) for _ in range(2))
        A, B, r, s = a.build(), b.build(), relation(a), relation(b)
        either, after = defaultdict(lambda: zero), defaultdict(lambda: zero)
        for pair in (*r, *s):
            either[pair] = plus(r.get(pair, zero), s.get(pair, zero))
        for (x, y), v in r.items():
            for (u, z), w in s.items():
                after[x + u, y + z] = plus(after[x + u, y + z], times(v, w))
        assert relation(exact_of(A | B)) == {p: w for p, w in either.items() if w != zero}
        assert relation(exact_of(union(B, A))) == relation(exact_of(A | B))
        assert relation(exact_of(A + B)) == {p: w for p, w in after.items() if w != zero}
        assert relation(exact_of(A.inverse())) == {(y, x): w for (x, y), w in r.items()}
        assert relation(exact_of(A.reverse())) == {(x[::-1], y[::-1]): w for (x, y), w in r.items()}
        assert relation(exact_of(A.trim())) == r
        assert relation(exact_of(A.remove_epsilons())) == r
        assert not any(p.input is EPSILON and p.output is EPSILON for p in A.remove_epsilons().arcs)
        for side, tape in enumerate(("input", "output")):
            shown = defaultdict(lambda: zero)
            for pair, w in r.items():
                shown[pair[side], pair[side]] = plus(shown[pair[side], pair[side]], w)
            assert relation(exact_of(A.project(tape))) == {p: w for p, w in shown.items() if w != zero}


@pytest.mark.parametrize("ring", EXACT)
def test_star_and_plus(ring):
    plus, times, zero, one = RINGS[ring]
    rng = np.random.default_rng(7)
    for _ in range(60):
        m = random_machine(rng, n=3, arcs=4, ring=ring)
        r = relation(m)
        if r.pop(("", ""), None) is not None:
            continue

        def often(x, y, r=r):
            total = one if (x, y) == ("", "") else zero
            for (u, v), w in r.items():
                if x.startswith(u) and y.startswith(v):
                    total = plus(total, times(w, often(x[len(u) :], y[len(v) :])))
            return total

        star, once = m.build().star(), m.build().plus()
        for x, y in [("", ""), ("a", "b"), ("ab", "a"), ("aab", "ba"), ("bb", "bb")]:
            assert star(x, y) == often(x, y)
            assert once(x, y) == (zero if (x, y) == ("", "") else often(x, y))


def test_trim_leaves_only_what_is_used():
    rng = np.random.default_rng(8)
    for _ in range(200):
        T = random_machine(rng, n=5, arcs=6, acyclic=False).build().trim()
        ends = {q: {q} for q in range(T.n_states)}
        for _ in range(T.n_states):
            for arc in T.arcs:
                ends[arc.source] |= ends[arc.target]
        for q in range(T.n_states):
            assert ends[q] & set(T.final)
            assert any(q in ends[p] for p in T.initial)
    unused = [(0, 1, "a", "a", 1.0), (0, 2, "a", "a", 1.0), (3, 1, "a", "a", 1.0), (0, 1, "b", "b", 0.0)]
    assert Transducer(unused, {0: 1.0}, {1: 1.0}).trim() == Transducer(unused[:1], {0: 1.0}, {1: 1.0})


# -- classes of symbols -----------------------------------------------------------------------------
SYMBOLS = "abc"  # no machine names c


@pytest.mark.parametrize("ring", EXACT)
def test_classes_are_what_they_stand_for(ring):
    rng = np.random.default_rng(9)
    compared = 0
    for _ in range(250):
        a, b = (random_machine(rng, n=3, arcs=4, ring=ring, classes=True) for _ in range(2))
        try:
            both = a.build() @ b.build()
        except DivergenceError:
            # Only where one side writes any symbol, the other reads any symbol, and neither tells which.
            assert ring == "real"
            assert any(isinstance(arc[3], AnyExcept) and not isinstance(arc[2], AnyExcept) for arc in a.arcs)
            assert any(isinstance(arc[2], AnyExcept) and not isinstance(arc[3], AnyExcept) for arc in b.arcs)
            continue
        expected = joined(relation(spelled_out(a, SYMBOLS)), relation(spelled_out(b, SYMBOLS)), ring)
        assert relation(exact_of(both.over(SYMBOLS))) == expected
        compared += 1
    assert compared > 150


def test_n_way_composition_with_classes():
    rng = np.random.default_rng(10)
    compared = 0
    for _ in range(200):
        machines = [random_machine(rng, n=3, arcs=3, classes=True) for _ in range(3)]
        try:
            both = n_way(*(m.build() for m in machines))
        except DivergenceError:
            continue
        a, b, c = (relation(spelled_out(m, SYMBOLS)) for m in machines)
        assert relation(exact_of(both.over(SYMBOLS))) == joined(joined(a, b), c)
        compared += 1
    assert compared > 100


def test_independent_classes_stay_independent():
    reads = Transducer([(0, 1, ANY, "x", 2.0)], {0: 1.0}, {1: 1.0})
    writes = Transducer([(0, 1, "x", ANY, 3.0)], {0: 1.0}, {1: 1.0})
    both = reads @ writes
    assert both("p", "q") == both("p", "p") == 6.0
    copies = Transducer([(0, 1, ANY, ANY, 2.0)], {0: 1.0}, {1: 1.0})
    assert copies("p", "q") == 0.0
    assert (copies @ copies)("p", "p") == 4.0
    narrow = Transducer([(0, 1, AnyExcept("p"), AnyExcept("p"), 1.0)], {0: 1.0}, {1: 1.0})
    other = Transducer([(0, 1, AnyExcept("q"), AnyExcept("q"), 1.0)], {0: 1.0}, {1: 1.0})
    assert [(narrow @ other)(c, c) for c in "pqr"] == [0.0, 0.0, 1.0]


def test_sums_over_every_symbol_are_refused():
    writes = Transducer([(0, 1, "x", ANY, 1.0)], {0: 1.0}, {1: 1.0})
    for divergent in (
        lambda: writes @ writes.inverse(),
        writes.total_weight,
        lambda: writes.project("input"),
    ):
        with pytest.raises(DivergenceError, match="over"):
            divergent()
    assert (writes @ writes.inverse().in_semiring("real").over("ab")).total_weight() == 2.0
    assert writes.in_semiring("tropical").project("input")("x") == 0.0
    assert writes.over("abc").total_weight() == 3.0


# -- strings and automata at the ends ---------------------------------------------------------------
def test_weight_between():
    rng = np.random.default_rng(11)
    for _ in range(50):
        a, b = (random_machine(rng, n=3, arcs=5) for _ in range(2))
        A, B = a.build(), b.build()
        r = joined(relation(a), relation(b))
        for x, y in [("", "a"), ("a", "b"), ("ab", "")]:
            assert weight_between(x, A, B, y) == r.get((x, y), 0)
        whole = Transducer([(0, 0, s, s, 1.0) for s in SIGMA], {0: 1.0}, {0: 1.0})
        assert weight_between(whole, A, B, "a") == sum(w for (_, y), w in r.items() if y == "a")
        assert weight_between("a", A, B, whole) == sum(w for (x, _), w in r.items() if x == "a")


def test_automata_weigh_single_strings():
    A = Transducer([(0, 1, "a", "a", 2.0), (1, 0, ANY, ANY, 3.0)], {0: 1.0}, {0: 0.5, 1: 1.0})
    assert [A(x) for x in ("", "a", "ab", "aba", "b")] == [0.5, 2.0, 3.0, 12.0, 0.0]
    assert A("ab") == A("ab", "ab")
    assert A("ax" * 1000) == pytest.approx(math.inf)
    assert A.in_semiring("log")("ax" * 50_000) == pytest.approx(-50_000 * math.log(6) - math.log(0.5))
    assert isinstance(A(""), float)


def test_fractions_are_weights():
    A = Transducer([(0, 0, "a", "a", Fraction(1, 2))], {0: 1}, {0: 1})
    assert A("aa") == 0.25
