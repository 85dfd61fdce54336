"""Rational kernels: worked values, all plans against each other and against sums over outputs."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest

import mercer
from mercer.automata import (
    ANY,
    EPSILON,
    AnyExcept,
    Builder,
    Transducer,
    counting,
    from_regex,
    pair_hmm,
    string,
)
from mercer.errors import DivergenceError, DomainError, InputError, ParameterError
from mercer.kernels import Rational, RegexCount
from mercer.kernels.strings import plans

PLANS = ("features", "automata", "composition")

BIGRAMS = counting(from_regex(".{2}"))
STRINGS = ["", "a", "aab", "abab", "bbba", "a\0b", "xyz", "\U0001d11ea\U0001d11ea"]


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setenv("MERCER_NUM_THREADS", "1")


def bigrams(x):
    return Counter(x[i : i + 2] for i in range(len(x) - 1))


def random_transducer(rng):
    """Signed whole weights; arcs that read nothing lead to higher states, so that outputs are finite."""
    n = rng.randrange(1, 4)
    arcs = []
    for _ in range(rng.randrange(1, 8)):
        read = rng.choice(["a", "b", ANY, AnyExcept("a"), EPSILON])
        written = rng.choice(["a", "b", EPSILON, *([read] if isinstance(read, AnyExcept) else [])])
        source, target = rng.randrange(n), rng.randrange(n)
        if read is EPSILON:
            source, target = min(source, target), max(source, target)
        if read is not EPSILON or source < target:
            arcs.append((source, target, read, written, rng.choice([1.0, 2.0, -1.0])))
    return Transducer(arcs, {0: 1.0, n - 1: 2.0}, {n - 1: 1.0, 0: 1.0}, n_states=n)


# -- worked values ------------------------------------------------------------------------------
def test_worked_values():
    k = Rational.pds(BIGRAMS)
    assert k("aab", "aab") == 2.0
    for gap in (0.25, 0.5, 1.0):
        gappy = Rational.pds(counting(from_regex(".{2}"), gap=gap))
        assert gappy("aab", "aab") == 1 + (1 + gap) ** 2


@pytest.mark.parametrize("plan", PLANS)
def test_bigrams_are_counted(plan):
    k = Rational.pds(BIGRAMS, plan=plan)
    want = [[sum(n * bigrams(y)[z] for z, n in bigrams(x).items()) for y in STRINGS] for x in STRINGS]
    assert k.block(STRINGS).tolist() == want
    assert k.diagonal(STRINGS).tolist() == np.diag(want).tolist()


def test_long_strings_take_the_linear_plan():
    rng = random.Random(0)
    x, y = ("".join(rng.choices("ACGT", k=10_000)) for _ in range(2))
    k = Rational.pds(BIGRAMS)
    assert k.explain().splitlines()[1] == "plan: features, the cheapest"
    want = sum(n * bigrams(y)[z] for z, n in bigrams(x).items())
    assert k.block([x], [y])[0, 0] == want
    assert k(x, y) == want


# -- plans --------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(3))
def test_all_plans_and_the_definition_agree_exactly(seed):
    rng = random.Random(seed)
    nonzero = 0
    for _ in range(20):
        T = random_transducer(rng)
        X = ["".join(rng.choices("abz", k=rng.randrange(5))) for _ in range(4)]
        Y = ["".join(rng.choices("aby", k=rng.randrange(5))) for _ in range(3)]
        by_definition = Rational.pds(T)
        want = np.array([[by_definition(x, y) for y in Y] for x in X])
        nonzero += np.count_nonzero(want)
        for plan in PLANS:
            k = Rational.pds(T, plan=plan)
            assert k.block(X, Y).tolist() == want.tolist(), (plan, T)
            assert k.diagonal(X).tolist() == k.block(X).diagonal().tolist()
    assert nonzero > 30


def test_the_sum_runs_over_all_outputs():
    """Against T(x, z) of single pairs, over all strings z that are not too long."""
    rng = random.Random(7)
    layer, outputs = [""], [""]
    for _ in range(4):
        layer = [z + a for z in layer for a in "abz"]
        outputs += layer
    for _ in range(8):
        T = random_transducer(rng)
        x, y = ("".join(rng.choices("abz", k=rng.randrange(3))) for _ in range(2))
        if T.n_states > 2:  # two states write at most one symbol more than they read
            continue
        want = sum(T(x, z) * T(y, z) for z in outputs)
        assert Rational.pds(T)(x, y) == want


def test_plans_of_a_transducer_of_pairs():
    U = BIGRAMS @ BIGRAMS.inverse()
    K = Rational.pds(BIGRAMS).block(STRINGS)
    with pytest.raises(ParameterError, match="without reading"):
        Rational(U, plan="automata")
    symbols = {a for x in STRINGS for a in x}
    named = U.over(symbols)
    for k in (
        Rational(U),
        Rational(named),
        Rational(named, plan="automata"),
        Rational(U, plan="composition"),
    ):
        assert k.block(STRINGS).tolist() == K.tolist()
        assert k.block(STRINGS, STRINGS[2:5]).tolist() == K[:, 2:5].tolist()
        assert k.diagonal(STRINGS).tolist() == K.diagonal().tolist()
        assert k("aab", "abab") == 2.0
    with pytest.raises(ParameterError, match="no features"):
        Rational(U, plan="features")


def test_outputs_that_are_too_many_take_another_plan(monkeypatch):
    k, forced = Rational.pds(BIGRAMS), Rational.pds(BIGRAMS, plan="features")
    want = k.block(STRINGS)
    assert "plan: features" in k.explain()
    monkeypatch.setattr(plans, "list_outputs", lambda *args: None)
    assert k.block(STRINGS).tolist() == want.tolist()
    assert k.diagonal(STRINGS).tolist() == want.diagonal().tolist()
    with pytest.raises(ParameterError, match="too many"):
        forced.block(STRINGS)


def test_explain_says_what_is_done_and_why():
    subsequences = Transducer([(0, 0, ANY, ANY, 0.5), (0, 0, ANY, EPSILON, 0.5)], {0: 1.0}, {0: 1.0})
    text = Rational.pds(subsequences).explain()
    assert "plan: features" not in text
    assert "more than 100,000 steps to list" in text
    assert "plan: composition, as asked for" in Rational.pds(BIGRAMS, plan="composition").explain()
    assert "U(x, y)" in Rational(BIGRAMS @ BIGRAMS.inverse()).explain()


def test_the_plan_does_not_change_the_kernels_values_in_stores():
    digests = {Rational.pds(BIGRAMS, plan=plan).digest() for plan in ("auto", *PLANS)}
    assert len(digests) == 1
    shuffled = Transducer(BIGRAMS.arcs[::-1], BIGRAMS.initial, BIGRAMS.final)
    assert Rational.pds(shuffled).digest() in digests
    assert Rational(BIGRAMS @ BIGRAMS.inverse()).digest() not in digests


def test_threads_do_not_change_a_bit(monkeypatch):
    rng = random.Random(3)
    X = ["".join(rng.choices("abcd", k=30)) for _ in range(60)]
    kernels = [Rational.pds(counting(from_regex(".{2}"), gap=0.3), plan=plan) for plan in PLANS]
    single = [k.block(X) for k in kernels]
    monkeypatch.setenv("MERCER_NUM_THREADS", "2")
    assert all(np.array_equal(k.block(X), K) for k, K in zip(kernels, single, strict=True))


# -- automata as points -------------------------------------------------------------------------
def test_kernel_between_automata_sums_over_their_strings():
    k = Rational.pds(BIGRAMS)
    strings = {"abab": 2.0, "aab": -1.0, "": 3.0}
    A = string("abab", weight=2.0) | string("aab", weight=-1.0) | string("", weight=3.0)
    B = from_regex("a(b|a)b")
    others = {"abb": 1.0, "aab": 1.0}
    want = sum(v * w * k(x, y) for x, v in strings.items() for y, w in others.items())
    assert k(A, B) == want
    assert k.block([A, "aab"], [B, "ab", ""]).tolist() == [
        [want, sum(v * k(x, "ab") for x, v in strings.items()), 0.0],
        [k("aab", B), k("aab", "ab"), 0.0],
    ]


def test_automaton_of_infinitely_many_strings():
    """Letters of a^n with weight p^n: the sum of n p^n is p / (1 - p)^2."""
    letters = Rational.pds(counting(from_regex(".")))
    A = Transducer([(0, 0, "a", "a", 0.5)], {0: 1.0}, {0: 1.0})
    assert letters(A, "aab") == pytest.approx(2 * 0.5 / 0.25)
    assert letters.block([A], ["aab"])[0, 0] == pytest.approx(4.0)
    endless = Transducer([(0, 0, "a", "a", 1.0)], {0: 1.0}, {0: 1.0})
    with pytest.raises(DivergenceError):
        letters(endless, "a")


def test_automata_and_a_transducer_of_pairs():
    """Here U writes symbols of a class that it has not read: pairs are composed one by one."""
    k, U = Rational.pds(BIGRAMS), Rational(BIGRAMS @ BIGRAMS.inverse())
    points = ["abab", from_regex("a(b|a)b"), string("ab", weight=-2.0)]
    assert U.block(points).tolist() == k.block(points).tolist()
    assert U.diagonal(points).tolist() == k.diagonal(points).tolist()
    assert U(points[1], points[2]) == k(points[1], points[2]) == -4.0


def test_points_that_are_neither_strings_nor_automata():
    k = Rational.pds(BIGRAMS)
    with pytest.raises(InputError, match="automaton of real weights"):
        k.block([BIGRAMS])
    with pytest.raises(InputError, match=r"X\[1\]"):
        k.block(["a", from_regex("a", semiring="log")])
    with pytest.raises(InputError, match="list of one"):
        k.block(string("a"))
    with pytest.raises(InputError):
        k("a", 7)


# -- what is refused ----------------------------------------------------------------------------
def silent_cycle(weight, written="c"):
    return Transducer([(0, 0, EPSILON, written, weight), (0, 0, "a", "a", 1.0)], {0: 1.0}, {0: 1.0})


@pytest.mark.parametrize("weight", [1.0, -1.0, 2.0])
@pytest.mark.parametrize("written", ["c", EPSILON], ids=["writing", "silent"])
def test_divergent_machines_are_refused(weight, written):
    with pytest.raises(ParameterError, match="less than one"):
        Rational.pds(silent_cycle(weight, written))
    if written is EPSILON:
        with pytest.raises(ParameterError, match="less than one"):
            Rational(silent_cycle(weight, written))


def test_two_cycles_whose_squares_add_up_to_one():
    arcs = [(0, 0, EPSILON, z, 0.8) for z in "cd"]
    with pytest.raises(ParameterError, match="less than one"):
        Rational.pds(Transducer(arcs, {0: 1.0}, {0: 1.0}))
    assert Rational.pds(Transducer([arcs[0]], {0: 1.0}, {0: 1.0}))("", "") == pytest.approx(1 / (1 - 0.64))


def test_convergent_cycles_have_their_sum():
    k = Rational.pds(silent_cycle(-0.5))
    assert k("", "") == pytest.approx(4 / 3)
    assert k("a", "a") == pytest.approx(16 / 9)  # c^i a c^j on both sides
    for plan in ("automata", "composition"):
        np.testing.assert_allclose(k.replace(plan=plan).block(["", "a"]), [[4 / 3, 0], [0, 16 / 9]])
    with pytest.raises(ParameterError, match="infinitely many outputs"):
        k.replace(plan="features")
    silent = Rational.pds(silent_cycle(0.5, EPSILON))
    assert silent("a", "a") == pytest.approx(16.0)


def test_useless_cycles_do_no_harm():
    arcs = [(0, 1, "a", "a", 1.0), (0, 2, "a", "a", 1.0), (2, 2, EPSILON, "c", 5.0)]
    assert Rational.pds(Transducer(arcs, {0: 1.0}, {1: 1.0}))("a", "a") == 1.0


def test_other_things_that_are_refused():
    with pytest.raises(ParameterError, match="must be a Transducer"):
        Rational("ab")
    with pytest.raises(ParameterError, match="real weights"):
        Rational.pds(from_regex("a", semiring="log"))
    with pytest.raises(ParameterError, match="symmetric"):
        Rational(Transducer([(0, 1, "a", "b", 1.0)], {0: 1.0}, {1: 1.0}))
    with pytest.raises(ParameterError, match="class without reading"):
        Rational.pds(Transducer([(0, 0, "a", ANY, 1.0)], {0: 1.0}, {0: 1.0}))
    with pytest.raises(ParameterError, match="plan"):
        Rational.pds(BIGRAMS, plan="fast")
    with pytest.raises(ParameterError, match="squared"):
        Rational(BIGRAMS, 2)


def test_machines_without_paths_give_zero():
    k = Rational.pds(Transducer([], {}, {}))
    assert k("a", "") == 0.0
    assert k.block(["a", ""]).tolist() == [[0.0, 0.0], [0.0, 0.0]]


# -- what is known ------------------------------------------------------------------------------
def test_certificates():
    assert Rational.pds(BIGRAMS).certificate.is_psd
    assert str(Rational(BIGRAMS @ BIGRAMS.inverse()).certificate.verdict) == "UNKNOWN"


def test_a_pair_hmm_is_refuted_by_a_witness():
    match = {("a", "a"): 0.5, ("b", "b"): 0.5}
    k = Rational(pair_hmm(match, {"a": 0.5, "b": 0.5}, open=0.3, extend=0.1, stop=0.1))
    found = mercer.refute(k, X=["", "a", "b", "ab", "ba", "aa"])
    assert found
    assert found.witness.value < 0


@pytest.mark.parametrize("seed", range(4))
def test_the_certificate_of_a_pair_hmm_shows_a_witness(seed):
    rng = np.random.default_rng(seed)
    q = float(rng.uniform(0.3, 0.7))
    match = {("a", "a"): q / 2, ("b", "b"): q / 2, ("a", "b"): (1 - q) / 2, ("b", "a"): (1 - q) / 2}
    k = Rational(pair_hmm(match, {"a": 0.5, "b": 0.5}, open=0.3, extend=0.2, stop=0.1))
    witness = k.certificate.positive.witness
    assert k.certificate.positive.refuted
    assert len(witness.points) <= 8
    value = sum(
        ci * cj * k.precise(x, y)
        for ci, x in zip(witness.coefficients, witness.points, strict=True)
        for cj, y in zip(witness.coefficients, witness.points, strict=True)
    )
    assert value < 0


def test_no_witness_where_there_is_none():
    """Near misses: models whose gaps are rare, or that have none, are not refuted by short strings."""
    match = {("a", "a"): 0.5, ("b", "b"): 0.5}
    for U in (
        pair_hmm(match, {"a": 0.5, "b": 0.5}, open=0.0, extend=0.2, stop=0.1),
        BIGRAMS @ BIGRAMS.inverse(),
    ):
        assert str(Rational(U).certificate.verdict) == "UNKNOWN"


def test_sums_with_kernels_on_strings():
    k = Rational.pds(BIGRAMS) + 0.5 * RegexCount("a")
    assert k.certificate.is_psd
    assert k("aab", "ab") == 1.0 + 0.5 * 2
    assert k.contributions("aab", "ab").total == 2.0
    assert k.normalized()("aab", "aab") == pytest.approx(1.0)


# -- contributions ------------------------------------------------------------------------------
def test_contributions_name_shared_patterns_and_their_places():
    gappy = Rational.pds(counting(from_regex(".{2}"), gap=0.5))
    found = gappy.contributions("aab", "abb")
    assert {c.pattern: c.weight for c in found} == {"ab": 1.5 * 1.5}
    assert found[0].x_places == ((0, 3), (1, 3))
    assert found[0].y_places == ((0, 2), (0, 3))
    assert found.total == gappy("aab", "abb")
    tokens = Rational.pds(BIGRAMS).contributions([1, None, 1], [1, None])
    assert [c.pattern for c in tokens] == [(1, None)]


def test_contributions_that_cannot_be_listed():
    subsequences = Transducer([(0, 0, ANY, ANY, 1.0), (0, 0, ANY, EPSILON, 1.0)], {0: 1.0}, {0: 1.0})
    assert len(Rational.pds(subsequences).contributions("ab", "ab")) == 4
    letters = "".join(map(chr, range(97, 140)))
    with pytest.raises(DomainError, match="more patterns"):
        Rational.pds(subsequences).contributions(letters, letters)
    with pytest.raises(DomainError, match="more patterns"):
        Rational.pds(silent_cycle(0.5)).contributions("a", "a")
    with pytest.raises(DomainError, match="as they are"):
        Rational(BIGRAMS @ BIGRAMS.inverse()).contributions("ab", "ab")
    with pytest.raises(DomainError, match="two strings"):
        Rational.pds(BIGRAMS).contributions(string("ab"), "ab")


def test_values_that_overflow():
    k = Rational.pds(Transducer([(0, 0, "a", EPSILON, 1e200)], {0: 1.0}, {0: 1.0}))
    assert k("a", "") == 1e200
    with pytest.raises(ParameterError, match="overflows"):
        k("a", "a")
    with pytest.raises(ParameterError, match="inf"):
        k.block(["a"])


def test_distinct_subsequences_are_written_once_at_their_leftmost_place():
    """The kernel of the page on transducers that separates piecewise testable languages."""
    b = Builder()
    start, rest = b.state(initial=1), b.state(final=1)
    b.arc(start, rest, EPSILON, EPSILON)
    b.arc(rest, rest, ANY, EPSILON)
    for c in "abc":
        wait = b.state()
        b.arc(start, wait, EPSILON, EPSILON)
        b.arc(wait, wait, AnyExcept(c), EPSILON)
        b.arc(wait, start, c, c)
    k = Rational.pds(b.build())

    def subsequences(x):
        return {"".join(s) for n in range(len(x) + 1) for s in itertools.combinations(x, n)}

    for x, y in itertools.product(["", "a", "abca", "bbab", "cabac"], repeat=2):
        assert k(x, y) == len(subsequences(x) & subsequences(y))
