"""A symmetric matrix as solvers see it: blocks, a diagonal, products with few columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..engine.rough import RoughRows
from ..engine.threads import num_threads
from ..gram import Gram

__all__ = ["DenseMatrix", "GramMatrix", "RepeatedMatrix", "SymmetricMatrix"]


class SymmetricMatrix(Protocol):
    """What a solver needs of K."""

    size: int
    is_held: bool  # all of it is in memory

    @property
    def cost(self) -> float:
        """Elementary operations of a value; infinite if it does not come from compiled code."""
        ...

    def diagonal(self) -> NDArray[np.float64]:
        """K_ii, in double precision."""
        ...

    def block(self, rows: NDArray[np.int64], cols: Any, dtype: Any) -> NDArray[Any]:
        """Values of some rows and columns (``slice(None)`` for all)."""
        ...

    def fill(self, rows: NDArray[np.int64], slots: NDArray[np.int64], out: NDArray[Any]) -> None:
        """Write some rows to the rows ``slots`` of an array."""
        ...

    def rough(self) -> RoughRows | None:
        """Rows of about the same numbers, for Gaussian kernels where these are much quicker."""
        ...

    def rough_block(self, rows: NDArray[np.int64], cols: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Write values of some rows and columns, about right, to ``out``."""
        ...

    def rough_square(self, index: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Write values of some points with each other, on and below the diagonal, about right, to ``out``."""
        ...

    def rough_product(self, index: NDArray[np.int64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        """``b @ K[index]``, about right."""
        ...

    def product(self, b: NDArray[np.float64], quick: bool = False) -> NDArray[np.float64]:
        """``K @ b`` in double precision, also for several columns; rows of zeros in ``b`` cost nothing.

        With ``quick``, squared distances behind K may be off by 2^-31 of themselves.
        """
        ...

    def dense(self, dtype: Any) -> NDArray[Any]:
        """All of it, contiguous; not to be written to."""
        ...

    def features(self) -> Any:
        """Vectors, dense or sparse, whose inner products are K, if these are known."""
        ...


class DenseMatrix:
    """A matrix that is there already, or some of its rows and columns.

    If it is there in single precision only, ``precise`` makes the matrix that knows more.  ``is_rough`` says
    that its values are only about right.  ``features`` gives vectors whose inner products it holds, if known.
    """

    is_held = True
    cost = 0.0

    def __init__(
        self,
        K: NDArray[Any],
        index: NDArray[np.int64] | None = None,
        precise: Callable[[], SymmetricMatrix] | None = None,
        *,
        is_rough: bool = False,
        features: Callable[[], Any] = lambda: None,
    ) -> None:
        self.whole = np.ascontiguousarray(K)  # native code takes its rows
        self.index, self._precise, self.is_rough, self._features = index, precise, is_rough, features
        self.size = len(K) if index is None else len(index)

    @cached_property
    def _source(self) -> SymmetricMatrix | None:
        return None if self._precise is None else self._precise()

    def diagonal(self) -> NDArray[np.float64]:
        """K_ii."""
        values = self.whole.diagonal()
        return np.ascontiguousarray(values if self.index is None else values[self.index], dtype=np.float64)

    def block(self, rows: NDArray[np.int64], cols: Any, dtype: Any) -> NDArray[Any]:
        """Values of some rows and columns."""
        if dtype == np.float64 and self._source is not None:
            return self._source.block(rows, cols, dtype)
        if self.index is not None:
            rows, cols = self.index[rows], self.index[cols]
        values = self.whole[rows] if isinstance(cols, slice) else self.whole[np.ix_(rows, cols)]
        return values.astype(dtype, copy=False)

    def fill(self, rows: NDArray[np.int64], slots: NDArray[np.int64], out: NDArray[Any]) -> None:
        """Write some rows to the rows ``slots`` of an array."""
        out[slots] = self.block(rows, slice(None), out.dtype)

    def rough(self) -> None:
        """All rows are there."""
        return None

    def rough_source(self) -> RoughRows | None:
        """What has computed them, if they are rough."""
        return self._source.rough() if self.is_rough and self._source is not None else None

    def rough_block(self, rows: NDArray[np.int64], cols: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Write values of some rows and columns to ``out``."""
        if self.index is not None:
            rows, cols = self.index[rows], self.index[cols]
        _native.copy_block(self.whole, rows, cols, out, num_threads())

    def rough_square(self, index: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Write values of some points with each other, on and below the diagonal, to ``out``."""
        if self.is_rough and self._source is not None:  # quicker than copies from everywhere
            self._source.rough_square(index, out)
        else:
            self.rough_block(index, index, out)

    def rough_product(self, index: NDArray[np.int64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        """``b @ K[index]``, from the values that are there."""
        rows = index if self.index is None else self.index[index]
        sums = np.zeros(len(self.whole))
        _native.add_rows(self.whole, rows, np.ascontiguousarray(b), sums, num_threads())
        return sums if self.index is None else sums[self.index]

    def product(self, b: NDArray[np.float64], quick: bool = False) -> NDArray[np.float64]:
        """``K @ b``."""
        if self._source is not None:
            return self._source.product(b, quick)
        support = _support(b)
        if self.index is None and 8 * len(support) > self.size:  # picking rows costs more than taking all
            return np.asarray(self.whole @ b, dtype=np.float64)
        return np.asarray(self.block(support, slice(None), np.float64).T @ b[support], dtype=np.float64)

    def dense(self, dtype: Any) -> NDArray[Any]:
        """All of it."""
        values = self.whole if self.index is None else self.whole[np.ix_(self.index, self.index)]
        return np.ascontiguousarray(values, dtype=dtype)

    def features(self) -> Any:
        """What is said to be such vectors."""
        return self._features()


class GramMatrix:
    """A lazy Gram matrix."""

    is_held = False

    def __init__(self, G: Gram) -> None:
        self._single, self._double = G._in_single(), G._in_double()
        self.size = len(G)

    @property
    def cost(self) -> float:
        """Elementary operations of a value."""
        return self._single._cost

    def diagonal(self) -> NDArray[np.float64]:
        """K_ii."""
        return np.ascontiguousarray(self._double.diagonal(), dtype=np.float64)

    def block(self, rows: NDArray[np.int64], cols: Any, dtype: Any) -> NDArray[Any]:
        """Values of some rows and columns."""
        return self._in(dtype).block(rows, cols).astype(dtype, copy=False)

    def fill(self, rows: NDArray[np.int64], slots: NDArray[np.int64], out: NDArray[Any]) -> None:
        """Write some rows to the rows ``slots`` of an array."""
        self._in(out.dtype)._fill_slots(rows, slots, out)

    def rough(self) -> RoughRows | None:
        """Rows of about the same numbers."""
        return self._rough

    @cached_property
    def _rough(self) -> RoughRows | None:
        return self._single._rough()

    def rough_block(self, rows: NDArray[np.int64], cols: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Write values of some rows and columns to ``out``."""
        out[:] = self._single.block(rows, cols)

    def rough_square(self, index: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Write values of some points with each other, on and below the diagonal, to ``out``."""
        if self._rough is None:
            self.rough_block(index, index, out)
        else:
            self._rough.square(index, out)

    def rough_product(self, index: NDArray[np.int64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        """``b @ K[index]``."""
        if self._rough is None:
            return self.product(_spread(index, b, self.size), quick=True)
        return self._rough.product(index, b)

    def product(self, b: NDArray[np.float64], quick: bool = False) -> NDArray[np.float64]:
        """``K @ b``."""
        support = _support(b)
        if 2 * len(support) > self.size:  # half of the values serve twice
            return self._double._product(b, True, quick)
        return self._double._columns_product(support, b[support], quick)

    def dense(self, dtype: Any) -> NDArray[Any]:
        """All of it."""
        return np.ascontiguousarray(self._in(dtype).dense(), dtype=dtype)

    def features(self) -> Any:
        """Vectors whose inner products the kernel takes."""
        return self._double._embedding()

    def _in(self, dtype: Any) -> Gram:
        return self._single if dtype == np.float32 else self._double


class RepeatedMatrix:
    """Every row and column of K twice, for two variables per point: the matrix [[K, K], [K, K]]."""

    is_held = False

    def __init__(self, matrix: SymmetricMatrix) -> None:
        self._matrix, self._n = matrix, matrix.size
        self.size = 2 * matrix.size

    @property
    def cost(self) -> float:
        """Elementary operations of a value of K."""
        return self._matrix.cost

    def diagonal(self) -> NDArray[np.float64]:
        """K_ii, twice."""
        return np.tile(self._matrix.diagonal(), 2)

    def block(self, rows: NDArray[np.int64], cols: Any, dtype: Any) -> NDArray[Any]:
        """Values of some rows and columns."""
        if isinstance(cols, slice):
            return np.tile(self._matrix.block(rows % self._n, cols, dtype), 2)
        return self._matrix.block(rows % self._n, cols % self._n, dtype)

    def fill(self, rows: NDArray[np.int64], slots: NDArray[np.int64], out: NDArray[Any]) -> None:
        """Write some rows to the rows ``slots`` of an array."""
        out[slots] = self.block(rows, slice(None), out.dtype)

    def rough(self) -> None:
        """Rows come from those of K."""
        return None

    def rough_block(self, rows: NDArray[np.int64], cols: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Write values of some rows and columns to ``out``."""
        self._matrix.rough_block(rows % self._n, cols % self._n, out)

    def rough_square(self, index: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Write values of some points with each other, on and below the diagonal, to ``out``."""
        self.rough_block(index, index, out)

    def rough_product(self, index: NDArray[np.int64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        """``b @ K[index]``."""
        sums = np.zeros(self._n)
        np.add.at(sums, index % self._n, b)
        support = np.flatnonzero(sums)
        return np.tile(self._matrix.rough_product(support, sums[support]), 2)

    def product(self, b: NDArray[np.float64], quick: bool = False) -> NDArray[np.float64]:
        """``[[K, K], [K, K]] @ b``."""
        product = self._matrix.product(b[: self._n] + b[self._n :], quick)
        return np.concatenate([product, product])

    def dense(self, dtype: Any) -> NDArray[Any]:
        """All of it."""
        return np.tile(self._matrix.dense(dtype), (2, 2))

    def features(self) -> Any:
        """Those of K, twice."""
        features = self._matrix.features()
        return None if features is None else features[np.arange(self.size) % self._n]


def _support(b: NDArray[np.float64]) -> NDArray[np.intp]:
    """Rows that are not all zeros."""
    return np.flatnonzero(b if b.ndim == 1 else b.any(axis=1))


def _spread(index: NDArray[np.int64], values: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """``n`` numbers, zero but for those of the index."""
    result = np.zeros(n)
    result[index] = values
    return result
