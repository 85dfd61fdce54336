"""Factors in single precision, sums of rows and blocks, against NumPy; also run under every ISA."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import _native

pytestmark = pytest.mark.native

BLOCK = _native.FACTOR_BLOCK
SIZES = [1, 2, 11, 12, 13, 31, 32, 33, 48, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 50]


def definite(n, seed=0):
    """A matrix whose factor single precision knows well."""
    R = np.random.default_rng(seed).standard_normal((n, n + 3)).astype(np.float32)
    return R @ R.T / n + np.eye(n, dtype=np.float32)


def factored(A, threads=2):
    L, inverses = A.copy(), np.empty((-(-len(A) // BLOCK), BLOCK, BLOCK), dtype=np.float32)
    return L, inverses, _native.eliminate(L, 0, len(inverses), inverses, threads)


@pytest.mark.parametrize("n", SIZES)
def test_factor(n):
    A = definite(n)
    L, inverses, is_definite = factored(A)
    exact = np.linalg.cholesky(A.astype(np.float64))
    assert is_definite
    np.testing.assert_allclose(np.tril(L), exact, atol=3e-6)
    np.testing.assert_array_equal(np.triu(L, 1)[:, BLOCK:][:BLOCK], np.triu(A, 1)[:, BLOCK:][:BLOCK])
    for block, inverse in enumerate(inverses):
        here = slice(block * BLOCK, min(n, (block + 1) * BLOCK))
        size = here.stop - here.start
        np.testing.assert_allclose(inverse[:size, :size].T @ exact[here, here], np.eye(size), atol=1e-5)


@pytest.mark.parametrize("n", SIZES)
def test_factor_in_parts(n):
    A = definite(n)
    whole, inverses, _ = factored(A)
    L, parts = A.copy(), np.zeros_like(inverses)
    assert all(_native.eliminate(L, k, k + 1, parts, 1) for k in range(len(parts)))
    np.testing.assert_array_equal(np.tril(L), np.tril(whole))
    np.testing.assert_array_equal(parts, inverses)


@pytest.mark.parametrize("place", [0, 31, 32, BLOCK - 1, BLOCK, BLOCK + 40])
@pytest.mark.parametrize("value", [-1.0, 0.0, np.nan, np.inf])
def test_not_definite(place, value):
    A = definite(BLOCK + 41)
    A[place, place] = value
    assert not factored(A)[2]


@pytest.mark.parametrize("n", SIZES)
def test_triangular_systems(n):
    A = definite(n)
    L, inverses, _ = factored(A)
    exact = np.linalg.cholesky(A.astype(np.float64))
    rows = np.random.default_rng(1).standard_normal((3, n)).astype(np.float32)
    found = rows.copy()
    _native.solve_forward(L, inverses, found, 2)
    np.testing.assert_allclose(found @ exact.T, rows, atol=2e-5)
    for x, row in zip(rows, found, strict=True):  # each by itself, they are the same
        alone = x[None].copy()
        _native.solve_forward(L, inverses, alone, 1)
        np.testing.assert_array_equal(alone[0], row)
        back, again = x.copy(), x.copy()
        _native.solve_backward(L, inverses, back, 2)
        np.testing.assert_allclose(exact.T @ back, x, atol=2e-5)
        _native.solve_backward(L, inverses, again, 1)
        np.testing.assert_array_equal(again, back)


@pytest.mark.parametrize("count", [0, 1, 5, 12, 47, 48, 49, 100])
def test_rows(count):
    A = definite(2 * BLOCK + 50)
    L, inverses, _ = factored(A)
    rows = np.random.default_rng(2).standard_normal((count, len(A))).astype(np.float32)
    found = rows.copy()
    _native.solve_rows(L, inverses, found, 2)
    np.testing.assert_allclose(found @ np.linalg.cholesky(A.astype(np.float64)).T, rows, atol=2e-5)
    for k, row in enumerate(rows):  # one by one, they are the same
        alone = row[None].copy()
        _native.solve_rows(L, inverses, alone, 1)
        np.testing.assert_array_equal(alone[0], found[k])


@pytest.mark.parametrize("order", ["sorted", "mixed"])
def test_rows_that_begin_with_zeros(order):
    """Blocks of zeros are left out, with the same result."""
    n = 3 * BLOCK + 50
    A = definite(n)
    L, inverses, _ = factored(A)
    starts = np.r_[np.linspace(0, n - 1, 120).astype(int), 0]
    if order == "mixed":
        starts = np.random.default_rng(4).permutation(starts)
    rows = np.random.default_rng(5).standard_normal((len(starts), n)).astype(np.float32)
    rows[np.arange(n) < starts[:, None]] = 0.0
    rows[7] = 0.0
    found, few = rows.copy(), rows.copy()
    _native.solve_rows(L, inverses, found, 2)
    np.testing.assert_allclose(found @ np.linalg.cholesky(A.astype(np.float64)).T, rows, atol=2e-5)
    assert not found[np.arange(n) < starts[:, None]].any()
    _native.solve_forward(L, inverses, few, 2)
    np.testing.assert_allclose(few, found, atol=2e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 7, 2047, 2049, 5000])
def test_sums_of_rows(dtype, n):
    rng = np.random.default_rng(3)
    K = rng.standard_normal((11, n)).astype(dtype)
    for rows in (np.array([], dtype=np.int64), np.array([3]), np.array([10, 0, 4, 4, 7, 1, 2, 9, 8])):
        factors, start = rng.standard_normal(len(rows)), rng.standard_normal(n)
        found, alone = start.copy(), start.copy()
        _native.add_rows(K, rows, factors, found, 2)
        _native.add_rows(K, rows, factors, alone, 1)
        np.testing.assert_allclose(
            found, start + factors @ K[rows].astype(np.float64), rtol=1e-12, atol=1e-12
        )
        np.testing.assert_array_equal(found, alone)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks(dtype):
    rng = np.random.default_rng(4)
    K = rng.standard_normal((300, 300)).astype(dtype)
    for rows, columns in (([], [1]), ([2], []), ([5, 0, 5], [299, 3]), (range(200), range(1, 300, 2))):
        rows, columns = (np.array(list(some), dtype=np.int64) for some in (rows, columns))
        found = np.empty((len(rows), len(columns)), dtype=np.float32)
        _native.copy_block(K, rows, columns, found, 2)
        np.testing.assert_array_equal(found, K[np.ix_(rows, columns)].astype(np.float32))
