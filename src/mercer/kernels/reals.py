"""Kernels on real numbers from intersections of intervals.

A number ``x >= 0`` stands for the interval ``[0, x]``; the measure of the intersection of two such
intervals is a kernel, because it is the inner product of their indicator functions.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim
from ..domains import NONNEGATIVE, POSITIVE, UNIT_INTERVAL, Box, Domain, Reals, Region
from ..intervals import NONNEGATIVE as NONNEGATIVE_VALUES
from ..intervals import Interval
from ..kernel import Gradient, Kernel
from ..parameters import parameter
from .scalar import Scalar, divisible

__all__ = [
    "BrownianBridge",
    "CapMinusMax",
    "InverseMax",
    "MaxRatio",
    "Min",
    "MinOverMax",
]


class Min(Scalar):
    r"""Minimum of two nonnegative numbers: the covariance of Brownian motion.

    .. math:: k(x, y) = \min(x, y)

    Positive definite on :math:`[0, \infty)`: it is the length of :math:`[0, x] \cap [0, y]`.  Strictly on
    :math:`(0, \infty)`, but :math:`k(0, y) = 0`.  Infinitely divisible, for
    :math:`\min(x, y)^t = \min(x^t, y^t)`.  Its distance is
    :math:`|x - y|`.  Block cost: O(n m).

    Examples
    --------
    >>> Min()(2.0, 3.0)
    2.0
    """

    _region: ClassVar[Region] = NONNEGATIVE

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return low

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "intersection of intervals",
            "the length of the intersection of [0, x] and [0, y]; singular only with the point 0",
            conditions=["x >= 0"],
        )

    def _infinitely_divisible(self) -> Claim:
        return divisible(self, "intersection of intervals", "min(x, y)^t = min(x^t, y^t) for every t > 0")

    bounds = NONNEGATIVE_VALUES


class InverseMax(Scalar):
    r"""Inverse power of the larger of two positive numbers.

    .. math:: k(x, y) = \max(x, y)^{-p} = \min(x^{-p}, y^{-p})

    Strictly positive definite on :math:`(0, \infty)`: the length of :math:`[0, x^{-p}] \cap [0, y^{-p}]`.
    Infinitely divisible.  Block cost: O(n m).

    Parameters
    ----------
    p : float, default=1.0
        Exponent, > 0.

    Examples
    --------
    >>> InverseMax(2.0)(1.0, 4.0)
    0.0625
    """

    p: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")
    _region: ClassVar[Region] = POSITIVE

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return m.power(high, -self.p)

    def _slopes(self, low: np.ndarray, high: np.ndarray, K: np.ndarray) -> Gradient:
        return {"p": -self.p * np.log(high) * K}

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "intersection of intervals",
            "the length of the intersection of [0, x^-p] and [0, y^-p]; distinct intervals are independent",
            strict=True,
            conditions=["x > 0"],
        )

    def _infinitely_divisible(self) -> Claim:
        return divisible(self, "intersection of intervals", "k^t is the kernel with exponent p t")

    bounds = NONNEGATIVE_VALUES


class MaxRatio(Scalar):
    r"""Normalised form of :class:`InverseMax`.

    .. math:: k(x, y) = \frac{(x y)^{p/2}}{\max(x, y)^p} = \left(\frac{\min(x, y)}{\max(x, y)}\right)^{p/2}

    Strictly positive definite on :math:`(0, \infty)`, where it is
    :math:`\exp(-\tfrac{p}{2} |\log x - \log y|)`.  Infinitely divisible.  With :math:`p = 1` it is also
    the normalised form of :class:`Min`.  Block cost: O(n m).

    Parameters
    ----------
    p : float, default=1.0
        Exponent, > 0.

    Examples
    --------
    >>> MaxRatio()(1.0, 4.0)
    0.5
    """

    p: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")
    _region: ClassVar[Region] = POSITIVE

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        # the roots keep the quotient of very different numbers from underflowing
        return m.power(m.sqrt(low) / m.sqrt(high), self.p)

    def _slopes(self, low: np.ndarray, high: np.ndarray, K: np.ndarray) -> Gradient:
        return {"p": -self.p / 2 * (np.log(high) - np.log(low)) * K}

    def _certify(self) -> Certificate:
        return _exponential_of_logarithms(self)

    def _infinitely_divisible(self) -> Claim:
        return divisible(self, "distance on the line", "-log k = (p/2) |log x - log y| is negative definite")

    bounds = Interval(0.0, 1.0)

    diagonal_bounds = Interval(1.0, 1.0)


class MinOverMax(Scalar):
    r"""Ratio of the smaller to the larger of two positive numbers.

    .. math:: k(x, y) = \frac{\min(x, y)}{\max(x, y)}

    Strictly positive definite on :math:`(0, \infty)`: the area of the intersection of the rectangles
    :math:`[0, x] \times [0, 1/x]` and :math:`[0, y] \times [0, 1/y]`, and
    :math:`\exp(-|\log x - \log y|)`.  Infinitely divisible.  Block cost: O(n m).

    Examples
    --------
    >>> MinOverMax()(1.0, 4.0)
    0.25
    """

    _region: ClassVar[Region] = POSITIVE

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return low / high

    def _certify(self) -> Certificate:
        return _exponential_of_logarithms(self)

    def _infinitely_divisible(self) -> Claim:
        return divisible(self, "distance on the line", "-log k = |log x - log y| is negative definite")

    bounds = Interval(0.0, 1.0)

    diagonal_bounds = Interval(1.0, 1.0)


class CapMinusMax(Scalar):
    r"""Distance of the larger of two numbers from an upper bound.

    .. math:: k(x, y) = C - \max(x, y)

    Positive definite on :math:`(-\infty, C]`: the length of :math:`[x, C] \cap [y, C]`.  Strictly below
    :math:`C`, but :math:`k(C, y) = 0`.  Infinitely divisible.  Block cost: O(n m).

    Parameters
    ----------
    cap : float
        The upper bound :math:`C` of the data.

    Examples
    --------
    >>> CapMinusMax(10.0)(2.0, 7.0)
    3.0
    """

    cap: float = parameter()

    @property
    def domain(self) -> Domain:
        return Reals(region=Box(high=self.cap))

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return m.real(self.cap) - high

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "intersection of intervals",
            "the length of the intersection of [x, C] and [y, C]; singular only with the point C",
            conditions=["x <= C"],
        )

    def _infinitely_divisible(self) -> Claim:
        return divisible(self, "intersection of intervals", "k^t = min((C - x)^t, (C - y)^t) for every t > 0")

    bounds = NONNEGATIVE_VALUES


class BrownianBridge(Scalar):
    r"""Covariance of the Brownian bridge.

    .. math:: k(x, y) = \min(x, y) - x y = \min(x, y) \, (1 - \max(x, y))

    Positive definite on :math:`[0, 1]`: what remains of :math:`\min(x, y)`, the inner product of the
    indicators of :math:`[0, x]` and :math:`[0, y]`, when their means are taken off.  Strictly on
    :math:`(0, 1)`, but zero at both ends.  Infinitely divisible.  Block cost: O(n m).

    Examples
    --------
    >>> BrownianBridge()(0.25, 0.5)
    0.125
    """

    _region: ClassVar[Region] = UNIT_INTERVAL

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return low * (1 - high)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "covariance",
            "of the indicators of [0, x] and [0, y] under the uniform measure; singular only with 0 or 1",
            conditions=["0 <= x <= 1"],
        )

    def _infinitely_divisible(self) -> Claim:
        return divisible(
            self, "intersection of intervals", "k = (1-x)(1-y) min(g(x), g(y)) with g(x) = x/(1-x) increasing"
        )

    bounds = Interval(0.0, 0.25)

    @property
    def diagonal_bounds(self) -> Interval:
        return self.bounds


# -- helpers ----------------------------------------------------------------------------------
def _exponential_of_logarithms(kernel: Kernel) -> Certificate:
    return Certificate.psd(
        kernel,
        "Bochner",
        "a power of exp(-|u - v|) at u = log x, v = log y, whose spectral density is Cauchy's",
        strict=True,
        conditions=["x > 0"],
    )
