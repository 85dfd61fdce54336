"""Counting transducers against occurrences counted one by one."""

import itertools
import random

import pytest

from mercer.automata import EPSILON, Transducer, counting, from_regex, pair_hmm, string
from mercer.errors import ParameterError


def occurrences(x, z):
    return sum(x[i : i + len(z)] == z for i in range(len(x) - len(z) + 1))


def gappy_occurrences(x, z, gap):
    """Sum of gap^(symbols left out) over all ways to find z in x as a subsequence."""
    if not z:
        return len(x) + 1
    return sum(
        gap ** (places[-1] - places[0] + 1 - len(z))
        for places in itertools.combinations(range(len(x)), len(z))
        if "".join(x[i] for i in places) == z
    )


def figure_6_7(gap=0.0):
    """The bigram transducers of the figure, over a and b."""
    loops = [(q, q, a, EPSILON, 1.0) for q in (0, 2) for a in "ab"]
    steps = [(q, q + 1, a, a, 1.0) for q in (0, 1) for a in "ab"]
    gaps = [(1, 1, a, EPSILON, gap) for a in "ab"] if gap else []
    return Transducer([*loops, *steps, *gaps], {0: 1.0}, {2: 1.0})


PATTERNS = ["ab", "", "a|ab|abb", "a*", "[ab]{2,3}", "(a|b)*a", "[^b]b?", "."]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_counts_every_occurrence_once(pattern):
    rng = random.Random(0)
    A, T = from_regex(pattern), counting(from_regex(pattern))
    for _ in range(30):
        x = "".join(rng.choices("abc", k=rng.randrange(8)))
        for z in {x[i:j] for i in range(len(x) + 1) for j in range(i, len(x) + 1)} | {"ba", "zz"}:
            assert T(x, z) == A(z) * occurrences(x, z)


@pytest.mark.parametrize("gap", [0.5, 1.0, -2.0])
@pytest.mark.parametrize("pattern", ["ab", ".{2}", "a|ab|aba", "[ab]{1,3}", "a*b", ""])
def test_gaps_within_patterns(pattern, gap):
    rng = random.Random(1)
    A, T = from_regex(pattern), counting(from_regex(pattern), gap=gap)
    for _ in range(12):
        x = "".join(rng.choices("abc", k=rng.randrange(7)))
        for z in ("", "a", "ab", "aba", "bb", "aab"):
            assert T(x, z) == pytest.approx(A(z) * gappy_occurrences(x, z, gap), abs=1e-12)


@pytest.mark.parametrize("gap", [0.0, 0.25])
def test_the_figures_transducer_is_a_counting_one(gap):
    ours = counting(from_regex("[ab]{2}"), gap=gap or None)
    figure = figure_6_7(gap)
    for x in map("".join, itertools.product("ab", repeat=4)):
        for z in map("".join, itertools.product("ab", repeat=2)):
            assert ours(x, z) == figure(x, z)


def test_bigrams_of_the_worked_case():
    T = figure_6_7()
    assert {z: T("aab", z) for z in ("aa", "ab", "ba", "bb")} == {"aa": 1, "ab": 1, "ba": 0, "bb": 0}
    gappy = figure_6_7(0.5)
    assert {z: gappy("aab", z) for z in ("aa", "ab", "ba")} == {"aa": 1, "ab": 1.5, "ba": 0}


def test_silent_counting_adds_up_all_patterns():
    T = counting(from_regex("a+"), silent=True)
    assert T("aabaaa", "") == 3 + 6
    assert T("aabaaa", "a") == 0.0


def test_pattern_weights_and_symbols_that_no_pattern_names():
    T = counting(from_regex("ab<0.5>|c<2>"))
    assert T("xab\0abc", "ab") == 1.0
    assert T("xab\0abc", "c") == 2.0
    assert T([("x",), "a", "b", None, "c"], "ab") == 0.5


def test_paths_of_ambiguous_automata_count_each():
    twice = string("ab") | string("ab")
    assert counting(twice)("abab", "ab") == 4.0


def test_epsilons_in_the_automaton():
    A = string("a").concat(string("b"))
    assert any(arc.input is EPSILON for arc in A.arcs)
    assert counting(A)("abab", "ab") == 2.0
    assert counting(A, gap=0.5)("aab", "ab") == 1.5


def test_only_the_empty_pattern_needs_an_empty_move():
    assert not any(arc.input is EPSILON for arc in counting(from_regex("a+|b")).arcs)
    assert sum(arc.input is EPSILON for arc in counting(from_regex("a*")).arcs) == 1


def test_other_semirings():
    assert counting(from_regex("a", semiring="boolean"))("ba", "a") is True
    assert counting(from_regex("ab<2>", semiring="tropical"), gap=1.0)("axxb", "ab") == 4.0


def test_a_transducer_has_no_patterns():
    with pytest.raises(ParameterError, match="equal tapes"):
        counting(Transducer([(0, 1, "a", "b", 1.0)], {0: 1.0}, {1: 1.0}))


# -- pair hidden Markov models ------------------------------------------------------------------
MATCH = {("a", "a"): 0.4, ("b", "b"): 0.3, ("a", "b"): 0.15, ("b", "a"): 0.15}
INSERT = {"a": 0.75, "b": 0.25}
OPEN, EXTEND, STOP = 0.125, 0.25, 0.0625


def alignments(x, y, state="M"):
    """Sum over alignments by recursion over the first column."""
    leave = {"M": 1 - 2 * OPEN - STOP, "X": 1 - EXTEND - STOP, "Y": 1 - EXTEND - STOP}
    total = STOP if not x and not y else 0.0
    if x and y:
        total += leave[state] * MATCH[x[0], y[0]] * alignments(x[1:], y[1:], "M")
    for gap, here, there in (("X", x, y), ("Y", y, x)):
        p = {"M": OPEN, gap: EXTEND}.get(state, 0.0)
        if here and p:
            rest = (here[1:], there) if gap == "X" else (there, here[1:])
            total += p * INSERT[here[0]] * alignments(*rest, gap)
    return total


def test_pair_hmm_sums_over_alignments():
    T = pair_hmm(MATCH, INSERT, open=OPEN, extend=EXTEND, stop=STOP)
    for x, y in itertools.product(["", "a", "ab", "bba", "abab"], repeat=2):
        assert T(x, y) == pytest.approx(alignments(x, y), rel=1e-13)
        assert T(x, y) == pytest.approx(T(y, x), rel=1e-13)
    assert T("a", "c") == 0.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"open": -0.1}, "`open` must be a probability"),
        ({"open": 0.5}, "must not exceed 1"),
        ({"extend": 0.99}, "must not exceed 1"),
        ({"stop": float("nan")}, "`stop` must be"),
        ({"match": {("a", "a"): -1.0}}, "`match`"),
        ({"insert": {"a": float("nan")}}, "`insert`"),
    ],
)
def test_pair_hmm_refuses_what_is_no_model(change, words):
    good = {"match": MATCH, "insert": INSERT, "open": OPEN, "extend": EXTEND, "stop": STOP}
    with pytest.raises(ParameterError, match=words):
        pair_hmm(**{**good, **change})
