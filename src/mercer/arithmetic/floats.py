"""Machine numbers: the functions of :mod:`math`, saturating to infinity instead of raising on overflow."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import Arithmetic

__all__ = ["FLOAT", "horner"]

#: Where :meth:`Arithmetic.bounded` cuts off: the fourth root of the largest float.
LARGE = float.fromhex("0x1.fffffffffffffp255")


def horner(t: Any, coefficients: Sequence[Any]) -> Any:
    """Polynomial of numbers of any kind, the constant coefficient first."""
    value = coefficients[-1]
    for c in coefficients[-2::-1]:
        value = value * t + c
    return value


class _Float:
    pi, eps = math.pi, sys.float_info.epsilon
    real = staticmethod(float)
    log1p = staticmethod(math.log1p)
    sqrt = staticmethod(math.sqrt)
    tanh = staticmethod(math.tanh)
    maximum = staticmethod(max)
    minimum = staticmethod(min)
    polynomial = staticmethod(horner)

    @staticmethod
    def fsum(terms: Iterable[float]) -> float:
        terms = list(terms)
        try:
            return math.fsum(terms)
        except (OverflowError, ValueError):  # past the largest float, or inf - inf
            return sum(terms)

    @staticmethod
    def power(t: float, exponent: float) -> float:
        try:
            return t if exponent == 1 else t**exponent
        except (OverflowError, ZeroDivisionError):
            return -math.inf if t < 0 and exponent % 2 == 1 else math.inf

    @staticmethod
    def where(condition: bool, s: float, t: float) -> float:
        return s if condition else t

    @staticmethod
    def bounded(t: float) -> float:
        return min(t, LARGE)

    @staticmethod
    def within(t: Any, low: float, high: float, error: Callable[[float], Exception]) -> Any:
        if not low <= t <= high:
            raise error(float(t))
        return t

    @staticmethod
    def nonzero(t: Any, error: Callable[[float], Exception]) -> Any:
        if t == 0:
            raise error(0.0)
        return t

    @staticmethod
    def gamma(t: float) -> float:
        return math.gamma(t) if not t > 171.6 else math.inf

    @staticmethod
    def log(t: float) -> float:
        return math.log(t) if t != 0 else -math.inf

    @staticmethod
    def sin(t: float) -> float:
        return math.sin(t) if math.isfinite(t) else math.nan

    @staticmethod
    def cos(t: float) -> float:
        return math.cos(t) if math.isfinite(t) else math.nan

    @staticmethod
    def sinc(t: float) -> float:
        return FLOAT.sin(t) / t if t != 0 else 1.0

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
    def matern(order: float, t: float) -> float:
        from .matern import matern_float

        return matern_float(order, t)


FLOAT: Arithmetic = _Float()
