"""Factorizations of large dense matrices that Ctrl-C and time budgets can end.

Python handles signals between its own instructions: one call of LAPACK delays Ctrl-C until it returns.  The
textbook algorithms therefore run panel by panel here, each panel by LAPACK, with a checkpoint after each.

====================  ======================================================================
``cholesky``          left-looking; ``cholesky_inverse`` from the factor, in its memory
``triangular_factor``  R of a QR factorization by blocks of Householder reflections
``eigh``              reduction to tridiagonal form, its eigenvectors, and the way back
``multiply``          a product of two large matrices; ``solve_lower`` the same for a triangle
====================  ======================================================================

Small matrices go to LAPACK as a whole.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.engine.lapack import Columns, call, double, integer, interruptible
from mercer.engine.runs import Task, checkpoint

__all__ = [
    "cholesky",
    "cholesky_in_place",
    "cholesky_inverse",
    "eigh",
    "multiply",
    "solve_lower",
    "triangular_factor",
]

Array: TypeAlias = NDArray[np.float64]

#: Matrices of at most this size go to LAPACK as a whole, and for their eigenvalues: a tenth of a second.
SMALL, SMALL_EIGEN = 2048, 512

#: Columns of a panel of a triangular factor, and of a block of reflections.
PANEL, REFLECTIONS = 256, 64

#: Columns of a panel in the reduction to tridiagonal form; each reads the rest of the matrix from memory:
#: 2 GB for 6,000 rows, which take a fifth of a second.
TRIDIAGONAL_PANEL = 16

#: Multiplications of one call of BLAS: some hundredths of a second on two cores, a fifth on a busy machine.
CALL_OPERATIONS = 1e9

#: Numbers of this size are divided before their squares overflow or vanish.
LARGEST = 1e100


def _ranges(start: int, stop: int, each: float) -> Iterator[tuple[int, int]]:
    """Cut rows or columns that cost ``each`` multiplications into ranges for one call, with checkpoints."""
    step = max(1, int(CALL_OPERATIONS / max(each, 1.0)))
    for first in range(start, stop, step):
        yield first, min(first + step, stop)
        checkpoint()


def multiply(A: Any, B: Array) -> Array:
    """``A @ B`` for a matrix A, dense or sparse, some columns at a time."""
    result = np.empty((A.shape[0], B.shape[1]), order="F")
    checkpoint()
    for first, last in _ranges(0, B.shape[1], float(A.size)):
        result[:, first:last] = A @ B[:, first:last]
    return result


def solve_lower(L: Array, B: Array) -> Array:
    """``L^-1 B`` for a lower triangle L, some columns at a time."""
    result = np.empty(B.shape, order="F")
    checkpoint()
    for first, last in _ranges(0, B.shape[1], len(L) ** 2 / 2):
        result[:, first:last] = scipy.linalg.solve_triangular(
            L, B[:, first:last], lower=True, check_finite=False
        )
    return result


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

    Cost: n^3 / 3 multiplications and no further memory.

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
    array = A if A.flags.f_contiguous else A.T
    checkpoint()
    n = len(array)
    if n <= SMALL:
        (potrf,) = scipy.linalg.lapack.get_lapack_funcs(("potrf",), (array,))
        factor, order = potrf(array, lower=True, overwrite_a=True, clean=False)
        return factor, int(order)
    M = Columns(array)
    one, minus = M.number(1.0), M.number(-1.0)
    with Task("Cholesky factor", -(-n // PANEL), "panel") as task:
        for start in range(0, n, PANEL):
            stop = min(start + PANEL, n)
            width = integer(stop - start)
            if start:  # panel - (rows before it) (its own rows before it)'
                for first, last in _ranges(start, n, (stop - start) * start):
                    M.call(
                        *("gemm", b"N", b"T", integer(last - first), width, integer(start), minus),
                        *(
                            M.at(first, 0),
                            M.stride,
                            M.at(start, 0),
                            M.stride,
                            one,
                            M.at(first, start),
                            M.stride,
                        ),
                    )
            order = M.solve("potrf", b"L", width, M.at(start, start), M.stride)
            if order:
                return array, start + order
            for first, last in _ranges(stop, n, (stop - start) ** 2):
                M.call(
                    *("trsm", b"R", b"L", b"T", b"N", integer(last - first), width, one),
                    *(M.at(start, start), M.stride, M.at(first, start), M.stride),
                )
            task.update()
    return array, 0


def cholesky_inverse(factor: Array) -> Array:
    """The inverse of ``L L'``, both triangles, from what :func:`cholesky` returned, in its memory.

    ``L^-1`` replaces L, panel by panel from the last.  ``L^-T L^-1`` replaces that, panel by panel from the
    first.  Cost: n^3 / 3 multiplications and no further memory.
    """
    n = len(factor)
    checkpoint()
    if n <= SMALL:
        (potri,) = scipy.linalg.lapack.get_lapack_funcs(("potri",), (factor,))
        factor, _ = potri(factor, lower=True, overwrite_c=True)
    else:
        starts = range(0, n, PANEL)
        with Task("inverse", 2 * len(starts), "panel") as task:
            M = Columns(factor)
            for start in reversed(starts):
                _invert_panel(M, n, start, min(start + PANEL, n))
                task.update()
            for start in starts:
                _square_panel(M, n, start, min(start + PANEL, n))
                task.update()
    _mirror(factor)
    return factor


def _invert_panel(M: Columns, n: int, start: int, stop: int) -> None:
    """A panel of ``L^-1``: with ``[A 0; B C]``, where C is inverted already, ``[A^-1 0; -C B A^-1  C]``."""
    one, minus, width, below = M.number(1.0), M.number(-1.0), integer(stop - start), integer(n - stop)
    for first, last in _ranges(start, stop, (n - stop) ** 2 / 2):
        M.call(
            *("trmm", b"L", b"L", b"N", b"N", below, integer(last - first), minus),
            *(M.at(stop, stop), M.stride, M.at(stop, first), M.stride),
        )
    for first, last in _ranges(stop, n, (stop - start) ** 2):
        M.call(
            *("trsm", b"R", b"L", b"N", b"N", integer(last - first), width, one),
            *(M.at(start, start), M.stride, M.at(first, start), M.stride),
        )
    info = M.solve("trtri", b"L", b"N", width, M.at(start, start), M.stride)
    assert info == 0


def _square_panel(M: Columns, n: int, start: int, stop: int) -> None:
    """Rows of ``T'T`` for a lower triangle T whose rows above them are replaced already."""
    one, width, below = M.number(1.0), integer(stop - start), integer(n - stop)
    for first, last in _ranges(0, start, (stop - start) * (n - start)):
        columns = integer(last - first)
        M.call(
            *("trmm", b"L", b"L", b"T", b"N", width, columns, one),
            *(M.at(start, start), M.stride, M.at(start, first), M.stride),
        )
        M.call(
            *("gemm", b"T", b"N", width, columns, below, one, M.at(stop, start), M.stride),
            *(M.at(stop, first), M.stride, one, M.at(start, first), M.stride),
        )
    info = M.solve("lauum", b"L", width, M.at(start, start), M.stride)
    assert info == 0
    M.call(
        *("syrk", b"L", b"T", width, below, one, M.at(stop, start), M.stride),
        *(one, M.at(start, start), M.stride),
    )
    checkpoint()


