"""Products of kernels of single coordinates on a full grid, by Kronecker products."""

from __future__ import annotations

from functools import reduce
from typing import ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ....domains import Data, size, take
from ....kernel import Kernel
from ....solvers import Conditioned, KroneckerCovariance
from ...tuning import Hyperparameters, Weights, sums_by_name
from .base import Method, Slopes, bands, spread_of, with_intercept
from .grid import CoordinateKernel, Factors, Grid, column, factors_of, grid_of

__all__ = ["Kronecker"]

Array: TypeAlias = NDArray[np.float64]


class Kronecker(Method):
    """Gaussian, Laplacian, Cauchy, periodic and tensor kernels, their products and multiples, on grids."""

    name: ClassVar[str] = "Kronecker"
    structure: ClassVar[str] = "a product over the coordinates of a full grid"
    cost: ClassVar[str] = "O(n sum n_l + sum n_l^3) time, O(n) memory for n_l values of coordinate l"

    covariance: KroneckerCovariance
    _axes: _Axes

    @classmethod
    def of(cls, kernel: Kernel, points: Data, noise: Array) -> Self | None:
        """The method, if kernel, points and noise have this structure: the noise must be the same for all."""
        if (noise != noise[0]).any() or factors_of(kernel, 1) is None:
            return None
        grid = grid_of(points)
        factors = None if grid is None else factors_of(kernel, len(grid.values))
        if grid is None or factors is None:
            return None
        # eigenvectors of n_l values take about 9 n_l^3 operations, a Cholesky factor of n points n^3 / 3
        if max(map(size, grid.values)) > len(noise) / 3:
            return None
        method = cls(kernel, points, noise)
        method._axes = _Axes(grid, factors)
        return method

    def _factor(self) -> KroneckerCovariance:
        factors = [reduce(np.multiply, blocks) for blocks in self._axes.blocks()]
        scale, cells = self._axes.factors.scale, self._axes.grid.cells
        return KroneckerCovariance(factors, scale, float(self.noise[0]), cells)

    def slopes(self, Y: Array, fit: Conditioned) -> tuple[Slopes, float]:
        """Gradient of the log likelihood: sums over the pairs of values of one coordinate at a time."""
        C, many = with_intercept(fit), fit.coefficients.shape[1]
        weights = self.covariance.factor_weights(C, many)
        result: Slopes = {}
        own = np.vdot(weights[0], self.covariance.factors[0])
        for name in self._axes.factors.names:
            result[name] = result.get(name, np.zeros(())) + own
        everything = Hyperparameters(self.kernel, 1.0, penalty=None).shapes
        for axis, blocks in enumerate(self._axes.blocks()):
            for i, part in enumerate(self._axes.of_axis(axis)):
                others = blocks[:i] + blocks[i + 1 :]
                W = reduce(np.multiply, others, weights[axis])
                values, point = self._axes.grid.values[axis], Hyperparameters(part.kernel, 1.0, penalty=None)
                held = Weights.of(W, np.ones(len(W)))
                sums = sums_by_name(point, values, part.kernel._prepare(values), held)
                for name, slope in sums.items():
                    whole, entry = part.names[name]
                    total = result.setdefault(whole, np.zeros(everything[whole].shape))
                    if entry is None:
                        result[whole] = total + slope.reshape(total.shape)
                    else:
                        total[entry] += slope
        ridge = 0.5 * (float(np.vdot(C, C)) - many * self.covariance.trace_of_inverse())
        return result, ridge

    def variance(self, points: Data, fit: Conditioned) -> Array:
        """Posterior variances: O(n) for each point."""
        result = self._own(points)
        for rows in bands(size(points), max(1, 2**24 // size(self.points))):
            some = take(points, rows)
            result[rows] -= self.covariance.explained(self._axes.cross(some))
            if fit.along is not None:
                V = np.asarray(self.gram._cross(some).dense(), dtype=np.float64).T
                result[rows] += spread_of(V, fit) ** 2
        return np.maximum(result, 0.0)


class _Axes(NamedTuple):
    """A grid and a kernel on it."""

    grid: Grid
    factors: Factors

    def of_axis(self, axis: int) -> list[CoordinateKernel]:
        return [part for part in self.factors.kernels if part.coordinate == axis]

    def blocks(self) -> list[list[Array]]:
        """For each axis the matrices of its kernels; of ones, if it has none."""
        result = []
        for axis, values in enumerate(self.grid.values):
            found = [_block(part.kernel, values, None) for part in self.of_axis(axis)]
            result.append(found or [np.ones((size(values), size(values)))])
        return result

    def cross(self, points: Data) -> list[Array]:
        """For each axis the values between new points and its values."""
        result = []
        for axis, values in enumerate(self.grid.values):
            some = column(points, axis)
            found = [_block(part.kernel, some, values) for part in self.of_axis(axis)]
            result.append(reduce(np.multiply, found, np.ones((size(points), size(values)))))
        return result


def _block(kernel: Kernel, X: Data, Y: Data | None) -> Array:
    kernel.domain.match(X, Y)
    prepared = None if Y is None else kernel._prepare(Y)
    return np.array(kernel._tiles(kernel._prepare(X), prepared), dtype=np.float64)
