r"""Solve a :class:`~mercer.solvers.BoxProblem` on known features by dual coordinate descent.

Where :math:`K = X X^\top` for rows of known features, the iterations keep :math:`w = X^\top \beta` instead of
values of K (``native/svm/coordinate_descent.hpp`` states the method): an epoch over all variables costs the
entries of X, and memory is that of X.  The result is checked as any other: its violation is computed anew,
at a point whose sum is exactly the given one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ... import _native
from ...engine.runs import until
from ..solution import Solution
from ..watch import STOPPING, Watch
from . import policy
from .outcome import BoxValue, solution_of
from .problem import CONSTRAINTS, BoxProblem, Vector

__all__ = ["solve_linear"]


def solve_linear(
    problem: BoxProblem, features: Any, start: Vector | None, tol: float, max_iter: int, watch: Watch
) -> Solution[BoxValue]:
    """Solve the problem, or stop where a limit is reached.

    Parameters
    ----------
    problem : BoxProblem
        With a sum of zero, or a free one.
    features : array or sparse array of shape (n, d)
        Rows whose inner products are K.
    start : array of shape (n,), optional
    tol : float
        The violation of the optimality conditions at which to stop.
    max_iter : int
        Most steps of one variable; -1 for the limit of SMO.
    watch : Watch
    """
    rows = _Rows(features)
    beta = np.zeros(problem.size) if start is None else np.array(start, dtype=np.float64)
    most = policy.iteration_limit(max_iter, problem.size)
    visits, multiplier, goal, ending = 0, 0.0, tol / 2, int(_native.STOPPED)
    point, grad = beta, problem.linear
    try:
        with until(lambda: watch.is_over):
            for seed in range(policy.MAX_CHECKS):
                ending, count, multiplier = rows.descend(
                    problem, beta, multiplier, goal, most - visits, seed, watch, visits
                )
                visits += count
                point, grad = rows.feasible(problem, beta)
                if ending != _native.CONVERGED or problem.optimality(point, grad).violation <= tol:
                    break
                goal /= 4
    except STOPPING as error:
        watch.stop(error)
        ending = int(_native.STOPPED)
        point, grad = rows.feasible(problem, beta)
    finally:
        watch.close()
    return solution_of(
        point,
        grad,
        problem.optimality(point, grad),
        ending=ending,
        certain=True,
        iterations=visits,
        seconds=watch.elapsed,
        watch=watch,
        further={
            "rounds": -(-visits // problem.size),
            "method": "dual coordinate descent",
            "features": features.shape[1],
        },
    )


def with_sum_zero(problem: BoxProblem, beta: Vector, grad: Vector) -> Vector:
    """A point of the box with the sum zero.

    Variables whose condition holds nearly with equality move first, the free ones before all.
    """
    total, rounding = float(beta.sum()), np.finfo(float).eps * float(np.abs(beta).sum())
    if problem.constraint != "sum" or abs(total) <= rounding:
        return beta
    slack = beta - problem.low if total > 0 else problem.high - beta
    (multiplier,) = problem.optimality(beta, grad).multipliers
    slope = np.abs(grad + multiplier + problem.epsilon * np.sign(beta))
    order = np.lexsort((slope, ~problem.is_free(beta)))
    before = np.concatenate([[0.0], np.cumsum(slack[order])[:-1]])
    change = np.clip(abs(total) - before, 0.0, slack[order])
    result = beta.copy()
    result[order] -= np.sign(total) * change
    return result


class _Rows:
    """Features in the layout of the native core, in double or in single precision."""

    def __init__(self, features: Any) -> None:
        dtype = np.float32 if features.dtype == np.float32 else np.float64
        self._X: Any
        if sparse.issparse(features):
            self._X = sparse.csr_array(features).astype(dtype, copy=False)
            self._layout: tuple[NDArray[Any], ...] = (
                self._X.indptr.astype(np.int64, copy=False),
                self._X.indices.astype(np.int32, copy=False),
                self._X.data,
            )
            self._descend: Any = _native.coordinate_descent
        else:
            self._X = np.ascontiguousarray(features, dtype=dtype)
            self._layout, self._descend = (self._X,), _native.coordinate_descent_dense

    def descend(
        self,
        problem: BoxProblem,
        beta: Vector,
        multiplier: float,
        tol: float,
        visits: int,
        seed: int,
        watch: Watch,
        before: int,
    ) -> tuple[int, int, float]:
        """Move ``beta`` on; return how that ended, the visits, and the multiplier of the sum."""
        found: tuple[int, int, float] = self._descend(
            *self._layout,
            *(np.ascontiguousarray(v, np.float64) for v in (problem.linear, problem.low, problem.high)),
            problem.epsilon,
            CONSTRAINTS[problem.constraint],
            beta,
            np.asarray(self._X.T @ beta, dtype=np.float64),
            multiplier,
            tol,
            visits,
            seed,
            lambda done, violation: watch(before + done, violation),
        )
        return found

    def feasible(self, problem: BoxProblem, beta: Vector) -> tuple[Vector, Vector]:
        """A point near ``beta`` that has the given sum, and its gradient ``K @ beta + linear``."""
        point = with_sum_zero(problem, beta, self._gradient(problem, beta))
        return point, self._gradient(problem, point)

    def _gradient(self, problem: BoxProblem, beta: Vector) -> Vector:
        return np.asarray(self._X @ np.asarray(self._X.T @ beta), dtype=np.float64) + problem.linear
