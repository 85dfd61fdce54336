"""Semirings of a user's own: their contract, and every operation against the enumeration of paths."""

import copy
import math
import operator
import pickle
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from mercer.automata import (
    ANY,
    BOOLEAN,
    EPSILON,
    REAL,
    Builder,
    Semiring,
    Transducer,
    counting,
    determinize,
    from_att,
    from_regex,
    intersect_weights,
    n_way,
    output_automata,
    pack,
    paths,
    string,
    to_att,
    to_svg,
    weight_between,
    weights_between,
)
from mercer.errors import DivergenceError, InputError, ParameterError
from mercer.kernels import Rational

from .oracle import Exact, joined, random_machine, relation, spelled_out, strings, weight

pytestmark = pytest.mark.native

VITERBI = Semiring("viterbi", max, operator.mul, 0, 1, samples=[Fraction(1, 2), Fraction(3)])


def series_star(a):
    if not abs(a) < 1:
        raise ZeroDivisionError("no sum")
    return 1 / (1 - a)


EXACT = Semiring(
    "exact",
    operator.add,
    operator.mul,
    Fraction(0),
    Fraction(1),
    star=series_star,
    samples=[Fraction(1, 3), Fraction(-2), Fraction(5)],
)


def add_polynomials(p, q):
    n = max(len(p), len(q))
    return trimmed([(p[i] if i < len(p) else 0) + (q[i] if i < len(q) else 0) for i in range(n)])


def multiply_polynomials(p, q):
    found = [0] * (len(p) + len(q))
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            found[i + j] += a * b
    return trimmed(found)


def trimmed(p):
    p = list(p)
    while p and p[-1] == 0:
        p.pop()
    return tuple(p)


#: Tuples of coefficients: the coefficient of t^i counts the paths of weight i.
POLYNOMIALS = Semiring(
    "polynomials", add_polynomials, multiply_polynomials, (), (1,), samples=[(0, 1), (1, 2), (3, 0, 1)]
)


def concatenated(A, B):
    return frozenset(a + b for a in A for b in B if len(a + b) <= 6)


#: Languages of words of at most six letters: 6-closed for words that are not empty, and not commutative.
LANGUAGES = Semiring(
    "languages",
    operator.or_,
    concatenated,
    frozenset(),
    frozenset([""]),
    commutative=False,
    samples=[frozenset("a"), frozenset(["b", "ab"])],
)


def weights_of(ring):
    if ring is VITERBI or ring is EXACT:
        return [Fraction(n, d) for n in (1, 2, 3) for d in (2, 3)]
    if ring is POLYNOMIALS:
        return [(0, 1), (1,), (2, 0, 1), (0, 0, -1)]
    return [frozenset("a"), frozenset(["b", "ab"]), frozenset([""])]


def random_exact(rng, ring, **options):
    """A random machine of the oracle with weights of a semiring."""
    m = random_machine(rng, ring="tropical", **options)
    choices = weights_of(ring)

    def pick():
        return choices[rng.integers(len(choices))]

    arcs = [(*arc[:4], pick()) for arc in m.arcs]
    return Exact(m.n, arcs, {q: pick() for q in m.initial}, {q: pick() for q in m.final}, ring)


@pytest.fixture(autouse=True)
def rings_of_the_oracle(monkeypatch):
    from . import oracle

    own = {r: (r.plus, r.times, r.zero, r.one) for r in (VITERBI, EXACT, POLYNOMIALS, LANGUAGES)}
    monkeypatch.setattr(oracle, "RINGS", {**oracle.RINGS, **own})


RINGS = [VITERBI, EXACT, POLYNOMIALS]
ALL = [*RINGS, LANGUAGES]


def test_the_largest_product_is_not_the_real_sum():
    ring = Semiring("max-times", max, operator.mul, 0.0, 1.0)
    T = Transducer(
        [(0, 1, "a", "a", 2.0), (0, 1, "a", "a", 3.0), (1, 2, "b", "b", 2.0), (0, 2, "a", "a", 1.0)],
        {0: 1.0},
        {1: 0.5, 2: 1.0},
        semiring=ring,
    )
    assert T("ab") == 6.0
    assert T.total_weight() == 6.0
    assert T("ba") == ring.zero
    plus = T.in_semiring("real", by=float)
    assert plus("ab") == 10.0


