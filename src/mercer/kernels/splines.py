"""Reproducing kernels of Sobolev spaces on an interval: spline kernels of any order."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim
from ..domains import POSITIVE, UNIT_INTERVAL, Box, Domain, Reals, Region
from ..intervals import NONNEGATIVE, Interval
from ..kernel import Kernel
from ..parameters import parameter
from .scalar import Scalar, divisible

__all__ = ["Sobolev1", "Sobolev1HalfLine", "Sobolev2", "Spline", "SplineRemainder"]

#: Orders beyond this one only add terms below the rounding error of the first ones.
MAX_ORDER = 32


class Sobolev1(Scalar):
    r"""Reproducing kernel of a weighted Sobolev space of first order on an interval.

    .. math::
        k(x, y) = \frac{\sinh(\min) \, \bigl[ b \cosh(b - \max) - \sinh(b - \max) \bigr]}
                       {(b \cosh b - \sinh b) \, x y}

    It reproduces the functions on :math:`(0, b]` with the norm
    :math:`\|f\|^2 = \int_0^b (f^2 + f'^2) \, x^2 dx`.  For :math:`b = 1` it is
    :math:`e^{\max} \sinh(\min) / (x y)`.  Strictly positive definite, because the space holds all
    polynomials, and infinitely divisible.  Block cost: O(n m).

    Parameters
    ----------
    length : float, default=1.0
        The length :math:`b > 0` of the interval.

    Notes
    -----
    With :math:`u = x f` the norm becomes :math:`\int_0^b (u^2 + u'^2) dx - u(b)^2 / b` and
    :math:`u(0) = 0`.  So :math:`u(y) = \langle u, G_y \rangle` asks for :math:`-G'' + G = \delta_y`,
    :math:`G(0) = 0` and :math:`G'(b) = G(b) / b`, which the numerator above solves; :math:`k = G / (x y)`.
    Some notes print :math:`e^{-\max} \sinh(\min) / (x y)` (with the indicators swapped) on
    :math:`(0, 1)`; that is :class:`Sobolev1HalfLine`, the limit :math:`b \to \infty`.

    Examples
    --------
    >>> import math
    >>> math.isclose(Sobolev1()(0.5, 1.0), math.exp(1.0) * math.sinh(0.5) / 0.5)
    True
    """

    length: float = parameter(default=1.0, low=0.0, open_low=True)

    @property
    def domain(self) -> Domain:
        return Reals(region=Box(0.0, self.length, open_low=True))

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        end = m.real(self.length)
        rest = end - high
        inner = high * (1 + m.exp(-2 * rest)) / 2 + _defect(rest, m)
        return m.exp(low - high) * (-m.expm1(-2 * low) / (2 * low)) * (inner / (_defect(end, m) * high))

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "reproducing kernel",
            "of |f|^2 = int_0^b (f^2 + f'^2) x^2 dx; the space holds all polynomials: they interpolate",
            strict=True,
            conditions=["0 < x <= b"],
        )

    def _infinitely_divisible(self) -> Claim:
        return _green(self)

    bounds = NONNEGATIVE


class Sobolev1HalfLine(Scalar):
    r"""Reproducing kernel of the weighted Sobolev space of first order on the half line.

    .. math:: k(x, y) = \frac{e^{-\max(x, y)} \sinh(\min(x, y))}{x y}

    It reproduces the functions on :math:`(0, \infty)` with the norm
    :math:`\|f\|^2 = \int_0^\infty (f^2 + f'^2) \, x^2 dx`.  Strictly positive definite and infinitely
    divisible.  The limit of :class:`Sobolev1` for long intervals.  Block cost: O(n m).

    Examples
    --------
    >>> import math
    >>> math.isclose(Sobolev1HalfLine()(1.0, 2.0), math.exp(-2.0) * math.sinh(1.0) / 2.0)
    True
    """

    _region: ClassVar[Region] = POSITIVE

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return m.exp(low - high) * (-m.expm1(-2 * low) / (2 * low)) / high

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "reproducing kernel",
            "of |f|^2 = int_0^inf (f^2 + f'^2) x^2 dx; the space holds all smooth bumps: they interpolate",
            strict=True,
            conditions=["x > 0"],
        )

    def _infinitely_divisible(self) -> Claim:
        return _green(self)

    bounds = NONNEGATIVE


class Spline(Scalar):
    r"""Spline kernel of order m on the unit interval.

    .. math::
        k(x, y) = \sum_{k < m} \frac{x^k y^k}{(k!)^2}
                + \int_0^1 \frac{(x - t)_+^{m-1} (y - t)_+^{m-1}}{((m-1)!)^2} \, dt

    It reproduces the functions on :math:`[0, 1]` with square-integrable :math:`f^{(m)}` and the norm
    :math:`\|f\|^2 = \sum_{k < m} f^{(k)}(0)^2 + \int_0^1 (f^{(m)})^2`.  Strictly positive definite.  It
    penalises polynomials too; :class:`SplineRemainder` is the part for machines that leave them free.
    Block cost: O(n m order).

    Parameters
    ----------
    order : int, default=2
        The order :math:`m`, from 1 to 32.  Order 2 gives cubic splines.

    Examples
    --------
    >>> Spline(order=1)(0.25, 0.5)
    1.25
    """

    order: int = parameter(default=2, low=1, high=MAX_ORDER, integer=True)
    _region: ClassVar[Region] = UNIT_INTERVAL

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return _polynomial(low * high, self.order) + _remainder(low, high, self.order)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "reproducing kernel",
            f"of sum_(k<{self.order}) f^(k)(0)^2 + int_0^1 (f^({self.order}))^2: polynomials interpolate",
            strict=True,
            conditions=["0 <= x <= 1"],
        )

    @property
    def bounds(self) -> Interval:
        one = Fraction(1)
        largest = _polynomial(one, self.order) + _remainder(one, one, self.order)
        return Interval(1.0, Interval.about(largest).high)

    @property
    def diagonal_bounds(self) -> Interval:
        return self.bounds


class Sobolev2(Scalar):
    r"""Reproducing kernel of the Sobolev space of second order on the unit interval.

    .. math:: k(x, y) = 1 + x y + \tfrac{1}{2} \max \min{}^2 - \tfrac{1}{6} \min{}^3

    Its norm is :math:`\|f\|^2 = f(0)^2 + f'(0)^2 + \int_0^1 (f'')^2`; it equals ``Spline(order=2)``.
    Strictly positive definite on :math:`[0, 1]`.  Block cost: O(n m).

    Notes
    -----
    Ridge regression with it is not a smoothing spline, which leaves :math:`f(0)` and :math:`f'(0)`
    unpenalised: see :class:`SplineRemainder`.

    Examples
    --------
    >>> from fractions import Fraction
    >>> Fraction(Sobolev2()(0.5, 1.0)).limit_denominator(100)
    Fraction(77, 48)
    """

    _region: ClassVar[Region] = UNIT_INTERVAL

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return 1 + low * high + low * low * (3 * high - low) / 6

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "reproducing kernel",
            "of f(0)^2 + f'(0)^2 + int_0^1 (f'')^2; the space holds all polynomials: they interpolate",
            strict=True,
            conditions=["0 <= x <= 1"],
        )

    @property
    def bounds(self) -> Interval:
        return Interval(1.0, Interval.about(7 / 3).high)

    @property
    def diagonal_bounds(self) -> Interval:
        return self.bounds


class SplineRemainder(Scalar):
    r"""The penalised part of the spline kernel of order m.

    .. math:: k(x, y) = \int_0^1 \frac{(x - t)_+^{m-1} (y - t)_+^{m-1}}{((m-1)!)^2} \, dt

    It reproduces the functions on :math:`[0, 1]` with
    :math:`f(0) = \dots = f^{(m-1)}(0) = 0` and the norm :math:`\int_0^1 (f^{(m)})^2`; together with free
    polynomials of degree below :math:`m` it makes smoothing splines.  Positive definite on :math:`[0, 1]`,
    strictly on :math:`(0, 1]`, but :math:`k(0, y) = 0`.  Block cost: O(n m order).

    Parameters
    ----------
    order : int, default=2
        The order :math:`m`, from 1 to 32.  Order 1 is :math:`\min(x, y)`.

    Examples
    --------
    >>> SplineRemainder(order=1)(0.25, 0.5)
    0.25
    """

    order: int = parameter(default=2, low=1, high=MAX_ORDER, integer=True)
    _region: ClassVar[Region] = UNIT_INTERVAL

    @property
    def null_space_degree(self) -> int:
        """Largest degree of the polynomials that the norm does not see."""
        return self.order - 1

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return _remainder(low, high, self.order)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "explicit features",
            "the inner product in L2(0, 1) of t -> (x - t)_+^(m-1) / (m-1)!; singular only with the point 0",
            conditions=["0 <= x <= 1"],
        )

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, Interval.about(_remainder(Fraction(1), Fraction(1), self.order)).high)

    @property
    def diagonal_bounds(self) -> Interval:
        return self.bounds


# -- helpers ----------------------------------------------------------------------------------
def _polynomial(product: Any, order: int) -> Any:
    """``sum_(k<order) product^k / (k!)^2`` by Horner's rule; exact on fractions."""
    total: Any = 1
    for k in range(order - 1, 0, -1):
        total = 1 + total * product / (k * k)
    return total