def _mirror(A: Array) -> None:
    """Copy what is below the diagonal above it, square by square."""
    n = len(A)
    for start in range(0, n, PANEL):
        stop = min(start + PANEL, n)
        square = A[start:stop, start:stop]
        square[...] = np.tril(square) + np.tril(square, -1).T
        for first in range(stop, n, PANEL):
            last = min(first + PANEL, n)
            A[start:stop, first:last] = A[first:last, start:stop].T


# -- Householder ---------------------------------------------------------------------------------------------
def _reflect(
    M: Columns,
    row: int,
    column: int,
    tau: Array,
    target: Columns,
    rows: tuple[int, int],
    columns: range,
    trans: bytes,
) -> None:
    """Apply reflections that are stored in columns of M, from ``row`` on, to a part of another matrix."""
    m, k = rows[1] - rows[0], len(tau)
    work = np.empty(max(1, len(columns)) * REFLECTIONS + 4160)
    for first, last in _ranges(columns.start, columns.stop, 2.0 * m * k):
        info = target.solve(
            *(
                "ormqr",
                b"L",
                trans,
                integer(m),
                integer(last - first),
                integer(k),
                M.at(row, column),
                M.stride,
            ),
            *(tau, target.at(rows[0], first), target.stride, work, integer(len(work))),
        )
        assert info == 0


