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

    No finite number of values of a function says what the next ones are.  So a function comes with numbers r
    and M such that :math:`\sum_n |a_n| r^n \le M`, and is summed until what is left of it,

    .. math:: \Bigl|\sum_{n \ge N} a_n t^n\Bigr| \le M \left(\frac{|t|}{r}\right)^N ,

    is lost in the rounding of the terms before.  Where no :math:`a_n` is negative, M is the sum at r.

    Parameters
    ----------
    base : Kernel
    coefficients : str or callable
        One of ``"exp"``, ``"geometric"`` (1/(1-t)), ``"log"`` (-log(1-t)), ``"inverse_sqrt"``
        ((1-t)^(-1/2)), ``"cosh"``, ``"sinh"``, ``"arcsin"``; or a function ``n -> a_n``.  (For finitely many
        coefficients use ``polynomial``.)
    radius : float, optional
        Radius of convergence of a function; by default the r of ``tail``.
    version : str, optional
        Your word on which code a function has; see :meth:`~mercer.Kernel.digest`.
    tail : (float, float), optional
        The numbers r and M; required with a function.  All values of k must be below r, half of which takes
        some 60 terms.

    Examples
    --------
    >>> import math
    >>> from mercer.kernels import Linear
    >>> def every_other(n):
    ...     return 0.0 if n % 2 else 1 / math.factorial(n)
    >>> k = Linear().power_series(every_other, tail=(4.0, math.cosh(4.0)))
    >>> math.isclose(k([1.0], [2.0]), math.cosh(2.0))
    True
    """

    base: Kernel
    coefficients: str | Callable[[int], float]
    radius: float = 0.0
    version: str | None = None
    tail: tuple[float, float] | None = None

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
        else:
            self._check_tail()

    def _check_tail(self) -> None:
        got = () if self.tail is None else tuple(map(float, self.tail))
        if len(got) != 2 or not all(0 < number < math.inf for number in got):
            raise ParameterError(
                "power_series: `tail` must be two positive numbers (r, M) with sum_n |a_n| r^n <= M, without "
                "which nothing bounds the terms that are left out of the sum of a function. "
                f"Got {self.tail!r}. Take r about twice as large as the largest value of the kernel."
            )
        object.__setattr__(self, "tail", got)
        object.__setattr__(self, "radius", self.radius or got[0])
        if not self.radius >= got[0]:
            raise ParameterError(
                f"power_series: `radius` must be > 0, and at least the r of `tail`, {got[0]:g}. "
                f"Got {self.radius!r}."
            )

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
        inside = math.nextafter(self.radius if self.tail is None else self.tail[0], 0.0)
        t = m.within(t, -inside, inside, self._outside)
        if isinstance(self.coefficients, str):
            return SERIES[self.coefficients].formula(t, m)
        assert self.tail is not None
        reach, most = self.tail
        t = t * np.float64(1)  # more exponents than single precision has
        total, size, power, rest = t * 0, t * 0, t * 0 + 1, t * 0 + most
        for n in range(self.MAX_TERMS):
            if np.any(size > most * (1 + 1e-9)):
                raise ParameterError(
                    "power_series: `tail` must be (r, M) with sum_n |a_n| r^n <= M. Got "
                    f"{self.tail!r}, where some terms add up to {float(np.max(size)):.6g} within r."
                )
            if np.all(rest <= size * (m.eps / 4) + np.finfo(np.float64).tiny):
                return total
            a = m.real(self.coefficients(n))
            term = power * a if a else 0 * t  # a power that has overflowed by now
            total, size = total + term, size + abs(term)
            power, rest = power * t, rest * (abs(t) / reach)
            if not np.all(size < math.inf):
                return total
        raise InputError(
            f"power_series: {self.MAX_TERMS} terms are not enough at the value {float(np.max(abs(t))):.6g}: "
            "it is close to the r of `tail`. Give a larger r, or scale the kernel."
        )

    def _derivative(self, K: np.ndarray, F: np.ndarray) -> np.ndarray | None:
        return SERIES[self.coefficients].derivative(K) if isinstance(self.coefficients, str) else None

    def _outside(self, value: float) -> InputError:
        if self.tail is not None and abs(value) < self.radius:
            return InputError(
                f"power_series: every value of {self.base!r} must be below the r of `tail`, "
                f"{self.tail[0]:g}. Got {abs(value):.6g}. Give an r about twice as large, with its M."
            )
        return InputError(
            f"power_series: every value of {self.base!r} must lie inside the radius of convergence "
            f"{self.radius:g}. Got {abs(value):.6g}. Scale the kernel, or normalise it and scale."
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
        options = f"radius={self.radius!r}, tail={self.tail!r}{show_version(self)}"
        return f"{wrap(self.base)}.power_series({show(self.coefficients)}, {options})"
