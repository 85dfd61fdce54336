"""The Gram matrix of a kernel between two sets of points."""

from __future__ import annotations

from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from ..caches import Cache
from ..domains import Data, Similarities, TupleColumns, items, owned, size, take
from ..domains.frames import FrameData, Part
from ..engine import tiles, workers
from ..engine.half import HalfMatrix
from ..engine.program import Program
from ..engine.rough import RoughRows
from ..engine.single import SingleRows
from ..errors import InputError, ParameterError
from ..kernel import Kernel
from .base import Gram, times
from .indexing import Selection, positions
from .store import GramStore

__all__ = ["KernelGram", "gram"]

#: Points among which symmetry is tested, every pair in both orders.
ASYMMETRY_POINTS = 1024


def gram(
    k: Kernel,
    X: Any,
    Y: Any = None,
    dtype: Any = None,
    *,
    store: str | PathLike[str] | GramStore | None = None,
) -> KernelGram:
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
    KernelGram

    Notes
    -----
    The matrix keeps points of its own: changing ``X`` afterwards does not change it.  That costs a copy of
    ``X``, unless validation had to make one anyway, or ``X`` is read-only (``X.flags.writeable = False``).

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
    if store is None:
        return KernelGram(k.resolve(X), X, Y, dtype)
    if not isinstance(store, str | PathLike | GramStore):
        raise ParameterError(f"gram: `store` must be a path, a GramStore or None. Got {store!r}.")
    from .stored import StoredGram

    store = store if isinstance(store, GramStore) else GramStore(store)
    return StoredGram(k.resolve(X), X, Y, dtype, store=store)


