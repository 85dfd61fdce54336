"""What every exact method of Gaussian-process regression offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ....domains import Data, Similarities, size
from ....errors import InputError
from ....gram import Gram
from ....gram.kernel_gram import gram_of_points
from ....kernel import Kernel
from ....solvers import Conditioned, Covariance, condition

__all__ = ["Method", "Slopes", "bands", "spread_of", "with_intercept"]

Array: TypeAlias = NDArray[np.float64]
#: Derivatives of the log likelihood in the logarithms of parameters of the kernel, by name.
Slopes: TypeAlias = dict[str, Array]

#: New points whose covariances with the training points are computed at a time.
BAND = 1024


class Method(ABC):
    """A process with a kernel, observed at points with independent noise.

    Attributes
    ----------
    kernel : Kernel
        Of the function, without the noise.
    points : data
    noise : array of shape (n,)
        Variances of the noise.
    gram : Gram
        The lazy Gram matrix of the points.
    covariance : Covariance
        Of the observations; left out of pickles, and computed again when it is needed.
    """

    name: ClassVar[str]
    #: Which kernels and points it is for, in words.
    structure: ClassVar[str]
    #: What it costs, in words.
    cost: ClassVar[str]

    kernel: Kernel
    points: Data
    noise: Array
    gram: Gram

    def __init__(self, kernel: Kernel, points: Data, noise: Array) -> None:
        self.kernel, self.points, self.noise = kernel, points, noise
        self.gram = gram_of_points(kernel, points)

    @cached_property
    def covariance(self) -> Covariance:
        return self._factor()

    @abstractmethod
    def _factor(self) -> Covariance:
        """Make the covariance; raise ``LinAlgError`` if it is not positive definite to working precision."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "covariance"}

    # -- the likelihood -------------------------------------------------------------------------
    def condition(self, Y: Array, intercept: bool) -> Conditioned:
        """Condition on targets of shape (n, t)."""
        return condition(self.covariance, Y, intercept)

    @abstractmethod
    def slopes(self, Y: Array, fit: Conditioned) -> tuple[Slopes, float]:
        """Gradient of ``fit.log_likelihood`` in the logarithms of the parameters of the kernel.

        And its derivative in a variance that is added to all noise.
        """

    def log_likelihood(self, Y: Array, intercept: bool) -> float:
        """The log likelihood of targets."""
        return self.condition(Y, intercept).log_likelihood

    def evidence(self, Y: Array, intercept: bool) -> tuple[float, Slopes, float]:
        """The log likelihood of targets, and what ``slopes`` gives."""
        fit = self.condition(Y, intercept)
        return fit.log_likelihood, *self.slopes(Y, fit)

    # -- predictions ----------------------------------------------------------------------------
    def mean(self, points: Data, fit: Conditioned) -> Array:
        """Posterior means at validated points, of shape (m, t)."""
        cross = self.gram._cross(points)
        return np.asarray(cross @ fit.coefficients + fit.intercepts, dtype=np.float64)

    def variance(self, points: Data, fit: Conditioned) -> Array:
        """Posterior variances at validated points."""
        own = self._own(points)
        result = own.copy()
        cross = self.gram._cross(points)
        for rows in bands(size(points)):
            V = np.asarray(cross.block(rows), dtype=np.float64).T
            result[rows] -= np.einsum("ij,ij->j", V, self.covariance.solve(V))
            result[rows] += spread_of(V, fit) ** 2
        return np.maximum(result, 0.0)

    def covariance_of(self, points: Data, fit: Conditioned) -> Array:
        """The posterior covariance matrix of validated points."""
        self._require_kernel()
        K = np.array(gram_of_points(self.kernel, points).dense(), dtype=np.float64)
        V = np.asarray(self.gram._cross(points).dense()).T
        spread = spread_of(V, fit)
        result = K - V.T @ self.covariance.solve(V) + np.outer(spread, spread)
        result = (result + result.T) / 2
        diagonal = np.diag_indices(len(result))
        result[diagonal] = np.maximum(result[diagonal], 0.0)
        return np.asarray(result)

    def _own(self, points: Data) -> Array:
        """Prior variances of new points."""
        self._require_kernel()
        return np.array(gram_of_points(self.kernel, points).diagonal(), dtype=np.float64)

    def _require_kernel(self) -> None:
        if isinstance(self.kernel.domain, Similarities):
            raise InputError(
                "GaussianProcessRegressor.predict: a precomputed matrix does not hold the values of new "
                "points with themselves, which standard deviations need. Use the kernel itself."
            )


def spread_of(V: Array, fit: Conditioned) -> Array:
    """What the unknown constant adds to standard deviations at new points with covariances V."""
    if fit.along is None:
        return np.zeros(V.shape[1])
    return np.asarray((1.0 - fit.along @ V) / np.sqrt(fit.precision))


def with_intercept(fit: Conditioned) -> Array:
    """Columns C for which derivatives of the log likelihood are sums with ``(C C' - t M^-1) / 2``.

    Coefficients of t targets; the unknown constant adds a column, as if it were one more.
    """
    if fit.along is None:
        return fit.coefficients
    many = fit.coefficients.shape[1]
    return np.column_stack([fit.coefficients, np.sqrt(many / fit.precision) * fit.along])


def bands(count: int, step: int = BAND) -> Iterator[slice]:
    """Cut new points into bands."""
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))
