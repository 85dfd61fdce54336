"""Functions of all pairs of rows, on the native core.

Each function takes validated rows, either a two-dimensional float32 or float64 array of any memory layout or
a canonical SciPy CSR array, and returns the matrix of all pairs.  ``Y=None`` means ``Y = X``: half of the
pairs are computed and the result is symmetric to the last bit.  The result is float32 if both inputs are, and
sums are accumulated in float64 either way (except in :func:`dot`, which is BLAS).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mercer import _native
from mercer.engine.threads import num_threads, single_threaded_blas

__all__ = [
    "all_subsets",
    "anova",
    "chi_square",
    "dot",
    "jensen",
    "l1_distances",
    "max_sums",
    "min_sums",
    "squared_distances",
]

Array: TypeAlias = npt.NDArray[Any]
Matrix: TypeAlias = Any  # ndarray | sparse.csr_array | sparse.csr_matrix

# Elementary operations that one native call may take, so that Ctrl-C is seen within a fraction of a second.
_STEP = 1 << 27
_COST = {_native.DOT: 0.1, _native.CHI2: 4.0, _native.JENSEN: 40.0}
_MERGE_COST = 30.0

# Rows of one of the symmetric panels, at least; it is also the height of a native tile.
_PANEL = 128

# Products of fewer operations are never spread over threads by BLAS.
_BLAS_ALONE = 1 << 16

# Entries of the dense buffers that stand for a few sparse rows.
_BUFFER = 1 << 20


def squared_distances(X: Matrix, Y: Matrix | None = None) -> Array:
    r"""Squared Euclidean distances :math:`\sum_k (x_k - y_k)^2`.

    Summed from the differences, so that the relative error is at most (d + 8) eps however far the points lie
    from the origin; never negative, and zero exactly where rows are equal.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[1e8, 0.0], [1e8, 3.0]]))
    array([[0., 9.],
           [9., 0.]])
    """
    return _pairwise(_native.SQEUCLIDEAN, X, Y)


def l1_distances(X: Matrix, Y: Matrix | None = None) -> Array:
    r"""Manhattan distances :math:`\sum_k |x_k - y_k|`."""
    return _pairwise(_native.L1, X, Y)


def min_sums(X: Matrix, Y: Matrix | None = None) -> Array:
    r"""Sums of minima :math:`\sum_k \min(x_k, y_k)`."""
    return _pairwise(_native.MIN, X, Y)


def max_sums(X: Matrix, Y: Matrix | None = None) -> Array:
    r"""Sums of maxima :math:`\sum_k \max(x_k, y_k)`."""
    return _pairwise(_native.MAX, X, Y)


def chi_square(X: Matrix, Y: Matrix | None = None) -> Array:
    r"""Chi-square distances :math:`\sum_k (x_k - y_k)^2 / (x_k + y_k)` of nonnegative rows, with 0/0 = 0."""
    return _pairwise(_native.CHI2, X, Y)


def jensen(X: Matrix, Y: Matrix | None = None) -> Array:
    r"""Jensen differences :math:`\sum_k h((x_k + y_k)/2) - (h(x_k) + h(y_k))/2` of nonnegative rows.

    Here :math:`h(t) = -t \log t` with h(0) = 0; for probability vectors this is the Jensen-Shannon
    divergence.  Rearranged so that nearly equal rows lose no digits; never negative.
    """
    return _pairwise(_native.JENSEN, X, Y)


def dot(X: Matrix, Y: Matrix | None = None) -> Array:
    r"""Dot products :math:`\sum_k x_k y_k`, by the BLAS that SciPy brings or by SciPy's sparse product."""
    if sparse.issparse(X) or sparse.issparse(Y):
        return _sparse_dot(X, Y)
    x, y, out = _prepare(X, Y)
    gemm = _gemm_is_set()
    threads = num_threads()

    def compute(rows: slice, cols: slice) -> None:
        if gemm:
            _native.pairwise(_native.DOT, x[rows], y[cols], out[rows, cols], threads)
        else:
            np.matmul(x[rows], y[cols].T, out=out[rows, cols])

    height = _height(y.shape[0], _COST[_native.DOT] * x.shape[1])
    # The threads are ours, over blocks of fixed shape; those of BLAS would change the last bits.
    with single_threaded_blas() if out.size * x.shape[1] > _BLAS_ALONE else nullcontext():
        return _fill(out, compute, height, symmetric=Y is None, mirror_diagonal=True)


