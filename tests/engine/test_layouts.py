"""Rows of zeros and ones: packed, and the same bits come out."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from mercer import gram
from mercer.engine import builder, layouts
from mercer.engine.layouts import pack
from mercer.kernels import Gaussian, Linear, Polynomial

pytestmark = pytest.mark.native

#: Around whole words, and beyond the words that are taken at a time.
WIDTHS = [16, 63, 64, 65, 130, 1024, 1100]


def zeros_and_ones(n: int, d: int, share: float = 0.3, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).random((n, d)) < share).astype(float)


def unpacked(words: np.ndarray, d: int) -> np.ndarray:
    """Feature by feature, in Python integers."""
    return np.array([[int(row[k // 64]) >> (k % 64) & 1 for k in range(d)] for row in words], dtype=float)


@pytest.mark.parametrize("d", WIDTHS)
def test_packing_keeps_every_feature(d: int) -> None:
    A = zeros_and_ones(11, d)
    for form in (A, A.astype(np.float32), np.asfortranarray(A), scipy.sparse.csr_array(A)):
        words = pack(form)
        assert words is not None
        assert words.shape == (11, -(-d // 64))
        np.testing.assert_array_equal(unpacked(words, d), A)


def test_rows_are_packed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    A = zeros_and_ones(37, 70)
    whole = pack(A)
    monkeypatch.setattr(layouts, "ROWS_AT_A_TIME", 5)
    np.testing.assert_array_equal(pack(A), whole)
    A[36, 3] = 0.5
    assert pack(A) is None


@pytest.mark.parametrize(
    "A",
    [
        2 * zeros_and_ones(5, 20),
        -zeros_and_ones(5, 20),
        np.where(zeros_and_ones(5, 20) > 0, 1 + 1e-15, 0),
        zeros_and_ones(5, 15),
        zeros_and_ones(5, 64 * layouts.MOST_WORDS + 1),
        scipy.sparse.csr_array(3 * zeros_and_ones(5, 20)),
        scipy.sparse.csr_array(np.eye(5, 1000)),
        scipy.sparse.csr_array((np.array([1.0, 0.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 20)),
    ],
    ids=["twos", "negative", "nearly", "narrow", "wide", "sparse-threes", "very-sparse", "stored-zero"],
)
def test_what_is_not_packed(A: Any) -> None:
    assert pack(A) is None


@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("k", [Linear(), Gaussian(3.0), Polynomial(3)], ids=repr)
def test_the_same_bits_as_dense_rows(d: int, k: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = zeros_and_ones(150, d), zeros_and_ones(37, d, seed=1)
    V = np.random.default_rng(2).standard_normal((150, 3))
    forms = [lambda A: A, scipy.sparse.csr_array, lambda A: A.astype(np.float32)]
    for form in forms:
        results = []
        for worth in (1, 1 << 60):
            monkeypatch.setattr(builder, "WORTH_PACKING", worth)
            A, B = form(X), form(Y)
            G = gram(k, A, dtype=np.float64)
            results.append(
                (k.block(A), k.block(B, A), G @ V, G.block([5, 3], slice(None)), G.cross(B).dense())
            )
        for packed, plain in zip(*results, strict=True):
            np.testing.assert_array_equal(packed, plain)


def test_packed_against_other_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "WORTH_PACKING", 1)
    X, Y = zeros_and_ones(20, 40), np.random.default_rng(0).standard_normal((9, 40))
    np.testing.assert_allclose(Linear().block(X, Y), X @ Y.T, atol=1e-12)
    np.testing.assert_allclose(Linear().block(Y, X), Y @ X.T, atol=1e-12)


def test_a_gram_packs_its_points_once(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = []
    monkeypatch.setattr(builder, "WORTH_PACKING", 1)
    monkeypatch.setattr(builder, "pack", lambda A: packed.append(len(A)) or pack(A))
    X = zeros_and_ones(50, 30)
    G = gram(Gaussian(2.0), X)
    for i in range(3):
        G.block([i], slice(None))
    G.cross(X[:7]).dense()
    assert packed.count(50) == 1
