r"""Any convex loss of the predictions with a squared-norm penalty, from its values and slopes alone.

Minimise :math:`L(R c + b) + \frac\lambda2 |c|^2` over coordinates :math:`c` of the range of :math:`K = R
R^\top` and, with an intercept, :math:`b`.  A quasi-Newton method (L-BFGS) finds the minimiser of a smooth
loss.  There the objective exceeds its minimum by at most :math:`|\nabla|^2 / 2 \lambda`, which is how it is
known to be one.  Where a loss has kinks this does not come down, and a bundle method takes over: it keeps
tangents of L from the points it has seen, minimises the largest of them plus the penalty, and adds the
tangent of that point.  The minimum of the model bounds that of the objective from below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..box import BoxProblem, solve_box
from ..matrices import DenseMatrix
from ..solution import Solution

__all__ = ["Coordinates", "GenericValue", "LossFunction", "solve_generic"]

Array: TypeAlias = NDArray[np.float64]
LossFunction: TypeAlias = Callable[[Array], tuple[float, Array]]

#: Eigenvalues below this part of the largest are zero.
RANK = 1e-13

#: How firmly a bundle method holds the intercept, relative to the penalty.
PULL = 0.1

#: Tangents kept at most; those that do not bear the minimum go first.
TANGENTS = 200


class Coordinates:
    """Coordinates of the range of a positive semidefinite matrix: K = R R'."""

    def __init__(self, K: Array) -> None:
        values, vectors = linalg.eigh(K, check_finite=False)
        kept = values > RANK * len(K) * max(float(values[-1]), 0.0)
        self.roots, self.vectors = np.sqrt(values[kept]), vectors[:, kept]

    @property
    def rank(self) -> int:
        """How many there are."""
        return len(self.roots)

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
    """Coordinates, the intercept, predictions, and the value and slopes of the loss there."""

    c: Array
    b: float
    predictions: Array
    loss: float
    slopes: Array


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
    """Minimise from values and slopes of the loss alone.

    Parameters
    ----------
    loss : callable
        ``loss(predictions)`` returns the value and the slopes, of the shape of the predictions.
    R : Coordinates
    lam : float
        Penalty, > 0.
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
        ``gap`` bounds how far the objective is above its minimum if the loss is convex; with an intercept
        this supposes that the best one is not much farther away than the predictions are large.
    """
    run = _Run(loss, R, lam, intercept)
    smooth = run.descend(start, max_iter)
    gap = run.gradient_gap(smooth)
    method = "L-BFGS"
    if not gap <= tol * abs(run.objective(smooth)):
        kinked, bound = run.bundle(smooth, tol, max_iter)
        if bound < gap:
            smooth, gap, method = kinked, bound, "bundle"
    converged = bool(gap <= tol * abs(run.objective(smooth)))
    status = "converged" if converged else "stopped before the gap was small; raise max_iter, alpha or tol"
    stats = {"iterations": run.calls, "method": method, "objective": run.objective(smooth)}
    return Solution(smooth, converged, status, gap, stats)


