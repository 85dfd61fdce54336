"""Two sets of numbers for one definition: machine floats, and mpmath with any number of digits.

The one-pair definition of a kernel is written once, against an :class:`Arithmetic`.  With
:data:`FLOAT` it is what ``k(x, y)`` computes; with :func:`multiprecision` the same lines give the
value to fifty digits, which is how a refuting witness is told from rounding.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Protocol

__all__ = ["FLOAT", "Arithmetic", "multiprecision"]

Number = Any  # float, or mpmath.mpf


class Arithmetic(Protocol):
    """Elementary functions on one kind of number."""

    @property
    def pi(self) -> Number: ...
    def real(self, value: Any) -> Number: ...
    def fsum(self, terms: Iterable[Number]) -> Number: ...
    def exp(self, t: Number) -> Number: ...
    def expm1(self, t: Number) -> Number: ...
    def log(self, t: Number) -> Number: ...
    def log1p(self, t: Number) -> Number: ...
    def sqrt(self, t: Number) -> Number: ...
    def sin(self, t: Number) -> Number: ...
    def cos(self, t: Number) -> Number: ...
    def acos(self, t: Number) -> Number: ...
    def asin(self, t: Number) -> Number: ...
    def sinh(self, t: Number) -> Number: ...
    def cosh(self, t: Number) -> Number: ...
    def tanh(self, t: Number) -> Number: ...
    def erf(self, t: Number) -> Number: ...
    def gamma(self, t: Number) -> Number: ...
    def besselk(self, order: float, t: Number) -> Number: ...


class _Float:
    """The functions of :mod:`math`, saturating to infinity instead of raising on overflow."""

    pi = math.pi
    real = staticmethod(float)
    log = staticmethod(math.log)
    log1p = staticmethod(math.log1p)
    sqrt = staticmethod(math.sqrt)
    tanh = staticmethod(math.tanh)
    erf = staticmethod(math.erf)

    @staticmethod
    def fsum(terms: Iterable[float]) -> float:
        terms = list(terms)
        try:
            return math.fsum(terms)
        except (OverflowError, ValueError):  # past the largest float, or inf - inf
            return sum(terms)

    @staticmethod
    def gamma(t: float) -> float:
        return math.gamma(t) if not t > 171.6 else math.inf

    @staticmethod
    def sin(t: float) -> float:
        return math.sin(t) if math.isfinite(t) else math.nan

    @staticmethod
    def cos(t: float) -> float:
        return math.cos(t) if math.isfinite(t) else math.nan

    @staticmethod
    def acos(t: float) -> float:
        return math.acos(min(1.0, max(-1.0, t)))

    @staticmethod
    def asin(t: float) -> float:
        return math.asin(min(1.0, max(-1.0, t)))

    @staticmethod
    def exp(t: float) -> float:
        return math.inf if t > 709.78 else math.exp(t)  # this way round NaN stays NaN

    @staticmethod
    def expm1(t: float) -> float:
        return math.inf if t > 709.78 else math.expm1(t)

    @staticmethod
    def sinh(t: float) -> float:
        return math.copysign(math.inf, t) if abs(t) > 710.4 else math.sinh(t)

    @staticmethod
    def cosh(t: float) -> float:
        return math.inf if abs(t) > 710.4 else math.cosh(t)

    @staticmethod
    def besselk(order: float, t: float) -> float:
        from scipy.special import kv

        return float(kv(order, t))


class _Multiprecision:
    """The functions of one mpmath context."""

    def __init__(self, digits: int) -> None:
        from mpmath import MPContext

        self._context = MPContext()
        self._context.dps = digits

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    @property
    def pi(self) -> Number:
        return +self._context.pi

    def real(self, value: Any) -> Number:
        return self._context.mpf(value)

    def acos(self, t: Number) -> Number:
        one = self._context.mpf(1)
        return self._context.acos(min(one, max(-one, t)))

    def asin(self, t: Number) -> Number:
        one = self._context.mpf(1)
        return self._context.asin(min(one, max(-one, t)))


FLOAT: Arithmetic = _Float()


def multiprecision(digits: int = 50) -> Arithmetic:
    """Arithmetic with the given number of decimal digits."""
    return _context(digits, threading.get_ident())


@lru_cache(maxsize=16)
def _context(digits: int, thread: int) -> _Multiprecision:
    """One context per thread: it takes milliseconds to make, and changes its precision inside functions."""
    return _Multiprecision(digits)
