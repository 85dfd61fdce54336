"""Criteria of kernel ridge regression and Gaussian processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...domains import Data
from ...errors import InputError
from .gradients import block_and_sums
from .hyperparameters import Hyperparameters
from .objectives import Inverse, evidence, loo_error
from .scales import Scales, mean_squares, scales_of

__all__ = ["RidgeCriterion"]

Matrix: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class RidgeCriterion:
    """The evidence, or minus the logarithm of the leave-one-out error, with gradients in the logarithms.

    Attributes
    ----------
    points : validated points
    Y : array of shape (n, n_targets)
    weight : array of shape (n,), optional
        > 0.
    intercept : bool
    signal : float or "evidence"
        The factor of the prior covariance.
    rule : {"evidence", "loo"}
    """

    points: Data
    Y: Matrix
    weight: Matrix | None = None
    intercept: bool = False
    signal: float | str = 1.0
    rule: str = "evidence"

    def scales(self, start: Hyperparameters) -> Scales:
        """What is usual for the parameters on these data.

        Where the signal variance is free or of no account the kernel has no unit: only the ratio of penalty
        and kernel counts.
        """
        least, most = mean_squares(self.Y, self.intercept, self.weight)
        freedom, is_evidence = (len(self.Y) - self.intercept) * self.Y.shape[1], self.rule == "evidence"
        squares = None
        if is_evidence and not isinstance(self.signal, str):
            squares = least / self.signal, most / self.signal
        return scales_of(
            start,
            self.points,
            squares=squares,
            ratio=least / most,
            intercept=self.intercept,
            weight=self.weight,
            origin=-(0.5 * freedom if is_evidence else 1.0) * float(np.log(least)),
            total=freedom if is_evidence else 1.0,
        )

    def __call__(
        self, point: Hyperparameters, wanted: NDArray[np.bool_] | None = None
    ) -> tuple[float, Matrix]:
        """The value to maximise at some hyper-parameters, and its gradient."""
        K, sums = block_and_sums(point, self.points, wanted)
        root = np.ones(len(K)) if self.weight is None else np.sqrt(self.weight)
        inverse = Inverse.of(K, point.alpha, root, self.intercept)
        means = np.average(self.Y, axis=0, weights=root**2) if self.intercept else 0.0
        right = root[:, None] * (self.Y - means)
        if self.rule == "evidence":
            value, weights = evidence(inverse, right, self.signal)
            return value, sums(weights)
        error, weights = loo_error(inverse, right)
        if error <= 0:
            raise InputError("KernelRidge: the leave-one-out error is zero: there is nothing to tune.")
        return -float(np.log(error)), -sums(weights) / error