class KernelGram(Gram):
    """Gram matrix of a kernel; use :func:`gram` to make one."""

    def __init__(self, kernel: Kernel, X: Any, Y: Any = None, dtype: Any = None) -> None:
        self.kernel = kernel
        self._layouts = Cache()
        self._asked: np.dtype[Any] | None = None if dtype is None else np.dtype(dtype)
        if self._asked not in (None, np.dtype(np.float32), np.dtype(np.float64)):
            raise ParameterError(f"gram: `dtype` must be float32 or float64. Got {dtype!r}.")
        domain = kernel.domain
        same = Y is None or Y is X
        X = owned(domain.validate(X, "X"), X)
        Y = None if same else owned(domain.validate(Y, "Y"), Y)
        domain.match(X, Y)
        self._setup(X, None if Y is None else (Y, kernel._prepare(self._cast(Y))))

    def _setup(self, X: Data, columns: tuple[Data, Data] | None) -> None:
        """Keep validated points and prepared data of the rows, and (data, prepared) of the columns."""
        self._X = X
        self._rows = self.kernel._prepare(self._cast(X))
        self._columns = columns
        self.shape = (size(X), size(X if columns is None else columns[0]))

    def __getstate__(self) -> dict[str, Any]:
        """The points and the kernel: prepared data are made of them again."""
        state = self.__dict__.copy()
        del state["_rows"]
        state["_columns"] = None if self._columns is None else self._columns[0]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        Y: Data | None = state["_columns"]
        columns = None if Y is None else (Y, self.kernel._prepare(self._cast(Y)))
        KernelGram._setup(self, self._X, columns)

    def _cast(self, X: Data) -> Data:
        """Widen single-precision data when double-precision values are asked for."""
        return widened(X) if self._asked == np.float64 else X

    @property
    def _eps(self) -> float:
        single = self._asked != np.float64 and (
            is_single(self._X) or (self._columns is not None and is_single(self._columns[0]))
        )
        return float(np.finfo(np.float32 if single else self.dtype).eps)

    def _in_double(self) -> KernelGram:
        if self._asked == np.float64 or not is_single(self._X):
            return self
        return self._like(self._X, None, np.dtype(np.float64))

    def _in_single(self) -> KernelGram:
        if self.dtype == np.float32:
            return self
        result = self._like(take(self._X, slice(0, 0)), None, np.dtype(np.float32))
        result._X, result._rows, result._columns, result.shape = (
            self._X,
            self._rows,
            self._columns,
            self.shape,
        )
        return result

    def _like(self, X: Data, columns: tuple[Data, Data] | None, dtype: np.dtype[Any] | None) -> KernelGram:
        """Another matrix of the same kernel, on validated points."""
        result = object.__new__(KernelGram)
        result.kernel, result._asked, result._layouts = self.kernel, dtype, self._layouts
        result._setup(X, columns)
        return result

    def _selected(self, index: np.ndarray) -> KernelGram:
        return self._like(take(self._X, index), None, self._asked)

    def _fill(self, rows: Selection, out: np.ndarray, cols: Selection | None = None) -> None:
        program = self._program_of_rows(rows, cols)
        if program is None or program.foreign or program.dense(out=out) is None:
            super()._fill(rows, out, cols)

    def _fill_slots(self, rows: np.ndarray, slots: np.ndarray, out: np.ndarray) -> None:
        given = self._given()
        if given is not None:
            out[slots] = given[rows]
            return
        program = self._program_of_rows(rows)
        if program is None or not program.fill(slots, out):
            super()._fill_slots(rows, slots, out)

    def _program_of_rows(self, rows: Selection, cols: Selection | None = None) -> Program | None:
        columns = self._rows if self._columns is None else self._columns[1]
        if cols is not None:
            columns = take(columns, cols)
        return self.kernel._program(take(self._rows, rows), columns, self._layouts)

    def _half(self) -> HalfMatrix:
        program = self.kernel._program(self._rows, None, self._layouts) if self.dtype == np.float64 else None
        result = None if program is None else program.half(progress=True)
        return super()._half() if result is None else result

    def _columns_product(self, columns: np.ndarray, v: np.ndarray, quick: bool = False) -> np.ndarray:
        data, prepared = (self._X, self._rows) if self._columns is None else self._columns
        part = self._like(self._X, (take(data, columns), take(prepared, columns)), self._asked)
        return part._product(v, True, quick)

    def _rough(self) -> RoughRows | None:
        return RoughRows.of(self.kernel._program(self._rows, None, self._layouts))

    def _single_rows(self) -> SingleRows | None:
        return SingleRows.of(self.kernel._program(self._rows, None, self._layouts))

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        if self._asked is not None:
            return self._asked
        if 0 in self.shape:
            return np.dtype(np.float64)
        one = slice(0, 1)
        columns = self._rows if self._columns is None else self._columns[1]
        dtype: np.dtype[Any] = self.kernel._block(take(self._rows, one), take(columns, one)).dtype
        return dtype

    @property
    def is_symmetric(self) -> bool:
        """Whether rows and columns are the same points."""
        return self._columns is None

    @property
    def _cost(self) -> float:
        one = take(self._rows, slice(0, 1))
        program = self.kernel._program(one, None)
        return np.inf if program is None or program.foreign else program.cost

    def _values(self, rows: Selection, cols: Selection, progress: bool = False) -> np.ndarray:
        symmetric = self.is_symmetric and isinstance(rows, slice) and isinstance(cols, slice) and rows == cols
        A = take(self._rows, rows)
        columns = self._rows if self._columns is None else self._columns[1]
        whole = isinstance(cols, slice) and cols.indices(self.shape[1]) == (0, self.shape[1], 1)
        B = None if symmetric else columns if whole else take(columns, cols)
        with workers.located(positions(rows), positions(cols), self.is_symmetric):
            return self.kernel._tiles(A, B, progress, self.dtype, self._layouts)

    def _given(self) -> np.ndarray | None:
        return self.kernel._given(self._rows, None if self._columns is None else self._columns[1])

    def _embedding(self) -> Any:
        return self.kernel._known_embedding(self._rows) if self.is_symmetric else None

    def _product_of_vectors(self, V: np.ndarray) -> np.ndarray | None:
        """``K @ V`` as ``A (B' V)``, if K holds inner products of known vectors, and nothing overflows."""
        A = self.kernel._known_embedding(self._rows)
        if A is None:
            return None
        B = A if self._columns is None else self.kernel._known_embedding(self._columns[1])
        with np.errstate(over="ignore", invalid="ignore"):
            result = times(A, times(B.T, np.asarray(V, dtype=np.float64)))
        return result if np.isfinite(result).all() else None

    def _product(self, V: np.ndarray, progress: bool = False, quick: bool = False) -> np.ndarray:
        columns = None if self._columns is None else self._columns[1]
        given = self._given()
        if given is not None:  # in bands: single precision is widened for a product with double
            bands = [times(given[rows], V) for rows in self._bands(progress)]
            return np.concatenate(bands).astype(np.result_type(self.dtype, V), copy=False)
        product = self._product_of_vectors(V)
        if product is not None:
            return product.astype(np.result_type(self.dtype, V), copy=False)
        program = self.kernel._program(self._rows, columns, self._layouts)
        wide = V[:, None] if V.ndim == 1 else V
        result = None if program is None else program.product(wide, progress, quick)
        if result is None:
            return super()._product(V, progress)
        result = result[:, 0] if V.ndim == 1 else result
        return result.astype(np.result_type(self.dtype, V), copy=False)

    def _asymmetry(self, points: int = ASYMMETRY_POINTS) -> float:
        index = np.arange(self.shape[0])
        if len(index) > points:
            index = np.random.default_rng(0).choice(index, points, replace=False)
        part = take(self._rows, index)

        def tile(r: slice, c: slice) -> np.ndarray:
            return self.kernel._block(take(part, r), take(part, c))

        F = tiles.run(tile, len(index), len(index), dtype=self.dtype, progress=True)
        return float(np.abs(F - F.T).max(initial=0.0))

    def diagonal(self) -> np.ndarray:
        """Values of each point with itself."""
        self._require_symmetric("diagonal")
        return self.kernel._finite_diagonal(self._rows).astype(self.dtype)

    def _cross(self, Z: Any) -> KernelGram:
        domain = self.kernel.domain
        data = self._X if self._columns is None else self._columns[0]
        Z = domain.validate(Z, "Z")
        domain.match(Z, data)
        return self._like(Z, (data, self._rows) if self._columns is None else self._columns, self._asked)

    def _self(self, Z: Any) -> np.ndarray:
        if isinstance(self.kernel.domain, Similarities):
            raise InputError(
                "a precomputed matrix between new and training points does not contain the new points' "
                "values with themselves, which distances and normalising need. Normalise it beforehand."
            )
        return self.kernel.diagonal(Z)

    def _points(self, index: np.ndarray) -> list[Any]:
        if isinstance(self.kernel.domain, Similarities):
            return [int(i) for i in positions(index)]
        return list(items(take(self._X, index)))

    def _scale(self) -> float:
        return 0.0


def is_single(data: Data) -> bool:
    """Whether validated data hold single-precision numbers."""
    if isinstance(data, TupleColumns):
        return any(map(is_single, data.parts))
    if isinstance(data, FrameData):
        return any(is_single(part.data) for part in data.parts.values())
    return bool(getattr(data, "dtype", None) == np.float32)


def widened(data: Data) -> Data:
    """Validated data with single-precision numbers converted to double precision."""
    if isinstance(data, TupleColumns):
        return TupleColumns(tuple(map(widened, data.parts)))
    if isinstance(data, FrameData):
        parts = {c: Part(widened(part.data), part.position) for c, part in data.parts.items()}
        return FrameData(parts, data.n)
    return data.astype(np.float64) if is_single(data) else data
