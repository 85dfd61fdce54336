r"""Weights of many rank-one kernels by their alignment with targets.

The cosine between :math:`K = \sum_z d_z v_z v_z^\top`, d >= 0, and :math:`Y Y^\top`, both centred, is largest
for the multiples of the solution of a nonnegative least-squares problem,

.. math:: \min_{d \ge 0} \; \tfrac12 \| K - Y Y^\top \|^2 = \tfrac12 d^\top M d - a^\top d + \tfrac12 \|Y^\top
          Y\|^2, \qquad M_{zu} = (v_z^\top v_u)^2, \quad a_z = |v_z^\top Y|^2 ,

whose value is :math:`\frac12 \|Y^\top Y\|^2 (1 - \cos^2)`.  Columns and targets are centred throughout.

Any matrix R with :math:`v_z^\top R v_z \le 0` for all z bounds the minimum from below by
:math:`\langle R, Y Y^\top \rangle - \frac12 \|R\|^2`.  At the minimum :math:`R = Y Y^\top - K` is such a
matrix; elsewhere it becomes one when a multiple of the identity is taken away.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...engine.threads import few_threads
from ..solution import Solution
from ..watch import Watch

__all__ = ["nonnegative_minimum", "solve_alignment"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]

#: Columns whose slopes are computed at a time.
CHUNK = 4096

#: Entries that join the active set at a time; one by one where rounding does not let several in.
BLOCK = 32


def solve_alignment(columns: Any, Y: Array, watch: Watch, *, tol: float = 1e-6) -> Solution[Array]:
    """Weights of the columns that align best with the targets; all zero if no column goes with them.

    Parameters
    ----------
    columns : array or sparse array of shape (n, p)
        None of them constant.
    Y : array of shape (n, c)
        Centred.
    watch : Watch
        Receives the gap, and may stop the solver.
    tol : float
        The gap to stop at: of the least square relative to that of ``YY'``.  The squared cosine is then by at
        most this below the largest.

    Returns
    -------
    Solution
        ``gap`` is computed from all columns; ``stats["objective"]`` is the alignment.
    """
    held, d, rounds = np.empty(0, dtype=np.intp), np.empty(0), 0
    with few_threads(len(Y), 512):
        run = _Run(columns, Y)
        while True:
            slopes = run.slopes(held, d)
            gap = run.gap(held, d, slopes)
            # The columns that lower the square most, of those not held: 64, or half as many as are held.
            candidates = slopes.copy()
            candidates[held] = -np.inf
            joining = np.argsort(-candidates, kind="stable")[: max(64, len(held) // 2)]
            joining = joining[candidates[joining] > 0]
            if gap <= tol or not len(joining) or watch(rounds, gap):
                break
            held, d = np.concatenate([held, joining]), np.concatenate([d, np.zeros(len(joining))])
            d, rounds = nonnegative_minimum(run.moments(held), run.gains[held], d), rounds + 1
        used = d > 0
        norm = float(d[used] @ run.moments(held[used]) @ d[used]) * run.square
    weights = np.zeros(len(run.gains))
    weights[held] = d * run.scales[held] ** 2
    cosine = float(run.gains[held] @ d) / norm**0.5 if norm > 0 else 0.0
    status = f"converged: the squared alignment is within {gap:.2g} of the largest"
    if gap > tol:
        why = watch.reason or "rounding left no column that would raise it"
        status = (
            f"stopped because {why}; the squared alignment is within {gap:.2g} of the largest, asked was "
        )
        status += f"{tol:g}"
    stats = {"objective": cosine, "iterations": rounds, "columns": len(held)}
    return Solution(weights, gap <= tol, status, gap, stats)


class _Run:
    def __init__(self, columns: Any, Y: Array) -> None:
        self.V, self.Y, self.n = columns, Y, len(Y)
        self.means = np.asarray(columns.mean(axis=0)).ravel()
        lengths = _column_sums(columns, columns) - self.n * self.means**2
        self.scales = 1.0 / np.sqrt(lengths)
        self.gains = np.asarray(((columns.T @ Y) ** 2).sum(axis=1)) * self.scales**2
        self.square = float(((Y.T @ Y) ** 2).sum())

    def unit(self, held: Index) -> Array:
        """Columns, centred and of unit length."""
        V = self.V[:, held]
        dense = V if isinstance(V, np.ndarray) else V.toarray()
        return np.asarray((dense - self.means[held]) * self.scales[held])

    def moments(self, held: Index) -> Array:
        """M of the columns held."""
        U = self.unit(held)
        return np.asarray((U.T @ U) ** 2)

    def slopes(self, held: Index, d: Array) -> Array:
        """By how much the square falls as a weight grows: a - M d, as v'(YY' - K)v."""
        used = d > 0
        U = self.unit(held[used])
        residual = self.Y @ self.Y.T - (U * d[used]) @ U.T
        slopes = np.empty(len(self.gains))
        for start in range(0, len(slopes), CHUNK):
            some = self.V[:, start : start + CHUNK]
            slopes[start : start + CHUNK] = _column_sums(some, residual @ some)
        return np.asarray(slopes * self.scales**2)

    def gap(self, held: Index, d: Array, slopes: Array) -> float:
        """Between the square and its bound, relative to that of YY'."""
        along = float(self.gains[held] @ d)
        bend = along - float(slopes[held] @ d)  # d'Md
        upper = 0.5 * bend - along + 0.5 * self.square
        excess = max(float(slopes.max()), 0.0)  # v'v = 1: this multiple of the identity makes all slopes <= 0
        traces = float((self.Y**2).sum()), float(d.sum())
        inner = self.square - along - excess * traces[0]
        norm = 2.0 * upper - 2.0 * excess * (traces[0] - traces[1]) + excess**2 * (self.n - 1)
        return max(upper - (inner - 0.5 * norm), 0.0) / (0.5 * self.square)


