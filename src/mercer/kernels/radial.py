"""Kernels of the Euclidean distance ``|x - y|``: the Gaussian and its relatives.

The Matern family is in ``matern``, powers of the distance in ``powers``, the Gaussian with a full matrix in
``mahalanobis``.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..algebra.simple import SimpleKernel
from ..arithmetic import ARRAYS, FLOAT, Arithmetic
from ..certificate import Certificate, Claim, Property, Status
from ..domains import Data, Domain, Vectors, size
from ..engine.program import Builder, Value
from ..errors import GradientError, ParameterError
from ..intervals import Interval
from ..kernel_gradients import Adjoint, Gradient
from ..parameters import parameter
from ..spectral_density import Gamma, Normal, Student
from .widths import (
    by_distances,
    median_distance,
    scale_width,
    scaled_squared_distances,
    scaled_squared_values,
    width,
)

__all__ = [
    "Exponential",
    "Gaussian",
    "Radial",
    "RationalQuadratic",
]


class Radial(SimpleKernel):
    r"""Kernels :math:`f(D)` of the scaled squared distance :math:`D = \sum_i (x_i-y_i)^2/\sigma_i^2`.

    Subclasses declare ``sigma``, a number or one per feature, and write ``formula(self, D, m)`` against an
    :class:`~mercer.arithmetic.Arithmetic` ``m``.  For gradients they add ``_slope``, for
    random Fourier features ``_spectral_density``.
    """

    if TYPE_CHECKING:  # a field of each subclass, so that other parameters may come before it

        @property
        def sigma(self) -> Any: ...

    @property
    def _width(self) -> float | np.ndarray:
        """What differences of features are divided by."""
        width: float | np.ndarray = self.sigma
        return width

    @property
    def _is_slow(self) -> bool:
        """Whether values still vary where the squared distance is no float: `_at_distance` has them there."""
        return False

    def _at_distance(self, r: Any, m: Arithmetic) -> Any:
        """The formula in the scaled distance, where its square underflows or overflows."""
        raise NotImplementedError

    @property
    def domain(self) -> Domain:
        return Vectors(dim=len(self._width) if isinstance(self._width, np.ndarray) else None)

    def _pair(self, x: Any, y: Any, m: Arithmetic) -> tuple[Any]:
        return (scaled_square(x, y, self._width, m),)

    def _pairs(self, X: Data, Y: Data | None) -> tuple[np.ndarray]:
        return (scaled_squared_distances(X, Y, self._width),)

    def _steps(self, b: Builder, X: Data, Y: Data | None) -> tuple[Value]:
        return (scaled_squared_values(b, X, Y, self._width),)

    def _value(self, x: Any, y: Any, m: Arithmetic) -> Any:
        if m is FLOAT and self._is_slow and not sys.float_info.min <= self._pair(x, y, m)[0] < math.inf:
            return self._at_distance(scaled_distance(x, y, self._width), m)
        return super()._value(x, y, m)

    def _values(self, X: Data, Y: Data | None) -> np.ndarray:
        [D] = self._pairs(X, Y)
        K = self._evaluate(D)
        if self._is_slow:
            limits = np.finfo(D.dtype)
            lost = ~((limits.tiny <= D) & (limits.max >= D))
            by_distances(K, lost, X, Y, self._width, lambda r: self._at_distance(r, ARRAYS))
        return K

    def _diagonal(self, X: Data) -> np.ndarray:
        return self._evaluate(np.zeros(size(X), dtype=X.dtype))

    def _slope(self, D: np.ndarray, K: np.ndarray) -> np.ndarray:
        """Values of -2 f'(D): times D, the derivative in log sigma.  Zero where D = 0."""
        raise GradientError(f"{self!r} has no closed-form gradient; use finite differences of block.")

    def _other_slopes(self, D: np.ndarray, K: np.ndarray) -> Gradient:
        """Derivatives with respect to log-scale parameters other than sigma."""
        return {}

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        if not self.parameters:
            return self._block(X, Y), {}
        [D] = self._pairs(X, Y)
        np.minimum(D, np.finfo(D.dtype).max, out=D)  # 0 times infinity has no place here
        K = self._evaluate(D)
        slope = self._slope(D, K)
        if isinstance(self.sigma, np.ndarray):
            by_width = slope[..., None] * column_squares(X, X if Y is None else Y, self.sigma)
        else:
            by_width = slope * D
        return K, {"sigma": by_width, **self._other_slopes(D, K)}

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        zeros = {name: np.zeros((size(X), *np.shape(p.value))) for name, p in self.parameters.items()}
        return self._diagonal(X), zeros

    def _adjoint(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Adjoint]:
        if not isinstance(self.sigma, np.ndarray):
            return super()._adjoint(X, Y)
        [D] = self._pairs(X, Y)
        np.minimum(D, np.finfo(D.dtype).max, out=D)
        K = self._evaluate(D)
        try:
            slope, others = self._slope(D, K), self._other_slopes(D, K)
        except GradientError:
            return K, lambda W: {}

        def adjoint(W: np.ndarray) -> Gradient:
            by_width = weighted_squares(W * slope, D, X, X if Y is None else Y, self.sigma)
            return {"sigma": by_width, **{name: np.tensordot(W, g, axes=2) for name, g in others.items()}}

        return K, adjoint

    def _rule(self, name: str, rule: str, X: Data, weight: np.ndarray | None) -> float:
        return median_distance(X, weight) if rule == "median" else scale_width(X, weight)


