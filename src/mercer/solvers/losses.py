r"""Losses of predictions: values, gradients, curvatures and conjugates.

All are convex functions of the prediction :math:`f` at one point, with the targets in arrays of the same
shape: (n, 1), or (n, q) for the softmax of q classes.

=======================  ============================================  =================================
``Squared()``            :math:`\frac12 (y - f)^2`                     smooth
``Huber(delta)``         squared up to ``delta``, linear beyond        smooth
``Poisson()``            :math:`e^f - y f - y + y \log y`              smooth
``Logistic()``           :math:`\log(1 + e^{-y f})`, y = -1, 1         smooth, of margins
``Softmax()``            :math:`\log \sum_c e^{f_c} - f_y`             smooth, of several classes
``Hinge()``              :math:`\max(0, 1 - y f)`, y = -1, 1           piecewise linear, of margins
``EpsilonInsensitive``   :math:`\max(0, |y - f| - \epsilon)`           piecewise linear
``Pinball(quantile)``    :math:`\max(\tau (y-f), (\tau-1) (y-f))`      piecewise linear
=======================  ============================================  =================================

The conjugate :math:`\ell^*(s) = \sup_f s f - \ell(f)` bounds the loss from below, :math:`\ell(f) \ge s f -
\ell^*(s)` with equality iff s is a slope at f; that is what duality gaps are made of.

``Ranking(margin)`` names a loss of the differences of pairs, which is no sum over points:
:mod:`mercer.solvers.ranking` has what it is made of.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, softmax, xlogy

from ..errors import ParameterError

__all__ = [
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "PiecewiseLinear",
    "Pinball",
    "Poisson",
    "Ranking",
    "Root",
    "SmoothLoss",
    "Softmax",
    "Squared",
]

Array: TypeAlias = NDArray[np.float64]


class Loss(ABC):
    """A convex loss of the prediction at each point."""

    #: Whether targets are -1 and 1 and the sign of the prediction is what counts.
    of_margins: ClassVar[bool] = False

    #: In a unit u of targets and predictions, losses are u**degree times ``in_units(u)``; None where targets
    #: have no unit (labels, counts).
    degree: ClassVar[int | None] = None

    def in_units(self, unit: float) -> Self:
        """The loss with its parameters in this unit."""
        return self

    def domain(self, y: Array) -> tuple[Array, Array]:
        """Least and largest prediction at which the loss is finite, each of shape (n,)."""
        return np.full(len(y), -np.inf), np.full(len(y), np.inf)

    @abstractmethod
    def value(self, y: Array, f: Array) -> Array:
        """Losses of the points, of shape (n,)."""

    @abstractmethod
    def conjugate(self, y: Array, s: Array) -> Array:
        """Conjugates, of shape (n,); infinite at numbers that are no slopes of the loss beyond rounding."""


class Root(NamedTuple):
    r"""Roots of curvatures, one per point: :math:`S = \mathrm{diag}(d) (I - r r^\top)`, the curvature is SS'.

    Attributes
    ----------
    scale : array of shape (n, m)
        The vectors d.
    unit : array of shape (n, m), optional
        The vectors r, of length one; there is no second factor without them.
    """

    scale: Array
    unit: Array | None = None

    def weighted(self, weight: Array) -> Root:
        """The root of the curvature times a weight per point."""
        return Root(self.scale * np.sqrt(weight)[:, None], self.unit)

    def times(self, u: Array) -> Array:
        """``S u`` in every point."""
        return self.scale * self.project(u)

    def transposed_times(self, v: Array) -> Array:
        """``S' v`` in every point."""
        return self.project(self.scale * v)

    def project(self, u: Array) -> Array:
        """``(I - r r') u`` in every point."""
        if self.unit is None:
            return u
        return np.asarray(u - self.unit * (self.unit * u).sum(axis=1, keepdims=True))

    def dense(self) -> Array:
        """The matrices S, of shape (n, m, m)."""
        identity = np.eye(self.scale.shape[1])
        if self.unit is None:
            return self.scale[:, :, None] * identity
        return self.scale[:, :, None] * (identity - self.unit[:, :, None] * self.unit[:, None, :])


class SmoothLoss(Loss):
    """A loss with a gradient everywhere."""

    @abstractmethod
    def gradient(self, y: Array, f: Array) -> Array:
        """Slopes, of the shape of ``f``."""

    @abstractmethod
    def root(self, y: Array, f: Array) -> Root:
        """A root of the curvature of each point."""


