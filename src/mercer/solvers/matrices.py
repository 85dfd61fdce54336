"""A symmetric matrix as solvers see it: blocks, a diagonal, products with few columns."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..gram import Gram

__all__ = ["DenseMatrix", "GramMatrix", "SymmetricMatrix"]


class SymmetricMatrix(Protocol):
    """What a solver needs of K."""

    size: int
    is_held: bool  # all of it is in memory

    def diagonal(self) -> NDArray[np.float64]:
        """K_ii, in double precision."""
        ...

    def block(self, rows: NDArray[np.int64], cols: Any, dtype: Any) -> NDArray[Any]:
        """Values of some rows and columns (``slice(None)`` for all)."""
        ...

    def product(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """``K @ b`` in double precision; zeros of ``b`` cost nothing."""
        ...

    def dense(self, dtype: Any) -> NDArray[Any]:
        """All of it, contiguous; not to be written to."""
        ...


class DenseMatrix:
    """A matrix that is there already."""

    is_held = True

    def __init__(self, K: NDArray[np.float64]) -> None:
        self._K, self.size = K, len(K)

    def diagonal(self) -> NDArray[np.float64]:
        """K_ii."""
        return np.ascontiguousarray(self._K.diagonal(), dtype=np.float64)

    def block(self, rows: NDArray[np.int64], cols: Any, dtype: Any) -> NDArray[Any]:
        """Values of some rows and columns."""
        values = self._K[rows] if isinstance(cols, slice) else self._K[np.ix_(rows, cols)]
        return values.astype(dtype, copy=False)

    def product(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """``K @ b``."""
        support = np.flatnonzero(b)
        if 8 * len(support) > self.size:  # picking rows costs more than multiplying all
            return np.asarray(self._K @ b, dtype=np.float64)
        return np.asarray(b[support] @ self._K[support], dtype=np.float64)

    def dense(self, dtype: Any) -> NDArray[Any]:
        """All of it."""
        return np.ascontiguousarray(self._K, dtype=dtype)


class GramMatrix:
    """A lazy Gram matrix."""

    is_held = False

    def __init__(self, G: Gram) -> None:
        self._single, self._double = G._in_single(), G._in_double()
        self.size = len(G)

    def diagonal(self) -> NDArray[np.float64]:
        """K_ii."""
        return np.ascontiguousarray(self._double.diagonal(), dtype=np.float64)

    def block(self, rows: NDArray[np.int64], cols: Any, dtype: Any) -> NDArray[Any]:
        """Values of some rows and columns."""
        return self._in(dtype).block(rows, cols).astype(dtype, copy=False)

    def product(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """``K @ b``."""
        support = np.flatnonzero(b)
        if 2 * len(support) > self.size:  # half of the values serve twice
            return np.asarray(self._double @ b)
        return self._double._columns_product(support, b[support])

    def dense(self, dtype: Any) -> NDArray[Any]:
        """All of it."""
        return np.ascontiguousarray(self._in(dtype).dense(), dtype=dtype)

    def _in(self, dtype: Any) -> Gram:
        return self._single if dtype == np.float32 else self._double
