"""Kernels of the inner product ``<x, y>``: linear, polynomial, exponential, inverse root.

The one that is not positive definite is in ``sigmoid``, the cosine of the angle in ``cosine``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse

from .. import memory
from ..algebra.simple import SimpleKernel, checked
from ..arithmetic import Arithmetic, integer_power
from ..certificate import Certificate, Claim, Property, Status, Witness
from ..domains import Ball, Data, Domain, Vectors
from ..engine import pairwise
from ..engine.program import Builder, Value
from ..errors import GradientError, InputError
from ..intervals import NONNEGATIVE, REAL_LINE, Interval
from ..kernel import Gradient
from ..parameters import parameter
from .inner import inner, rows_in_range, squared_norms
from .monomials import count_polynomial_features, polynomial_features
from .widths import inner_width

__all__ = ["DotProduct", "ExponentialDot", "InverseRoot", "Linear", "Polynomial"]


class DotProduct(SimpleKernel):
    """Kernels ``f(<x, y>)`` of the inner product of two vectors.

    Subclasses write ``formula(self, t, m)`` against an :class:`~mercer.arithmetic.Arithmetic` ``m``.  With
    tunable parameters they add ``_slopes``.
    """

    @property
    def domain(self) -> Domain:
        return Vectors()

    def _pair(self, x: Any, y: Any, m: Arithmetic) -> tuple[Any]:
        return (inner(x, y, m),)

    def _pairs(self, X: Data, Y: Data | None) -> tuple[np.ndarray]:
        return (pairwise.dot(X, Y),)

    def _steps(self, b: Builder, X: Data, Y: Data | None) -> tuple[Value]:
        return (b.dot(X, Y),)

    def _diagonal(self, X: Data) -> np.ndarray:
        return self._checked(self._evaluate(squared_norms(X)))

    def _slopes(self, T: np.ndarray, K: np.ndarray) -> Gradient:
        """Derivatives of the values ``K`` at ``T`` with respect to the log-scale parameters."""
        if self.parameters:
            raise GradientError(f"{self!r} has no closed-form gradient; use finite differences of block.")
        return {}

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        return self._with_slopes(*self._pairs(X, Y))

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        return self._with_slopes(squared_norms(X))

    def _with_slopes(self, T: np.ndarray) -> tuple[np.ndarray, Gradient]:
        K = self._checked(self._evaluate(T))
        return K, self._slopes(T, K)


class ScaledDotProduct(DotProduct):
    """The same of vectors divided by a width ``sigma``."""

    if TYPE_CHECKING:  # a field of each subclass

        @property
        def sigma(self) -> Any: ...

    def _pair(self, x: Any, y: Any, m: Arithmetic) -> tuple[Any]:
        s = m.real(self.sigma)
        return super()._pair([a / s for a in x], [b / s for b in y], m)

    def _prepare(self, X: Data) -> Data:
        return X if self.sigma == 1 else (X / X.dtype.type(self.sigma)).astype(X.dtype, copy=False)


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

    _overflow: ClassVar[str | None] = None

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return t

    def _rescale(self, X: Data) -> Data:
        return rows_in_range(X)

    def _embedding(self, X: Data, like: Data | None = None) -> Any:
        return X

    def _squared_distances(self, X: Data, Y: Data | None) -> np.ndarray:
        return pairwise.squared_distances(X, Y)

    def _compile_distances(self, b: Builder, X: Data, Y: Data | None) -> Value:
        return b.squared_distances(X, Y)

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "inner product", "c'Kc = |sum_i c_i x_i|^2 >= 0")

    def _conditional_rule(self, sign: int) -> Claim:
        return _annihilated(self, 1) if sign < 0 else super()._conditional_rule(sign)


class Polynomial(ScaledDotProduct):
    r"""Polynomial kernel on vectors.

    .. math:: k(x, y) = (\langle x, y \rangle / \sigma^2 + c)^d
              = \sum_{s=0}^d \binom{d}{s} c^{d-s} \sigma^{-2s} \langle x, y \rangle^s

    Positive definite for :math:`c \ge 0`, as a polynomial of the linear kernel with nonnegative coefficients.
    Refuted for every :math:`c < 0`: the points :math:`\pm t` keep exactly the terms of one parity of
    :math:`s`, and those with :math:`d - s` odd are negative.  Block cost: O(n m d), one matrix product.
    Machines train on its monomials where there are few, up to 320 for a degree up to 10: those of degree 2 in
    23 numbers, of degree 3 in 10.

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
    _overflow: ClassVar[str | None] = "degree"

    def weights(self) -> np.ndarray:
        r"""Weights :math:`\binom{d}{s} c^{d-s} \sigma^{-2s}` of :math:`\langle x, y\rangle^s`, s = 0..d."""
        self._require_resolved()
        d, c, gamma = self.degree, Fraction(self.offset), 1 / Fraction(self.sigma) ** 2
        weights = np.array([_rounded(math.comb(d, s) * c ** (d - s) * gamma**s) for s in range(d + 1)])
        return checked(weights, self, "degree")

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return m.power(t + m.real(self.offset), self.degree)

    def _rescale(self, X: Data) -> Data:
        if self.offset != 0:
            return X
        rows = rows_in_range(X, self.degree)
        return rows if self.sigma == 1 else rows * X.dtype.type(self.sigma)  # the width cancels

    def _embedding(self, X: Data, like: Data | None = None) -> Any:
        if self.offset < 0 or self.degree > 10:
            return None
        count = count_polynomial_features(self, X.shape[1])
        # No more than the interior point method of support vector machines takes.
        if count > 320 or (like is None and not memory.can_hold(8 * count * X.shape[0])):
            return None
        rows = X.toarray() if scipy.sparse.issparse(X) else X
        with np.errstate(over="ignore", invalid="ignore"):  # products that overflow take the values
            return polynomial_features(rows.astype(np.float64), self.replace(sigma=1.0))

    def _rule(self, name: str, rule: str, X: Data, weight: np.ndarray | None) -> float:
        return inner_width(X, weight)

    def _slopes(self, T: np.ndarray, K: np.ndarray) -> Gradient:
        power = integer_power(T + T.dtype.type(self.offset), self.degree - 1)
        return {"offset": self.offset * self.degree * power, "sigma": -2 * T * self.degree * power}

    def _conditional_rule(self, sign: int) -> Claim:
        return _annihilated(self, self.degree) if sign < 0 else super()._conditional_rule(sign)

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


class ExponentialDot(ScaledDotProduct):
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
    _overflow: ClassVar[str | None] = "sigma"

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return m.exp(t)

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

    bounds = NONNEGATIVE

    diagonal_bounds = Interval(1.0, math.inf)


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

    _overflow: ClassVar[str | None] = None

    @property
    def domain(self) -> Domain:
        return Vectors(region=Ball())

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return 1 / m.sqrt(m.within(1 - t, math.ulp(0.0), math.inf, _at_the_boundary))

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

    diagonal_bounds = Interval(1.0, math.inf)


def _at_the_boundary(gap: float) -> InputError:
    return InputError(
        "InverseRoot: points must lie inside the open unit ball. Got an inner product of 1 to rounding. "
        "Rescale the data first."
    )


def _annihilated(kernel: DotProduct, degree: int) -> Claim:
    """Minus a kernel that is a polynomial in x: coefficients that annihilate polynomials annihilate it."""
    reason = f"c'Kc = 0, for k(x, y) is a polynomial of degree {degree} in x"
    return Claim(Property.CONDITIONAL, Status.PROVED, f"-{kernel!r}", "polynomial", reason, order=degree + 1)


def _rounded(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
