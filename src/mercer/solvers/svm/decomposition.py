"""Solve a :class:`~mercer.solvers.BoxProblem` by two-variable decomposition on working sets.

The steps are in C++ (``native/decomposition.hpp`` states the method).  Here: what comes in between them, how
the result is checked, and when to stop.

Rows are kept in single precision where the tolerance allows it, the gradient always in double.  At the end
the gradient is computed anew from the support vectors: from the rows that are kept, if their rounding is
certainly below a tenth of the tolerance, else in double precision throughout.  If the violation is then above
the tolerance, steps go on from there.  So rounding of the rows affects the time, not the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ... import _native
from ...engine.runs import Stopped, until
from ...engine.threads import num_threads
from ..matrix import Matrix
from ..solution import Solution
from ..watch import STOPPING, Watch
from .active import expected_seconds, settle
from .estimates import exact_seconds, looks_left, most_steps, step_seconds
from .low_rank import LowRank
from .outcome import BoxValue, Outcome
from .polish import ROUNDING, is_cheap, polish
from .precision import (
    can_be_single,
    is_certain,
    is_small,
    is_steep,
    rounding_of,
    rounding_of_quick,
    size_of,
)
from .problem import BoxProblem, Vector
from .rows import Rows

__all__ = ["Run"]

CONSTRAINTS = {"sum": _native.SUM, "signed": _native.SIGNED, "free": _native.FREE}

#: Steps on rows in single precision end at this part of the tolerance: the rest is left to rounding.
SINGLE_SHARE = 0.8

#: Violations below this part of the gradient's size need no refinement.
FINE = 1e-12

#: Refinement may take this many times the steps that were needed so far, and some.
EXTRA_SHARE, EXTRA_STEPS = 2, 1000

#: Problems held in full are solved on their free variables after every so many steps, at least and each.
STEPS, STEPS_EACH = 20_000, 50

#: Steps on larger problems between two looks at whether it pays to guess the free set.
STEPS_BETWEEN_LOOKS = 16_384

#: The first steps on a problem that is one of several, and those before each of the first two looks.
FIRST_STEPS, FIRST_LOOKS = 4_096, (4_096, 8_192)

#: Free variables of a solution with which exact steps may begin.
VERY_FEW = 64

#: Rounds of steps and exact steps without progress before the rest counts as rounding.  A round that closes
#: less than this part of the duality gap, and takes less than that off the violation, is none.
PATIENCE, CLOSED, FALLEN = 10, 1e-4, 0.1

#: An earlier point is taken instead of the last one if its gap is this part of the last one's, or less.
MUCH_BETTER = 0.1

#: A point of the interior point method is ended exactly if it has at most so many times as many free
#: variables as there are features.
MORE_FREE = 2

#: A run that was stopped may take so many seconds more to say where it is; a check takes about this for each
#: elementary operation of a value of K.
LATE, CHECK_COST = 0.3, 5e-11

#: Rounding of the gradient that is small against the tolerance: above it, the gradient after the exact end is
#: computed anew as well.
SOUND = 1e-3

#: How often the gradient is computed anew before the rest counts as rounding.
MOST_CHECKS = 6


class Run:
    """Steps on one problem, from a start whose gradient may be known; in double precision if ``precise``."""

    def __init__(
        self,
        problem: BoxProblem,
        matrix: Matrix,
        start: Vector | None,
        tol: float,
        cache_bytes: float | None,
        threads: int | None,
        gradient: Vector | None = None,
        *,
        precise: bool = False,
        low_rank: LowRank | None = None,
    ) -> None:
        n = problem.size
        self.problem, self.matrix, self.tol = problem, matrix, tol
        self._cache_bytes, self._threads = cache_bytes, threads
        self.low_rank = LowRank(matrix) if low_rank is None else low_rank
        self._is_inside_open, self.interior_steps = True, 0  # an interior point method was not tried yet
        self.patience = 1.0  # steps that a guess saves must take so many times as long as it does
        self.has_begun = False  # there is more to do after the first steps
        self.diagonal = matrix.diagonal()
        self.is_steep = is_steep(problem, self.diagonal)
        double = precise or not can_be_single(matrix, tol) or (self.is_steep and not matrix.is_held)
        self.dtype = np.dtype(np.float64 if double else np.float32)
        # What the rounding of rows may take from the tolerance where it is small against it.
        self.goal = tol if double else SINGLE_SHARE * tol
        self.rounding = 0.0  # of the gradient, from rows in single precision
        self.size: float | None = None  # the largest sum of |K_ij b_j| over j, if it was computed
        self.rows = Rows.of(matrix, self.dtype, cache_bytes)
        b = np.zeros(n) if start is None else np.ascontiguousarray(start, dtype=np.float64)
        from_rows = gradient is None and self.rows.places is not None and not double
        if gradient is None:
            gradient = problem.linear if from_rows else self._first_gradient(b)
        kind: Any = _native.Decomposition64 if double else _native.Decomposition32
        self.native = kind(
            problem.linear,
            problem.low,
            problem.high,
            self.diagonal,
            problem.width,
            CONSTRAINTS[problem.constraint],
            self.rows.array,
            self.rows.places,
            b,
            gradient,
            num_threads() if threads is None else threads,
        )
        if self.rows.values is not None:
            self.native.compute_sets(self.rows.values)
        if from_rows and b.any():
            self.native.recompute()

    @property
    def ends_exactly(self) -> bool:
        """Whether there are exact steps on the free set between others."""
        return self.dtype == np.float64 and self.problem.size <= _native.SET_SIZE

    def objective(self) -> float:
        """Its value where the run is."""
        return float(self.native.quality()[-2])

    def on(self, problem: BoxProblem, b: Vector, f: Vector, precise: bool) -> Run:
        """The same for another problem with this matrix, from a point whose gradient is known."""
        precise = precise and not self.matrix.is_held
        limits = self.tol, self._cache_bytes, self._threads
        result = Run(problem, self.matrix, b, *limits, f, precise=precise, low_rank=self.low_rank)
        result._is_inside_open, result.patience = self._is_inside_open, self.patience
        return result

    def _first_gradient(self, b: Vector) -> Vector:
        """Steps start from it; it is computed anew when they end."""
        support = np.flatnonzero(b)
        if self.dtype == np.float64 or not len(support):
            return self._gradient(b)
        return self.matrix.rough_product(support, b[support]) + self.problem.linear

    def _gradient(self, b: Vector, quick: bool = False) -> Vector:
        if not b.any():
            return self.problem.linear
        return self.matrix.product(b, quick=quick) + self.problem.linear

    def begin(self, watch: Watch, max_iter: int) -> int:
        """The first steps only; ``LIMIT`` if there is more to do, else as :meth:`approach`."""
        ending = self._attempt(watch, max_iter, self._begin)
        if not self.has_begun:
            self.native.release_memory()
        return ending

    def approach(self, watch: Watch, max_iter: int) -> int:
        """Go to where the optimality conditions seem to hold, without a check; return how that ended."""
        try:
            return self._attempt(watch, max_iter, self._descend)
        finally:
            self.native.release_memory()

    def _attempt(self, watch: Watch, max_iter: int, go: Callable[[Watch, int], int]) -> int:
        native = self.native
        try:
            if watch.reason or watch(native.steps, native.violation()[0]):
                return int(_native.STOPPED)
            with until(lambda: self._is_stopped(watch)):
                return go(watch, most_steps(max_iter, self.problem.size))
        except STOPPING as error:
            watch.stop(error)
            return int(_native.STOPPED)

    def solve(self, watch: Watch, max_iter: int, refine: bool) -> Solution[BoxValue]:
        """Solve the problem, or stop where a limit is reached."""
        native = self.native
        ending, exact = _native.STOPPED, False
        try:
            if watch.reason or watch(native.steps, native.violation()[0]):
                return self._solution(ending, exact, watch)
            with until(lambda: self._is_stopped(watch)):
                ending, exact = self._descend_and_check(watch, max_iter, refine)
                if exact and refine and ending == _native.CONVERGED:
                    self._refine(watch)
            if not exact and (ending != _native.STOPPED or self._check_seconds() <= LATE):
                with until(lambda: False):  # it does not take long
                    self._recompute_precisely()
                exact = True
        except STOPPING as error:
            watch.stop(error)
            ending = _native.STOPPED
        return self._solution(ending, exact, watch)

    def _descend_and_check(self, watch: Watch, max_iter: int, refine: bool) -> tuple[int, bool]:
        """Steps until the gradient, computed anew, confirms them; how that ended, and whether it was."""
        native, ending, exact = self.native, int(_native.STOPPED), False
        for _ in range(MOST_CHECKS):
            ending = self._descend(watch, most_steps(max_iter, self.problem.size))
            if ending != _native.CONVERGED:
                break
            exact = True
            self.rounding = self._recompute()
            if is_small(self.rounding, self.tol) and native.violation()[0] <= self.tol - 2 * self.rounding:
                break
            self._recompute_precisely(best=refine and is_cheap(self.problem, native.b))
            if native.violation()[0] <= self.tol - 2 * self.rounding:
                break
        return ending, exact

    def _check_seconds(self) -> float:
        """About how long it takes to compute the gradient anew."""
        support = float(np.count_nonzero(self.native.b))
        return CHECK_COST * self.problem.size * support * max(self.matrix.cost, 1.0)

    def _recompute(self) -> float:
        """The gradient anew from the rows that are there; return how far it may be off."""
        if self.rows.is_rough or self.low_rank.is_known:
            return np.inf
        size = self.native.recompute()
        self.size = None if size < 0 else size
        return np.inf if size < 0 else 0.0 if self.dtype == np.float64 else rounding_of(size)

    def _recompute_precisely(self, best: bool = False) -> None:
        """The gradient anew, in double precision throughout; the best if more than the tolerance counts.

        What comes from few features has smaller rounding errors than sums over rows.
        """
        self.rounding = 0.0
        if self.dtype != np.float64 or self.low_rank.is_known or self._recompute() > 0:
            b = self.native.b
            off = rounding_of_quick(b)
            quick = self.rows.is_rough and is_small(off, self.tol) and not best
            self.rounding = off if quick else 0.0
            self.native.restart(b, self._gradient(b, quick))

    def _descend(self, watch: Watch, most: int) -> int:
        """Two-variable steps; where a small problem takes many, exact steps on the free set in between."""
        native, n = self.native, self.problem.size
        self.goes_inside(watch)
        if not self.ends_exactly:
            return self._descend_far(watch, most)
        idle, least, best = 0, (np.inf, np.inf), (np.inf, native.b, native.f)
        while idle < PATIENCE:
            some = min(max(STEPS, STEPS_EACH * n), most - native.steps)
            ending = int(native.run(self.goal, some, self.rows.fetch, self._told(watch)))
            if ending == _native.CONVERGED:
                return ending
            if ending != _native.LIMIT or native.steps >= most or self._is_stopped(watch):
                break
            if self.goes_inside(watch):
                continue
            b = native.b
            point = polish(
                self.problem, self.matrix, b, self._gradient(b), far=True, is_over=lambda: watch.is_over
            )
            native.restart(*point)
            state = self.problem.optimality(*point)
            enough = max(CLOSED * state.gap, ROUNDING * abs(state.objective))
            moved = state.objective < least[0] - enough or state.violation < (1 - FALLEN) * least[1]
            idle = 0 if moved else idle + 1
            least = (min(least[0], state.objective), min(least[1], state.violation))
            best = min(best, (state.gap, *point), key=lambda found: found[0])
        else:
            ending = _native.STALLED
        if best[0] < MUCH_BETTER * native.quality()[-1]:  # steps lower the objective, but may raise the gap
            native.restart(*best[1:])
        return int(_native.STOPPED if watch.reason else ending)

    def _told(self, watch: Watch) -> Callable[[int, float], bool]:
        """Who is told while steps are taken; there may be more threads than before, or fewer."""

        def told(steps: int, violation: float) -> bool:
            if self._threads is None:
                self.native.threads = num_threads()
            return watch(steps, violation)

        return told

    def _is_stopped(self, watch: Watch) -> bool:
        return watch.is_due and watch(self.native.steps, self.native.violation()[0])

    def _begin(self, watch: Watch, most: int) -> int:
        native, some = self.native, min(FIRST_STEPS, most - self.native.steps)
        ending = int(native.run(self.goal, some, self.rows.fetch, self._told(watch)))
        self.has_begun = ending == _native.LIMIT and native.steps < most
        return ending

    def _descend_far(self, watch: Watch, most: int) -> int:
        """Two-variable steps; where many more are to be expected, the free set is guessed."""
        native, n, told = self.native, self.problem.size, self._told(watch)
        before, looks = np.inf, iter(FIRST_LOOKS if self.has_begun else ())
        saved, share = 0.0, 1.0  # exact steps may take this share of the time of the others
        while not watch.reason:
            some, left = next(looks, STEPS_BETWEEN_LOOKS), most - native.steps
            ending = int(native.run(self.goal, min(some, left), self.rows.fetch, told))
            if ending != _native.LIMIT or native.steps >= most:
                return ending
            violation, b = native.violation()[0], native.b
            if watch.is_due and watch(native.steps, violation):
                break
            saved += step_seconds(some, n)
            if self.goes_inside(watch):
                continue
            if is_cheap(self.problem, b, far=True) and exact_seconds(self.problem, b) <= share * saved:
                saved, share = 0.0, share if self._go_exactly(watch) else share / 2
                continue
            self._guess_if_it_pays(before, some, watch)
            before = violation
        return int(_native.STOPPED)

    def _guess_if_it_pays(self, before: float, steps: int, watch: Watch) -> None:
        """Guess the free set, if steps would take longer; ``before`` is the violation so many steps ago."""
        if self.problem.constraint == "signed" or self.is_steep:  # guesses are in single precision
            return
        looks = looks_left(before, self.native.violation()[0], self.tol)
        seconds = step_seconds(looks * steps, self.problem.size)
        if seconds < self.patience * expected_seconds(self.problem, self.native.b):
            return
        if not self._guess(watch):
            self.patience *= 4

    def goes_inside(self, watch: Watch, eagerness: float = 1.0) -> bool:
        """Go to the solution by an interior point method once, if K has a low rank; whether it did.

        It may take longer than steps so far by the factor ``eagerness``.
        """
        native, problem, start = self.native, self.problem, self.native.b
        if not self._is_inside_open or native.violation()[0] <= self.goal or watch.reason:
            return False
        if not self.low_rank.pays(eagerness * step_seconds(native.steps, problem.size)):
            return False
        self._is_inside_open = False
        found, steps = self.low_rank.point(problem, start, self.tol, lambda: self._is_stopped(watch))
        self.interior_steps += steps
        if found is None:
            return False
        with np.errstate(over="ignore", invalid="ignore"):
            point = found, self._gradient(found)
            before, after = problem.optimality(start, native.f), problem.optimality(*point)
            # A solution has hardly more free variables than features; a point with more is not worth it.
            few = int(problem.is_free(found).sum()) <= MORE_FREE * (self.low_rank.rank + 2)
            if after.violation > self.goal and few:
                is_over = partial(self._is_stopped, watch)
                point = polish(problem, self.matrix, *point, far=True, is_over=is_over)
                after = problem.optimality(*point)
            is_better = after.gap < before.gap or after.objective < before.objective - self._blur(*point)
        if is_better:
            native.restart(*point)
        return is_better

    def _blur(self, b: Vector, f: Vector) -> float:
        """By how much rounding may change the objective: less where b'Kb is the square of a known vector."""
        norm = size = float(np.abs(b) @ np.sqrt(np.abs(self.diagonal)))
        if self.low_rank.is_known:
            norm = math.sqrt(max(float(b @ (f - self.problem.linear)), 0.0))
        return ROUNDING * (norm * size + float(np.abs(b) @ np.abs(self.problem.linear)))

    def begin_exactly(self, watch: Watch, seconds: float) -> None:
        """Exact steps as long as they help and very few variables are free: others would set free many."""
        while self.native.violation()[0] > self.goal and not watch.is_over:
            b = self.native.b
            seconds -= exact_seconds(self.problem, b)
            few = 0 < self.problem.is_free(b).sum() <= VERY_FEW and is_cheap(self.problem, b, far=True)
            if seconds < 0 or not few or not self._go_exactly(watch):
                return

    def _go_exactly(self, watch: Watch) -> bool:
        """Exact steps on the free set, which is small; whether they have lowered the objective by much."""
        native, problem, b = self.native, self.problem, self.native.b
        f = self._gradient(b)
        state = problem.optimality(b, f)
        point = polish(problem, self.matrix, b, f, far=True, is_over=lambda: watch.is_over)
        native.restart(*point)
        return problem.optimality(*point).objective < state.objective - CLOSED * state.gap

    def _guess(self, watch: Watch) -> bool:
        """Go to the solution at once, if it is known which variables are free but for a few."""
        native = self.native

        def is_over() -> bool:
            return watch.is_due and bool(watch(native.steps, native.violation()[0]))

        native.release_memory()  # the factor has use for it
        found = settle(self.problem, self.matrix, native.b, native.f, self.tol, is_over)
        if found is not None:
            native.restart(*found)
        return found is not None

    def _refine(self, watch: Watch) -> None:
        """Go on beyond the tolerance where that is cheap, and back if that was in vain."""
        native, rounding = self.native, self.rounding
        b, f, violation = native.b, native.f, native.violation()[0]
        try:
            self._go_beyond(watch)
        except Stopped:
            native.restart(b, f)
        if native.violation()[0] > violation:  # what lowers the objective may raise the violation
            native.restart(b, f)
            self.rounding = rounding

    def _go_beyond(self, watch: Watch) -> None:
        """Some more steps, then the exact solution."""
        native = self.native
        fine = FINE * float(np.abs(native.f).max(initial=1.0))
        if self.ends_exactly:
            native.run(fine, EXTRA_SHARE * native.steps + EXTRA_STEPS, self.rows.fetch, self._told(watch))
            self._recompute_precisely()
        if not is_cheap(self.problem, native.b):
            return
        if self.rounding > 0:
            self._recompute_precisely(best=True)
        if native.violation()[0] > fine:
            native.restart(*polish(self.problem, self.matrix, native.b, native.f))
            if np.finfo(float).eps * size_of(native.b, self.diagonal) > SOUND * self.tol:
                self._recompute_precisely(best=True)

    def _solution(self, ending: int, exact: bool, watch: Watch) -> Solution[BoxValue]:
        native = self.native
        b, f = native.b, native.f
        steps = watch.before + native.steps + self.interior_steps
        outcome = Outcome(ending, steps, native.rounds, *native.quality())
        further = {**self.cache, "rounding": self.rounding, "interior_steps": self.interior_steps}
        size = size_of(b, self.diagonal) if self.size is None else self.size
        exact = exact and is_certain(outcome.violation, size, self.tol)
        return outcome.solution(
            self.problem.constraint, b, f, self.tol, exact, watch.elapsed, watch.reason, further
        )

    @property
    def cache(self) -> dict[str, Any]:
        """What is known of the cache."""
        return {
            "cache_hits": self.native.hits,
            "cache_misses": self.native.misses,
            "cache_rows": len(self.rows.array),
            "cache_dtype": self.dtype.name,
        }
