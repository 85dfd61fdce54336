r"""Increasing functions of the norm.

==================  ======================================================
``Power(p)``        :math:`t^p / p`
``Ball(radius)``    zero up to the radius, infinite beyond
``UserPenalty``     your own, by its values and derivatives
``NoPenalty``       zero, for losses that depend on the norm themselves
==================  ======================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

from ...errors import ParameterError, brief

__all__ = ["Ball", "NoPenalty", "Penalty", "Power", "UserPenalty", "require_finite"]


class Penalty(Protocol):
    """An increasing function of the norm."""

    def value(self, t: float) -> float:
        """g(t)."""

    def slope(self, t: float) -> float:
        """g'(t)."""

    def in_units(self, unit: float) -> tuple[float, Penalty]:
        """The logarithm of a factor and a penalty h: g(unit t) is the factor times h(t)."""


@dataclass(frozen=True)
class Power:
    """The function t^p / p, for p >= 1."""

    p: float

    def value(self, t: float) -> float:
        """g(t); infinite where it overflows."""
        return _power(t, self.p) / self.p

    def slope(self, t: float) -> float:
        """g'(t)."""
        return _power(t, self.p - 1.0)

    def in_units(self, unit: float) -> tuple[float, Penalty]:
        """Powers are homogeneous."""
        return self.p * math.log(unit), self


def _power(t: float, p: float) -> float:
    try:
        return math.pow(t, p)
    except OverflowError:
        return math.inf


@dataclass(frozen=True)
class NoPenalty:
    """The function zero, for losses that depend on the norm themselves."""

    def value(self, t: float) -> float:
        """Zero."""
        return 0.0

    def slope(self, t: float) -> float:
        """Zero."""
        return 0.0

    def in_units(self, unit: float) -> tuple[float, Penalty]:
        """Zero in all units."""
        return 0.0, self


@dataclass(frozen=True)
class Ball:
    r"""The constraint :math:`\|f\| \le r`: zero up to the radius, infinite beyond; ``alpha`` does not matter.

    Parameters
    ----------
    radius : float
        The largest norm allowed, > 0.

    Examples
    --------
    >>> Ball(2.0).value(2.0), Ball(2.0).value(2.5)
    (0.0, inf)
    """

    radius: float

    def __post_init__(self) -> None:
        if not (isinstance(self.radius, Real) and 0 < self.radius < math.inf):
            raise ParameterError(
                f"Ball: `radius` must be a positive finite number. Got {self.radius!r}. It is the largest "
                "norm of the function; without a bound, take another penalty."
            )

    def value(self, t: float) -> float:
        """0 or infinity."""
        return 0.0 if t <= self.radius else math.inf

    def slope(self, t: float) -> float:
        """0 or infinity."""
        return self.value(t)

    def in_units(self, unit: float) -> tuple[float, Penalty]:
        """The ball in this unit, no larger by rounding."""
        radius = self.radius / unit
        return 0.0, Ball(radius if radius * unit <= self.radius else math.nextafter(radius, 0.0))


@dataclass(frozen=True)
class UserPenalty:
    """A function that returns g(t) and g'(t)."""

    function: Callable[[float], Any]
    unit: float = 1.0

    def value(self, t: float) -> float:
        """g(t)."""
        return self._answer(t)[0]

    def slope(self, t: float) -> float:
        """g'(t)."""
        return self._answer(t)[1]

    def _answer(self, t: float) -> tuple[float, float]:
        try:
            answer = self.function(self.unit * t)
        except OverflowError:
            answer = math.inf, math.inf
        try:
            value, slope = map(float, answer)
        except (TypeError, ValueError):
            raise ParameterError(
                "RepresenterMachine: `penalty` must return two numbers, value and derivative at a norm. "
                f"It returned {brief(answer)}."
            ) from None
        if math.isnan(value) or not slope >= 0:
            raise ParameterError(
                "RepresenterMachine: `penalty` must return the value and the derivative of a function that "
                f"does not decrease. At the norm {self.unit * t:.6g} it returned {value} and {slope}."
            )
        return value, self.unit * slope

    def in_units(self, unit: float) -> tuple[float, Penalty]:
        """The function of ``unit t``."""
        return 0.0, UserPenalty(self.function, self.unit * unit)


def require_finite(value: float, norm: float) -> None:
    """Raise where the penalty is infinite at the smallest norm that the loss allows."""
    if math.isinf(value):
        raise ParameterError(
            "RepresenterMachine: `penalty` is infinite for every function that the loss allows; their least "
            f"norm is {norm:.6g}. Allow larger norms, or take another loss."
        )
