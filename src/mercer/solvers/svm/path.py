"""Solve a problem with bounds that grow, and check the solutions together.

Each begins where the steps for the one before have led.  The gradients that say whether all have converged
take every value of K once, in double precision, instead of once for each problem.  What has not converged by
them goes on from there.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from ... import _native
from ...engine.runs import Stopped, until
from ...engine.threads import num_threads
from ..matrix import Matrix
from ..solution import Solution
from ..watch import STOPPING, Callback, Watch
from .continuation import Continuation, Reached
from .decomposition import FINE, Run
from .low_rank import LowRank
from .outcome import BoxValue, untouched
from .polish import is_cheap, polish
from .precision import can_be_single, is_certain, is_small, rounding_of_quick, size_of
from .problem import BoxProblem, Optimality, Vector
from .solve import solve_run

__all__ = ["solve_boxes"]


def solve_boxes(
    problem: BoxProblem,
    factors: Sequence[float],
    matrix: Matrix,
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
    """Solve a problem with its bounds times each of the factors; what stops one stops all.

    Parameters
    ----------
    problem : BoxProblem
        Its sum, if it has one, is zero.
    factors : sequence of float
        In an order in which each solution is a good start for the next.
    matrix : Matrix
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

    def look(reason: str, more: Sequence[Callback] = (), *, bar: bool = True) -> Watch:
        left = None if end is None else end - time.perf_counter()
        result = Watch(tol, left, [*callbacks, *more], progress and bar, name)
        result.reason = reason
        return result

    def make(here: BoxProblem, start: Vector | None, gradient: Vector | None, known: LowRank) -> Run:
        if first:
            return first.pop()
        return Run(here, matrix, start, tol, cache_bytes, threads, gradient, low_rank=copy.copy(known))

    found: list[Solution[BoxValue]] = []
    if low_rank.pays(0.0) or not can_be_single(matrix, tol):  # a check costs no kernel value
        reason = ""
        b: Vector | None = None
        f: Vector | None = None
        for k, here in enumerate(problems):
            if found:
                value = found[-1].value
                ratio = factors[k] / factors[k - 1]
                b, f = problems[k - 1].grown(value.coefficients, value.gradient, here, ratio)
            run = make(here, b, f, low_rank)
            found.append(solve_run(run, look(reason), max_iter, refine))
            reason, low_rank = found[-1].stats["reason"], run.low_rank
        return found
    helpers = (num_threads() if threads is None else threads) - 1
    along = Continuation(make, look, max_iter, helpers, puts_off=matrix.is_held)
    reached = along.go(problems, factors, low_rank)
    diagonal = matrix.diagonal()
    for point in _check(reached, matrix, tol, refine, look(along.reason)):
        state = point.problem.optimality(point.b, point.f)
        if point.ended and state.violation > tol - 2 * point.rounding:
            again = make(point.problem, point.b, point.f, low_rank)
            found.append(solve_run(again, look(point.reason), max_iter, refine))
            continue
        if point.ended and refine and is_cheap(point.problem, point.b):
            point, state = _refined(point, state, matrix)
        certain = is_certain(state.violation, size_of(point.b, diagonal), tol)
        found.append(point.solution(state, tol, certain))
    return found


def _check(
    reached: Sequence[Reached], matrix: Matrix, tol: float, refine: bool, watch: Watch
) -> list[Reached]:
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
        products = iter(matrix.product(np.column_stack([point.b for point in ended]), quick=quick).T)
    except STOPPING as error:
        watch.stop(error)
        return [point._replace(ending=_native.STOPPED, reason=watch.reason) for point in reached]
    return [
        point._replace(f=next(products) + point.problem.linear, rounding=rounding if quick else 0.0)
        if point.ended
        else point
        for point in reached
    ]


def _refined(point: Reached, state: Optimality, matrix: Matrix) -> tuple[Reached, Optimality]:
    """The exact end, from the best gradient there is."""
    problem, b, f = point.problem, point.b, point.f
    if state.violation > FINE * float(np.abs(f).max(initial=1.0)):
        with suppress(Stopped):
            b, f = polish(problem, matrix, b, f)
        point, state = point._replace(b=b, f=f), problem.optimality(b, f)
    return point, state