class PiecewiseLinear(Loss):
    r"""A loss whose conjugate is :math:`s y + w |s|` on an interval.

    Then the coefficients :math:`b` of the minimiser of :math:`\sum_i c_i \ell_i(f(x_i)) + \frac12 \|f\|^2`
    solve the quadratic problem of support vector machines, with :math:`-s_i c_i` for :math:`b_i`.
    """

    width: float = 0.0

    @abstractmethod
    def bounds(self, y: Array) -> tuple[Array, Array]:
        """Least and largest value of -s."""

    def conjugate(self, y: Array, s: Array) -> Array:
        """Conjugates; infinite beyond the interval."""
        low, high = self.bounds(y)
        return _within(-s, low, high, s * y + self.width * np.abs(s))


def _within(v: Array, low: Array | float, high: Array | float, values: Array) -> Array:
    """Values of a conjugate where ``v`` is between two bounds, up to rounding, and infinity elsewhere."""
    # Slopes may be this much, relatively, beyond their bounds.
    slack = 1e-9 * (1.0 + np.abs(v))
    inside = (v >= low - slack) & (v <= high + slack)
    return np.asarray(np.where(inside, values, np.inf).sum(axis=1))


@dataclass(frozen=True)
class Squared(SmoothLoss):
    """Half the squared error."""

    degree: ClassVar[int | None] = 2

    def value(self, y: Array, f: Array) -> Array:
        return np.asarray(0.5 * ((y - f) ** 2)[:, 0])

    def gradient(self, y: Array, f: Array) -> Array:
        return f - y

    def root(self, y: Array, f: Array) -> Root:
        return Root(np.ones_like(f))

    def conjugate(self, y: Array, s: Array) -> Array:
        return np.asarray((s * (0.5 * s + y))[:, 0])


@dataclass(frozen=True)
class Huber(SmoothLoss):
    """Half the squared error up to ``delta``, from there on linear: outliers pull with bounded force."""

    delta: float = 1.0
    degree: ClassVar[int | None] = 2

    def __post_init__(self) -> None:
        _require("Huber", "delta", self.delta, 0.0 < self.delta < math.inf, "a positive number")

    def in_units(self, unit: float) -> Self:
        return replace(self, delta=_in_units(self.delta, unit))

    def value(self, y: Array, f: Array) -> Array:
        error = np.abs(y - f)[:, 0]
        near = np.minimum(error, self.delta)
        return np.asarray(near * (error - 0.5 * near))

    def gradient(self, y: Array, f: Array) -> Array:
        return np.clip(f - y, -self.delta, self.delta)

    def root(self, y: Array, f: Array) -> Root:
        return Root((np.abs(f - y) <= self.delta).astype(np.float64))

    def conjugate(self, y: Array, s: Array) -> Array:
        return _within(s, -self.delta, self.delta, s * (0.5 * s + y))


@dataclass(frozen=True)
class Poisson(SmoothLoss):
    """Half the deviance of counts with mean ``exp(f)``: zero where ``exp(f) = y``."""

    def value(self, y: Array, f: Array) -> Array:
        with np.errstate(over="ignore"):  # a step that overflows is one that is too long
            return np.asarray((np.exp(f) - y * f - y + xlogy(y, y))[:, 0])

    def gradient(self, y: Array, f: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(f) - y)

    def root(self, y: Array, f: Array) -> Root:
        return Root(np.exp(0.5 * f))

    def conjugate(self, y: Array, s: Array) -> Array:
        mean = np.maximum(s + y, 0.0)
        return _within(s + y, 0.0, np.inf, xlogy(mean, mean) - mean + y - xlogy(y, y))


@dataclass(frozen=True)
class Logistic(SmoothLoss):
    """Negative log-likelihood of labels -1 and 1 with log-odds f."""

    of_margins: ClassVar[bool] = True

    def value(self, y: Array, f: Array) -> Array:
        return np.asarray(np.logaddexp(0.0, -y * f)[:, 0])

    def gradient(self, y: Array, f: Array) -> Array:
        return np.asarray(-y * expit(-y * f))

    def root(self, y: Array, f: Array) -> Root:
        return Root(np.sqrt(expit(f) * expit(-f)))

    def conjugate(self, y: Array, s: Array) -> Array:
        p = np.clip(-y * s, 0.0, 1.0)
        return _within(-y * s, 0.0, 1.0, xlogy(p, p) + xlogy(1 - p, 1 - p))


