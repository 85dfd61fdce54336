"""Factorizations of large dense matrices that Ctrl-C and time budgets can end.

Python handles signals between its own instructions: one call of LAPACK delays Ctrl-C until it returns.  A
Cholesky factorization is therefore made panel by panel, with a checkpoint after each.  Eigenvalue problems
and the like, which have no such panels, run in a thread of their own (:func:`interruptible`) while the caller
waits at checkpoints.

Most of SciPy's functions hold the interpreter lock while LAPACK works, and no other thread runs meanwhile.
What runs in a thread is called through the function pointers that SciPy exports, or is a function of NumPy,
which releases the lock.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from mercer.engine.runs import Task, checkpoint

__all__ = ["cholesky", "cholesky_in_place", "cholesky_inverse", "eigh", "interruptible"]

P = ParamSpec("P")
T = TypeVar("T")
Array: TypeAlias = NDArray[np.float64]

#: Matrices of at most this size go to LAPACK as a whole: a tenth of a second.
SMALL = 2048

#: Columns of a panel; wider ones leave more work to the factorization of the diagonal block, on one thread.
PANEL = 256

#: Multiplications of one call of BLAS: about a tenth of a second on two cores.
CALL_OPERATIONS = 4e9

_POLL_SECONDS = 0.05


def interruptible(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a thread of its own; Ctrl-C and the end of the run are raised here at once.

    The function must release the interpreter lock.  If the caller is interrupted, the thread finishes its
    computation, and its result is dropped: nobody may use the arrays that it works on any more.

    Examples
    --------
    >>> import numpy as np
    >>> interruptible(np.linalg.matrix_rank, np.eye(3)) == 3
    True
    """
    results: list[T] = []
    errors: list[BaseException] = []
    finished = threading.Event()

    def work() -> None:
        try:
            results.append(function(*args, **kwargs))
        except BaseException as error:
            errors.append(error)
        finally:
            finished.set()

    checkpoint()
    threading.Thread(target=work, name="mercer-factorization", daemon=True).start()
    while not finished.wait(_POLL_SECONDS):
        checkpoint()
    if errors:
        raise errors[0]
    return results[0]


# -- Cholesky ------------------------------------------------------------------------------------------------
def cholesky(A: NDArray[Any]) -> NDArray[Any]:
    """Factor a symmetric matrix in its own memory, see :func:`cholesky_in_place`.

    Raises ``LinAlgError`` if it is not positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> L = cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    >>> np.tril(L)
    array([[2., 0.],
           [1., 2.]])
    """
    factor, order = cholesky_in_place(A)
    if order:
        raise np.linalg.LinAlgError(f"the leading minor of order {order} is not positive")
    return factor


