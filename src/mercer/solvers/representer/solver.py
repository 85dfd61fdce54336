r"""Minimise a loss of predictions plus a function of the norm, and bound how far from the minimum that is.

For a convex loss and a convex increasing g, slopes :math:`s` at which the conjugate of the loss is finite,
with :math:`\|\sum_i s_i k(x_i, \cdot)\| \le \alpha g'(t)` (and of sum zero with an intercept), give

.. math:: L(f) + \alpha g(\|f\|) - \min \;\le\; L(f) + L^*(s) + \alpha \, t \, g'(t), \qquad t = \|f\| ,

because :math:`(\alpha g)^*(u) \le \alpha (t g'(t) - g(t))` for :math:`u \le \alpha g'(t)`.  The conjugate of
g need not be known.  At the solution the slopes are :math:`-\lambda a`, and the bound is zero.

Built-in losses are solved in units of the largest target, so that the scale of the targets does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...engine.runs import stop_reason
from ...engine.threads import few_threads
from ...errors import ParameterError
from ...gram import Gram
from ..losses import Loss, PiecewiseLinear, SmoothLoss
from ..matrix import LazyMatrix
from ..smooth import SmoothProblem, SmoothValue, best_intercept, hold, solve_smooth
from ..solution import Solution
from ..svm import BoxProblem, solve_box
from .generic import Coordinates, LossFunction, solve_generic
from .multipliers import solve_multipliers
from .norms import NoPenalty, Penalty, require_finite
from .path import Found, along_the_path

__all__ = ["BuiltIn", "RepresenterValue", "UserLoss", "solve_representer", "unit_of"]

Array: TypeAlias = NDArray[np.float64]

#: A penalty of the squared norm is as good as infinite at this multiple of the largest curvature of the loss.
AS_GOOD_AS_ZERO = 1e7


class RepresenterValue(NamedTuple):
    """Coefficients, intercept, norm."""

    coefficients: Array
    intercept: float
    norm: float


class Slopes(NamedTuple):
    """Weighted slopes of the loss, feasible for the dual problem, and the norm of their kernel function."""

    values: Array
    norm: float


@dataclass(frozen=True)
class Fitted:
    """The minimiser for a squared norm."""

    value: RepresenterValue
    loss: float
    predictions: Array
    slopes: Slopes | None  # None for losses of one's own
    solution: Solution[Any]
    gap: float  # for the squared norm
    rounding: float = 0.0  # of the loss, by that of the predictions
    violation: float | None = None  # of constraints on the predictions, at most

    @property
    def norm(self) -> float:
        """The norm of the function."""
        return self.value.norm


class Solver(Protocol):
    """Minimises one loss with the squared norm."""

    size: int  # number of points
    unit: float  # of predictions; what follows is in this unit, and that of the objective
    degree: int  # the unit of the objective is unit**degree
    scale: float  # of penalties
    rounding: float  # an objective so small that its relative error is above the tolerance
    floor: float  # the loss is at least this

    def fit(self, lam: float, start: Fitted | None) -> Fitted:
        """The minimiser with the penalty ``lam / 2`` times the squared norm."""

    def zero(self) -> Fitted:
        """The best function of norm zero."""

    def between(self, first: Fitted, second: Fitted, norm: float) -> Fitted:
        """The mixture of two functions that has a norm between theirs."""

    def gap(self, found: Found[Fitted], alpha: float, penalty: Penalty) -> float:
        """How far the objective is above its minimum at most, for a power of the norm."""


def solve_representer(
    solver: Solver, alpha: float, penalty: Penalty, tol: float
) -> Solution[RepresenterValue]:
    """Minimise; ``gap`` of the solution bounds how far its objective is above the minimum."""
    log_factor, penalty = penalty.in_units(solver.unit)
    shift = log_factor - solver.degree * math.log(solver.unit)
    log_alpha = math.log(alpha) + shift
    if penalty != NoPenalty():
        _require_range(alpha, log_alpha, solver.scale)
    strength = math.exp(log_alpha) if shift else alpha
    with few_threads(solver.size):
        most = AS_GOOD_AS_ZERO * solver.scale

        def accuracy(trial: Fitted) -> float:
            objective = trial.loss + strength * penalty.value(trial.norm)
            return tol * max(abs(objective), solver.rounding) + trial.rounding

        found = along_the_path(solver, strength, penalty, most, accuracy)
        trial = found.trial
        require_finite(penalty.value(trial.norm), solver.unit * trial.norm)
        objective = trial.loss + strength * penalty.value(trial.norm)
        gap = math.inf if found.gap is None else found.gap
        if found.gap is None and math.isfinite(objective):
            gap = solver.gap(found, strength, penalty)
    size = max(float(np.abs(trial.predictions).max(initial=0.0)), 1e-300)
    violation = trial.violation or 0.0
    satisfied = violation <= tol * size
    converged = bool(math.isfinite(objective) and gap <= accuracy(trial) and satisfied)
    status = "converged" if converged else "the gap is above the tolerance; raise max_iter, alpha or tol"
    if not satisfied:
        status = f"the constraints are violated by up to {solver.unit * violation:.3g}; raise max_iter or tol"
    elif not converged and found.gap is not None:
        status = "the objective does not meet its lower bound; raise max_iter or tol"
    elif not converged and not trial.solution.converged:
        status = trial.solution.status
    if not converged and stop_reason():
        status = f"stopped because {stop_reason()}; raise time_budget, alpha or tol"
    unit, total = solver.unit, solver.unit**solver.degree
    stats = {
        "objective": total * objective,
        "lambda": found.lam * unit ** (solver.degree - 2),
        "fits": found.tries,
        "iterations": trial.solution.stats["iterations"],
    }
    if trial.violation is not None:
        stats["violation"] = unit * trial.violation
    a, b, norm = trial.value
    return Solution(RepresenterValue(unit * a, unit * b, unit * norm), converged, status, total * gap, stats)


def unit_of(loss: Loss, targets: Array) -> float:
    """The unit to solve in: the largest target, or 1 where targets have no unit."""
    if loss.degree is None:
        return 1.0
    largest = float(np.abs(targets).max())
    # Units of targets: squares of the smallest and of the largest are floats.
    smallest_unit, largest_unit = 1e-150, 1e150
    return min(max(largest, smallest_unit), largest_unit) if largest else 1.0


def mixture(
    first: Fitted,
    second: Fitted,
    norm: float,
    product: Callable[[Array], Array],
    loss: Callable[[Array, float], float],
) -> Fitted:
    """The mixture of two functions that has a norm between theirs; its slopes are those of the first."""
    (a, b, t), (a2, b2, t2) = first.value, second.value
    inner = float(a @ product(a2))
    # |f + theta (f2 - f)|^2 = norm^2, for the positive theta
    square, along = t**2 - 2 * inner + t2**2, inner - t**2
    rest = norm**2 - t**2
    theta = rest / (along + math.sqrt(max(along**2 + square * rest, 0.0))) if rest > 0 else 0.0
    theta = min(max(theta, 0.0), 1.0)
    mixed = (1 - theta) ** 2 * t**2 + 2 * theta * (1 - theta) * inner + theta**2 * t2**2
    shrink = min(1.0, norm / math.sqrt(mixed)) if mixed > 0 else 1.0  # by rounding only
    offset = (1 - theta) * b + theta * b2
    F = (1 - theta) * first.predictions + theta * second.predictions
    F = offset + shrink * (F - offset)
    value = RepresenterValue(shrink * ((1 - theta) * a + theta * a2), offset, shrink * math.sqrt(mixed))
    value = value._replace(norm=min(value.norm, norm))
    violation = None if first.violation is None else max(first.violation, second.violation or 0.0)
    return replace(first, value=value, loss=loss(F, value.norm), predictions=F, violation=violation)


def _require_range(alpha: float, log_alpha: float, scale: float) -> None:
    # Penalties, relative to the scale of the problem, whose squares and reciprocals are far from overflow.
    low, high = (math.log(end) + math.log(scale) for end in (1e-50, 1e50))
    if not low <= log_alpha <= high:
        shift = math.log(alpha) - log_alpha
        ends = " and ".join(f"1e{(end + shift) / math.log(10):.0f}" for end in (low, high))
        raise ParameterError(
            f"RepresenterMachine: `alpha` must be between {ends} for these data and this loss and penalty. "
            f"Got {alpha!r}. Beyond, either the loss or the penalty is lost to rounding."
        )


class BuiltIn:
    """A loss of this library, a weighted sum over points."""

    name = "RepresenterMachine"
    floor = 0.0

    def __init__(
        self,
        loss: Loss,
        targets: Array,
        weight: Array,
        G: Gram,
        intercept: bool,
        *,
        tol: float,
        max_iter: int,
    ) -> None:
        self.unit, self.degree = unit_of(loss, targets), loss.degree or 0
        self.loss, self.y = loss.in_units(self.unit), targets[:, None] / self.unit
        self.weight, self.gram = weight, G
        self.intercept, self.tol, self.max_iter = intercept, tol, max_iter
        self.held = hold(G) if isinstance(loss, SmoothLoss) else None
        self.matrix, self.size = LazyMatrix(G), len(G)
        largest = max(1.0, float(np.abs(self.y).max()))
        self.scale = float(weight @ np.abs(self.matrix.diagonal())) * largest or 1.0
        self.rounding = float(np.finfo(float).eps * weight.sum() * largest**2) / tol

    def fit(self, lam: float, start: Fitted | None) -> Fitted:
        """The minimiser with the penalty ``lam / 2`` times the squared norm."""
        if isinstance(self.loss, SmoothLoss):
            return self._smooth(self.loss, lam, start)
        assert isinstance(self.loss, PiecewiseLinear)
        return self._piecewise_linear(self.loss, lam)

    def _smooth(self, loss: SmoothLoss, lam: float, start: Fitted | None) -> Fitted:
        problem = SmoothProblem(loss, self.y, self.weight, self.intercept)
        first = None
        if start is not None:
            coefficients, intercept, _ = start.value
            first = SmoothValue(coefficients[:, None], np.array([intercept]), start.predictions[:, None])
        # Fits for a squared norm are more accurate by this factor: the norm feels the root of their gap.
        solution = solve_smooth(
            problem,
            self.gram,
            lam,
            held=self.held,
            start=first,
            tol=1e-10 * self.tol,
            max_iter=self.max_iter,
            name=self.name,
        )
        A, b, F = solution.value
        return self._fitted(lam, A[:, 0], float(b[0]), F[:, 0], solution, solution.gap)

    def _piecewise_linear(self, loss: PiecewiseLinear, lam: float) -> Fitted:
        """The quadratic problem of support vector machines, with ``C = weight / lam``."""
        C = self.weight / lam
        low, high = (C * bound[:, 0] for bound in loss.bounds(self.y))
        constraint: Any = "sum" if self.intercept else "free"
        problem = BoxProblem(-self.y[:, 0], low, high, loss.width, constraint)
        b = np.zeros(len(C))
        # Tolerances of the optimality conditions that piecewise linear losses are solved to, one after the
        # other, until the gap is small.
        for tol in (1e-4, 1e-7, 1e-10):
            solution = solve_box(problem, self.matrix, start=b, tol=tol * self._size, name=self.name)
            b, gradient, multipliers = solution.value
            if solution.gap <= 0.1 * self.tol * abs(solution.stats["objective"]):
                break
        offset = multipliers[0] if self.intercept else 0.0
        F = gradient + self.y[:, 0] + offset
        roots = np.sqrt(np.abs(self.matrix.diagonal()))
        rounding = float(np.finfo(float).eps * (self.weight @ roots) * (roots @ np.abs(b)))
        return replace(self._fitted(lam, b, offset, F, solution, lam * solution.gap), rounding=rounding)

    @property
    def _size(self) -> float:
        """The size of predictions, by which tolerances of theirs are measured."""
        return max(float(np.abs(self.y).max()), 1e-300)

    def _fitted(
        self, lam: float, a: Array, b: float, F: Array, solution: Solution[Any], gap: float
    ) -> Fitted:
        norm = math.sqrt(max(float(a @ (F - b)), 0.0))
        value = RepresenterValue(a, b, norm)
        return Fitted(value, self.loss_of(F), F, Slopes(-lam * a, lam * norm), solution, gap)

    def loss_of(self, F: Array, norm: float = 0.0) -> float:
        """The loss of predictions."""
        return float(self.weight @ self.loss.value(self.y, F[:, None]))

    def between(self, first: Fitted, second: Fitted, norm: float) -> Fitted:
        """The mixture of two functions that has a norm between theirs."""
        return mixture(first, second, norm, self.matrix.product, self.loss_of)

    def zero(self) -> Fitted:
        """The best function of norm zero; its slopes are those of a norm that is as good as zero."""
        last = self.fit(AS_GOOD_AS_ZERO * self.scale, None)
        n, b = len(self.weight), last.value.intercept
        if isinstance(self.loss, SmoothLoss):
            problem = SmoothProblem(self.loss, self.y, self.weight, self.intercept)
            b = float(best_intercept(problem, np.zeros((n, 1)), np.array([b]))[0])
        F = np.full(n, b)
        value = RepresenterValue(np.zeros(n), b, 0.0)
        return replace(last, value=value, loss=self.loss_of(F), predictions=F)

    def gap(self, found: Found[Fitted], alpha: float, penalty: Penalty) -> float:
        """The duality gap; its slopes are scaled down to what the penalty's derivative allows."""
        trial = found.trial
        t, allowed = trial.norm, alpha * penalty.slope(trial.norm)
        bounds = []
        for s, size in self._candidates(trial):
            s = s * min(1.0, allowed / size) if size > 0 else s
            conjugate = float(self.weight @ self.loss.conjugate(self.y, (s / self.weight)[:, None]))
            bounds.append(max(trial.loss + conjugate + t * allowed, 0.0))
        return min(bounds)

    def _candidates(self, trial: Fitted) -> list[Slopes]:
        """Points of the dual problem: minus lambda times the coefficients, and the slopes of the loss.

        They are the same up to rounding and up to what K does not see.  The norm of the first is that of f;
        that of the second may be a small difference of large numbers.
        """
        assert trial.slopes is not None
        result = [trial.slopes]
        if isinstance(self.loss, SmoothLoss):
            s = self.weight * self.loss.gradient(self.y, trial.predictions[:, None])[:, 0]
            result.append(Slopes(s, math.sqrt(max(float(s @ self.matrix.product(s)), 0.0))))
        return result


