r"""Any convex function of the predictions and of the norm, from its values and slopes alone.

Minimise :math:`\Psi(R c + b, |c|) + \frac\lambda2 |c|^2` over coordinates :math:`c` of the range of :math:`K
= R R^\top` and, with an intercept, :math:`b`; :math:`\Psi` is convex and does not decrease in the norm, so
that it is a convex function of :math:`(c, b)`.  A quasi-Newton method (L-BFGS) finds the minimiser where it
is smooth. There the objective exceeds its minimum by at most :math:`|\nabla|^2 / 2 \lambda`, which is how it
is known to be one.  Where there are kinks this does not come down, and a proximal bundle method takes over:
it stores tangents at the points it has evaluated, minimises the largest of them plus the penalty (plus a
multiple of the squared distance from the best point, in directions without a penalty), and adds the tangent
of that point.  The minimum of the model bounds that of the objective from below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...engine.factorizations import eigh
from ...engine.runs import STOPPING, checkpoint, conclude, stop_reason
from ..matrix import HeldMatrix
from ..solution import Solution
from ..svm import BoxProblem, solve_box

__all__ = ["Coordinates", "GenericValue", "LossFunction", "solve_generic"]

Array: TypeAlias = NDArray[np.float64]
#: Value, slopes in the predictions and slope in the norm, of predictions and a norm.
LossFunction: TypeAlias = Callable[[Array, float], tuple[float, Array, float]]

#: Eigenvalues below this part of the largest, times the number of points, are left out.
RANK = 1e-13

#: And below this part they may be zero: what is larger is no rounding error.
ZERO = 10 * float(np.finfo(float).eps)

#: Without a squared norm, bounds of the gap hold for functions of up to this multiple of the norm.
RADIUS = 2.0


class Coordinates:
    """Coordinates of the range of a positive semidefinite matrix: K = R R'."""

    def __init__(self, K: Array) -> None:
        values, vectors = eigh(K)
        largest = len(K) * max(float(values[-1]), 0.0)
        kept = values > RANK * largest
        self.roots, self.vectors = np.sqrt(values[kept]), vectors[:, kept]
        self._null = vectors[:, values <= ZERO * largest]
        self.mean = float(np.trace(K)) / len(K) or 1.0

    @property
    def rank(self) -> int:
        """How many there are."""
        return len(self.roots)

    def complement(self, constant: bool) -> Array:
        """An orthonormal basis of what is orthogonal to the range, up to rounding, or to constants too."""
        if not constant:
            return np.asarray(self._null)
        ones = self._null.sum(axis=0)  # the constants, as far as they are outside the range
        size = float(np.linalg.norm(ones))
        if size <= math.sqrt(RANK * len(self._null)):
            return np.asarray(self._null)
        return np.asarray(self._null @ linalg.null_space(ones[None, :] / size))

    def predictions(self, c: Array) -> Array:
        """``R c``."""
        return np.asarray(self.vectors @ (self.roots * c))

    def moments(self, g: Array) -> Array:
        """``R' g``."""
        return np.asarray(self.roots * (self.vectors.T @ g))

    def coefficients(self, c: Array) -> Array:
        """The shortest ``a`` with ``K a = R c``."""
        return np.asarray(self.vectors @ (c / self.roots))


class GenericValue(NamedTuple):
    """Coordinates, the intercept, predictions; value and slopes there, in predictions and coordinates."""

    c: Array
    b: float
    predictions: Array
    loss: float
    slopes: Array
    moments: Array

    @property
    def norm(self) -> float:
        """The norm of the function."""
        return float(np.linalg.norm(self.c))


