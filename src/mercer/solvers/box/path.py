"""Solve a problem with bounds that grow, and check the solutions together.

Each begins where the one before has ended, or rather where its solution goes to as the bounds grow.  The
gradients that say whether all have converged take every value of K once, in double precision, instead of once
for each problem.  What has not converged by them goes on from there.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ... import _native
from ...engine.tiles import Stopped, until
from ..matrices import SymmetricMatrix
from ..solution import Solution
from ..watch import STOPPING, Callback, Watch
from .active import expected_seconds, follow
from .bordered import SystemsOnSets
from .decomposition import FINE, Run, step_seconds
from .low_rank import LowRank
from .outcome import BoxValue, Outcome, untouched
from .polish import is_cheap, polish
from .precision import can_be_single, is_certain, is_small, rounding_of_quick, size_of
from .problem import BoxProblem, Constraint, Optimality, Vector
from .solve import solve_run

__all__ = ["solve_boxes"]

#: Solutions are followed over at most this ratio of bounds; beyond it, steps from the start are as quick.
MOST_RATIO = 4.0

#: To follow a solution takes so many times as long as to find the free set from nearby, and so many seconds
#: more per variable: from one value to the next, hundreds of variables change however few are free.
FOLLOW_TIMES, FOLLOW_COST = 2.3, 2.5e-6

#: By how much steps become more from one value to the next.
MORE_STEPS = 1.7


def solve_boxes(
    problem: BoxProblem,
    factors: Sequence[float],
    matrix: SymmetricMatrix,
    *,
    tol: float = 1e-3,
    max_iter: int = -1,
    cache_bytes: float | None = None,
    time_budget: float | None = None,
    callbacks: Sequence[Callback] = (),
    progress: bool = True,
    refine: bool = True,
    threads: int | None = None,
    name: str = "solver",
) -> list[Solution[BoxValue]]:
    """Solve a problem with its bounds times each of the factors; what stops one stops all that follow.

    Parameters
    ----------
    problem : BoxProblem
        Its sum, if it has one, is zero.
    factors : sequence of float
        In an order in which each solution is a good start for the next.
    matrix : SymmetricMatrix
    time_budget : float, optional
        Seconds for all of them.
    tol, max_iter, cache_bytes, callbacks, progress, refine, threads, name
        As for :func:`solve_box`.
    """
    end = None if time_budget is None else time.perf_counter() + time_budget
    if not len(factors):
        return []
    low_rank, problems = LowRank(matrix), [problem.scaled(factor) for factor in factors]
    beginning = Watch(tol, time_budget, (), False, name)
    try:
        with until(lambda: beginning.is_over):
            first = [Run(problems[0], matrix, None, tol, cache_bytes, threads, low_rank=low_rank)]
    except STOPPING as error:
        beginning.stop(error)
        return [untouched(here, beginning) for here in problems]

    def watch(reason: str = "") -> Watch:
        left = None if end is None else end - time.perf_counter()
        result = Watch(tol, left, callbacks, progress, name)
        result.reason = reason
        return result

    def run(here: BoxProblem, start: Vector | None, gradient: Vector | None) -> Run:
        if first:
            return first.pop()
        return Run(here, matrix, start, tol, cache_bytes, threads, gradient, low_rank=low_rank)

    ratios = [1.0, *(later / earlier for earlier, later in itertools.pairwise(factors))]
    reason = ""
    found: list[Solution[BoxValue]] = []
    if low_rank.pays(0.0) or not can_be_single(matrix, tol):  # a check costs no kernel value
        start: tuple[Vector, Vector] | tuple[None, None] = None, None
        for k, here in enumerate(problems):
            if found:
                value = found[-1].value
                start = problems[k - 1].grown(value.coefficients, value.gradient, here, ratios[k])
            found.append(solve_run(run(here, *start), watch(reason), max_iter, refine))
            reason = found[-1].stats["reason"]
        return found
    route = _Route(matrix, problem.constraint, tol)
    reached: list[_Reached] = []
    patience = 1.0
    for here, ratio in zip(problems, ratios, strict=True):
        watching, before = watch(reason), route.corrections
        start = route.start(reached[-1], here, ratio, watching) if reached else (None, None)
        current = run(here, *start)
        current.patience = patience  # guesses that fail at one value fail at the next as well
        point = _approach(current, watching, max_iter)
        patience = current.patience
        rounds = point.rounds + route.corrections - before
        reached.append(point._replace(rounds=rounds, is_warm=bool(reached)))
        reason = point.reason
    diagonal = matrix.diagonal()
    for point in _check(reached, matrix, tol, refine, watch(reason)):
        state = point.problem.optimality(point.b, point.f)
        if point.ended and state.violation > tol - 2 * point.rounding:
            again = run(point.problem, point.b, point.f)
            found.append(solve_run(again, watch(point.reason), max_iter, refine))
            continue
        if point.ended and refine and is_cheap(point.problem, point.b):
            point, state = _refined(point, state, matrix)
        certain = is_certain(state.violation, size_of(point.b, diagonal), tol)
        found.append(point.solution(state, tol, certain))
    return found


class _Route:
    """Where to start the next problem: where the solution has gone to, if it can be followed."""

    def __init__(self, matrix: SymmetricMatrix, constraint: Constraint, tol: float) -> None:
        self._systems, self._tol = SystemsOnSets(matrix, constraint == "sum"), tol
        self._is_open = constraint != "signed"
        self._follows = False  # the last solution was found in this way

    def start(self, last: _Reached, problem: BoxProblem, ratio: float, watch: Watch) -> tuple[Vector, Vector]:
        """A point and its gradient."""
        start = last.problem.grown(last.b, last.f, problem, ratio)
        if watch.reason or not last.ended or not self._pays(last, ratio):
            return start
        if problem.optimality(*start).violation <= self._tol:  # no variable was held by its bound
            return start

        def is_stopped() -> bool:
            return watch.is_due and watch(0, problem.optimality(*start).violation)

        try:
            found = follow(last.problem, problem, ratio, self._systems, last.b, last.f, self._tol, is_stopped)
        except STOPPING as error:
            watch.stop(error)
            return start
        # What could not be followed once, cannot be further on, where more variables are free.
        self._follows = self._is_open = found is not None
        return start if found is None else found

    @property
    def corrections(self) -> int:
        """Of the free set, so far."""
        return self._systems.solved

    def _pays(self, last: _Reached, ratio: float) -> bool:
        if not self._is_open or last.is_steep or not 1 / MOST_RATIO <= ratio <= MOST_RATIO:
            return False
        n, growth = last.problem.size, MORE_STEPS if last.is_warm else 1.0
        free = int(last.problem.is_free(last.b).sum())
        seconds = FOLLOW_TIMES * expected_seconds(last.problem, last.b) + FOLLOW_COST * n
        return self._follows or step_seconds(growth * last.steps, n, free) > seconds


class _Reached(NamedTuple):
    """Where the steps on one problem have ended."""

    problem: BoxProblem
    b: Vector
    f: Vector
    ending: int
    steps: int
    rounds: int
    seconds: float
    reason: str
    is_rough: bool
    is_steep: bool
    cache: dict[str, Any]
    rounding: float = 0.0  # of f
    is_warm: bool = True  # the start was another solution

    @property
    def ended(self) -> bool:
        """Whether the steps say that the optimality conditions hold."""
        return self.ending == _native.CONVERGED

    def solution(self, state: Optimality, tol: float, certain: bool) -> Solution[BoxValue]:
        """What there is to say of it, given how far it is from the optimum, and whether that is certain."""
        return Outcome.at(state, self.ending, self.steps, self.rounds).solution(
            self.problem.constraint,
            self.b,
            self.f,
            tol,
            self.ended and certain,
            self.seconds,
            self.reason,
            {**self.cache, "rounding": self.rounding},
        )


def _approach(run: Run, watch: Watch, max_iter: int) -> _Reached:
    try:
        ending = run.approach(watch, max_iter)
    finally:
        watch.close()
    native = run.native
    return _Reached(
        run.problem,
        native.b,
        native.f,
        ending,
        native.steps,
        native.rounds,
        watch.elapsed,
        watch.reason,
        run.rows.is_rough,
        run.is_steep,
        run.cache,
    )


def _check(
    reached: Sequence[_Reached], matrix: SymmetricMatrix, tol: float, refine: bool, watch: Watch
) -> list[_Reached]:
    """The same with gradients computed anew, in double precision, where the steps have ended.

    The best gradients where one of them will be refined: that would need its own otherwise.
    """
    ended = [point for point in reached if point.ended]
    if not ended:
        return list(reached)
    rounding = max(rounding_of_quick(point.b) for point in ended)
    best = refine and any(is_cheap(point.problem, point.b) for point in ended)
    quick = ended[0].is_rough and is_small(rounding, tol) and not best
    try:
        products = iter(matrix.product(np.column_stack([point.b for point in ended]), quick).T)
    except STOPPING as error:
        watch.stop(error)
        return [point._replace(ending=_native.STOPPED, reason=watch.reason) for point in reached]
    return [
        point._replace(f=next(products) + point.problem.linear, rounding=rounding if quick else 0.0)
        if point.ended
        else point
        for point in reached
    ]


def _refined(point: _Reached, state: Optimality, matrix: SymmetricMatrix) -> tuple[_Reached, Optimality]:
    """The exact end, from the best gradient there is."""
    problem, b, f = point.problem, point.b, point.f
    if state.violation > FINE * float(np.abs(f).max(initial=1.0)):
        with suppress(Stopped):
            b, f = polish(problem, matrix, b, f)
        point, state = point._replace(b=b, f=f), problem.optimality(b, f)
    return point, state