# -- values against enumeration -------------------------------------------------------------------
@pytest.mark.parametrize("ring", ALL, ids=lambda r: r.name)
def test_pairs_of_strings_and_total_weight(ring):
    rng = np.random.default_rng(0)
    for _ in range(40):
        m = random_exact(rng, ring)
        T, known = m.build(), relation(m)
        for x in strings(2):
            for y in strings(2):
                assert T(x, y) == known.get((x, y), ring.zero)
        total = ring.zero
        for p in paths(T, T.n_states):
            total = ring.plus(total, p.weight)
        assert T.total_weight() == total
        assert T.is_acyclic
        assert relation(machine_of(T.remove_epsilons())) == known
        assert relation(machine_of(T.trim())) == known


def machine_of(T):
    return Exact(T.n_states, [tuple(a) for a in T.arcs], dict(T.initial), dict(T.final), T.semiring)


@pytest.mark.parametrize("ring", RINGS, ids=lambda r: r.name)
def test_composition(ring):
    rng = np.random.default_rng(1)
    some = 0
    for _ in range(40):
        a, b, c = (random_exact(rng, ring, arcs=9) for _ in range(3))
        expected = joined(joined(relation(a), relation(b), ring), relation(c), ring)
        A, B, C = a.build(), b.build(), c.build()
        assert relation(machine_of(n_way(A, B, C))) == expected
        assert relation(machine_of(A @ B @ C)) == expected
        some += len(expected)
    assert some > 100


def test_composition_of_more_products_than_there_are_numbers(monkeypatch):
    from mercer.automata import generic

    rng = np.random.default_rng(2)
    for _ in range(10):
        a, b, c = (random_exact(rng, POLYNOMIALS, arcs=5) for _ in range(3))
        expected = joined(joined(relation(a), relation(b), POLYNOMIALS), relation(c), POLYNOMIALS)
        with monkeypatch.context() as patch:
            patch.setattr(generic, "MOST_NUMBERS", 100)
            assert relation(machine_of(n_way(a.build(), b.build(), c.build()))) == expected


@pytest.mark.parametrize("ring", ALL, ids=lambda r: r.name)
def test_classes_copy_what_they_read(ring):
    rng = np.random.default_rng(3)
    for _ in range(30):
        m = random_exact(rng, ring, classes=True, acyclic=False, silent=False)
        T = m.build()
        for x in strings(2, "abc"):
            for y in strings(1, "abc"):
                assert T(x, y) == weight(m, x, y)
        assert T.over("abc")("ab", "a") == weight(spelled_out(m, "abc"), "ab", "a")


@pytest.mark.parametrize("ring", ALL, ids=lambda r: r.name)
def test_rational_operations(ring):
    rng = np.random.default_rng(4)
    for _ in range(20):
        a, b = (random_exact(rng, ring, arcs=5) for _ in range(2))
        A, B = a.build(), b.build()
        of_a, of_b = relation(a), relation(b)
        either, after = defaultdict(lambda: ring.zero), defaultdict(lambda: ring.zero)
        for known in (of_a, of_b):
            for pair, w in known.items():
                either[pair] = ring.plus(either[pair], w)
        for (x, y), v in of_a.items():
            for (u, z), w in of_b.items():
                after[x + u, y + z] = ring.plus(after[x + u, y + z], ring.times(v, w))
        for x in strings(2):
            for y in strings(1):
                assert (A | B)(x, y) == either[x, y]
                assert (A + B)(x, y) == after[x, y]
                assert A.inverse()(x, y) == of_a.get((y, x), ring.zero)


def test_star_plus_and_projection():
    A = string("a", weight=Fraction(1, 2), semiring=EXACT) | string(
        "b", weight=Fraction(1, 4), semiring=EXACT
    )
    assert A.star()("ab") == Fraction(1, 8)
    assert A.star().total_weight() == 4
    assert A.plus().total_weight() == 3
    assert A.star()("") == 1
    T = Transducer(
        [(0, 1, "a", "b", (0, 1)), (0, 1, "a", "c", (2,))], {0: (1,)}, {1: (1,)}, semiring=POLYNOMIALS
    )
    assert T.project("input")("a") == (2, 1)
    assert T.reverse()("a", "c") == (2,)


