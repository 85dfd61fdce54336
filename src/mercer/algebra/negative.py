"""The negative definite calculus: distances, powers, logarithms, metrics.

``psi`` stands for a negative definite kernel; ``schoenberg`` has the ways back to positive definite ones.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim
from ..domains import Data, size, take
from ..engine.program import Builder, Value
from ..errors import InputError
from ..intervals import NONNEGATIVE, ZERO, Interval
from ..kernel import Gradient, Kernel, Prepared
from ..parameters import parameter
from .nodes import Node, Unary, prefixed, wrap

__all__ = ["Distance", "Log1p", "RealPower", "Sqrt"]


class Distance(Node):
    r"""Squared distance in feature space: ``k.distance()``.

    .. math:: \psi(x, y) = k(x, x) - 2 k(x, y) + k(y, y) = \|\Phi(x) - \Phi(y)\|^2

    Negative definite if ``k`` is positive definite.  The distance itself is ``k.distance().sqrt()``, and
    the Gaussian of it ``k.gaussian(sigma)``.
    """

    base: Kernel

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        k = self.base._define
        return k(x, x, m) - 2 * k(x, y, m) + k(y, y, m)

    def _prepare(self, X: Data) -> Prepared:
        part = self.base._prepare(X)
        return Prepared((part,), (self.base._diagonal(part),))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        direct = self.base._squared_distances(X.parts[0], None if Y is None else Y.parts[0])
        if direct is not None:
            return direct
        rows, columns = X.arrays[0], (X if Y is None else Y).arrays[0]
        return self._clean((rows[:, None] + columns) - 2 * self._blocks(X, Y)[0], Y is None)

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value | None:
        if self.base._squared_distances(take(X.parts[0], slice(0, 0)), None) is not None:
            return self.base._compile_distances(b, X.parts[0], None if Y is None else Y.parts[0])
        columns = None if Y is None else Y.arrays[0]
        D = b.outer_add(next(self._compiled(b, X, Y)), -2.0, X.arrays[0], columns)
        D = b.diagonal(D, b.derived(X.arrays[0], ("zeros",), np.zeros_like))
        return b.clip(D, 0.0, math.inf) if self.base.certificate.is_psd else D

    def _clean(self, D: np.ndarray, symmetric: bool) -> np.ndarray:
        """Zero the diagonal, and what rounding alone made negative."""
        if symmetric:
            np.fill_diagonal(D, 0.0)
        if self.base.certificate.is_psd:
            np.maximum(D, 0.0, out=D)
        return D

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return np.zeros(len(X))

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        [(name, K, inner)] = self._gradients(X, Y)
        d, left = self.base._diagonal_gradient(X.parts[0])
        e, right = (d, left) if Y is None else self.base._diagonal_gradient(Y.parts[0])
        gradient = {key: left[key][:, None] + right[key][None, :] - 2 * g for key, g in inner.items()}
        return self._clean((d[:, None] + e) - 2 * K, Y is None), prefixed(name, gradient)

    def _certify(self) -> Certificate:
        premise = self.base._conditional()
        if not premise.proves_order(1):
            return Certificate.unknown(self, "the base is not known to be positive definite", [premise])
        strict = self.base.certificate.positive.strict
        return Certificate.nds(
            self,
            "squared distance",
            "|Phi(x) - Phi(y)|^2 in the feature space of the kernel",
            premises=[premise],
            separating=premise.strict,
            zero_diagonal=strict,
        )

    @property
    def bounds(self) -> Interval:
        return NONNEGATIVE if self.base.certificate.is_psd else Interval()

    @property
    def diagonal_bounds(self) -> Interval:
        return ZERO

    def __repr__(self) -> str:
        return f"{wrap(self.base)}.distance()"


class RealPower(Unary):
    r"""A real power of a nonnegative kernel: ``psi ** a``.

    .. math:: (x, y) \mapsto \psi(x, y)^a

    Negative definite for :math:`0 < a \le 1` if :math:`\psi` is negative definite with
    :math:`\psi(x, x) \ge 0`.  Positive definite for every :math:`a > 0` if the kernel is infinitely
    divisible, and strictly, if the kernel is.  Negative values are an error.

    A nonnegative kernel is infinitely divisible if for each n there is a positive definite :math:`k_n` with
    :math:`k = k_n^n` (Cuturi (2009), section 2.4, prints :math:`k_n^{1/n}`).
    """

    base: Kernel
    exponent: float = parameter(low=0.0, open_low=True)
    _infix: ClassVar[bool] = True

    _overflow: ClassVar[str | None] = "exponent"

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return m.power(m.within(t, 0.0, math.inf, self._negative), self.exponent)

    def _normal_form(self) -> Kernel:
        return RealPower(self.base.normalized(), self.exponent)

    def _negative(self, value: float) -> InputError:
        return InputError(f"{self!r} needs values >= 0 for a fractional power. Got {value:.6g}.")

    def _derivative(self, K: np.ndarray, F: np.ndarray) -> np.ndarray:
        slope = np.zeros_like(F)  # at psi = 0 a parameter that keeps psi = 0 does not move the power
        np.divide(self.exponent * F, K, out=slope, where=K != 0)
        return slope

    def _certify(self) -> Certificate:
        negative = self.base.certificate.negative
        divisible = self.base._infinitely_divisible()
        if divisible is not None:
            # Strict: k(x, y)^2 < k(x, x) k(y, y), so that -log k tells distinct points apart, and a Gaussian
            # in a Hilbert space is strict on distinct points.  Where k = 0 the Gram matrix falls into blocks.
            positive = self.base.certificate.positive
            return Certificate.psd(
                self,
                "infinite divisibility",
                "-log k is negative definite, so k^t is PD, and strict if k is",
                strict=divisible.strict or positive.strict,
                premises=[divisible, positive] if positive.strict else [divisible],
            )
        if negative.proved and self.exponent <= 1 and self.base.diagonal_bounds.is_nonnegative:
            return Certificate.nds(
                self,
                "fractional power",
                "psi^a, 0 < a <= 1, of a negative definite psi with psi(x, x) >= 0",
                premises=[negative],
                separating=negative.strict,
                zero_diagonal=self.base.certificate.positive.refuted and self.base.diagonal_bounds == ZERO,
            )
        return Certificate.unknown(self, "no rule for this power", [negative])

    def _infinitely_divisible(self) -> Claim | None:
        return self.base._infinitely_divisible()

    @property
    def bounds(self) -> Interval:
        return self.base.bounds.real_power(self.exponent)

    @property
    def diagonal_bounds(self) -> Interval:
        return self.base.diagonal_bounds.real_power(self.exponent)

    def __repr__(self) -> str:
        return f"{wrap(self.base)} ** {self.exponent!r}"


class Log1p(Unary):
    r"""Logarithm of a negative definite kernel: ``psi.log1p()``.

    .. math:: (x, y) \mapsto \log(1 + \psi(x, y))

    Negative definite if :math:`\psi` is, with :math:`\psi(x, x) > -1`: for negative definite :math:`u` with
    :math:`u(x, x) > 0`, :math:`\log u = \int_0^\infty (e^{-s} - e^{-s u}) ds / s`.  The logarithm of
    :math:`c + \psi` for any :math:`c > 0` is ``(psi + (c - 1)).log1p()``.
    """

    base: Kernel

    _overflow: ClassVar[str | None] = None

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return m.log1p(m.within(t, math.nextafter(-1.0, 0.0), math.inf, self._low))

    def _low(self, value: float) -> InputError:
        return InputError(f"{self!r} needs values > -1. Got {value:.6g}.")

    def _derivative(self, K: np.ndarray, F: np.ndarray) -> np.ndarray:
        return 1.0 / (1.0 + K)

    def _certify(self) -> Certificate:
        negative = self.base.certificate.negative
        if negative.proved and self.base.diagonal_bounds.low > -1:
            return Certificate.nds(
                self,
                "logarithm",
                "log(1 + psi) of a negative definite psi with psi(x, x) > -1",
                premises=[negative],
                separating=negative.strict,
                zero_diagonal=self.base.certificate.positive.refuted and self.base.diagonal_bounds == ZERO,
            )
        return Certificate.unknown(self, "needs a negative definite kernel with psi(x, x) > -1", [negative])

    @property
    def bounds(self) -> Interval:
        return self.base.bounds.log1p()

    @property
    def diagonal_bounds(self) -> Interval:
        return self.base.diagonal_bounds.log1p()

    def __repr__(self) -> str:
        return f"{wrap(self.base)}.log1p()"


class Sqrt(Node):
    r"""The metric of a negative definite kernel: ``psi.sqrt()``.

    .. math:: d(x, y) = \sqrt{\psi(x, y) - \tfrac12(\psi(x, x) + \psi(y, y))}

    which is :math:`\sqrt\psi` where :math:`\psi` vanishes on the diagonal.  A (pseudo-)metric and itself
    negative definite if :math:`\psi` is negative definite; a metric if :math:`d = 0` only for equal points.
    """

    base: Kernel

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        psi = self.base._define
        square = psi(x, y, m) - (psi(x, x, m) + psi(y, y, m)) / 2
        if square < 0:
            if not self.base.certificate.is_nds:
                raise self._negative(float(square))
            square = m.real(0)
        return m.sqrt(square)

    def _prepare(self, X: Data) -> Prepared:
        part = self.base._prepare(X)
        return Prepared((part,), (self.base._diagonal(part),))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        rows, columns = X.arrays[0], (X if Y is None else Y).arrays[0]
        D = self._blocks(X, Y)[0] - 0.5 * (rows[:, None] + columns)
        if Y is None:
            np.fill_diagonal(D, 0.0)
        if not self.base.certificate.is_nds and D.size and D.min() < 0:
            raise self._negative(float(D.min()))
        return np.asarray(np.sqrt(np.maximum(D, 0.0)))

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value:
        half = [-0.5 * P.arrays[0] for P in (X, Y) if P is not None]
        D = b.outer_add(next(self._compiled(b, X, Y)), 1.0, half[0], None if Y is None else half[1])
        D = b.diagonal(D, b.derived(X.arrays[0], ("zeros",), np.zeros_like))
        if not self.base.certificate.is_nds:
            D = b.within(D, 0.0, math.inf)
        return b.sqrt(b.clip(D, 0.0, math.inf))

    def _negative(self, value: float) -> InputError:
        return InputError(
            f"{self!r}: psi(x, y) - (psi(x, x) + psi(y, y)) / 2 must be >= 0. Got {value:.6g}; "
            "psi is not negative definite."
        )

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return np.zeros(size(X))

    def _certify(self) -> Certificate:
        negative = self.base.certificate.negative
        if not negative.proved:
            return Certificate.unknown(self, "the base is not known to be negative definite", [negative])
        return Certificate.nds(
            self,
            "metric",
            "psi - (psi(x,x) + psi(y,y))/2 is a squared distance, and its square root is negative definite",
            premises=[negative],
            separating=negative.strict,
            zero_diagonal=self.base.certificate.positive.refuted and self.base.diagonal_bounds == ZERO,
        )

    @property
    def bounds(self) -> Interval:
        return NONNEGATIVE

    @property
    def diagonal_bounds(self) -> Interval:
        return ZERO

    def __repr__(self) -> str:
        return f"{wrap(self.base)}.sqrt()"
