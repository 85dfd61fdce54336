r"""A smooth convex loss with constraints on the predictions, by the method of multipliers.

.. math:: \min \; L(z) + \tfrac\lambda2 \|f\|^2 \quad\text{subject to}\quad z_i = f(x_i) + b, \quad
          l_i \le z_i \le h_i

The augmented Lagrangian adds :math:`u^\top (F - z) + \frac\rho2 |F - z|^2` with :math:`F = K a + b`.  For
given z the best f and b are those of ridge regression, in closed form; what is left is a smooth function of
z in a box, which L-BFGS-B minimises.  So the loss is evaluated within its domain only.  Then :math:`u
\leftarrow u + \rho (F - z)`, and the coefficients are :math:`a = -u / \lambda` (Hestenes 1969, Powell 1969;
Bertsekas 1982, chapter 2).

For slopes g of L at a point P of the box and any s of sum zero (without an intercept: any s),

.. math:: L(P) - g^\top P + \min_{z \in D} (g - s)^\top z - \tfrac{1}{2\lambda} s^\top K s

is a lower bound of the minimum; s = u makes it tight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...engine.runs import STOPPING, checkpoint, conclude, stop_reason
from ..constraints import least_over
from ..solution import Solution
from .feasibility import refuse_contradictions
from .generic import Coordinates

__all__ = ["ConstrainedValue", "solve_multipliers"]

Array: TypeAlias = NDArray[np.float64]


class ConstrainedValue(NamedTuple):
    """Multipliers u, the intercept, predictions within the domain, the loss and its slopes there."""

    u: Array
    b: float
    predictions: Array
    loss: float
    slopes: Array


def solve_multipliers(
    loss: Callable[[Array], tuple[float, Array]],
    low: Array,
    high: Array,
    R: Coordinates,
    lam: float,
    *,
    intercept: bool,
    start: Array | ConstrainedValue,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> Solution[ConstrainedValue]:
    """Minimise a loss, known by values and slopes on a box, plus ``lam / 2`` times the squared norm.

    The start is a point of the box, or what is known from another penalty.

    Returns
    -------
    Solution
        ``gap`` bounds how far the objective is above its minimum, if the loss is convex;
        ``stats["violation"]`` is the largest violation of a constraint.

    Raises
    ------
    InfeasibleError
        If no function has its predictions in the box.
    """
    run = _Run(loss, low, high, R, lam, intercept)
    value, gap, violation, converged = run.solve(start, tol, max_iter)
    if not converged and not stop_reason() and violation > tol * run.size(value.predictions):
        refuse_contradictions(R, low, high, intercept)
    status = "converged" if converged else "stopped before the gap was small; raise max_iter, alpha or tol"
    stats = {"iterations": run.calls, "method": "method of multipliers", "violation": violation}
    return Solution(value, converged, status, gap, stats)


class _Run:
    def __init__(
        self,
        loss: Callable[[Array], tuple[float, Array]],
        low: Array,
        high: Array,
        R: Coordinates,
        lam: float,
        intercept: bool,
    ) -> None:
        self.loss, self.low, self.high, self.R = loss, low, high, R
        self.lam, self.intercept, self.calls = lam, intercept, 0

    def size(self, z: Array) -> float:
        """The size of predictions, by which violations are measured."""
        return max(float(np.abs(z).max()), 1e-300)

    def solve(
        self, start: Array | ConstrainedValue, tol: float, max_iter: int
    ) -> tuple[ConstrainedValue, float, float, bool]:
        if isinstance(start, ConstrainedValue):
            z, u = start.predictions, start.u
        else:
            z, u = start, np.zeros(len(start))
        # The weight rho of the squared residual: the first, relative to lambda over the mean of k(x, x); its
        # growth, and the largest.
        first, growth, largest = 10.0, 4.0, 1e4
        rho = first * self.lam / self.R.mean
        found: tuple[ConstrainedValue, float, float] | None = None
        before = math.inf
        for _ in range(100):
            try:
                z = self._inner(z, u, rho, max_iter)
            except STOPPING as error:
                if found is None:
                    raise
                conclude(error)
                break
            residual, b = self._residual(z - u / rho, rho)
            u = -rho * residual
            found = value, gap, violation = self._judge(z, u, b)
            objective = value.loss + 0.5 * float(u @ (self.R.predictions(self.R.moments(u)))) / self.lam
            if gap <= tol * abs(objective) and violation <= tol * self.size(value.predictions):
                return value, gap, violation, True
            # The weight stays as long as a round leaves at most this part of the gap.
            if not gap <= 0.25 * before:  # a larger rho makes the inner problem harder
                rho = min(growth * rho, largest * self.lam / self.R.mean)
            before = gap
        assert found is not None
        return *found, False

    def _residual(self, v: Array, rho: float) -> tuple[Array, float]:
        """``v - F`` for the ridge regression F of v, and its intercept."""

        def apart(x: Array) -> Array:
            m = self.R.moments(x)
            return np.asarray(x - self.R.predictions(rho * m / (self.lam + rho * self.R.roots**2)))

        r = apart(v)
        if not self.intercept:
            return r, 0.0
        ones = apart(np.ones(len(v)))
        b = float(r.sum() / ones.sum())
        return r - b * ones, b

    def _inner(self, z: Array, u: Array, rho: float, max_iter: int) -> Array:
        """The minimiser of the augmented Lagrangian in the box."""
        from scipy.optimize import minimize

        first, gradient = self._augmented(z, u, rho)
        unit = max(abs(first), 1e-300)
        length = unit / max(float(np.abs(gradient).max()), 1e-300)

        def function(x: Array) -> tuple[float, Array]:
            value, gradient = self._augmented(np.clip(length * x, self.low, self.high), u, rho)
            return value / unit, gradient * (length / unit)

        options = {"maxiter": max_iter, "maxfun": 10 * max_iter, "ftol": 0.0, "gtol": 0.0, "maxcor": 30}
        bounds = np.column_stack([self.low, self.high]) / length
        found = minimize(function, z / length, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        at_low, at_high = found.x <= bounds[:, 0], found.x >= bounds[:, 1]
        return np.where(at_low, self.low, np.where(at_high, self.high, length * found.x))

    def _augmented(self, z: Array, u: Array, rho: float) -> tuple[float, Array]:
        checkpoint()
        self.calls += 1
        value, slopes = self.loss(z)
        v = z - u / rho
        residual, _ = self._residual(v, rho)
        # lam/2 |f|^2 + rho/2 |v - F|^2 is rho/2 <v, v - F> at the best f
        return value + 0.5 * rho * float(v @ residual), slopes + rho * residual

    def _judge(self, z: Array, u: Array, b: float) -> tuple[ConstrainedValue, float, float]:
        """The function of these multipliers, a bound of its gap, and its violation of the constraints.

        ``z`` says which constraints are active.
        """
        c = -self.R.moments(u) / self.lam
        F = self.R.predictions(c) + b
        P = np.clip(F, self.low, self.high)
        value, g = self.loss(P)
        # multipliers of the ends: positive at the lower, negative at the upper one, zero between
        nu = np.where(z == self.low, np.maximum(g - u, 0.0), 0.0)
        nu = np.where(z == self.high, np.minimum(g - u, 0.0) + nu, nu)
        s = g - nu
        dual = -0.5 * float(np.sum(self.R.moments(s) ** 2)) / self.lam
        least = value - float(g @ P) + float(least_over(self.low, self.high, nu).sum()) + dual
        if self.intercept:
            least -= abs(float(s.sum())) * self.size(P)
        gap = max(value + 0.5 * self.lam * float(c @ c) - least, 0.0)
        violation = float(np.abs(F - P).max())
        return ConstrainedValue(u, b, P, value, g), gap if math.isfinite(gap) else np.inf, violation
