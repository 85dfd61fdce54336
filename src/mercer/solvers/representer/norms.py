r"""Losses with any increasing function of the norm, through the squared norm.

Minimise :math:`L(f(x_1), \dots, f(x_n)) + \alpha \, g(\|f\|)` with L convex and g increasing.  A minimiser
also minimises L among the functions of its own norm :math:`t` or less; so it is the minimiser
:math:`f_\lambda` of :math:`L(f) + \frac\lambda2 \|f\|^2` for

.. math:: \lambda \, t = \alpha \, g'(t), \qquad t = \|f_\lambda\| ,

or zero.  Along that path :math:`t` falls and :math:`\lambda t` grows with :math:`\lambda`; if g is convex the
equation has at most one solution, and if it has none the minimiser is zero.  If g is not convex, all
solutions that a search over the path finds are compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ...engine.runs import STOPPING, conclude, stop_reason

__all__ = ["Found", "NoPenalty", "Penalty", "Power", "Trial", "UserPenalty", "along_the_path"]

#: Factor of lambda from one try to the next in the search for a bracket, and the largest number of tries.
GROWTH, MOST = 8.0, 40

#: Tries between the ends of a bracket where the penalty may have several stationary points.
SCAN = 16

#: Logarithms of ratios beyond this are as good as infinite.
STEEPEST = 1e3

#: Relative accuracy of lambda.  The objective feels its square.
ACCURACY = 1e-10


class Penalty(Protocol):
    """An increasing function of the norm."""

    @property
    def is_convex(self) -> bool:
        """Whether it is known to be convex."""

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
    is_convex: bool = True

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

    is_convex: bool = True

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
class UserPenalty:
    """A function that returns g(t) and g'(t)."""

    function: Callable[[float], Any]
    is_convex: bool = False

    def value(self, t: float) -> float:
        """g(t)."""
        return float(self.function(t)[0])

    def slope(self, t: float) -> float:
        """g'(t)."""
        return float(self.function(t)[1])

    def in_units(self, unit: float) -> tuple[float, Penalty]:
        """The function of ``unit t``."""

        def function(t: float) -> tuple[float, float]:
            value, slope = self.function(unit * t)
            return value, unit * slope

        return 0.0, UserPenalty(function, self.is_convex)


class Trial(Protocol):
    """A minimiser for one lambda."""

    @property
    def norm(self) -> float:
        """The norm of the function."""

    @property
    def loss(self) -> float:
        """L at the function."""


T = TypeVar("T", bound=Trial)


@dataclass(frozen=True)
class Found(Generic[T]):
    """Where the path was left: lambda (infinite for the zero function), the minimiser, and the tries made."""

    lam: float
    trial: T
    tries: int


class _Stopped(Exception):
    """The run was stopped: what is known of the path is all there is."""


class _Path(Generic[T]):
    """Minimisers along the path, each computed once and from the one before."""

    def __init__(self, fit: Callable[[float, T | None], T], alpha: float, penalty: Penalty) -> None:
        self.fit, self.alpha, self.penalty = fit, alpha, penalty
        self.known: dict[float, T] = {}
        self.last: T | None = None

    def at(self, lam: float) -> T:
        if lam not in self.known:
            self.last = self.known[lam] = self.fit(lam, self.last)
            if stop_reason():
                raise _Stopped
        return self.known[lam]

    def excess(self, log_lam: float) -> float:
        """The logarithm of ``lambda t / alpha g'(t)``, of a size that root finders can take."""
        t = self.at(math.exp(log_lam)).norm
        slope = self.penalty.slope(t)
        if t == 0 or slope == math.inf:
            return -STEEPEST
        if slope <= 0:
            return STEEPEST
        excess = log_lam + math.log(t) - math.log(self.alpha) - math.log(slope)
        return min(max(excess, -STEEPEST), STEEPEST)

    def objective(self, trial: T) -> float:
        return trial.loss + self.alpha * self.penalty.value(trial.norm)


def along_the_path(
    fit: Callable[[float, T | None], T], zero: Callable[[], T], alpha: float, penalty: Penalty, most: float
) -> Found[T]:
    """Find the minimiser for a penalty of the norm.

    Parameters
    ----------
    fit : callable
        ``fit(lam, start)`` gives the minimiser with the penalty ``lam / 2`` times the squared norm.
    zero : callable
        Gives the best function of norm zero.
    alpha : float
        Factor of the penalty, > 0.
    penalty : Penalty
    most : float
        A lambda so large that the function is as good as zero.
    """
    path = _Path(fit, alpha, penalty)
    try:
        return _search(path, zero, alpha, penalty, most)
    except (*STOPPING, _Stopped) as error:
        if not path.known:
            raise
        if not isinstance(error, _Stopped):
            conclude(error)
        lam = min(path.known, key=lambda lam: path.objective(path.known[lam]))
        return Found(lam, path.known[lam], len(path.known))


def _search(path: _Path[T], zero: Callable[[], T], alpha: float, penalty: Penalty, most: float) -> Found[T]:
    if penalty == NoPenalty():
        return Found(0.0, path.at(0.0), 1)
    if penalty == Power(2.0):
        return Found(alpha, path.at(alpha), 1)
    low, high = _bracket(path, math.log(alpha), math.log(most))
    if low is None:  # even the least norm is too expensive
        return Found(math.inf, zero(), len(path.known))
    if high is None:  # the penalty is flat: nothing holds the function
        return Found(math.exp(low), path.at(math.exp(low)), len(path.known))
    ends = [(low, high)] if penalty.is_convex else _sign_changes(path, low, math.log(most))
    roots = [_root(path, a, b) for a, b in ends]
    best = min(roots, key=lambda r: path.objective(path.at(math.exp(r))))
    lam = math.exp(best)
    trial = path.at(lam)
    if not penalty.is_convex:
        nothing = zero()
        if path.objective(nothing) <= path.objective(trial):
            return Found(math.inf, nothing, len(path.known))
    return Found(lam, trial, len(path.known))


def _bracket(path: _Path[T], start: float, most: float) -> tuple[float | None, float | None]:
    """Neighbours on the path, below and above the solution; None where there is no such neighbour."""
    step = math.log(GROWTH)
    here = min(start, most)
    if path.excess(here) <= 0:
        while here < most:
            there = min(here + step, most)
            if path.excess(there) > 0:
                return here, there
            here = there
        return None, most
    for _ in range(MOST):
        there = here - step
        if path.excess(there) <= 0:
            return there, here
        here = there
    return here, None


def _sign_changes(path: _Path[T], low: float, most: float) -> list[tuple[float, float]]:
    """Brackets of all solutions seen on a grid."""
    grid = np.linspace(low, most, SCAN).tolist()
    signs = [path.excess(x) > 0 for x in grid]
    return [
        (a, b) for a, b, left, right in zip(grid, grid[1:], signs, signs[1:], strict=False) if left != right
    ]


def _root(path: _Path[T], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(path.excess, low, high, xtol=ACCURACY, rtol=1e-14))
