"""Patterns with weights: counts by brute force, values in exact arithmetic."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from mercer.automata import ANY, EPSILON, Transducer, counting, from_regex
from mercer.automata.outputs import list_outputs
from mercer.domains import Sequences
from mercer.errors import ParameterError
from mercer.kernels import (
    AllSubsequences,
    Factors,
    GappyNGram,
    Gaussian,
    LocalAlignment,
    Mismatch,
    NGram,
    Rational,
    RegexCount,
    Spectrum,
    Subsequence,
    Wildcard,
    as_rational,
)
from mercer.kernels.strings import patterns
from mercer.kernels.strings.patterns import list_patterns, pattern_transducer, weighted_patterns
from mercer.kernels.strings.transducers import WILDCARD

#: Writes any number of letters without reading.
ENDLESS = Transducer([(0, 0, EPSILON, "a", 0.5), (0, 0, ANY, ANY, 1.0)], {0: 1.0}, {0: 1.0})

HALF = Fraction(1, 2)
STRINGS = ["abcab", "bbab", "", "ca", "abbabcbab"]


def grams(x, n):
    return Counter(x[i : i + n] for i in range(len(x) - n + 1))


def times(factor, counts):
    return Counter({z: factor * count for z, count in counts.items()})


def gappy(x):
    found = Counter()
    for i, j in combinations(range(len(x)), 2):
        if j - i <= 3:
            found[x[i] + x[j]] += HALF ** (j - i - 1)
    return found


def changed(x):
    found = Counter()
    for gram, count in grams(x, 2).items():
        near = {gram, *(c + gram[1] for c in "abc"), *(gram[0] + c for c in "abc")}
        found.update(dict.fromkeys(near, count))
    return found


def wild(x):
    found = Counter()
    for gram, count in grams(x, 2).items():
        found.update(
            {gram: count, (WILDCARD, gram[1]): Fraction(count, 2), (gram[0], WILDCARD): Fraction(count, 2)}
        )
    return found


def matched(x):
    return Counter(
        {z: count for n in (2, 3) for z, count in grams(x, n).items() if z[0] == "a" and z[-1] == "b"}
    )


#: A kernel, and what it counts in a string.
KERNELS = {
    "ngram": (NGram(2), lambda x: grams(x, 2)),
    "spectrum": (Spectrum(3), lambda x: grams(x, 3)),
    "lengths": (NGram(2, weights=[0.25, 4.0]), lambda x: times(HALF, grams(x, 1)) + times(2, grams(x, 2))),
    "sum": (4.0 * NGram(1) + RegexCount("a.{0,1}b"), lambda x: times(2, grams(x, 1)) + matched(x)),
    "gappy": (GappyNGram(2, 0.5, max_gap=2), gappy),
    "mismatch": (Mismatch(2, 1, alphabet="abc"), changed),
    "wildcard": (Wildcard(2, 1, decay=0.5), wild),
    "regex": (RegexCount("a.{0,1}b"), matched),
    "total": (RegexCount("ab|b", by="total"), lambda x: Counter({"": grams(x, 2)["ab"] + x.count("b")})),
    "rational": (Rational.pds(counting(from_regex("(a|b)<2>c?"))), lambda x: Counter(
        {z: 2 * c for n in (1, 2) for z, c in grams(x, n).items() if z[0] in "ab" and z[1:] in ("", "c")})),
}  # fmt: skip


@pytest.fixture(params=KERNELS)
def case(request):
    kernel, features = KERNELS[request.param]
    counts = [{z: c for z, c in features(x).items() if c} for x in STRINGS]
    return kernel, pattern_transducer(kernel, "test"), counts


def test_columns_are_what_the_kernel_counts(case):
    kernel, T, counts = case
    names, matrix = list_patterns(T, Sequences().validate(STRINGS), "test")
    assert set(names) == {z for row in counts for z in row}
    expected = [[float(row.get(z, 0)) for z in names] for row in counts]
    np.testing.assert_allclose(matrix.toarray(), expected, rtol=1e-15)
    np.testing.assert_allclose(matrix @ matrix.T.toarray(), kernel.block(STRINGS), rtol=1e-12)


def test_weights_make_a_rational_kernel(case):
    _, T, counts = case
    names = sorted({z for row in counts for z in row}, key=repr)
    mu = {z: Fraction(i % 4, 1 + i % 3) for i, z in enumerate(names)}
    k = weighted_patterns(T, {z: float(weight) for z, weight in mu.items() if weight})
    assert isinstance(k, Rational)
    assert k.certificate.is_psd
    exact = [[float(sum(mu[z] * a[z] * b.get(z, 0) for z in a)) for b in counts] for a in counts]
    np.testing.assert_allclose(k.block(STRINGS), exact, rtol=1e-13)
    assert k(STRINGS[0], STRINGS[4]) == pytest.approx(exact[0][4], rel=1e-13)
    assert k._evaluation.plan == "features"
    for c in k.contributions(STRINGS[4], STRINGS[4]):
        assert c.weight == pytest.approx(float(mu[c.pattern] * counts[4][c.pattern] ** 2), rel=1e-13)


def test_patterns_that_begin_alike_and_the_empty_one():
    T = counting(from_regex("a*"))
    k = weighted_patterns(T, {"": 4.0, "a": 1.0, "aaa": 9.0})
    # "aaab" has the empty string 5 times, a three times, aaa once; "ba" has 3 and 1.
    assert k("aaab", "aaab") == 4 * 25 + 9 + 9
    assert k("aaab", "ba") == 4 * 15 + 3
    assert k("xx", "x") == 4 * 6


def test_the_machine_grows_with_the_patterns_alone():
    T = pattern_transducer(NGram(3), "test")
    k = weighted_patterns(T, {"abc": 1.0, "abd": 2.0, "bcd": 3.0})
    # Before, after, and the beginnings a, ab, b, bc.
    assert k.transducer.n_states == 6
    found = list_outputs(k._evaluation.T, Sequences().validate(["abcd" * 50]))
    assert found.count == 2
    assert found.steps < 5 * 200


def test_many_patterns_that_begin_alike():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abcd"), 60)) for _ in range(6)]
    counts = [grams(x, 5) for x in X]
    mu = {z: i % 5 + 1 for i, z in enumerate(sorted(set().union(*counts)))}
    k = weighted_patterns(pattern_transducer(NGram(5), "test"), mu)
    assert k.transducer.n_states > 200
    exact = [[sum(mu[z] * a[z] * b[z] for z in a) for b in counts] for a in counts]
    np.testing.assert_allclose(k.block(X), exact, rtol=1e-13)


def test_a_long_way_without_reading():
    # 150 letters are written between two that are read: each place is reached from the one before it.
    arcs = [(i, i + 1, EPSILON, "b", 1.0) for i in range(150)]
    T = Transducer([(151, 0, "x", "x", 2.0), *arcs, (150, 151, "y", "y", 3.0)], {151: 1.0}, {151: 1.0})
    names, counts = list_patterns(T, Sequences().validate(["xyxy", "xy", "y", ""]), "test")
    once = "x" + "b" * 150 + "y"
    assert dict(zip(names, counts.toarray().T.tolist(), strict=True)) == {
        "": [0.0, 0.0, 0.0, 1.0],
        once: [0.0, 6.0, 0.0, 0.0],
        once * 2: [36.0, 0.0, 0.0, 0.0],
    }


def test_symbols_of_any_kind():
    X = [(1, 2, 3, 1, 2), (2, 3), (None, "word")]
    T = pattern_transducer(NGram(2), "test")
    names, counts = list_patterns(T, Sequences().validate(X), "test")
    assert set(names) == {(1, 2), (2, 3), (3, 1), (None, "word")}
    k = weighted_patterns(T, {(1, 2): 0.25, (None, "word"): 1.0})
    assert k.block(X).tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert counts.sum() == 6


def test_regular_expressions_are_rational():
    k = RegexCount("a.{0,1}b")
    twin = as_rational(k)
    assert isinstance(twin, Rational)
    np.testing.assert_array_equal(twin.block(STRINGS), k.block(STRINGS))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Gaussian(1.0), "is not known as a rational kernel"),
        (NGram(2).normalized(), "is not known as a rational kernel"),
        (LocalAlignment("dna"), "Only T o T^-1"),
        (-1.0 * NGram(2), "positive multiples"),
        (NGram(2) + NGram(2), "share patterns"),
        (NGram(2) + RegexCount("ab|c"), "share patterns"),
        (Spectrum(3, reverse_complement=True), "must read one strand"),
        (Factors(), "counts=True is rational"),
        (Rational.pds(ENDLESS), "infinitely many outputs"),
        ("NGram(2)", "is not known as a rational kernel"),
    ],
    ids=[
        "vectors",
        "normalized",
        "pairs",
        "negative",
        "twice",
        "common",
        "strands",
        "sets",
        "endless",
        "text",
    ],
)
def test_kernels_without_patterns_of_their_own(kernel, message):
    with pytest.raises(ParameterError, match="test: `kernel` must be one on strings") as caught:
        pattern_transducer(kernel, "test")
    assert message in str(caught.value)


def test_too_many_patterns(monkeypatch):
    monkeypatch.setattr(patterns, "MOST_STEPS", 1000)
    X = Sequences().validate(["abcdefghijklmnop"])
    for kernel in (AllSubsequences(0.5), Subsequence(6, 0.5)):
        with pytest.raises(ParameterError, match="takes more than 1,000 steps"):
            list_patterns(pattern_transducer(kernel, "test"), X, "test")
