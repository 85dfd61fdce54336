"""How a run on a :class:`~mercer.solvers.BoxProblem` ended, as a :class:`~mercer.solvers.Solution`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ... import _native
from ..solution import Solution
from ..watch import INTERRUPTED, Watch, status_of
from .problem import BoxProblem, Optimality, Vector

__all__ = ["BoxValue", "solution_of", "untouched"]


class BoxValue(NamedTuple):
    """A point of the box, its gradient and its multipliers.

    Attributes
    ----------
    coefficients : array of shape (n,)
        ``beta``.
    gradient : array of shape (n,)
        ``K @ beta + linear``.
    multipliers : tuple of float
        Multipliers of the constraints.
    """

    coefficients: Vector
    gradient: Vector
    multipliers: tuple[float, ...]


def solution_of(
    beta: Vector,
    grad: Vector,
    state: Optimality,
    *,
    ending: int,
    certain: bool,
    iterations: int,
    seconds: float,
    watch: Watch,
    further: Mapping[str, Any],
) -> Solution[BoxValue]:
    """State a result; ``certain`` if the violation was computed anew and rounding is no issue."""
    converged = certain and state.violation <= watch.tol
    reason = watch.reason
    stats = {
        "iterations": iterations,
        "seconds": seconds,
        "kkt_violation": state.violation,
        "objective": state.objective,
        "support": int(np.count_nonzero(beta)),
        "stopped": bool(reason),
        "reason": reason,
        "interrupted": reason == INTERRUPTED,
        **further,
    }
    status = status_of(ending, converged, iterations, state.violation, watch.tol, reason)
    return Solution(BoxValue(beta, grad, state.multipliers), converged, status, state.gap, stats)


def untouched(problem: BoxProblem, watch: Watch, start: Vector | None = None) -> Solution[BoxValue]:
    """The solution of a problem of which no value of K was computed."""
    beta = np.zeros(problem.size) if start is None else np.array(start, dtype=np.float64)
    state = problem.optimality(beta, problem.linear)
    further: dict[str, Any] = {
        "rounds": 0,
        "cache_hits": 0,
        "cache_misses": 0,
        "cache_rows": 0,
        "cache_dtype": "float64",
    }
    if beta.any():  # the gradient is not known, and the multipliers mean nothing
        state = state._replace(violation=np.inf, gap=np.inf)
        further["untouched"] = True
    return solution_of(
        beta,
        problem.linear,
        state,
        ending=_native.STOPPED,
        certain=False,
        iterations=0,
        seconds=watch.elapsed,
        watch=watch,
        further=further,
    )
