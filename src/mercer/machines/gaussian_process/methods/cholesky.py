"""Any kernel on any points, by the Cholesky factor of the covariance matrix."""

from __future__ import annotations

from typing import ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .... import memory
from ....domains import Data, size
from ....solvers import Conditioned, DenseCovariance
from ...tuning import Hyperparameters, Weights, sums_by_name
from .base import Method, Slopes, bands, spread_of

__all__ = ["Cholesky"]

Array: TypeAlias = NDArray[np.float64]


class Cholesky(Method):
    """The general method."""

    name: ClassVar[str] = "Cholesky"
    structure: ClassVar[str] = "any kernel"
    cost: ClassVar[str] = "O(n^3) time, 16 n^2 bytes"

    covariance: DenseCovariance

    def _factor(self) -> DenseCovariance:
        n = len(self.noise)
        memory.require(2 * 8 * n * n, f"the covariance matrix of {n} points, and its factor")
        # the transpose of a symmetric matrix in rows has its columns in place
        return DenseCovariance(np.array(self.gram.dense().T, dtype=np.float64, order="F"), self.noise)

    def evidence(self, Y: Array, intercept: bool) -> tuple[float, Slopes, float]:
        """The log likelihood and its gradient: 32 n^2 bytes."""
        n = len(self.noise)
        memory.require(4 * 8 * n * n, f"the evidence of {n} observations with its gradient")
        return super().evidence(Y, intercept)

    def slopes(self, Y: Array, fit: Conditioned) -> tuple[Slopes, float]:
        """Gradient of the log likelihood: sums with the weights ``(C C' - t N) / 2``."""
        C, N = fit.coefficients, self.covariance.inverse()
        if fit.along is not None:
            for rows in bands(len(N)):
                N[rows] -= np.outer(fit.along[rows], fit.along / fit.precision)
        many = C.shape[1]

        def tile(rows: slice, cols: slice) -> Array:
            return np.asarray(0.5 * (C[rows] @ C[cols].T - many * N[rows, cols]))

        weights = Weights(tile, len(C), 0.5 * float(np.vdot(C, C) - many * np.trace(N)))
        point = Hyperparameters(self.kernel, 1.0, penalty=None)
        prepared = self.kernel._prepare(self.points)
        return sums_by_name(point, self.points, prepared, weights), weights.ridge

    def variance(self, points: Data, fit: Conditioned) -> Array:
        """Posterior variances: one triangular solve instead of two."""
        own = self._own(points)
        result = own.copy()
        cross = self.gram._cross(points)
        for rows in bands(size(points)):
            V = np.asarray(cross.block(rows), dtype=np.float64).T
            W = self.covariance.whiten(V)
            result[rows] += spread_of(V, fit) ** 2 - np.einsum("ij,ij->j", W, W)
        return np.asarray(np.maximum(result, 0.0))

    def extended(self, points: Data, new: Data, noise: float) -> Self:
        """The method for all ``points``, of which ``new`` is the last one: O(n^2)."""
        column = np.asarray(self.gram._cross(new).dense())[0]
        larger = type(self).__new__(type(self))
        Method.__init__(larger, self.kernel, points, np.append(self.noise, noise))
        larger.covariance = self.covariance.extended(
            np.asarray(column, dtype=np.float64), float(self._own(new)[0]) + noise
        )
        return larger
