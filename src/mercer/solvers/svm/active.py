r"""Solve a :class:`~mercer.solvers.BoxProblem` by guessing which variables are free, and guessing again.

If the free variables F were known, the solution would be that of a linear system, with the others at their
bounds:

.. math:: f_F + w_F + \rho = 0, \qquad f = K b + q, \qquad \textstyle\sum_i b_i \text{ as it is,}

where w is the width on the side of zero where a variable moves.  A solution that leaves the box says which
variables are not free after all, and the signs of :math:`f + w + \rho` at the others say which of them should
be.  From a point that is near, the guesses settle after a few rounds (a primal-dual active set method, which
is a semismooth Newton method); if they do not, nothing is lost but time.

A round costs the factorisation of K_FF in single precision, :math:`|F|^3 / 3` multiplications.  Two-variable
steps converge linearly, and take far longer where thousands of free variables depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...engine.threads import single_threaded_blas
from ..matrix import Matrix
from .bordered import SystemsOnSets
from .problem import BoxProblem, Vector

__all__ = ["expected_seconds", "settle"]

#: Rounds before giving up.
MOST_ROUNDS = 16

#: Wrong guesses must become fewer by this factor within two rounds.
PROGRESS = 0.75

#: Rounds end with so many wrong guesses if the violation is at most so many times what is good enough.
FEW, NEAR = 32, 8.0

#: Guesses that grow to more than so many times the first one, and so many more, are hopeless: K has a low
#: rank, and most variables would have to be free to satisfy the system.
MOST_TIMES, MOST_MORE = 4, 256

#: Rounds that are to be expected, and the seconds of one per multiplication of its factorisation, per number
#: of K_FF, and per number of K_F.
ROUNDS = 2
FACTOR_COST, BLOCK_COST, ROW_COST = 7e-12, 1e-9, 6e-10


def expected_seconds(problem: BoxProblem, b: Vector) -> float:
    """About how long it takes to find the free set from here."""
    free = float(problem.is_free(b).sum())
    return ROUNDS * (FACTOR_COST * free**3 / 3 + BLOCK_COST * free**2 + ROW_COST * free * problem.size)


def settle(
    problem: BoxProblem,
    matrix: Matrix,
    b: Vector,
    f: Vector,
    tol: float,
    is_stopped: Callable[[], bool] = lambda: False,
) -> tuple[Vector, Vector] | None:
    """The solution and its gradient, or None if the guesses do not settle.

    Parameters
    ----------
    problem : BoxProblem
        With the constraint ``"sum"`` or ``"free"``.
    matrix : Matrix
    b, f : array of shape (n,)
        A point that satisfies the constraint, and its gradient ``K b + q``.
    tol : float
        Violation of the optimality conditions that is good enough.  What is returned has no more, or little
        more: then a few steps from there end sooner than another round.
    is_stopped : callable
        Asked between rounds.
    """
    search = _Search(problem, SystemsOnSets(matrix, problem.constraint == "sum"), b, f, tol)
    with single_threaded_blas():
        return search.settle(is_stopped)


class _Search:
    def __init__(self, problem: BoxProblem, systems: SystemsOnSets, b: Vector, f: Vector, tol: float) -> None:
        self.problem, self.systems, self.b, self.f, self.tol = problem, systems, b.copy(), f.copy(), tol
        self.matrix = systems.matrix
        self.total = float(b.sum())
        self.free = problem.is_free(b)
        self.rises = b > 0

    def settle(self, is_stopped: Callable[[], bool]) -> tuple[Vector, Vector] | None:
        """Rounds until nothing is wrong, or until that is not to be expected any more."""
        wrong = [self.problem.size]
        most = MOST_TIMES * int(self.free.sum()) + MOST_MORE
        for _ in range(MOST_ROUNDS):
            count = self.round()
            if count == 0 or (0 < count <= FEW and self.violation <= NEAR * self.tol):
                return self.b, self.f
            wrong.append(count)
            stuck = self.free.sum() > most or (len(wrong) > 3 and wrong[-1] > PROGRESS * wrong[-3])
            if count < 0 or stuck or is_stopped():
                return None
        return None

    @property
    def violation(self) -> float:
        """Of the optimality conditions, at the point."""
        return self.problem.optimality(self.b, self.f).violation

    def round(self) -> int:
        """Solve for the guess and correct it; return how many variables were wrong, -1 if that failed."""
        index = np.flatnonzero(self.free)
        solved = self._solve(index)
        if solved is None:
            return -1
        change, offset = solved
        low, high = self._segment(index)
        aim = self.b[index] + change
        inside = np.clip(aim, low, high)
        left = inside != aim
        # The signs are those at the solution of the system; the point itself goes back into the box.
        self.f += self.matrix.rough_product(index, change)
        joined = self._join(offset)
        self.b[index] = inside
        self.f += self.matrix.rough_product(index[left], (inside - aim)[left])
        self.free[index[left]] = False
        self.free |= joined
        rest = np.abs(self.f[index] + self._widths(index) + offset).max()
        return int(left.sum() + joined.sum()) + int(rest > self.tol / 4)

    def _solve(self, index: NDArray[np.intp]) -> tuple[Vector, float] | None:
        """The changes of the free variables at the solution of the system, and the offset."""
        if not len(index):
            return None
        right = -(self.f[index] + self._widths(index))
        lacking = self.total - float(self.b.sum())
        found = self.systems.solve(index, right, lacking)
        if found is None or not (np.isfinite(found[0]).all() and np.isfinite(found[1])):
            return None
        change, offset = found
        if self.problem.constraint == "sum":  # exactly
            change = change + (lacking - float(change.sum())) / len(change)
        return change, offset

    def _widths(self, index: NDArray[np.intp]) -> Vector:
        return np.where(self.rises[index], self.problem.width, -self.problem.width)

    def _segment(self, index: NDArray[np.intp]) -> tuple[Vector, Vector]:
        """Where a variable may move without passing a bound, or zero where the rate changes there."""
        p, rises = self.problem, self.rises[index]
        kinked = p.width > 0
        low = np.where(kinked & rises, 0.0, p.low[index])
        high = np.where(kinked & ~rises, 0.0, p.high[index])
        return low, high

    def _join(self, offset: float) -> NDArray[np.bool_]:
        """Variables at a bound that want to leave it; sets the side on which they would move."""
        p, b = self.problem, self.b
        slack = self.tol / 4
        grows = (b < p.high) & (-self.f - np.where(b >= 0, p.width, -p.width) > offset + slack)
        shrinks = (b > p.low) & (-self.f - np.where(b > 0, p.width, -p.width) < offset - slack)
        joined = (grows | shrinks) & ~self.free
        self.rises = np.where(joined, (b > 0) | ((b == 0) & grows), self.rises)
        return joined
