"""The search for hyper-parameters: L-BFGS on their logarithms, from several starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ...domains import Data, take
from ...engine.runs import Task
from ...errors import GradientError, MercerError, warn
from ...solvers import Solution
from .hyperparameters import Hyperparameters
from .priors import Prior
from .scales import Scales

__all__ = ["Objective", "SearchSpace", "maximise", "tune_parameters"]

Vector: TypeAlias = NDArray[np.float64]
#: From hyper-parameters, and which entries of the gradient are needed, to the value and its gradient.
Objective: TypeAlias = Callable[[Hyperparameters, NDArray[np.bool_]], tuple[float, Vector]]


@dataclass(frozen=True)
class SearchSpace:
    """Where a search starts and where it may go.

    Attributes
    ----------
    start : Hyperparameters
        As they were given.
    scales : Scales
        Where the search starts from, and what is usual for the data.
    bounds : array of shape (n_parameters, 2)
        Of the logarithms.
    free : array of bool
        Entries that move; the others stay at their start.
    asked : array of bool
        Entries whose bounds the caller has set.
    priors : tuple of Prior
        Log-densities that are added to the objective.
    """

    start: Hyperparameters
    scales: Scales
    bounds: Vector
    free: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    priors: tuple[Prior, ...] = ()

    @classmethod
    def around(cls, start: Hyperparameters, scales: Scales) -> SearchSpace:
        """All parameters, in their ranges, near their start and what is usual for the data."""
        low, high = np.fmin(scales.first, scales.usual[:, 0]), np.fmax(scales.first, scales.usual[:, 1])
        (least, most), reach = start.bounds.T, np.log(1e5)
        bounds = [np.maximum(low - reach, least), np.minimum(high + reach, most)]
        asked = np.zeros(len(low), dtype=bool)
        return cls(start, scales, np.column_stack(bounds), ~asked, asked)

    def starts(self, n_restarts: int, seed: Any) -> list[Vector]:
        """The free logarithms to start from: the given ones, usual ones if they are not, and random ones."""
        rng, first = check_random_state(seed), self.scales.first
        usual, known = self.scales.usual, ~self.scales.vanishing  # little noise is no bad start
        unusual = (first < usual[:, 0]) & known[:, 0] | (first > usual[:, 1]) & known[:, 1]
        starts = [first]
        if (unusual & self.free).any():
            starts.append(np.where(unusual & self.free, usual.mean(axis=1), first))
        shifts = rng.uniform(-np.log(1e2), np.log(1e2), (n_restarts, len(first)))
        starts += list(starts[-1] + shifts)
        return [np.clip(theta, *self.bounds.T)[self.free] for theta in starts]

    def point(self, theta: Vector) -> Hyperparameters:
        """The hyper-parameters with these free logarithms."""
        whole = self.start.theta.copy()
        whole[self.free] = theta
        return self.start.at(whole)

    def name(self, mask: Any) -> list[str]:
        """Names of some of the free parameters."""
        names = [name for name, free in zip(self.start.names, self.free, strict=True) if free]
        return [name for name, wanted in zip(names, mask, strict=True) if wanted]


@dataclass
class _Evaluations:
    """The objective as a function to minimise, with a record of its values.

    Of the free logarithms divided by ``unit``, a power of two.
    """

    objective: Objective
    space: SearchSpace
    task: Task
    unit: float = 1.0
    values: list[float] = field(default_factory=list)
    flat: NDArray[np.bool_] | None = None
    best: tuple[float, Vector, Vector] | None = None  # value, logarithms, slope
    last: tuple[float, Vector, Vector] | None = None
    error: np.linalg.LinAlgError | MercerError | None = None

    def __call__(self, scaled: Vector) -> tuple[float, Vector]:
        theta, origin = scaled * self.unit, self.space.scales.origin
        if self.last is None or (theta != self.last[1]).any():
            try:
                point = self.space.point(theta)
                value, slope = self.objective(point, self.space.free)
                for prior in self.space.priors:
                    more, steeper = prior(point.theta)
                    value, slope = value + more, slope + steeper
                slope = slope[self.space.free]
            except (np.linalg.LinAlgError, MercerError) as error:
                self.error = error
                value, slope = -np.inf, np.zeros_like(theta)
            else:
                still = np.abs(slope) <= 1e-10 * self.space.scales.size  # which is rounding
                self.flat = still if self.flat is None else self.flat & still
                if self.best is None or value > self.best[0]:
                    self.best = value, theta.copy(), slope
            self.last = value, theta.copy(), slope
            self.values.append(value)
            self.task.update()
        value, _, slope = self.last
        return origin - value, -self.unit * slope

    def climb(self, theta: Vector) -> Any:
        """L-BFGS from some logarithms, in units in which the first step has a length of about one.

        Where the noise is far too small, slopes are 1e9 and more: a step of that length ends at the bounds.
        """
        from scipy.optimize import minimize

        self.unit = 1.0
        steepness = float(np.linalg.norm(self(theta)[1]))
        self.unit = float(np.exp2(-np.ceil(np.log2(max(1.0, steepness)) / 2)))
        return minimize(
            self,
            theta / self.unit,
            method="L-BFGS-B",
            jac=True,
            bounds=self.space.bounds[self.space.free] / self.unit,
            options={"gtol": self.unit * 1e-5},
        )


def maximise(
    objective: Objective, space: SearchSpace, n_restarts: int, seed: Any
) -> Solution[Hyperparameters]:
    """Maximise an objective over hyper-parameters; the best of all starts is returned.

    ``stats`` holds the objective, its values in the order of evaluation (``history``; minus infinity where
    the matrix was singular), and the names of parameters at the end of their range (``at_bound``), of those
    of them beyond which the objective would rise (``rising``, with that range) and of those on which it did
    not depend (``flat``).  Raises what the objective raised if it did so at every start.
    """
    bounds = space.bounds[space.free]
    starts = space.starts(n_restarts, seed)
    with Task("search", None, "evaluation") as task:
        evaluate = _Evaluations(objective, space, task)
        runs = [evaluate.climb(theta) for theta in starts]
    best = min(runs, key=lambda run: run.fun)
    if evaluate.best is None:
        assert evaluate.error is not None
        raise evaluate.error
    value, theta, slope = evaluate.best
    steep = 1e-3 * max(space.scales.size, abs(value - space.scales.origin))
    gap = float(np.abs(np.clip(theta + slope, bounds[:, 0], bounds[:, 1]) - theta).max(initial=0.0))
    converged = gap <= steep
    at_end = np.column_stack([theta - bounds[:, 0] < 1e-6, bounds[:, 1] - theta < 1e-6])
    # the objective rises beyond an end that neither the caller nor the parameter sets, where nothing vanishes
    outward = np.column_stack([-slope, slope]) > steep
    own = ~space.asked[:, None] & (space.bounds != space.start.bounds) & ~space.scales.vanishing
    rising = (at_end & outward & own[space.free]).any(axis=1)
    at_bound = space.name(at_end.any(axis=1))
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
        "rising": dict(zip(space.name(rising), np.exp(bounds[rising]).tolist(), strict=True)),
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
    kernel, how = space.start.kernel, "closed form"
    try:
        kernel._gradient(kernel._prepare(take(points, slice(0, 1))), None)
    except GradientError:
        how = "finite differences"
    found = replace(found, stats={**found.stats, "gradient": how})
    if len(found.stats["flat"]) == int(space.free.sum()):
        warn(
            f"{caller}: the criterion is flat: it depends on none of {', '.join(found.stats['flat'])}. They "
            "stay at their start.",
            ConvergenceWarning,
        )
    elif not found.converged:
        warn(f"{caller}: {found.status}.", ConvergenceWarning)
    for name, (low, high) in found.stats["rising"].items():
        warn(
            f"{caller}: {name} ended at the end of its range, from {low:.3g} to {high:.3g}, and the "
            "criterion would still rise beyond it. The kernel may not be the one for these data; or start "
            "nearer, with another value in the kernel, or set the range: mercer.tune(machine, X, y, "
            f"bounds={{{name!r}: (low, high)}}).",
            ConvergenceWarning,
        )
    return found
