"""Many problems, each on the points of two classes, put together from blocks of K.

One call of the native solver (``native/svm/pairs.hpp``) solves all problems of a batch by SMO in threads:
what a problem costs besides its iterations is a copy of its blocks.
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
from . import policy
from .outcome import BoxValue, solution_of, untouched
from .problem import CONSTRAINTS, DOUBLE_ROUNDING, SINGLE_ROUNDING, BoxProblem, Optimality, Vector

__all__ = ["Blocks", "PairSolver"]


class Blocks(NamedTuple):
    """K of the first class, between the two, and of the second class; rows may lie apart."""

    first: NDArray[Any]
    cross: NDArray[Any]
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
        """The same with bounds times each of the factors, each from the solution before.

        Returns the solutions for one factor after the other; ``start`` is that for the first.
        """
        found: list[list[Solution[BoxValue]]] = []
        here, grad = problem, problem.linear
        for k, factor in enumerate(factors):
            if start is not None and k > 0:
                start, _ = here.warm_start(start, grad, factor / factors[k - 1])
            here = problem.scaled(factor)
            start, grad, results = self._solve(here, blocks, start)
            found.append(results)
        return found

    def _solve(
        self, problem: BoxProblem, blocks: Sequence[Blocks], start: Vector | None
    ) -> tuple[Vector, Vector, list[Solution[BoxValue]]]:
        """The solutions one after the other, their gradients, and what there is to say of each."""
        dtype = blocks[0].first.dtype
        beta = np.zeros(problem.size) if start is None else np.array(start, dtype=np.float64)
        grad = np.zeros(problem.size)
        kind: Any = _native.Pairs64 if dtype == np.float64 else _native.Pairs32
        native = kind(
            [tuple(three) for three in blocks],
            problem.linear,
            problem.low,
            problem.high,
            problem.epsilon,
            CONSTRAINTS[problem.constraint],
            beta,
            grad,
        )
        if self.watch(0, float(np.ptp(problem.linear))):  # it may be over before it begins
            native.stop()
        self._run(native, dtype, max(three.size for three in blocks))
        cuts = np.cumsum([three.size for three in blocks])[:-1]
        parts = zip(native.results(), np.split(beta, cuts), np.split(grad, cuts), strict=True)
        return beta, grad, [self._solution(problem, dtype, *part) for part in parts]

    def _run(self, native: Any, dtype: np.dtype[Any], largest: int) -> None:
        goal = self.tol if dtype == np.float64 else policy.SINGLE_SHARE * self.tol
        iterations = policy.iteration_limit(self.max_iter, largest)
        threads = num_threads()
        buffers: list[NDArray[Any]] = getattr(self._local, "buffers", [])
        if len(buffers) < threads or len(buffers[0]) < native.buffer_size:
            buffers = self._local.buffers = [np.empty(native.buffer_size, dtype) for _ in range(threads)]

        def report(done: int, violation: float) -> bool:
            return bool(self.watch.reason) or self.watch(done, violation)

        def work(buffer: NDArray[Any]) -> None:
            try:
                native.work(buffer, goal, self.tol, iterations, report)
            except KeyboardInterrupt as error:
                native.stop()
                self.watch.stop(error)
            except BaseException:
                native.stop()
                raise

        # This thread is one of them: to start another takes longer than some problems.
        with ThreadPoolExecutor(max(1, threads - 1)) as pool:
            futures = [pool.submit(work, buffer) for buffer in buffers[1:threads]]
            try:
                work(buffers[0])
                wait(futures)
            except KeyboardInterrupt as error:
                native.stop()
                self.watch.stop(error)
        for future in futures:
            future.result()

    def untouched(self, problem: BoxProblem, start: Vector | None) -> Solution[BoxValue]:
        """The solution of a problem that was not begun."""
        return untouched(problem, self.watch, start)

    def _solution(
        self, problem: BoxProblem, dtype: np.dtype[Any], result: tuple[Any, ...], beta: Vector, grad: Vector
    ) -> Solution[BoxValue]:
        """``size`` is the largest sum of ``|K_ij beta_j|``, which bounds what rounding of K changes."""
        ending, iterations, rounds, *found, size = result
        state: Optimality = problem.stated((found[0], found[1], found[2], found[3]))
        is_single = dtype == np.float32
        rounding = (SINGLE_ROUNDING if is_single else DOUBLE_ROUNDING) * size
        certain = (
            ending == _native.CONVERGED
            and (rounding <= 0.1 * self.tol or not is_single)
            and state.violation + 2 * rounding <= self.tol
        )
        return solution_of(
            beta,
            grad,
            state,
            ending=ending,
            certain=certain,
            iterations=iterations,
            seconds=self.watch.elapsed,
            watch=self.watch,
            further={
                "rounds": rounds,
                "cache_hits": 0,
                "cache_misses": 0,
                "cache_rows": len(beta),
                "cache_dtype": dtype.name,
            },
        )
