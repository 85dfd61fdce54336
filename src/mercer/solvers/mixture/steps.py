r"""The linear systems of the interior-point method of :mod:`~mercer.solvers.mixture.barrier`.

With :math:`R = V^\top A` and :math:`k = d / \sigma` a step solves, for each of the c functions,

.. math:: (E + V B V^\top) \, dA - V (k R) \, dt + db = \dots, \qquad B_z = d_z I + k_z R_z R_z^\top

with a diagonal E.  The matrix has a row for each point and function.  With fewer columns than points the same
step follows from a smaller system, for :math:`u = B V^\top dA - k R \, dt`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from scipy import linalg

from ... import memory
from .problem import Array, MixtureProblem

__all__ = ["Point", "Region", "System", "system_at"]


class Point(NamedTuple):
    """A point, or a step from one to another.

    Coefficients A (n, c), the bound t, intercepts b (c,), weights d (p,), slacks (p,), and multipliers of the
    sides of the box: (2, n, c), or (0, n, c) if there is no box.
    """

    A: Array
    t: float
    b: Array
    d: Array
    slack: Array
    box: Array

    def moved(self, step: Point, length: float) -> Point:
        """The point after a part of a step."""
        parts: list[Any] = [x + length * dx for x, dx in zip(self, step, strict=True)]  # type: ignore[operator]
        return Point(*parts)

    def zero_step(self) -> Point:
        """The step from here to here."""
        parts: list[Any] = [np.zeros_like(x) for x in self]
        return Point(*parts)


class Region(NamedTuple):
    """Columns V (n, p), dense or sparse, targets Y, curvature; limits and signs of the sides of the box.

    ``by_columns`` says which of the two systems is solved.
    """

    V: Any
    Y: Array
    curvature: float
    limits: Array
    signs: Array
    by_columns: bool

    @classmethod
    def of(cls, problem: MixtureProblem, by_columns: bool = False) -> Region:
        """Of a problem; with as many columns as points or fewer always by columns."""
        (V, Y, loss), sides = problem, problem.loss.limit is not None
        # Columns with more entries than this part of all are dense: then products are faster.
        if scipy.sparse.issparse(V) and V.nnz > 0.05 * V.shape[0] * V.shape[1]:
            V = V.toarray()
        limits = np.array([0.0, loss.limit]) if sides else np.empty(0)
        signs = np.array([1.0, -1.0])[: len(limits), None, None] * Y
        return cls(V, Y, loss.curvature, limits, signs, by_columns or V.shape[1] <= V.shape[0])

    def images(self, A: Array) -> Array:
        """``V'A``."""
        return np.asarray(self.V.T @ A)

    def distance(self, A: Array) -> Array:
        """What lies between Y * A and the two sides of the box."""
        return np.asarray(self.limits[:, None, None] + self.signs * A)


def system_at(region: Region, p: Point) -> System:
    """The system of the steps from a point; raises LinAlgError where rounding makes it singular."""
    n, c = p.A.shape
    size = c * (len(p.d) if region.by_columns else n)
    memory.require(24 * size**2, "the system of a Newton step", "Take fewer points or fewer columns")
    return (_ColumnSystem if region.by_columns else _PointSystem)(region, p)


class System(ABC):
    """What both systems share: how all of a step follows from the solution of the system."""

    def __init__(self, region: Region, p: Point) -> None:
        self.region, self.p = region, p
        self.R, self.distance = region.images(p.A), region.distance(p.A)
        self.k, self.E = p.d / p.slack, region.curvature + (p.box / self.distance).sum(axis=0)

    @abstractmethod
    def _solve(self, right: Array, right_t: float) -> tuple[Array, float, Array, Array]:
        """Changes of A, t and b, and k times the change of t - |R|^2 / 2.

        ``right`` is that of the equation above; k times the last of these adds up to ``right_t``, and the
        columns of A add up to zero afterwards.
        """

    def direction(self, target: float, predictor: Point) -> Point:
        """Step to products equal to the target, with the second-order terms of the predictor."""
        p, R, region = self.p, self.R, self.region
        bends = region.images(predictor.A)
        missing = p.t - 0.5 * (R**2).sum(axis=1) - p.slack - 0.5 * (bends**2).sum(axis=1)
        weights = (target - p.d * p.slack - predictor.d * predictor.slack) / p.slack - self.k * missing
        sides = (target - predictor.box * region.signs * predictor.A) / self.distance - p.box
        slopes = region.curvature * p.A - region.Y + p.b
        slopes += region.V @ ((p.d + weights)[:, None] * R + predictor.d[:, None] * bends)
        slopes -= (region.signs * (p.box + sides)).sum(axis=0)
        dA, dt, db, change = self._solve(-slopes, float((p.d + weights).sum()) - 1.0)
        box = sides - p.box / self.distance * region.signs * dA
        return Point(dA, dt, db, weights - change, change / self.k + missing, box)