def triangular_factor(A: Array) -> Array:
    """``R`` with ``R'R = A'A`` by Householder reflections, for a matrix with no fewer rows than columns.

    Cost: 2 m n^2 - 2 n^3 / 3 multiplications, and a copy of A.

    Examples
    --------
    >>> import numpy as np
    >>> R = triangular_factor(np.array([[3.0, 1.0], [4.0, 2.0], [0.0, 2.0]]))
    >>> np.allclose(R.T @ R, [[25.0, 11.0], [11.0, 9.0]])
    True
    """
    array = np.array(A, dtype=np.float64, order="F")
    m, n = array.shape
    M, tau, work = Columns(array), np.empty(n), np.empty(4096)
    checkpoint()
    with Task("QR factor", -(-n // REFLECTIONS), "panel") as task:
        for start in range(0, n, REFLECTIONS):
            stop = min(start + REFLECTIONS, n)
            here = tau[start:stop]
            info = M.solve(
                *("geqrf", integer(m - start), integer(stop - start), M.at(start, start), M.stride),
                *(here, work, integer(len(work))),
            )
            assert info == 0
            _reflect(M, start, start, here, M, (start, m), range(stop, n), b"T")
            task.update()
    return np.triu(array[:n])


# -- eigenvalues ---------------------------------------------------------------------------------------------
def eigh(
    A: Array, *, overwrite: bool = False, subset: tuple[int, int] | None = None, vectors: bool = True
) -> tuple[Array, Array]:
    """Eigenvalues of a symmetric matrix, ascending, and eigenvectors as columns.

    Cost: 4 n^3 / 3 multiplications for the reduction to tridiagonal form, half of them bound by memory; for
    eigenvectors 2 n^2 more for each, and a matrix of their size.

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
    array = np.asarray(A, dtype=np.float64)
    array = array if array.flags.f_contiguous else array.T
    if not (overwrite and array.flags.f_contiguous):
        array = np.array(array, order="F")
    n = len(array)
    checkpoint()
    if n == 0:
        return np.empty(0), np.empty((0, 0))
    if n <= SMALL_EIGEN:
        answer = scipy.linalg.eigh(
            array, eigvals_only=not vectors, subset_by_index=subset, overwrite_a=True, check_finite=False
        )
        return answer if vectors else (answer, np.empty((n, 0)))
    largest = float(max(array.max(), -array.min()))  # without a copy
    unit = 1.0 if 1 / LARGEST < largest < LARGEST or not 0 < largest < np.inf else largest
    array /= unit
    first, last = (0, n - 1) if subset is None else subset
    d, e, tau = _tridiagonal(array)
    values, Z = interruptible(_of_tridiagonal, d, e, first, last, vectors)
    if vectors:
        M, target = Columns(array), Columns(Z)
        starts = range(0, max(n - 1, 0), REFLECTIONS)
        with Task("eigenvectors", len(starts), "panel") as task:
            for start in reversed(starts):
                own = tau[start : min(start + REFLECTIONS, n - 1)]
                _reflect(M, start + 1, start, own, target, (start + 1, n), range(Z.shape[1]), b"N")
                task.update()
    return values * unit, Z


def _tridiagonal(array: Array) -> tuple[Array, Array, Array]:
    """Reduce a symmetric matrix by reflections, left in its lower half: diagonal, off-diagonal, factors."""
    n, M = len(array), Columns(array)
    d, e, tau = np.empty(n), np.empty(max(n - 1, 1)), np.zeros(max(n - 1, 1))
    W = Columns(np.empty((n, TRIDIAGONAL_PANEL), order="F"))
    whole = max(4 * TRIDIAGONAL_PANEL, 64)  # at most this much is left to LAPACK
    starts = range(0, max(n - whole, 0), TRIDIAGONAL_PANEL)
    with Task("tridiagonal form", len(starts), "panel") as task:
        for start in starts:
            stop = start + TRIDIAGONAL_PANEL
            rest, width = integer(n - stop), integer(TRIDIAGONAL_PANEL)
            M.call(
                *("latrd", b"L", integer(n - start), width, M.at(start, start), M.stride),
                *(e[start:], tau[start:], W.array, W.stride),
            )
            checkpoint()
            M.call(
                *("syr2k", b"L", b"N", rest, width, double(-1.0), M.at(stop, start), M.stride),
                *(W.at(TRIDIAGONAL_PANEL, 0), W.stride, double(1.0), M.at(stop, stop), M.stride),
            )
            own = np.arange(start, stop)
            array[own + 1, own] = e[own]
            d[own] = array[own, own]
            checkpoint()
            task.update()
    start = len(starts) * TRIDIAGONAL_PANEL
    work = np.empty(64 * (n - start))
    info = M.solve(
        *("sytrd", b"L", integer(n - start), M.at(start, start), M.stride, d[start:]),
        *(e[start:], tau[start:], work, integer(len(work))),
    )
    assert info == 0
    return d, e, tau


def _of_tridiagonal(d: Array, e: Array, first: int, last: int, vectors: bool) -> tuple[Array, Array]:
    """Eigenvalues of a tridiagonal matrix by relatively robust representations (``dstemr``)."""
    n, count = len(d), last - first + 1
    values, found, info = np.empty(n), ctypes.c_int(0), ctypes.c_int(0)
    Z = np.empty((n, count if vectors else 0), order="F")
    # off-diagonal entries are overwritten, and one more of them is used
    diagonal, beside, robust = d.copy(), np.append(e[: n - 1], 0.0), ctypes.c_int(1)
    support, work = np.empty(2 * count, dtype=np.intc), np.empty(18 * n)
    iwork = np.empty(10 * n, dtype=np.intc)
    call(
        *(
            "dstemr",
            b"V" if vectors else b"N",
            b"A" if count == n else b"I",
            integer(n),
            diagonal,
            beside,
            double(0.0),
            double(0.0),
        ),
        *(integer(first + 1), integer(last + 1), ctypes.byref(found), values, Z, integer(n), integer(count)),
        *(support, ctypes.byref(robust), work, integer(len(work)), iwork, integer(len(iwork))),
        ctypes.byref(info),
    )
    if info.value == 0 and found.value == count:
        return values[:count], Z
    if not (np.isfinite(d).all() and np.isfinite(e[: n - 1]).all()):
        raise np.linalg.LinAlgError("the matrix has entries that are not finite")
    answer = scipy.linalg.eigh_tridiagonal(
        d, e[: n - 1], eigvals_only=not vectors, select="i", select_range=(first, last)
    )
    return (np.asarray(answer[0]), np.asfortranarray(answer[1])) if vectors else (np.asarray(answer), Z)
