r"""Weights of many rank-one kernels and the machine that uses them, by an interior-point method.

The dual of the problem of :mod:`~mercer.solvers.mixture.problem`: minimise over A of shape (n, c), with
columns that add up to zero, and t

.. math:: t + \tfrac{\kappa}{2} |A|^2 - \langle Y, A \rangle \quad\text{subject to}\quad
          \tfrac12 |v_z^\top A|^2 + \sigma_z = t, \quad \sigma_z \ge 0, \quad 0 \le Y \circ A \le C .

The multipliers of the first constraints are the weights d of the kernels, which add up to one because t has
the cost one; those of the sums are the intercepts.  The method is Mehrotra's predictor-corrector method: the
affine-scaling step, which would make all products of slacks and multipliers zero, is computed first; the
length of it that is feasible gives the centring parameter, and its second-order terms correct the step that
is taken.  Every iterate has a lower and an upper bound of the minimum; the one with the smallest gap is
returned.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...engine.threads import few_threads
from ..solution import Solution
from ..watch import Watch
from .problem import Array, Bracket, MixtureProblem, MixtureValue
from .steps import Point, Region, system_at

__all__ = ["solve_mixture"]

#: Of a slack and its weight one is zero at the minimum.  Weights below the first of these shares of their
#: slacks that the gap allows are put to zero; the steps allow for it.
ZERO_SHARES, STOP_SHARE = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 0.0), 0.5


def solve_mixture(
    problem: MixtureProblem, watch: Watch, *, tol: float = 1e-6, max_iter: int = 200
) -> Solution[MixtureValue]:
    """Minimise over weights and machine at once.

    Parameters
    ----------
    problem : MixtureProblem
        Each function needs targets of both signs, or different ones.
    watch : Watch
        Receives the gap, and may stop the solver.
    tol : float
        The duality gap to stop at, relative to the objective.
    max_iter : int
        Newton steps at most.

    Returns
    -------
    Solution
        ``gap`` is the relative duality gap, computed from the returned numbers alone.
    """
    run = _Run(problem, watch, tol, max_iter)
    everything = np.arange(problem.columns.shape[1])
    # Up to this many points linear algebra runs on one thread.
    with few_threads(len(problem.targets), 512):
        # The start: all products of slacks and multipliers are equal there, and t exceeds the largest
        # constraint by ten times the slope of the objective.
        region, A = Region.of(problem), problem.interior_point()
        half = 0.5 * (region.images(A) ** 2).sum(axis=1)
        t = float(half.max()) + 10.0 * float((region.Y * A).sum())
        slack = t - half
        product = 1.0 / float((1.0 / slack).sum())
        start = Point(A, t, np.zeros(A.shape[1]), product / slack, slack, product / region.distance(A))
        run.descend(everything, start)
        if not run.is_over and len(problem.targets) < len(everything):
            # Rounding has its say in the system of the points.  That of few columns is more exact.
            p = run.point
            # Columns whose weight is at least this, relative to their slack, may be in use at the minimum.
            near = p.d * p.t >= 1e-3 * p.slack
            run.descend(everything[near], p._replace(d=p.d[near], slack=p.slack[near]), by_columns=True)
        return run.solution()


class _Run:
    """The iteration; it stores the point with the narrowest bracket."""

    def __init__(self, problem: MixtureProblem, watch: Watch, tol: float, max_iter: int) -> None:
        self.problem, self.watch, self.tol, self.max_iter = problem, watch, tol, max_iter
        self.steps, self.bracket = 0, Bracket(np.inf, 0.0)

    def descend(self, columns: NDArray[np.intp], point: Point | None, *, by_columns: bool = False) -> None:
        """Steps on some of the columns; the bracket is that of all of them."""
        part = self.problem._replace(columns=self.problem.columns[:, columns])
        region = Region.of(part, by_columns)
        while point is not None:
            found = self.problem.bracket(self._value(columns, point, 0.0))
            if self.steps == 0 or found.gap < self.bracket.gap:
                self.bracket, self.columns, self.point = found, columns, point
            self.watch(self.steps, self.bracket.gap)
            # Complementarity, relative to the gap that is asked for, below which the rest of the gap is
            # rounding.
            least = 1e-3 * self.tol * found.upper
            if self.is_over or _complementarity(region, point).sum() < least:
                return
            point = _step(region, point)
            self.steps += 1

    @property
    def is_over(self) -> bool:
        """Whether the gap is small enough, or a limit has been reached."""
        is_small = self.bracket.gap <= STOP_SHARE * self.tol
        return is_small or bool(self.watch.reason) or self.steps >= self.max_iter

    def _value(self, columns: NDArray[np.intp], p: Point, share: float) -> MixtureValue:
        """The answer at a point, with weights that are less than this share of their slacks put to zero."""
        weights = np.zeros(self.problem.columns.shape[1])
        weights[columns] = np.where(p.d * p.t >= share * p.slack, p.d, 0.0)
        return MixtureValue(weights / weights.sum() if weights.any() else weights, p.A, p.b)

    def solution(self) -> Solution[MixtureValue]:
        """The best point, with as many weights put to zero as the gap allows."""
        allowed = max(self.tol, self.bracket.gap)
        for share in ZERO_SHARES:
            value = self._value(self.columns, self.point, share)
            bracket = self.problem.bracket(value)
            if bracket.gap <= allowed and value.weights.any():
                break
        stats = {"objective": bracket.upper, "bound": bracket.lower, "iterations": self.steps}
        return Solution(value, bracket.gap <= self.tol, self._status(bracket.gap), bracket.gap, stats)

    def _status(self, gap: float) -> str:
        if gap <= self.tol:
            return f"converged: the duality gap is {gap:.2g} of the objective"
        why = self.watch.reason or "rounding leaves no better point"
        if self.steps >= self.max_iter:
            why = f"{self.steps} Newton steps are the limit (max_iter)"
        return f"stopped because {why}; the duality gap is {gap:.2g} of the objective, asked was {self.tol:g}"


def _step(region: Region, p: Point) -> Point | None:
    """The point after a step, or None where rounding leaves no direction, or too short a step."""
    try:
        with np.errstate(all="ignore"):
            system = system_at(region, p)
            affine = system.direction(0.0, p.zero_step())
            mean = _complementarity(region, p).mean()
            predicted = _complementarity(region, p.moved(affine, _step_to_boundary(region, p, affine))).mean()
            direction = system.direction(mean * min(1.0, predicted / mean) ** 3, affine)
            # Fraction of the step to the boundary, where a slack or multiplier would be zero: the usual
            # choice.
            length = min(1.0, 0.99 * _step_to_boundary(region, p, direction))
    except np.linalg.LinAlgError:
        return None
    moved = p.moved(direction, length)
    # Step lengths below this count as stalled: rounding is all that is left.
    if length < 1e-8 or not all(np.isfinite(x).all() for x in moved):
        return None
    true = moved.t - 0.5 * (region.images(moved.A) ** 2).sum(axis=1)
    # A step linearises the constraints. Slacks are then computed anew where that leaves at least this share.
    return moved._replace(slack=np.where(true > 0.1 * moved.slack, true, moved.slack))


def _complementarity(region: Region, p: Point) -> Array:
    """Of slacks and multipliers."""
    return np.concatenate([p.d * p.slack, (p.box * region.distance(p.A)).ravel()])


def _step_to_boundary(region: Region, p: Point, step: Point) -> float:
    """How far slacks and multipliers stay positive, at most one."""
    values = np.concatenate([p.d, p.slack, p.box.ravel(), region.distance(p.A).ravel()])
    slopes = np.concatenate([step.d, step.slack, step.box.ravel(), (region.signs * step.A).ravel()])
    falling = slopes < 0
    return min(1.0, float((-values[falling] / slopes[falling]).min(initial=np.inf)))