def _remainder(low: Any, high: Any, order: int) -> Any:
    """``int_0^low (low - t)^(m-1) (high - t)^(m-1) dt / ((m-1)!)^2`` for ``low <= high``; exact on fractions.

    With d = high - low the integral is ``sum_j C(m-1, j) d^(m-1-j) low^(m+j) / (m+j)``: nothing cancels.
    """
    n = order - 1
    gap = high - low
    total: Any = 0
    for j in range(n + 1):
        total = total + math.comb(n, j) * gap ** (n - j) * low ** (order + j) / (order + j)
    return total / math.factorial(n) ** 2


def _defect(t: Any, m: Arithmetic) -> Any:
    """``exp(-t) (t cosh t - sinh t)``, below 1 by its series: there the difference would cancel."""
    series = [m.real(0)]
    while len(series) < 2 or series[-1] > m.eps:
        series.append(m.real(2 * len(series)) / math.factorial(2 * len(series) + 1))
    small, q = m.minimum(t, m.real(1)), m.exp(-2 * t)
    return m.where(t < 1, m.exp(-t) * t * m.polynomial(small * small, series), (t * (1 + q) - (1 - q)) / 2)


def _green(kernel: Kernel) -> Claim:
    return divisible(
        kernel,
        "intersection of intervals",
        "k = h(x) h(y) min(g(x), g(y)) with h > 0 and g > 0 increasing, and so is every power of it",
    )
