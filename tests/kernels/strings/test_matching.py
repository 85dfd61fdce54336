"""Gapped k-mers, wildcards and mismatches against sums over all features and over all pairs of windows."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError
from mercer.kernels import GappedKmer, Mismatch, NGram, Spectrum, Wildcard
from mercer.kernels.strings import matching
from mercer.kernels.strings.mismatch import shared_neighbours, weights_of_patterns
from mercer.sequences import reverse_complement

pytestmark = pytest.mark.native

RNG = np.random.default_rng(1)


def strings(letters, count, longest):
    sizes = RNG.integers(0, longest + 1, size=count)
    return ["".join(RNG.choice(list(letters), size)) for size in sizes]


X = ["", "a", "aaaaaaaa", *strings("ab", 2, 9), *strings("abc", 3, 14)]
Y = ["", *strings("abd", 3, 10)]  # d does not occur in X
DNA = ["", "A", *strings("ACGT", 5, 12), *strings("ACGTN", 3, 12)]
PLAIN = ["", "A", *strings("ACGT", 7, 12)]


def windows(x, n):
    return [x[i : i + n] for i in range(len(x) - n + 1)]


def matches(a, b):
    return sum(s == t for s, t in zip(a, b, strict=True))


def over_pairs(n, value):
    """Sum of value(a, b) over the windows of both."""
    known = functools.cache(value)
    return lambda x, y: sum(known(a, b) for a in windows(x, n) for b in windows(y, n))


def table(value, X, Y):
    return np.array([[float(value(x, y)) for y in Y] for x in X])


WAYS = ["neighbours", "patterns", "pairs"]


def take(way, monkeypatch):
    """Take one of the ways wherever there is it."""
    costs = matching.Matching._costs
    monkeypatch.setattr(matching.Matching, "_costs", lambda *a: {name: name != way for name in costs(*a)})


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """The ways to the same values; which one is taken depends on the sizes."""
    take(request.param, monkeypatch)


def agrees(k, value, X, Y, tolerance=0):
    both, square = table(value, X, Y), table(value, X, X)
    np.testing.assert_allclose(k.block(X, Y), both, rtol=tolerance)
    np.testing.assert_allclose(k.block(X), square, rtol=tolerance)
    np.testing.assert_allclose(k.diagonal(X), square.diagonal(), rtol=tolerance)
    np.testing.assert_allclose(table(k, X, Y), both, rtol=tolerance)


# -- gapped k-mers ------------------------------------------------------------------------------------
@pytest.mark.parametrize(("length", "k"), [(1, 1), (3, 2), (4, 1), (4, 4), (5, 3)])
def test_gapped_kmers(length, k, way):
    value = over_pairs(length, lambda a, b: math.comb(matches(a, b), k))
    agrees(GappedKmer(length, k), value, X, Y)


def test_all_letters_count_is_the_spectrum(way):
    assert GappedKmer(3, 3).block(X, Y).tolist() == NGram(3).block(X, Y).tolist()


def test_gapped_kmers_by_their_features():
    """Every pattern of two letters and a hole, over the alphabet."""
    patterns = {p for p in itertools.product("abc.", repeat=3) if p.count(".") == 1}

    def feature(x, pattern):
        return sum(all(p in (".", c) for p, c in zip(pattern, w, strict=True)) for w in windows(x, 3))

    expected = table(lambda x, y: sum(feature(x, p) * feature(y, p) for p in patterns), X, X)
    assert GappedKmer(3, 2).block(X).tolist() == expected.tolist()


def test_many_symbols(way):
    """Letters beyond 32 bits in a window are renamed on the way; none is taken for another."""
    tokens = [tuple(row) for row in RNG.integers(0, 5000, size=(5, 30)).tolist()]
    mixed = [tuple(s if i % 5 else -1 for i, s in enumerate(row)) for row in tokens]
    k = GappedKmer(12, 8)
    expected = table(over_pairs(12, lambda a, b: math.comb(matches(a, b), 8)), tokens, mixed)
    assert k.block(tokens, mixed).tolist() == expected.tolist()
    assert expected.diagonal().min() > 0


def test_both_strands(way):
    k = GappedKmer(3, 2, reverse_complement=True)
    plain = over_pairs(3, lambda a, b: math.comb(matches(a, b), 2))
    agrees(k, lambda x, y: plain(x, y) + plain(x, reverse_complement(y)), DNA, DNA[::-1])
    flipped = [reverse_complement(x) for x in DNA]
    assert k.block(flipped, DNA).tolist() == k.block(DNA).tolist()


def test_windows_with_ambiguous_letters_are_left_out(way):
    def value(a, b):
        return 0 if "N" in a + b else math.comb(matches(a, b), 2)

    agrees(GappedKmer(3, 2, ambiguity="skip"), over_pairs(3, value), DNA, DNA[::-1])
    literal = over_pairs(3, lambda a, b: math.comb(matches(a, b), 2))
    agrees(GappedKmer(3, 2), literal, DNA, DNA[::-1])


# -- wildcards ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("n", "m", "decay"), [(1, 1, 0.5), (3, 0, 0.5), (3, 1, 0.25), (4, 4, 1.0), (4, 2, 0.7)]
)
def test_wildcards(n, m, decay, way):
    def value(a, b):
        same = matches(a, b)
        return sum(Fraction(decay) ** (2 * j) * math.comb(same, n - j) for j in range(m + 1))

    agrees(Wildcard(n, m, decay), over_pairs(n, value), X, Y, tolerance=1e-14)


# -- mismatches -----------------------------------------------------------------------------------------
def near(x, z, m):
    return sum(len(z) - matches(w, z) <= m for w in windows(x, len(z)))


@pytest.mark.parametrize("letters", ["abcd", "abcde", "dcba"])
@pytest.mark.parametrize(("n", "m"), [(1, 0), (1, 1), (2, 1), (3, 1), (3, 2), (4, 1)])
def test_mismatches(n, m, letters, way):
    grams = ["".join(z) for z in itertools.product(letters, repeat=n)]
    features = {x: np.array([near(x, z, m) for z in grams]) for x in {*X, *Y}}
    agrees(Mismatch(n, m, letters), lambda x, y: features[x] @ features[y], X, Y)


def test_mismatches_on_both_strands(way):
    k, plain = Mismatch(3, 1, reverse_complement=True), Mismatch(3, 1)
    agrees(k, lambda x, y: plain(x, y) + plain(x, reverse_complement(y)), PLAIN, PLAIN[::-1])


def test_no_mismatch_is_the_spectrum(way):
    assert Mismatch(3, 0).block(PLAIN).tolist() == Spectrum(3).block(PLAIN).tolist()


@pytest.mark.parametrize(("n", "size"), [(2, 1), (3, 2), (3, 4), (4, 3)])
def test_shared_neighbours_by_enumeration(n, size):
    grams = list(itertools.product(range(size), repeat=n))
    for m, distance in itertools.product(range(n + 1), range(n + 1 if size > 1 else 1)):
        a, b = (0,) * n, (1,) * distance + (0,) * (n - distance)
        shared = sum(n - matches(a, z) <= m and n - matches(b, z) <= m for z in grams)
        assert shared_neighbours(n, m, size, distance) == shared
        weights = weights_of_patterns(n, m, size)
        assert sum(w * math.comb(n - distance, j) for j, w in weights.items()) == shared


def test_the_alphabet_does_not_depend_on_the_data():
    """One pair has one value, whatever letters occur in other rows."""
    k = Mismatch(2, 1, "abcdef")
    alone = k.block(["ab"], ["ac"])[0, 0]
    assert alone == k.block(["ab", "ff"], ["ac", "de", "fb"])[0, 0] == k("ab", "ac") == 6.0


@pytest.mark.parametrize("k", [GappedKmer(3, 2), Mismatch(3, 1, "abcd")])
def test_work_in_parts(k, monkeypatch):
    """Some sequences at a time, and some windows of a long one, as memory and Ctrl-C ask for."""
    expected = k.block(X).tolist(), k.block(X, Y).tolist()
    monkeypatch.setattr(matching, "MOST_WINDOWS", 5)
    monkeypatch.setattr(matching, "MOST_PAIRS", 7)
    for way in WAYS:
        with monkeypatch.context() as patched:
            take(way, patched)
            assert (k.block(X).tolist(), k.block(X, Y).tolist()) == expected


@pytest.mark.parametrize(
    ("k", "letters", "length"),
    [
        (GappedKmer(5, 3), "ACGT", 700),  # more rows than a byte counts
        (GappedKmer(9, 7), "ACGT", 2200),  # more columns than are compared at a time
        (Mismatch(4, 1, "abcdefg"), "abcdefg", 300),  # an alphabet that is no power of two
        (Wildcard(3, 1, 0.5), [chr(300 + i) for i in range(300)], 400),  # more letters than a byte holds
        (GappedKmer(260, 259), "ab", 300),  # agreements beyond a byte
    ],
    ids=repr,
)
def test_ways_agree_on_longer_strings(k, letters, length, monkeypatch):
    texts = ["".join(RNG.choice(list(letters), size)) for size in (length, length // 2, length - 1)]
    texts.append(texts[0][1:] + texts[2][:1])
    found = []
    for way in WAYS:
        with monkeypatch.context() as patched:
            take(way, patched)
            found.append([k.block(texts).tolist(), k.block(texts, texts[:2]).tolist()])
    assert found[0] == found[1] == found[2]
    assert found[0][0][0][3] == k(texts[0], texts[3]) > 0


def test_a_table_is_taken_where_it_is_the_best(monkeypatch):
    """Many strings over few letters; long words have no table."""
    k = Mismatch(6, 1)
    runs = k._prepare(k.domain.validate(strings("ACGT", 300, 200)))
    runs = runs.runs(runs.texts)[0]
    costs = k._costs(runs, runs, 4, True)
    assert min(costs, key=costs.__getitem__) == "neighbours"
    assert "neighbours" not in GappedKmer(13, 6)._costs(runs, runs, 4, True)


# -- hard inputs ------------------------------------------------------------------------------------------
def test_long_strings_by_patterns():
    x = "".join(RNG.choice(list("ACGT"), 50_000))
    k = GappedKmer(4, 2)
    expected = sum(
        int(n) ** 2
        for places in itertools.combinations(range(4), 2)
        for n in np.unique([x[i + places[0]] + x[i + places[1]] for i in range(49_997)], return_counts=True)[
            1
        ]
    )
    assert k.block([x])[0, 0] == expected


def test_very_many_patterns_go_by_pairs():
    """C(40, 20) patterns could not be listed."""
    k = GappedKmer(40, 20)
    x = "".join(RNG.choice(list("ACGT"), 60))
    y = x[:30] + x[31:] + "A"
    value = over_pairs(40, lambda a, b: math.comb(matches(a, b), 20))
    assert k.block([x], [y])[0, 0] == pytest.approx(float(value(x, y)), rel=1e-14)
    assert k(x, y) == pytest.approx(float(value(x, y)), rel=1e-14)


def test_windows_longer_than_all_strings():
    for k in (GappedKmer(10**6, 500_000), Wildcard(10**5, 10), Mismatch(500, 3)):
        assert k.block(["ACGT", ""]).tolist() == [[0, 0], [0, 0]]
        assert k("ACGT", "A") == 0.0


def test_values_beyond_the_largest_float():
    k = GappedKmer(3000, 1500)
    x, y = "A" * 3000, "C" * 3000
    assert k.block([x], [y])[0, 0] == k(x, y) == 0.0
    with pytest.raises(ParameterError, match="inf"):
        k.block([x])
    with pytest.raises(ParameterError, match="overflows"):
        k(x, x)


def test_many_neighbours_are_not_listed():
    """Over 26 letters a window has ten million neighbours."""
    k, letters = Mismatch(6, 5, "abcdefghijklmnopqrstuvwxyz"), 26
    assert k("abcdef", "abcdef") == letters**6 - (letters - 1) ** 6
    assert k("abcdef", "abcdef") == k.block(["abcdef"])[0, 0]


def test_results_do_not_depend_on_threads(monkeypatch):
    texts = strings("ACGT", 600, 30)
    kernels = [GappedKmer(6, 4), Wildcard(4, 2, 0.3), Mismatch(4, 1)]
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        found.append([k.block(texts).tobytes() + k.block(texts[:50]).tobytes() for k in kernels])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GappedKmer(3, 4), "`k` must be at most l=3"),
        (lambda: GappedKmer(3, 0), "`k` must be an integer >= 1"),
        (lambda: GappedKmer(3, 2, ambiguity="expand"), "`ambiguity` must be one of 'literal', 'skip'"),
        (lambda: Wildcard(2, 3), "`m` must be at most n=2"),
        (lambda: Wildcard(2, 1, 0.0), "`decay`"),
        (lambda: Mismatch(2, 3), "`m` must be at most n=2"),
        (lambda: Mismatch(2, 1, ""), "`alphabet` must be"),
        (lambda: Mismatch(2, 1, 4), "`alphabet` must be"),
        (lambda: Mismatch(2, 1, "ACG", reverse_complement=True), "`alphabet` must be 'ACGT'"),
    ],
)
def test_wrong_parameters(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_letters_outside_the_alphabet_are_refused():
    with pytest.raises(InputError, match=r"X\[1\]\[1\] must be one of 'a', 'b'. Got 'c'"):
        Mismatch(2, 1, "ab").block(["ab", "ac"])
    with pytest.raises(InputError, match=r"y\[0\] must be A, C, G or T. Got 'N'"):
        Mismatch(2, 1)("AC", "N")


# -- explanation and proof ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("k", "points"),
    [
        (GappedKmer(3, 2), X),
        (Wildcard(3, 2, 0.5), X),
        (Mismatch(3, 1, "abc"), X),
        (GappedKmer(3, 2, reverse_complement=True), DNA),
        (GappedKmer(3, 2, ambiguity="skip"), DNA),
        (Mismatch(2, 1, reverse_complement=True), PLAIN),
    ],
)
def test_contributions_add_up(k, points):
    for x, y in itertools.product(points, points):
        assert k.contributions(x, y).total == pytest.approx(k(x, y), rel=1e-14)


def test_contributions_name_patterns_and_places():
    (found,) = GappedKmer(3, 2).contributions("xACGx", "yyATG")
    assert (found.pattern, found.x_places, found.y_places) == ("A.G", ((1, 4),), ((2, 5),))
    (found,) = GappedKmer(3, 3, reverse_complement=True).contributions("CAAC", "CGTT")
    assert (found.pattern, found.x_places, found.y_places) == ("AAC", ((1, 4),), ((1, 4),))
    patterns = {c.pattern for c in Mismatch(2, 1, "ab").contributions("aa", "bb")}
    assert patterns == {"ab", "ba"}


@pytest.mark.parametrize("k", [GappedKmer(3, 2), Wildcard(3), Mismatch(3)])
def test_positive_definite_but_not_strictly(k):
    assert k.certificate.verdict is Verdict.PSD
    assert k.block(["", "A"]).tolist() == [[0, 0], [0, 0]]
