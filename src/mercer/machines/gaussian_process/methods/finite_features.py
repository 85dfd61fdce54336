"""Kernels with finitely many features, fewer than points, in the primal."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .... import memory
from ....algebra import Scaled, Sum
from ....domains import Data, size
from ....kernel import Kernel
from ....solvers import Conditioned, FeatureCovariance
from ...tuning import Hyperparameters
from .base import Method, Slopes, bands, spread_of, with_intercept

__all__ = ["FiniteFeatures", "Part", "parts_of"]

Array: TypeAlias = NDArray[np.float64]


class Part(NamedTuple):
    """A term of a sum that has features of its own.

    Attributes
    ----------
    kernel : Kernel
    prefix : str
        What stands before the names of its parameters in those of the sum.
    variance : float
        The factor before it.
    factors : tuple of str
        Names of the parameters whose product that is.
    """

    kernel: Kernel
    prefix: str = ""
    variance: float = 1.0
    factors: tuple[str, ...] = ()


def parts_of(kernel: Kernel, part: Part | None = None) -> list[Part]:
    """The terms of a kernel, with their factors.

    Examples
    --------
    >>> from mercer.kernels import Linear, SetIntersection
    >>> [(p.prefix, p.variance) for p in parts_of(2.0 * (Linear() + 3.0 * Linear()))]
    [('base__term0__', 2.0), ('base__term1__base__', 6.0)]
    """
    part = Part(kernel) if part is None else part
    if isinstance(kernel, Sum):
        children = ((child, part._replace(prefix=f"{part.prefix}{n}__")) for n, child in kernel._children)
        return [inner for child, below in children for inner in parts_of(child, below)]
    if isinstance(kernel, Scaled) and kernel.factor > 0:
        factors = (*part.factors, f"{part.prefix}factor")
        below = Part(kernel.base, f"{part.prefix}base__", part.variance * kernel.factor, factors)
        return parts_of(kernel.base, below)
    return [part._replace(kernel=kernel)]


class _Features(NamedTuple):
    """Features of a part: prepared training points, the columns that occur, and where they are in Z."""

    part: Part
    prepared: Data
    occurring: NDArray[np.intp]
    place: slice

    def of(self, points: Data) -> Array | None:
        """Features of new points, in the coordinates of the training points; None if there are too many."""
        found = self.part.kernel._embedding(self.part.kernel._prepare(points), self.prepared)
        return None if found is None else np.sqrt(self.part.variance) * _dense(found, self.occurring)

    def moved(self, kernel: Kernel, points: Data) -> Array:
        """Features of the training points with other parameters."""
        features = _dense(kernel._embedding(kernel._prepare(points)), self.occurring)
        return np.asarray(np.sqrt(self.part.variance) * features)


class FiniteFeatures(Method):
    """Kernels whose values are inner products of known vectors with few entries."""

    name: ClassVar[str] = "finite features"
    structure: ClassVar[str] = "a kernel with fewer features than points"
    cost: ClassVar[str] = "O(n r^2) time, O(n r) memory for r features (Woodbury)"

    covariance: FeatureCovariance
    _features: list[_Features]
    _Z: Array
    _weights: Array

    @classmethod
    def of(cls, kernel: Kernel, points: Data, noise: Array) -> Self | None:
        """The method, if the kernel and the points have this structure and no observation is exact."""
        # Features take O(n r^2) with a larger constant than the n^3 / 3 of a Cholesky factor: with 1,000
        # points of a linear kernel they took 0.6 of its time at r = 0.3 n (0.3 with the gradient), and 1.6
        # (0.9) at r = 0.5 n.
        most = len(noise) // 3
        if most < 1 or not (noise > 0).all():
            return None
        features: list[_Features] = []
        columns: list[Array] = []
        start = 0
        for part in parts_of(kernel):
            prepared = part.kernel._prepare(points)
            found = part.kernel._embedding(prepared)
            if found is None:
                return None
            occurring = np.arange(found.shape[1])  # columns that are not empty
            if scipy.sparse.issparse(found):
                occurring = np.unique(found.tocsr().indices).astype(np.intp)
            place = slice(start, start + len(occurring))
            if place.stop > most:
                return None
            memory.require(4 * 8 * len(noise) * place.stop, f"{place.stop} features of {len(noise)} points")
            columns.append(np.sqrt(part.variance) * _dense(found, occurring))
            features.append(_Features(part, prepared, occurring, place))
            start = place.stop
        method = cls(kernel, points, noise)
        method._features, method._Z = features, np.hstack(columns)
        return method if np.isfinite(method._Z).all() else None

    def _factor(self) -> FeatureCovariance:
        return FeatureCovariance(self._Z, self.noise)

    # -- the likelihood -------------------------------------------------------------------------
    def condition(self, Y: Array, intercept: bool) -> Conditioned:
        """Condition on targets, and keep the weights of the features: ``Z' C`` would lose their digits."""
        fit = super().condition(Y, intercept)
        self._weights = self.covariance.weights(Y - fit.intercepts)
        return fit

    def slopes(self, Y: Array, fit: Conditioned) -> tuple[Slopes, float]:
        """Gradient of the log likelihood."""
        C, many = with_intercept(fit), fit.coefficients.shape[1]
        weights = self._weights
        if fit.along is not None:
            constant = self.covariance.weights(np.ones((len(Y), 1)))
            weights = np.hstack([weights, np.sqrt(many / fit.precision) * constant])
        result: Slopes = {}
        for features in self._features:
            part, place = features.part, features.place
            along = weights[place].T
            slope = 0.5 * (float(np.vdot(along, along)) - many * self.covariance.trace_of_features(place))
            for name in part.factors:
                result[name] = result.get(name, np.zeros(())) + slope
            point = Hyperparameters(part.kernel, 1.0, penalty=None)
            if point.shapes:
                W = C @ along - many * self.covariance.solve_features(place)
                for name, found in self._differences(features, point, W).items():
                    result[f"{part.prefix}{name}"] = found
        ridge = 0.5 * (float(np.vdot(C, C)) - many * self.covariance.trace_of_inverse())
        return result, ridge

    def _differences(self, features: _Features, point: Hyperparameters, W: Array) -> Slopes:
        """Sums of W with the derivatives of the features in parameters of their own."""
        flat = np.zeros(len(point.theta))
        step = float(
            np.finfo(np.float64).eps ** (1 / 3)
        )  # balances rounding with the error of the difference
        for i, ((low, high), at) in enumerate(zip(point.bounds, point.theta, strict=True)):
            ends = np.repeat(point.theta[None], 2, axis=0)
            ends[:, i] = min(at + step, high), max(at - step, low)
            up, down = (features.moved(point.at(theta).kernel, self.points) for theta in ends)
            flat[i] = np.vdot(W, up - down) / (ends[0, i] - ends[1, i])
        result: Slopes = {}
        start = 0
        for name, value in point.shapes.items():
            result[name] = flat[start : start + value.size].reshape(value.shape)
            start += value.size
        return result

    # -- predictions ----------------------------------------------------------------------------
    def _of(self, points: Data) -> Array | None:
        self.kernel.domain.match(points, self.points)
        found = [features.of(points) for features in self._features]
        known = [Z for Z in found if Z is not None]
        return np.hstack(known) if len(known) == len(found) else None

    def mean(self, points: Data, fit: Conditioned) -> Array:
        """Posterior means: O(r) for each point."""
        Z = self._of(points)
        return super().mean(points, fit) if Z is None else np.asarray(Z @ self._weights + fit.intercepts)

    def variance(self, points: Data, fit: Conditioned) -> Array:
        """Posterior variances: O(r^2) for each point."""
        own, Z = self._own(points), self._of(points)
        if Z is None:
            return super().variance(points, fit)
        result = np.empty_like(own)
        for rows in bands(size(points)):
            W = self.covariance.whiten_features(Z[rows])
            # features that no training point has keep their variance
            unknown = np.maximum(own[rows] - np.einsum("ij,ij->i", Z[rows], Z[rows]), 0.0)
            result[rows] = unknown + np.einsum("ij,ij->j", W, W)
            result[rows] += spread_of(self._Z @ Z[rows].T, fit) ** 2 if fit.along is not None else 0.0
        return result


def _dense(found: Any, columns: NDArray[np.intp]) -> Array:
    chosen = found[:, columns] if len(columns) < found.shape[1] else found
    values = chosen.toarray() if scipy.sparse.issparse(chosen) else chosen
    return np.asarray(values, dtype=np.float64)