class Decreasing(Radial):
    """Radial kernels that fall from 1 at distance 0 to 0 at infinity."""

    _overflow: ClassVar[str | None] = None

    def _log_is_negative(self, reason: str) -> Claim:
        """The claim that makes a kernel infinitely divisible."""
        return Claim(Property.NEGATIVE, Status.PROVED, f"-log {self!r}", "Schoenberg", reason)

    bounds = Interval(0.0, 1.0)

    diagonal_bounds = Interval(1.0, 1.0)


class Gaussian(Decreasing):
    r"""Gaussian kernel on vectors.

    .. math:: k(x, y) = \exp\left(-\frac{\|x - y\|^2}{2 \sigma^2}\right)

    Strictly positive definite on :math:`\mathbb{R}^d` (Bochner: its spectral density is a Gaussian) and
    infinitely divisible.  Block cost: O(n m d).

    Parameters
    ----------
    sigma : float, array of shape (d,), "median" or "scale", default=1.0
        Width, > 0.  A vector gives one width per feature: :math:`\exp(-\sum_i (x_i-y_i)^2 / 2\sigma_i^2)`.
        ``"median"`` is the median distance between data points (of more than 128, a fixed sample of at
        most 8,192 pairs); ``"scale"`` is
        :math:`\sqrt{d \, \mathrm{var}(X) / 2}`, the width that scikit-learn calls ``gamma="scale"``.

    Notes
    -----
    Some texts write :math:`\sigma^2` instead of :math:`2\sigma^2`; ours is always :math:`2\sigma^2`.

    Examples
    --------
    >>> Gaussian(1.0)([0.0], [1.0])
    0.6065306597126334
    >>> Gaussian.from_gamma(0.125)
    Gaussian(sigma=2.0)
    """

    sigma: Any = width("median", "scale")

    @classmethod
    def from_gamma(cls, gamma: float) -> Gaussian:
        r"""Return the kernel :math:`\exp(-\gamma \|x - y\|^2)`."""
        if not 0 < gamma < math.inf:
            raise ParameterError(f"Gaussian.from_gamma: `gamma` must be a finite number > 0. Got {gamma!r}.")
        return cls(1.0 / math.sqrt(2.0 * gamma))

    def formula(self, D: Any, m: Arithmetic) -> Any:
        return m.exp(-D / 2)

    def _squared_distances(self, X: Data, Y: Data | None) -> np.ndarray:
        D = scaled_squared_distances(X, Y, self.sigma)
        return np.asarray(-2 * np.expm1(-D / 2))

    def _slope(self, D: np.ndarray, K: np.ndarray) -> np.ndarray:
        return K

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "Bochner", "the Fourier transform of a Gaussian is a positive density", strict=True
        )

    def _infinitely_divisible(self) -> Claim:
        return self._log_is_negative("|x - y|^2 is negative definite")

    def _spectral_density(self) -> Normal:
        return Normal(self.sigma)


class Exponential(Decreasing):
    r"""Exponential of the Euclidean distance.

    .. math:: k(x, y) = \exp(-\|x - y\| / \sigma)

    Strictly positive definite on :math:`\mathbb{R}^d` (Bochner: its spectral density is the multivariate
    Cauchy density) and infinitely divisible.  Block cost: O(n m d).

    Parameters
    ----------
    sigma : float, array of shape (d,), "median" or "scale", default=1.0
        Width, > 0; a vector scales each feature, as in :class:`Gaussian`.

    Examples
    --------
    >>> round(Exponential(5.0)([0.0, 0.0], [3.0, 4.0]), 6)
    0.367879
    """

    sigma: Any = width("median", "scale")

    def formula(self, D: Any, m: Arithmetic) -> Any:
        return m.exp(-m.sqrt(D))

    def _slope(self, D: np.ndarray, K: np.ndarray) -> np.ndarray:
        return over(K, np.sqrt(D))

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "Bochner", "the Fourier transform is the positive Cauchy density on R^d", strict=True
        )

    def _infinitely_divisible(self) -> Claim:
        return self._log_is_negative("|x - y| is negative definite")

    def _spectral_density(self) -> Student:
        return Student(self.sigma, nu=0.5)