def solve_generic(
    loss: LossFunction,
    R: Coordinates,
    lam: float,
    *,
    intercept: bool,
    start: GenericValue | None = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> Solution[GenericValue]:
    """Minimise from values and slopes alone.

    Parameters
    ----------
    loss : callable
        ``loss(predictions, norm)`` returns the value, the slopes, of the shape of the predictions, and the
        slope in the norm, >= 0.
    R : Coordinates
    lam : float
        Penalty, >= 0.
    intercept : bool
        Whether ``b`` is fitted; otherwise it is zero.
    start : GenericValue, optional
    tol : float
        The gap to stop at, relative to the objective.
    max_iter : int
        Steps at most, of each of the two methods.

    Returns
    -------
    Solution
        ``gap`` bounds how far the objective is above its minimum if it is convex; with an intercept this
        supposes that the best one is not much farther away than the predictions are large, and with ``lam =
        0`` that the best function has at most twice the norm.
    """
    run = _Run(loss, R, lam, intercept)
    best, method = run.descend(start, max_iter), "L-BFGS"
    # Restart L-BFGS: a new quasi-Newton matrix makes further progress where the old one is rounding.
    for _ in range(3):
        if run.gradient_gap(best) <= tol * abs(run.objective(best)) or stop_reason():
            break
        best = run.descend(best, max_iter)
    gap = run.gradient_gap(best)
    unfinished = np.isfinite(run.objective(best)) and not gap <= tol * abs(run.objective(best))
    if unfinished and not stop_reason():
        kinked, bound = run.bundle(best, tol, max_iter)
        if bound < gap:
            best, gap, method = kinked, bound, "bundle"
    converged = bool(np.isfinite(run.objective(best)) and gap <= tol * abs(run.objective(best)))
    status = "converged" if converged else "stopped before the gap was small; raise max_iter, alpha or tol"
    stats = {"iterations": run.calls, "method": method, "objective": run.objective(best)}
    return Solution(best, converged, status, gap, stats)


class _Run:
    def __init__(self, loss: LossFunction, R: Coordinates, lam: float, intercept: bool) -> None:
        self.loss, self.R, self.lam, self.intercept = loss, R, lam, intercept
        self.calls = 0
        self.zero = self.at(np.zeros(R.rank), 0.0)
        self.unit, self.length = self._units()

    def _units(self) -> tuple[float, float]:
        """Units of the objective and of the norm: those of the zero function, which the minimiser betters."""
        slope = float(np.linalg.norm(self.zero.moments))
        value = abs(self.zero.loss)
        if not 0 < value < np.inf:
            value = slope**2 / self.lam if self.lam and slope else 1.0
        if self.lam:
            return value, math.sqrt(value / self.lam)
        return value, value / slope if slope else 1.0

    def at(self, c: Array, b: float) -> GenericValue:
        checkpoint()
        self.calls += 1
        F, t = self.R.predictions(c) + b, float(np.linalg.norm(c))
        value, slopes, slope = self.loss(F, t)
        moments = self.R.moments(slopes)
        if t > 0:
            moments = moments + (slope / t) * c
        elif slope > 0:  # any vector of that length may be subtracted: the one that leaves least
            moments = moments * max(0.0, 1.0 - slope / max(float(np.linalg.norm(moments)), 1e-300))
        return GenericValue(c, b, F, float(value), slopes, moments)

    def objective(self, v: GenericValue) -> float:
        return v.loss + 0.5 * self.lam * float(v.c @ v.c)

    def gradient(self, v: GenericValue) -> Array:
        """In the coordinates and, last, in the intercept."""
        return np.append(v.moments + self.lam * v.c, self.total(v))

    def total(self, v: GenericValue) -> float:
        """The derivative in the intercept."""
        return float(v.slopes.sum()) if self.intercept else 0.0

    def gradient_gap(self, v: GenericValue) -> float:
        """How far the objective is above its minimum at most, by strong convexity or within a radius."""
        gradient = self.gradient(v)
        if self.lam:
            return float(gradient @ gradient) / (2 * self.lam)
        # along the norm, the tangent falls at most at the rate |R's| minus its slope in the norm
        along = abs(gradient[-1]) * float(np.abs(v.predictions).max(initial=0.0))
        moments = self.R.moments(v.slopes)
        rate = float(np.linalg.norm(moments) - np.linalg.norm(v.moments - moments))
        radius = RADIUS * (v.norm or self.length)
        return float(max(v.moments @ v.c + max(rate, 0.0) * radius + RADIUS * along, 0.0))

    # -- smooth functions -----------------------------------------------------------------------
    def descend(self, start: GenericValue | None, max_iter: int) -> GenericValue:
        from scipy.optimize import minimize

        units = np.full(self.R.rank + 1, self.length)
        units[-1] *= math.sqrt(self.R.mean)

        best = self.zero if start is None else min(self.zero, start, key=self.objective)

        def at(x: Array) -> GenericValue:
            return self.at(x[:-1] * units[:-1], float(x[-1] * units[-1]) if self.intercept else 0.0)

        def function(x: Array) -> tuple[float, Array]:
            nonlocal best
            v = at(x)
            best = min(best, v, key=self.objective)
            return self.objective(v) / self.unit, self.gradient(v) * (units / self.unit)

        x = np.zeros(self.R.rank + 1) if start is None else np.append(start.c, start.b) / units
        options = {"maxiter": max_iter, "maxfun": 10 * max_iter, "ftol": 0.0, "gtol": 0.0, "maxcor": 30}
        try:
            found = minimize(function, x, jac=True, method="L-BFGS-B", options=options)
        except STOPPING as error:
            conclude(error)
            return best
        return min(self.zero, at(found.x), key=self.objective)

    # -- functions with kinks -------------------------------------------------------------------
    def bundle(self, start: GenericValue, tol: float, max_iter: int) -> tuple[GenericValue, float]:
        """The best point of a proximal bundle method, and a bound on how far it is above the minimum."""
        best, bound = start, np.inf
        model = _Model(self)
        model.add(start)
        before = np.inf
        # Steps of the bundle method within which the bound of the gap must be halved.
        patience = 100
        try:
            for step in range(max_iter):
                if step % patience == patience - 1:
                    if not bound < 0.5 * before:
                        break
                    before = bound
                here, least = model.minimum(best)
                if self.objective(here) < self.objective(best):
                    best = here
                bound = min(bound, max(self.objective(best) - least, 0.0))
                if (
                    bound <= 0.5 * tol * abs(self.objective(best))
                    or not np.isfinite(here.loss)
                    or stop_reason()
                ):
                    break
                model.add(here)
        except STOPPING as error:
            conclude(error)
        return best, bound


class _Model:
    r"""The largest of some tangents, plus the penalty, plus squared distances from the best point.

    With weights :math:`\theta` on the tangents, of sum one, slopes M and values l at zero, and a proximal
    term :math:`\frac\mu2 |c - c_0|^2` only where :math:`\lambda = 0`, its minimum is the largest value of
    :math:`(l + M c_0)^\top \theta - \frac{1}{2 (\lambda + \mu)} |M^\top \theta|^2` (:math:`c_0 = 0` where
    :math:`\mu = 0`), and :math:`c = c_0 - M^\top \theta / (\lambda + \mu)`.  The intercept always has such a
    term.
    """

    def __init__(self, run: _Run) -> None:
        self.run, self.curvature = run, run.lam or run.unit / run.length**2
        # Strength of the proximal term of the intercept, relative to the penalty.
        self.pull = 0.1 * self.curvature / run.R.mean
        self.moments = np.empty((0, run.R.rank))
        self.totals, self.values, self.weights = np.empty(0), np.empty(0), np.empty(0)

    def add(self, v: GenericValue) -> None:
        """Keep one more tangent; beyond many, those without weight are let go."""
        # Largest number of tangents; those that are inactive at the minimum are dropped first.
        kept = np.full(len(self.values), True) if len(self.values) < 200 else self.weights > 0
        total = self.run.total(v)
        self.moments = np.vstack([self.moments[kept], v.moments])
        self.totals = np.append(self.totals[kept], total)
        self.values = np.append(self.values[kept], v.loss - float(v.moments @ v.c) - total * v.b)
        self.weights = np.append(self.weights[kept], 0.0)

    def minimum(self, best: GenericValue) -> tuple[GenericValue, float]:
        """The minimiser of the model, and a lower bound of the objective."""
        lam, count = self.run.lam, len(self.values)
        centre = np.zeros_like(best.c) if lam else best.c
        Q = self.moments @ self.moments.T / self.curvature + np.outer(self.totals, self.totals) / self.pull
        linear = -(self.values + self.moments @ centre + best.b * self.totals)
        start = self.weights if self.weights.any() else np.append(np.zeros(count - 1), 1.0)
        problem = BoxProblem(linear, np.zeros(count), np.ones(count))
        scale = max(float(np.abs(linear).max()), 1e-300)
        solved = solve_box(problem, HeldMatrix(Q), start=start, tol=1e-12 * scale, progress=False)
        self.weights = solved.value.coefficients
        slope, total = self.weights @ self.moments, float(self.weights @ self.totals)
        c = centre - slope / self.curvature
        here = self.run.at(c, best.b - total / self.pull if self.run.intercept else 0.0)
        # the bound holds for intercepts as far away as the predictions are large
        least = float(self.weights @ (self.values + best.b * self.totals))
        least -= abs(total) * float(np.abs(here.predictions).max(initial=0.0))
        size = float(np.linalg.norm(slope))
        return here, least - (0.5 * size**2 / lam if lam else RADIUS * size * max(best.norm, here.norm))
