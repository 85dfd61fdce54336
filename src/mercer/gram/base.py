"""What every Gram matrix can do, from its blocks alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from .. import memory
from ..certificate import Property
from ..domains import Data, owned
from ..engine.packed import TILE, PackedTiles
from ..engine.runs import tracked
from ..engine.threads import single_threaded_blas
from ..errors import InputError
from ..kernel import Kernel
from .indexing import Selection, all_of, length, positions, select

if TYPE_CHECKING:
    from .check import Check
    from .derived import CenteredGram, NormalizedGram
    from .repair import Method, RepairedGram

__all__ = ["Gram", "times"]

Rows: TypeAlias = int | slice | Sequence[int] | np.ndarray

#: Bytes of a band of rows that a product holds at a time.
BAND_BYTES = 1 << 26


class Gram(ABC):
    """Matrix of kernel values, computed when asked for.

    Made by :func:`mercer.gram`.  Products ``K @ v`` of compiled kernels run over bands of rows and never hold
    the matrix; values that Python code computes are kept, if they fit, so that each is computed once.  What
    needs all of it (``dense``, the full ``spectrum``, ``check``, ``repair``) compares its need with the
    memory limit first.  ``np.asarray(K)`` is ``K.dense()``.

    Attributes
    ----------
    kernel : Kernel
        The kernel whose values these are (before centring, normalising or repairing).
    shape : tuple of int
    dtype : numpy.dtype
    nbytes : int
        Memory that ``dense()`` takes.

    Examples
    --------
    >>> from mercer.gram import gram
    >>> from mercer.kernels import Linear
    >>> K = gram(Linear(), [[1.0], [2.0]])
    >>> K @ [1.0, 1.0]
    array([3., 6.])
    >>> K.block(0, [0, 1])
    array([[1., 2.]])
    """

    __array_ufunc__: ClassVar[None] = None  # v @ K comes to us, other array arithmetic is refused

    kernel: Kernel
    shape: tuple[int, int]

    # -- what a kind of Gram matrix defines ---------------------------------------------------
    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""

    @property
    @abstractmethod
    def is_symmetric(self) -> bool:
        """Whether rows and columns are the same points."""

    @abstractmethod
    def _values(self, rows: Selection, cols: Selection, progress: bool = False) -> np.ndarray:
        """A fresh array of the values of selected rows and columns."""

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """Values of each point with itself."""

    @abstractmethod
    def _cross(self, Z: Data) -> Gram:
        """:meth:`cross` on validated points, for use before anybody can change them: they are not copied."""

    @abstractmethod
    def _self(self, Z: Any) -> np.ndarray:
        """Values of new points with themselves, on the same footing as :meth:`cross`."""

    @abstractmethod
    def _points(self, index: np.ndarray) -> list[Any]:
        """The points behind selected rows."""

    @abstractmethod
    def _scale(self) -> float:
        """Magnitude of the numbers that the values were computed from, for bounds on rounding."""

    def _asymmetry(self, points: int) -> tuple[float, np.ndarray]:
        """Largest difference of ``k(x, y)`` and ``k(y, x)`` among some points, and the worst pairs, in order.

        Where both can be computed.
        """
        return 0.0, np.empty((0, 2), dtype=int)

    def _value_error(self, index: np.ndarray) -> float:
        """Allowed error of a value, from a comparison of those of these points with more digits."""
        return 0.0

    @property
    def _eps(self) -> float:
        """Unit roundoff of the values: single precision where the data are, whatever ``dtype`` says."""
        return float(np.finfo(self.dtype).eps)

    def _in_double(self) -> Gram:
        """The same matrix with values computed in double precision, where the data allow it."""
        return self

    def _in_single(self) -> Gram:
        """The same matrix with values rounded to single precision as they are stored, where possible."""
        return self

    def _shared_dense(self) -> np.ndarray:
        """:meth:`dense`, but not to be written to: values that are kept are not copied."""
        return self.dense()

    def _given(self) -> np.ndarray | None:
        """The whole matrix, if it is in memory already; not to be written to."""
        return None

    def _embedding(self) -> Any:
        """Vectors, dense or sparse, whose inner products are the values of a symmetric matrix, if known."""
        return None

    @property
    def _is_compiled(self) -> bool:
        """Whether values come from compiled code, so that computing them again costs little."""
        return self._cost < np.inf

    @property
    def _cost(self) -> float:
        """Elementary operations of a value; infinite if it does not come from compiled code."""
        return np.inf

    # -- blocks -------------------------------------------------------------------------------
    @property
    def nbytes(self) -> int:
        """Memory that :meth:`dense` takes, in bytes."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def block(self, rows: Rows = slice(None), cols: Rows = slice(None)) -> np.ndarray:
        """Values of selected rows and columns, always as a 2-D array.

        Parameters
        ----------
        rows, cols : int, slice, array of positions, or boolean mask
            An int selects one row (column); negative positions count from the end.
        """
        r, c = select(rows, self.shape[0], "rows"), select(cols, self.shape[1], "cols")
        n, m = length(r), length(c)
        memory.require(n * m * self.dtype.itemsize, f"a {n} x {m} block of the Gram matrix")
        return self._values(r, c)

    def dense(self) -> np.ndarray:
        """The whole matrix; refused, with the need in GiB, when it exceeds the memory limit."""
        n, m = self.shape
        memory.require(
            self.nbytes,
            f"the dense {n} x {m} Gram matrix",
            "Products K @ v, blocks and the largest eigenvalues do without it.",
        )
        return self._values(all_of(n), all_of(m), progress=True)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = self.dense()
        return values if dtype is None else values.astype(dtype, copy=False)

    # -- products -----------------------------------------------------------------------------
    def __matmul__(self, V: Any) -> np.ndarray:
        """Product with a vector or a matrix; holds a band of rows at a time."""
        V = self._operand(V, self.shape[1], "K @ V: V must have one row per column of K")
        return self._product(V, progress=True)

    def __rmatmul__(self, V: Any) -> np.ndarray:
        """Product ``V @ K`` with a vector or a matrix on the left."""
        V = self._operand(np.asarray(V).T, self.shape[0], "V @ K: V must have one column per row of K")
        if self.is_symmetric:
            return self._product(V, progress=True).T
        out = np.zeros((self.shape[1], *V.shape[1:]), dtype=np.result_type(self.dtype, V))
        for rows in self._bands():
            out += times(self._values(rows, all_of(self.shape[1])).T, V[rows])
        return out.T

    def _operand(self, V: Any, size: int, requirement: str) -> np.ndarray:
        array = np.asarray(V)
        if array.dtype.kind not in "biuf" or array.ndim not in (1, 2) or array.shape[0] != size:
            raise InputError(
                f"{requirement}, as numbers. Got shape {array.shape} of type {array.dtype} "
                f"for K of shape {self.shape}."
            )
        return array

    def _product(self, V: np.ndarray, progress: bool = False) -> np.ndarray:
        n, m = self.shape
        out = np.zeros((n, *V.shape[1:]), dtype=np.result_type(self.dtype, V))
        for rows in self._bands(progress):
            inner = progress and rows == slice(0, n)  # the only band reports its own progress
            if not self.is_symmetric:
                out[rows] = times(self._values(rows, all_of(m), inner), V)
                continue
            # Each pair once: the square on the diagonal, and what is right of it for its rows and columns.
            out[rows] += times(self._values(rows, rows, inner), V[rows])
            if rows.stop < n:
                rest = slice(rows.stop, n)
                values = self._values(rows, rest)
                out[rows] += times(values, V[rest])
                out[rest] += times(values.T, V[rows])
        return out

    def _packed(self) -> PackedTiles:
        """The packed symmetric matrix, in memory, for products with few columns."""
        n = self.shape[0]
        result = PackedTiles(n)
        for rows in self._bands(progress=True, multiple=TILE):
            result.fill(rows.start, rows.start, self._values(rows, rows, progress=rows == slice(0, n)))
            if rows.start > 0:
                result.fill(rows.start, 0, self._values(rows, slice(0, rows.start)))
        return result

    def _fill(self, rows: Selection, out: np.ndarray, cols: Selection | None = None) -> None:
        """Write some rows, and of these some columns, into an array."""
        out[...] = self._values(rows, all_of(self.shape[1]) if cols is None else cols)

    def _fill_slots(
        self, rows: np.ndarray, slots: np.ndarray, out: np.ndarray, reduced: bool = False
    ) -> None:
        """Write some rows to the rows ``slots`` of an array, in reduced precision if that is allowed."""
        out[slots] = self._values(rows, all_of(self.shape[1]))

    def _columns_product(self, columns: np.ndarray, v: np.ndarray) -> np.ndarray:
        """``K[:, columns] @ v``, without the other columns."""
        out = np.zeros((self.shape[0], *v.shape[1:]), dtype=np.result_type(self.dtype, v))
        for rows in self._bands(progress=True):
            out[rows] = self._values(rows, columns) @ v
        return out

    def _bands(self, progress: bool = False, multiple: int = 1) -> Iterator[slice]:
        """Slices of rows, each band small enough to hold; all but the last have a multiple of some rows."""
        n, m = self.shape
        height = max(16, BAND_BYTES // max(1, 8 * m))
        height = multiple * max(1, height // multiple)
        starts: Iterable[int] = range(0, n, height)
        if progress and n > height:
            starts = tracked(range(0, n, height), "kernel values", "band")
        for start in starts:
            yield slice(start, min(start + height, n))

    def select(self, index: Rows) -> Gram:
        """Gram matrix of some of the points; ``select(index).cross(Z)`` compares new points with these alone.

        What the others are needed for (the spectrum of a repaired matrix) is kept, the rest is let go.
        """
        self._require_symmetric("select")
        return self._selected(positions(select(index, self.shape[0], "index")))

    def _selected(self, index: np.ndarray) -> Gram:
        raise InputError(f"{type(self).__name__} has no select: its values depend on all of its points.")

    def linear_operator(self) -> Any:
        """Return the matrix as a :class:`scipy.sparse.linalg.LinearOperator`, for SciPy's solvers."""
        from scipy.sparse.linalg import LinearOperator

        def left(V: np.ndarray) -> np.ndarray:
            return self._product(V) if self.is_symmetric else np.asarray(V.T @ self).T

        return LinearOperator(
            self.shape,
            matvec=self._product,
            rmatvec=left,
            matmat=self._product,
            rmatmat=left,
            dtype=self.dtype,
        )

    # -- transformations ----------------------------------------------------------------------
    def center(self) -> CenteredGram:
        """Gram matrix after subtracting the mean of the points in feature space: ``H K H``, H = I - 11'/n.

        Costs one pass over the matrix and O(n) memory; ``center().cross(Z)`` centres new points with the
        mean of these.
        """
        from .derived import CenteredGram

        return CenteredGram(self)

    def normalize(self) -> NormalizedGram:
        """Gram matrix of cosines, ``K_ij / sqrt(K_ii K_jj)``; zero rows stay zero."""
        from .derived import NormalizedGram

        return NormalizedGram(self)

    def repair(self, method: Method, tol: float | None = None) -> RepairedGram:
        """Positive semidefinite matrix made from this one: ``"clip"``, ``"flip"`` or ``"shift"``.

        See :class:`~mercer.gram.RepairedGram` for what each does, what it reports and how it extends to new
        points.  Holds the dense matrix and its eigenvectors.
        """
        from .repair import RepairedGram

        return RepairedGram(self, method, tol)

    # -- numbers ------------------------------------------------------------------------------
    def trace(self) -> float:
        """Sum of the diagonal."""
        self._require_symmetric("trace")
        return float(self.diagonal().sum(dtype=np.float64))

    def spectrum(self, k: int | None = None, *, vectors: bool = False) -> Any:
        """Eigenvalues in descending order.

        Parameters
        ----------
        k : int, optional
            Only the ``k`` largest, by Lanczos iteration on products (from a fixed start, its residuals
            checked; small matrices, large ``k`` and failed iterations are solved densely).  A matrix of up
            to 2 GiB is held meanwhile, a larger one recomputed for every product.
        vectors : bool, default=False
            Also return the eigenvectors, as columns, each with its largest entry positive.

        Returns
        -------
        ndarray, or (ndarray, ndarray) with ``vectors``
        """
        from .spectrum import eigenpairs

        self._require_symmetric("spectrum")
        values, columns = eigenpairs(self, k, vectors)
        return (values, columns) if vectors else values

    def effective_dimension(self, alpha: float) -> float:
        """``trace(K (K + alpha I)^-1)``: how many directions a ridge penalty ``alpha`` leaves free.

        ``alpha`` > 0 is added to the diagonal of K itself (not ``n alpha``).  Needs the full spectrum.
        """
        from .spectrum import effective_dimension

        self._require_symmetric("effective_dimension")
        return effective_dimension(self, alpha)

    def alignment(self, y: Any, *, centered: bool = False) -> float:
        r"""Kernel-target alignment: the cosine of the matrices ``K`` and ``T``.

        .. math:: A = \frac{\langle K, T \rangle_F}{\|K\|_F \|T\|_F}, \qquad T = Y Y'

        Parameters
        ----------
        y : array-like of shape (n,) or (n, p)
            Two distinct values count as -1 and +1; other numbers are taken as they are; strings (and other
            labels that are not numbers) as class indicators.  For whole numbers that are class labels of
            three or more classes pass the indicator matrix.
        centered : bool, default=False
            Centre both matrices first (Cortes, Mohri and Rostamizadeh), which removes the effect of
            unequal classes.

        Returns
        -------
        float
            Between -1 and 1; nonnegative for a positive semidefinite ``K``; 0 if either matrix is zero.
        """
        from .alignment import alignment

        self._require_symmetric("alignment")
        return alignment(self, y, centered)

    def check(self, property: Property | Literal["positive", "negative"] | None = None) -> Check:
        """Whether the matrix of these points contradicts positive (or negative) definiteness.

        A contradiction counts only after it has been confirmed in higher precision, and comes with its
        witness.  Without ``property`` the negative one is tested where the kernel's certificate claims only
        that, else the positive one.  Holds the dense matrix.
        """
        from .check import check

        self._require_symmetric("check")
        return check(self, property)

    def cross(self, Z: Any) -> Gram:
        """Gram matrix between new points (rows) and the points of the columns, on the same footing.

        Whatever was done to this matrix (centring, normalising, repair) is done to the new rows with the
        statistics of the training points.  The result keeps points of its own, as :func:`mercer.gram` does.
        """
        return self._cross(owned(self.kernel.domain.validate(Z, "Z"), Z))

    def _require_symmetric(self, operation: str) -> None:
        if not self.is_symmetric:
            raise InputError(
                f"Gram.{operation} needs the Gram matrix of one set of points. This one is "
                f"{self.shape[0]} x {self.shape[1]}, between two sets: use gram(k, X)."
            )

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, m = self.shape
        need = memory.format_bytes(self.nbytes)
        return f"<{type(self).__name__} {n} x {m} {self.dtype} of {self.kernel!r}, {need} if dense>"


def times(values: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Product with a band, by one thread of BLAS, whose number of threads would change the bits."""
    with single_threaded_blas():
        return np.asarray(values @ V)
