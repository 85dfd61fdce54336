r"""Pivoted Cholesky factors of a positive semidefinite matrix.

:math:`K \approx F F^\top` from r columns of K.  Each step takes a pivot i and removes what its column
explains: with the residual :math:`R = K - F F^\top`, the next column of F is :math:`R e_i / \sqrt{R_{ii}}`.
R stays positive semidefinite and its diagonal is known throughout: its trace, which bounds every norm of R,
is the error.

**Greedy** pivots are those of the largest :math:`R_{ii}`.  **Random** pivots have probability
:math:`R_{ii} / \mathrm{tr}\, R` (Chen, Epperly, Tropp and Webber).  Blocks of them are drawn by rejection:
proposals have the probabilities at the start of the block, and proposal i is accepted with probability
:math:`R_{ii}` (present) over :math:`R_{ii}` (at the start).  The pivots have the same distribution as one by
one, and the work turns into matrix products (Epperly, Tropp and Webber).

Cost: (r + 1) n values of the kernel, O(n r^2) operations, O(n r) memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .. import memory
from ..engine.runs import tracked

__all__ = ["PivotedFactor", "pivoted_cholesky"]


class PivotedFactor(NamedTuple):
    """A factor with its error.

    Attributes
    ----------
    factor : array of shape (n, r)
        ``F``; its rows at the pivots, in their order, are lower triangular.
    pivots : array of shape (r,)
    residual : array of shape (n,)
        Diagonal of ``K - F F'``, >= 0.
    """

    factor: NDArray[Any]
    pivots: NDArray[np.intp]
    residual: NDArray[np.float64]


def pivoted_cholesky(
    block: Callable[[Any, Any], NDArray[Any]],
    diagonal: NDArray[np.float64],
    rank: int,
    *,
    tol: float = 0.0,
    rng: np.random.RandomState | None = None,
    dtype: Any = np.float64,
) -> PivotedFactor:
    """Factorise with at most ``rank`` pivots, fewer if rounding or ``tol`` ends it before.

    Parameters
    ----------
    block : callable
        ``block(rows, cols)`` gives the values of some rows and columns; ``slice(None)`` stands for all.
    diagonal : array of shape (n,)
    rank : int
    tol : float
        Ends when the trace of the residual is at most this part of the trace.
    rng : RandomState, optional
        With it, pivots are random; without, greedy.
    dtype : float64 or float32
        Precision of the factor.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the diagonal of the residual becomes negative: the matrix is not positive semidefinite.
    """
    left = np.array(diagonal, dtype=np.float64)
    n, trace, largest = len(left), float(left.sum()), float(np.abs(left).max(initial=0.0))
    # in single precision n eps is no small number: errors of r products add up at most
    count = n if np.dtype(dtype) == np.float64 else min(rank, n)
    rounding = max(count, 16) * float(np.finfo(dtype).eps) * largest
    _require_nonnegative(left, rounding)
    most = min(rank, n)
    memory.require(
        np.dtype(dtype).itemsize * n * most,
        f"the Cholesky factor of {n} x {most}",
        "Use fewer columns, or factorise a sample.",
    )
    F, pivots, r = np.empty((most, n), dtype), np.empty(most, np.intp), 0  # the transposed factor
    gemm, trsm = linalg.get_blas_funcs(("gemm", "trsm"), (F,))
    # Proposals of a block: this part of the rank, and at most this number. 1,000 pivots of 20,000 points took
    # 2.0 times as long with 32 proposals as with 128, and as long with 256.
    share, most_proposals = 8, 128
    width = 1 if rng is None else min(most_proposals, max(1, most // share))
    for _ in tracked(range(n), "pivoted Cholesky", "block"):
        chance = np.where(left > rounding, left, 0.0)
        if r == most or left.sum() <= tol * trace or not chance.any():
            break
        if rng is None:
            proposed, threshold = np.array([chance.argmax()]), np.zeros(1)
        else:
            total = np.cumsum(chance)
            proposed = np.minimum(np.searchsorted(total, rng.uniform(size=width) * total[-1], "right"), n - 1)
            threshold = rng.uniform(size=width) * left[proposed]
        H = np.asarray(block(proposed, proposed), dtype=np.float64) - F[:r, proposed].T @ F[:r, proposed]
        accepted, L = _accepted(H, np.maximum(threshold, rounding), most - r)
        if not len(accepted):  # the diagonal was rounding
            left[proposed[0]] = 0.0
            continue
        chosen = proposed[accepted]
        new = F[r : r + len(chosen)]  # a view: what follows works in place
        new[:] = block(chosen, slice(None))
        if r:
            gemm(-1.0, F[:r].T, F[:r, chosen], 1.0, new.T, overwrite_c=1)
        trsm(1.0, L.astype(dtype), new.T, side=1, lower=1, trans_a=1, overwrite_b=1)
        new[:, pivots[:r]] = 0.0  # triangular in the order of the pivots, to the last bit
        new[:, chosen] = L.T
        pivots[r : r + len(chosen)] = chosen
        r += len(chosen)
        left -= np.einsum("ij,ij->j", new, new)
        left[chosen] = 0.0
        _require_nonnegative(left, n * rounding)
        np.maximum(left, 0.0, out=left)
    return PivotedFactor(F[:r].T, pivots[:r].copy(), left)


def _accepted(
    H: NDArray[np.float64], threshold: NDArray[np.float64], most: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Eliminate the proposals whose diagonal is above its threshold, in order; the factor of those."""
    L = np.zeros_like(H)
    accepted: list[int] = []
    for i in range(len(H)):
        j = len(accepted)
        column = H[i:, i] - L[i:, :j] @ L[i, :j]
        if j < most and column[0] > threshold[i]:
            L[i:, j] = column / np.sqrt(column[0])
            accepted.append(i)
    order = np.array(accepted, dtype=np.intp)
    return order, L[order, : len(order)]


def _require_nonnegative(diagonal: NDArray[np.float64], rounding: float) -> None:
    if not diagonal.min(initial=0.0) >= -rounding:
        raise np.linalg.LinAlgError(
            f"the residual has the diagonal entry {diagonal.min():.6g}, so that the matrix is not positive "
            "semidefinite"
        )
