r"""Constraints alone: the function of least norm among those that satisfy them.

.. math:: \min_{f, b} \; \tfrac12 \|f\|^2 \quad\text{subject to}\quad l_i \le f(x_i) + b \le h_i

For constraints without a further loss this function minimises *every* increasing function of the norm.  The
dual problem has a variable for each end of an interval, :math:`\beta_i \ge 0` for the lower and
:math:`\beta_i \le 0` for the upper one (a free one if both are equal), and :math:`f = \sum_i \beta_i k(x_i,
\cdot)`:

.. math:: \min_\beta \; \tfrac12 \beta^\top K \beta - \sum_{\beta_i > 0} l_i \beta_i - \sum_{\beta_i < 0} h_i
          \beta_i , \qquad \textstyle\sum_i \beta_i = 0 \text{ with an intercept},

the quadratic problem of support vector machines with infinite bounds.  The difference of the two objectives
is :math:`\sum_i \beta_i (f(x_i) + b - l_i)`, with :math:`h_i` where :math:`\beta_i < 0`.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...engine.runs import stop_reason
from ...engine.threads import few_threads
from ...gram import Gram
from ..matrix import HeldMatrix, LazyMatrix
from ..solution import Solution
from ..svm import BoxProblem, solve_box
from .feasibility import refuse_contradictions, size_of
from .generic import Coordinates
from .norms import Penalty, require_finite
from .solver import RepresenterValue

__all__ = ["solve_constraints"]

Vector: TypeAlias = NDArray[np.float64]


def solve_constraints(
    low: Vector,
    high: Vector,
    G: Gram,
    alpha: float,
    penalty: Penalty,
    *,
    intercept: bool,
    tol: float,
    name: str = "solver",
) -> Solution[RepresenterValue]:
    """The function of least norm with predictions between ``low`` and ``high``.

    Returns
    -------
    Solution
        ``gap`` bounds how far ``alpha g(norm)`` is above its minimum; ``stats["violation"]`` is the largest
        violation of a constraint.  ``converged`` says that both are at most ``tol``, relative to the
        objective and to the size of the constraints.

    Raises
    ------
    InfeasibleError
        If no function satisfies the constraints.
    """
    unit = size_of(low, high)
    with few_threads(len(G)):
        solution, a, offset, F, violation = _solve(low / unit, high / unit, G, intercept, tol, name)
    squared = max(float(a @ (F - offset)), 0.0)
    gap = abs(float(solution.value.coefficients @ solution.value.gradient))
    converged = violation <= tol and gap <= tol * max(squared, np.finfo(float).eps)
    if violation > tol and not stop_reason():
        refuse_contradictions(Coordinates(_double(G)), low, high, intercept)
    norm, least = unit * math.sqrt(squared), unit * math.sqrt(max(squared - 2 * gap, 0.0))
    require_finite(penalty.value(norm), norm)
    objective = alpha * penalty.value(norm)
    status = "converged"
    if not converged:
        status = (
            f"the constraints are violated by up to {unit * violation:.3g}; they leave next to no "
            "function, or "
            "the matrix is close to singular: widen them, or take a richer kernel"
        )
    if not converged and stop_reason():
        status = f"stopped because {stop_reason()}; raise time_budget, or widen the constraints"
    stats = {
        "objective": objective,
        "violation": unit * violation,
        "fits": 1,
        "iterations": solution.stats["iterations"],
    }
    value = RepresenterValue(unit * a, unit * offset, norm)
    return Solution(value, bool(converged), status, objective - alpha * penalty.value(least), stats)


def _solve(
    low: Vector, high: Vector, G: Gram, intercept: bool, tol: float, name: str
) -> tuple[Solution[Any], Vector, float, Vector, float]:
    """Solution of the dual problem; coefficients, intercept, predictions and violation that follow."""
    n = len(low)
    both = np.flatnonzero(np.isfinite(low) & np.isfinite(high) & (low < high))  # these have two variables
    index = np.concatenate([np.arange(n), both])
    upper_only = np.isinf(low)
    ends = np.concatenate([np.where(upper_only, np.where(np.isinf(high), 0.0, high), low), high[both]])
    least = np.where(np.isfinite(high) & ((low == high) | upper_only), -np.inf, 0.0)
    most = np.where(np.isfinite(low), np.inf, 0.0)
    problem = BoxProblem(
        -ends,
        np.concatenate([least, np.full(len(both), -np.inf)]),
        np.concatenate([most, np.zeros(len(both))]),
        constraint="sum" if intercept else "free",
    )
    matrix = HeldMatrix(_double(G), index) if len(both) else LazyMatrix(G)
    start = np.zeros(problem.size)
    # Tolerances of the constraints that are tried, one after the other, relative to their size.
    for accuracy in (1e-9, 1e-12):
        solution = solve_box(problem, matrix, start=start, tol=accuracy, name=name)
        start, gradient, multipliers = solution.value
        offset = multipliers[0] if intercept else 0.0
        F = (gradient + ends)[:n] + offset
        violation = float(np.maximum(np.maximum(low - F, F - high), 0.0).max())
        if violation <= 0.1 * tol or not solution.converged:
            break
    a = np.bincount(index, start, n).astype(np.float64)
    return solution, a, offset, F, violation


def _double(G: Gram) -> Vector:
    return np.ascontiguousarray(G._in_double().dense(), dtype=np.float64)
