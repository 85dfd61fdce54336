"""Many problems, each on the points of two classes, put together from blocks of K.

One call of the native solver (``native/pairs.hpp``) solves as many problems as there are blocks for: what a
problem costs besides its steps is a copy of its blocks.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _native
from ...engine.threads import num_threads
from ..solution import Solution
from ..watch import Callback, Watch
from .decomposition import CONSTRAINTS, SINGLE_SHARE
from .estimates import most_steps
from .outcome import BoxValue, Outcome, untouched
from .precision import is_certain, is_small, rounding_of
from .problem import BoxProblem, Constraint, Vector

__all__ = ["Blocks", "Cross", "PairSolver"]


class Cross(NamedTuple):
    """K between two classes in single precision, whose rows are computed when they are needed."""

    rows: _native.SingleRows  # of all points
    first: int  # where the classes begin
    second: int


class Blocks(NamedTuple):
    """K of the first class, between the two, and of the second class; rows may lie apart."""

    first: NDArray[Any]
    cross: NDArray[Any] | Cross
    second: NDArray[Any]

    @property
    def size(self) -> int:
        """Points of both."""
        return len(self.first) + len(self.second)


class PairSolver:
    """Solves batches of problems on all cores, within the limits of :func:`solve_box`."""

    def __init__(
        self,
        tol: float,
        max_iter: int = -1,
        *,
        time_budget: float | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.tol, self.max_iter = tol, max_iter
        self.watch = Watch(tol, time_budget, callbacks, False, "")
        self._local = threading.local()  # memory of the threads that call

    def solve(
        self, problem: BoxProblem, blocks: Sequence[Blocks], start: Vector | None = None
    ) -> list[Solution[BoxValue]]:
        """Solve the problems whose variables lie one after the other in ``problem`` and ``start``.

        A solution on blocks in single precision counts as converged only if their rounding is certainly
        small against the tolerance.
        """
        return self.solve_along(problem, [1.0], blocks, start)[0]

    def solve_along(
        self,
        problem: BoxProblem,
        factors: Sequence[float],
        blocks: Sequence[Blocks],
        start: Vector | None = None,
    ) -> list[list[Solution[BoxValue]]]:
        """The same with bounds times each of the factors: what was solved, grown in proportion, is the start.

        Returns the solutions for one factor after the other; ``start`` is that for the first.
        """
        dtype = blocks[0].first.dtype
        b, f = (np.zeros((len(factors), problem.size)) for _ in range(2))
        if start is not None:
            b[0] = start
        kind: Any = _native.Pairs64 if dtype == np.float64 else _native.Pairs32
        native = kind(
            [tuple(three) for three in blocks],
            problem.linear,
            problem.low,
            problem.high,
            problem.width,
            CONSTRAINTS[problem.constraint],
            list(factors),
            b,
            f,
        )
        if self.watch(0, float(np.ptp(problem.linear))):  # it may be over before it begins
            native.stop()
        self._run(native, dtype, max(three.size for three in blocks))
        cuts, results = np.cumsum([three.size for three in blocks])[:-1], iter(native.results())
        return [
            [
                self._solution(Outcome(*outcome), problem.constraint, dtype, size, b_part, f_part)
                for b_part, f_part in zip(np.split(b_row, cuts), np.split(f_row, cuts), strict=True)
                for (*outcome, size) in [next(results)]
            ]
            for b_row, f_row in zip(b, f, strict=True)
        ]

    def _run(self, native: Any, dtype: np.dtype[Any], largest: int) -> None:
        goal = self.tol if dtype == np.float64 else SINGLE_SHARE * self.tol
        steps = most_steps(self.max_iter, largest)
        threads = num_threads()
        rooms: list[NDArray[Any]] = getattr(self._local, "rooms", [])
        if len(rooms) < threads or len(rooms[0]) < native.room:
            rooms = self._local.rooms = [np.empty(native.room, dtype) for _ in range(threads)]

        def told(done: int, violation: float) -> bool:
            return bool(self.watch.reason) or self.watch(done, violation)

        def work(room: NDArray[Any]) -> None:
            try:
                native.work(room, goal, self.tol, steps, told)
            except KeyboardInterrupt as error:
                native.stop()
                self.watch.stop(error)
            except BaseException:
                native.stop()
                raise

        # This thread is one of them: to start another takes longer than some problems.
        with ThreadPoolExecutor(max(1, threads - 1)) as pool:
            futures = [pool.submit(work, room) for room in rooms[1:threads]]
            try:
                work(rooms[0])
                wait(futures)
            except KeyboardInterrupt as error:
                native.stop()
                self.watch.stop(error)
        for future in futures:
            future.result()

    def untouched(self, problem: BoxProblem, start: Vector | None) -> Solution[BoxValue]:
        """What there is to say of a problem that was not begun."""
        return untouched(problem, self.watch, start)

    def _solution(
        self,
        outcome: Outcome,
        constraint: Constraint,
        dtype: np.dtype[Any],
        size: float,
        b: Vector,
        f: Vector,
    ) -> Solution[BoxValue]:
        rounding = 0.0 if dtype == np.float64 else rounding_of(size)
        exact = (
            outcome.ending == _native.CONVERGED
            and is_certain(outcome.violation, size, self.tol)
            and is_small(rounding, self.tol)
            and outcome.violation <= self.tol - 2 * rounding
        )
        cache = _cache(len(b), dtype.name, rounding)
        return outcome.solution(
            constraint, b, f, self.tol, exact, self.watch.elapsed, self.watch.reason, cache
        )


def _cache(rows: int, dtype: str, rounding: float = 0.0) -> dict[str, Any]:
    """All rows are there from the start."""
    return {
        "cache_hits": 0,
        "cache_misses": 0,
        "cache_rows": rows,
        "cache_dtype": dtype,
        "rounding": rounding,
    }
