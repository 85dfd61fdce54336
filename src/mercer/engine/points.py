"""Points as the steps of a program read them: dense rows, compressed ones, packed zeros and ones."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mercer import _native
from mercer.domains import Data

__all__ = [
    "DOUBLE",
    "SINGLE",
    "Points",
    "common",
    "csr",
    "dense",
    "is_full_enough",
    "is_large",
    "is_sparse",
    "points_of",
]

Array: TypeAlias = npt.NDArray[Any]

#: Rows of points: an array (of numbers, or of packed zeros and ones) or, compressed, its values, column
#: indices and offsets.
Rows: TypeAlias = Array | tuple[Array, Array, Array]

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)

#: Bytes of sparse rows that may be laid out in full, and of dense rows that may be compressed.
MOST_DENSE = 1 << 26

#: Sparse rows are laid out in full from this density on, where that was measured to be faster: dot products
#: and distances take their entries column by column, other sums merge two rows, which is slow.
FULL_ENOUGH = {_native.DOT: 1 / 4, _native.SQEUCLIDEAN: 1 / 4}
FULL_ENOUGH_TO_MERGE = 1 / 64


class Points(NamedTuple):
    """Points of the rows and of the columns, as steps read them."""

    left: Rows
    right: Rows
    cols: int
    entries: float  # of a row that take part in a sum

    @property
    def is_compressed(self) -> bool:
        """Whether the rows are sparse."""
        return isinstance(self.left, tuple)

    @property
    def is_packed(self) -> bool:
        """Whether the rows are zeros and ones in words, and sums over them counts."""
        return isinstance(self.left, np.ndarray) and self.left.dtype == np.uint64

    def take(self, rows: slice, cols: slice) -> Points:
        """Select points."""
        return self._replace(left=_part(self.left, rows), right=_part(self.right, cols))


def is_sparse(X: Data, Y: Data | None) -> bool:
    """Whether one side at least is compressed."""
    return bool(sparse.issparse(X) or sparse.issparse(Y))


def is_full_enough(A: Data, op: int) -> bool:
    """Whether rows are dense, or few and full enough that their zeros cost less than their gaps."""
    if not sparse.issparse(A):
        return True
    size = A.shape[0] * A.shape[1]
    return bool(8 * size <= MOST_DENSE and A.nnz >= FULL_ENOUGH.get(op, FULL_ENOUGH_TO_MERGE) * size)


def is_large(A: Data | None) -> bool:
    """Whether dense rows take more than may be compressed."""
    return isinstance(A, np.ndarray) and A.nbytes > MOST_DENSE


def dense(A: Data) -> Array:
    """Rows laid out in full."""
    return np.asarray(A.toarray() if sparse.issparse(A) else A)


def csr(A: Data) -> Data:
    """Rows compressed."""
    return sparse.csr_array(A)


def points_of(X: Data, Y: Data | None, dtype: np.dtype[Any]) -> Points:
    """Rows as the native core reads them, without a copy where there are such."""
    if X.dtype == np.uint64:
        return Points(X, X if Y is None else Y, X.shape[1], X.shape[1])
    if not sparse.issparse(X):
        left = np.ascontiguousarray(X, dtype=dtype)
        right = left if Y is None else np.ascontiguousarray(Y, dtype=dtype)
        return Points(left, right, X.shape[1], X.shape[1])
    both = [X] if Y is None else [X, Y]
    index = np.result_type(*(a for A in both for a in (A.indices, A.indptr)))
    parts = [
        (
            np.ascontiguousarray(A.data, dtype),
            np.ascontiguousarray(A.indices, index),
            np.ascontiguousarray(A.indptr, index),
        )
        for A in both
    ]
    entries = sum(A.nnz for A in both) / max(1, sum(A.shape[0] for A in both))
    return Points(parts[0], parts[-1], X.shape[1], entries)


def common(X: Data, Y: Data | None) -> np.dtype[Any]:
    """Type of the values of both sides: double unless both are single."""
    return SINGLE if X.dtype == SINGLE and (Y is None or Y.dtype == SINGLE) else DOUBLE


def _part(rows: Rows, index: slice) -> Rows:
    if not isinstance(rows, tuple):
        return rows[index]
    data, indices, indptr = rows
    return data, indices, indptr[index.start : index.stop + 1]
