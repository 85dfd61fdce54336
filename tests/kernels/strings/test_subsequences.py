"""Subsequence kernels against enumeration, worked values and identities."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError
from mercer.kernels import AllSubsequences, Subsequence, search

from .brute import strings, subsequence

WORDS = st.text("abc", max_size=7)
HALF = Fraction(1, 2)


# -- worked values of Lodhi et al. ----------------------------------------------------------------
@pytest.mark.parametrize("decay", [0.1, 0.5, 0.8, 1.0])
def test_cats_and_cars(decay):
    k = Subsequence(2, decay)
    assert k("cat", "car") == pytest.approx(decay**4, rel=1e-15)
    assert k("cat", "cat") == k("car", "car") == pytest.approx(2 * decay**4 + decay**6, rel=1e-15)
    assert k.normalized()("cat", "car") == pytest.approx(1 / (2 + decay**2), rel=1e-15)
    assert k("cat", "dog") == 0.0


# -- enumeration ----------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_pair_of_short_strings(n):
    X = strings("ab", 4)
    want = [[float(subsequence(x, y, n, HALF)) for y in X] for x in X]
    np.testing.assert_array_equal(Subsequence(n, 0.5).block(X), want)  # dyadic: exact


@given(WORDS, WORDS, st.integers(1, 7))
def test_definition_and_block_against_enumeration(x, y, n):
    want = float(subsequence(x, y, n, HALF))
    assert Subsequence(n, 0.5)(x, y) == want
    assert Subsequence(n, 0.5).block([x], [y])[0, 0] == want


@given(WORDS, WORDS)
def test_all_subsequences_against_enumeration(x, y):
    want = sum(subsequence(x, y, n, Fraction(1)) for n in range(8))
    assert AllSubsequences()(x, y) == AllSubsequences().block([x], [y])[0, 0] == want
    want = 1 + sum(subsequence(x, y, n, HALF) for n in range(1, 8))
    assert AllSubsequences(0.5)(x, y) == AllSubsequences(0.5).block([x], [y])[0, 0] == float(want)


def test_weights_of_lengths_make_a_sum():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abcd"), size)) for size in (0, 3, 17, 40)]
    weights = [0.5, 0.0, 2.0, 1.0]
    parts = [w * Subsequence(n, 0.6).block(X) for n, w in enumerate(weights, start=1)]
    np.testing.assert_allclose(Subsequence(4, 0.6, weights).block(X), sum(parts), rtol=1e-13)
    lengths = Subsequence(40, 0.6, np.ones(40)).block(X)
    np.testing.assert_allclose(AllSubsequences(0.6).block(X), 1 + lengths, rtol=1e-13)


@pytest.mark.parametrize("n", range(1, 11))
def test_any_number_of_lengths(n):
    """Lengths are worked on a few at a time; C(9, n)^2 places of n letters in two strings of nine."""
    assert Subsequence(n, 1.0).block(["a" * 9])[0, 0] == math.comb(9, n) ** 2


# -- definiteness ---------------------------------------------------------------------------------
def test_all_subsequences_have_a_triangular_matrix_of_features():
    X = strings("ab", 3)
    K = AllSubsequences().block(X)
    assert round(np.linalg.det(K)) == 1  # unit diagonal with decay 1
    assert AllSubsequences(0.3).certificate.verdict is Verdict.STRICT
    assert Subsequence(3, 0.3, [1, 0, 1]).certificate.verdict is Verdict.PSD


# -- long strings ---------------------------------------------------------------------------------
def test_all_subsequences_of_one_letter_beyond_every_float():
    # sum over p of C(n, p) C(m, p) is C(n + m, n).
    k, X = AllSubsequences(), ["a" * 1000, "a" * 900, "a" * 50]
    want = [[math.log(math.comb(len(x) + len(y), len(x))) for y in X] for x in X]
    np.testing.assert_allclose(k.log_block(X), want, rtol=1e-14)
    cosines = [[math.exp(want[i][j] - (want[i][i] + want[j][j]) / 2) for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(k.normalized().block(X), cosines, rtol=1e-10)
    assert k.normalized()(X[0], X[1]) == pytest.approx(cosines[0][1], rel=1e-10)
    assert k.block(X[2:])[0, 0] == pytest.approx(math.comb(100, 50), rel=1e-14)
    with pytest.raises(ParameterError, match=r"points 0 and 0.*normalise"):
        k.block(X)
    with pytest.raises(ParameterError, match="normalise"):
        k.diagonal(X)


def test_long_subsequences_beyond_every_float():
    size, n = 520, 256
    want = 2 * math.log(math.comb(size, n))
    assert want > math.log(sys.float_info.max)
    assert Subsequence(n, 1.0).log_block(["a" * size])[0, 0] == pytest.approx(want, rel=1e-14)


def test_a_decay_that_underflows_can_still_be_normalised():
    k, x = Subsequence(200, 0.01), "ab" * 150  # decay^400 is below every float
    K = k.normalized().block([x, "b" + x, "b" * 250])
    assert k.block([x])[0, 0] == 0.0
    assert np.isfinite(K).all()
    assert K[0, 1] == pytest.approx(1.0, abs=1e-2)
    assert K[0, 2] < 1e-100


def test_a_hundred_thousand_letters():
    x, y = "ab" * 50_000, "ba"
    places = 50_000 * 49_999 // 2  # of b before a
    assert Subsequence(2, 1.0).block([x], [y])[0, 0] == places
    assert AllSubsequences().block([x], [y])[0, 0] == 1 + 100_000 + places


# -- symbols --------------------------------------------------------------------------------------
def test_symbols_are_whatever_is_equal():
    k = Subsequence(2, 1.0)
    assert k("a\0b", "\0b") == 1.0
    assert k("😀é", "x😀yé") == 1.0
    assert k("e\u0301", "é") == 0.0  # two code points, and one
    assert k([1, "to", None], (1.0, None)) == 1.0
    assert k("ab", ["a", "b"]) == 1.0
    trained, new = ["abc", "cab"], ["xab", "", "zzz", "b"]
    np.testing.assert_array_equal(k.block(trained, new), [[1, 0, 0, 0], [1, 0, 0, 0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "`n` must be an integer >= 1"),
        ((2, 0.0), "`decay` must be a finite number > 0 and <= 1"),
        ((2, 1.5), "`decay`"),
        ((2, 0.5, [1.0]), "`weights` must be 2 finite numbers >= 0"),
        ((2, 0.5, [1.0, -1.0]), "`weights`"),
        ((2, 0.5, "ab"), "`weights`"),
    ],
)
def test_parameters_are_checked(arguments, message):
    with pytest.raises(ParameterError, match=f"Subsequence: {message}"):
        Subsequence(*arguments)


# -- contributions --------------------------------------------------------------------------------
@given(WORDS, WORDS)
def test_contributions_are_the_features(x, y):
    found = {c.pattern: c.weight for c in Subsequence(3, 0.5).contributions(x, y)}
    want = {}
    for u in strings("abc", 3)[13:]:
        weight = subsequence(x, u, 3, HALF) * subsequence(u, y, 3, HALF) * 2**6  # u has decay^3 twice
        if weight:
            want[u] = float(weight)
    assert found == want


@pytest.mark.parametrize("k", [Subsequence(5, 0.7), Subsequence(4, 0.9, [1, 1, 0, 2]), AllSubsequences(0.6)])
def test_contributions_that_are_too_many_end_with_the_rest(k, monkeypatch):
    monkeypatch.setattr(search, "MOST_PATTERNS", 30)
    rng = np.random.default_rng(1)
    x, y = ("".join(rng.choice(list("abcd"), 25)) for _ in range(2))
    found = list(k._contributions(x, y))
    *named, rest = found
    assert rest.pattern == "all other subsequences"
    assert math.fsum(c.weight for c in found) == pytest.approx(k(x, y), rel=1e-12)
    shared = [c.weight for c in named if c.pattern]  # the empty one comes first
    assert len(shared) == 30
    assert shared == sorted(shared, reverse=True)


def test_places_are_the_shortest_stretches():
    (c,) = Subsequence(2, 0.5).contributions("axxbxab", "ab")
    assert (c.pattern, c.x_places, c.y_places) == ("ab", ((0, 4), (5, 7)), ((0, 2),))
    (c,) = Subsequence(2, 0.5).contributions([1, 5, 2], (1, 2))
    assert (c.pattern, c.x_places) == ((1, 2), ((0, 3),))


def test_contributions_of_strings_that_are_too_long_say_so():
    with pytest.raises(InputError, match=r"contributions: x and y must be short enough"):
        Subsequence(2).contributions("a" * 10_000, "b" * 10_000)
    with pytest.raises(ParameterError, match="overflow"):
        AllSubsequences().contributions("a" * 520, "a" * 520)
