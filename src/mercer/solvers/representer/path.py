r"""Losses with any increasing function of the norm, through the squared norm.

Minimise :math:`L(f(x_1), \dots, f(x_n)) + \alpha \, g(\|f\|)` with L convex and g increasing.  A minimiser
also minimises L among the functions of its own norm :math:`t` or less; so it is the minimiser
:math:`f_\lambda` of :math:`L(f) + \frac\lambda2 \|f\|^2` for

.. math:: \lambda \, t = \alpha \, g'(t), \qquad t = \|f_\lambda\| ,

or zero.  Along that path :math:`t` falls and :math:`\lambda t` grows with :math:`\lambda`; if g is a
power the equation has at most one solution, and if it has none the minimiser is zero.

Any other g is searched by its values.  The least loss of the functions with :math:`\|f\|^2 = \tau` is a
convex function of :math:`\tau`, and every :math:`f_\lambda` gives a tangent of it,

.. math:: L(f) \;\ge\; L(f_\lambda) + \tfrac\lambda2 \bigl(\|f_\lambda\|^2 - \|f\|^2\bigr) ,

less the gap of :math:`f_\lambda`.  The largest of the tangents plus :math:`\alpha g` is a lower bound of
the objective; where it is least, the next :math:`f_\lambda` is computed (Kelley's method, in one dimension),
until the bound meets the best objective.  So g may jump, have kinks, or be infinite beyond some norm.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...engine.runs import STOPPING, conclude, stop_reason
from ...errors import ParameterError
from .norms import NoPenalty, Penalty, Power

__all__ = ["Found", "along_the_path"]

Array: TypeAlias = NDArray[np.float64]

#: Factor of lambda from one try to the next in the search for a bracket, and the largest number of tries.
GROWTH, MOST = 8.0, 40

#: Relative accuracy of lambda.  The objective feels its square.
ACCURACY = 1e-10


class Trial(Protocol):
    """A function, and what is known of it."""

    @property
    def norm(self) -> float:
        """The norm of the function."""

    @property
    def loss(self) -> float:
        """L at the function."""

    @property
    def gap(self) -> float:
        """How far it is from the minimum for its squared norm, at most."""


T = TypeVar("T", bound=Trial)


class Fits(Protocol[T]):
    """What finds functions."""

    def fit(self, lam: float, start: T | None) -> T:
        """The minimiser with the penalty ``lam / 2`` times the squared norm."""

    def zero(self) -> T:
        """The best function of norm zero."""

    def between(self, first: T, second: T, norm: float) -> T:
        """The mixture of two functions that has a norm between theirs."""

    @property
    def floor(self) -> float:
        """What the loss is at least."""


@dataclass(frozen=True)
class Found(Generic[T]):
    """Where the path was left: lambda (infinite for the zero function), the minimiser, and the tries made.

    ``gap`` bounds how far the objective is above its minimum, where the search gave a bound.
    """

    lam: float
    trial: T
    tries: int
    gap: float | None = None


class _Stopped(Exception):
    """The run was stopped: what is known of the path is all there is."""


class Path(Generic[T]):
    """Minimisers along the path, each computed once and from the one before."""

    def __init__(self, fits: Fits[T], alpha: float, penalty: Penalty) -> None:
        self.fits, self.alpha, self.penalty = fits, alpha, penalty
        self.known: dict[float, T] = {}
        self.last: T | None = None

    def at(self, lam: float) -> T:
        if lam not in self.known:
            self.last = self.known[lam] = self.fits.fit(lam, self.last)
            if stop_reason():
                raise _Stopped
        return self.known[lam]

    def excess(self, log_lam: float) -> float:
        """The logarithm of ``lambda t / alpha g'(t)``, of a size that root finders can take."""
        t = self.at(math.exp(log_lam)).norm
        slope = self.penalty.slope(t)
        # Logarithms of ratios beyond this are as good as infinite.
        steepest = 1e3
        if t == 0 or slope == math.inf:
            return -steepest
        if slope <= 0:
            return steepest
        excess = log_lam + math.log(t) - math.log(self.alpha) - math.log(slope)
        return min(max(excess, -steepest), steepest)

    def objective(self, trial: T) -> float:
        return trial.loss + self.alpha * self.penalty.value(trial.norm)