def cholesky_in_place(A: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Cholesky factor of a symmetric matrix, written into its memory.

    Cost: n^3 / 3 multiplications and no further memory.  From 2,048 points on, panels of 256 columns are
    updated by those before them (left-looking), with checkpoints in between.

    Parameters
    ----------
    A : array of shape (n, n), float32 or float64, contiguous by rows or by columns
        Both triangles are given.

    Returns
    -------
    factor : array of shape (n, n), contiguous by columns
        ``L`` in its lower triangle; what is above the diagonal is left over from A.
    order : int
        0, or the order of the first leading minor that is not positive; the factor is complete before it.
    """
    M = A if A.flags.f_contiguous else A.T
    checkpoint()
    n = len(M)
    if n <= SMALL:
        (potrf,) = lapack.get_lapack_funcs(("potrf",), (M,))
        # rows of A are columns for LAPACK, which thus needs no copy
        factor, order = potrf(M, lower=True, overwrite_a=True, clean=False)
        return factor, int(order)
    blas = _Blas(M)
    with Task("Cholesky factor", -(-n // PANEL), "panel") as task:
        for start in range(0, n, PANEL):
            stop = min(start + PANEL, n)
            for first, last in _ranges(start, n, (stop - start) * max(start, 1)):
                if start:
                    blas.subtract(first, last, start, stop)
                checkpoint()
            order = blas.factor(start, stop)
            if order:
                return M, start + order
            for first, last in _ranges(stop, n, (stop - start) ** 2):
                blas.divide(first, last, start, stop)
                checkpoint()
            task.update()
    return M, 0


def _ranges(start: int, stop: int, each: int) -> list[tuple[int, int]]:
    """Cut rows that cost ``each`` multiplications into ranges for one call."""
    step = max(1, int(CALL_OPERATIONS / each))
    return [(first, min(first + step, stop)) for first in range(start, stop, step)]


class _Blas:
    """Operations on blocks of one matrix that is contiguous by columns, in place."""

    def __init__(self, M: NDArray[Any]) -> None:
        self._M, self._letter = M, "s" if M.dtype == np.float32 else "d"
        self._type = ctypes.c_float if M.dtype == np.float32 else ctypes.c_double

    def _at(self, row: int, column: int) -> int:
        return int(self._M.ctypes.data + row * self._M.strides[0] + column * self._M.strides[1])

    def _number(self, value: float) -> Any:
        return ctypes.byref(self._type(value))

    def subtract(self, first: int, last: int, start: int, stop: int) -> None:
        """``M[first:last, start:stop] -= M[first:last, :start] @ M[start:stop, :start].T``."""
        ld = _int(len(self._M))
        _call(
            self._letter + "gemm",
            *(b"N", b"T", _int(last - first), _int(stop - start), _int(start)),
            *(self._number(-1.0), self._at(first, 0), ld, self._at(start, 0), ld),
            *(self._number(1.0), self._at(first, start), ld),
        )

    def factor(self, start: int, stop: int) -> int:
        """Factor the square on the diagonal; the order of its first minor that is not positive, or 0."""
        info = ctypes.c_int(0)
        _call(
            self._letter + "potrf",
            *(b"L", _int(stop - start), self._at(start, start), _int(len(self._M)), ctypes.byref(info)),
        )
        return info.value

    def divide(self, first: int, last: int, start: int, stop: int) -> None:
        """``M[first:last, start:stop] @= inv(L).T``, with L the factor on the diagonal."""
        ld = _int(len(self._M))
        _call(
            self._letter + "trsm",
            *(b"R", b"L", b"T", b"N", _int(last - first), _int(stop - start), self._number(1.0)),
            *(self._at(start, start), ld, self._at(first, start), ld),
        )


def cholesky_inverse(factor: Array) -> Array:
    """The inverse of ``L L'``, both triangles, from what :func:`cholesky` returned, in its memory."""
    info, n = ctypes.c_int(0), _int(len(factor))
    _call_interruptibly(
        *(len(factor), "dpotri", b"L", n, factor.ctypes.data, n, ctypes.byref(info)), kept=(factor,)
    )
    if info.value:
        raise np.linalg.LinAlgError(f"the factor is singular in row {info.value}")
    for start in range(0, len(factor), PANEL):
        rows = slice(start, min(start + PANEL, len(factor)))
        factor[rows, rows.stop :] = factor[rows.stop :, rows].T
        square = np.tril(factor[rows, rows])
        factor[rows, rows] = square + np.tril(square, -1).T
    return factor


# -- eigenvalues ---------------------------------------------------------------------------------------------
def eigh(
    A: Array, *, overwrite: bool = False, subset: tuple[int, int] | None = None, vectors: bool = True
) -> tuple[Array, Array]:
    """Eigenvalues of a symmetric matrix, ascending, and eigenvectors as columns (LAPACK's ``dsyevr``).

    Parameters
    ----------
    A : array of shape (n, n)
        Only one triangle is read.
    overwrite : bool, default=False
        Use the memory of A, if it is float64 and contiguous.
    subset : (int, int), optional
        Positions of the first and the last eigenvalue that are needed.
    vectors : bool, default=True
        Otherwise the second result has no columns.

    Examples
    --------
    >>> import numpy as np
    >>> eigh(np.array([[2.0, 1.0], [1.0, 2.0]]))[0]
    array([1., 3.])
    """
    M = np.asarray(A, dtype=np.float64)
    M = M if M.flags.f_contiguous else M.T
    if not (overwrite and M.flags.f_contiguous):
        M = np.array(M, order="F")
    n = len(M)
    first, last = (0, n - 1) if subset is None else subset
    count = last - first + 1
    values, found = np.empty(n), ctypes.c_int(0)
    Z = np.empty((n, count if vectors else 0), order="F")
    if n == 0:
        return values, Z
    support = np.empty(2 * max(1, count), dtype=np.intc)
    info = ctypes.c_int(0)

    def arguments(work: Array, lwork: int, iwork: NDArray[np.intc], liwork: int) -> list[Any]:
        return [
            *(b"V" if vectors else b"N", b"A" if subset is None else b"I", b"L", _int(n)),
            *(M.ctypes.data, _int(n), _double(0.0), _double(0.0), _int(first + 1), _int(last + 1)),
            *(_double(0.0), ctypes.byref(found), values.ctypes.data, Z.ctypes.data, _int(n)),
            *(support.ctypes.data, work.ctypes.data, _int(lwork), iwork.ctypes.data, _int(liwork)),
            ctypes.byref(info),
        ]

    work, iwork = np.empty(1), np.empty(1, dtype=np.intc)
    _call("dsyevr", *arguments(work, -1, iwork, -1))
    work, iwork = np.empty(int(work[0])), np.empty(int(iwork[0]), dtype=np.intc)
    kept = (M, values, Z, support, work, iwork)
    _call_interruptibly(n, "dsyevr", *arguments(work, len(work), iwork, len(iwork)), kept=kept)
    if info.value:
        raise np.linalg.LinAlgError(f"the eigenvalue problem failed: dsyevr returned {info.value}")
    return values[: found.value], Z


# -- calls through pointers ----------------------------------------------------------------------------------
@cache
def _function(name: str) -> Any:
    """A function of SciPy's BLAS or LAPACK, with pointers as arguments; it releases the interpreter lock."""
    from scipy.linalg import cython_blas, cython_lapack

    capsule = {**cython_blas.__pyx_capi__, **cython_lapack.__pyx_capi__}[name]
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    pointer = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    return ctypes.CFUNCTYPE(None)(pointer)


def _call(name: str, *args: Any) -> None:
    _function(name)(*(ctypes.c_void_p(a) if isinstance(a, int) else a for a in args))


def _call_interruptibly(n: int, name: str, *args: Any, kept: tuple[Any, ...] = ()) -> None:
    """In a thread if it takes long; ``kept`` lives as long as the call."""

    def call(*_: Any) -> None:
        _call(name, *args)

    if n <= SMALL // 4:
        checkpoint()
        call()
    else:
        interruptible(call, *kept)


def _int(value: int) -> Any:
    return ctypes.byref(ctypes.c_int(value))


def _double(value: float) -> Any:
    return ctypes.byref(ctypes.c_double(value))