class _PointSystem(System):
    """A row for each point and function; t and the intercepts are eliminated."""

    def __init__(self, region: Region, p: Point) -> None:
        super().__init__(region, p)
        (n, c), R = p.A.shape, self.R
        S = np.zeros((c, n, c, n))
        for i in range(c):
            for j in range(i, c):
                S[j, :, i, :] = _gram(region.V, (i == j) * p.d + self.k * R[:, i] * R[:, j])
            S[i, np.arange(n), i, np.arange(n)] += self.E[:, i]
        self.factor = _Factor(S.reshape(c * n, c * n))
        pull = np.asarray(region.V @ (self.k[:, None] * R)).T.reshape(-1, 1)
        self.border = np.hstack([pull, -np.repeat(np.eye(c), n, axis=0)])
        self.response = self.factor.solve(self.border)
        small = -self.border.T @ self.response
        small[0, 0] += self.k.sum()
        self.small = small

    def _solve(self, right: Array, right_t: float) -> tuple[Array, float, Array, Array]:
        free = self.factor.solve(right.T.ravel())
        wanted = self.border.T @ free
        wanted[0] += right_t
        wanted[1:] -= self.p.A.sum(axis=0)
        scale = 1.0 / np.sqrt(np.abs(np.diag(self.small)))
        moves = scale * np.linalg.solve(scale[:, None] * self.small * scale, scale * wanted)
        dA = (free + self.response @ moves).reshape(right.T.shape).T
        change = moves[0] - (self.R * self.region.images(dA)).sum(axis=1)
        return dA, float(moves[0]), moves[1:], self.k * change


class _ColumnSystem(System):
    """A row for each column and function; t and A are eliminated.

    The intercepts are like a column of ones whose coefficients are free: E dA = right - (V, 1)(u, db).  What
    is left is positive definite in (u, db), also where E is almost zero, at the points within the box.
    """

    def __init__(self, region: Region, p: Point) -> None:
        super().__init__(region, p)
        ones, c = np.ones((len(p.A), 1)), p.A.shape[1]
        stack = scipy.sparse.hstack if scipy.sparse.issparse(region.V) else np.hstack
        self.W = stack([region.V, ones])
        self.reach = p.slack + (self.R**2).sum(axis=1)
        self.price = float((p.d / self.reach).sum())
        self.pull = np.zeros((c, len(p.d) + 1))
        self.pull[:, :-1] = (self.R / self.reach[:, None]).T
        self.factor = _Factor(self._matrix())

    def _matrix(self) -> Array:
        """(B^-1, 0) + (V, 1)'E^-1(V, 1) and the share of t; blocks of B are inverted as a rank-one update."""
        c, size = self.pull.shape
        M = np.multiply.outer(self.pull, self.pull) / self.price
        each = np.arange(size - 1)
        for i in range(c):
            M[i, :, i, :] += _gram(self.W.T, 1.0 / self.E[:, i])
            for j in range(c):
                M[i, each, j, each] += ((i == j) - self.R[:, i] * self.R[:, j] / self.reach) / self.p.d
        return M.reshape(c * size, c * size)

    def _solve(self, right: Array, right_t: float) -> tuple[Array, float, Array, Array]:
        u = np.zeros_like(self.pull)
        dA, dt = right / self.E, right_t / self.price
        for _ in range(3):  # differences have lost digits that are divided by a small E
            du = self.factor.solve(self._left(dA, dt, u).ravel()).reshape(u.shape)
            u, dA = u + du, dA - (self.W @ du.T) / self.E
            dt = (float((self.pull * u).sum()) + right_t) / self.price
        # From u, not from t and A, whose differences are small where k is large.
        change = (self.p.d * dt - (self.R * u[:, :-1].T).sum(axis=1)) / self.reach
        return dA, dt, u[:, -1], change

    def _left(self, dA: Array, dt: float, u: Array) -> Array:
        """What V'dA lacks of B^-1 u and the pull of t, and the sums of A of zero."""
        images, inner = np.asarray(self.W.T @ dA), u[:, :-1].T
        along = (self.R * inner).sum(axis=1) / self.reach
        images[:-1] -= (inner - self.R * along[:, None]) / self.p.d[:, None]
        images[-1] += self.p.A.sum(axis=0)
        return images.T - self.pull * dt


class _Factor:
    """A positive definite matrix, its lower half given, factored after scaling to a diagonal of ones."""

    def __init__(self, M: Array) -> None:
        self.scale = 1.0 / np.sqrt(np.diag(M))
        M *= self.scale
        M *= self.scale[:, None]
        self.factor = linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)

    def solve(self, right: Array) -> Array:
        """Solve for a vector or for columns."""
        scale = self.scale if right.ndim == 1 else self.scale[:, None]
        return np.asarray(scale * linalg.cho_solve(self.factor, scale * right, check_finite=False))


def _gram(V: Any, weights: Array) -> Array:
    """``V diag(weights) V'``, dense."""
    if not scipy.sparse.issparse(V):
        return np.asarray((V * weights) @ V.T)
    return np.asarray(((V @ scipy.sparse.diags_array(weights)) @ V.T).toarray())
