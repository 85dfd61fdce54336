r"""An interior-point method for ranking with the hinge loss.

The dual problem has a variable for each pair,

.. math:: \min_\beta \; \tfrac12 \beta^\top D K D^\top \beta - \mathbf{1}^\top \beta, \qquad
          0 \le \beta_p \le c_p, \qquad a = D^\top \beta .

With multipliers z and v of the bounds and :math:`t = c - \beta`, Newton steps on the optimality conditions

.. math:: D K D^\top \beta - \mathbf{1} - z + v = 0, \qquad \beta_p z_p = t_p v_p = \mu

(Mehrotra's predictor and corrector) eliminate all that belongs to pairs: with :math:`\theta = 1 / (z/\beta +
v/t)` and the Laplacian H of these weights, what is left is a system with :math:`I + H K` of the size of the
points.  A step costs O(pairs + n^3), or less where K has low rank; some twenty suffice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .problem import RankingProblem, State, System

__all__ = ["interior_point_states"]

Array: TypeAlias = NDArray[np.float64]


def interior_point_states(problem: RankingProblem, c: Array) -> Iterator[State]:
    """States of the iteration with their gaps."""
    point = _Point(problem, c)
    while True:
        yield problem.state(c, point.a, point.F, -point.beta / c)
        point.step()


class _Point:
    """Coefficients and predictions of the points; variables of the pairs, with multipliers of both bounds.

    The coefficients start at zero, far from what the variables of the pairs say they are: starting with small
    predictions saves more steps than starting with coefficients that agree.
    """

    def __init__(self, problem: RankingProblem, c: Array) -> None:
        self.problem, self.pairs, self.c = problem, problem.pairs, c
        self.a, self.F = np.zeros(self.pairs.size), np.zeros(self.pairs.size)
        self.beta = 0.5 * c
        self.t = c - self.beta
        self.z, self.v = np.ones(len(c)), np.full(len(c), 2.0)  # in the unit of differences

    def step(self) -> None:
        """One step of Mehrotra's method."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            beta, t, z, v = self.beta, self.t, self.z, self.v
            lacking = self.pairs.adjoint(beta) - self.a
            residual = self.pairs.differences(self.F) - 1.0 - z + v
            mean = float(beta @ z + t @ v) / (2 * len(beta))
            theta = 1.0 / (z / beta + v / t)
            newton = _Newton(self, System(self.problem, theta), theta, residual, lacking)
            db, dz, dv = newton.direction(np.zeros_like(beta), np.zeros_like(beta))
            length = self._reach(db, dz, dv)
            after = float((beta + length * db) @ (z + length * dz) + (t - length * db) @ (v + length * dv))
            aim = mean * (after / (2 * len(beta) * mean)) ** 3
            db, dz, dv = newton.direction(aim - db * dz, aim + db * dv)
            # Part of the way to the nearest bound that a step may go.
            self._move(min(1.0, 0.995 * self._reach(db, dz, dv)), db, dz, dv, lacking)

    def _move(self, length: float, db: Array, dz: Array, dv: Array, lacking: Array) -> None:
        self.a = self.a + length * (self.pairs.adjoint(db) + lacking)
        self.F = self.problem.product(self.a)
        # rounding must not put a variable on a bound: divisions by the distance would overflow
        info = np.finfo(float)
        self.beta = np.clip(self.beta + length * db, info.tiny, self.c * (1.0 - info.eps))
        self.t = self.c - self.beta
        self.z = np.maximum(self.z + length * dz, info.tiny)
        self.v = np.maximum(self.v + length * dv, info.tiny)

    def _reach(self, db: Array, dz: Array, dv: Array) -> float:
        """How far one can go in this direction, at most the whole way."""
        reach = 1.0
        for x, dx in ((self.beta, db), (self.t, -db), (self.z, dz), (self.v, dv)):
            falling = dx < 0
            if falling.any():
                reach = min(reach, float((x[falling] / -dx[falling]).min()))
        return reach


class _Newton(NamedTuple):
    """The linear system of one step."""

    point: _Point
    system: System
    theta: Array
    residual: Array
    lacking: Array

    def direction(self, lower: Array, upper: Array) -> tuple[Array, Array, Array]:
        """The step after which the products with the multipliers are these, to first order."""
        p, pairs = self.point, self.point.pairs
        low, high = lower / p.beta - p.z, upper / p.t - p.v
        right = low - high - self.residual
        F = self.system.predictions(pairs.adjoint(self.theta * right) + self.lacking)
        db = self.theta * (right - pairs.differences(F))
        return db, low - p.z / p.beta * db, high + p.v / p.t * db
