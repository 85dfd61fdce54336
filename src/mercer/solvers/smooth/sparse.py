r"""Smooth losses with a penalty on the absolute values of the coefficients, and one on the squared norm.

Minimise over :math:`A \in \mathbb{R}^{n \times m}` and, with an intercept, :math:`b \in \mathbb{R}^m`

.. math:: P = \sum_i w_i \, \ell(y_i, (K A)_i + b) + \tfrac\alpha2 \mathrm{tr}(A^\top K A)
          + \mu \sum_{jc} |A_{jc}|, \qquad \alpha \ge 0,\; \mu > 0 .

With :math:`\alpha = 0` the matrix need not be positive definite: its columns are features.  With the gradient
of the smooth terms :math:`C = K (w G + \alpha A)`, a point is optimal iff

.. math:: C_{jc} = -\mu \, \mathrm{sign}(A_{jc}) \;\text{ where } A_{jc} \ne 0, \qquad
          |C_{jc}| \le \mu \;\text{ elsewhere}, \qquad \textstyle\sum_i w_i G_i = 0 .

Violations of these conditions are measured relative to the slopes of the penalties, :math:`\mu + \alpha
\max_{jc} |(K A)_{jc}|`.

A working set holds the entries that may be different from zero, each with a sign.  On it the objective is
smooth, and Newton steps minimise it; an entry whose sign would change stops at zero and leaves.  Then the
entries that violate the second condition most join.  Only the columns of the working set are ever held.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...engine.runs import STOPPING, Convergence, checkpoint, conclude
from ...engine.threads import few_threads
from ...gram import Gram
from ..solution import Solution
from .curvature import APPROXIMATE_SHIFTS, factor
from .newton import (
    DECREASE,
    HALVINGS,
    ROUNDED,
    STOPPED,
    SmoothProblem,
    SmoothValue,
    best_intercept,
)

__all__ = ["solve_sparse"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]

#: Newton steps on one working set before others may join; the set's own violation to go down to, relative to
#: that of all.
STEPS, SHARE = 20, 1e-4


def solve_sparse(
    problem: SmoothProblem,
    G: Gram,
    l1: float,
    *,
    alpha: float = 0.0,
    held: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    name: str = "Newton",
) -> Solution[SmoothValue]:
    """Minimise by Newton steps on working sets.

    Parameters
    ----------
    problem : SmoothProblem
    G : Gram
        Symmetric; with ``alpha > 0`` positive semidefinite.
    l1 : float
        Penalty on the absolute values of the coefficients, > 0.
    alpha : float
        Penalty on the squared norm, >= 0.
    held : array of shape (n, n), optional
        The values of ``G`` where memory allows; otherwise products are taken and some columns held.
    tol : float
        The relative violation of the optimality conditions to stop at.
    max_iter : int
        Newton steps at most.

    Returns
    -------
    Solution
        ``gap`` is the largest relative violation of the optimality conditions, computed anew from the
        coefficients alone.
    """
    run = _Run(problem, G, l1, alpha, held)
    with Convergence(name, tol) as progress, few_threads(len(G)):
        return run.solve(tol, max_iter, progress)


class _Point(NamedTuple):
    """Coefficients of the working set, intercepts, predictions of all points, the objective."""

    a: Array
    b: Array
    F: Array
    objective: float


class _Run:
    def __init__(self, problem: SmoothProblem, G: Gram, l1: float, alpha: float, held: Array | None) -> None:
        self.problem, self.l1, self.alpha, self.held = problem, l1, alpha, held
        self.gram = G._in_double()
        self.n, self.m = problem.targets.shape
        self.columns: dict[int, Array] = {}
        self.rows = self.functions = np.empty(0, dtype=np.intp)  # the working set: entries (row, function)
        self.signs = np.empty(0)

    # -- the matrix -----------------------------------------------------------------------------
    def product(self, V: Array) -> Array:
        checkpoint()
        return np.asarray(self.gram @ V if self.held is None else self.held @ V, dtype=np.float64)

    def design(self, rows: Index) -> Array:
        """Columns of K, cached while their entries are in the working set."""
        if self.held is not None:
            return self.held[:, rows]
        missing = np.array([j for j in np.unique(rows).tolist() if j not in self.columns], dtype=np.intp)
        if len(missing):
            values = np.asarray(self.gram._values(slice(0, self.n), missing), dtype=np.float64)
            self.columns.update(zip(missing.tolist(), values.T, strict=True))
        wanted = set(rows.tolist())
        self.columns = {j: column for j, column in self.columns.items() if j in wanted}
        return np.array([self.columns[j] for j in rows.tolist()]).reshape(len(rows), self.n).T

    # -- the iteration --------------------------------------------------------------------------
    def solve(self, tol: float, max_iter: int, progress: Convergence) -> Solution[SmoothValue]:
        zero = np.zeros((self.n, self.m))
        point, steps, why = self._at(np.empty(0), zero, np.zeros(self.m)), 0, ""
        complete = (zero, point, 0, np.inf)
        try:
            while True:
                slopes = self._slopes(point)
                violation = self._violation(self._spread(point.a), slopes)
                worst = float(violation.max())
                gap = worst / self._scale(point)
                complete = (self._spread(point.a), point, steps, gap)
                progress.update(steps, gap)
                if gap <= tol or steps >= max_iter or why:
                    break
                point = self._join(point, violation, slopes)
                before = point
                point, taken = self._descend(point, SHARE * worst, min(STEPS, max_iter - steps))
                steps += taken
                if point.objective >= before.objective and not taken:
                    why = f"no step lowers the objective: {ROUNDED}"
            return self._finish(point, tol, steps, why)
        except STOPPING as error:
            A, point, steps, gap = complete
            status = f"{STOPPED} {conclude(error)}; raise time_budget, l1 or tol"
            return self._solution(A, point, gap, steps, False, status)

    def _at(self, a: Array, KA: Array, b: Array) -> _Point:
        b = best_intercept(self.problem, KA, b)
        return _Point(a, b, KA + b, self._objective(a, KA, b))

    def _objective(self, a: Array, KA: Array, b: Array) -> float:
        squared = float(a @ KA[self.rows, self.functions]) if self.alpha else 0.0
        return self.problem.value(KA + b) + 0.5 * self.alpha * squared + self.l1 * float(np.abs(a).sum())

    def _slopes(self, point: _Point) -> Array:
        """The gradient of the smooth terms, for all coefficients."""
        return self.product(self.problem.slopes(point.F)) + self.alpha * (point.F - point.b)

    def _scale(self, point: _Point) -> float:
        """The size of the slopes of the penalties, by which violations are measured."""
        return self.l1 + self.alpha * float(np.abs(point.F - point.b).max())

    def _spread(self, a: Array) -> Array:
        """All coefficients, from those of the working set."""
        A = np.zeros((self.n, self.m))
        A[self.rows, self.functions] = a
        return A

    def _violation(self, A: Array, slopes: Array) -> Array:
        """By how much each entry violates the optimality conditions."""
        return np.where(
            A != 0, np.abs(slopes + self.l1 * np.sign(A)), np.maximum(np.abs(slopes) - self.l1, 0.0)
        )

    def _join(self, point: _Point, violation: Array, slopes: Array) -> _Point:
        """Keep the entries that are not zero and let the worst violators join, with the sign they want."""
        kept = point.a != 0
        free = violation.copy()
        free[self.rows[kept], self.functions[kept]] = 0.0
        # Entries that join the working set at a time: this number, or this fraction of those in it.
        join, join_share = 16, 0.5
        count = max(join, int(join_share * kept.sum()))
        order = np.argsort(-free, axis=None, kind="stable")[:count]
        order = order[free.ravel()[order] > 0]
        rows, functions = np.unravel_index(order, free.shape)
        self.rows = np.concatenate([self.rows[kept], rows])
        self.functions = np.concatenate([self.functions[kept], functions])
        self.signs = np.concatenate([np.sign(point.a[kept]), -np.sign(slopes[rows, functions])])
        return point._replace(a=np.concatenate([point.a[kept], np.zeros(len(rows))]))

    def _descend(self, point: _Point, goal: float, most: int) -> tuple[_Point, int]:
        """Newton steps on the working set; entries that reach zero leave."""
        for step in range(most):
            X = self.design(self.rows)
            gradient = self._gradient(X, point)
            if len(gradient) == 0 or float(np.abs(gradient).max()) <= goal:
                return point, step
            moved = self._line_search(X, point, *self._direction(X, point, gradient), gradient)
            if moved is None:
                return point, step
            kept = moved.a != 0
            self.rows, self.functions, self.signs = self.rows[kept], self.functions[kept], self.signs[kept]
            point = moved._replace(a=moved.a[kept])
        return point, most

    def _gradient(self, X: Array, point: _Point) -> Array:
        """The gradient of the objective on the working set."""
        of_loss = np.einsum("ij,ij->j", X, self.problem.slopes(point.F)[:, self.functions])
        of_norm = self.alpha * (point.F - point.b)[self.rows, self.functions]
        return np.asarray(of_loss + of_norm + self.l1 * self.signs)

    def _direction(self, X: Array, point: _Point, gradient: Array) -> tuple[Array, Array]:
        """The Newton direction of entries and intercepts; entries at zero do not turn against their sign.

        Not all of them would: together they promise a decrease, so that some entry keeps its sign.
        """
        H, response = self._curvature(X, point.F)
        active = np.ones(len(gradient), dtype=bool)
        while True:
            direction = np.zeros(len(gradient))
            system = H[np.ix_(active, active)]
            lower = factor(system, APPROXIMATE_SHIFTS)  # equal columns share what they move
            direction[active] = -linalg.cho_solve((lower, True), gradient[active], check_finite=False)
            wrong = active & (point.a == 0) & (direction * self.signs < 0)
            if not wrong.any():
                return direction, response @ direction
            active &= ~wrong

    def _curvature(self, X: Array, F: Array) -> tuple[Array, Array]:
        """The Hessian on the working set with the best intercepts, and how these respond to its entries."""
        S = self.problem.root(F).dense()
        W = np.einsum("icd,ied->ice", S, S)
        H = np.zeros((X.shape[1], X.shape[1]))
        members = [np.flatnonzero(self.functions == c) for c in range(self.m)]
        mixed, response = np.zeros((X.shape[1], self.m)), np.zeros((self.m, X.shape[1]))
        for c, first in enumerate(members):
            for d, second in enumerate(members):
                weighted = W[:, c, d, None] * X[:, second]
                H[np.ix_(first, second)] = X[:, first].T @ weighted
                mixed[second, c] = weighted.sum(axis=0)
            H[np.ix_(first, first)] += self.alpha * X[np.ix_(self.rows[first], first)]
        if self.problem.intercept:
            response = -np.linalg.pinv(W.sum(axis=0), rcond=1e-10, hermitian=True) @ mixed.T
            H += mixed @ response
        return H, response

    def _line_search(
        self, X: Array, point: _Point, direction: Array, shift: Array, gradient: Array
    ) -> _Point | None:
        """A step that lowers the objective; entries that would change their sign stop at zero."""
        slack = 4 * np.finfo(float).eps * abs(point.objective)
        slope, length = float(gradient @ direction), 1.0
        for _ in range(HALVINGS):
            a = point.a + length * direction
            a[a * self.signs < 0] = 0.0
            KA = point.F - point.b + self._combine(X, a - point.a)
            b = point.b + length * shift
            objective = self._objective(a, KA, b)
            if objective <= point.objective + DECREASE * length * min(slope, 0.0) + slack:
                return self._at(a, KA, b)
            length *= 0.5
        return None

    def _combine(self, X: Array, a: Array) -> Array:
        result = np.zeros((self.n, self.m))
        for c in range(self.m):
            mine = self.functions == c
            result[:, c] = X[:, mine] @ a[mine]
        return result

    def _finish(self, point: _Point, tol: float, steps: int, why: str) -> Solution[SmoothValue]:
        """Judge the coefficients by what follows from them alone."""
        A = self._spread(point.a)
        final = self._at(point.a, self.product(A), point.b)
        slopes = self.problem.slopes(final.F)
        violation = float(self._violation(A, self._slopes(final)).max(initial=0.0))
        gap = max(violation, float(np.abs(slopes.sum(axis=0)).max()) if self.problem.intercept else 0.0)
        gap /= self._scale(final)
        converged = gap <= tol
        status = "converged"
        if not converged:
            status = why or f"stopped after {steps} Newton steps (max_iter); raise max_iter or l1"
        return self._solution(A, final, gap, steps, converged, status)

    def _solution(
        self, A: Array, point: _Point, gap: float, steps: int, converged: bool, status: str
    ) -> Solution[SmoothValue]:
        stats = {
            "iterations": steps,
            "objective": point.objective,
            "nonzero": int(np.count_nonzero(A)),
            "method": "Newton steps on a working set",
        }
        return Solution(SmoothValue(A, point.b, point.F), converged, status, gap, stats)