def along_the_path(
    fits: Fits[T], alpha: float, penalty: Penalty, most: float, accuracy: Callable[[T], float]
) -> Found[T]:
    """Find the minimiser for a penalty of the norm.

    Parameters
    ----------
    fits : Fits
    alpha : float
        Factor of the penalty, > 0.
    penalty : Penalty
    most : float
        A lambda so large that the function is as good as zero.
    accuracy : callable
        The gap to stop at, of a function.
    """
    path = Path(fits, alpha, penalty)
    try:
        if isinstance(penalty, NoPenalty):
            return Found(0.0, path.at(0.0), 1)
        if penalty == Power(2.0):
            return Found(alpha, path.at(alpha), 1)
        if isinstance(penalty, Power):
            return _only_root(path, most)
        return _Search(path, accuracy).run(most)
    except (*STOPPING, _Stopped) as error:
        if not path.known:
            raise
        if not isinstance(error, _Stopped):
            conclude(error)
        lam = min(path.known, key=lambda lam: path.objective(path.known[lam]))
        return Found(lam, path.known[lam], len(path.known))


def _only_root(path: Path[T], most: float) -> Found[T]:
    """The minimiser for a power of the norm, where ``lambda t = alpha g'(t)``."""
    low, high = _bracket(path, math.log(path.alpha), math.log(most))
    if low is None:  # even the least norm is too expensive
        return Found(math.inf, path.fits.zero(), len(path.known))
    if high is None:  # the penalty is flat: nothing holds the function
        return Found(math.exp(low), path.at(math.exp(low)), len(path.known))
    from scipy.optimize import brentq

    lam = math.exp(float(brentq(path.excess, low, high, xtol=ACCURACY, rtol=1e-14)))
    return Found(lam, path.at(lam), len(path.known))


def _bracket(path: Path[T], start: float, most: float) -> tuple[float | None, float | None]:
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


# -- penalties known by their values --------------------------------------------------------------
class _Search(Generic[T]):
    """The minimiser for any increasing penalty, with a bound of its gap."""

    def __init__(self, path: Path[T], accuracy: Callable[[T], float]) -> None:
        self.path, self.accuracy = path, accuracy
        self.lam, self.best = math.inf, path.fits.zero()

    def run(self, most: float) -> Found[T]:
        largest = self.scan(most)
        if math.isinf(self.objective):
            return Found(most, self.path.at(most), len(self.path.known), math.inf)
        bound = _LowerBound(self.path, largest)
        for _ in range(2):
            self.polish()
            self.tighten(bound)
        gap = max(self.objective - bound.minimum()[1], 0.0)
        return Found(self.lam, self.best, len(self.path.known), gap)

    @property
    def objective(self) -> float:
        return self.path.objective(self.best)

    def keep(self, lam: float, trial: T, slack: float = 0.0) -> None:
        if self.path.objective(trial) < self.objective + slack:
            self.lam, self.best = lam, trial

    def scan(self, lam: float) -> float:
        """Towards larger norms, until the rest of the path can gain nothing; the largest norm of interest."""
        path, first, before = self.path, self.best, 0.0

        def is_ruled_out(norm: float) -> bool:
            price = path.penalty.value(norm)
            return math.isinf(price) or path.alpha * price + path.fits.floor >= self.objective

        # Multiples of a norm: up to the first, norms are followed until the penalty rules them out; a penalty
        # that rules none out is followed up to the second.
        farthest, radius = 1e18, 2.0
        for _ in range(MOST):
            trial = path.at(lam)
            self.keep(lam, trial)
            largest = trial.norm
            while largest < farthest * trial.norm and not is_ruled_out(largest):
                largest *= 2.0
            if not is_ruled_out(largest):
                largest = radius * trial.norm
            gain = 0.5 * lam * (largest - trial.norm) * (largest + trial.norm)
            gain, allowed = min(gain, trial.loss - path.fits.floor), self.accuracy(self.best)
            if math.isinf(path.fits.floor) and math.isfinite(first.loss):
                # Gain, relative to the loss of the zero function, that ends the search of losses without a
                # known minimum: they may fall to zero, and no fit is accurate relative to that.
                allowed = max(allowed, 1e-8 * abs(first.loss))
            # Multiple of the accuracy beyond which the gap of a fit says that those of smaller lambda are
            # hopeless.
            useless = is_ruled_out(trial.norm) or trial.gap > 1e3 * allowed
            if gain <= min(allowed, before) or useless:
                break
            lam, before = lam / GROWTH, gain
        return largest

    def polish(self) -> None:
        """The zero of the derivative next to the best function, where the penalty is smooth."""
        from scipy.optimize import brentq

        path, lams = self.path, sorted(self.path.known)
        i = bisect.bisect_left(lams, self.lam)
        for low, high in itertools.pairwise(map(math.log, lams[max(i - 1, 0) : i + 2])):
            slopes = sorted(path.penalty.slope(path.at(math.exp(end)).norm) for end in (low, high))
            # Ratio of slopes of the penalty between neighbours that is none of a jump.
            smooth = slopes[1] <= 64.0 * slopes[0] < math.inf
            if smooth and (path.excess(low) > 0) != (path.excess(high) > 0):
                root = math.exp(brentq(path.excess, low, high, xtol=ACCURACY, maxiter=16, disp=False))
                self.keep(root, path.at(root), slack=1e-15 * abs(self.objective))

    def tighten(self, bound: _LowerBound[T]) -> None:
        """Go where the lower bound is least, until it meets the best objective."""
        path = self.path
        for step in range(2 * MOST):
            norm, least = bound.minimum()
            ends = self.neighbours(norm)
            if self.objective - least <= self.accuracy(self.best) or ends is None:
                break
            above, below = ends
            middle = math.sqrt(above * below)
            if step % 2 == 0:  # where that norm is expected, if logarithms are linear between the neighbours
                larger, smaller = path.known[above].norm, max(path.known[below].norm, 1e-300)
                share = math.log(max(norm, smaller) / smaller) / math.log(larger / smaller)
                share = min(max(share, 0.01), 0.99)
                middle = math.exp(share * math.log(above) + (1 - share) * math.log(below))
            self.keep(middle, path.at(middle))
            above, below = self.neighbours(norm) or ends
            self.keep(above, path.fits.between(path.known[below], path.known[above], norm))

    def neighbours(self, norm: float) -> tuple[float, float] | None:
        """Neighbours on the path: the lambda of a larger norm, and that of one that is not larger."""
        known = self.path.known
        for above, below in itertools.pairwise(sorted(known)):
            if known[below].norm <= norm < known[above].norm and below > above * (1 + ACCURACY):
                return above, below
        return None


