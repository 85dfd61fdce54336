"""The Gram matrix of a kernel between two sets of points."""

from __future__ import annotations

from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from .. import memory
from ..caches import Cache
from ..domains import Data, owned, take
from ..engine import workers
from ..engine.packed import PackedTiles
from ..engine.program import Program
from ..errors import ParameterError, brief
from ..kernel import Kernel
from .base import times
from .indexing import Selection, all_of, positions
from .kept import KeptValues
from .point_gram import PointGram, is_single, widened
from .store import GramStore

__all__ = ["KernelGram", "gram", "gram_of_points"]

#: Rows whose known vectors are held at a time in products with other columns.
EMBEDDED = 1 << 14


def gram(
    k: Kernel,
    X: Any,
    Y: Any = None,
    dtype: Any = None,
    *,
    store: str | PathLike[str] | GramStore | None = None,
) -> PointGram:
    """Gram matrix ``k(X[i], Y[j])``, computed when asked for.

    Parameters
    ----------
    k : Kernel
        A parameter that depends on data (``sigma="median"``) is resolved once, from ``X``; the resolved
        kernel is the attribute ``kernel`` of the result.
    X : points of the kernel's domain
    Y : points, optional
        ``X`` itself by default: then the matrix is symmetric.
    dtype : float32 or float64, optional
        By default the type of the kernel's blocks: float32 if the data are, else float64.  With float64,
        float32 data are converted first, so that the values are computed in double precision; with
        float32, values are rounded as they are stored.
    store : path or GramStore, optional
        Keep the values in this directory, and take those that are there already, whatever order or selection
        of points they were computed for: see :class:`~mercer.gram.GramStore`.  The kernel must have a
        :meth:`~mercer.Kernel.digest`, and the points too.  Values are then computed in double precision, and
        ``dtype`` is float64 by default.

    Returns
    -------
    KernelGram, or StoredGram with a store

    Notes
    -----
    The matrix keeps points of its own: changing ``X`` afterwards does not change it.  That costs a copy of
    ``X``, unless validation had to make one anyway, or ``X`` is read-only (``X.flags.writeable = False``).

    Values of a symmetric matrix that compiled code does not compute (a Python function, a kernel that the
    engine calls as it is) are kept once they are computed, so that each pair of points is computed once,
    if they fit into what one matrix may take (:func:`mercer.memory.can_hold`).

    Values and products have the same bits on any number of threads; there is nothing to switch on.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> K = gram(Gaussian("median"), [[0.0], [2.0], [4.0]])
    >>> K
    <KernelGram 3 x 3 float64 of Gaussian(sigma=2.0), 6.87e-05 MiB if dense>
    >>> K.kernel
    Gaussian(sigma=2.0)
    """
    if not isinstance(k, Kernel):
        raise ParameterError(f"gram: `k` must be a Kernel. Got {type(k).__name__}.")
    if dtype is not None and np.dtype(dtype) not in (np.float32, np.float64):
        raise ParameterError(f"gram: `dtype` must be float32 or float64. Got {dtype!r}.")
    points = owned(k.domain.validate(X, "X"), X)
    k = k.resolve(points)
    others = None if Y is None or Y is X else owned(k.domain.validate(Y, "Y"), Y)
    return gram_of_points(k, points, others, dtype, store=store)


def gram_of_points(
    k: Kernel,
    X: Data,
    Y: Data | None = None,
    dtype: Any = None,
    *,
    store: str | PathLike[str] | GramStore | None = None,
) -> PointGram:
    """:func:`gram` of a resolved kernel on validated points that nobody else can change."""
    k.domain.match(X, Y)
    if store is None:
        return KernelGram(k, X, Y, dtype)
    if not isinstance(store, str | PathLike | GramStore):
        raise ParameterError(f"gram: `store` must be a path, a GramStore or None. Got {brief(store)}.")
    from .stored import StoredGram

    store = store if isinstance(store, GramStore) else GramStore(store)
    return StoredGram(k, X, Y, dtype, store=store)


