"""Power series of a kernel: ``exp``, polynomials, and series with a radius of convergence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Property
from ..errors import InputError, ParameterError
from ..intervals import Interval
from ..kernel import Kernel
from ..parameters import parameter, show
from .nodes import Unary, claim, show_version, wrap
from .ring import Constant, Scaled, Sum, opposite

__all__ = ["SERIES", "Exp", "PolynomialOf", "PowerSeries"]


class Exp(Unary):
    r"""Exponential of a kernel: ``k.exp()``.

    .. math:: (x, y) \mapsto \exp k(x, y)

    Positive definite whenever ``k`` is (its power series has nonnegative coefficients), and more
    generally whenever ``-k`` is negative definite (Schoenberg), so that ``(-t * psi).exp()`` is certified.
    """

    base: Kernel

    _overflow: ClassVar[str | None] = "base"

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return m.exp(t)

    def _derivative(self, K: np.ndarray, F: np.ndarray) -> np.ndarray:
        return F

    def _certify(self) -> Certificate:
        positive = self.base.certificate.positive
        if positive.proved:
            return Certificate.psd(
                self,
                "power series",
                "exp has nonnegative coefficients and converges everywhere",
                strict=positive.strict,
                premises=[positive],
            )
        conditional = self.base._conditional()
        if conditional.proves_order(1):
            return Certificate.psd(
                self,
                "Schoenberg",
                "exp(-psi) is positive definite for negative definite psi",
                strict=conditional.strict,
                premises=[conditional],
            )
        return Certificate.unknown(self, "nothing is known about the exponent", [positive])

    def _infinitely_divisible(self) -> Claim | None:
        conditional = self.base._conditional()
        if not conditional.proves_order(1):
            return None
        return claim(
            Property.NEGATIVE,
            self,
            "exponent",
            "-log exp(k) = -k is negative definite",
            [conditional],
            of="-log ",
        )

    @property
    def bounds(self) -> Interval:
        return self.base.bounds.exp()

    @property
    def diagonal_bounds(self) -> Interval:
        return self.base.diagonal_bounds.exp()

    def __repr__(self) -> str:
        return f"{wrap(self.base)}.exp()"


class PolynomialOf(Unary):
    r"""Polynomial of a kernel: ``k.polynomial([a0, a1, ...])``.

    .. math:: (x, y) \mapsto \sum_s a_s k(x, y)^s

    Positive definite if ``k`` is and every :math:`a_s \ge 0`.

    Parameters
    ----------
    base : Kernel
    coefficients : sequence of float
        ``a0, a1, ...``, constant term first.
    """

    base: Kernel
    coefficients: np.ndarray = parameter(ndim=(1,))

    def _validate(self) -> None:
        if len(self.coefficients) == 0:
            raise ParameterError("polynomial: `coefficients` must not be empty.")

    _overflow: ClassVar[str | None] = "coefficients"

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return m.polynomial(t, [m.real(a) for a in self.coefficients.tolist()])

    def _derivative(self, K: np.ndarray, F: np.ndarray) -> np.ndarray:
        slopes = self.coefficients[1:] * np.arange(1, len(self.coefficients))
        return _horner(slopes, K) if len(slopes) else np.zeros_like(K)

    def _certify(self) -> Certificate:
        positive = self.base.certificate.positive
        if positive.proved and (self.coefficients >= 0).all():
            strict = positive.strict and bool((self.coefficients[1:] > 0).any())
            return Certificate.psd(
                self,
                "polynomial",
                "a polynomial with nonnegative coefficients",
                strict=strict,
                premises=[positive],
            )
        why = "needs a positive definite kernel and nonnegative coefficients"
        return self._as_simpler() or Certificate.unknown(self, why, [positive])

    def _simpler(self) -> tuple[Kernel, str] | None:
        a = np.trim_zeros(self.coefficients, "b")
        if len(a) <= 2:
            terms = [Constant(float(a[0]))] if len(a) else [Constant(0.0)]
            terms += [Scaled(self.base, float(a[1]))] if len(a) == 2 else []  # type: ignore[list-item]
            return Sum.of(*terms), "an affine function"
        signs = (-1.0) ** np.arange(len(a))
        if self.base.certificate.is_psd or (a * signs < 0).any():
            return None
        turned = opposite(self.base)
        found = PolynomialOf(turned, a * signs)
        return (found, "a polynomial in -k") if turned.certificate.is_psd else None

    @property
    def bounds(self) -> Interval:
        total = Interval(0.0, 0.0)
        for s, a in enumerate(self.coefficients.tolist()):
            total = total + self.base.bounds.power(s).scale(a)
        return total

    def __repr__(self) -> str:
        return f"{wrap(self.base)}.polynomial({show(self.coefficients)})"


def _horner(coefficients: np.ndarray, K: np.ndarray) -> np.ndarray:
    F = np.full_like(K, coefficients[-1])
    for a in coefficients[-2::-1].tolist():
        F = F * K + a
    return F


@dataclass(frozen=True)
class Series:
    """A named power series: coefficients, radius, and closed forms."""

    coefficient: Callable[[int], float]
    radius: float
    formula: Callable[[Any, Arithmetic], Any]
    derivative: Callable[[np.ndarray], np.ndarray]


def _central(n: int) -> float:
    """Coefficient of t^n in (1 - t)^(-1/2)."""
    return math.comb(2 * n, n) / 4.0**n


#: Power series that ``power_series`` knows by name.
SERIES: dict[str, Series] = {
    "exp": Series(
        lambda n: 1.0 / math.factorial(n) if n < 171 else 0.0,
        math.inf,
        lambda t, m: m.exp(t),
        np.exp,
    ),
    "geometric": Series(
        lambda n: 1.0,
        1.0,
        lambda t, m: 1 / (1 - t),
        lambda t: (1 - t) ** -2.0,
    ),
    "log": Series(
        lambda n: 0.0 if n == 0 else 1.0 / n,
        1.0,
        lambda t, m: -m.log1p(-t),
        lambda t: 1 / (1 - t),
    ),
    "inverse_sqrt": Series(
        _central,
        1.0,
        lambda t, m: 1 / m.sqrt(1 - t),
        lambda t: 0.5 * (1 - t) ** -1.5,
    ),
    "cosh": Series(
        lambda n: 0.0 if n % 2 or n >= 171 else 1.0 / math.factorial(n),
        math.inf,
        lambda t, m: m.cosh(t),
        np.sinh,
    ),
    "sinh": Series(
        lambda n: 0.0 if n % 2 == 0 or n >= 171 else 1.0 / math.factorial(n),
        math.inf,
        lambda t, m: m.sinh(t),
        np.cosh,
    ),
    "arcsin": Series(
        lambda n: 0.0 if n % 2 == 0 else _central((n - 1) // 2) / n,
        1.0,
        lambda t, m: m.asin(t),
        lambda t: (1 - t * t) ** -0.5,
    ),
}


class PowerSeries(Unary):
    r"""Power series of a kernel: ``k.power_series(a, radius)``.

    .. math:: (x, y) \mapsto \sum_{n \ge 0} a_n k(x, y)^n

    Positive definite if ``k`` is, every :math:`a_n \ge 0`, and every value lies inside the radius of
    convergence; the radius is checked on the actual values of every block.

    Parameters
    ----------
    base : Kernel
    coefficients : str or callable
        One of ``"exp"``, ``"geometric"`` (1/(1-t)), ``"log"`` (-log(1-t)), ``"inverse_sqrt"``
        ((1-t)^(-1/2)), ``"cosh"``, ``"sinh"``, ``"arcsin"``; or a function ``n -> a_n``, summed until the
        terms no longer matter.  (For finitely many coefficients use ``polynomial``.)
    radius : float, optional
        Radius of convergence; required with a function.
    version : str, optional
        Your word on which code a function has; see :meth:`~mercer.Kernel.digest`.
    """

    base: Kernel
    coefficients: str | Callable[[int], float]
    radius: float = 0.0
    version: str | None = None

    MAX_TERMS = 100_000

    def __post_init__(self) -> None:
        if isinstance(self.coefficients, str):
            if self.coefficients not in SERIES:
                raise ParameterError(
                    f"power_series: `coefficients` must be a function or one of {', '.join(SERIES)}. "
                    f"Got {self.coefficients!r}."
                )
            object.__setattr__(self, "radius", SERIES[self.coefficients].radius)
        elif not callable(self.coefficients):
            raise ParameterError(
                "power_series: `coefficients` must be a name or a function n -> a_n; "
                "for a finite list use .polynomial(coefficients)."
            )
        elif not self.radius > 0:
            raise ParameterError(f"power_series: `radius` must be > 0. Got {self.radius!r}.")

    @property
    def is_precise(self) -> bool:
        return isinstance(self.coefficients, str) and self.base.is_precise  # a function gives floats

    @property
    def coefficient(self) -> Callable[[int], float]:
        """The function ``n -> a_n``."""
        return (
            SERIES[self.coefficients].coefficient if isinstance(self.coefficients, str) else self.coefficients
        )

    _overflow: ClassVar[str | None] = "coefficients"

    def formula(self, t: Any, m: Arithmetic) -> Any:
        inside = math.nextafter(self.radius, 0.0)
        t = m.within(t, -inside, inside, self._outside)
        if isinstance(self.coefficients, str):
            return SERIES[self.coefficients].formula(t, m)
        total, power, small = t * 0, t * 0 + 1, 0
        for n in range(self.MAX_TERMS):
            term = power * m.real(self.coefficients(n))
            total = total + term
            small = small + 1 if np.all(abs(term) <= abs(total) * 1e-18) else 0
            if small >= 4:  # several in a row, because a series may skip powers
                return total
            power = power * t
        raise self._slow(float(np.max(abs(t))))

    def _derivative(self, K: np.ndarray, F: np.ndarray) -> np.ndarray | None:
        return SERIES[self.coefficients].derivative(K) if isinstance(self.coefficients, str) else None

    def _outside(self, value: float) -> InputError:
        return InputError(
            f"power_series: every value of {self.base!r} must lie inside the radius of convergence "
            f"{self.radius:g}. Got {abs(value):.6g}. Scale the kernel, or normalise it and scale."
        )

    def _slow(self, value: float) -> InputError:
        return InputError(
            f"power_series: {self.MAX_TERMS} terms do not converge to the value {value:.6g}; "
            f"is the radius {self.radius:g} right?"
        )

    def _certify(self) -> Certificate:
        positive = self.base.certificate.positive
        if not positive.proved:
            why = "the base is not known to be positive definite"
            return self._as_simpler() or Certificate.unknown(self, why, [positive])
        if callable(self.coefficients):
            return Certificate.unknown(
                self,
                "the signs of all coefficients of a function cannot be checked: assert with .assume",
                [positive],
            )
        inside = self.base.bounds.within(-self.radius, self.radius) and math.isinf(self.radius)
        return Certificate.psd(
            self,
            "power series",
            "nonnegative coefficients, that of some power n >= 1 positive",
            strict=positive.strict,  # k^n is strict if k is
            premises=[positive],
            conditions=[] if inside else [f"|k(x, y)| < {self.radius:g} (checked on every block)"],
        )

    def _simpler(self) -> tuple[Kernel, str] | None:
        if self.coefficients != "cosh" or self.base.certificate.is_psd:
            return None
        turned = opposite(self.base)
        return (PowerSeries(turned, "cosh"), "cosh is even") if turned.certificate.is_psd else None

    def __repr__(self) -> str:
        if isinstance(self.coefficients, str):
            return f"{wrap(self.base)}.power_series({self.coefficients!r})"
        options = f"radius={self.radius!r}{show_version(self)}"
        return f"{wrap(self.base)}.power_series({show(self.coefficients)}, {options})"
