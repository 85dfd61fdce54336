"""n-grams against the enumeration of all grams over the alphabet, in exact arithmetic; hard inputs."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError
from mercer.kernels import GappyNGram, NGram, Spectrum
from mercer.kernels.strings import gappy, kmers, ngrams
from mercer.sequences import IUPAC, reverse_complement

pytestmark = pytest.mark.native

RNG = np.random.default_rng(0)


def strings(letters, count, longest):
    sizes = RNG.integers(0, longest + 1, size=count)
    return ["".join(RNG.choice(list(letters), size)) for size in sizes]


X = ["", "a", *strings("ab", 6, 8), *strings("abc", 4, 12)]
Y = ["", *strings("abd", 5, 9)]  # d does not occur in X
DNA = ["", "A", *strings("ACGT", 4, 9), *strings("ACGTRYN", 4, 7)]


def counted(feature, letters, n):
    """Features of a string: feature(x, z) for all strings z of n letters."""
    grams = ["".join(z) for z in itertools.product(letters, repeat=n)]
    return lambda x: {z: Fraction(feature(x, z)) for z in grams}


def occurrences(x, z):
    """Number of places at which z stands in x, by looking at each."""
    return sum(x[i : i + len(z)] == z for i in range(len(x)))


def tables(features, X, Y):
    """Inner products of features, exactly, of X with Y and of X with itself."""
    found = {x: {z: v for z, v in features(x).items() if v} for x in {*X, *Y}}

    def value(x, y):
        return float(sum(v * found[y].get(z, 0) for z, v in found[x].items()))

    return (np.array([[value(x, y) for y in Z] for x in X]) for Z in (Y, X))


def agrees(k, features, X, Y, exact=True):
    """Blocks, diagonal and single values against an oracle."""
    tolerance = 0 if exact else 1e-14
    both, square = tables(features, X, Y)
    np.testing.assert_allclose(k.block(X, Y), both, rtol=tolerance)
    np.testing.assert_allclose(k.block(X), square, rtol=tolerance)
    np.testing.assert_allclose(k.diagonal(X), square.diagonal(), rtol=tolerance)
    np.testing.assert_allclose([[k(x, y) for y in Y] for x in X], both, rtol=tolerance)
    data, other = (k._prepare(k.domain.validate(Z)) for Z in (X, Y))
    np.testing.assert_allclose(k._block(data, other), both, rtol=tolerance)


@pytest.fixture(params=["packed", "sorted columns", "paired names"])
def naming(request, monkeypatch):
    """The three ways to name n-grams, all on small data."""
    monkeypatch.setattr(ngrams, "MOST_WINDOWS", 20)  # several parts
    if request.param == "sorted columns":
        monkeypatch.setattr(kmers, "MOST_DIRECT", 1)
    elif request.param == "paired names":
        monkeypatch.setattr(kmers, "MOST_CODE", 16)


# -- values ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_ngrams_are_counted(n, naming):
    agrees(NGram(n), counted(occurrences, "abc", n), X, Y)


def test_weights_of_all_lengths(naming):
    weights = [0.25, 0.0, 3.0]

    both = sum(w * next(tables(counted(occurrences, "abc", n), X, Y)) for n, w in enumerate(weights, 1))
    assert NGram(3, weights).block(X, Y).tolist() == both.tolist()
    assert [[NGram(3, weights)(x, y) for y in Y] for x in X] == both.tolist()
    assert NGram(3, [0, 0, 1]).block(X).tolist() == NGram(3).block(X).tolist()


def test_bigrams_of_the_book():
    assert NGram(2)("aab", "aab") == 2.0
    for decay in (0.125, 0.5, 1.0):
        assert GappyNGram(2, decay)("aab", "aab") == 1 + (1 + decay) ** 2


def test_spectrum_without_options_is_ngram():
    assert Spectrum(3).block(X, Y).tolist() == NGram(3).block(X, Y).tolist()


# -- DNA ------------------------------------------------------------------------------------------
def canonical(x, z):
    """Windows of x that are z or its other strand; the feature of z is 0 unless z is the first of the two."""
    other = reverse_complement(z)
    order = [list(IUPAC).index(c) for c in z], [list(IUPAC).index(c) for c in other]
    if order[0] > order[1]:
        return 0
    return sum(x[i : i + len(z)] in (z, other) for i in range(len(x)))


def fitting(x, z):
    """Share of the meanings of each window of x that is z."""
    total = Fraction(0)
    for i in range(len(x) - len(z) + 1):
        share = Fraction(1)
        for a, b in zip(x[i : i + len(z)], z, strict=True):
            share *= Fraction(b in IUPAC[a], len(IUPAC[a]))
        total += share
    return total


@pytest.mark.parametrize("n", [1, 2])
def test_both_strands(n, naming):
    k = Spectrum(n, reverse_complement=True)
    agrees(k, counted(canonical, IUPAC, n), DNA, DNA[::-1])
    flipped = [reverse_complement(x) for x in DNA]
    assert k.block(flipped, DNA).tolist() == k.block(DNA).tolist()


@pytest.mark.parametrize("n", [1, 3])
def test_ambiguous_letters(n):
    skip = Spectrum(n, ambiguity="skip")
    agrees(skip, counted(occurrences, "ACGT", n), DNA, DNA[2:])
    expand = Spectrum(n, ambiguity="expand")
    agrees(expand, counted(fitting, "ACGT", n), DNA, DNA[2:], exact=False)


def test_expansion_on_both_strands():
    def feature(x, z):
        if z > reverse_complement(z):
            return 0
        return fitting(x, z) + (fitting(x, reverse_complement(z)) if z != reverse_complement(z) else 0)

    k = Spectrum(2, reverse_complement=True, ambiguity="expand")
    agrees(k, counted(feature, "ACGT", 2), DNA, DNA[2:], exact=False)


def test_too_many_meanings_are_an_error():
    k = Spectrum(7, ambiguity="expand")
    assert k.block(["ACGTACGN"])[0, 0] == 1.25
    for evaluate in (k.block, lambda X: k(X[0], X[0])):
        with pytest.raises(InputError, match="4,096"):
            evaluate(["ACGT" + "N" * 7])


def test_long_dna_on_both_strands():
    """Beyond 31 letters names are learnt from both strands."""
    x = "".join(RNG.choice(list("ACGT"), 80))
    k = Spectrum(40, reverse_complement=True)
    assert k.block([x], [reverse_complement(x), x]).tolist() == [[41.0, 41.0]]


# -- gaps -----------------------------------------------------------------------------------------
def gapped(n, decay, most=None):
    """Weights of n-grams with gaps, summed over all choices of places."""

    def features(x):
        total = {}
        for places in itertools.combinations(range(len(x)), n):
            gap = places[-1] - places[0] + 1 - n
            if most is None or gap <= most:
                z = "".join(x[i] for i in places)
                total[z] = total.get(z, 0) + Fraction(decay) ** gap
        return total

    return features


@pytest.mark.parametrize("way", ["features", "pairs", "steps"])
@pytest.mark.parametrize(("n", "decay"), [(1, 0.5), (2, 0.25), (3, 0.7), (4, 1.0)])
def test_gaps_of_any_length(n, decay, way, monkeypatch):
    if way != "features":
        monkeypatch.setattr(gappy, "MOST_FEATURES", 0)
    if way == "steps":
        monkeypatch.setattr(gappy, "MOST_STEPS", 0)
    agrees(GappyNGram(n, decay), gapped(n, decay), X, Y, exact=False)


@pytest.mark.parametrize("most", [0, 1, 3])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_gaps_of_limited_length(n, most, naming, monkeypatch):
    monkeypatch.setattr(gappy, "MOST_WINDOWS", 8)  # several parts
    k = GappyNGram(n, 0.5, most)
    agrees(k, gapped(n, 0.5, most), X, Y, exact=False)


def test_wide_enough_gaps_are_all_gaps():
    wide = GappyNGram(3, 0.7, max_gap=12)
    np.testing.assert_allclose(wide.block(X), GappyNGram(3, 0.7).block(X), rtol=1e-13)


# -- names never collide ----------------------------------------------------------------------------
def test_many_symbols_and_long_grams():
    """30,000 symbols need 15 bits each: eight of them do not fit into a number."""
    tokens = RNG.integers(0, 30_000, size=(6, 50)).tolist()
    copied = [row[:20] + other[20:] for row, other in zip(tokens, tokens[1:] + tokens[:1], strict=True)]
    for k in (NGram(8), NGram(3), GappyNGram(8, 0.5, 1)):
        expected = np.array([[k(x, y) for y in copied] for x in tokens])
        np.testing.assert_allclose(k.block(tokens, copied), expected, rtol=1e-14)
        assert (expected > 0).sum() == 12


def test_every_length_up_to_that_of_the_string():
    x, y = "abracadabra" * 3, "cadabra" * 4
    for n in range(1, 35):
        value = sum(x[i : i + n] == y[j : j + n] for i in range(34 - n) for j in range(29 - n))
        assert NGram(n).block([x], [y])[0, 0] == NGram(n)(x, y) == value


@pytest.mark.parametrize("k", [NGram(10**9), GappyNGram(10**9), GappyNGram(10**9, 0.5, 0)])
def test_n_beyond_every_length(k):
    for points in (["abc", "ab", ""], ["aaa", "a", ""]):
        assert k.block(points).tolist() == np.zeros((3, 3)).tolist()
        assert k(points[0], points[0]) == 0.0
        assert len(k.contributions(*points[:2])) == 0


def test_a_hundred_thousand_letters():
    x = "".join(RNG.choice(list("ACGT"), 100_000))
    k = NGram(12)
    K = k.block([x, x[1:], "ACGT"], [x[:50_000], "", "x" * 100_000])
    assert K[0, 0] == k(x, x[:50_000]) >= K[1, 0] > 49_000
    assert K[:, 1:].sum() == K[2].sum() == 0
    assert NGram(99_999).block([x])[0, 0] == 2.0
    assert GappyNGram(3, 0.5).block(["a" * 100_000])[0, 0] == pytest.approx((4 * 99_998 - 8) ** 2, rel=1e-6)


# -- hard inputs ------------------------------------------------------------------------------------
def test_characters_are_code_points():
    k = NGram(2)
    assert k("a\0b", "a\0") == 1.0
    assert k.block(["\U0001f600\U0001f601"], ["\U0001f600\U0001f601", "\U0001f601\U0001f600"]).tolist() == [
        [1, 0]
    ]
    assert k("e\u0301", "\u00e9\u00e9") == 0.0
    assert NGram(1).block([range(2), [0, 1, "0"], (True, 0.0)]).tolist() == [
        [2, 2, 2],
        [2, 3, 2],
        [2, 2, 2],
    ]


def test_results_do_not_depend_on_threads(monkeypatch):
    texts = strings("abcd", 700, 40)
    kernels = [NGram(3), NGram(2, [0.1, 0.7]), GappyNGram(2, 0.3), GappyNGram(2, 0.3, 2)]
    wanted = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        wanted.append([k.block(texts).tobytes() for k in kernels])
    assert wanted[0] == wanted[1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NGram(0), "`n` must be an integer >= 1"),
        (lambda: NGram(2, [1.0]), "`weights` must be n=2 finite numbers >= 0"),
        (lambda: NGram(2, [1.0, -1.0]), "`weights` must be n=2"),
        (lambda: NGram(2, 3.0), "`weights` must be n=2"),
        (lambda: Spectrum(2, ambiguity="ignore"), "`ambiguity` must be one of"),
        (lambda: Spectrum(32, ambiguity="expand"), "`n` must be at most 31"),
        (lambda: GappyNGram(2, 0.0), "`decay` must be"),
        (lambda: GappyNGram(2, 1.5), "`decay` must be"),
        (lambda: GappyNGram(2, 0.5, -1), "`max_gap` must be an integer from 0 to 1000, or None"),
        (lambda: GappyNGram(2, 0.5, 1.5), "`max_gap` must be an integer"),
        (lambda: GappyNGram(9, 0.5, 50), "4,096 shapes"),
    ],
)
def test_wrong_parameters(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_what_is_not_dna_is_refused():
    k = Spectrum(2, reverse_complement=True)
    with pytest.raises(InputError, match=r"X\[1\]\[2\] must be a letter of DNA.*Got '-'"):
        k.block(["ACGT", "AC-T"])
    with pytest.raises(InputError, match=r"x\[0\] must be a letter of DNA"):
        k("E", "A")


def test_overflow_is_an_error():
    with pytest.raises(ParameterError, match="overflows"):
        GappyNGram(200, 1.0)("a" * 640, "a" * 640)
    with pytest.raises(ParameterError, match="inf"):
        GappyNGram(200, 1.0).block(["a" * 640])


# -- explanation and proof ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    "k",
    [NGram(2), NGram(3, [1, 2, 0.5]), GappyNGram(2, 0.5), GappyNGram(3, 0.5, 2)],
)
def test_contributions_add_up(k):
    for x, y in itertools.product(X, Y):
        found = k.contributions(x, y)
        assert found.total == pytest.approx(k(x, y), rel=1e-14)
        for c in found:
            for text, places in ((x, c.x_places), (y, c.y_places)):
                assert places
                for start, end in places:
                    rest = iter(text[start:end])
                    assert all(letter in rest for letter in c.pattern)  # in this order, gaps allowed


def test_places_of_a_gram_with_gaps_are_the_tightest():
    (found,) = GappyNGram(2, 0.5).contributions("axxbxabxab", "ab")
    assert found.pattern == "ab"
    assert found.x_places == ((5, 7), (8, 10))
    assert found.y_places == ((0, 2),)


def test_contributions_of_tokens_and_strands():
    (found,) = NGram(2).contributions(["the", "cat", "sat"], ["a", "the", "cat"])
    assert (found.pattern, found.x_places, found.y_places) == (("the", "cat"), ((0, 2),), ((1, 3),))
    (found,) = Spectrum(3, reverse_complement=True).contributions("AAC", "TGTT")
    assert (found.pattern, found.weight, found.y_places) == ("AAC", 1.0, ((1, 4),))
    found = Spectrum(2, ambiguity="expand").contributions("AN", "AA")
    assert [(c.pattern, c.weight) for c in found] == [("AA", 0.25)]


@pytest.mark.parametrize("k", [NGram(2), Spectrum(3, ambiguity="skip"), GappyNGram(2)])
def test_positive_definite_but_not_strictly(k):
    assert k.certificate.verdict is Verdict.PSD
    assert k.block(["", "A"]).tolist() == [[0, 0], [0, 0]]


def test_composes_with_the_algebra():
    k = (NGram(2) + 0.5 * NGram(1)).normalized()
    expected = NGram(2, [0.5, 1.0]).normalized()
    texts = [x for x in X if x]
    np.testing.assert_allclose(k.block(texts), expected.block(texts), rtol=1e-14)
    assert k.contributions("banana", "ananas").total == pytest.approx(k("banana", "ananas"))