def nonnegative_minimum(M: Array, a: Array, start: Array) -> Array:
    """Minimise d'Md / 2 - a'd over d >= 0 by the active-set method of Lawson and Hanson.

    M has a unit diagonal.
    ``start`` says which entries are positive at first.  Entries that join lower the objective, so that M is
    positive definite on the entries in use; where rounding says otherwise, they stay out.
    """
    used = start > 0
    d = _active_minimum(M, a, np.where(used, start, 0.0), used)
    barred, most = np.zeros(len(a), dtype=bool), BLOCK
    while True:
        slopes = np.where(used | barred, 0.0, a - M @ d)
        joining = np.argsort(-slopes, kind="stable")[:most]
        # Slopes below this part of the largest entry of the linear term are rounding.
        joining = joining[slopes[joining] > 1e-13 * float(np.abs(a).max())]
        if not len(joining):
            return d
        before, used[joining] = d, True
        try:
            d = _active_minimum(M, a, d, used)
        except linalg.LinAlgError:
            used = before > 0
        stuck = np.array_equal(d, before)
        barred[joining] = stuck and len(joining) == 1
        most = max(1, len(joining) // 2) if stuck else min(2 * most, BLOCK)


def _active_minimum(M: Array, a: Array, d: Array, used: NDArray[np.bool_]) -> Array:
    """Go to the minimum over the entries in use; those that would become negative stop at zero and leave."""
    while used.any():
        index = np.flatnonzero(used)
        factor = linalg.cho_factor(M[np.ix_(index, index)], check_finite=False)
        # A column of unit length that is farther than this, squared, from the span of others adds to it.
        if np.diag(factor[0]).min() ** 2 < 1e-12:
            raise linalg.LinAlgError("columns are dependent")
        wanted = linalg.cho_solve(factor, a[index], check_finite=False)
        falls = np.where(wanted <= 0, d[index] - wanted, 0.0)
        reach = np.divide(d[index], falls, out=np.where(wanted <= 0, 0.0, np.inf), where=falls > 0)
        length = min(1.0, float(reach.min()))
        moved = np.zeros_like(d)
        moved[index] = d[index] + length * (wanted - d[index])
        leaving = index[reach <= length]
        moved[leaving] = 0.0
        d, used[leaving] = moved, False
        if not len(leaving):
            break
    return d


def _column_sums(A: Any, B: Any) -> Array:
    """Sums over the rows of the products of entries."""
    products = A * B if isinstance(A, np.ndarray) else A.multiply(B)
    return np.asarray(products.sum(axis=0)).ravel()
