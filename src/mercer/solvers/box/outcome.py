"""How a run on a :class:`~mercer.solvers.BoxProblem` ended, and what is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..solution import Solution
from ..watch import status_of
from .problem import Constraint, Optimality, Vector

__all__ = ["INTERRUPTED", "BoxValue", "Outcome"]

_OFFSETS = {"sum": 1, "signed": 2, "free": 0}

#: What is said of a run that Ctrl-C has ended.
INTERRUPTED = "it was interrupted"


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
