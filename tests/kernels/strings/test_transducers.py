"""Kernels on strings as rational kernels: another way to the very same values."""

from typing import Any

import numpy as np
import pytest

from mercer.errors import MercerError
from mercer.kernels import (
    AllSubsequences,
    ContextTree,
    EditDistance,
    Factors,
    GappedKmer,
    GappyNGram,
    LocalAlignment,
    Mismatch,
    NGram,
    Spectrum,
    Subsequence,
    Wildcard,
    as_rational,
)
from mercer.kernels.strings.transducers import WILDCARD, edits, gapped_kmers

LETTERS = "abc"


def words(n: int, seed: int = 0) -> list[str]:
    """Random strings of up to twelve letters; the empty one, and ones that only one letter makes."""
    rng = np.random.default_rng(seed)
    return ["", "a", "aaaa"] + ["".join(rng.choice(list(LETTERS), rng.integers(1, 13))) for _ in range(n)]


#: Weights are powers of two, so that sums and products of them are exact.
COUNTS = [
    NGram(1),
    NGram(3),
    NGram(3, (4.0, 0.0, 0.5)),
    Spectrum(2),
    GappyNGram(1, 0.5),
    GappyNGram(2, 0.5),
    GappyNGram(3, 0.25, 2),
    GappyNGram(2, 0.5, 0),
    Wildcard(3, 0, 0.5),
    Wildcard(3, 2, 0.5),
    Wildcard(2, 2, 1.0),
    GappedKmer(4, 2),
    GappedKmer(3, 3),
    Mismatch(3, 1, LETTERS),
    Mismatch(2, 2, LETTERS),
    Mismatch(3, 0, LETTERS),
    Subsequence(1, 0.5),
    Subsequence(3, 0.5),
    Subsequence(2, 1.0),
    Subsequence(3, 0.5, (1.0, 0.0, 0.25)),
    AllSubsequences(),
    AllSubsequences(0.5),
    Factors(1.0, counts=True),
    Factors(4.0, counts=True, shortest=1),
    Factors(0.25, counts=True, shortest=2),
]


@pytest.mark.parametrize("k", COUNTS, ids=repr)
def test_the_same_values_to_the_last_bit(k: Any) -> None:
    twin, X = as_rational(k), words(10)
    np.testing.assert_array_equal(twin.block(X), k.block(X))
    np.testing.assert_array_equal(twin.block(X[:4], X), k.block(X[:4], X))
    assert twin(X[5], X[6]) == k(X[5], X[6])
    assert twin.certificate.is_psd


@pytest.mark.parametrize("k", [NGram(2), GappedKmer(3, 2), Subsequence(2, 0.5)], ids=repr)
def test_any_symbols(k: Any) -> None:
    X = [["to", "be", "or", "not", "to", "be"], (1, 2, 1), (1.0, 2.0), b"\1\2\1", "\U0001f600\0\U0001f600\0"]
    np.testing.assert_array_equal(as_rational(k).block(X), k.block(X))


@pytest.mark.parametrize("scores", [(1.0, -1.0), {("a", "b"): -0.5, ("a", "a"): 1.0, ("b", "b"): 0.75}])
def test_local_alignments(scores: Any) -> None:
    k = LocalAlignment(scores, 0.5, 2.0, 0.25)
    X = [x.replace("c", "b") for x in words(6)]
    np.testing.assert_allclose(as_rational(k, "ab").block(X), k.block(X), rtol=1e-12)


def test_edit_distances() -> None:
    k, X = EditDistance(1.0, 1.5), words(6)
    T = edits(k.gap, k.substitute, LETTERS)
    assert T.semiring.name == "tropical"
    assert [[T(x, y) for y in X] for x in X] == k.block(X).tolist()


@pytest.mark.parametrize(
    ("k", "message"),
    [
        (Spectrum(3, reverse_complement=True), "Spectrum must read one strand"),
        (GappedKmer(3, 2, reverse_complement=True), "GappedKmer must read one strand"),
        (Spectrum(3, ambiguity="skip"), "Spectrum must read one strand"),
        (Factors(), "counts=True is rational"),
        (Factors(1.0, counts=True, excluded=("ab",)), "neither `excluded` factors nor a `bonus`"),
        (LocalAlignment((1.0, -1.0)), "`alphabet` must list the symbols"),
        (ContextTree(2, 4), "is not known as a rational kernel"),
    ],
    ids=["spectrum", "gapped", "ambiguity", "factors", "excluded", "alignment", "context-tree"],
)
def test_what_no_transducer_of_ours_says(k: Any, message: str) -> None:
    with pytest.raises(MercerError, match=message):
        as_rational(k)


def test_wildcards_are_a_symbol_of_their_own() -> None:
    T = gapped_kmers(2, 1)
    assert T("ab", ("a", WILDCARD)) == T("ab", (WILDCARD, "b")) == 1.0
    assert T("ab", "ab") == 0.0
