"""Solve a :class:`~mercer.solvers.BoxProblem`: SMO, other methods where it would take longer, a check.

The problem is that of LIBSVM's paper (Chang and Lin 2011) in the variables ``beta_i = y_i alpha_i``
(:mod:`~mercer.solvers.svm.problem`), and so is the method of the first iterations: decomposition with
second-order selection.  :mod:`~mercer.solvers.svm.policy` decides when the active set method or the
interior point method go on, and which problems on known features begin with coordinate descent
(:mod:`~mercer.solvers.svm.linear`).  A result counts as converged only if its violation, computed anew in
double precision, is at most ``tol``; rounding of rows in single precision therefore affects the time, not
the answer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import numpy as np
from scipy import sparse

from ... import _native
from ...engine.runs import Stopped, until
from ..matrix import Matrix
from ..solution import Solution
from ..watch import STOPPING, Callback, Watch
from . import policy
from .active_set import active_set
from .interior_point import LowRank, interior_point
from .linear import solve_linear
from .outcome import BoxValue, solution_of, untouched
from .problem import BoxProblem, Vector
from .smo import Smo

__all__ = ["solve_box", "solve_boxes"]


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
        Most iterations of SMO; -1 for a limit that only badly scaled problems meet, ten million or a thousand
        per variable, whichever is more.
    cache_bytes : float, optional
        Memory for rows of K; by default that of 4,096 rows, or 512 MiB if that is more and values are
        expensive; but at most half of the memory limit.
    time_budget : float, optional
        Seconds after which to stop.
    callbacks : sequence of callables
        Called with a :class:`Progress` at the start and about twenty times a second; True stops.
    progress : bool
        Show a bar when it takes more than a second.
    refine : bool
        Where it is cheap, go on to rounding by solving the optimality system of the free variables.

    Returns
    -------
    Solution
        ``gap`` is the duality gap.  ``converged`` is true if the violation, computed anew in double
        precision, is at most ``tol``.
    """
    watch = Watch(tol, time_budget, callbacks, progress, name)
    features, n = None, problem.size
    if problem.constraint != "signed" and n >= policy.LINEAR_SIZE and not matrix.is_held:
        features = matrix.features()
    pays = features is not None and not policy.interior_comes_first(n, features.shape[1])
    # Dense rows of unscaled columns are what coordinate descent is slow on.
    pays = pays and (sparse.issparse(features) or n >= 20_000)
    if pays and (start is None or abs(start.sum()) <= 1e-9 * np.abs(start).sum()):
        found = solve_linear(problem, features, start, tol, max_iter, watch)
        if found.converged or found.stats["stopped"] or max_iter >= 0:
            return found
        start = found.value.coefficients  # a limit of ours: SMO and the active set method go on
        watch = Watch(tol, time_budget, callbacks, progress, name)
    try:
        with until(lambda: watch.is_over):
            smo = Smo(problem, matrix, start, tol, cache_bytes, threads)
    except STOPPING as error:
        watch.stop(error)
        watch.close()
        return untouched(problem, watch, start)
    return _Solver(smo, tol, max_iter, refine).solve(watch)


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
    """Solve a problem with its bounds times each factor, each from the solution before.

    What stops one problem stops all.

    Rows of K stay in the cache from one problem to the next.  Where rows are in single precision, the check
    in double precision is one product for all problems: every value of K is computed once for it.

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
    problems, reason = [problem.scaled(factor) for factor in factors], ""

    def watch() -> Watch:
        left = None if end is None else end - time.perf_counter()
        result = Watch(tol, left, callbacks, progress, name)
        result.reason = reason
        return result

    if not problems:
        return []
    first = watch()
    try:
        with until(lambda: first.is_over):
            smo = Smo(problems[0], matrix, None, tol, cache_bytes, threads)
    except STOPPING as error:
        first.stop(error)
        return [untouched(here, first) for here in problems]
    solver, found = _Solver(smo, tol, max_iter, refine), []
    points = []
    for k, here in enumerate(problems):
        if k > 0:
            solver.pose(here, *problems[k - 1].warm_start(smo.beta, smo.grad, factors[k] / factors[k - 1]))
        last = watch()
        if smo.dtype == np.float64:
            found.append(solver.solve(last))
        else:
            ending = solver.approach(last)
            found.append(solver.solution(ending, last))
            if ending == _native.CONVERGED:
                points.append(k)
        reason = last.reason
    if not points:
        return found
    last = watch()
    try:
        with until(lambda: last.is_over):
            products = matrix.product(np.column_stack([found[k].value.coefficients for k in points]))
    except STOPPING as error:
        last.stop(error)
        products, reason = None, last.reason
    for column, k in enumerate(points):
        before, last = found[k], watch()
        beta = before.value.coefficients
        grad = before.value.gradient if products is None else products[:, column] + problem.linear
        solver.pose(problems[k], beta, grad)
        solver.before += before.stats["iterations"]
        last.start -= before.stats["seconds"]
        if products is not None and smo.violation <= tol:
            found[k] = solver.finish(last)
        else:
            found[k] = solver.solve(last)
            reason = last.reason
    return found


class _Solver:
    """SMO on one problem, or one after the other, with the other methods in between."""

    def __init__(self, smo: Smo, tol: float, max_iter: int, refine: bool) -> None:
        self.smo, self.tol, self._refines = smo, tol, refine
        self._max_iter = policy.iteration_limit(max_iter, smo.problem.size)
        self._low_rank = LowRank(smo.matrix)
        self._begin()

    def _begin(self) -> None:
        self.before = -self.smo.iterations  # iterations of this problem are those of SMO and this
        self._interior_iterations, self._is_interior_tried = 0, False
        self._patience = 1.0  # times that the active set method must be expected to be faster

    def pose(self, problem: BoxProblem, beta: Vector, grad: Vector) -> None:
        """Go on to another problem, with other bounds."""
        self.smo.pose(problem, beta, grad)
        self._begin()

    @property
    def iterations(self) -> int:
        """Iterations on this problem."""
        return self.before + self.smo.iterations

    # -- the run ------------------------------------------------------------------------------------
    def solve(self, watch: Watch) -> Solution[BoxValue]:
        """Solve the problem, or stop at a limit."""
        ending, is_checked, smo = int(_native.STOPPED), False, self.smo
        try:
            if watch.reason or watch(self.iterations, smo.violation):
                return self.solution(ending, watch)
            with until(lambda: self._is_stopped(watch)):
                for _ in range(policy.MAX_CHECKS):
                    ending, is_checked = self._descend(watch), False
                    if ending != _native.STOPPED:
                        smo.recompute()
                        is_checked = True
                    if ending != _native.CONVERGED or smo.violation <= self.tol:
                        break
        except STOPPING as error:
            watch.stop(error)
            ending = int(_native.STOPPED)
        if is_checked and ending == _native.CONVERGED and smo.violation <= self.tol:
            return self.finish(watch)
        watch.close()
        return self.solution(ending, watch, is_checked)

    def finish(self, watch: Watch) -> Solution[BoxValue]:
        """A point that has converged by a gradient in double precision, refined where that is cheap."""
        reason, watch.reason = watch.reason, ""
        try:
            if self._refines and not reason:
                with until(lambda: self._is_stopped(watch)):
                    self._refine()
        except STOPPING as error:
            watch.stop(error)
        finally:
            watch.close()
        return self.solution(int(_native.CONVERGED), watch, True)

    def approach(self, watch: Watch) -> int:
        """Go to where the optimality conditions seem to hold, without a check; return how that ended."""
        try:
            if watch.reason or watch(self.iterations, self.smo.violation):
                return int(_native.STOPPED)
            with until(lambda: self._is_stopped(watch)):
                return self._descend(watch)
        except STOPPING as error:
            watch.stop(error)
            return int(_native.STOPPED)
        finally:
            watch.close()

    def solution(self, ending: int, watch: Watch, is_checked: bool = False) -> Solution[BoxValue]:
        """Where the run is."""
        smo, state = self.smo, self.smo.optimality()
        beta = smo.beta
        return solution_of(
            beta,
            smo.grad,
            state,
            ending=int(_native.STOPPED) if watch.reason and not is_checked else ending,
            certain=is_checked and state.violation + smo.rounding() <= self.tol,
            iterations=self.iterations + self._interior_iterations,
            seconds=watch.elapsed,
            watch=watch,
            further={
                **smo.stats,
                "interior_iterations": self._interior_iterations,
                "method": "interior point, SMO" if self._interior_iterations else "SMO",
            },
        )

    def _is_stopped(self, watch: Watch) -> bool:
        return watch.is_due and watch(self.iterations, self.smo.violation)

    def _descend(self, watch: Watch) -> int:
        """Iterations of SMO; where many more are to be expected, another method goes to the solution."""
        smo, n = self.smo, self.smo.problem.size
        self._try_interior_point(watch)
        before, idle, least = np.inf, 0, (np.inf, np.inf)
        best = (smo.optimality().gap, smo.beta, smo.grad)
        while not watch.reason:
            some = min(policy.ITERATIONS_BETWEEN, self._max_iter - self.iterations)
            ending = smo.run(some, lambda done, violation: watch(self.before + done, violation))
            is_small = smo.dtype == np.float64 and n <= _native.SET_SIZE  # one working set
            if is_small and ending in (_native.LIMIT, _native.STALLED):
                smo.recompute()  # rounding of badly scaled problems adds up
            # Linear kernels on columns of scales 1e-4 to 1e4 had up to six checks without progress.
            if ending == _native.STALLED or idle >= 10:
                if best[0] < smo.optimality().gap:  # steps lower the objective, but may raise the gap
                    smo.move_to(*best[1:])
                return int(_native.STALLED)
            if ending != _native.LIMIT or self.iterations >= self._max_iter:
                return ending
            if self._is_stopped(watch):
                break
            if self._try_interior_point(watch):
                before = np.inf
                continue
            state = smo.optimality()
            falls = state.objective < least[0] - 1e-4 * state.gap or state.violation < 0.9 * least[1]
            idle = 0 if falls else idle + 1
            least = (min(least[0], state.objective), min(least[1], state.violation))
            best = min(best, (state.gap, smo.beta, smo.grad), key=lambda point: point[0])
            # The checks that are left, if the violation goes on to fall as it did since the last one.
            checks = 0.0 if before == np.inf else 64.0  # nothing is known further ahead
            if state.violation < before < np.inf:
                falls_left = math.log(max(state.violation / smo.goal, 1.0))
                checks = min(falls_left / math.log(before / state.violation), checks)
            before = state.violation
            free = float(smo.problem.is_free(smo.beta).sum())
            left = policy.Costs.smo(checks * policy.ITERATIONS_BETWEEN, n)
            if left > self._patience * policy.Costs.active_set(free, n):
                point, stop = (smo.beta, smo.grad, smo.goal, smo.dtype), partial(self._is_stopped, watch)
                found = active_set(smo.problem, smo.matrix, *point, stop)
                if found is None:
                    self._patience *= 4
                else:
                    smo.move_to(*found)
        return int(_native.STOPPED)

    def _try_interior_point(self, watch: Watch) -> bool:
        """Go to the solution by the interior point method once, if K has low rank; whether that is better."""
        smo, problem = self.smo, self.smo.problem
        if self._is_interior_tried or smo.violation <= smo.goal or watch.reason:
            return False
        if not self._low_rank.pays(policy.Costs.smo(self.iterations, problem.size)):
            return False
        self._is_interior_tried = True
        factor, before = self._low_rank.factor, smo.optimality()
        if factor is None:
            return False
        beta, count = interior_point(problem, factor, smo.beta, self.tol, lambda: self._is_stopped(watch))
        self._interior_iterations += count
        if beta is None:
            return False
        grad = smo.gradient(beta)
        after = problem.optimality(beta, grad)
        if after.violation > smo.goal:  # variables that are nearly at a bound
            found = active_set(problem, smo.matrix, beta, grad, smo.goal)
            if found is not None:
                (beta, grad), after = found, problem.optimality(*found)
        is_better = after.gap < before.gap or after.objective < before.objective
        if is_better:
            smo.move_to(beta, grad)
        return is_better

    def _refine(self) -> None:
        """Go on to rounding where that is cheap, and back if that was in vain."""
        smo = self.smo
        violation, rounding = smo.violation, 1e-12 * float(np.abs(smo.grad).max(initial=1.0))
        beta, grad = smo.beta, smo.grad
        free = int(smo.problem.is_free(beta).sum())
        if violation <= rounding or (free + 2) * smo.problem.size > policy.REFINED_VALUES:
            return
        with suppress(Stopped):
            found = active_set(smo.problem, smo.matrix, beta, grad, rounding)
            if found is None:
                return
            smo.move_to(*found)
            if smo.rounding() > 1e-3 * self.tol:
                smo.recompute()
        if smo.violation > violation:
            smo.move_to(beta, grad)
            smo.recompute()
