"""The approximate leave-one-out loss of logistic regression as a function of hyper-parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...domains import Data
from ...errors import InputError
from ...gram import gram
from ...machines.tuning import Hyperparameters, block_and_sums
from ...machines.tuning.logistic import logistic_loo_loss
from ...solvers import SmoothProblem, SmoothValue, Solution, solve_smooth
from ...solvers.losses import Logistic

__all__ = ["LogisticCriterion"]

Vector: TypeAlias = NDArray[np.float64]

#: Duality gap, relative to the objective: the square of the accuracy of the fitted values.
GAP = 1e-18

#: Duality gap, relative to the objective, beyond which fitted values are of no use.
ENOUGH = 1e-10


@dataclass
class LogisticCriterion:
    """Minus the logarithm of the approximate leave-one-out log loss, with gradients.

    Every fit starts from the one before.

    Attributes
    ----------
    points : validated points
    y : array of shape (n,)
        Labels -1 and 1.
    weight : array of shape (n,)
    intercept : bool
    """

    points: Data
    y: Vector
    weight: Vector
    intercept: bool
    _last: SmoothValue | None = field(default=None, repr=False)

    def __call__(
        self, point: Hyperparameters, wanted: NDArray[np.bool_] | None = None
    ) -> tuple[float, Vector]:
        """The value to maximise at some hyper-parameters, and its gradient."""
        K, sums = block_and_sums(point, self.points, wanted)
        problem = SmoothProblem(Logistic(), self.y[:, None], self.weight, self.intercept)
        G = gram(point.kernel, self.points)._in_double()
        start: SmoothValue | None
        for start in (self._last, None):
            found = solve_smooth(problem, G, point.alpha, held=K, start=start, tol=GAP, name="tune")
            if self._is_enough(found):
                break
        else:
            raise InputError(f"tune: {found.status}, at {point.kernel!r} and alpha={point.alpha:.3g}.")
        f = found.value.predictions[:, 0]
        with np.errstate(over="ignore", invalid="ignore"):  # of points that are decided to the last digit
            value, weights = logistic_loo_loss(K, point.alpha, f, self.y, self.weight, self.intercept)
            slopes = sums(weights)
        if not (np.isfinite(value) and np.isfinite(slopes).all()):
            raise InputError(
                "tune: curvatures of the logistic loss are too small for leave-one-out. Raise alpha."
            )
        self._last = found.value
        return -float(np.log(value)), -slopes / value

    def _is_enough(self, found: Solution[SmoothValue]) -> bool:
        """Whether a fit is better than none, and near its optimum."""
        none = float(self.weight.sum()) * np.log(2.0)
        return bool(found.stats["objective"] <= none and found.gap <= ENOUGH * none)
