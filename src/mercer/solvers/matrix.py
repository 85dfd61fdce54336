"""A symmetric matrix as every solver sees it: rows, blocks, a diagonal, products.

==================  ==================================================================================
``Matrix``          the interface; few methods to implement, the others follow from them
``HeldMatrix``      all values are in memory, in double or in single precision
``PackedMatrix``    the packed symmetric matrix is in memory: half of the values, for products
``LazyMatrix``      of a Gram matrix, whose values are computed when asked for
``matrix_of``       which of these a solver gets: what is held is decided here
``RepeatedMatrix``  ``[[K, K], [K, K]]``, for two variables per point
==================  ==================================================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from .. import _native, memory
from ..engine.packed import PackedTiles
from ..engine.threads import num_threads
from ..gram import Gram

__all__ = [
    "HeldMatrix",
    "Index",
    "LazyMatrix",
    "Matrix",
    "PackedMatrix",
    "Positions",
    "RepeatedMatrix",
    "few_features",
    "matrix_of",
    "preconditioner_rank",
    "sparse_features",
]

Positions: TypeAlias = NDArray[np.intp]
Index: TypeAlias = Positions | slice

#: Points from which products with sparse features take the place of factors, which take seconds from here on;
#: and the products that a preconditioner may cost.  80,000 surnames by n-grams took 6 s in ridge regression
#: with 57 columns, and 37 s with as many as for dense values, 2,263.
FEATURES_SIZE, FEATURE_PRODUCTS = 4096, 200


class Matrix(ABC):
    """A symmetric matrix as every solver sees it.

    With ``reduced=True`` a method may work in single precision throughout, squared distances included: the
    solver checks its result in double precision.

    Attributes
    ----------
    size : int
        Number of rows.
    is_held : bool
        Whether all values are in memory.
    """

    size: int
    is_held: bool = False

    @property
    @abstractmethod
    def cost(self) -> float:
        """Elementary operations of one value; 0 if it is held, infinite if Python code computes it."""

    @abstractmethod
    def diagonal(self) -> NDArray[np.float64]:
        """``K_ii``, in double precision."""

    @abstractmethod
    def block(self, rows: Index, cols: Index, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Values of some rows and columns: positions, or ``slice(None)`` for all."""

    @abstractmethod
    def product(self, V: NDArray[np.float64], *, reduced: bool = False) -> NDArray[np.float64]:
        """``K @ V`` in double precision; rows of zeros in ``V`` cost nothing."""

    def select(self, index: Positions) -> Matrix:
        """Principal submatrix: the rows and columns of some positions."""
        return HeldMatrix(self.block(index, index))

    def rows(
        self,
        index: Positions,
        slots: Positions,
        out: NDArray[Any],
        *,
        reduced: bool = False,
    ) -> None:
        """Write the rows ``index`` to ``out[slots]``, in the precision of ``out``."""
        out[slots] = self.block(index, slice(None), out.dtype)

    def dense(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """All of it, contiguous; not to be written to."""
        return np.ascontiguousarray(self.block(slice(None), slice(None), dtype))

    def copy(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """All of it, contiguous, in memory of its own."""
        return np.array(self.dense(dtype), order="C")

    def features(self) -> Any:
        """Vectors, dense or sparse, whose inner products are the values; None if they are not known."""
        return None


class HeldMatrix(Matrix):
    """A matrix whose values are in memory, or some of its rows and columns.

    Parameters
    ----------
    K : array of shape (n, n)
    index : array of positions, optional
        The rows and columns of ``K`` that the matrix has, all by default.
    source : Matrix, optional
        The matrix of which ``K`` holds the values (before the selection of ``index``).  It gives values in
        double precision where ``K`` is in single precision, and the features.
    """

    is_held = True

    def __init__(
        self,
        K: NDArray[Any],
        index: Positions | None = None,
        source: Matrix | None = None,
    ) -> None:
        self.whole = np.ascontiguousarray(K)  # native code takes its rows
        self.index, self._whole_source = index, source
        self.size = len(K) if index is None else len(index)

    @cached_property
    def _source(self) -> Matrix | None:
        source = self._whole_source
        return source if source is None or self.index is None else source.select(self.index)

    @cached_property
    def _double(self) -> Matrix | None:
        """The matrix that knows double precision, if this one does not."""
        return None if self.whole.dtype == np.float64 else self._source

    @property
    def cost(self) -> float:
        """Nothing."""
        return 0.0

    def diagonal(self) -> NDArray[np.float64]:
        """``K_ii``."""
        values = self.whole.diagonal()
        return np.ascontiguousarray(values if self.index is None else values[self.index], dtype=np.float64)

    def block(self, rows: Index, cols: Index, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Values of some rows and columns."""
        if dtype == np.float64 and self._double is not None:
            return self._double.block(rows, cols, dtype)
        if self.index is not None:
            rows, cols = self.index[rows], self.index[cols]
        if isinstance(rows, slice) or isinstance(cols, slice):
            values = self.whole[rows, cols]
        else:
            values = self.whole[np.ix_(rows, cols)]
        return values.astype(dtype, copy=False)

    def product(self, V: NDArray[np.float64], *, reduced: bool = False) -> NDArray[np.float64]:
        """``K @ V``."""
        if self._double is not None and not reduced:
            return self._double.product(V)
        support = _support(V)
        if reduced and V.ndim == 1:
            return self._sum_of_rows(support, V[support])
        if self.index is None and 8 * len(support) > self.size:  # picking rows costs more than taking all
            return np.asarray(self.whole @ V, dtype=np.float64)
        return np.asarray(self.block(support, slice(None)).T @ V[support], dtype=np.float64)

    def select(self, index: Positions) -> HeldMatrix:
        """Principal submatrix, which shares the values."""
        positions = index if self.index is None else self.index[index]
        return HeldMatrix(self.whole, positions, self._whole_source)

    def features(self) -> Any:
        """Vectors whose inner products are the values, if the source knows them."""
        return None if self._source is None else self._source.features()

    def _sum_of_rows(self, index: Positions, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """``v @ K[index]``, of the values in memory."""
        rows = index if self.index is None else self.index[index]
        sums = np.zeros(len(self.whole))
        _native.add_rows(self.whole, rows, np.ascontiguousarray(v), sums, num_threads())
        return sums if self.index is None else sums[self.index]


class LazyMatrix(Matrix):
    """A Gram matrix whose values are computed when asked for."""

    def __init__(self, G: Gram) -> None:
        self._single, self._double = G._in_single(), G._in_double()
        self._gram, self.size = G, len(G)

    @cached_property
    def cost(self) -> float:
        """Elementary operations of a value."""
        return self._single._cost

    def diagonal(self) -> NDArray[np.float64]:
        """``K_ii``."""
        return np.ascontiguousarray(self._double.diagonal(), dtype=np.float64)

    def block(self, rows: Index, cols: Index, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Values of some rows and columns."""
        return self._in(dtype).block(rows, cols).astype(dtype, copy=False)

    def rows(
        self,
        index: Positions,
        slots: Positions,
        out: NDArray[Any],
        *,
        reduced: bool = False,
    ) -> None:
        """Write the rows ``index`` to ``out[slots]``."""
        self._in(out.dtype)._fill_slots(index, slots, out, reduced)

    def product(self, V: NDArray[np.float64], *, reduced: bool = False) -> NDArray[np.float64]:
        """``K @ V``."""
        support = _support(V)
        if reduced and V.ndim == 1:
            return self._sum_of_rows(support, V[support])
        if 2 * len(support) > self.size:  # each pair of points once, for both of its places
            return self._double._product(V, True)
        return self._double._columns_product(support, V[support])

    def dense(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """All of it."""
        return np.ascontiguousarray(self._in(dtype)._shared_dense(), dtype=dtype)

    def copy(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """All of it, in memory of its own."""
        return np.ascontiguousarray(self._in(dtype).dense(), dtype=dtype)

    def select(self, index: Positions) -> LazyMatrix:
        """Principal submatrix: the Gram matrix of some of the points."""
        return LazyMatrix(self._gram.select(index))

    def features(self) -> Any:
        """Vectors whose inner products are the values, if the kernel knows them."""
        return self._double._embedding()

    def _sum_of_rows(self, index: Positions, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """``v @ K[index]``, some rows in reduced precision at a time."""
        sums = np.zeros(self.size)
        # Values of a band of rows in reduced precision: 32 MiB.
        step = max(1, (1 << 23) // max(self.size, 1))
        band = np.empty((min(step, len(index)), self.size), np.float32)
        for first in range(0, len(index), step):
            some = index[first : first + step]
            self.rows(some, np.arange(len(some)), band, reduced=True)
            sums += v[first : first + step].astype(np.float32) @ band[: len(some)]
        return sums

    def _in(self, dtype: DTypeLike) -> Gram:
        return self._single if dtype == np.float32 else self._double


class PackedMatrix(Matrix):
    """A packed symmetric matrix: the tiles on and below the diagonal, each read once for a product."""

    is_held = True

    def __init__(self, G: Gram) -> None:
        self._gram, self.size = G, len(G)
        self.tiles = G._packed()

    @property
    def cost(self) -> float:
        """Nothing."""
        return 0.0

    def diagonal(self) -> NDArray[np.float64]:
        """``K_ii``."""
        return np.ascontiguousarray(self._gram.diagonal(), dtype=np.float64)

    def block(self, rows: Index, cols: Index, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Values of some rows and columns."""
        return HeldMatrix(self.tiles.dense()).block(rows, cols, dtype)

    def product(self, V: NDArray[np.float64], *, reduced: bool = False) -> NDArray[np.float64]:
        """``K @ V``."""
        return np.asarray(self.tiles @ V if V.ndim == 2 else (self.tiles @ V[:, None])[:, 0])


class RepeatedMatrix(Matrix):
    """Every row and column of K twice, for two variables per point: the matrix ``[[K, K], [K, K]]``."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix, self._n = matrix, matrix.size
        self.size = 2 * matrix.size

    @property
    def cost(self) -> float:
        """Elementary operations of a value of K."""
        return self._matrix.cost

    def diagonal(self) -> NDArray[np.float64]:
        """``K_ii``, twice."""
        return np.tile(self._matrix.diagonal(), 2)

    def block(self, rows: Index, cols: Index, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Values of some rows and columns."""
        every = np.arange(self.size)
        if isinstance(cols, slice):
            return self.block(rows, every[cols], dtype)
        return self._matrix.block(every[rows] % self._n, cols % self._n, dtype)

    def product(self, V: NDArray[np.float64], *, reduced: bool = False) -> NDArray[np.float64]:
        """``[[K, K], [K, K]] @ V``."""
        product = self._matrix.product(V[: self._n] + V[self._n :], reduced=reduced)
        return np.concatenate([product, product])

    def select(self, index: Positions) -> Matrix:
        """Principal submatrix: some points of K, some of them twice."""
        return self._matrix.select(index % self._n)

    def features(self) -> Any:
        """Those of K, twice."""
        features = self._matrix.features()
        return None if features is None else features[np.arange(self.size) % self._n]


def matrix_of(K: Matrix | Gram | NDArray[Any], *, passes: float = np.inf, packed: bool = False) -> Matrix:
    """The matrix for a solver: the one policy of what is held in memory, and in which form.

    Parameters
    ----------
    K : Matrix, Gram or array of shape (n, n)
        A matrix, or an array, is taken as it is.
    passes : float
        How often the solver goes through all values.  With few passes, values that compiled code computes, or
        products of known features, are held only if they are few: compiled code is about as fast as memory.
    packed : bool
        Whether products are all that the solver needs: then half of the values are enough.

    Returns
    -------
    Matrix
        In memory, in double precision, if it fits (:func:`mercer.memory.can_hold`); else lazy.
    """
    if isinstance(K, Matrix):
        return K
    if not isinstance(K, Gram):
        return HeldMatrix(np.asarray(K, dtype=np.float64))
    n, lazy = len(K), LazyMatrix(K)
    is_fast = np.isfinite(lazy.cost) or lazy.features() is not None
    # Passes over all values up to which compiled code computes them again. Holding them paid from 2 to 15
    # passes on, with a median of 4: Gaussian, Matern and polynomial kernels, 4,000 to 6,000 points with 10 to
    # 100 features, products with 1 and with 20 vectors.
    if passes <= 4 and is_fast and 8 * n * n > memory.SMALL:
        return lazy
    if packed:
        return PackedMatrix(K) if memory.can_hold(PackedTiles.nbytes_of(n)) else lazy
    return HeldMatrix(lazy.dense(), source=lazy) if memory.can_hold(8 * n * n) else lazy


def sparse_features(matrix: Matrix) -> Any:
    """Sparse features, if products with them cost less than a hundredth of those with values; else None."""
    features: Any = matrix.features() if matrix.size >= FEATURES_SIZE else None
    return features if sparse.issparse(features) and 100 * features.nnz <= matrix.size**2 else None


def few_features(matrix: Matrix) -> NDArray[np.float64] | None:
    """Dense features in double precision, if they are known, finite and few for the number of points."""
    features: Any = matrix.features() if matrix.size >= FEATURES_SIZE else None
    # Points per dense feature from which normal equations of the features take the place of a factor: n r^2
    # operations are a twentieth of n^3 / 3 or less.
    if not isinstance(features, np.ndarray) or 8 * features.shape[1] > matrix.size:
        return None
    return features.astype(np.float64, copy=False) if np.isfinite(features).all() else None


def preconditioner_rank(features: Any) -> int:
    """Columns of a preconditioner that cost as much as some hundred products with sparse features."""
    return int((FEATURE_PRODUCTS * features.nnz / features.shape[0]) ** 0.5) + 1


def _support(V: NDArray[np.float64]) -> NDArray[np.intp]:
    """Rows that are not all zeros."""
    return np.flatnonzero(V if V.ndim == 1 else V.any(axis=1))