class RationalQuadratic(Decreasing):
    r"""Rational quadratic kernel on vectors.

    .. math:: k(x, y) = \left(1 + \frac{\|x - y\|^2}{\sigma^2}\right)^{-\alpha}

    Strictly positive definite on :math:`\mathbb{R}^d`: a mixture of Gaussian kernels of all widths with gamma
    weights.  Infinitely divisible.  Block cost: O(n m d).

    Parameters
    ----------
    sigma : float, array of shape (d,), "median" or "scale", default=1.0
        Width, > 0; a vector scales each feature, as in :class:`Gaussian`.
    alpha : float, default=1.0
        Exponent, > 0.  scikit-learn's kernel of length scale :math:`l` has :math:`\sigma = l\sqrt{2\alpha}`.

    Examples
    --------
    >>> RationalQuadratic(2.0)([0.0], [2.0])
    0.5
    """

    sigma: Any = width("median", "scale")
    alpha: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")

    def formula(self, D: Any, m: Arithmetic) -> Any:
        return 1 / (1 + D) if self.alpha == 1 else m.exp(-m.real(self.alpha) * m.log1p(D))

    @property
    def _is_slow(self) -> bool:
        return self.alpha < 1

    def _at_distance(self, r: Any, m: Arithmetic) -> Any:
        return m.power(m.maximum(r, 1.0), -2 * self.alpha)

    def _steps(self, b: Builder, X: Data, Y: Data | None) -> tuple[Value]:
        [D] = super()._steps(b, X, Y)
        return (b.finite(D) if self._is_slow else D,)

    def _slope(self, D: np.ndarray, K: np.ndarray) -> np.ndarray:
        return np.asarray(2 * self.alpha * K / (1 + D))

    def _other_slopes(self, D: np.ndarray, K: np.ndarray) -> Gradient:
        return {"alpha": -self.alpha * np.log1p(D) * K}

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "mixture of Gaussians",
            "(1 + D)^-a is the integral of exp(-t D) with the gamma density t^(a-1) exp(-t)/Gamma(a)",
            strict=True,
        )

    def _infinitely_divisible(self) -> Claim:
        return self._log_is_negative("log(1 + |x - y|^2) is negative definite")

    def _spectral_density(self) -> Gamma:
        return Gamma(self.sigma, alpha=self.alpha)


# -- helpers ----------------------------------------------------------------------------------
def scaled_square(x: Any, y: Any, sigma: float | np.ndarray, m: Arithmetic) -> Any:
    """Squared distance of two vectors of numbers, each difference divided by its width."""
    widths = [m.real(s) for s in np.broadcast_to(sigma, len(x)).tolist()]
    quotients = [(a - b) / s for a, b, s in zip(x, y, widths, strict=True)]
    return m.fsum(q * q for q in quotients)


def scaled_distance(x: Any, y: Any, sigma: float | np.ndarray) -> float:
    """Distance of two vectors of floats, each difference divided by its width; nothing is squared."""
    widths = np.broadcast_to(sigma, len(x)).tolist()
    return math.hypot(*((a - b) / s for a, b, s in zip(x, y, widths, strict=True)))


def over(K: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Quotient ``K / D``, zero where ``D`` is."""
    quotient = np.zeros_like(K)
    np.divide(K, D, out=quotient, where=D > 0)
    return quotient


def dense(X: Data) -> np.ndarray:
    """Return rows as a dense array."""
    return X if isinstance(X, np.ndarray) else np.asarray(X.toarray())


def weighted_squares(W: np.ndarray, D: np.ndarray, X: Data, Y: Data, sigma: np.ndarray) -> np.ndarray:
    r"""Sums :math:`\sum_{ij} W_{ij} (x_{il} - y_{jl})^2 / \sigma_l^2` for each column l.

    The square is expanded, so that products of matrices do the work.  That cancels where points of a block
    lie many widths apart, and for pairs that are close to each other, whose weights may be large.  These
    columns and these pairs take their differences.  ``D`` holds the sums over all columns.
    """
    A, B = dense(X) / sigma, dense(Y) / sigma
    low, high = np.minimum(A.min(axis=0), B.min(axis=0)), np.maximum(A.max(axis=0), B.max(axis=0))
    A, B = A - (low + high) / 2, B - (low + high) / 2
    # Widths that points of a block may lie apart in a column where the square of a difference is expanded:
    # rounding is at most the square of this times that of the direct sum.
    expanded = high - low <= 1e3
    largest = (high - low)[expanded].max(initial=0.0)
    # Pairs whose squared distance is at most this part of the squared range of a block are close: beyond it,
    # the rounding of an expanded square is below 1e-8 of the square.
    close = largest**2 * (1e8 * float(np.finfo(np.float64).eps)) >= D
    far = np.where(close, 0.0, W)
    sums = far.sum(axis=1) @ A**2 + far.sum(axis=0) @ B**2 - 2 * np.einsum("ij,ij->j", A, far @ B)
    rows, cols = np.nonzero(close & (D > 0))
    for column in np.flatnonzero(expanded) if len(rows) else ():
        sums[column] += W[rows, cols] @ (A[rows, column] - B[cols, column]) ** 2
    for column in np.flatnonzero(~expanded):
        squares = column_squares(X[:, [column]], Y[:, [column]], sigma[[column]])
        sums[column] = np.vdot(W, squares[..., 0])
    return np.asarray(sums)


def column_squares(X: Data, Y: Data, sigma: np.ndarray) -> np.ndarray:
    """Squared scaled differences per column, of shape (n, m, d)."""
    with np.errstate(over="ignore"):
        squares = ((dense(X)[:, None, :] - dense(Y)[None, :, :]) / sigma) ** 2
    return np.asarray(np.minimum(squares, np.finfo(squares.dtype).max))
