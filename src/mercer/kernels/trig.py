"""Trigonometric kernels: cosines and sines of differences, and the band-limited sinc."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra.simple import finite
from ..arithmetic import Arithmetic
from ..certificate import Certificate, Witness
from ..domains import Data, Domain, Vectors
from ..intervals import Interval
from ..kernel import Gradient, Kernel
from ..parameters import parameter
from ..spectral_density import Discrete, Uniform
from .scalar import Scalar, dense

__all__ = ["CosineDifference", "CosineOfSquares", "SinSquared", "Sinc"]


class CosineDifference(Scalar):
    r"""Cosine of the difference of two numbers.

    .. math:: k(x, y) = \cos(\omega (x - y))

    Positive definite on :math:`\mathbb{R}` with the two features :math:`\cos \omega x, \sin \omega x`; not
    strictly.  Block cost: O(n m).

    Parameters
    ----------
    frequency : float, default=1.0
        The angular frequency :math:`\omega > 0`.

    Examples
    --------
    >>> CosineDifference()(2.0, 2.0)
    1.0
    """

    frequency: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return m.cos(m.real(self.frequency) * (high - low))

    def _slopes(self, low: np.ndarray, high: np.ndarray, K: np.ndarray) -> Gradient:
        angle = self.frequency * (high - low)
        return {"frequency": -angle * np.sin(angle)}

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "explicit features", "cos w(x - y) = cos wx cos wy + sin wx sin wy: two features"
        )

    def _spectral_density(self) -> Discrete:
        return Discrete(np.array([[self.frequency]]), np.ones(1))

    bounds = Interval(-1.0, 1.0)

    diagonal_bounds = Interval(1.0, 1.0)


class CosineOfSquares(Kernel):
    r"""Powers of cosines of differences of squares, summed over the entries of vectors.

    .. math:: k(x, y) = \sum_i \cos^n(x_i^2 - y_i^2)

    Positive definite on :math:`\mathbb{R}^d`: each cosine has the features
    :math:`\cos x_i^2, \sin x_i^2`, and powers and sums of kernels are kernels.  Not strictly, for
    :math:`x` and :math:`-x` look alike.  Block cost: O(n m d) cosines.

    Parameters
    ----------
    power : int, default=1
        The exponent :math:`n \ge 1`.

    Examples
    --------
    >>> CosineOfSquares(power=3)([1.0, 2.0], [-1.0, 2.0])
    2.0
    """

    power: int = parameter(default=1, low=1, integer=True)

    @property
    def domain(self) -> Domain:
        return Vectors()

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return m.fsum(m.cos((a - b) * (a + b)) ** self.power for a, b in zip(x, y, strict=True))

    def _prepare(self, X: Data) -> np.ndarray:
        rows = dense(X)
        with np.errstate(over="ignore"):
            finite(rows.astype(np.float64) ** 2, self)
        return rows

    def _block(self, X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
        Z = X if Y is None else Y
        K = np.zeros((len(X), len(Z)))
        for u, v in zip(X.T.astype(np.float64), Z.T.astype(np.float64), strict=True):
            # (a - b)(a + b) keeps the digits that a^2 - b^2 loses for neighbours far from 0
            K += np.cos((u[:, None] - v[None, :]) * (u[:, None] + v[None, :])) ** self.power
        return K.astype(np.result_type(X, Z), copy=False)

    def _diagonal(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), X.shape[1], dtype=X.dtype)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "explicit features",
            "cos(s - t) = cos s cos t + sin s sin t at s = x_i^2; powers and sums of kernels are kernels",
        )


class SinSquared(Scalar):
    r"""Squared sine of the difference of two numbers.

    .. math:: \psi(x, y) = \sin^2(x - y)

    Negative definite on :math:`\mathbb{R}`: a quarter of the squared distance of the points
    :math:`(\cos 2x, \sin 2x)` and :math:`(\cos 2y, \sin 2y)`.  Not positive definite.  Hence
    ``SinSquared().schoenberg(l)``, :math:`\exp(-l \sin^2(x - y))`, is positive definite for every
    :math:`l > 0`.  Block cost: O(n m).

    Examples
    --------
    >>> print(SinSquared().certificate.verdict)
    NDS
    """

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return m.sin(high - low) ** 2

    def _certify(self) -> Certificate:
        return Certificate.nds(
            self,
            "squared distance",
            "4 sin^2(x - y) = |F(x) - F(y)|^2 with F(x) = (cos 2x, sin 2x)",
            zero_diagonal=True,
            witness=Witness.of(self, [0.0, math.pi / 2], [1.0, -1.0]),
        )

    bounds = Interval(0.0, 1.0)

    diagonal_bounds = Interval(0.0, 0.0)


class Sinc(Scalar):
    r"""Reproducing kernel of the band-limited functions on the line.

    .. math:: k(x, y) = \frac{\sin(a (x - y))}{a (x - y)}, \qquad k(x, x) = 1

    Strictly positive definite on :math:`\mathbb{R}` (Bochner: its spectral density is uniform on
    :math:`[-a, a]`).  Its space holds the square-integrable functions whose Fourier transform vanishes
    outside :math:`[-a, a]`, with the inner product
    :math:`\langle f, g \rangle = \frac{a}{\pi} \int_{\mathbb{R}} f g`.  Block cost: O(n m).

    Parameters
    ----------
    bandwidth : float, default=1.0
        The largest angular frequency :math:`a > 0`.

    Notes
    -----
    Some notes print the inner product as an integral over :math:`[-a, a]`; the one above is right.

    Examples
    --------
    >>> Sinc(1.0)(3.0, 3.0)
    1.0
    """

    bandwidth: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return m.sinc(m.real(self.bandwidth) * (high - low))

    def _slopes(self, low: np.ndarray, high: np.ndarray, K: np.ndarray) -> Gradient:
        return {"bandwidth": np.cos(self.bandwidth * (high - low)) - K}

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "Bochner", "the spectral density is uniform on [-a, a]", strict=True)

    def _spectral_density(self) -> Uniform:
        return Uniform(np.array([1 / self.bandwidth]))

    bounds = Interval(-0.217234, 1.0)  # the minimum lies at tan(t) = t, t = 4.4934...

    diagonal_bounds = Interval(1.0, 1.0)