class UserLoss:
    """A function that returns value and slopes of a loss of all predictions and, perhaps, of the norm.

    With a ``domain``, the least and the largest prediction of each point, it is evaluated only there, and
    must not depend on the norm.  The search begins at zero, or ``inset`` away from the ends of the domain.
    """

    def __init__(
        self,
        loss: LossFunction,
        G: Gram,
        intercept: bool,
        *,
        tol: float,
        max_iter: int,
        domain: tuple[Array, Array] | None = None,
        inset: float = 1.0,
        unit: float = 1.0,
        degree: int = 0,
    ) -> None:
        self.loss, self.intercept, self.tol, self.max_iter = loss, intercept, tol, max_iter
        self.floor = -math.inf
        self.domain, self.unit, self.degree = domain, unit, degree
        K = np.asarray(G._in_double().dense(), dtype=np.float64)
        self.size = len(K)
        with few_threads(self.size):
            self.coordinates = Coordinates(K)
        self.first = np.zeros(self.size)
        if domain is not None:
            low, high = domain
            away = np.minimum(inset, 0.5 * (high - low))
            self.first = np.clip(self.first, low + away, high - away)
        value, slopes, _ = loss(self.first, 0.0)
        curvature = float(slopes @ slopes) / abs(value) if 0 < abs(value) < np.inf else 0.0
        self.scale = self.coordinates.mean * self.size * (curvature or 1.0)
        self.rounding = float(np.finfo(float).eps) * (abs(value) if np.isfinite(value) else 0.0) / tol

    def fit(self, lam: float, start: Fitted | None) -> Fitted:
        """The minimiser with the penalty ``lam / 2`` times the squared norm."""
        R, before = self.coordinates, None if start is None else start.solution.value
        limits: dict[str, Any] = {"intercept": self.intercept, "tol": self.tol, "max_iter": self.max_iter}
        solution: Solution[Any]
        if self.domain is None:
            solution = solve_generic(self.loss, R, lam, start=before, **limits)
            c, coefficients = solution.value.c, R.coefficients(solution.value.c)
        else:
            first = self.first if before is None else before
            solution = solve_multipliers(self._of_predictions, *self.domain, R, lam, start=first, **limits)
            coefficients = -solution.value.u / lam
            c = R.moments(coefficients)
        v = solution.value
        value = RepresenterValue(coefficients, v.b, float(np.linalg.norm(c)))
        violation = solution.stats.get("violation")
        return Fitted(value, v.loss, v.predictions, None, solution, solution.gap, violation=violation)

    def between(self, first: Fitted, second: Fitted, norm: float) -> Fitted:
        """The mixture of two functions that has a norm between theirs."""
        R = self.coordinates
        return mixture(
            first, second, norm, lambda a: R.predictions(R.moments(a)), lambda F, t: self.loss(F, t)[0]
        )

    def _of_predictions(self, F: Array) -> tuple[float, Array]:
        value, slopes, _ = self.loss(F, 0.0)
        return value, slopes

    def zero(self) -> Fitted:
        """The function that is as good as zero, without its last digits."""
        last = self.fit(AS_GOOD_AS_ZERO * self.scale, None)
        F = np.full_like(last.predictions, last.value.intercept)
        inside = self.domain is None or bool(((self.domain[0] <= F) & (self.domain[1] >= F)).all())
        value = RepresenterValue(np.zeros_like(last.value.coefficients), last.value.intercept, 0.0)
        return replace(last, value=value, loss=self.loss(F, 0.0)[0] if inside else np.inf, predictions=F)

    def gap(self, found: Found[Fitted], alpha: float, penalty: Penalty) -> float:
        """The gap for the squared norm, and what the derivatives of the two penalties differ."""
        t = found.trial.norm
        if t == 0:
            return found.trial.gap
        return float(found.trial.gap + t * abs(found.lam * t - alpha * penalty.slope(t)))