@dataclass(frozen=True)
class Softmax(SmoothLoss):
    """Negative log-likelihood of q classes with scores f; ``y`` holds a one in the column of the class.

    With probabilities p the curvature diag(p) - pp' has the root diag(r) (I - rr'), r the square roots of p.
    """

    def value(self, y: Array, f: Array) -> Array:
        return np.asarray(-(y * log_softmax(f, axis=1)).sum(axis=1))

    def gradient(self, y: Array, f: Array) -> Array:
        others = softmax(f, axis=1) * (1.0 - y)
        return np.asarray(others - y * others.sum(axis=1, keepdims=True))  # p - y, without its cancellation

    def root(self, y: Array, f: Array) -> Root:
        r = np.exp(0.5 * log_softmax(f, axis=1))
        return Root(r, r)

    def conjugate(self, y: Array, s: Array) -> Array:
        p = np.maximum(s + y, 0.0)
        return _within(s + y, 0.0, 1.0, xlogy(p, p))


@dataclass(frozen=True)
class Hinge(PiecewiseLinear):
    """What is missing to a margin of one; the loss of support vector machines."""

    of_margins: ClassVar[bool] = True

    def value(self, y: Array, f: Array) -> Array:
        return np.maximum(0.0, 1.0 - y * f)[:, 0]

    def bounds(self, y: Array) -> tuple[Array, Array]:
        return np.minimum(y, 0.0), np.maximum(y, 0.0)


@dataclass(frozen=True)
class EpsilonInsensitive(PiecewiseLinear):
    """Absolute errors beyond ``epsilon``; the loss of support vector regression."""

    epsilon: float = 0.1
    degree: ClassVar[int | None] = 1

    def __post_init__(self) -> None:
        _require(
            "EpsilonInsensitive", "epsilon", self.epsilon, 0.0 <= self.epsilon < math.inf, "a number >= 0"
        )

    def in_units(self, unit: float) -> Self:
        return replace(self, epsilon=_in_units(self.epsilon, unit))

    @property
    def width(self) -> float:  # type: ignore[override]
        """The conjugate's factor of |s|."""
        return self.epsilon

    def value(self, y: Array, f: Array) -> Array:
        return np.maximum(0.0, np.abs(y - f) - self.epsilon)[:, 0]

    def bounds(self, y: Array) -> tuple[Array, Array]:
        return np.full_like(y, -1.0), np.ones_like(y)


@dataclass(frozen=True)
class Pinball(PiecewiseLinear):
    """Absolute errors, those above the prediction times ``quantile`` and those below times the rest.

    Its minimiser among constants is the quantile of that order; 0.5 gives half the absolute error.
    """

    quantile: float = 0.5
    degree: ClassVar[int | None] = 1

    def __post_init__(self) -> None:
        _require("Pinball", "quantile", self.quantile, 0.0 < self.quantile < 1.0, "between 0 and 1")

    def value(self, y: Array, f: Array) -> Array:
        error = (y - f)[:, 0]
        return np.maximum(self.quantile * error, (self.quantile - 1.0) * error)

    def bounds(self, y: Array) -> tuple[Array, Array]:
        return np.full_like(y, self.quantile - 1.0), np.full_like(y, self.quantile)


@dataclass(frozen=True)
class Ranking:
    """Losses of the differences of pairs: what ``RepresenterMachine`` minimises as ``loss="ranking"``.

    ``margin`` is the loss of the difference f_i - f_j where y_i > y_j: ``"hinge"``, ``"squared_hinge"`` or
    ``"logistic"``.  It is no sum over points, so it has none of the methods of a :class:`Loss`.
    """

    margin: str = "squared_hinge"

    def __post_init__(self) -> None:
        known = ("hinge", "squared_hinge", "logistic")
        if self.margin not in known:
            listed = ", ".join(map(repr, known))
            raise ParameterError(f"Ranking: `margin` must be one of {listed}. Got {self.margin!r}.")


def _in_units(width: float, unit: float) -> float:
    """The width in this unit, within the range of floats."""
    return min(max(width / unit, 1e-300), 1e300) if width else 0.0


def _require(name: str, parameter: str, value: float, holds: bool, requirement: str) -> None:
    if not holds:
        raise ParameterError(f"{name}: `{parameter}` must be {requirement}. Got {value!r}.")
