"""Sequential minimal optimisation: two-variable steps on working sets, with a cache of rows of K.

The iterations are in C++ (``native/svm/smo.hpp`` states the method).  Rows are in single precision where the
tolerance allows it, and then also in reduced precision, where the kernel has one; the gradient is always in
double.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _native, memory
from ...engine.buffers import MOST_BYTES, pool
from ...engine.threads import num_threads
from ..matrix import HeldMatrix, Matrix
from . import policy
from .problem import CONSTRAINTS, DOUBLE_ROUNDING, BoxProblem, Optimality, Vector

__all__ = ["Smo"]


class Smo:
    """A point of the box with its gradient, and the rows of K in memory."""

    def __init__(
        self,
        problem: BoxProblem,
        matrix: Matrix,
        start: Vector | None,
        tol: float,
        cache_bytes: float | None,
        threads: int | None,
    ) -> None:
        self.problem, self._threads = problem, threads
        self.diagonal, n = matrix.diagonal(), matrix.size
        if isinstance(matrix, HeldMatrix):
            self.dtype: np.dtype[Any] = matrix.whole.dtype
        else:  # single where the tolerance allows it
            single = n > policy.SMALL and tol >= policy.DOUBLE_TOLERANCE
            single = single and not policy.exceeds_single(problem, self.diagonal)
            self.dtype = np.dtype(np.float32 if single else np.float64)
        is_single, row_bytes = self.dtype == np.float32, self.dtype.itemsize * n
        #: Violation at which iterations end.
        self.goal = policy.SINGLE_SHARE * tol if is_single else tol
        if cache_bytes is None:
            # 4,096 rows are two working sets: with more of them, writing to new memory takes as long as
            # computing values again that cost at most 160 operations (8,000 x 20 and 24,000 x 50).  For
            # values that cost more (sparse a9a, strings) the cache may be as large as the buffers that are
            # kept for the next fit.
            least = 0 if matrix.cost <= 160.0 else MOST_BYTES
            cache_bytes = float(min(max(least, 4096 * row_bytes), n * row_bytes))
            if not memory.allows(cache_bytes, 1 / 2):
                cache_bytes = memory.memory_limit() / 2
        capacity = int(min(n, max(cache_bytes // row_bytes, 64)))
        if capacity == n <= _native.SET_SIZE and not matrix.is_held:
            matrix = HeldMatrix(matrix.dense(self.dtype), source=matrix)
        self.matrix = matrix
        complete = isinstance(matrix, HeldMatrix)
        self._rows = matrix.dense(self.dtype) if complete else pool.take((capacity, n), self.dtype)
        self._size: float | None = None
        beta = np.zeros(n) if start is None else np.ascontiguousarray(start, dtype=np.float64)
        kind: Any = _native.Smo32 if is_single else _native.Smo64
        self._native = kind(
            problem.linear,
            problem.low,
            problem.high,
            self.diagonal,
            problem.epsilon,
            CONSTRAINTS[problem.constraint],
            self._rows,
            complete,
            beta,
            self.gradient(beta, reduced=is_single),
            num_threads() if threads is None else threads,
        )

    @property
    def beta(self) -> Vector:
        """The point."""
        return np.asarray(self._native.beta)

    @property
    def grad(self) -> Vector:
        """``K @ beta + linear``, as the iterations have left it."""
        return np.asarray(self._native.grad)

    @property
    def violation(self) -> float:
        """Violation of the optimality conditions, by this gradient."""
        return float(self._native.violation)

    @property
    def iterations(self) -> int:
        """Two-variable steps so far."""
        return int(self._native.iterations)

    @property
    def stats(self) -> dict[str, Any]:
        """The number of working sets so far, and statistics of the cache."""
        return {
            "rounds": int(self._native.rounds),
            "cache_hits": self._native.hits,
            "cache_misses": self._native.misses,
            "cache_rows": len(self._rows),
            "cache_dtype": self.dtype.name,
        }

    def optimality(self) -> Optimality:
        """How far the point is from the optimum, by this gradient."""
        return self.problem.stated(self._native.optimality())

    def gradient(self, beta: Vector, *, reduced: bool = False) -> Vector:
        """``K @ beta + linear``, in double precision unless reduced precision will do."""
        if not beta.any():
            return self.problem.linear
        return self.matrix.product(beta, reduced=reduced) + self.problem.linear

    def run(self, iterations: int, watch: Callable[[int, float], bool], goal: float | None = None) -> int:
        """Iterate, and return how that ended; there may be more threads than before, or fewer."""

        def fetch(rows: list[int], slots: list[int]) -> None:
            self.matrix.rows(np.array(rows), np.array(slots), self._rows, reduced=True)

        def report(done: int, violation: float) -> bool:
            if self._threads is None:
                self._native.threads = num_threads()
            return watch(done, violation)

        return int(self._native.run(self.goal if goal is None else goal, iterations, fetch, report))

    def move_to(self, beta: Vector, grad: Vector) -> None:
        """Go on from another point, whose gradient is known."""
        self._native.restart(np.ascontiguousarray(beta), np.ascontiguousarray(grad))
        self._size = None

    def pose(self, problem: BoxProblem, beta: Vector, grad: Vector) -> None:
        """Go on with other bounds; rows of K stay in memory."""
        self.problem = problem
        self._native.set_bounds(problem.low, problem.high)
        self.move_to(beta, grad)

    def recompute(self) -> None:
        """The gradient anew, in double precision: from rows in memory if these are, else from the matrix."""
        size = self._native.recompute() if self.dtype == np.float64 else -1.0
        beta = self.beta
        self.move_to(beta, self.grad if size >= 0 else self.gradient(beta))
        self._size = size if size >= 0 else None

    def rounding(self) -> float:
        """Rounding error of the gradient, from the largest sum of ``|K_ij beta_j|``, or a bound of it.

        If K is positive semidefinite, ``|K_ij|`` is at most the square root of ``K_ii K_jj``.
        """
        size = self._size
        if size is None:
            roots = np.sqrt(np.abs(self.diagonal))
            with np.errstate(over="ignore", invalid="ignore"):
                size = float(roots.max(initial=0.0)) * float(roots @ np.abs(self.beta))
        return DOUBLE_ROUNDING * size
