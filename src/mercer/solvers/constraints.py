r"""Losses that are infinite outside an interval: constraints on the predictions.

The domain of a convex loss of one prediction is an interval :math:`[l_i, h_i]`, a point if both ends are
equal and the whole line if both are infinite.

====================  ==================================================  =======================
``HardMargin()``      :math:`y f \ge 1`, y = -1, 1                        zero within the domain
``Interpolation()``   :math:`f = y`                                       zero within the domain
``Interval()``        :math:`l \le f \le h`, the two columns of y         zero within the domain
``Constrained``       a smooth loss, or one of your own, on a domain      that loss
``JointLoss``         a function of all predictions and of the norm       your own
====================  ==================================================  =======================

The conjugate of a constraint is the support function of its domain, :math:`\ell^*(s) = \max(l s, h s)`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, ParameterError
from .losses import Array, Loss, SmoothLoss

__all__ = ["Constrained", "Constraint", "HardMargin", "Interpolation", "Interval", "JointLoss", "domain_of"]

Vector: TypeAlias = NDArray[np.float64]


class Constraint(Loss):
    """A loss that is zero on an interval and infinite outside."""

    @abstractmethod
    def domain(self, y: Array) -> tuple[Vector, Vector]:
        """Least and largest prediction allowed, each of shape (n,)."""

    def value(self, y: Array, f: Array) -> Array:
        """Zero within the domain, infinite outside."""
        low, high = self.domain(y)
        return np.where((low <= f[:, 0]) & (f[:, 0] <= high), 0.0, np.inf)

    def conjugate(self, y: Array, s: Array) -> Array:
        """The support function of the domain; infinite where the domain has no end on that side."""
        low, high = self.domain(y)
        return -least_over(low, high, -s[:, 0])


@dataclass(frozen=True)
class HardMargin(Constraint):
    r"""Margins of one or more, :math:`y f \ge 1`: the hinge loss at an infinite price."""

    of_margins: ClassVar[bool] = True

    def domain(self, y: Array) -> tuple[Vector, Vector]:
        sign = y[:, 0]
        return np.where(sign > 0, 1.0, -np.inf), np.where(sign > 0, np.inf, -1.0)


@dataclass(frozen=True)
class Interpolation(Constraint):
    """Predictions equal to the targets: of all such functions, the one of least norm."""

    def domain(self, y: Array) -> tuple[Vector, Vector]:
        return y[:, 0], y[:, 0]


@dataclass(frozen=True)
class Interval(Constraint):
    """Predictions between the two columns of ``y``; an end may be infinite, and both may be equal."""

    def domain(self, y: Array) -> tuple[Vector, Vector]:
        return y[:, 0], y[:, 1]


@dataclass(frozen=True)
class JointLoss:
    r"""A function :math:`\Psi(f(x_1), \dots, f(x_n), \|f\|)` of all predictions and of the norm.

    Parameters
    ----------
    function : callable
        ``function(y, f, norm)`` returns the value, the gradient in ``f`` and the derivative in ``norm`` (a
        subgradient where there are several).  It must be convex in ``(f, norm)`` and must not decrease in
        ``norm``; then it is a convex function of the coefficients.  A negative derivative is refused where
        one is met; convexity is taken for granted.
    """

    function: Callable[..., Any]


@dataclass(frozen=True)
class Constrained:
    r"""A loss with constraints on the predictions, :math:`l_i \le f(x_i) + b \le h_i`.

    Parameters
    ----------
    loss : str, SmoothLoss or callable
        The loss within the domain: the name of a smooth one, a value such as ``Huber(2.0)``, or your own
        ``loss(y, f)``, which must be smooth and is evaluated at predictions within the domain only.
    domain : pair of numbers, or callable
        The ends :math:`l` and :math:`h`, the same for all points, or ``domain(y)`` which returns two arrays
        with one number for each point.  Ends may be infinite.
    """

    loss: str | SmoothLoss | Callable[..., Any]
    domain: tuple[float, float] | Callable[[Vector], Any]


def domain_of(domain: Any, y: Vector, caller: str) -> tuple[Vector, Vector]:
    """The ends of the domain of each prediction, checked."""
    given = domain(y) if callable(domain) else domain
    try:
        low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), (len(y),)).copy() for end in given)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"{caller}: a `domain` must be two numbers, or a function of y that returns two arrays of "
            f"shape ({len(y)},). It is not: {error}."
        ) from error
    check_domain(low, high, caller)
    return low, high


def check_domain(low: Vector, high: Vector, caller: str) -> None:
    """Raise unless every interval has a point."""
    wrong = np.flatnonzero(~(low <= high) | (low == np.inf) | (high == -np.inf))
    if len(wrong):
        i = int(wrong[0])
        raise InputError(
            f"{caller}: the interval of each prediction must have low <= high. Got [{low[i]:g}, {high[i]:g}] "
            f"in row {i}."
        )


def least_over(low: Vector, high: Vector, slope: Vector) -> Vector:
    """The least of ``slope * z`` for z between ``low`` and ``high``; -inf where there is none."""
    ends = np.where(slope > 0, low, high)
    return np.multiply(slope, ends, out=np.zeros_like(slope), where=slope != 0)