@pytest.mark.parametrize("ring", RINGS, ids=lambda r: r.name)
def test_many_strings_and_intersections(ring):
    rng = np.random.default_rng(5)
    X, Y = ["", "a", "ab", "ba"], ["b", "aa", "ca"]
    for _ in range(10):
        m = random_exact(rng, ring, arcs=6)
        T, known = m.build(), relation(m)
        W = weights_between(X, T, Y)
        assert W.tolist() == [[known.get((x, y), ring.zero) for y in Y] for x in X]
        assert weights_between(X, T, X, elementwise=True).tolist() == [
            known.get((x, x), ring.zero) for x in X
        ]
        outputs = output_automata(T, X)
        for x, automaton in zip(X, outputs, strict=True):
            assert automaton("ab") == known.get((x, "ab"), ring.zero)
        expected = [[inner(known, x, y, ring) for y in X] for x in X]
        assert intersect_weights(outputs).tolist() == expected
        assert intersect_weights(outputs, outputs, elementwise=True).tolist() == [
            expected[i][i] for i in range(len(X))
        ]
        assert intersect_weights(outputs.take(slice(1, 3)), outputs).tolist() == expected[1:3]
        assert weight_between(string("ab", semiring=ring), T, "ab") == known.get(("ab", "ab"), ring.zero)
    packed = pack([string("ab", semiring=ring), string("b", semiring=ring) | string("b", semiring=ring)])
    both = ring.plus(ring.one, ring.one)
    assert intersect_weights(packed).tolist() == [[ring.one, ring.zero], [ring.zero, ring.times(both, both)]]
    assert packed.n_arcs >= 3
    assert packed.acyclic.all()


def inner(known, x, y, ring):
    total = ring.zero
    for (u, z), v in known.items():
        if u == x:
            total = ring.plus(total, ring.times(v, known.get((y, z), ring.zero)))
    return total


# -- what makes machines ----------------------------------------------------------------------------
def test_patterns_and_counting():
    A = from_regex("(ab<0.5>|c<2>)+", semiring=VITERBI)
    assert A("abc") == 1.0
    assert A("cc") == 4.0
    assert from_regex("a|b*", semiring=POLYNOMIALS)("bb") == (1,)
    bigrams = counting(from_regex(".{2}", semiring=EXACT))
    assert bigrams("banana", "an") == 2
    gappy = counting(from_regex(".{2}", semiring=POLYNOMIALS), gap=(0, 1))
    assert gappy("banana", "aa") == (0, 2, 0, 1)  # twice over one letter, once over three
    twice = string("ab", semiring=POLYNOMIALS) | string("ab", semiring=POLYNOMIALS)
    assert twice("ab") == (2,)
    assert determinize(twice)("ab") == (1,)
    with pytest.raises(ParameterError, match="from_regex: a weight of <Semiring 'polynomials'>"):
        from_regex("a<0.5>", semiring=POLYNOMIALS)


def test_text_and_pictures():
    ring = Semiring("max-times", max, operator.mul, 0.0, 1.0)
    T = Transducer([(0, 1, "a", "b", 0.5)], {0: 1.0}, {1: 3.0}, semiring=ring)
    assert from_att(to_att(T), semiring=ring) == T
    P = Transducer([(0, 1, "a", "b", (1, 2))], {0: (1,)}, {1: (1,)}, semiring=POLYNOMIALS)
    assert "(1, 2)" in to_svg(P)
    with pytest.raises(ParameterError, match="number of the format"):
        to_att(P)