class _Run:
    def __init__(self, loss: LossFunction, R: Coordinates, lam: float, intercept: bool) -> None:
        self.loss, self.R, self.lam, self.intercept = loss, R, lam, intercept
        self.calls = 0

    def at(self, c: Array, b: float) -> GenericValue:
        self.calls += 1
        F = self.R.predictions(c) + b
        value, slopes = self.loss(F)
        return GenericValue(c, b, F, float(value), np.asarray(slopes, dtype=np.float64))

    def objective(self, v: GenericValue) -> float:
        return v.loss + 0.5 * self.lam * float(v.c @ v.c)

    def gradient(self, v: GenericValue) -> Array:
        """In the coordinates and, last, in the intercept."""
        along = float(v.slopes.sum()) if self.intercept else 0.0
        return np.append(self.R.moments(v.slopes) + self.lam * v.c, along)

    def gradient_gap(self, v: GenericValue) -> float:
        """How far the objective is above its minimum at most, by strong convexity."""
        gradient = self.gradient(v)
        return float(gradient @ gradient) / (2 * self.lam)

    # -- smooth losses --------------------------------------------------------------------------
    def descend(self, start: GenericValue | None, max_iter: int) -> GenericValue:
        from scipy.optimize import minimize

        def function(x: Array) -> tuple[float, Array]:
            v = self.at(x[:-1], float(x[-1]) if self.intercept else 0.0)
            return self.objective(v), self.gradient(v)

        x = np.zeros(self.R.rank + 1) if start is None else np.append(start.c, start.b)
        options = {"maxiter": max_iter, "maxfun": 10 * max_iter, "ftol": 0.0, "gtol": 0.0, "maxcor": 30}
        found = minimize(function, x, jac=True, method="L-BFGS-B", options=options)
        return self.at(found.x[:-1], float(found.x[-1]) if self.intercept else 0.0)

    # -- losses with kinks ----------------------------------------------------------------------
    def bundle(self, start: GenericValue, tol: float, max_iter: int) -> tuple[GenericValue, float]:
        """The best point of a bundle method, and a bound on how far it is above the minimum.

        The penalty keeps the coordinates near; the intercept is kept near the best one so far.
        """
        best, bound = start, np.inf
        model = _Model(self, PULL * self.lam)
        model.add(start)
        for _ in range(max_iter):
            here, least = model.minimum(best)
            if self.objective(here) < self.objective(best):
                best = here
            bound = min(bound, max(self.objective(best) - least, 0.0))
            if bound <= 0.5 * tol * abs(self.objective(best)):
                break
            model.add(here)
        return best, bound


class _Model:
    r"""The largest of some tangents of L, plus the penalty.

    With weights :math:`\theta` on the tangents, of sum one, its minimum is the largest value of
    :math:`l^\top \theta - \frac{1}{2 \lambda} |R^\top G \theta|^2`, where G holds their slopes and l their
    values at zero; and :math:`c = -R^\top G \theta / \lambda`.  The intercept's part of :math:`G \theta` is
    zero at the solution.
    """

    def __init__(self, run: _Run, pull: float) -> None:
        self.run, self.pull = run, pull
        self.moments = np.empty((0, run.R.rank))
        self.totals, self.values, self.weights = np.empty(0), np.empty(0), np.empty(0)

    def add(self, v: GenericValue) -> None:
        """Keep one more tangent; beyond many, those without weight are let go."""
        kept = np.full(len(self.values), True) if len(self.values) < TANGENTS else self.weights > 0
        total = float(v.slopes.sum()) if self.run.intercept else 0.0
        self.moments = np.vstack([self.moments[kept], self.run.R.moments(v.slopes)])
        self.totals = np.append(self.totals[kept], total)
        self.values = np.append(self.values[kept], v.loss - float(v.slopes @ v.predictions))
        self.weights = np.append(self.weights[kept], 0.0)

    def minimum(self, best: GenericValue) -> tuple[GenericValue, float]:
        """The minimiser of the model, and a lower bound of the objective."""
        lam, count = self.run.lam, len(self.values)
        Q = self.moments @ self.moments.T / lam + np.outer(self.totals, self.totals) / self.pull
        linear = -(self.values + best.b * self.totals)
        start = self.weights if self.weights.any() else np.append(np.zeros(count - 1), 1.0)
        problem = BoxProblem(linear, np.zeros(count), np.ones(count))
        scale = max(float(np.abs(linear).max()), 1e-300)
        solved = solve_box(problem, DenseMatrix(Q), start=start, tol=1e-12 * scale, progress=False)
        self.weights = solved.value.coefficients
        c = -(self.weights @ self.moments) / lam
        total = float(self.weights @ self.totals)
        here = self.run.at(c, best.b - total / self.pull if self.run.intercept else 0.0)
        # the bound holds for intercepts as far away as the predictions are large
        slack = abs(total) * float(np.abs(here.predictions).max(initial=0.0))
        return here, float(self.weights @ -linear) - 0.5 * lam * float(c @ c) - slack
