r"""From decision values to probabilities, without contradicting the decisions.

Two classes: the log-odds are a piecewise linear function of the decision value, increasing, and zero at zero.
The pieces end at half the margin and at the margin, on either side.  Several classes: softmax of the
:func:`class_margins` over a temperature.  Both are fitted by maximum likelihood to decision values of points
that were left out.  So that no probability becomes certain where there is no error in sight, every label is
only believed to be right with probability :math:`(N + 1) / (N + 2)`: Platt's targets, where N is the weight
of the class (two classes: two sides are fitted), or of all points (more classes: one number is fitted).

All of these problems are convex, in one to three variables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

__all__ = ["PiecewiseLogistic", "Temperature", "agree", "class_margins"]

Array: TypeAlias = NDArray[np.float64]
Loss: TypeAlias = Callable[[Array], tuple[float, Array, Array]]

#: Where the slope of the log-odds may change: boundary, half the margin, margin.
KNOTS = (0.0, 0.5, 1.0)


#: Slopes stay positive: at least this part of the common one, which gives the average point at least these
#: log-odds.
LEAST = 1e-3


@dataclass(frozen=True)
class PiecewiseLogistic:
    r"""Probability of the second of two classes, by the decision value f.

    .. math:: p(f) = \frac{1}{1 + \exp(-z(f))}, \qquad
              z(f) = \sum_j a_j \, |[0, f] \cap [u_j, u_{j+1}]| \quad (f \ge 0)

    with the knots u = 0, 1/2, 1, and likewise with minus and slopes of their own for f < 0.  So p increases,
    p(0) is 1/2.

    Attributes
    ----------
    negative, positive : tuple of float
        Slopes of the log-odds for f < 0 and f > 0, from the boundary outwards; all > 0.
    points : int
        How many left-out points it was fitted to.
    """

    negative: tuple[float, ...]
    positive: tuple[float, ...]
    points: int

    @classmethod
    def fit(cls, f: Array, codes: NDArray[np.intp], weight: Array) -> Self:
        """Maximum likelihood: one slope for all, then one per piece, drawn towards it."""
        totals = np.array([weight[codes == c].sum() for c in (0, 1)])
        target = _targets(codes, totals[codes], 2)[:, 1]
        scale = _scale(np.abs(f), weight)
        common = _minimise(_logistic((f / scale)[:, None], target, weight, 0.0), np.ones(1))[0] / scale

        def slopes(side: NDArray[np.bool_], target: Array) -> tuple[float, ...]:
            pieces = common * _pieces(np.abs(f[side]))
            # how strongly the slopes are held together: as if each were known to be the common one, give or
            # take half
            loss = _logistic(pieces, target[side], weight[side], 4.0)
            return tuple(float(a) for a in common * _minimise(loss, np.ones(len(KNOTS))))

        return cls(slopes(f < 0, 1 - target), slopes(f > 0, target), len(f))

    def __call__(self, f: Array) -> Array:
        """Probabilities of both classes, of shape (n, 2)."""
        pieces = _pieces(np.abs(f))
        z = np.where(f > 0, pieces @ np.array(self.positive), -(pieces @ np.array(self.negative)))
        return _inside(expit(np.column_stack([-z, z])))


@dataclass(frozen=True)
class Temperature:
    r"""Probabilities of several classes, by scores :math:`s_c`.

    .. math:: p_c = \exp(s_c / T) \Big/ \sum_d \exp(s_d / T)

    Attributes
    ----------
    temperature : float
        T > 0; lower is more certain.
    points : int
        How many left-out points it was fitted to.
    """

    temperature: float
    points: int

    @classmethod
    def fit(cls, scores: Array, codes: NDArray[np.intp], weight: Array) -> Self:
        """Maximum likelihood."""
        below = scores - scores.max(axis=1, keepdims=True)  # only differences matter
        scale = _scale(-below.mean(axis=1), weight)
        target = _targets(codes, np.full(len(codes), weight.sum()), scores.shape[1])
        inverse = _minimise(_multinomial(below / scale, target, weight), np.ones(1))[0]
        return cls(float(scale / inverse), len(scores))

    def __call__(self, scores: Array) -> Array:
        """Probabilities of all classes, of shape (n, n_classes)."""
        return _inside(softmax(scores / self.temperature, axis=1))


def class_margins(values: Array, count: int) -> Array:
    """How far each class is ahead of its strongest rival, from one column per pair of classes.

    A class that wins all its comparisons has the only positive one.
    """
    margins = np.full((len(values), count), np.inf)
    for t, (i, j) in enumerate(combinations(range(count), 2)):
        np.minimum(margins[:, i], values[:, t], out=margins[:, i])
        np.minimum(margins[:, j], -values[:, t], out=margins[:, j])
    return margins


def agree(probabilities: Array, winners: NDArray[np.intp]) -> Array:
    """Let the predicted class be the most probable one.

    It is, except where no class wins all its comparisons, or to rounding.  There the predicted class and
    those above it get their mean, the predicted class the next larger number.
    """
    rows = np.flatnonzero(probabilities.argmax(axis=1) != winners)
    own = probabilities[rows, winners[rows]]
    above = probabilities[rows] >= own[:, None]
    mean = np.where(above, probabilities[rows], 0.0).sum(axis=1) / above.sum(axis=1)
    result = probabilities.copy()
    result[rows] = np.where(above, mean[:, None], probabilities[rows])
    result[rows, winners[rows]] = np.nextafter(mean, 1.0)
    return result


def _pieces(size: Array) -> Array:
    """Lengths of the parts of [0, size] between the knots."""
    return np.column_stack(
        [np.clip(size, u, v) - u for u, v in zip(KNOTS, (*KNOTS[1:], np.inf), strict=True)]
    )


def _targets(codes: NDArray[np.intp], total: Array, count: int) -> Array:
    """The label with probability (N + 1) / (N + 2) for the totals N, the other classes with what is left."""
    targets = np.repeat(1 / (total + 2) / (count - 1), count).reshape(-1, count)
    targets[np.arange(len(codes)), codes] = (total + 1) / (total + 2)
    return targets


def _scale(size: Array, weight: Array) -> float:
    """The average size, to make problems independent of units."""
    return float(np.average(size, weights=weight)) or 1.0


def _inside(p: Array) -> Array:
    """No probability is 0 or 1."""
    return np.clip(p, np.finfo(np.float64).tiny, 1 - np.finfo(np.float64).epsneg)


def _logistic(features: Array, target: Array, weight: Array, shrinkage: float) -> Loss:
    """Negative log-likelihood of log-odds ``features @ a``, and a penalty for ``a`` other than 1."""

    def loss(a: Array) -> tuple[float, Array, Array]:
        z = features @ a
        p = expit(z)
        value = weight @ (np.logaddexp(0.0, z) - target * z) + shrinkage / 2 * np.sum((a - 1) ** 2)
        gradient = features.T @ (weight * (p - target)) + shrinkage * (a - 1)
        curvature = (features.T * (weight * p * (1 - p))) @ features + shrinkage * np.eye(len(a))
        return float(value), gradient, curvature

    return loss


def _multinomial(scores: Array, target: Array, weight: Array) -> Loss:
    """Negative log-likelihood of ``softmax(a * scores)``; no score is positive, the highest is 0."""
    expected = (target * scores).sum(axis=1)

    def loss(a: Array) -> tuple[float, Array, Array]:
        powers = np.exp(a * scores)
        total = powers.sum(axis=1)
        mean = (powers * scores).sum(axis=1) / total
        spread = (powers * (scores - mean[:, None]) ** 2).sum(axis=1) / total
        value = weight @ (np.log(total) - a * expected)
        return float(value), np.array([weight @ (mean - expected)]), np.array([[weight @ spread]])

    return loss


def _minimise(loss: Loss, start: Array) -> Array:
    """Least value of a convex function of ``a >= LEAST``: Newton steps, cut at the bound and halved."""
    a = start
    value, gradient, curvature = loss(a)
    # Newton steps; a handful is enough
    for _ in range(200):
        step = _newton(a, gradient, curvature)
        while True:
            trial = np.maximum(a + step, LEAST)
            moved = trial - a
            if np.abs(moved).max() <= 1e-13 * np.abs(a).max():
                return a
            now = loss(trial)
            if now[0] <= value + 1e-4 * min(float(gradient @ moved), 0.0) + 1e-15 * abs(value):
                break
            step = step / 2
        a, (value, gradient, curvature) = trial, now
    return a


def _newton(a: Array, gradient: Array, curvature: Array) -> Array:
    """The Newton step in the variables that may move: at the bound only upwards."""
    free = (a > LEAST) | (gradient < 0)
    while True:
        step = np.zeros_like(a)
        within = curvature[np.ix_(free, free)] + np.finfo(np.float64).tiny ** 0.5 * np.eye(free.sum())
        step[free] = np.linalg.solve(within, -gradient[free])
        blocked = np.where(a > LEAST, 0.0, step)
        if blocked.min() >= 0:
            return step
        free[blocked.argmin()] = False
