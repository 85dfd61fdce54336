"""Products of sparse matrices of whole numbers: exact, by whichever way is the cheaper one."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from mercer import _native

from ..engine import pairwise
from ..engine.runs import checkpoint

__all__ = ["count_product", "mirrored_up"]


def count_product(A: scipy.sparse.csr_array, B: scipy.sparse.csr_array | None) -> np.ndarray:
    """Inner products of rows of counts, ``B=None`` standing for A.

    Whole numbers below 2^53 are exact in any order.  Rows with many of the columns are multiplied in full, in
    single precision if the products are exact in it; others column by column.
    """
    other = A if B is None else B
    width = A.shape[1]
    # Nanoseconds, about: to add up one pair of entries of one column; to multiply two numbers of full rows.
    meet, multiply = 0.7, 0.02
    full = multiply * A.shape[0] * other.shape[0] * width
    most = min(A.nnz * other.shape[0], A.shape[0] * other.nnz)  # pairs of entries, if all were in one column
    # Rows are laid out in full over so many columns at most.
    if width > 1 << 16 or full >= meet * most:
        return _sparse_product(A, B, A.nnz * other.nnz / width)
    ours, theirs = (np.bincount(M.indices, minlength=width) for M in (A, other))
    pairs = float(ours @ theirs)
    if full >= meet * pairs:
        return _sparse_product(A, B, pairs)
    largest = max(float(M.multiply(M).sum(axis=1).max(initial=0.0)) for M in (A, B) if M is not None)
    single = largest < 1 << 24  # no product is larger (Cauchy-Schwarz), nor is any part of its sum
    dtype = np.float32 if single else np.float64
    K = pairwise.dot(A.astype(dtype).toarray(), None if B is None else B.astype(dtype).toarray())
    return K.astype(np.float64, copy=False)


def _sparse_product(A: scipy.sparse.csr_array, B: scipy.sparse.csr_array | None, pairs: float) -> np.ndarray:
    n, width = A.shape
    K = np.zeros((n, n if B is None else B.shape[0]))
    height = -(-n // (1 + int(pairs / 100_000_000)))  # pairs of entries that one native call may meet
    if B is None and height == n:
        _native.sparse_product(_rows(A), _rows(A), True, width, K)
        return mirrored_up(K)
    other = _rows(A if B is None else B)
    for start in range(0, n, max(1, height)):
        part = slice(start, min(start + height, n))
        _native.sparse_product(_rows(A[part]), other, False, width, K[part])
        checkpoint()
    return K


def mirrored_up(K: np.ndarray) -> np.ndarray:
    """A matrix of which the lower triangle is filled, made symmetric in place."""
    np.copyto(K, K.T, where=~np.tri(len(K), dtype=bool))
    return K


def _rows(A: scipy.sparse.csr_array) -> tuple[np.ndarray, ...]:
    return A.indices.astype(np.int64, copy=False), A.data, A.indptr.astype(np.int64, copy=False)
