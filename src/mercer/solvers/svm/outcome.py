"""How a run on a :class:`~mercer.solvers.BoxProblem` ended, and what is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ... import _native
from ..solution import Solution
from ..watch import INTERRUPTED, Watch, status_of
from .problem import BoxProblem, Constraint, Optimality, Vector

__all__ = ["BoxValue", "Outcome", "untouched"]

_OFFSETS = {"sum": 1, "signed": 2, "free": 0}


class BoxValue(NamedTuple):
    """A point of the box and what belongs to it.

    Attributes
    ----------
    coefficients : array of shape (n,)
    gradient : array of shape (n,)
        ``K @ coefficients + linear``.
    offsets : tuple of float
        Multipliers of the constraints.
    """

    coefficients: Vector
    gradient: Vector
    offsets: tuple[float, ...]


class Outcome(NamedTuple):
    """What the native solver says at the end, in its order."""

    ending: int
    steps: int
    rounds: int
    violation: float
    offsets: tuple[float, float]
    objective: float
    gap: float

    @staticmethod
    def at(state: Optimality, ending: int, steps: int, rounds: int) -> Outcome:
        """The same of a point that this is known of."""
        first, second = (*state.offsets, 0.0, 0.0)[:2]
        return Outcome(ending, steps, rounds, state.violation, (first, second), state.objective, state.gap)

    def solution(
        self,
        constraint: Constraint,
        b: Vector,
        f: Vector,
        tol: float,
        exact: bool,
        seconds: float,
        reason: str,
        further: Mapping[str, Any],
    ) -> Solution[BoxValue]:
        """Put it together; ``exact`` if the gradient was computed anew."""
        converged = exact and self.violation <= tol
        stats = {
            "iterations": self.steps,
            "rounds": self.rounds,
            "seconds": seconds,
            "kkt_violation": self.violation,
            "objective": self.objective,
            "support": int(np.count_nonzero(b)),
            "stopped": bool(reason),
            "reason": reason,
            "interrupted": reason == INTERRUPTED,
            **further,
        }
        return Solution(
            BoxValue(b, f, self.offsets[: _OFFSETS[constraint]]),
            converged,
            status_of(self.ending, converged, self.steps, self.violation, tol, reason),
            self.gap,
            stats,
        )


def untouched(problem: BoxProblem, watch: Watch, start: Vector | None = None) -> Solution[BoxValue]:
    """What there is to say of a problem of which no value of K is known; of a start, next to nothing."""
    b = np.zeros(problem.size) if start is None else np.array(start, dtype=np.float64)
    state = problem.optimality(b, problem.linear)
    cache = {"cache_hits": 0, "cache_misses": 0, "cache_rows": 0, "cache_dtype": "float64", "rounding": 0.0}
    if b.any():
        state = state._replace(violation=np.inf, gap=np.inf)
        cache["untouched"] = True  # the offsets say nothing
    return Outcome.at(state, _native.STOPPED, 0, 0).solution(
        problem.constraint, b, problem.linear, watch.tol, False, watch.elapsed, watch.reason, cache
    )