class _LowerBound(Generic[T]):
    """The largest of the tangents of the path plus the penalty, at many norms."""

    def __init__(self, path: Path[T], largest: float) -> None:
        self.path = path
        self.penalties: dict[float, float] = {}  # by the norm
        norms = sorted({0.0, largest, *(trial.norm for trial in path.known.values())})
        for a, b in itertools.pairwise(norms):
            # Norms between two that are known at which a penalty is evaluated.
            for t in np.linspace(a, b, 32).tolist():
                self.penalties[t] = path.penalty.value(t)
        for a, b in itertools.pairwise(sorted(self.penalties)):
            self._enclose_jump(a, b)
        values = [self.penalties[t] for t in sorted(self.penalties)]
        if any(after < before - 1e-9 * abs(before) for before, after in itertools.pairwise(values)):
            raise ParameterError(
                "RepresenterMachine: `penalty` must not decrease with the norm: otherwise the minimiser need "
                "not be a combination of kernel functions at the data."
            )

    def _enclose_jump(self, a: float, b: float) -> None:
        """Add neighbouring floats around a jump between two norms, if there is one."""
        value, g = self.path.penalty.value, {a: self.penalties[a], b: self.penalties[b]}
        whole = g[b] - g[a] if g[a] < math.inf else 0.0
        for halvings in itertools.count():
            middle = 0.5 * (a + b)
            if not whole > 0 or (halvings == 12 and g[b] - g[a] < whole / 64):  # a continuous function
                return
            if not a < middle < b:
                self.penalties |= {a: g[a], b: g[b]}
                return
            g[middle] = value(middle)
            a, b = (a, middle) if 2 * g[middle] >= g[a] + g[b] else (middle, b)

    def at(self, norms: Array, penalties: Array) -> Array:
        known = self.path.known.items()
        tangents = [f.loss - f.gap + 0.5 * lam * (f.norm**2 - norms**2) for lam, f in known]
        least = np.maximum(np.max(tangents, axis=0), self.path.fits.floor)
        return np.asarray(least + self.path.alpha * penalties)

    def minimum(self) -> tuple[float, float]:
        """The norm where the bound is least, and its value there."""
        from scipy.optimize import minimize_scalar

        def function(t: float) -> float:
            return float(self.at(np.array(t), np.array(self.path.penalty.value(t))))

        norms, values = self._table()
        beside = np.minimum(np.append(np.inf, values[:-1]), np.append(values[1:], np.inf))
        lowest = np.flatnonzero((values <= beside) & np.isfinite(values))
        # Local minima of a lower bound that are refined.
        for i in lowest[np.argsort(values[lowest])][:8]:
            after = min(i + 1, len(norms) - 1)
            ends = norms[max(i - 1, 0)], norms[after if np.isfinite(values[after]) else i]
            options = {"xatol": 1e-9 * ends[1]}
            t = float(minimize_scalar(function, bounds=ends, method="bounded", options=options).x)
            self.penalties[t] = self.path.penalty.value(t)
        norms, values = self._table()
        i = int(np.argmin(values))
        return float(norms[i]), float(values[i])

    def _table(self) -> tuple[Array, Array]:
        norms = np.array(sorted(self.penalties))
        return norms, self.at(norms, np.array([self.penalties[t] for t in norms]))
