"""Counts of matches against Python's own matching of every stretch."""

import random
import re
from collections import Counter

import numpy as np
import pytest

from mercer.errors import ParameterError
from mercer.kernels import NGram, RegexCount, as_rational

PATTERNS = ["ab", "a+b?", "[ab]{2,3}", "(a|ab)(b|)", "a*", "", "[^a]c|.", "(a|b)*c", r"\w\W", "(ab|a)*"]


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setenv("MERCER_NUM_THREADS", "1")


def matches(pattern, x):
    """How often each substring stands in x, if the pattern matches all of it."""
    python = re.compile(pattern, re.DOTALL | re.ASCII)
    stretches = (x[i:j] for i in range(len(x) + 1) for j in range(i, len(x) + 1))
    return Counter(z for z in stretches if python.fullmatch(z))


@pytest.mark.parametrize("plan", ["auto", "features", "automata", "composition"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_stretch_counts_once(pattern, plan):
    rng = random.Random(0)
    X = ["", *("".join(rng.choices("abc ", k=rng.randrange(8))) for _ in range(7))]
    counts = [matches(pattern, x) for x in X]
    want = np.array([[sum(n * b[z] for z, n in a.items()) for b in counts] for a in counts], dtype=float)
    assert RegexCount(pattern, plan=plan).block(X).tolist() == want.tolist()
    totals = np.array([sum(a.values()) for a in counts], dtype=float)
    assert RegexCount(pattern, plan=plan, by="total").block(X).tolist() == np.outer(totals, totals).tolist()


def test_single_values_and_contributions():
    k = RegexCount("a+b")
    assert k("aabab", "ab") == 2.0
    found = k.contributions("aabab", "xaab")
    assert {c.pattern: c.weight for c in found} == {"ab": 2.0, "aab": 1.0}
    assert found.total == k("aabab", "xaab")


def test_weights_gaps_and_words():
    assert RegexCount("ab<3>|c")("abc", "abc") == 9 + 1
    assert RegexCount("ab", gap=0.5)("axb", "ab") == 0.5
    dogs = RegexCount("big? dog", words=True)
    assert dogs(["big", "dog"], ["a", "dog"]) == 1.0  # dog
    assert dogs(["big", "dog"], ["big", "dog"]) == 2.0  # dog, and big dog
    assert dogs("big dog", "big dog") == 0.0


def test_unbounded_patterns_on_long_strings():
    """A run of n letters holds n + 1 - m stretches of m letters."""
    k = RegexCount("a+")
    n = 400
    assert k.block(["a" * n, "b" * n])[0, 0] == sum((n + 1 - m) ** 2 for m in range(1, n + 1))


def test_symbols_unknown_to_the_pattern():
    k = RegexCount("a.")
    assert k(["a", None, "a"], [("t",), "a", None]) == 1.0
    assert k.block(["\U0001d11ea\0", "a\0"]).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_points_without_a_match_have_norm_zero():
    for k in (RegexCount("a.c"), as_rational(NGram(3)), RegexCount("a.c", by="total")):
        for points in (["xx", "y"], ["xx", "abcd"]):
            K = k.normalized().block(points)
            np.testing.assert_array_equal(K, np.diag([0.0, float(len(points[1]) > 1)]))
            np.testing.assert_array_equal(k.normalized().diagonal(points), np.diagonal(K))
            for operation in (lambda k: k.exp(), lambda k: k**2, lambda k: k**0.5, lambda k: k.distance()):
                other = operation(k)
                np.testing.assert_allclose(other.diagonal(points), [other(x, x) for x in points])
                np.testing.assert_allclose(np.diagonal(other.block(points)), other.diagonal(points))


def test_the_plan_does_not_change_the_digest():
    digests = {RegexCount("a", plan=plan).digest() for plan in ("auto", "automata")}
    assert len(digests) == 1
    assert RegexCount("a", by="total").digest() not in digests


def test_bounds():
    assert RegexCount("a").bounds.low == 0.0
    assert RegexCount("a<-1>").bounds.low == -np.inf
    assert RegexCount("a<-1>|b").block(["ab"]).tolist() == [[2.0]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"pattern": "a("}, "position 1"),
        ({"pattern": 3}, "must be text"),
        ({"pattern": "a", "by": "letter"}, "by"),
        ({"pattern": "a", "gap": "x"}, "gap"),
        ({"pattern": "a", "gap": float("inf")}, "gap"),
        ({"pattern": "a", "plan": "fast"}, "plan"),
        ({"pattern": "a", "words": "yes"}, "words"),
    ],
)
def test_errors(arguments, words):
    with pytest.raises(ParameterError, match=words):
        RegexCount(**arguments)
