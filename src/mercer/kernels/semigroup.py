"""Kernels of the sum of two numbers.

The bounded continuous functions of ``x + y`` on the half line that are positive definite are the Laplace
transforms of positive measures (Bernstein).  ``compositions`` has functions of your own, on any semigroup.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Witness
from ..domains import NONNEGATIVE, POSITIVE, Domain, Reals, Region
from ..intervals import NONNEGATIVE as NONNEGATIVE_VALUES
from ..intervals import Interval
from ..parameters import parameter
from .scalar import Scalar, divisible

__all__ = ["ExponentialSum", "InverseSum", "LogSum"]


class InverseSum(Scalar):
    r"""Inverse of the sum of two positive numbers.

    .. math:: k(x, y) = \frac{1}{x + y} = \int_0^\infty e^{-t x} e^{-t y} \, dt

    Strictly positive definite on :math:`(0, \infty)` (its Gram matrices are Cauchy's, Hilbert's among
    them) and infinitely divisible.  Block cost: O(n m).

    Examples
    --------
    >>> InverseSum()(1.0, 3.0)
    0.25
    """

    _region: ClassVar[Region] = POSITIVE

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return 1 / (low + high)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "Bernstein",
            "1/(x + y) is the integral of exp(-tx) exp(-ty) over t > 0; exponentials are independent",
            strict=True,
            conditions=["x > 0"],
        )

    def _infinitely_divisible(self) -> Claim:
        return divisible(self, "Levy-Khinchin", "-log k = log(x + y) is negative definite")

    bounds = NONNEGATIVE_VALUES


class LogSum(Scalar):
    r"""Logarithm of the sum of two positive numbers.

    .. math:: \psi(x, y) = \log(x + y) = \int_0^\infty \frac{e^{-t} - e^{-t x} e^{-t y}}{t} \, dt

    Negative definite on :math:`(0, \infty)`: constants minus positive definite kernels.  Not positive
    definite, for :math:`\psi(x, x) < 0` when :math:`x < 1/2`.  Block cost: O(n m).

    Examples
    --------
    >>> LogSum()(0.5, 0.5)
    0.0
    """

    _region: ClassVar[Region] = POSITIVE

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return m.log(low + high)

    def _certify(self) -> Certificate:
        negative = Certificate.nds(
            self,
            "Levy-Khinchin",
            "log(x + y) is the integral of (exp(-t) - exp(-tx) exp(-ty)) / t over t > 0",
            conditions=["x > 0"],
            separating=True,
        ).negative
        return Certificate.refuted(
            self,
            "negative diagonal",
            "k(x, x) = log 2x < 0 for x < 1/2",
            witness=Witness.of(self, [0.25], [1.0]),
            negative=negative,
        )


class ExponentialSum(Scalar):
    r"""Exponential of a power of the sum of two nonnegative numbers.

    .. math:: k(x, y) = \exp(-(x + y)^p)

    Strictly positive definite on :math:`[0, \infty)` for :math:`0 < p < 1` (the Laplace transform of a
    positive stable density); for :math:`p = 1` the rank-one kernel :math:`e^{-x} e^{-y}`; for
    :math:`p = 0` a constant.  Refuted for :math:`p > 1` and, on :math:`(0, \infty)`, for :math:`p < 0`:
    there :math:`s^p` is strictly convex, so that :math:`k(x, y)^2 > k(x, x) \, k(y, y)` for
    :math:`x \ne y`.  Block cost: O(n m).

    Parameters
    ----------
    p : float, default=0.5
        Exponent, any number.

    Examples
    --------
    >>> [str(ExponentialSum(p).certificate.verdict) for p in (0.5, 1.0, 2.0, -1.0)]
    ['STRICT', 'PSD', 'REFUTED', 'REFUTED']
    """

    p: float = parameter(default=0.5)

    @property
    def domain(self) -> Domain:
        return Reals(region=NONNEGATIVE if self.p > 0 else POSITIVE)

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return m.exp(-m.power(low + high, self.p))

    def _certify(self) -> Certificate:
        if self.p == 0:
            constant = Certificate.nds(self, "constant", "k(x, y) = exp(-1)")
            return Certificate(
                Certificate.psd(self, "constant", "k(x, y) = exp(-1) >= 0").positive, constant.negative
            )
        if self.p == 1:
            return Certificate.psd(
                self, "explicit features", "exp(-x - y) = exp(-x) exp(-y): one feature", conditions=["x >= 0"]
            )
        if 0 < self.p < 1:
            return Certificate.psd(
                self,
                "Bernstein",
                "exp(-s^p) is the Laplace transform of a stable density; exponentials are independent",
                strict=True,
                conditions=["x >= 0"],
            )
        return Certificate.refuted(
            self,
            "Cauchy-Schwarz",
            "s^p is strictly convex, so that k(x, y)^2 > k(x, x) k(y, y) for x != y",
            witness=self._witness(),
        )

    def _witness(self) -> Witness:
        if self.p > 1:
            # the Schur complement e^-1 - exp(-2^(1-p)) of K = [[1, h], [h, 1/e]], h = exp(-2^-p)
            return Witness.of(self, [0.0, 0.5], [-math.exp(-(0.5**self.p)), 1.0])
        # exp(-s^p) is strictly concave on [1, inf): (f(1) + f(4)) / 2 < f(5/2).  The gap shrinks like |p|.
        digits = 50 + max(0, math.ceil(-math.log10(-self.p)))
        return Witness.of(self, [0.5, 2.0], [1.0, -1.0], digits=digits)

    def _infinitely_divisible(self) -> Claim | None:
        if not 0 <= self.p <= 1:
            return None
        return divisible(self, "Bernstein function", "-log k = (x + y)^p, 0 <= p <= 1, is negative definite")

    bounds = Interval(0.0, 1.0)
