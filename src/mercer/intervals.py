"""Closed intervals of the extended real line, enough arithmetic to bound kernel values.

Certificates need to know where the values of a kernel can lie: ``psi ** a`` asks for
``psi >= 0``, a power series for values inside its radius, ``1 / (c + psi)`` for a positive
denominator.  Bounds are always outer bounds: they may be too wide, never too narrow, so every result
that is not exact is rounded outwards.  Rounding never changes a sign for the worse: what is known to be
nonnegative stays so, and 0 is never widened.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["NONNEGATIVE", "REAL_LINE", "ZERO", "Interval"]


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

    def exp(self) -> Interval:
        """Values of ``exp(t)``."""
        return Interval(max(_exp(self.low, -math.inf), 0.0), _exp(self.high, math.inf))

    def log1p(self) -> Interval:
        """Values of ``log(1 + t)``, where they exist: all, if the interval reaches down to -1."""
        return Interval(_log1p(self.low, -math.inf), _log1p(self.high, math.inf))

    def real_power(self, exponent: float) -> Interval:
        """Values of ``t ** exponent`` for ``exponent > 0`` on the nonnegative part."""
        part = self.nonnegative_part()
        low = _real_power(part.low, exponent, -math.inf)
        return Interval(max(low, 0.0), _real_power(part.high, exponent, math.inf))

    def reciprocal(self) -> Interval:
        """Values of ``1 / t`` for positive ``t``; the whole line if not all of them are."""
        if not self.is_positive:
            return REAL_LINE
        return Interval(_reciprocal(self.high, -math.inf), _reciprocal(self.low, math.inf))

    def nonnegative_part(self) -> Interval:
        """Values of ``max(t, 0)``."""
        return Interval(max(self.low, 0.0), max(self.high, 0.0))

    @classmethod
    def about(cls, value: float | Fraction) -> Interval:
        """Bounds of a number whose float, to within one unit in the last place, is ``value``; 0 is exact."""
        end = float(value)
        return cls(_step(end, -math.inf), _step(end, math.inf)) if value else cls(0.0, 0.0)

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
    return value if abs(base) in (0.0, 1.0) else _step(value, direction)


def _exp(t: float, direction: float) -> float:
    if t == 0.0 or math.isinf(t):
        return math.exp(t)
    try:
        return _step(math.exp(t), direction)
    except OverflowError:
        return _step(math.inf, direction)


def _log1p(t: float, direction: float) -> float:
    if t <= -1.0:
        return -math.inf
    if t == 0.0 or math.isinf(t):
        return t
    value = _step(math.log1p(t), direction)
    return max(value, 0.0) if t > 0.0 else min(value, 0.0)


def _real_power(t: float, exponent: float, direction: float) -> float:
    if t in (0.0, 1.0, math.inf):
        return t
    try:
        return _step(t**exponent, direction)
    except OverflowError:
        return _step(math.inf, direction)


def _reciprocal(t: float, direction: float) -> float:
    if math.isinf(t):
        return 0.0
    return _outward(1.0 / t, 1 / Fraction(t), direction)


def _step(value: float, direction: float) -> float:
    """Two units in the last place outwards: exp, log1p and pow of C libraries are within one."""
    return math.nextafter(math.nextafter(value, direction), direction)


def _outward(value: float, exact: Fraction, direction: float) -> float:
    if math.isinf(value):  # overflow: infinity bounds from its own side, the largest float from the other
        return value if value == direction else math.nextafter(value, direction)
    error = exact - Fraction(value)
    return math.nextafter(value, direction) if error * int(math.copysign(1, direction)) > 0 else value


REAL_LINE = Interval()
NONNEGATIVE = Interval(0.0, math.inf)
ZERO = Interval(0.0, 0.0)
