r"""Solve a :class:`~mercer.solvers.BoxProblem` whose matrix has low rank by an interior point method.

With :math:`K = \Phi \Phi^\top` and few columns of :math:`\Phi`, distances :math:`x = \beta - l` and
:math:`t = h - \beta` to the bounds and their multipliers z and v, the optimality conditions are

.. math::

    \Phi w + q + A^\top y - z + v = 0, \qquad w = \Phi^\top \beta, \qquad A \beta = s, \qquad
    x_i z_i = t_i v_i = 0,

where A holds the constraints on sums.  Newton steps on them, with the products on the right held at a number
:math:`\mu > 0` that falls to zero (Mehrotra's predictor and corrector), eliminate :math:`\beta`:

.. math:: (H^\top D^{-1} H + \mathrm{diag}(1, 0)) (dw, dy) = \ldots, \qquad H = (\Phi, A^\top), \quad
          D = z/x + v/t.

An iteration costs O(n r^2) operations, and some twenty of them suffice whatever the bounds and the scale of
the data, where SMO may take millions.  Where the rate changes at zero, a variable is split into its
positive and its negative part.  (Mehrotra 1992; Fine and Scheinberg 2001 for support vector machines.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize, sparse

from ... import memory
from ...engine.threads import few_threads
from ..incomplete import incomplete_cholesky
from ..matrix import Matrix
from . import policy
from .problem import BoxProblem, Vector

__all__ = ["LowRank", "interior_point"]

Array = NDArray[np.float64]


class LowRank:
    """A factor of K with few columns, if there is one: known features, or pivoted Cholesky."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix
        self._found: Array | None = None
        self._next = policy.LOW_RANK  # rank to search for; zero: give up

    @cached_property
    def _features(self) -> Any:
        """Vectors whose inner products are K, dense or sparse, if they are known and few."""
        features = self._matrix.features()
        return None if features is None or 2 * features.shape[1] > self._matrix.size else features

    @property
    def rank(self) -> int | None:
        """Columns of the factor, if there is one."""
        known = self._found if self._features is None else self._features
        return None if known is None else int(known.shape[1])

    def pays(self, work: float) -> bool:
        """Whether the interior point method is to be used now, after SMO has cost this number of visits."""
        n = self._matrix.size
        while self.rank is None:
            if not self._search(work):
                return False
        if self._features is not None and policy.interior_comes_first(n, self.rank):
            return True
        return policy.Costs.interior_point(n, self.rank) <= 2 * work

    @cached_property
    def factor(self) -> Array | None:
        """The factor, in full; None if there is no memory to work with it."""
        if self.rank is None or not memory.allows(48.0 * self._matrix.size * self.rank, 1 / 2):
            return None
        if self._features is None:
            return self._found
        features = self._features.toarray() if sparse.issparse(self._features) else self._features
        factor = np.ascontiguousarray(features, dtype=np.float64)
        return factor if np.isfinite(factor).all() else None

    def _search(self, work: float) -> bool:
        """Search for a factor, if SMO has cost enough; whether it was tried."""
        matrix, most = self._matrix, min(self._next, self._matrix.size // 2)
        if not np.isfinite(matrix.cost) or not memory.allows(24.0 * matrix.size * most, 1 / 2):
            self._next = 0
        if most == 0 or self._next == 0 or work < policy.Costs.low_rank(matrix.size, most):
            return False
        self._next = 4 * most if most == self._next else 0
        try:
            found = incomplete_cholesky(
                lambda columns: matrix.block(columns, slice(None)).T,
                matrix.diagonal(),
                tol=1e-8,  # of the trace: SMO corrects what that changes
                max_rank=most,
            )
        except linalg.LinAlgError:  # K is indefinite
            self._next = 0
            return False
        if found.converged:
            self._found = found.value.factor
        elif found.gap > 0.5:  # half of the trace is left: more columns will not help
            self._next = 0
        return True


def interior_point(
    problem: BoxProblem,
    factor: Array,
    beta: Vector,
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
    beta : array of shape (n,)
        A point that satisfies the constraints.
    tol : float
        Violation of the optimality conditions that is good enough.
    is_stopped : callable
        Asked after each step; then the point is where the steps are.
    """
    parts = _Parts.of(problem, beta)
    if parts is None:
        return None, 0
    with few_threads(factor.shape[1], 128), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        iterate = _Iterate(parts, factor)
        count = iterate.run(tol, is_stopped)
        return parts.joined(iterate.rounded(), factor), count


class _Parts:
    """The variables between two bounds each: those of the problem, or their positive and negative parts."""

    def __init__(self, problem: BoxProblem, sums: Vector, high: Vector) -> None:
        self._problem, self._sums = problem, sums
        self._is_split = problem.has_kink
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
            self.linear = self.linear + np.where(self.rises, problem.epsilon, -problem.epsilon)
        # A and s of ``A beta = s``, for the parts that are not fixed (the others are zero).
        self.A, self.totals = np.empty((0, len(self.index))), np.empty(0)
        if problem.constraint == "sum":
            self.A, self.totals = np.ones((1, len(self.index))), sums.sum(keepdims=True)
        elif problem.constraint == "signed":
            self.A, self.totals = np.array([self.rises, ~self.rises], dtype=float), sums

    @staticmethod
    def of(problem: BoxProblem, beta: Vector) -> _Parts | None:
        """None if there are no bounds, or nothing between them."""
        sums, high = np.array([beta[beta > 0].sum(), beta[beta < 0].sum()]), problem.high
        if problem.constraint == "sum" and not problem.low.any():
            high = np.minimum(high, sums[0])  # none is larger than all together
        with np.errstate(over="ignore"):
            if not np.isfinite((high - problem.low).sum()):
                return None
        parts = _Parts(problem, sums, high)
        return parts if len(parts.index) else None

    def joined(self, values: Vector, factor: Array) -> Vector | None:
        """A point of the problem, or None if it does not satisfy the constraints."""
        p, rounding = self._problem, 1e-9  # of sums
        beta: Vector = np.clip(np.bincount(self.index, values, p.size).astype(np.float64), p.low, p.high)
        if p.constraint == "signed" and self._sums[0] - beta[beta > 0].sum() > rounding * self._sums[0]:
            beta = _raised(p, factor, beta, float(self._sums[0]))
        sums = np.array([beta[beta > 0].sum(), beta[beta < 0].sum()])
        off = {"sum": abs(sums.sum() - self._sums.sum()), "signed": np.abs(sums - self._sums).max()}
        size = max(float(np.abs(self._sums).max()), float(np.abs(sums).max()))
        return beta if off.get(p.constraint, 0.0) <= rounding * size else None


def _raised(problem: BoxProblem, factor: Array, beta: Vector, total: float) -> Vector:
    r"""A point with the same :math:`\Phi^\top beta` and sum whose positive variables add up to ``total``.

    Parts of a variable that are both positive take something from the sums of the positive and of the
    negative ones, which moving along directions that K does not see gives back, if there are any.
    """
    index = np.flatnonzero((beta > problem.low) & (beta < problem.high))
    seen = np.hstack([factor[index], np.ones((len(index), 1))])
    if len(index) <= seen.shape[1]:
        return beta
    basis = linalg.qr(seen, mode="economic", check_finite=False)[0]
    d = np.random.default_rng(0).choice([-1.0, 1.0], len(index))
    for _ in range(2):  # once leaves rounding
        d -= basis @ (basis.T @ d)
    lengths = np.where(d > 0, problem.high[index] - beta[index], beta[index] - problem.low[index]) / np.abs(d)

    fixed = float(beta[beta == problem.high].clip(0.0).sum())

    def lacking(length: float) -> float:
        return total - fixed - float(np.maximum(beta[index] + length * d, 0.0).sum())

    longest = float(lengths.min())
    if lacking(longest) > 0:
        return beta
    result = beta.copy()
    result[index] += optimize.brentq(lacking, 0.0, longest, xtol=1e-300, rtol=1e-14) * d
    return result


class _Iterate:
    """The point, its multipliers, and steps from there."""

    def __init__(self, parts: _Parts, factor: Array) -> None:
        self.parts = parts
        self.A, self.sums = parts.A, parts.totals
        self.rank = factor.shape[1]
        self.H = np.hstack([factor[parts.index], self.A.T])
        # Distances from below and above: in the same ratio for all in a sum, which is as it should be.
        width, ratio = parts.high - parts.low, np.full(len(parts.low), 0.5)
        for row, total in zip(self.A, self.sums, strict=True):
            part = (total - float(row @ parts.low)) / max(float(row @ width), 1e-300)
            ratio[row > 0] = min(max(part, 1e-4), 1.0 - 1e-4)
        self.x, self.t = ratio * width, (1.0 - ratio) * width
        self.u = np.zeros(self.H.shape[1])  # w, and y
        self.u[: self.rank] = self.beta @ self.H[:, : self.rank]
        slope = self.H @ self.u + parts.linear
        for k, in_sum in enumerate(self.A > 0):  # as many want to rise as there are above
            share = float(self.x[in_sum].sum() / (self.x + self.t)[in_sum].sum())
            self.u[self.rank + k] = -np.quantile(slope[in_sum], share)
        slope = self.H @ self.u + parts.linear
        self.scale = max(float(np.abs(parts.linear).max()), 1e-3 * float(np.abs(slope).max()))
        if self.scale == 0.0:
            self.scale = float((factor**2).sum(axis=1).mean() * (self.x + self.t).mean()) or 1.0
        self.unit = float(np.abs(parts.linear).max()) or self.scale  # of multipliers at the end
        # Products of about the same size, and multipliers that make up for the slope where they can.
        product = max(self.scale, float(np.abs(slope).mean())) * float(np.minimum(self.x, self.t).mean())
        above = (2.0 * product - slope * self.x) / (self.x + self.t)
        self.z = np.maximum(slope + above, 0.1 * product / self.x)
        self.v = np.maximum(above, 0.1 * product / self.t)

    @property
    def beta(self) -> Vector:
        """The point, from the bound that is nearer."""
        return np.asarray(np.where(self.x < self.t, self.parts.low + self.x, self.parts.high - self.t))

    @property
    def gap(self) -> float:
        """Sum of the products that are to be zero."""
        return float(self.x @ self.z + self.t @ self.v)

    @property
    def objective(self) -> float:
        """Of the point, if it is feasible."""
        return 0.5 * float(self.u[: self.rank] @ self.u[: self.rank]) + float(self.parts.linear @ self.beta)

    def run(self, tol: float, is_stopped: Callable[[], bool]) -> int:
        """Iterate until the gap is closed or does not fall any more; return the number of iterations.

        A gap is closed at rounding of the objective, or if it is far below what the tolerance allows: the
        violation is its price per unit of the variables, and of a tiny part of the box.
        """
        gaps: list[float] = []
        most = 100
        for count in range(most):
            gaps.append(self.gap)
            size = float(np.abs(self.beta).sum() + 1e-12 * (self.x + self.t).sum())
            closed = max(1e-13 * abs(self.objective), 1e-8 * tol * size)
            stalled = len(gaps) > 5 and gaps[-1] > 0.9 * gaps[-6]
            if gaps[-1] <= closed or stalled or is_stopped() or not self.step():
                return count
        return most

    def step(self) -> bool:
        """One step; whether it was possible."""
        x, z, t, v = self.x, self.z, self.t, self.v
        system = _System(self.H, z / x + v / t, self.rank)
        if system.factor is None:
            return False
        slope = self.H @ self.u + self.parts.linear - z + v
        lacking = self.H.T @ self.beta - np.concatenate([self.u[: self.rank], self.sums])

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
        most = 0.995  # of the way to the nearest bound, the usual choice of textbooks
        length = min(1.0, most * self._room(dx, dz, dv))
        if length < 0.3:  # some products are far smaller than the others: a centring step
            du, dx, dz, dv = newton(0.5 * mean - x * z, 0.5 * mean - t * v)
            length = min(1.0, most * self._room(dx, dz, dv))
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
        b = np.where(at_low, low, np.where(at_high, high, self.beta))
        for row, total in zip(self.A, self.sums, strict=True):  # what rounding has taken from sums
            slack = np.where(at_low | at_high | (row == 0), 0.0, np.minimum(self.x, self.t))
            if slack.any():
                b = np.clip(b + (total - float(row @ b)) * slack / float(slack.sum()), low, high)
        return np.asarray(b)


class _System:
    r"""The matrix :math:`H^\top D^{-1} H + \mathrm{diag}(1, 0)`, factored with its diagonal scaled to 1."""

    def __init__(self, H: Array, D: Vector, rank: int) -> None:
        self._H, self._inverse = H, 1.0 / D
        A = H * np.sqrt(self._inverse)[:, None]
        M = A.T @ A
        M[np.arange(rank), np.arange(rank)] += 1.0
        self._scale = 1.0 / np.sqrt(M.diagonal())
        self._M = M * self._scale[:, None] * self._scale
        self.factor: tuple[Array, bool] | None = None
        # The diagonal, whose numbers are at most 1, is raised where it needs that.
        for shift in (1e-15, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5):
            if not np.isfinite(self._M).all():
                break
            try:
                with few_threads(len(M)):
                    raised = self._M + shift * np.eye(len(M))
                    self.factor = linalg.cho_factor(raised, lower=True, check_finite=False)
                break
            except linalg.LinAlgError:
                continue

    def solve(self, right: Vector, lacking: Vector) -> tuple[Vector, Vector]:
        """``du`` and ``dx`` of ``H du + D dx = right``, where ``H' dx`` makes up for what is lacking."""
        below = (self._H.T @ (self._inverse * right) + lacking) * self._scale
        du = linalg.cho_solve(self.factor, below, check_finite=False)
        for _ in range(3):  # the shift, and rounding, are taken back
            du += linalg.cho_solve(self.factor, below - self._M @ du, check_finite=False)
        du *= self._scale
        return du, self._inverse * (right - self._H @ du)
