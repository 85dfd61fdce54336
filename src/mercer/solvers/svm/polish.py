"""Finish a nearly solved :class:`~mercer.solvers.BoxProblem` by solving its optimality system directly.

If it is known which variables are free, the solution is that of a linear system: K_FF d + A t = -g_F with
A' d = 0, where g is the gradient and A holds the constraints.  A step towards it that meets a bound ends
there, and its variable stays; a variable at a bound that wants to leave is set free.  From a start that is
close this ends after a few steps at the exact solution, up to rounding.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...engine.arrays import reused
from ...engine.threads import single_threaded_blas
from ..matrix import Matrix
from .problem import BoxProblem, Optimality, Vector

__all__ = ["is_cheap", "polish"]

#: With more free variables than this, or more values of K than that, close to the solution and far from it,
#: the point is left as it is.
MOST_FREE, MOST_FREE_FAR = 768, 1536
MOST_VALUES, MOST_VALUES_FAR = 1 << 21, 1 << 23

#: Changes of the free set before giving up, close to the solution and far from it.
MOST_CHANGES, MOST_CHANGES_FAR = 20, 200

#: Violations below this part of the gradient's size are rounding.
ROUNDING = 1e-13


def polish(
    problem: BoxProblem,
    matrix: Matrix,
    b: Vector,
    f: Vector,
    *,
    far: bool = False,
    is_over: Callable[[], bool] = lambda: False,
) -> tuple[Vector, Vector]:
    """Return a better point and its gradient, or those given if that is not cheap or does not work out.

    Far from the solution a better point is one of lower objective, even if its violation is larger.
    ``is_over`` says whether to be content with what there is.
    """
    finish = _Finish(problem, matrix, b, f, far)
    if finish.is_cheap() and not finish.is_done():
        with single_threaded_blas():  # systems are small, and bits the same on any number of cores
            finish.run(is_over)
    return finish.best


def is_cheap(problem: BoxProblem, b: Vector, *, far: bool = False) -> bool:
    """Whether :func:`polish` would do something: few variables are free, and few values of K are needed."""
    return _are_few(int(problem.is_free(b).sum()), problem.size, far)


def _are_few(free: int, size: int, far: bool) -> bool:
    count = free + 2
    most, values = (MOST_FREE_FAR, MOST_VALUES_FAR) if far else (MOST_FREE, MOST_VALUES)
    return count <= most and count * size <= values


class _Finish:
    def __init__(self, problem: BoxProblem, matrix: Matrix, b: Vector, f: Vector, far: bool) -> None:
        self.problem, self.matrix, self.far = problem, matrix, far
        self.b, self.f, self.b_of_f = b, f, b  # f is behind b until it is needed everywhere
        self.free = problem.is_free(b)
        self.rises = b > 0  # the side of zero on which a variable moves
        self.rows, self.known = np.empty((0, problem.size)), 0  # of K, with room for more
        self.place = np.full(problem.size, -1)  # of a variable among the rows
        self.best = (b, f)
        self.state = self.best_state = problem.optimality(b, f)

    def is_cheap(self) -> bool:
        return _are_few(int(self.free.sum()), self.problem.size, self.far)

    def is_done(self) -> bool:
        return self.state.violation <= ROUNDING * float(np.abs(self.f).max(initial=1.0))

    def run(self, is_over: Callable[[], bool]) -> None:
        """Move and change the free set in turns."""
        held: set[int] = set()  # variables that a bound stopped since the last full step
        for _ in range(MOST_CHANGES_FAR if self.far else MOST_CHANGES):
            if is_over():
                return
            stopped = self.move() if self.free.any() else None
            if stopped is not None:
                self.free[stopped] = False
                held.add(stopped)
                continue
            self.catch_up()
            self.state = self.problem.optimality(self.b, self.f)
            if not self._is_better(self.state):
                return
            self.best, self.best_state = (self.b, self.f), self.state
            if self.is_done() or not self.release(held) or not self.is_cheap():
                return
            held.clear()

    def _is_better(self, state: Optimality) -> bool:
        """An exact step never raises the objective; what does is rounding, or K is indefinite."""
        slack = 1e-12 * abs(self.best_state.objective)
        return state.objective <= self.best_state.objective + slack and (
            self.far or state.violation <= self.best_state.violation * 2
        )

    def move(self) -> int | None:
        """Go towards the solution on the free set; return the variable whose bound came first, if any."""
        p, index = self.problem, np.flatnonzero(self.free)
        d = self._direction(index)
        low = np.where(self._is_kinked & self.rises[index], 0.0, p.low[index])
        high = np.where(self._is_kinked & ~self.rises[index], 0.0, p.high[index])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            room = np.where(d > 0, (high - self.b[index]) / d, (low - self.b[index]) / d)
        room[d == 0] = np.inf
        first = int(room.argmin())
        length = min(1.0, float(room[first]))
        b = self.b.copy()
        b[index] = np.clip(b[index] + length * d, low, high)
        if room[first] <= 1.0:
            b[index[first]] = high[first] if d[first] > 0 else low[first]
        self.b = b
        return int(index[first]) if room[first] <= 1.0 else None

    def catch_up(self) -> None:
        """Compute the gradient at the point."""
        changed = np.flatnonzero(self.b != self.b_of_f)
        if len(changed):
            factors = np.zeros(self.known)
            factors[self.place[changed]] = (self.b - self.b_of_f)[changed]
            self.f, self.b_of_f = self.f + factors @ self.rows[: self.known], self.b

    def release(self, held: set[int]) -> bool:
        """Set free the variables at a bound that want to leave it most; false if there are none."""
        p, b = self.problem, self.b
        up = -self.f - np.where(b >= 0, p.width, -p.width)
        down = -self.f - np.where(b > 0, p.width, -p.width)
        released = False
        barred = np.zeros(p.size, dtype=bool)
        barred[list(held)] = True
        offsets = self.state.offsets or (0.0,)
        for (grows, shrinks), offset in zip(p.groups(b), offsets, strict=True):
            for allowed, excess, rises in ((grows, up - offset, True), (shrinks, offset - down, False)):
                candidates = allowed & ~self.free & ~barred & (excess > 0)
                if candidates.any():
                    i = int(np.where(candidates, excess, -np.inf).argmax())
                    self.free[i] = True
                    self.rises[i] = b[i] > 0 or (b[i] == 0 and rises)
                    released = True
        return released

    @property
    def _is_kinked(self) -> bool:
        return self.problem.width > 0 or self.problem.constraint == "signed"

    def _know(self, index: NDArray[np.intp]) -> None:
        """Have the rows of these variables."""
        missing = index[self.place[index] < 0]
        if not len(missing):
            return
        first, self.known = self.known, self.known + len(missing)
        self.place[missing] = np.arange(first, self.known)
        if self.known > len(self.rows):
            rows = reused((self.known + self.known // 2, self.problem.size), np.float64)
            rows[:first] = self.rows[:first]
            self.rows = rows
        self.rows[first : self.known] = self.matrix.block(missing, slice(None), np.float64)

    def _gradient(self, index: NDArray[np.intp]) -> Vector:
        """That of some variables, at the point."""
        changed = np.flatnonzero(self.b != self.b_of_f)
        values = self.rows[np.ix_(self.place[changed], index)]
        return np.asarray(self.f[index] + (self.b - self.b_of_f)[changed] @ values)

    def _direction(self, index: NDArray[np.intp]) -> Vector:
        """Solve the optimality system on the free set; points that are the same share what they move."""
        p, count = self.problem, len(index)
        rises = self.rises[index]
        self._know(index)
        K = self.rows[np.ix_(self.place[index], index)]
        gradient = self._gradient(index) + np.where(rises, p.width, -p.width)
        groups = {"sum": [np.full(count, True)], "signed": [rises, ~rises], "free": []}
        A = np.array([group for group in groups[p.constraint] if group.any()], dtype=float).reshape(-1, count)
        system = np.block([[K, A.T], [A, np.zeros((len(A), len(A)))]])
        shifted = system.copy()
        shifted[np.arange(count), np.arange(count)] += 1e-12 * max(float(K.diagonal().max()), 1e-300)
        right = np.concatenate([-gradient, np.zeros(len(A))])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", linalg.LinAlgWarning)
            try:
                factor = linalg.lu_factor(shifted, check_finite=False)
            except linalg.LinAlgError:
                return np.zeros(count)
        solution = linalg.lu_solve(factor, right)
        for _ in range(2):  # the shift, and rounding, are taken back
            solution += linalg.lu_solve(factor, right - system @ solution)
        return np.asarray(solution[:count]) if np.isfinite(solution).all() else np.zeros(count)
