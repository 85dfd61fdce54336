"""The search for hyper-parameters: L-BFGS on their logarithms, from several starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ...domains import Data
from ...engine.runs import Task
from ...errors import MercerError
from ...solvers import Solution
from ..messages import warn
from .gradients import has_gradient
from .hyperparameters import Hyperparameters
from .priors import Prior

__all__ = ["Objective", "SearchSpace", "maximise", "tune_parameters"]

Vector: TypeAlias = NDArray[np.float64]
#: From hyper-parameters, and which entries of the gradient are needed, to the value and its gradient.
Objective: TypeAlias = Callable[[Hyperparameters, NDArray[np.bool_]], tuple[float, Vector]]

#: A gradient of at most this size, relative to the objective, is that of a stationary point.
STATIONARY = 1e-3

#: A derivative of at most this size, relative to the objective, is rounding.
FLAT = 1e-10

#: Further starts are drawn within this factor of the first.
SPREAD = 1e2


@dataclass(frozen=True)
class SearchSpace:
    """Where a search starts and where it may go.

    Attributes
    ----------
    start : Hyperparameters
    bounds : array of shape (n_parameters, 2)
        Of the logarithms.
    free : array of bool
        Entries that move; the others stay at their start.
    priors : tuple of Prior
        Log-densities that are added to the objective.
    """

    start: Hyperparameters
    bounds: Vector
    free: NDArray[np.bool_]
    priors: tuple[Prior, ...] = ()

    @classmethod
    def around(cls, start: Hyperparameters) -> SearchSpace:
        """All parameters, within the ranges that they have by themselves."""
        return cls(start, start.bounds, np.ones(len(start.theta), dtype=bool))

    def starts(self, n_restarts: int, seed: Any) -> list[Vector]:
        """The free logarithms to start from: the given ones, and random ones around them."""
        rng, first = check_random_state(seed), self.start.theta
        starts = [np.clip(first, self.bounds[:, 0], self.bounds[:, 1])]
        for _ in range(n_restarts):
            shift = rng.uniform(-np.log(SPREAD), np.log(SPREAD), len(first))
            starts.append(np.clip(first + shift, self.bounds[:, 0], self.bounds[:, 1]))
        return [theta[self.free] for theta in starts]

    def point(self, theta: Vector) -> Hyperparameters:
        """The hyper-parameters with these free logarithms."""
        whole = self.start.theta
        whole[self.free] = theta
        return self.start.at(whole)

    def name(self, mask: NDArray[np.bool_]) -> list[str]:
        """Names of some of the free parameters."""
        names = [name for name, free in zip(self.start.names, self.free, strict=True) if free]
        return [name for name, wanted in zip(names, mask, strict=True) if wanted]


@dataclass
class _Evaluations:
    """The objective as a function of the free logarithms to minimise, with a record of its values."""

    objective: Objective
    space: SearchSpace
    task: Task
    values: list[float] = field(default_factory=list)
    flat: NDArray[np.bool_] | None = None
    best: tuple[float, Vector, Vector] | None = None  # value, logarithms, slope

    def value_and_slope(self, theta: Vector) -> tuple[float, Vector]:
        point = self.space.point(theta)
        value, slope = self.objective(point, self.space.free)
        for prior in self.space.priors:
            more, steeper = prior(point.theta)
            value, slope = value + more, slope + steeper
        return value, slope[self.space.free]

    def __call__(self, theta: Vector) -> tuple[float, Vector]:
        try:
            value, slope = self.value_and_slope(theta)
        except (np.linalg.LinAlgError, MercerError):
            if not self.values:  # the start itself must be sound
                raise
            value, slope = -np.inf, np.zeros_like(theta)
        else:
            still = np.abs(slope) <= FLAT * max(1.0, abs(value))
            self.flat = still if self.flat is None else self.flat & still
            if self.best is None or value > self.best[0]:
                self.best = value, theta.copy(), slope
        self.values.append(value)
        self.task.update()
        return -value, -slope


def maximise(
    objective: Objective, space: SearchSpace, n_restarts: int, seed: Any
) -> Solution[Hyperparameters]:
    """Maximise an objective over hyper-parameters; the best of all starts is returned.

    ``stats`` holds the objective, its values in the order of evaluation (``history``; minus infinity where
    the matrix was singular), and the names of parameters at the end of their range (``at_bound``) and of
    those on which the objective did not depend (``flat``).
    """
    from scipy.optimize import minimize

    bounds = space.bounds[space.free]
    starts = space.starts(n_restarts, seed)
    with Task("search", None, "evaluation") as task:
        evaluate = _Evaluations(objective, space, task)
        runs = [minimize(evaluate, theta, method="L-BFGS-B", jac=True, bounds=bounds) for theta in starts]
    best = min(runs, key=lambda run: run.fun)
    assert evaluate.best is not None  # the first evaluation succeeds or raises
    value, theta, slope = evaluate.best
    gap = float(np.abs(np.clip(theta + slope, bounds[:, 0], bounds[:, 1]) - theta).max(initial=0.0))
    converged = bool(best.success) and gap <= STATIONARY * max(1.0, abs(value))
    at_bound = space.name((theta - bounds[:, 0] < 1e-6) | (bounds[:, 1] - theta < 1e-6))
    flat = space.name(evaluate.flat) if evaluate.flat is not None else []
    count = len(evaluate.values)
    status = f"converged after {count} evaluations from {len(starts)} start(s)"
    if not converged:
        status = (
            f"the search ended with a gradient of {gap:.2g} ({best.message}); "
            "try n_restarts, or other starting values"
        )
    if at_bound:
        status += f"; at the end of the range of {', '.join(at_bound)}"
    if flat:
        status += f"; the criterion does not depend on {', '.join(flat)}"
    stats = {
        "objective": value,
        "evaluations": count,
        "starts": len(starts),
        "at_bound": at_bound,
        "flat": flat,
        "history": np.array(evaluate.values),
    }
    return Solution(space.point(theta), converged=converged, status=status, gap=gap, stats=stats)


def tune_parameters(
    objective: Objective, space: SearchSpace, points: Data, n_restarts: int, seed: Any, caller: str
) -> Solution[Hyperparameters]:
    """Maximise, note in ``stats["gradient"]`` how derivatives were taken, and warn of a bad end.

    ``points`` are what the kernel compares; ``caller`` is named in warnings.
    """
    found = maximise(objective, space, n_restarts, seed)
    how = "closed form" if has_gradient(space.start.kernel, points) else "finite differences"
    found = replace(found, stats={**found.stats, "gradient": how})
    if len(found.stats["flat"]) == int(space.free.sum()):
        warn(
            f"{caller}: the criterion is flat: it depends on none of {', '.join(found.stats['flat'])}. They "
            "stay at their start.",
            ConvergenceWarning,
        )
    elif not found.converged:
        warn(f"{caller}: {found.status}.", ConvergenceWarning)
    return found
