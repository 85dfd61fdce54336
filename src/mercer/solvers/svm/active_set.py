r"""Solve a :class:`~mercer.solvers.BoxProblem` by a primal-dual active set (semismooth Newton) method.

If the free variables F were known, the solution would be that of a linear system, with the others at their
bounds:

.. math:: K_{FF} d + A^\top m = -(g + \epsilon s)_F, \qquad A d = 0, \qquad g = K \beta + q,

where s is the sign on the side of zero where a variable moves, A has a row of ones for every sum that is
given, and m are its multipliers.  Variables that leave the box at its solution go to the bound and leave F;
variables at a bound whose rate at the solution says that they should move enter F.  The next round solves
the system for this F, until none changes (Hintermueller, Ito and Kunisch 2002).  From a point that is near
this takes a few rounds.

A round costs a Cholesky factorization of K_FF, :math:`|F|^3 / 3` multiplications, in the precision that is
asked for: single precision to go to the solution where SMO would take far longer, double precision to go on
to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import linalg

from ... import memory
from ...engine.factorizations import cholesky
from ...engine.threads import few_threads
from ..matrix import Matrix
from .problem import BoxProblem, Vector

__all__ = ["active_set"]

Index = NDArray[np.intp]


def active_set(
    problem: BoxProblem,
    matrix: Matrix,
    beta: Vector,
    grad: Vector,
    tol: float,
    dtype: DTypeLike = np.float64,
    is_stopped: Callable[[], bool] = lambda: False,
) -> tuple[Vector, Vector] | None:
    """The solution and its gradient, or None if the active sets do not converge.

    Parameters
    ----------
    problem : BoxProblem
    matrix : Matrix
    beta, grad : array of shape (n,)
        A point that satisfies the constraint, and its gradient ``K beta + linear``.
    tol : float
        Violation of the optimality conditions that is good enough.
    dtype : float32 or float64
        Precision of the factorization, and of the values of K in the gradient.
    is_stopped : callable
        Called between rounds.
    """
    start = (problem, matrix, beta, grad, tol, np.dtype(dtype))
    with few_threads(int(problem.is_free(beta).sum())):
        found = _primal_dual(_Newton(*start), is_stopped)
        if found is None and start[-1] == np.float64 and not is_stopped():
            found = _primal(_Newton(*start), is_stopped)
    return found


def _primal_dual(newton: _Newton, is_stopped: Callable[[], bool]) -> tuple[Vector, Vector] | None:
    """Full steps, until the free variables stay the same, or too many are wrong after two more rounds."""
    wrong = [newton.problem.size]
    for _ in range(20):
        count = newton.round()
        if count == 0:
            return newton.beta, newton.grad
        if count is None or is_stopped():
            return None
        wrong.append(count)
        if len(wrong) > 3 and wrong[-1] > 0.75 * wrong[-3]:
            return None
    return None


def _primal(newton: _Newton, is_stopped: Callable[[], bool]) -> tuple[Vector, Vector] | None:
    """Steps to the first bound; the point of the lowest objective, if it is below that of the start."""
    problem, best = newton.problem, None
    least = problem.optimality(newton.beta, newton.grad)
    for _ in range(200):
        if is_stopped():
            break
        goes_on = newton.primal_round()
        state = problem.optimality(newton.beta, newton.grad)
        if state.objective < least.objective or (
            state.objective == least.objective and state.violation < least.violation
        ):
            best, least = (newton.beta.copy(), newton.grad.copy()), state
        if not goes_on:
            break
    return best


class _Newton:
    def __init__(
        self,
        problem: BoxProblem,
        matrix: Matrix,
        beta: Vector,
        grad: Vector,
        tol: float,
        dtype: np.dtype[Any],
    ) -> None:
        self.problem, self.beta, self.grad = problem, beta.copy(), grad.copy()
        self._matrix, self._dtype, self._slack = matrix, dtype, tol / 4
        self._free = problem.is_free(beta)
        self._rises = beta > 0  # the side of zero on which a variable moves
        self._totals = self._sums()
        self._system: _System | None = None
        self._blocked: list[int] = []  # variables that a bound stopped since the last full step

    def round(self) -> int | None:
        """Solve for the free variables and correct them; return how many were wrong, None if that failed."""
        index = np.flatnonzero(self._free)
        solved = self._solve(index)
        if solved is None:
            return None
        change, multipliers = solved
        low, high = self._segment(index)
        aim = self.beta[index] + change
        inside = np.clip(aim, low, high)
        left = inside != aim
        # Rates are those at the solution of the system; the point itself goes back into the box.
        self.grad += self._product(index, change)
        entered = self._entering(multipliers)
        self.beta[index] = inside
        self.grad += self._product(index[left], (inside - aim)[left])
        self._free[index[left]] = False
        self._free |= entered
        per_variable = self._rows_of_constraints(index).T @ multipliers
        rest = np.abs(self.grad[index] + self._signs(index) + per_variable).max(initial=0.0)
        # A sum that no free variable is in cannot make up for what the bounds took from it.
        off = np.abs(self._totals - self._sums()) > 1e-9 * np.abs(self.beta).sum()
        return int(left.sum() + entered.sum()) + int(rest > self._slack) + int(off.sum())

    def primal_round(self) -> bool:
        """A step to the first bound, or a full one and new free variables; whether there was any."""
        index = np.flatnonzero(self._free)
        solved = self._solve(index)
        if solved is None:
            return False
        change, multipliers = solved
        low, high = self._segment(index)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            lengths = np.where(change > 0, high - self.beta[index], low - self.beta[index]) / change
        lengths[change == 0] = np.inf
        length = min(1.0, float(lengths.min(initial=np.inf)))
        reached = np.clip(self.beta[index] + length * change, low, high)
        first = int(lengths.argmin()) if length < 1.0 else -1
        if first >= 0:
            reached[first] = high[first] if change[first] > 0 else low[first]
        self.grad += self._product(index, reached - self.beta[index])
        self.beta[index] = reached
        if first >= 0:
            self._free[index[first]] = False
            self._blocked.append(int(index[first]))
            return True
        entered = self._entering(multipliers, one_by_one=True)
        self._blocked.clear()
        self._free |= entered
        return bool(entered.any())

    def _solve(self, index: Index) -> tuple[Vector, Vector] | None:
        """Changes of the free variables at the solution of the system, and the multipliers."""
        A = self._rows_of_constraints(index)
        used = A.any(axis=1)
        multipliers = np.array(self.problem.optimality(self.beta, self.grad).multipliers)
        if not len(index):
            return np.empty(0), multipliers
        if self._system is None or not np.array_equal(self._system.index, index):
            self._system = None  # its memory is used again
            if not memory.allows(2.0 * self._dtype.itemsize * len(index) ** 2, 1 / 2):
                return None
            try:
                self._system = _System(self._matrix, index, self._dtype)
            except np.linalg.LinAlgError:  # not positive definite in this precision
                return None
        lacking = (self._totals - self._sums())[used]
        right = -(self.grad[index] + self._signs(index))
        change, multipliers[used] = self._system.solve(right, A[used], lacking)
        if not (np.isfinite(change).all() and np.isfinite(multipliers).all()):
            return None
        for row, part in zip(
            A[used] > 0, lacking, strict=True
        ):  # sums hold beyond the precision of the factor
            change[row] += (part - float(change[row].sum())) / int(row.sum())
        return change, multipliers

    def _product(self, index: Index, change: Vector) -> Vector:
        V = np.zeros(self.problem.size)
        V[index] = change
        return self._matrix.product(V, reduced=self._dtype == np.float32)

    def _sums(self) -> Vector:
        """The sums that are given."""
        beta = self.beta
        if self.problem.constraint == "signed":
            return np.array([beta[beta > 0].sum(), beta[beta < 0].sum()])
        return np.array([beta.sum()] if self.problem.constraint == "sum" else [])

    def _rows_of_constraints(self, index: Index) -> Vector:
        """A: which of these variables are in which sum."""
        rises = self._rises[index]
        rows: dict[str, list[NDArray[np.bool_]]] = {
            "sum": [np.ones(len(index), dtype=bool)],
            "signed": [rises, ~rises],
            "free": [],
        }
        given = rows[self.problem.constraint]
        return np.array(given, dtype=np.float64).reshape(len(given), len(index))

    def _signs(self, index: Index) -> Vector:
        return np.where(self._rises[index], self.problem.epsilon, -self.problem.epsilon)

    def _segment(self, index: Index) -> tuple[Vector, Vector]:
        """Where a variable may move without passing a bound, or zero if the rate changes there."""
        p, rises = self.problem, self._rises[index]
        low = np.where(p.has_kink & rises, 0.0, p.low[index])
        high = np.where(p.has_kink & ~rises, 0.0, p.high[index])
        return low, high

    def _entering(self, multipliers: Vector, *, one_by_one: bool = False) -> NDArray[np.bool_]:
        """Variables at a bound that should leave it; sets the side on which they will move."""
        p, beta, free = self.problem, self.beta, self._free
        above, below = (*multipliers, *multipliers, 0.0, 0.0)[:2]
        up = -self.grad - np.where(beta >= 0, p.epsilon + above, below - p.epsilon)
        down = -self.grad - np.where(beta > 0, p.epsilon + above, below - p.epsilon)
        grows = np.where((beta < p.high) & ~free, up, -np.inf)
        shrinks = np.where((beta > p.low) & ~free, -down, -np.inf)
        if one_by_one:
            for excess in (grows, shrinks):
                excess[self._blocked] = -np.inf
                excess[np.arange(p.size) != excess.argmax()] = -np.inf
        entered = np.maximum(grows, shrinks) > self._slack
        self._rises = np.where(entered, (beta > 0) | ((beta == 0) & (grows > shrinks)), self._rises)
        return np.asarray(entered)


class _System:
    """K_FF with its Cholesky factor, and the bordered system with it."""

    def __init__(self, matrix: Matrix, index: Index, dtype: np.dtype[Any]) -> None:
        n, every = len(index), np.arange(len(index))
        A = np.empty((n, n), dtype)
        matrix.select(index).rows(every, every, A, reduced=dtype == np.float32)
        self.index, self._K = index, A.copy() if dtype == np.float64 else None
        # Points that are the same, or nearly, leave K_FF positive definite with this on its diagonal.
        A[every, every] += (1e-12 if dtype == np.float64 else 1e-6) * A.diagonal().max()
        self._factor = cholesky(A)

    def solve(self, right: Vector, A: Vector, lacking: Vector) -> tuple[Vector, Vector]:
        """``d`` and ``m`` with ``K d + A' m = right`` and ``A d = lacking``."""
        V = self._inverse(A.T) if len(A) else np.empty((len(right), 0))
        S = A @ V
        x, m = np.zeros_like(right), np.zeros(len(A))
        for _ in range(1 if self._K is None else 3):  # the shift, and rounding, are taken back
            rest = right - A.T @ m if self._K is None or not x.any() else right - self._K @ x - A.T @ m
            y = self._inverse(rest)
            gap = A @ (x + y) - lacking
            with np.errstate(all="ignore"):
                is_number = len(A) == 1 and S[0, 0] > 0
                step = gap / S[0] if is_number else np.linalg.lstsq(S, gap, rcond=None)[0] if len(A) else m
            x, m = x + y - V @ step, m + step
        return x, m

    def _inverse(self, right: NDArray[Any]) -> Vector:
        solved = linalg.cho_solve((self._factor, True), right.astype(self._factor.dtype), check_finite=False)
        return np.asarray(solved, dtype=np.float64)
