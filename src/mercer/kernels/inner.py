"""Inner products and norms of vectors, as many families use them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..algebra.products import checked
from ..arithmetic import FLOAT, Arithmetic
from ..domains import Data
from ..kernel import Kernel

__all__ = ["checked_value", "inner", "squared_norms"]


def inner(x: Any, y: Any, m: Arithmetic) -> Any:
    """Inner product of two lifted vectors."""
    return m.fsum(a * b for a, b in zip(x, y, strict=True))


def squared_norms(X: Data) -> np.ndarray:
    """Squared Euclidean norms of the rows of dense or sparse data."""
    if scipy.sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=X.dtype).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def checked_value(value: Any, kernel: Kernel, name: str, m: Arithmetic) -> Any:
    """Return one value unless it overflowed machine numbers, which is an error naming the parameter."""
    return float(checked(np.asarray(value), kernel, name)) if m is FLOAT else value
