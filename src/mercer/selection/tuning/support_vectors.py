"""Criteria of support vector machines as functions of hyper-parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ... import memory
from ...domains import Data, size, take
from ...machines.svm.base import Fit, Limits
from ...machines.svm.problems import classification, solve_hard_margin
from ...machines.svm.starts import grown
from ...machines.tuning import Hyperparameters
from ...machines.tuning.gradients import sums_by_name
from ...machines.tuning.objectives import Weights
from ...machines.tuning.radius_margin import Ball, radius_margin
from ...machines.tuning.span import span_error
from ...solvers import BoxProblem
from ...solvers.matrix import HeldMatrix

__all__ = ["MarginCriterion"]

Vector: TypeAlias = NDArray[np.float64]

#: Largest violation of the optimality conditions: derivatives are as exact as the solutions.
TOL = 1e-7


class _Trained(NamedTuple):
    """A machine at some hyper-parameters."""

    beta: Vector
    margins: Vector
    squared_norm: float
    high: Vector


@dataclass
class MarginCriterion:
    """Minus the logarithm of the radius-margin bound or of the span estimate, with gradients.

    Every training starts from the one before.

    Attributes
    ----------
    points : validated points
    y : array of shape (n,)
        Labels -1 and 1.
    weight : array of shape (n,)
        Factors of C.
    offset : bool
        Whether the machine has an intercept.
    rule : {"radius_margin", "span"}
    """

    points: Data
    y: Vector
    weight: Vector
    offset: bool
    rule: str
    _beta: Vector | None = field(default=None, repr=False)
    _centre: Vector | None = field(default=None, repr=False)

    def __call__(
        self, point: Hyperparameters, wanted: NDArray[np.bool_] | None = None
    ) -> tuple[float, Vector]:
        """The value to maximise at some hyper-parameters, and its gradient."""
        n = size(self.points)
        memory.require(2 * 8 * n * n, f"the Gram matrix of {n} points")
        K = np.array(point.kernel._tiles(point.kernel._prepare(self.points), None), dtype=np.float64)
        trained = self._train(K, point.alpha)
        support = np.flatnonzero(trained.beta)
        if self.rule == "span":
            value, weights = span_error(
                K[np.ix_(support, support)],
                trained.beta[support],
                trained.high[support],
                trained.margins[support],
                n,
                point.alpha,
                self.offset,
            )
            return -float(np.log(value)), -self._gradient(point, support, weights, wanted) / value
        ball = self._ball(K)
        active = np.union1d(support, np.flatnonzero(ball.self_weights))
        ball = Ball(ball.squared_radius, ball.self_weights[active], ball.weights[active])
        loss = 0.0
        if np.isfinite(point.alpha):
            loss = float(trained.high @ np.maximum(0.0, 1.0 - trained.margins))
        factor = (4.0 if self.offset else 1.0) / n
        value, weights = radius_margin(
            trained.beta[active], trained.squared_norm, loss, ball, point.alpha, factor
        )
        return -value, -self._gradient(point, active, weights, wanted)

    def _gradient(
        self,
        point: Hyperparameters,
        active: NDArray[np.intp],
        weights: Weights,
        wanted: NDArray[np.bool_] | None,
    ) -> Vector:
        """Derivatives in all logarithms, from the points that have weights."""
        data = take(self.points, active)
        parts = sums_by_name(point, data, point.kernel._prepare(data), weights, wanted)
        flat = [np.ravel(part) for part in parts.values()]
        return np.concatenate([*flat, [] if point.penalty is None else [point.alpha * weights.ridge]])

    def _train(self, K: Vector, C: float) -> _Trained:
        limits = Limits("tune", TOL, -1, None, progress=False)
        matrix, high = HeldMatrix(K), C * self.weight
        if np.isinf(C) and self.offset:
            fit = solve_hard_margin(self.y, matrix, limits)
        else:
            start = None
            if self._beta is not None:
                start = np.clip(self._beta, np.where(self.y > 0, 0.0, -high), np.where(self.y > 0, high, 0.0))
                start = grown(start, high) if self.offset else start
            solution = limits.solve(classification(self.y, high, self.offset), matrix, start)
            bias = float(solution.value.multipliers[0]) if self.offset else 0.0
            fit = Fit(solution.value.coefficients, bias, solution)
            self._beta = fit.beta
        values = K @ fit.beta
        return _Trained(fit.beta, self.y * (values + fit.bias), float(fit.beta @ values), high)

    def _ball(self, K: Vector) -> Ball:
        """The smallest ball around all points; without an offset, around zero."""
        diagonal, n = K.diagonal(), len(K)
        if not self.offset:
            weights = np.zeros(n)
            weights[diagonal.argmax()] = 1.0
            return Ball(float(diagonal.max()), weights, np.zeros(n))
        problem = BoxProblem(-diagonal / 2, np.zeros(n), np.full(n, 2.0))
        start = np.full(n, 1.0 / n) if self._centre is None else self._centre
        limits = Limits("tune", TOL * float(diagonal.max()), -1, None, progress=False)
        a = limits.solve(problem, HeldMatrix(K), start).value.coefficients
        self._centre = a
        return Ball(float(a @ diagonal - a @ (K @ a)), a, a)