class KernelGram(PointGram):
    """Gram matrix whose values the kernel computes when asked for; use :func:`gram` to make one."""

    _column_gram: KernelGram | None = None  # has the same columns, and keeps their vectors
    _last_weights: tuple[np.ndarray, np.ndarray] | None = None  # V and B' V of the last product

    def __init__(self, kernel: Kernel, X: Data, Y: Data | None = None, dtype: Any = None) -> None:
        self._layouts = Cache()
        self._asked: np.dtype[Any] | None = None if dtype is None else np.dtype(dtype)
        super().__init__(kernel, X, Y)

    def __getstate__(self) -> dict[str, Any]:
        """The points and the kernel: all else is made of them again."""
        columns = None if self._columns is None else self._columns[0]
        state = {"kernel": self.kernel, "_X": self._X, "_asked": self._asked, "_layouts": self._layouts}
        return {**state, "_columns": columns}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        Y: Data | None = state["_columns"]
        self._setup(self._X, None if Y is None else (Y, self.kernel._prepare(self._cast(Y))))

    # -- precision ------------------------------------------------------------------------------
    def _cast(self, X: Data) -> Data:
        """Widen single-precision data when double-precision values are asked for."""
        return widened(X) if self._asked == np.float64 else X

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        if self._asked is not None:
            return self._asked
        columns, prepared = (None, None) if self._columns is None else self._columns
        if np.float64 in (getattr(self._X, "dtype", None), getattr(columns, "dtype", None)):
            return np.dtype(np.float64)
        return self.kernel._dtype(self._rows, prepared)

    @property
    def _eps(self) -> float:
        single = self._asked != np.float64 and (
            is_single(self._X) or (self._columns is not None and is_single(self._columns[0]))
        )
        return float(np.finfo(np.float32 if single else self.dtype).eps)

    def _in_double(self) -> KernelGram:
        if self._asked == np.float64 or not is_single(self._X):
            return self
        return self._widened

    @cached_property
    def _widened(self) -> KernelGram:
        return self._like(self._X, None, np.dtype(np.float64))

    def _in_single(self) -> KernelGram:
        if self.dtype == np.float32:
            return self
        result = object.__new__(KernelGram)  # of the same prepared data, and the same values if they are kept
        result.kernel, result._asked, result._layouts = self.kernel, np.dtype(np.float32), self._layouts
        result._X, result._rows, result._columns = self._X, self._rows, self._columns
        result.shape = self.shape
        result._kept, result._whole_program = self._kept, self._whole_program
        return result

    def _like(
        self, X: Data, columns: tuple[Data, Data] | None, dtype: np.dtype[Any] | None = None
    ) -> KernelGram:
        """Another matrix of the same kernel, on validated points."""
        result = object.__new__(KernelGram)
        result.kernel, result._layouts = self.kernel, self._layouts
        result._asked = self._asked if dtype is None else dtype
        result._setup(X, columns)
        if columns is not None and columns[1] is self._column_data:
            result._column_gram = self
        return result

    def _selected(self, index: np.ndarray) -> KernelGram:
        result = self._like(take(self._X, index), None)
        if self._kept is not None:
            result._kept = self._kept.select(index, result._compute)
        return result

    # -- values ---------------------------------------------------------------------------------
    def sparse(self) -> Any:
        """The matrix as a sparse array, for kernels that vanish beyond a distance.

        Only pairs of near points are looked at, found by a k-d tree.  In double precision, within rounding of
        ``dense()``; entries that are 0 are not stored.

        Returns
        -------
        scipy.sparse.csr_array of shape (n, m)

        Raises
        ------
        ParameterError
            If the kernel has no compact support: only :class:`~mercer.kernels.Wendland`, its multiples and
            their sums have.

        Examples
        --------
        >>> from mercer.kernels import Wendland
        >>> K = gram(Wendland(1, 2), [[0.0], [0.5], [5.0], [5.25]]).sparse()
        >>> K.nnz, K.shape
        (8, (4, 4))
        """
        K = self.kernel._sparse_block(self._rows, None if self._columns is None else self._columns[1])
        if K is None:
            raise ParameterError(
                f"sparse: {self.kernel!r} has no compact support, so that its matrix is dense. Kernels with "
                "one are Wendland(dim, smoothness), its multiples and their sums."
            )
        return K

    @cached_property
    def _cost(self) -> float:
        program = self._whole_program
        return np.inf if program is None or program.opaque else program.cost

    @cached_property
    def _whole_program(self) -> Program | None:
        """The kernel compiled for all rows and columns; None if blocks in Python are all there is."""
        columns = None if self._columns is None else self._columns[1]
        return self.kernel._program(self._rows, columns, self._layouts)

    @cached_property
    def _kept(self) -> KeptValues | None:
        """Values from neither compiled code nor known features, if there is memory for them."""
        if not self.is_symmetric or self._is_compiled or self._vectors is not None:
            return None
        n = self.shape[0]
        if self.kernel._given(self._rows, None) is not None:
            return None
        return KeptValues(n, self._compute) if memory.can_hold(KeptValues.nbytes_of(n)) else None

    def _compute(self, rows: Selection, cols: Selection | None, progress: bool = True) -> np.ndarray:
        """Values of some rows and columns; of the rows with themselves, each pair once, without columns."""
        A = take(self._rows, rows)
        B = None if cols is None else self._columns_at(cols)
        with workers.located(positions(rows), positions(rows if cols is None else cols), self.is_symmetric):
            return self.kernel._tiles(A, B, progress, self.dtype, self._layouts)

    def _columns_at(self, cols: Selection) -> Data:
        """Prepared data of some columns; for all columns the same object, to which layouts belong."""
        n = self.shape[1]
        whole = isinstance(cols, slice) and cols.indices(n) == (0, n, 1)
        return self._column_data if whole else take(self._column_data, cols)

    def _values(self, rows: Selection, cols: Selection, progress: bool = False) -> np.ndarray:
        if self._kept is not None:
            return np.array(self._kept.block(rows, cols), dtype=self.dtype)
        are_slices = isinstance(rows, slice) and isinstance(cols, slice)
        if are_slices and (rows, cols) == tuple(map(all_of, self.shape)) and self._whole_program is not None:
            K = self._whole_program.dense(self.dtype, progress=progress)
            if K is not None:
                return K
        same = self.is_symmetric and are_slices and rows == cols
        return self._compute(rows, None if same else cols, progress)

    def _shared_dense(self) -> np.ndarray:
        everything = slice(0, self.shape[0])
        return super()._shared_dense() if self._kept is None else self._kept.block(everything, everything)

    def _given(self) -> np.ndarray | None:
        if self._kept is not None and self._kept.is_complete:
            return self._kept.values
        return self.kernel._given(self._rows, None if self._columns is None else self._columns[1])

    def diagonal(self) -> np.ndarray:
        """Values of each point with itself."""
        self._require_symmetric("diagonal")
        known = None if self._kept is None else self._kept.diagonal()
        return (self.kernel._finite_diagonal(self._rows) if known is None else known).astype(self.dtype)

    # -- compiled -------------------------------------------------------------------------------
    def _program(self, rows: Selection | None = None, cols: Selection | None = None) -> Program | None:
        """The compiled kernel between some rows and columns; None if its values are kept, or not compiled."""
        if self._kept is not None:
            return None
        if rows is None:
            return self._whole_program
        columns = self._columns_at(all_of(self.shape[1]) if cols is None else cols)
        return self.kernel._program(take(self._rows, rows), columns, self._layouts)

    def _fill(self, rows: Selection, out: np.ndarray, cols: Selection | None = None) -> None:
        program = self._program(rows, cols)
        if program is None or program.opaque or program.dense(out=out) is None:
            super()._fill(rows, out, cols)

    def _fill_slots(
        self, rows: np.ndarray, slots: np.ndarray, out: np.ndarray, reduced: bool = False
    ) -> None:
        given = self._given()
        if given is not None:
            out[slots] = given[rows]
            return
        program = self._program(rows)
        if program is None or not program.fill(slots, out, reduced):
            super()._fill_slots(rows, slots, out)

    def _packed(self) -> PackedTiles:
        program = self._program() if self.dtype == np.float64 else None
        result = None if program is None else program.packed(progress=True)
        return super()._packed() if result is None else result

    # -- products -------------------------------------------------------------------------------
    @cached_property
    def _vectors(self) -> Any:
        """Vectors of the columns, if the values are inner products of known vectors."""
        if self._column_gram is not None:
            return self._column_gram._vectors
        return self.kernel._embedding(self._column_data)

    def _embedding(self) -> Any:
        return self._vectors if self.is_symmetric else None

    def _product_of_vectors(self, V: np.ndarray) -> np.ndarray | None:
        """``K @ V`` as ``A (B' V)``, if K holds inner products of known vectors, and nothing overflows."""
        B = self._vectors
        if B is None:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            if self._columns is None:
                result = times(B, times(B.T, np.asarray(V, dtype=np.float64)))
            else:
                weights = self._weights_of_features(B, np.asarray(V, dtype=np.float64))
                starts = range(0, max(self.shape[0], 1), EMBEDDED)
                bands = (take(self._rows, slice(i, i + EMBEDDED)) for i in starts)
                like = self._column_data
                result = np.concatenate([times(self.kernel._embedding(A, like), weights) for A in bands])
        return result if np.isfinite(result).all() else None

    def _weights_of_features(self, B: Any, V: np.ndarray) -> np.ndarray:
        """``B' V``, which predictions for one point after the other have in common."""
        if self._column_gram is None:
            return times(B.T, V)
        last = self._column_gram._last_weights
        if last is None or not np.array_equal(last[0], V):
            last = self._column_gram._last_weights = V.copy(), times(B.T, V)
        return last[1]

    def _product(self, V: np.ndarray, progress: bool = False) -> np.ndarray:
        product = self.kernel._action(self._rows, None if self._columns is None else self._columns[1], V)
        if product is None:
            product = self._product_of_vectors(V)
        if product is not None:
            return product.astype(np.result_type(self.dtype, V), copy=False)
        given = self._given()
        if given is not None and len(given):  # in bands: products widen single precision
            bands = [times(given[rows], V) for rows in self._bands(progress)]
            return np.concatenate(bands).astype(np.result_type(self.dtype, V), copy=False)
        program = self._program()
        wide = V[:, None] if V.ndim == 1 else V
        result = None if program is None else program.product(wide, progress)
        if result is None:
            return super()._product(V, progress)
        result = result[:, 0] if V.ndim == 1 else result
        return result.astype(np.result_type(self.dtype, V), copy=False)

    def _columns_product(self, columns: np.ndarray, v: np.ndarray) -> np.ndarray:
        if self._kept is not None:
            return super()._columns_product(columns, v)
        data = self._X if self._columns is None else self._columns[0]
        part = self._like(self._X, (take(data, columns), take(self._column_data, columns)))
        return part._product(v, True)