def anova(X: Matrix, Y: Matrix | None, weights: Array, coefficients: Array) -> Array:
    r"""Sums of elementary symmetric polynomials :math:`\sum_s c_s\, e_s(w_1 x_1 y_1, \dots, w_d x_d y_d)`.

    All degrees come from one pass over the features; cost O(n m d degree).

    Parameters
    ----------
    X, Y : matrix of shape (n, d), (m, d)
        Rows; ``Y=None`` means ``Y = X``.
    weights : ndarray of shape (d,)
        One weight per feature.
    coefficients : ndarray of shape (degree + 1,)
        Coefficient of each degree, from 0.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0, 3.0]])
    >>> anova(X, None, np.ones(3), np.array([0.0, 0.0, 1.0]))  # 1*4 + 1*9 + 4*9
    array([[49.]])
    """
    series = np.trim_zeros(np.ascontiguousarray(coefficients, dtype=np.float64), "b")
    if series.size == 0:
        series = np.zeros(1)

    def compute(x: Array, y: Array, w: Array, out: Array, threads: int) -> None:
        _native.anova(x, y, w, series, out, threads)

    return _products(compute, X, Y, weights, 4.0 * series.size)


def all_subsets(X: Matrix, Y: Matrix | None, weights: Array) -> Array:
    r"""All-subsets products :math:`\prod_k (1 + w_k x_k y_k)`.

    Examples
    --------
    >>> import numpy as np
    >>> all_subsets(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]), np.ones(2))
    array([[36.]])
    """
    return _products(_native.all_subsets, X, Y, weights, 4.0)


# -- dense rows ----------------------------------------------------------------------------------------------


def _prepare(X: Array, Y: Array | None) -> tuple[Array, Array, Array]:
    """Contiguous rows of one type, and an array for the result."""
    dtype = _common_dtype(X, Y)
    x = np.ascontiguousarray(X, dtype=dtype)
    y = x if Y is None else np.ascontiguousarray(Y, dtype=dtype)
    return x, y, np.empty((x.shape[0], y.shape[0]), dtype=dtype)


def _common_dtype(X: Matrix, Y: Matrix | None) -> type[np.float32] | type[np.float64]:
    single = X.dtype == np.float32 and (Y is None or Y.dtype == np.float32)
    return np.float32 if single else np.float64


def _pairwise(op: int, X: Matrix, Y: Matrix | None) -> Array:
    if sparse.issparse(X) or sparse.issparse(Y):
        return _sparse_pairwise(op, X, Y)
    x, y, out = _prepare(X, Y)
    threads = num_threads()

    def compute(rows: slice, cols: slice) -> None:
        _native.pairwise(op, x[rows], y[cols], out[rows, cols], threads)

    height = _height(y.shape[0], _COST.get(op, 1.0) * x.shape[1])
    return _fill(out, compute, height, symmetric=Y is None)


