"""The local alignment kernel against enumeration, and its certificate against the theorem."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError
from mercer.kernels import AllSubsequences, LocalAlignment, search
from mercer.kernels.strings.scores import named_table

from .brute import alignment_sum, strings

WORDS = st.text("ab", max_size=5)
LOG2 = math.log(2)

#: Scores that are logarithms of these weights, to base 2.
WEIGHTS = {("a", "a"): 4, ("b", "b"): 2, ("a", "b"): 1}


def table_kernel(open_cost, extend_cost):
    scores = {pair: math.log2(w) for pair, w in WEIGHTS.items()}
    return LocalAlignment(scores, beta=LOG2, open=open_cost, extend=extend_cost)


@given(WORDS, WORDS, st.integers(0, 2), st.integers(0, 2))
def test_definition_and_block_against_enumeration(x, y, open_cost, extend_cost):
    first, further = Fraction(1, 2**open_cost), Fraction(1, 2**extend_cost)
    want = alignment_sum(x, y, lambda a, b: Fraction(WEIGHTS[min(a, b), max(a, b)]), first, further)
    k = table_kernel(open_cost, extend_cost)
    assert k(x, y) == pytest.approx(float(want), rel=1e-14)
    assert k.block([x], [y])[0, 0] == pytest.approx(float(want), rel=1e-14)

    want = alignment_sum(x, y, lambda a, b: Fraction(4 if a == b else 1, 2), first, further)
    k = LocalAlignment((1.0, -1.0), LOG2, open_cost, extend_cost)
    assert k(x, y) == pytest.approx(float(want), rel=1e-14)
    assert k.block([x], [y])[0, 0] == pytest.approx(float(want), rel=1e-14)


def saigo(x, y, weight, d, e):
    """The five recursions as Saigo, Vert, Ueda and Akutsu print them."""
    n, m = len(x), len(y)
    M, X, Y, X2, Y2 = np.zeros((5, n + 1, m + 1))
    for i, j in product(range(1, n + 1), range(1, m + 1)):
        M[i, j] = weight(x[i - 1], y[j - 1]) * (1 + X[i - 1, j - 1] + Y[i - 1, j - 1] + M[i - 1, j - 1])
        X[i, j] = d * M[i - 1, j] + e * X[i - 1, j]
        Y[i, j] = d * (M[i, j - 1] + X[i, j - 1]) + e * Y[i, j - 1]
        X2[i, j] = M[i - 1, j] + X2[i - 1, j]
        Y2[i, j] = M[i, j - 1] + X2[i, j - 1] + Y2[i, j - 1]
    return 1 + X2[n, m] + Y2[n, m] + M[n, m]


def test_proteins_against_the_published_recursions():
    X = ["MKVLAAGIVG", "HEAGAWGHEE", "PAWHEAE", ""]
    S = named_table("blosum62")
    want = [
        [saigo(x, y, lambda a, b: math.exp(0.5 * S.score(a, b)), math.exp(-5.5), math.exp(-0.5)) for y in X]
        for x in X
    ]
    np.testing.assert_allclose(LocalAlignment().block(X), want, rtol=1e-13)


def test_equal_symbols_only_are_the_subsequences():
    X = ["abracadabra", "barbara", "", "ccc"]
    decay = 0.5
    k = LocalAlignment((2 * math.log(decay), -100.0), 1.0, -math.log(decay), -math.log(decay))
    np.testing.assert_allclose(k.block(X), AllSubsequences(decay).block(X), rtol=1e-13)


def test_a_large_beta_leaves_the_best_alignment():
    # Two stretches of three and two matches, and a gap of two: 5 + 5 - (1 + 0.5).
    k = LocalAlignment((2.0, -3.0), 20.0, 1.0, 0.5)
    score = k.log_block(["abcxxde"], ["abcde"])[0, 0] / 20.0
    assert score == pytest.approx(10 - 1.5, abs=1e-2)


# -- definiteness ---------------------------------------------------------------------------------
@pytest.mark.parametrize("beta", [0.05, 0.1, 0.2, 0.5, 1.0, 3.0])
def test_the_certificate_follows_the_table(beta):
    k, table = LocalAlignment("blosum62", beta), named_table("blosum62")
    definite = np.linalg.eigvalsh(np.exp(beta * table.scores))[0] > 0
    assert k.certificate.verdict is (Verdict.STRICT if definite else Verdict.REFUTED)
    if not definite:
        assert k.certificate.witness.value < 0
        assert k.certificate.witness.digits == 50


def test_scores_without_a_decision():
    # Two symbols that no other tells apart: singular, which elimination cannot tell from indefinite.
    k = LocalAlignment({("a", "a"): 0.0, ("b", "b"): 0.0, ("a", "b"): 0.0}, 1.0)
    assert k.certificate.verdict is Verdict.UNKNOWN
    assert LocalAlignment((0.0, 0.0)).certificate.verdict is Verdict.PSD


def test_refutation_finds_the_witness_among_strings():
    k = LocalAlignment({("a", "a"): 0.0, ("b", "b"): 0.0, ("a", "b"): 1.0}, 1.0, 1.0, 1.0)
    assert k.certificate.verdict is Verdict.REFUTED
    K = k.block(strings("ab", 2))
    assert np.linalg.eigvalsh(K)[0] < -1e-3


def test_definite_on_all_short_strings():
    K = LocalAlignment("dna", 0.3, 2.0, 1.0).block(strings("ACGN", 2))
    assert np.linalg.eigvalsh(K)[0] > 0


# -- long strings ---------------------------------------------------------------------------------
def test_stretches_of_very_different_weight():
    """A light stretch passes every float long before a heavier one begins elsewhere: neither is lost."""
    rng = np.random.default_rng(0)
    P, Q = "".join(rng.choice(list("abc"), 14)), "".join(rng.choice(list("def"), 25))
    k = LocalAlignment((90.0, -90.0), 1.0, 100.0, 10.0)
    pairs = [(P + Q, Q + P), (Q + P, P + Q), (P + Q, P + Q), (P, Q + P)]
    got = [k.log_block([x], [y])[0, 0] for x, y in pairs]
    m = [k.precise(x, y, 80) for x, y in pairs]
    assert got == pytest.approx([float(v.ln()) if hasattr(v, "ln") else _log(v) for v in m], rel=1e-14)


def _log(value):
    return float(mercer.arithmetic.multiprecision(30).log(value))


@pytest.mark.parametrize("scores", ["dna", (5.0, -4.0)])
def test_normalised_values_at_a_thousand_letters(scores):
    rng = np.random.default_rng(3)
    x = "".join(rng.choice(list("ACGT"), 1000))
    X = [x, x[:500] + "G" + x[500:], "".join(rng.choice(list("ACGT"), 900))]
    k = LocalAlignment(scores, 0.5, 10.0, 1.0)
    with pytest.raises(ParameterError, match="normalise"):
        k.block(X)
    logs, K = k.log_block(X), k.normalized().block(X)
    assert logs[0, 0] > 2000.0
    np.testing.assert_allclose(
        K, np.exp(logs - np.add.outer(logs.diagonal(), logs.diagonal()) / 2), rtol=1e-9
    )
    assert 1e-3 < K[0, 1] < 1.0
    assert K[0, 2] < 1e-300


# -- tables ---------------------------------------------------------------------------------------
def test_blosum62():
    table = named_table("blosum62")
    assert "".join(table.vocabulary.elements) == "ARNDCQEGHILKMFPSTWYVBZX*"
    assert np.array_equal(table.scores, table.scores.T)
    assert np.trace(table.scores[:20, :20]) == 116.0
    for pair, score in {
        "WW": 11,
        "CC": 9,
        "HH": 8,
        "IL": 2,
        "DE": 2,
        "ST": 1,
        "WP": -4,
        "BD": 4,
        "X*": -4,
    }.items():
        assert table.score(*pair) == score


def test_scores_in_either_order_are_one_kernel():
    k = LocalAlignment({("a", "a"): 1, ("b", "a"): 0, ("b", "b"): 2})
    assert k == LocalAlignment({("b", "b"): 2.0, ("a", "b"): 0.0, ("a", "a"): 1.0})
    assert k.digest() == LocalAlignment({("a", "b"): 0, ("a", "a"): 1, ("b", "b"): 2}).digest()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pam250",), "`scores` must be one of 'blosum62', 'dna', two finite numbers"),
        (((1.0,),), "`scores` must be one of"),
        (((1.0, math.inf),), "`scores` must be one of"),
        (({},), "`scores` must be a mapping from pairs"),
        (({"ab": 1.0},), "`scores` must be a mapping from pairs"),
        (({("a", "b"): 1.0},), "no score for 'a' and 'a'"),
        (({("a", "a"): 1, ("b", "b"): 1, ("a", "b"): 0, ("b", "a"): 2},), "two scores for 'b' and 'a'"),
        (({("a", "a"): "x"},), "finite numbers. Got 'x'"),
        (("dna", 100.0), "`beta` times `scores` must be at most 100"),
        (("dna", 1.0, 300.0), "`beta` times `open` must be at most 100"),
        (("dna", 1.0, -1.0), "`open` must be"),
    ],
)
def test_parameters_are_checked(arguments, message):
    with pytest.raises(ParameterError, match=f"LocalAlignment: .*{message}"):
        LocalAlignment(*arguments)


def test_symbols_that_a_table_does_not_know_are_named():
    k = LocalAlignment("dna")
    with pytest.raises(InputError, match=r"X\[1\]\[2\] must be a letter of DNA \(ACGTN\).*Got 'R'"):
        k.block(["ACGT", "ACR"])
    with pytest.raises(InputError, match=r"Y\[0\]\[1\] must be one of 'A', 'R', .*Got 'O'"):
        LocalAlignment("blosum62").block(["ACGT"], ["AO"])
    with pytest.raises(InputError, match=r"y\[1\] must be.*Got '-'"):
        k("A", "A-")
    points = k.domain.sample(20, np.random.default_rng(0))
    assert k.block(points).shape == (20, 20)


def test_the_domain_is_narrowed_by_a_table():
    k = LocalAlignment("dna") + AllSubsequences()
    assert k.domain == LocalAlignment("dna").domain
    assert k("A", "A") == LocalAlignment("dna")("A", "A") + 2.0
    with pytest.raises(InputError, match="Got 'R'"):
        k.block(["R"])


# -- contributions --------------------------------------------------------------------------------
@given(WORDS, WORDS)
def test_contributions_by_where_alignments_begin_and_end(x, y):
    k = LocalAlignment((1.0, -1.0), LOG2, 1.0, 2.0)
    found = k.contributions(x, y)
    assert found.total == pytest.approx(k(x, y), rel=1e-12)
    for c in found:
        (left, right) = c.pattern
        for a, b in c.x_places:
            assert x[a:b] == left
        for a, b in c.y_places:
            assert y[a:b] == right
    if x and y:
        whole = next(c for c in found if c.pattern == (x[0], y[0]))
        starts = sum(x[i] == x[0] and y[j] == y[0] for i in range(len(x)) for j in range(len(y)))
        assert whole.weight == pytest.approx(starts * (2.0 if x[0] == y[0] else 0.5), rel=1e-12)


def test_the_rest_is_one_contribution(monkeypatch):
    monkeypatch.setattr(search, "MOST_PATTERNS", 5)
    k, x, y = LocalAlignment(), "HEAGAWGHEE", "PAWHEAE"
    found = k.contributions(x, y)
    assert len(found) == 7  # the empty one and the rest
    assert found.total == pytest.approx(k(x, y), rel=1e-12)
    assert "all other alignments" in {c.pattern for c in found}
