"""How many steps there may be, and about how long they and their alternatives take; never by a clock."""

from __future__ import annotations

import math

import numpy as np

from ... import _native
from .low_rank import STEP_COST
from .problem import BoxProblem, Vector

__all__ = ["exact_seconds", "looks_left", "most_steps", "step_seconds"]

#: Without ``max_iter``, the most steps, and the most per variable: problems of sound scale need far fewer.
MOST_STEPS, MOST_STEPS_EACH = 10_000_000, 1000

#: Seconds of exact steps on larger problems, for each variable and for the cube of each that is free.
EXACT_COST, EXACT_FREE_COST = 3.4e-5, 4e-8

#: Looks ahead of which nothing is known.
MOST_LOOKS = 64.0


def most_steps(max_iter: int, n: int) -> int:
    """The limit that ``max_iter`` stands for."""
    return max(MOST_STEPS, MOST_STEPS_EACH * n) if max_iter < 0 else max_iter


def step_seconds(steps: float, n: int) -> float:
    """About how long so many steps on n variables take."""
    return steps * STEP_COST * min(n, _native.SET_SIZE)


def exact_seconds(problem: BoxProblem, b: Vector) -> float:
    """About how long it takes to go on from here exactly."""
    return EXACT_COST * problem.size + EXACT_FREE_COST * float(problem.is_free(b).sum()) ** 3


def looks_left(before: float, now: float, tol: float) -> float:
    """How often the violation has to fall as it did between two looks until it is at most ``tol``."""
    if before == np.inf:
        return 0.0
    if not now < before:
        return MOST_LOOKS
    return min(math.log(max(now / tol, 1.0)) / math.log(before / now), MOST_LOOKS)