def _height(m: int, cost: float) -> int:
    """Rows per native call, when a pair costs this number of operations."""
    height = int(_STEP / (max(m, 1) * (cost + 1.0)))
    return max(1, height if height < _PANEL else height // _PANEL * _PANEL)


def _fill(
    out: Array,
    compute: Callable[[slice, slice], None],
    height: int,
    *,
    symmetric: bool,
    mirror_diagonal: bool = False,
) -> Array:
    """Fill `out` by strips of rows; of a symmetric matrix only the part up to the diagonal, then mirrored.

    With `mirror_diagonal` the strips themselves are not trusted to be symmetric around the diagonal.
    """
    n, m = out.shape
    if symmetric:
        height = min(height, max(_PANEL, n // 8))
    for rows in _strips(n, height):
        if not symmetric:
            compute(rows, slice(0, m))
            continue
        compute(rows, slice(0, rows.stop))
        out[: rows.start, rows] = out[rows, : rows.start].T
        if mirror_diagonal:
            square = out[rows, rows]
            np.copyto(square, square.T, where=~np.tri(len(square), dtype=bool))
    return out


def _strips(n: int, height: int) -> Iterator[slice]:
    for start in range(0, n, height):
        yield slice(start, min(start + height, n))


@cache
def _gemm_is_set() -> bool:
    """Hand SciPy's BLAS to the native core; false if it counts in integers of another size than ours."""
    from scipy.linalg import cython_blas

    functions = cython_blas.__pyx_capi__
    return _native.set_gemm(functions["dgemm"], functions["sgemm"])


# -- sparse rows ---------------------------------------------------------------------------------------------


def _csr(A: Matrix, dtype: type[np.float32] | type[np.float64]) -> Any:
    return sparse.csr_array(A, dtype=dtype)


def _sparse_pairwise(op: int, X: Matrix, Y: Matrix | None) -> Array:
    dtype = _common_dtype(X, Y)
    x = _csr(X, dtype)
    y = x if Y is None else _csr(Y, dtype)
    out = np.empty((x.shape[0], y.shape[0]), dtype=dtype)
    index = np.promote_types(x.indices.dtype, y.indices.dtype)
    parts = [np.ascontiguousarray(a, dtype=index) for a in (x.indices, x.indptr, y.indices, y.indptr)]
    x_indices, x_indptr, y_indices, y_indptr = parts
    threads = num_threads()

    def compute(rows: slice, cols: slice) -> None:
        _native.csr_pairwise(
            op,
            x.data,
            x_indices,
            x_indptr[rows.start : rows.stop + 1],
            y.data,
            y_indices,
            y_indptr[cols.start : cols.stop + 1],
            out[rows, cols],
            threads,
        )

    stored = (x.nnz + y.nnz) / max(1, x.shape[0] + y.shape[0])
    height = _height(y.shape[0], max(_COST.get(op, 1.0), _MERGE_COST) * 2 * stored)
    return _fill(out, compute, height, symmetric=Y is None)


def _sparse_dot(X: Matrix, Y: Matrix | None) -> Array:
    dtype = _common_dtype(X, Y)
    x = _csr(X, dtype)
    y = x if Y is None else _csr(Y, dtype)
    out = np.empty((x.shape[0], y.shape[0]), dtype=dtype)
    right = y.T.tocsr()
    for rows in _strips(out.shape[0], max(1, _BUFFER // max(1, out.shape[1]))):
        out[rows] = (x[rows] @ right).toarray()
    return out


def _products(
    native: Callable[[Array, Array, Array, Array, int], None],
    X: Matrix,
    Y: Matrix | None,
    weights: Array,
    cost: float,
) -> Array:
    w = np.ascontiguousarray(weights, dtype=np.float64)
    threads = num_threads()
    if not (sparse.issparse(X) or sparse.issparse(Y)):
        x, y, out = _prepare(X, Y)
        height = _height(y.shape[0], cost * x.shape[1])
        return _fill(
            out,
            lambda rows, cols: native(x[rows], y[cols], w, out[rows, cols], threads),
            height,
            symmetric=Y is None,
        )

    # A feature counts only where both rows have it: of a few rows of X, keep the columns that occur.
    dtype = _common_dtype(X, Y)
    xs = _csr(X, dtype)
    ys = xs if Y is None else _csr(Y, dtype)
    out = np.empty((xs.shape[0], ys.shape[0]), dtype=dtype)

    def compute(rows: slice, cols: slice) -> None:
        x = xs[rows]
        kept = np.unique(x.indices)
        x, y = x[:, kept].toarray(), ys[cols][:, kept]
        for part in _strips(y.shape[0], max(1, _BUFFER // max(1, len(kept)))):
            target = out[rows, cols.start + part.start : cols.start + part.stop]
            native(x, y[part].toarray(), w[kept], target, threads)

    stored = max(1, xs.nnz // max(1, xs.shape[0]))
    height = max(1, min(_PANEL, int((_BUFFER / stored) ** 0.5)))
    return _fill(out, compute, height, symmetric=Y is None)
