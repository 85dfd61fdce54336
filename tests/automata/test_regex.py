"""Regular expressions against Python's own, and weights against their definition."""

import os
import random
import re
import subprocess
import sys

import numpy as np
import pytest

from mercer.automata import (
    ANY,
    AnyExcept,
    Builder,
    Transducer,
    determinize,
    from_regex,
    string,
    weights_between,
)
from mercer.errors import ParameterError

ATOMS = ["a", "b", "c", ".", "[ab]", "[^a]", "[^bc]", r"\d", "[a-c1]", r"\W", r"\x61", "", "(?:ab)"]
BOUNDS = ["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "{0}"]


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Thousands of tiny machines: threads would only wait for each other."""
    monkeypatch.setenv("MERCER_NUM_THREADS", "1")


def random_pattern(rng, depth=0):
    kind = rng.random()
    if depth == 3 or kind < 0.3:
        return rng.choice(ATOMS)
    if kind < 0.5:
        return random_pattern(rng, depth + 1) + random_pattern(rng, depth + 1)
    if kind < 0.7:
        return f"({random_pattern(rng, depth + 1)}|{random_pattern(rng, depth + 1)})"
    return f"({random_pattern(rng, depth + 1)}){rng.choice(BOUNDS)}"


def weigh(automaton, strings):
    return weights_between(strings, automaton.without_output(), [()])[:, 0]


@pytest.mark.parametrize("seed", range(4))
def test_matches_what_python_matches(seed):
    rng = random.Random(seed)
    accepted = 0
    for _ in range(500):
        pattern = random_pattern(rng)
        strings = ["".join(rng.choices("abc1 \n", k=rng.randrange(6))) for _ in range(12)]
        python = re.compile(pattern, re.DOTALL | re.ASCII)
        want = [float(python.fullmatch(x) is not None) for x in strings]
        assert weigh(from_regex(pattern), strings).tolist() == want, (pattern, strings)
        accepted += sum(want)
    assert accepted > 500  # the patterns are not all out of reach


@pytest.mark.parametrize("seed", range(4))
def test_is_deterministic_and_minimal(seed):
    """No two arcs of a state share a symbol, and no two states accept the same strings."""
    rng = random.Random(100 + seed)
    probes = ["".join(w) for w in all_strings("abc1 ", 3)]
    for _ in range(40):
        A = from_regex(random_pattern(rng, 1))
        for q in range(A.n_states):
            labels = [arc.input for arc in A.arcs if arc.source == q]
            for symbol in "abc1 z":
                fits = [symbol in x if isinstance(x, AnyExcept) else symbol == x for x in labels]
                assert sum(fits) <= 1
        begun = [Transducer(A.arcs, {q: 1.0}, A.final, n_states=A.n_states) for q in range(A.n_states)]
        if A.n_states <= 4:  # states of small automata are told apart by short strings
            assert len({tuple(weigh(B, probes)) for B in begun}) == A.n_states


def all_strings(letters, longest):
    layer = [()]
    for _ in range(longest + 1):
        yield from layer
        layer = [(*w, a) for w in layer for a in letters]


@pytest.mark.parametrize(
    ("pattern", "states"),
    [("a|a|a", 2), ("(a|b)*a(a|b){3}", 16), ("", 1), ("a{5000}", 5001), ("(a*)*", 1), ("[ab]c|[bd]c", 3)],
)
def test_number_of_states(pattern, states):
    assert from_regex(pattern).n_states == states


def test_equal_languages_give_equal_automata():
    assert from_regex("[^a]|a") == from_regex(".")
    assert from_regex("(ab|ac)") == from_regex("a[bc]")
    assert from_regex("[^a-c]|[bc]") == from_regex("[^a]")


@pytest.mark.parametrize(
    ("pattern", "x", "weight"),
    [
        ("(ab<0.5>|c<2>)", "ab", 0.5),
        ("(ab<0.5>|c<2>)", "c", 2.0),
        ("(ab<0.5>|c<2>)", "abc", 0.0),
        ("a<1>|a", "a", 2.0),
        ("(a<2>)*", "aaa", 8.0),
        ("(a<2>)*", "", 1.0),
        ("(a?<3>)*", "aa", 9.0),
        ("(a<0.5>|b){2}", "ab", 0.5),
        ("(a<2>|<3>)+", "", 3.0),
        ("(a<2>){1,3}", "aa", 4.0),
        ("(a|aa)*<1>", "aaa", 3.0),
        ("(a?){2}<1>", "a", 2.0),
        ("<0.5>", "", 0.5),
        ("a<-1>|[ab]", "a", 0.0),
    ],
)
def test_weights_add_over_derivations(pattern, x, weight):
    assert from_regex(pattern)(x) == weight


def test_weights_of_other_semirings():
    assert from_regex("a<1>|a<3>", semiring="tropical")("a") == 1.0
    assert from_regex("a<1>|a<3>", semiring="log")("a") == pytest.approx(-np.log(np.exp(-1) + np.exp(-3)))
    assert from_regex("ab", semiring="boolean")("ab") is True
    assert from_regex("ab", semiring="tropical")("ab") == 0.0


def test_words():
    A = from_regex(r"(the | a) [big small]* dog\. .{1,2}", words=True)
    assert A(["the", "small", "big", "dog.", "barked"]) == 1.0
    assert A(["a", "dog.", "ran", "off"]) == 1.0
    assert A(["a", "red", "dog.", "ran"]) == 0.0
    assert A("the dog") == 0.0


def test_symbols_that_are_no_text():
    A = from_regex("C (E | G)+ [^C]", symbols={"C": 60, "E": 64, "G": (67, "loud")})
    assert A([60, 64, (67, "loud"), None]) == 1.0
    assert A([60, 64, 60]) == 0.0


@pytest.mark.parametrize(
    ("pattern", "position", "words"),
    [
        ("a(b", 1, "never closed"),
        ("a)b", 1, "closes no group"),
        ("a**", 2, "repetition follows"),
        ("|*", 1, "nothing to repeat"),
        ("a[bc", 1, "never closed"),
        ("[]", 0, "not be empty"),
        ("a{2", 1, "must open a repetition"),
        ("a{3,2}", 1, "below its beginning"),
        ("a{10001}", 1, "at most"),
        ("<x>", 0, "must open a weight"),
        ("a<0.5", 1, "must open a weight"),
        ("<2>*", 4, "cannot be repeated"),
        (r"a\q", 1, "means nothing"),
        ("a\\", 1, "means nothing"),
        (r"\x4", 0, "hexadecimal"),
        (r"\U00110000", 0, "hexadecimal"),
        ("[z-a]", 0, "upwards"),
        (r"[a-\d]", 0, "between two characters"),
        (r"[\D]", 1, "inside a class"),
        ("^a", 0, "anchors"),
        ("a]", 1, "nothing was opened"),
        ("(?P<n>a)", 1, "without names"),
        ("(" * 101 + ")" * 101, 101, "nested"),
    ],
)
def test_errors_name_the_position(pattern, position, words):
    with pytest.raises(ParameterError, match=f"(?s){words}.*position {position}\\."):
        from_regex(pattern)


def test_errors_of_arguments():
    with pytest.raises(ParameterError, match="must be text"):
        from_regex(["a"])
    with pytest.raises(ParameterError, match="not a key"):
        from_regex("A B", symbols={"A": 1})
    with pytest.raises(ParameterError, match="position 2"):
        from_regex("a \\", words=True)
    with pytest.raises(ParameterError, match="a weight must be"):
        from_regex("a<inf>")


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(a|b)*a(a|b){20}", "states"),
        ("(a?){5000}", "pairs of neighbouring"),
        ("((a{100}){100}){100}", "symbols once its"),
    ],
)
def test_patterns_that_are_too_large(pattern, words):
    with pytest.raises(ParameterError, match=words):
        from_regex(pattern)


def test_determinize_counts_each_string_once():
    twice = (string("ab") | string("a").concat(string("b"))) | string("", weight=5.0)
    assert twice("ab") == 2.0
    once = determinize(twice)
    assert [once(x) for x in ("ab", "", "a", "b")] == [1.0, 1.0, 0.0, 0.0]
    b = Builder()
    start, end = b.state(initial=1), b.state(final=1)
    for label in (ANY, AnyExcept("a"), "b"):
        b.arc(start, end, label)
    b.arc(start, end, "c", weight=0)
    assert [b.build()(x) for x in "abx"] == [1.0, 3.0, 2.0]
    assert determinize(b.build()) == from_regex(".")
    with pytest.raises(ParameterError, match="equal tapes"):
        determinize(Transducer([(0, 1, "a", "b", 1.0)], {0: 1.0}, {1: 1.0}))


def test_determinize_of_nothing():
    assert determinize(Transducer([], {}, {})).n_states == 0
    assert determinize(Transducer([(0, 1, "a", "a", 1.0)], {0: 1.0}, {})).n_states == 0


def test_does_not_depend_on_the_hash_seed():
    code = (
        "from mercer.automata import from_regex, counting\n"
        "T = counting(from_regex('(cab|[^xyz]b|[pqr]+)s?'), gap=0.5)\n"
        "print(T.arcs)\n"
        "print(from_regex('[one two three] (four | [^five six])', words=True).arcs)"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1
    assert "AnyExcept" in texts.pop()
