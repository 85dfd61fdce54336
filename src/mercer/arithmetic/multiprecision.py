"""Numbers with any number of digits, by mpmath."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .floats import FLOAT, horner

if TYPE_CHECKING:
    from . import Arithmetic

__all__ = ["multiprecision"]


class _Multiprecision:
    """The functions of one mpmath context."""

    def __init__(self, digits: int) -> None:
        from mpmath import MPContext

        self._context = MPContext()
        self._context.dps = digits

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    @property
    def pi(self) -> Any:
        return +self._context.pi

    def real(self, value: Any) -> Any:
        return self._context.mpf(value)

    def power(self, t: Any, exponent: float) -> Any:
        return t ** (exponent if isinstance(exponent, int) else self.real(exponent))

    def polynomial(self, t: Any, coefficients: Sequence[Any]) -> Any:
        return horner(t, coefficients)

    def maximum(self, s: Any, t: Any) -> Any:
        return max(self.real(s), self.real(t))

    def minimum(self, s: Any, t: Any) -> Any:
        return min(self.real(s), self.real(t))

    def where(self, condition: bool, s: Any, t: Any) -> Any:
        return s if condition else t

    def bounded(self, t: Any) -> Any:
        return t

    within = staticmethod(FLOAT.within)
    nonzero = staticmethod(FLOAT.nonzero)

    def acos(self, t: Any) -> Any:
        return self._context.acos(self.minimum(1, self.maximum(-1, t)))

    def asin(self, t: Any) -> Any:
        return self._context.asin(self.minimum(1, self.maximum(-1, t)))

    def matern(self, order: float, t: Any) -> Any:
        """By the definition; orders below two and the stable recursion, for mpmath fails at large orders."""
        if t == 0:
            return self.real(1)
        nu = self.real(order)
        k = nu - int(order)
        lower, upper = self.besselk(k, t), self.besselk(k + 1, t)
        for _ in range(int(order)):
            k = k + 1
            lower, upper = upper, lower + 2 * k / t * upper
        return 2 ** (1 - nu) / self.gamma(nu) * t**nu * lower


def multiprecision(digits: int = 50) -> Arithmetic:
    """Arithmetic with the given number of decimal digits."""
    return _context(digits, threading.get_ident())


@lru_cache(maxsize=16)
def _context(digits: int, thread: int) -> _Multiprecision:
    """One context per thread: it takes milliseconds to make, and changes its precision inside functions."""
    return _Multiprecision(digits)