# -- a machine as a value -----------------------------------------------------------------------------
def test_equality_hash_pickle_and_repr():
    arcs = [(0, 1, "a", "a", (1, 2)), (0, 1, "a", "a", (3,)), (0, 1, "b", "a", (1,))]
    T = Transducer(arcs, {0: (1,)}, {1: (1,)}, semiring=POLYNOMIALS)
    same = Transducer(arcs[::-1], {0: (1,)}, {1: (1,)}, semiring=POLYNOMIALS)
    assert same == T
    assert hash(T) == hash(same)
    other = Transducer([arcs[0], arcs[0], arcs[2]], {0: (1,)}, {1: (1,)}, semiring=POLYNOMIALS)
    assert other != T
    assert Transducer(arcs, {0: (2,)}, {1: (1,)}, semiring=POLYNOMIALS) != T
    for back in (pickle.loads(pickle.dumps(T)), copy.deepcopy(T)):
        assert back == T
        assert back("a", "a") == (4, 2)
    assert "semiring=<Semiring 'polynomials'>" in repr(T)
    assert pickle.loads(pickle.dumps(REAL)) is REAL
    assert pickle.loads(pickle.dumps(EXACT)) == EXACT
    assert POLYNOMIALS != EXACT


def test_weights_in_other_semirings():
    T = Transducer([(0, 1, "a", "a", Fraction(1, 3)), (0, 1, "b", "b", 0)], {0: 1}, {1: 1}, semiring=EXACT)
    assert T.in_semiring("boolean")("a") is True
    assert T.in_semiring("boolean")("b") is False
    assert T.in_semiring("boolean").in_semiring(POLYNOMIALS)("a") == (1,)
    assert T.in_semiring("real", by=float)("a") == 1 / 3
    assert T.in_semiring("real", by=float).in_semiring(EXACT, by=Fraction)("a") == Fraction(1 / 3)
    for ring in ("real", "log", POLYNOMIALS):
        with pytest.raises(ParameterError, match="by=function"):
            T.in_semiring(ring)
    with pytest.raises(ParameterError, match="semirings of transducers must agree"):
        T | T.in_semiring("boolean")


# -- the contract ---------------------------------------------------------------------------------
def test_axioms_are_checked():
    with pytest.raises(ParameterError, match=r"'max-plus' must obey times\(zero, a\) = zero"):
        Semiring("max-plus", max, operator.add, 0.0, 0.0, samples=[1.0])
    with pytest.raises(ParameterError, match=r"plus\(zero, a\) = a"):
        Semiring("max-times", max, operator.mul, 0.0, 1.0, samples=[-1.0])
    with pytest.raises(ParameterError, match=r"plus\(plus\(a, b\), c\) = plus\(a, plus\(b, c\)\)"):
        Semiring("means", mean, operator.mul, 0.0, 1.0, samples=[2.0, 3.0, 5.0])
    with pytest.raises(ParameterError, match=r"times\(plus\(a, b\), c\) = plus\(times"):
        Semiring("largest modulo 7", max, lambda a, b: a * b % 7, 0, 1, samples=range(7))
    with pytest.raises(ParameterError, match=r"times\(a, b\) = times\(b, a\)"):
        Semiring("words", operator.or_, concatenated, frozenset(), frozenset([""]), samples=LANGUAGES.samples)
    with pytest.raises(ParameterError, match=r"star\(a\) = plus\(one, times"):
        Semiring("star", operator.add, operator.mul, 0.0, 1.0, star=lambda a: 1 + a, samples=[0.5])
    with pytest.raises(ParameterError, match="`times` must be a function"):
        Semiring("none", max, None, 0.0, 1.0)
    with pytest.raises(ParameterError, match="built-in"):
        Semiring("real", max, operator.mul, 0.0, 1.0)
    with pytest.raises(TypeError, match="no subclasses"):
        type("Own", (Semiring,), {})


def mean(a, b):
    return a or b if not (a and b) else (a + b) / 2


def test_axioms_allow_for_rounding():
    Semiring("sums", operator.add, operator.mul, 0.0, 1.0, samples=[0.1, -0.1, 1e10, -1e10, 1e-3, 0.7])
    expectation = Semiring(
        "expectations",
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
        lambda a, b: (a[0] * b[0], a[0] * b[1] + a[1] * b[0]),
        (0.0, 0.0),
        (1.0, 0.0),
        samples=[(0.1, 0.3), (0.7, -0.2), (1e-3, 5.0)],
    )
    T = Transducer(
        [(0, 1, "a", "a", (0.25, 0.25 * 3)), (0, 1, "a", "a", (0.75, 0.75 * 5))],
        {0: (1.0, 0.0)},
        {1: (1.0, 0.0)},
        semiring=expectation,
    )
    assert T.total_weight() == (1.0, 4.5)


