"""Kernels of the inner product ``<x, y>``: linear, polynomial, exponential, inverse root.

The one that is not positive definite is in ``sigmoid``, the cosine of the angle in ``cosine``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ..algebra.products import checked, integer_power
from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Property, Status, Witness
from ..domains import Ball, Data, Domain, Vectors
from ..engine import pairwise
from ..engine.program import Builder, Value
from ..errors import InputError
from ..intervals import NONNEGATIVE, REAL_LINE, Interval
from ..kernel import Gradient, Kernel
from ..parameters import parameter
from .inner import checked_value, inner, rows_in_range, squared_norms
from .widths import inner_width

__all__ = ["DotProduct", "ExponentialDot", "InverseRoot", "Linear", "Polynomial"]


class DotProduct(Kernel):
    """Kernels ``f(<x, y>)``.

    Subclasses give :math:`f` as ``_profile`` on fresh arrays of inner products, as ``_define`` on one pair,
    as ``_steps`` for the engine.
    """

    @property
    def domain(self) -> Domain:
        return Vectors()

    def _profile(self, T: np.ndarray) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define _profile")

    def _slopes(self, T: np.ndarray, K: np.ndarray) -> Gradient:
        """Derivatives with respect to the log-scale parameters; ``K`` is the profile of ``T``."""
        return {}

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        return self._profile(pairwise.dot(X, Y))

    def _steps(self, b: Builder, T: Value) -> Value | None:
        return None

    def _compile(self, b: Builder, X: Data, Y: Data | None) -> Value | None:
        return self._steps(b, b.dot(X, Y))

    def _diagonal(self, X: Data) -> np.ndarray:
        return self._profile(squared_norms(X))

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        T = pairwise.dot(X, Y)
        K = self._profile(T.copy())
        return K, self._slopes(T, K)

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        t = squared_norms(X)
        k = self._profile(t.copy())
        return k, self._slopes(t, k)


class Linear(DotProduct):
    r"""Linear kernel on vectors.

    .. math:: k(x, y) = \langle x, y \rangle

    Positive definite on :math:`\mathbb{R}^d`: the feature map is the identity.  Not strictly, for more
    than :math:`d` points are linearly dependent.  Block cost: O(n m d), one matrix product.

    Examples
    --------
    >>> Linear()([1.0, 2.0], [3.0, 4.0])
    11.0
    """

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return inner(x, y, m)

    def _profile(self, T: np.ndarray) -> np.ndarray:
        return T

    def _rescale(self, X: Data) -> Data:
        return rows_in_range(X)

    def _embedding(self, X: Data) -> Any:
        return X

    def _squared_distances(self, X: Data, Y: Data | None) -> np.ndarray:
        return pairwise.squared_distances(X, Y)

    def _compile_distances(self, b: Builder, X: Data, Y: Data | None) -> Value:
        return b.squared_distances(X, Y)

    def _steps(self, b: Builder, T: Value) -> Value:
        return T

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "inner product", "c'Kc = |sum_i c_i x_i|^2 >= 0")


class Polynomial(DotProduct):
    r"""Polynomial kernel on vectors.

    .. math:: k(x, y) = (\langle x, y \rangle / \sigma^2 + c)^d
              = \sum_{s=0}^d \binom{d}{s} c^{d-s} \sigma^{-2s} \langle x, y \rangle^s

    Positive definite for :math:`c \ge 0`, as a polynomial of the linear kernel with nonnegative coefficients.
    Refuted for every :math:`c < 0`: the points :math:`\pm t` keep exactly the terms of one parity of
    :math:`s`, and those with :math:`d - s` odd are negative.  Block cost: O(n m d), one matrix product.

    Parameters
    ----------
    degree : int
        Degree :math:`d`, >= 1.  A value that overflows is an error naming ``degree``.
    offset : float, default=1.0
        The constant :math:`c`.  Larger values give more weight to low degrees (see :meth:`weights`).
    sigma : float or "scale", default=1.0
        Width, > 0; :math:`1 / \sigma^2` is what scikit-learn calls ``gamma``.  ``"scale"`` is
        :math:`\sqrt{d \, \mathrm{var}(X)}` with d the number of features, its ``gamma="scale"``.

    Examples
    --------
    >>> Polynomial(2)([1.0, 2.0], [3.0, -1.0])
    4.0
    >>> Polynomial(2, offset=3.0).weights().tolist()
    [9.0, 6.0, 1.0]
    """

    degree: int = parameter(low=1, integer=True)
    offset: float = parameter(default=1.0, scale="log")
    sigma: Any = parameter(default=1.0, low=0.0, open_low=True, scale="log", rules=("scale",))

    def weights(self) -> np.ndarray:
        r"""Weights :math:`\binom{d}{s} c^{d-s} \sigma^{-2s}` of :math:`\langle x, y\rangle^s`, s = 0..d."""
        self._require_resolved()
        d, c, gamma = self.degree, Fraction(self.offset), 1 / Fraction(self.sigma) ** 2
        weights = np.array([_rounded(math.comb(d, s) * c ** (d - s) * gamma**s) for s in range(d + 1)])
        return checked(weights, self, "degree")

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        s = m.real(self.sigma)
        try:
            product = inner([a / s for a in x], [b / s for b in y], m)
            value = (product + m.real(self.offset)) ** self.degree
        except OverflowError:
            value = math.inf
        return checked_value(value, self, "degree", m)

    def _rescale(self, X: Data) -> Data:
        if self.offset != 0:
            return X
        rows = rows_in_range(X, self.degree)
        return rows if self.sigma == 1 else rows * X.dtype.type(self.sigma)  # the width cancels

    def _prepare(self, X: Data) -> Data:
        return X if self.sigma == 1 else (X / X.dtype.type(self.sigma)).astype(X.dtype, copy=False)

    def _rule(self, name: str, rule: str, X: Data, weight: np.ndarray | None) -> float:
        return inner_width(X, weight)

    def _profile(self, T: np.ndarray) -> np.ndarray:
        T += T.dtype.type(self.offset)
        with np.errstate(over="ignore", invalid="ignore"):
            K = integer_power(T, self.degree)
        return checked(K, self, "degree")

    def _steps(self, b: Builder, T: Value) -> Value:
        return b.finite(b.integer_power(b.shift(T, self.offset), self.degree))

    def _slopes(self, T: np.ndarray, K: np.ndarray) -> Gradient:
        power = integer_power(T + T.dtype.type(self.offset), self.degree - 1)
        return {"offset": self.offset * self.degree * power, "sigma": -2 * T * self.degree * power}

    def _certify(self) -> Certificate:
        if self.offset >= 0:
            return Certificate.psd(
                self,
                "polynomial with nonnegative coefficients",
                "(t + c)^d has the coefficients C(d, s) c^(d - s) >= 0 and t = <x, y>/s^2 is PSD",
            )
        return Certificate.refuted(
            self,
            "negative coefficient",
            "the points t and -t keep the terms with d - s odd, of coefficient C(d, s) c^(d - s) < 0",
            witness=self._witness() if self.is_resolved else None,
        )

    def _witness(self) -> Witness:
        # In units of sigma, both parities of d give 2 ((t^2 - |c|)^d - (t^2 + |c|)^d) < 0 for all t > 0;
        # scaled into (-2, 0).
        size = abs(self.offset)
        t = math.sqrt(max(1.0, size))
        scale = 10.0 ** max(-self.degree / 2 * math.log10(t * t + size), -150.0)
        sign = 1.0 if self.degree % 2 else -1.0
        digits = 50 + max(0, math.ceil(-math.log10(size)))
        point = t * self.sigma
        return Witness.of(self, [(point,), (-point,)], [scale, sign * scale], digits=digits)

    @property
    def bounds(self) -> Interval:
        return NONNEGATIVE if self.degree % 2 == 0 else REAL_LINE

    @property
    def diagonal_bounds(self) -> Interval:
        return Interval(self.offset, math.inf).power(self.degree)


class ExponentialDot(DotProduct):
    r"""Exponential of the inner product.

    .. math:: k(x, y) = \exp(\langle x, y \rangle / \sigma^2)

    Strictly positive definite on :math:`\mathbb{R}^d`: it is the Gaussian kernel times
    :math:`f(x) f(y)` with :math:`f(x) = \exp(\|x\|^2 / 2\sigma^2) > 0`.  Infinitely divisible.
    Block cost: O(n m d), one matrix product.

    Parameters
    ----------
    sigma : float, default=1.0
        Width, > 0.  A value that overflows is an error naming ``sigma``.

    Examples
    --------
    >>> round(ExponentialDot(2.0)([1.0, 1.0], [2.0, 2.0]), 6)
    2.718282
    """

    sigma: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        s = m.real(self.sigma)
        try:
            value = m.exp(inner([a / s for a in x], [b / s for b in y], m))
        except OverflowError:
            value = math.inf
        return checked_value(value, self, "sigma", m)

    def _prepare(self, X: Data) -> Data:
        return (X / X.dtype.type(self.sigma)).astype(X.dtype, copy=False)

    def _profile(self, T: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return checked(np.exp(T, out=T), self, "sigma")

    def _steps(self, b: Builder, T: Value) -> Value:
        return b.finite(b.exp(T))

    def _slopes(self, T: np.ndarray, K: np.ndarray) -> Gradient:
        return {"sigma": -2 * T * K}

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "conformal Gaussian",
            "exp(<x,y>/s^2) = f(x) f(y) exp(-|x-y|^2/2s^2) with f(x) = exp(|x|^2/2s^2) > 0",
            strict=True,
        )

    def _infinitely_divisible(self) -> Claim:
        return Claim(
            Property.NEGATIVE, Status.PROVED, f"-log {self!r}", "negation", "-<x, y>/s^2 is negative definite"
        )

    @property
    def bounds(self) -> Interval:
        return NONNEGATIVE

    @property
    def diagonal_bounds(self) -> Interval:
        return Interval(1.0, math.inf)


class InverseRoot(DotProduct):
    r"""Inverse square root kernel on the open unit ball.

    .. math:: k(x, y) = \frac{1}{\sqrt{1 - \langle x, y \rangle}}
              = \sum_{s \ge 0} \binom{2s}{s} \frac{\langle x, y \rangle^s}{4^s}

    Strictly positive definite on the open unit ball: every coefficient of the series is positive, so that
    :math:`c'Kc = 0` makes :math:`\sum_i c_i p(x_i)` vanish for every polynomial :math:`p`.  Infinitely
    divisible.  Block cost: O(n m d), one matrix product.

    Examples
    --------
    >>> InverseRoot()([0.6, 0.0], [0.0, 0.8])
    1.0
    """

    @property
    def domain(self) -> Domain:
        return Vectors(region=Ball())

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        gap = m.real(1) - inner(x, y, m)
        if not gap > 0:
            raise InputError(_BOUNDARY)
        return 1 / m.sqrt(gap)

    def _profile(self, T: np.ndarray) -> np.ndarray:
        np.subtract(1.0, T, out=T)
        if not (T > 0).all():
            raise InputError(_BOUNDARY)
        np.sqrt(T, out=T)
        np.divide(1.0, T, out=T)
        return T

    def _steps(self, b: Builder, T: Value) -> Value:
        gap = b.shift(b.scale(T, -1.0), 1.0)
        return b.reciprocal(b.sqrt(b.within(gap, math.ulp(0.0), math.inf)))

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "power series",
            "1/sqrt(1 - t) has the coefficients C(2s, s)/4^s and radius 1; since all of them are positive, "
            "no combination of distinct points vanishes on every polynomial",
            strict=True,
            conditions=["points lie in the open unit ball"],
        )

    def _infinitely_divisible(self) -> Claim:
        return Claim(
            Property.NEGATIVE,
            Status.PROVED,
            f"-log {self!r}",
            "power series",
            "log(1 - t)/2 = -sum_s t^s/2s is minus a positive definite kernel",
            conditions=("points lie in the open unit ball",),
        )

    @property
    def bounds(self) -> Interval:
        return Interval(Interval.about(math.sqrt(0.5)).low, math.inf)

    @property
    def diagonal_bounds(self) -> Interval:
        return Interval(1.0, math.inf)


_BOUNDARY = (
    "InverseRoot: points must lie inside the open unit ball. Got an inner product of 1 to rounding. "
    "Rescale the data first."
)


def _rounded(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
