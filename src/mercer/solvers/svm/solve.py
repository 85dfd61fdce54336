"""Solve a :class:`~mercer.solvers.BoxProblem` by steps and, where these are too many, by growing bounds.

Kernels of low rank, as the linear one, with bounds that are far beyond what the data ask for, may take
millions of two-variable steps.  The same problem with much narrower bounds takes few, and its solution, with
all variables grown in proportion, is a good start for wider ones.  There, very few variables are free; where
two-variable steps would set free many that depend on each other, exact steps go on with few.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from ... import _native
from ...engine.runs import until
from ..matrix import Matrix
from ..solution import Solution
from ..watch import STOPPING, Callback, Watch
from .decomposition import Run
from .estimates import most_steps, step_seconds
from .outcome import BoxValue, untouched
from .problem import BoxProblem, Vector

__all__ = ["solve_box", "solve_run"]

#: After so many steps, at least and for each variable, they are too many.
MANY_STEPS, MANY_STEPS_EACH = 1 << 17, 32

#: Bounds that are solved for on the way to those asked for, relative to them.
SHARES = (1e-3, 1e-2, 1e-1)

#: Then an interior point method may take so many times as long as the steps have.
EAGERNESS = 10.0

#: Exact steps on the way to wider bounds may take so many times as long as other steps have.
EXACT_SHARE = 20.0


def solve_box(
    problem: BoxProblem,
    matrix: Matrix,
    *,
    start: Vector | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    cache_bytes: float | None = None,
    time_budget: float | None = None,
    callbacks: Sequence[Callback] = (),
    progress: bool = True,
    refine: bool = True,
    threads: int | None = None,
    name: str = "solver",
) -> Solution[BoxValue]:
    """Solve the problem, or stop where a limit is reached.

    Parameters
    ----------
    problem : BoxProblem
    matrix : Matrix
        K; a matrix that is not positive semidefinite leads to a stationary point.
    start : array of shape (n,), optional
        A point of the box that satisfies the constraint; 0 by default.
    tol : float
        The violation of the optimality conditions at which to stop.
    max_iter : int
        Most two-variable steps; -1 for a limit that only hopelessly scaled problems meet, ten million or
        a thousand per variable, whichever is more.
    cache_bytes : float, optional
        Memory for rows of K; by default room for 3,072 rows whose values cost little, else 512 MiB,
        or room for 5,120 rows if that is more; but at most half of the memory limit.
    time_budget : float, optional
        Seconds after which to stop.
    callbacks : sequence of callables
        Called with a :class:`Progress` at the start and about twenty times a second; True stops.
    progress : bool
        Show a bar when it takes more than a second.
    refine : bool
        Where it is cheap, end by solving the optimality system of the free variables directly, which
        brings the violation down to rounding.

    Returns
    -------
    Solution
        ``gap`` is the duality gap.  ``converged`` is true if the violation, computed anew in double
        precision, is at most ``tol``.
    """
    watch = Watch(tol, time_budget, callbacks, progress, name)
    try:
        with until(lambda: watch.is_over):
            run = Run(problem, matrix, start, tol, cache_bytes, threads)
    except STOPPING as error:
        watch.stop(error)
        watch.close()
        return untouched(problem, watch, start)
    return solve_run(run, watch, max_iter, refine)


def solve_run(run: Run, watch: Watch, max_iter: int, refine: bool) -> Solution[BoxValue]:
    """Take steps, a few times as many as sound problems need; then go on with bounds that grow."""
    most = most_steps(max_iter, run.problem.size)
    many = max(MANY_STEPS, MANY_STEPS_EACH * run.problem.size)
    try:
        if run.ends_exactly or many >= most:
            return run.solve(watch, most, refine)
        solution = run.solve(watch, many, refine)
        if solution.converged or watch.reason or run.native.steps < many:
            return solution
        if run.goes_inside(watch, EAGERNESS) or not _can_grow(run.problem, run.native.b):
            return run.solve(watch, most, refine)
        return _by_growing(run, watch, most, refine)
    finally:
        watch.close()


def _can_grow(problem: BoxProblem, b: Vector) -> bool:
    """Whether narrower bounds leave a problem that has a solution: sums must be zero."""
    if problem.constraint == "signed" or not np.isfinite([problem.low, problem.high]).all():
        return False
    return problem.constraint == "free" or abs(float(b.sum())) <= 1e-9 * float(np.abs(b).sum())


def _by_growing(run: Run, watch: Watch, most: int, refine: bool) -> Solution[BoxValue]:
    """Go on from where the solution of ever wider bounds has led, if that is better than where it was."""
    problem = run.problem
    best, b, f = (run.native.b, run.native.f), np.zeros(problem.size), problem.linear
    watch.before = run.native.steps
    # In double precision, problems of this size end exactly.
    precise = problem.size <= _native.SET_SIZE and np.isfinite(run.matrix.cost)
    last = None
    try:
        for share, wider in itertools.pairwise((*SHARES, 1.0)):
            here, there = problem.scaled(share), problem.scaled(wider)
            steps = _advance(run.on(here, b, f, precise), watch, most)
            steps.approach(watch, most - watch.before)
            watch.before += steps.native.steps
            b, f = steps.native.b, steps.native.f
            grown = here.stretched(b, f, problem, 1.0 / share)
            best = min(best, grown, key=lambda at: problem.optimality(*at).objective)
            if watch.reason:
                break
            b, f = here.stretched(b, f, there, wider / share)
        else:
            last = _advance(run.on(problem, b, f, precise), watch, most)
    except STOPPING as error:
        watch.stop(error)
    start = run.on(problem, *best, precise)
    last = start if last is None else min(start, last, key=Run.objective)
    return last.solve(watch, most - watch.before, refine)


def _advance(run: Run, watch: Watch, most: int) -> Run:
    """Take steps; if they are many, exact steps from the same start may lead further."""
    b, f = run.native.b, run.native.f
    many = max(MANY_STEPS, MANY_STEPS_EACH * run.problem.size)
    ending = run.approach(watch, min(many, most - watch.before))
    if ending != _native.LIMIT or watch.reason:
        return run
    exact = run.on(run.problem, b, f, run.dtype == np.float64)
    exact.begin_exactly(watch, EXACT_SHARE * step_seconds(run.native.steps, run.problem.size))
    watch.before += run.native.steps
    return min(
        run.on(run.problem, run.native.b, run.native.f, run.dtype == np.float64), exact, key=Run.objective
    )