def test_weights_of_a_machine_are_checked():
    with pytest.raises(
        ParameterError, match=r"Transducer: a weight of <Semiring 'viterbi'>.*plus\(zero, a\) = a"
    ):
        Transducer([(0, 1, "a", "a", -1.0)], {0: 1}, {1: 1}, semiring=VITERBI)
    b = Builder(POLYNOMIALS)
    states = b.states(2)
    with pytest.raises(ParameterError, match=r"Builder\.arc: a weight of <Semiring 'polynomials'>"):
        b.arc(*states, "a", weight=1.5)
    with pytest.raises(ParameterError, match="a = a"):
        Transducer([], {0: math.nan}, {0: 1}, semiring=VITERBI)
    # Nothing was said about these weights when the semiring was made.
    unchecked = Semiring("means", mean, operator.mul, 0.0, 1.0)
    with pytest.raises(ParameterError, match="'means' must obey"):
        Transducer([(0, 1, "a", "a", w) for w in (2.0, 3.0, 5.0)], {0: 1.0}, {1: 1.0}, semiring=unchecked)


def test_products_that_do_not_commute():
    A = Transducer(
        [(0, 1, "a", "a", frozenset("a"))], {0: LANGUAGES.one}, {1: LANGUAGES.one}, semiring=LANGUAGES
    )
    assert (A + A.star())("aa") == frozenset(["aa"])
    for broken in (lambda: A @ A, A.reverse, lambda: intersect_weights(pack([A]))):
        with pytest.raises(ParameterError, match="must be commutative"):
            broken()


def test_sums_without_end():
    loop = Transducer([(0, 0, "a", "a", (0, 1))], {0: (1,)}, {0: (1,)}, semiring=POLYNOMIALS)
    assert loop("aaa") == (0, 0, 0, 1)
    with pytest.raises(DivergenceError, match=r"total_weight: .*states 0\..*no `star`"):
        loop.total_weight()
    silent = Transducer([(0, 0, EPSILON, EPSILON, Fraction(1, 2))], {0: 1}, {0: 1}, semiring=EXACT)
    assert silent("") == 2
    with pytest.raises(DivergenceError, match=r"remove_epsilons: .*states 0"):
        Transducer([(0, 0, EPSILON, EPSILON, Fraction(1))], {0: 1}, {0: 1}, semiring=EXACT)("")
    anything = Transducer([(0, 1, ANY, ANY, 1)], {0: 1}, {1: 1}, semiring=EXACT)
    with pytest.raises(DivergenceError, match="every symbol"):
        anything.total_weight()
    assert anything.in_semiring(VITERBI, by=int).total_weight() == 1
    writes = Transducer([(0, 1, EPSILON, ANY, 1)], {0: 1}, {1: 1}, semiring=EXACT)
    with pytest.raises(DivergenceError, match="every symbol"):
        writes @ writes.inverse()
    with pytest.raises(DivergenceError, match="infinitely many strings"):
        output_automata(writes, ["a"])


def test_zero_divisors_leave_nothing_behind():
    modular = Semiring("modulo 6", lambda a, b: (a + b) % 6, lambda a, b: a * b % 6, 0, 1, samples=range(6))
    two, three = (string("ab", weight=w, semiring=modular) for w in (2, 3))
    assert (two @ three)("ab", "ab") == 0
    assert (two @ three).total_weight() == 0
    assert (two | two | two).total_weight() == 0
    three_arcs = [(0, 1, "a", "a", 2), (1, 2, "a", "a", 3)]
    assert Transducer(three_arcs, {0: 1}, {2: 1}, semiring=modular)("aa") == 0


def test_kernels_need_the_real_semiring():
    A = string("ab", semiring=EXACT)
    with pytest.raises(ParameterError, match=r"Rational: .*REAL. Got <Semiring 'exact'>"):
        Rational.pds(A)
    with pytest.raises(InputError, match="real weights"):
        Rational.pds(counting(from_regex(".{2}")))(A, "ab")
    assert Rational.pds(A.in_semiring("real", by=float))("ab", "ab") == 1.0
    assert BOOLEAN.native
    assert not EXACT.native
