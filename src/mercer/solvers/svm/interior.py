r"""Solve a :class:`~mercer.solvers.BoxProblem` whose matrix has a low rank by an interior point method.

With :math:`K = \Phi \Phi^\top` and few columns of :math:`\Phi`, distances :math:`x = b - l` and
:math:`t = h - b` to the bounds and their multipliers z and v, the optimality conditions are

.. math::

    \Phi w + q + A^\top y - z + v = 0, \qquad w = \Phi^\top b, \qquad A b = s, \qquad
    x_i z_i = t_i v_i = 0,

where A holds the constraints on sums.  Newton steps on them, with the products on the right held at a number
:math:`\mu > 0` that falls to zero (Mehrotra's predictor and corrector), eliminate b:

.. math:: (H^\top D^{-1} H + \mathrm{diag}(1, 0)) (dw, dy) = \ldots, \qquad H = (\Phi, A^\top), \quad
          D = z/x + v/t.

A step costs O(n r^2) operations, and some twenty of them suffice whatever the bounds and the scale of the
data, where two-variable steps may take millions.  Where the rate changes at zero, a variable is split into
its positive and its negative part.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize

from ...engine.threads import num_threads, single_threaded_blas
from .problem import BoxProblem, Vector

__all__ = ["interior_point", "interior_seconds"]

#: Steps before giving up.  If in so many of them the duality gap does not fall to this part of itself, the
#: rest is rounding.
MOST_STEPS, PATIENCE, FALLEN = 100, 5, 0.9

#: The duality gap that is not worth another step: relative to the objective, and for each unit of the
#: variables, and of this part of the distances of their bounds, relative to the tolerance.
CLOSED, FINE, TINY = 1e-13, 1e-8, 1e-12

#: Variables begin at least so much of the way from one bound to the other, with products of a variable and
#: its multiplier of at least this part of their mean.
LEAST_SHARE, LEAST_PRODUCT = 1e-4, 0.1

#: By how much sums may be off, relative to their size.
ROUNDING = 1e-9

#: Part of the way to the nearest bound that a step goes at most.
SHARE = 0.995

#: Where a step is shorter than this, one takes its place that goes to products of this part of their mean.
SHORT, CENTRED = 0.3, 0.5

#: Added to the diagonal of the system, whose numbers are at most 1; more where it is not positive definite.
SHIFT, MORE, MOST_SHIFT = 1e-15, 100.0, 1e-4

#: Columns of a product that one thread computes at a time.
BLOCK = 128

#: Steps that are to be expected, the seconds of one for each variable, and for each multiplication.
STEPS, VARIABLE_COST, PRODUCT_COST = 25, 2.5e-7, 5e-11

Matrix = NDArray[np.float64]


def interior_seconds(n: int, rank: int) -> float:
    """About how long it takes."""
    return STEPS * n * (VARIABLE_COST + PRODUCT_COST * rank**2)


def interior_point(
    problem: BoxProblem,
    factor: Matrix,
    b: Vector,
    tol: float,
    is_stopped: Callable[[], bool] = lambda: False,
) -> tuple[Vector | None, int]:
    """A point near the solution, with variables at their bounds, and the steps that were taken.

    There may be none: without bounds, or if the parts of a variable that is split are both needed.

    Parameters
    ----------
    problem : BoxProblem
    factor : array of shape (n, r)
        Its products with itself are K.
    b : array of shape (n,)
        A point that satisfies the constraints.
    tol : float
        Violation of the optimality conditions that is good enough.
    is_stopped : callable
        Asked after each step; then the point is where the steps are.
    """
    parts = _Parts.of(problem, b)
    if parts is None:
        return None, 0
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        steps = _Steps(parts, factor)
        count = steps.run(tol, is_stopped)
        return parts.joined(steps.rounded(), factor), count


class _Parts:
    """The variables between two bounds each: those of the problem, or their positive and negative parts."""

    def __init__(self, problem: BoxProblem, sums: Vector, high: Vector) -> None:
        self._problem, self._sums = problem, sums
        self._is_split = problem.width > 0 or problem.constraint == "signed"
        every = np.arange(problem.size)
        if self._is_split:
            positive, negative = every[high > 0], every[problem.low < 0]
            self.index = np.concatenate([positive, negative])
            self.rises = np.arange(len(self.index)) < len(positive)
            self.low = np.where(self.rises, 0.0, problem.low[self.index])
            self.high = np.where(self.rises, high[self.index], 0.0)
        else:
            self.index, self.rises = every[high > problem.low], np.empty(0, dtype=bool)
            self.low, self.high = problem.low[self.index], high[self.index]
        self.linear = problem.linear[self.index]
        if self._is_split:
            self.linear = self.linear + np.where(self.rises, problem.width, -problem.width)

    @staticmethod
    def of(problem: BoxProblem, b: Vector) -> _Parts | None:
        """None if there are no bounds, or nothing between them."""
        sums, high = np.array([b[b > 0].sum(), b[b < 0].sum()]), problem.high
        if problem.constraint == "sum" and not problem.low.any():
            high = np.minimum(high, sums[0])  # none is larger than all together
        with np.errstate(over="ignore"):
            if not np.isfinite((high - problem.low).sum()):
                return None
        parts = _Parts(problem, sums, high)
        return parts if len(parts.index) else None

    @property
    def constraints(self) -> tuple[Matrix, Vector]:
        """A and s of ``A b = s``, for the parts that are not fixed (the others are zero)."""
        kind = self._problem.constraint
        if kind == "sum":
            return np.ones((1, len(self.index))), self._sums.sum(keepdims=True)
        if kind == "signed":
            return np.array([self.rises, ~self.rises], dtype=float), self._sums
        return np.empty((0, len(self.index))), np.empty(0)

    def joined(self, values: Vector, factor: Matrix) -> Vector | None:
        """A point of the problem, or None if it does not satisfy the constraints."""
        p = self._problem
        b: Vector = np.clip(np.bincount(self.index, values, p.size).astype(np.float64), p.low, p.high)
        if p.constraint == "signed" and self._sums[0] - b[b > 0].sum() > ROUNDING * self._sums[0]:
            b = _raised(p, factor, b, float(self._sums[0]))
        sums = np.array([b[b > 0].sum(), b[b < 0].sum()])
        off = {"sum": abs(sums.sum() - self._sums.sum()), "signed": np.abs(sums - self._sums).max()}
        size = max(float(np.abs(self._sums).max()), float(np.abs(sums).max()))
        return b if off.get(p.constraint, 0.0) <= ROUNDING * size else None


def _raised(problem: BoxProblem, factor: Matrix, b: Vector, total: float) -> Vector:
    r"""A point with the same :math:`\Phi^\top b` and sum whose positive variables add up to ``total``.

    Parts of a variable that are both positive take something from the sums of the positive and of the
    negative ones, which moving along directions that K does not see gives back, if there are any.
    """
    index = np.flatnonzero((b > problem.low) & (b < problem.high))
    seen = np.hstack([factor[index], np.ones((len(index), 1))])
    if len(index) <= seen.shape[1]:
        return b
    basis = linalg.qr(seen, mode="economic", check_finite=False)[0]
    d = np.random.default_rng(0).choice([-1.0, 1.0], len(index))
    for _ in range(2):  # once leaves rounding
        d -= basis @ (basis.T @ d)
    room = np.where(d > 0, problem.high[index] - b[index], b[index] - problem.low[index]) / np.abs(d)

    fixed = float(b[b == problem.high].clip(0.0).sum())

    def lacking(length: float) -> float:
        return total - fixed - float(np.maximum(b[index] + length * d, 0.0).sum())

    longest = float(room.min())
    if lacking(longest) > 0:
        return b
    result = b.copy()
    result[index] += optimize.brentq(lacking, 0.0, longest, xtol=1e-300, rtol=1e-14) * d
    return result


class _Steps:
    """The point, its multipliers, and steps from there."""

    def __init__(self, parts: _Parts, factor: Matrix) -> None:
        self.parts = parts
        self.A, self.sums = parts.constraints
        self.rank = factor.shape[1]
        self.H = np.hstack([factor[parts.index], self.A.T])
        self.x, self.t = _inside(parts.low, parts.high, self.A, self.sums)  # distances from below and above
        self.u = np.zeros(self.H.shape[1])  # w, and y
        self.u[: self.rank] = self.b @ self.H[:, : self.rank]
        slope = self.H @ self.u + parts.linear
        for k, row in enumerate(self.A > 0):  # as many want to rise as there are above
            share = float(self.x[row].sum() / (self.x + self.t)[row].sum())
            self.u[self.rank + k] = -np.quantile(slope[row], share)
        slope = self.H @ self.u + parts.linear
        self.scale = max(float(np.abs(parts.linear).max()), 1e-3 * float(np.abs(slope).max()))
        if self.scale == 0.0:
            self.scale = float((factor**2).sum(axis=1).mean() * (self.x + self.t).mean()) or 1.0
        self.unit = float(np.abs(parts.linear).max()) or self.scale  # of multipliers at the end
        # Products of about the same size, and multipliers that make up for the slope where they can.
        product = max(self.scale, float(np.abs(slope).mean())) * float(np.minimum(self.x, self.t).mean())
        above = (2.0 * product - slope * self.x) / (self.x + self.t)
        self.z = np.maximum(slope + above, LEAST_PRODUCT * product / self.x)
        self.v = np.maximum(above, LEAST_PRODUCT * product / self.t)

    @property
    def b(self) -> Vector:
        """The point, from the bound that is nearer."""
        return np.where(self.x < self.t, self.parts.low + self.x, self.parts.high - self.t)

    @property
    def gap(self) -> float:
        """Sum of the products that are to be zero."""
        return float(self.x @ self.z + self.t @ self.v)

    @property
    def objective(self) -> float:
        """Of the point, if it is feasible."""
        return 0.5 * float(self.u[: self.rank] @ self.u[: self.rank]) + float(self.parts.linear @ self.b)

    def run(self, tol: float, is_stopped: Callable[[], bool]) -> int:
        """Until the gap is closed, or until nothing helps any more; return how many steps that took."""
        gaps = []
        for count in range(MOST_STEPS):
            gaps.append(self.gap)
            size = float(np.abs(self.b).sum() + TINY * (self.x + self.t).sum())
            closed = max(CLOSED * abs(self.objective), FINE * tol * size)
            stuck = len(gaps) > PATIENCE and gaps[-1] > FALLEN * gaps[-1 - PATIENCE]
            if gaps[-1] <= closed or stuck or is_stopped() or not self.step():
                return count
        return MOST_STEPS

    def step(self) -> bool:
        """One step; whether it was possible."""
        x, z, t, v = self.x, self.z, self.t, self.v
        system = _System(self.H, z / x + v / t, self.rank)
        if not system.is_solvable:
            return False
        slope = self.H @ self.u + self.parts.linear - z + v
        lacking = self.H.T @ self.b - np.concatenate([self.u[: self.rank], self.sums])

        def newton(lower: Vector, upper: Vector) -> tuple[Vector, Vector, Vector, Vector]:
            """Changes of u, x, z and v that change the products by so much, and take away the residuals."""
            du, dx = system.solve(lower / x - upper / t - slope, lacking)
            return du, dx, (lower - z * dx) / x, (upper + v * dx) / t

        _, dx, dz, dv = newton(-x * z, -t * v)
        length = self._room(dx, dz, dv)
        mean = self.gap / (2 * len(x))
        left = (x + length * dx) @ (z + length * dz) + (t - length * dx) @ (v + length * dv)
        aim = mean * (float(left) / (2 * len(x)) / mean) ** 3
        du, dx, dz, dv = newton(aim - x * z - dx * dz, aim - t * v + dx * dv)
        length = min(1.0, SHARE * self._room(dx, dz, dv))
        if length < SHORT:  # some products are far smaller than the others
            du, dx, dz, dv = newton(CENTRED * mean - x * z, CENTRED * mean - t * v)
            length = min(1.0, SHARE * self._room(dx, dz, dv))
        if not all(np.isfinite(change).all() for change in (du, dx, dz, dv)):
            return False
        self.u = self.u + length * du
        self.x, self.t = x + length * dx, t - length * dx
        self.z, self.v = z + length * dz, v + length * dv
        return True

    def _room(self, dx: Vector, dz: Vector, dv: Vector) -> float:
        """The longest step that leaves everything positive."""
        pairs = ((self.x, dx), (self.t, -dx), (self.z, dz), (self.v, dv))
        return 1.0 / max(max(float((-change / value).max()) for value, change in pairs), 1e-300)

    def rounded(self) -> Vector:
        """The point, with variables at a bound if that is nearer to zero than its multiplier."""
        low, high, width = self.parts.low, self.parts.high, self.x + self.t
        at_low, at_high = self.x / width < self.z / self.unit, self.t / width < self.v / self.unit
        b = np.where(at_low, low, np.where(at_high, high, self.b))
        for row, total in zip(self.A, self.sums, strict=True):  # what rounding has taken from sums
            room = np.where(at_low | at_high | (row == 0), 0.0, np.minimum(self.x, self.t))
            if room.any():
                b = np.clip(b + (total - float(row @ b)) * room / float(room.sum()), low, high)
        return np.asarray(b)


def _inside(low: Vector, high: Vector, A: Matrix, sums: Vector) -> tuple[Vector, Vector]:
    """Distances from the bounds, in the same ratio for all in a sum, which is as it should be."""
    width = high - low
    share = np.full(len(low), 0.5)
    for row, total in zip(A, sums, strict=True):
        part = (total - float(row @ low)) / max(float(row @ width), 1e-300)
        share[row > 0] = min(max(part, LEAST_SHARE), 1.0 - LEAST_SHARE)
    return share * width, (1.0 - share) * width


class _System:
    r"""The matrix :math:`H^\top D^{-1} H + \mathrm{diag}(1, 0)`, factored with its diagonal scaled to 1."""

    def __init__(self, H: Matrix, D: Vector, rank: int) -> None:
        self._H, self._inverse = H, 1.0 / D
        M = _squared(H * np.sqrt(self._inverse)[:, None])
        M[np.arange(rank), np.arange(rank)] += 1.0
        self._scale = 1.0 / np.sqrt(M.diagonal())
        self._M = M * self._scale[:, None] * self._scale
        self._factor = _factored(self._M)

    @property
    def is_solvable(self) -> bool:
        return self._factor is not None

    def solve(self, right: Vector, lacking: Vector) -> tuple[Vector, Vector]:
        """``du`` and ``dx`` of ``H du + D dx = right``, where ``H' dx`` makes up for what is lacking."""
        below = (self._H.T @ (self._inverse * right) + lacking) * self._scale
        du = linalg.cho_solve(self._factor, below, check_finite=False)
        for _ in range(3):  # the shift, and rounding, are taken back
            du += linalg.cho_solve(self._factor, below - self._M @ du, check_finite=False)
        du *= self._scale
        return du, self._inverse * (right - self._H @ du)


def _squared(A: Matrix) -> Matrix:
    """``A' A``, blocks of columns side by side; the bits are the same for every number of threads."""
    starts = range(0, A.shape[1], BLOCK)
    if len(starts) == 1:
        return np.asarray(A.T @ A)
    M = np.empty((A.shape[1], A.shape[1]))

    def fill(start: int) -> None:
        block = slice(start, start + BLOCK)
        M[start:, block] = A[:, start:].T @ A[:, block]
        M[block, start:] = M[start:, block].T

    with ThreadPoolExecutor(num_threads()) as pool:
        list(pool.map(fill, starts))
    return M


def _factored(M: Matrix) -> tuple[Matrix, bool] | None:
    shift = SHIFT
    while shift <= MOST_SHIFT and np.isfinite(M).all():
        try:
            factor: tuple[Matrix, bool] = linalg.cho_factor(
                M + shift * np.eye(len(M)), lower=True, overwrite_a=True, check_finite=False
            )
        except linalg.LinAlgError:
            shift *= MORE
        else:
            return factor
    return None
