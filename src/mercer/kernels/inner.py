"""Inner products and norms of vectors, as many families use them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..arithmetic import Arithmetic
from ..domains import Data

__all__ = ["inner", "largest_entries", "rows_in_range", "squared_norms"]


def inner(x: Any, y: Any, m: Arithmetic) -> Any:
    """Inner product of two vectors of numbers."""
    return m.fsum(a * b for a, b in zip(x, y, strict=True))


def squared_norms(X: Data) -> np.ndarray:
    """Squared Euclidean norms of the rows of dense or sparse data."""
    if scipy.sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=X.dtype).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def largest_entries(X: Data) -> np.ndarray:
    """Largest absolute value of each row of dense or sparse data; 1 for zero rows."""
    if X.shape[1] == 0:
        return np.ones(X.shape[0], dtype=X.dtype)
    top = abs(X).max(axis=1)
    top = np.asarray(top.toarray() if scipy.sparse.issparse(top) else top).ravel()
    return np.asarray(np.where(top > 0, top, 1).astype(X.dtype))


def rows_in_range(X: Data, degree: int = 1) -> Data:
    """Rows of an enormous or tiny scale times powers of two, others as they are: powers of squares exist."""
    exponents = np.frexp(largest_entries(X))[1]
    exponents[np.abs(exponents) <= (40 if X.dtype == np.float32 else 400) // degree] = 0
    if not exponents.any():
        return X
    if not scipy.sparse.issparse(X):
        return np.ldexp(X, -exponents[:, None])
    scaled = X.copy()
    scaled.data = np.ldexp(X.data, -np.repeat(exponents, np.diff(X.indptr)))
    return scaled
