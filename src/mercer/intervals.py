"""Closed intervals of the extended real line, enough arithmetic to bound kernel values.

Certificates need to know where the values of a kernel can lie: ``psi ** a`` asks for
``psi >= 0``, a power series for values inside its radius, ``1 / (c + psi)`` for a positive
denominator.  Bounds are always outer bounds: they may be too wide, never too narrow, so inexact
results are rounded outwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["NONNEGATIVE", "REAL_LINE", "Interval"]


@dataclass(frozen=True)
class Interval:
    """The set of numbers ``low <= t <= high``.

    Examples
    --------
    >>> Interval(0, 1) + Interval(-1, 2)
    Interval(low=-1.0, high=3.0)
    >>> Interval(-2, 1).power(2)
    Interval(low=0.0, high=4.0)
    """

    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        low, high = float(self.low) + 0.0, float(self.high) + 0.0  # + 0.0 turns -0.0 into 0.0
        if not low <= high:
            raise ValueError(f"Interval: `low` must be <= `high`. Got low={self.low!r}, high={self.high!r}.")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def __add__(self, other: Interval) -> Interval:
        return Interval(_add(self.low, other.low, -math.inf), _add(self.high, other.high, math.inf))

    def __mul__(self, other: Interval) -> Interval:
        pairs = [(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        low = min(_multiply(a, b, -math.inf) for a, b in pairs)
        return Interval(low, max(_multiply(a, b, math.inf) for a, b in pairs))

    def scale(self, factor: float) -> Interval:
        """Multiply by a number."""
        return self * Interval(factor, factor)

    def power(self, exponent: int) -> Interval:
        """Values of ``t ** exponent`` for an integer ``exponent >= 0``."""
        if exponent == 0:
            return Interval(1.0, 1.0)
        low = min(_power(self.low, exponent, -math.inf), _power(self.high, exponent, -math.inf))
        if self.low >= 0.0:
            low = max(low, 0.0)  # an underflow was rounded below zero
        high = max(_power(self.low, exponent, math.inf), _power(self.high, exponent, math.inf))
        if exponent % 2 == 0:
            low = 0.0 if self.low <= 0.0 <= self.high else max(low, 0.0)
        return Interval(low, high)

    def increasing(self, function: Callable[[float], float]) -> Interval:
        """Image under an increasing function defined on the interval."""
        return Interval(function(self.low), function(self.high))

    def within(self, low: float, high: float) -> bool:
        """Whether the interval lies in ``[low, high]``."""
        return low <= self.low and self.high <= high

    @property
    def is_nonnegative(self) -> bool:
        """Whether no value is negative."""
        return self.low >= 0.0

    @property
    def is_positive(self) -> bool:
        """Whether every value is positive."""
        return self.low > 0.0


# -- end points, rounded towards `direction` (+inf or -inf) unless they are exact -----------------
def _add(a: float, b: float, direction: float) -> float:
    if math.isinf(a) or math.isinf(b):
        return direction if a == -b else a + b
    return _outward(a + b, Fraction(a) + Fraction(b), direction)


def _multiply(a: float, b: float, direction: float) -> float:
    if a == 0.0 or b == 0.0:
        return 0.0  # also for 0 * inf: the values are finite, only their bound is not
    if math.isinf(a) or math.isinf(b):
        return a * b
    return _outward(a * b, Fraction(a) * Fraction(b), direction)


def _power(base: float, exponent: int, direction: float) -> float:
    if math.isinf(base):
        return base if exponent % 2 else math.inf
    try:
        value = base**exponent
    except OverflowError:
        value = math.inf if base > 0 or exponent % 2 == 0 else -math.inf
    if exponent <= 64:
        return _outward(value, Fraction(base) ** exponent, direction)
    return value if abs(base) in (0.0, 1.0) else math.nextafter(value, direction)


def _outward(value: float, exact: Fraction, direction: float) -> float:
    if math.isinf(value):  # overflow: infinity bounds from its own side, the largest float from the other
        return value if value == direction else math.nextafter(value, direction)
    error = exact - Fraction(value)
    return math.nextafter(value, direction) if error * int(math.copysign(1, direction)) > 0 else value


REAL_LINE = Interval()
NONNEGATIVE = Interval(0.0, math.inf)
