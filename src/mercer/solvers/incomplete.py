r"""Incomplete Cholesky factorisation with pivots: a large positive semidefinite matrix as :math:`L L^\top`.

Columns of the matrix are asked for one block at a time, spread over the points in proportion to the diagonal
that remains (the largest entries are often all next to each other, and one of them does for all), until what
remains, :math:`R = K - L L^\top`, is small.  :math:`R` is positive semidefinite and its diagonal is known
throughout, so that its trace, which bounds its norm, is an error and not an estimate.  With ``r`` columns:
O(n r) values of the kernel, O(n r^2) operations, O(n r) memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from .. import memory
from ..engine.runs import checkpoint
from .solution import Solution

__all__ = ["LowRank", "incomplete_cholesky"]

#: Columns that are asked for together, at least and at most: twice as many as were of use the last time.
LEAST_BLOCK, BLOCK = 8, 48


class LowRank(NamedTuple):
    """The factor of shape (n, r), and the r points whose columns it was made from, in order."""

    factor: np.ndarray
    pivots: np.ndarray


def incomplete_cholesky(
    columns: Callable[[np.ndarray], np.ndarray],
    diagonal: np.ndarray,
    *,
    tol: float = 0.0,
    max_rank: int | None = None,
) -> Solution[LowRank]:
    """Factorise until the trace of the rest is at most ``tol`` times that of the matrix.

    Parameters
    ----------
    columns : callable
        Gives the columns of some positions, of shape (n, b).
    diagonal : array of shape (n,)
    tol : float
        With 0, until what is left is rounding: the rank of the matrix.
    max_rank : int, optional
        Most columns of the factor.

    Returns
    -------
    Solution
        ``gap`` is the trace of the rest over that of the matrix.  Raises ``LinAlgError`` if the diagonal of
        the rest becomes negative: then the matrix is not positive semidefinite.
    """
    rest = np.array(diagonal, dtype=np.float64)
    n, trace = len(rest), float(rest.sum())
    rounding = max(n, 16) * float(np.finfo(np.float64).eps) * float(np.abs(rest).max(initial=0.0))
    most = n if max_rank is None else min(max_rank, n)
    L = np.empty((n, 0))
    pivots: list[int] = []
    width = BLOCK
    while len(pivots) < most and rest.sum() > tol * trace and rest.max() > rounding:
        checkpoint()
        r = len(pivots)
        # The point of the largest remaining diagonal, and others in proportion to theirs.
        count, cumulated = min(width, most - r), np.cumsum(rest)
        shares = cumulated[-1] * (np.arange(count - 1) + 0.5) / max(1, count - 1)
        block = np.unique(np.append(np.searchsorted(cumulated, shares), np.argmax(rest)))
        C = np.asarray(columns(block), dtype=np.float64) - L[:, :r] @ L[block, :r].T
        chosen, R = _pivoted(C[block], rounding)
        if r + len(chosen) > L.shape[1]:
            size = n, min(most, max(2 * r, 4 * BLOCK))
            what = f"the incomplete Cholesky factor of {size[0]} x {size[1]}"
            memory.require(8 * size[0] * size[1], what, "Set max_rank, or raise tol.")
            L, smaller = np.empty(size), L
            L[:, :r] = smaller[:, :r]
        new = linalg.solve_triangular(R, C[:, chosen].T, lower=True, check_finite=False).T
        new[pivots], new[block[chosen]] = 0.0, R  # triangular in the order of the pivots, to the last bit
        L[:, r : r + len(chosen)] = new
        pivots += block[chosen].tolist()
        width = min(max(LEAST_BLOCK, 2 * len(chosen)), BLOCK)
        rest -= np.einsum("ij,ij->i", new, new)
        rest[pivots] = 0.0
        if rest.min() < -rounding * n:
            raise linalg.LinAlgError(f"negative diagonal {rest.min():.6g} after {len(pivots)} columns")
        np.maximum(rest, 0.0, out=rest)
    gap = float(rest.sum()) / trace if trace > 0 else 0.0
    complete = not len(rest) or float(rest.max()) <= rounding
    status = f"rank {len(pivots)} of at most {len(rest)}: " + (
        "nothing is left but rounding" if complete else f"{gap:.1e} of the trace is left"
    )
    converged = complete or gap <= tol
    if not converged:
        status += f", where {tol:.1e} was the aim; a larger max_rank leaves less"
    value = LowRank(L[:, : len(pivots)].copy(), np.array(pivots, dtype=np.intp))
    return Solution(value, converged, status, gap, {"rank": len(pivots)})


def _pivoted(P: np.ndarray, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    """Cholesky factor of the rows and columns of ``P`` that the ones before them do not explain."""
    b = len(P)
    R = np.zeros((b, b))
    left = np.diagonal(P).copy()
    # A column of a block that the others explain up to this part of its diagonal is worth nothing any more.
    least = np.maximum(0.1 * left, rounding)
    chosen: list[int] = []
    while len(chosen) < b:
        i = int(np.argmax(left))
        j = len(chosen)
        R[:, j] = (P[:, i] - R[:, :j] @ R[i, :j]) / np.sqrt(left[i])
        left -= R[:, j] ** 2
        chosen.append(i)
        left[chosen] = -np.inf
        left[left < least] = -np.inf
        if left.max() == -np.inf:
            break
    order = np.array(chosen)
    return order, np.tril(R[order, : len(order)])
