"""What all support vector machines share: limits, the solver, the support vectors."""

from __future__ import annotations

import copy
import numbers
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ...domains import Data, Vectors, take
from ...engine.runs import Callback, Progress, Run, Stopped, current_run, until
from ...errors import ParameterError
from ...gram import Gram, gram
from ...kernels import Linear
from ...solvers import (
    BoxProblem,
    BoxValue,
    Matrix,
    PairSolver,
    Solution,
    solve_box,
    solve_boxes,
)
from ...solvers.svm.estimates import most_steps
from ..base import KernelMachine, len_of
from ..indefinite import refuse_distance, screen
from ..notices import tell
from .compression import Compression, project

__all__ = [
    "Control",
    "Fit",
    "SupportVectorMachine",
    "Training",
    "balanced",
    "fill_up",
    "grown",
    "positive_rows",
    "scaled",
]

Vector = NDArray[np.float64]

#: Free variables may go this share of their way to make up for those at a bound.
MOST_OF_ROOM = 0.9


class Stop:
    """A callback that stops all problems for the reason for which one of them stopped."""

    def __init__(self, reason: str = "") -> None:
        self.reason = reason

    def __call__(self, _: Progress) -> bool:
        """Whether there is a reason."""
        return bool(self.reason)


@dataclass(frozen=True)
class Control:
    """Limits of one call of fit."""

    tol: float
    max_iter: int
    cache_bytes: float | None
    run: Run  # for all problems together
    callbacks: Sequence[Callback]  # besides those of the run
    refine: bool
    progress: bool
    name: str
    threads: int | None = None

    def solve(
        self,
        problem: BoxProblem,
        matrix: Matrix,
        start: Vector | None = None,
        tol: float | None = None,
    ) -> Solution[BoxValue]:
        """Solve one problem within these limits."""
        limits = {**self._limits, "tol": self.tol if tol is None else tol}
        return solve_box(problem, matrix, start=start, **limits)

    def solve_along(
        self,
        problem: BoxProblem,
        factors: Sequence[float],
        matrix: Matrix,
    ) -> list[Solution[BoxValue]]:
        """Solve a problem with its bounds times each factor, within these limits for all of them."""
        return solve_boxes(problem, factors, matrix, **self._limits)

    @property
    def _limits(self) -> dict[str, Any]:
        return {
            "tol": self.tol,
            "max_iter": self.max_iter,
            "cache_bytes": self.cache_bytes,
            "callbacks": self.callbacks,
            "progress": self.progress,
            "refine": self.refine,
            "threads": self.threads,
            "name": self.name,
        }

    def limited(self) -> AbstractContextManager[None]:
        """Within this, work on kernel values ends when the run is over (:class:`Stopped`)."""
        return until(self.run.is_over)

    def pairs(self, steps: int | None = None) -> PairSolver:
        """A solver of many small problems within these limits, and of at most so many steps each."""
        most = self.max_iter
        if steps is not None:
            most = steps if most < 0 else min(steps, most)
        return PairSolver(self.tol, most, callbacks=self.callbacks)

    def alone(self, refine: bool) -> Control:
        """The same for one of several problems that are solved side by side."""
        return replace(self, progress=False, threads=1, refine=refine)

    def after(self, solution: Solution[BoxValue]) -> Control:
        """The same for what follows a solution: what has stopped that one stops this."""
        reason = solution.stats["reason"]
        return self.until(Stop(reason)) if reason else self

    def until(self, stopped: Callback) -> Control:
        """The same, with one more reason to stop."""
        return replace(self, callbacks=[*self.callbacks, stopped])


class Fit(NamedTuple):
    """One solved problem: the function ``sum_i coefficients[i] k(x_i, .) + intercept``."""

    coefficients: Vector
    intercept: float
    solution: Solution[BoxValue]

    def after(self, steps: int) -> Fit:
        """The same, with the steps of the problems that were solved before it."""
        stats = {**self.solution.stats, "iterations": steps + self.solution.stats["iterations"]}
        return self._replace(solution=replace(self.solution, stats=stats))

    def resumed(self, coefficients: Vector, intercept: float) -> Fit:
        """What it goes on from, if there was time for nothing."""
        return Fit(coefficients, intercept, self.solution) if self.solution.stats.get("untouched") else self


class Last(NamedTuple):
    """The last fit of a machine that goes on from there."""

    support: NDArray[np.int32]
    coefficients: NDArray[np.float64]  # one row per function
    shape: tuple[int, ...]  # of the training points
    intercepts: NDArray[np.float64]


class Training(NamedTuple):
    """What is left of the input after validation: rows of positive weight."""

    points: Data
    kept: NDArray[np.intp]  # their positions in the input
    weight: Vector
    gram: Gram


def fill_up(total: float, capacity: Vector) -> Vector:
    """Numbers between 0 and their capacities with a given sum, the first ones full."""
    before = np.concatenate([[0.0], np.cumsum(capacity)[:-1]])
    return np.asarray(np.clip(total - before, 0.0, capacity))


def scaled(b: Vector, total: float, capacity: Vector) -> Vector:
    """Numbers between 0 and their capacities with a given sum, in about the proportions of ``b >= 0``.

    What the capacities cut off goes to the other positive numbers, and where these are full, to the zeros.
    """
    if not b.any():
        return fill_up(total, capacity)
    share = b / b.max()  # sums and quotients of tiny numbers would be inexact
    result = np.minimum(share * (total / float(share.sum())), capacity)
    room = np.where(b > 0, capacity - result, 0.0)
    lacking = total - float(result.sum())
    if lacking > 0 and room.any():
        result = result + room * min(lacking / float(room.sum()), 1.0)
        lacking = total - float(result.sum())
    return np.asarray(result + fill_up(max(lacking, 0.0), np.where(b > 0, 0.0, capacity)))


class SupportVectorMachine(KernelMachine):
    """Base of the support vector machines."""

    tol: float
    max_iter: int
    cache_size: float | str
    fit_intercept: bool
    warm_start: bool
    indefinite: str
    store: Any
    dual_coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    verbose: bool

    # -- parameters -----------------------------------------------------------------------------
    def _check_limits(self) -> None:
        self._require("tol", self.tol, lambda v: 0 < v < np.inf, "a positive number")
        if not isinstance(self.max_iter, numbers.Integral) or (self.max_iter < 0 and self.max_iter != -1):
            raise ParameterError(
                f"{type(self).__name__}: `max_iter` must be a number of steps, or -1 for the limit that "
                f"only hopelessly scaled data meet. Got {self.max_iter!r}."
            )
        if self.cache_size != "auto":
            self._require("cache_size", self.cache_size, lambda v: v > 0, "'auto', or a number of MB > 0")

    def _control(self) -> Control:
        """The limits of the current run; it always has a usable state, which the solver keeps."""
        self._check_limits()
        run = current_run()
        assert run is not None
        run.conclude()
        size = None if isinstance(self.cache_size, str) else float(self.cache_size) * 1e6
        return Control(
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            cache_bytes=size,
            run=run,
            callbacks=[],
            refine=True,
            progress=True,
            name=type(self).__name__,
        )

    # -- data -----------------------------------------------------------------------------------
    def _train_on(
        self, points: Data, kept: NDArray[np.intp], weight: Vector | None, control: Control
    ) -> Training:
        """Fix the kernel's parameters on the kept rows, in this order, and make their Gram matrix."""
        n = len_of(points)
        self.shape_fit_ = tuple(points.shape) if hasattr(points, "shape") else (n,)
        if not np.array_equal(kept, np.arange(n)):
            points, weight = take(points, kept), None if weight is None else weight[kept]
        self.kernel_ = self._checked_kernel().resolve(points, weight)
        G: Gram = gram(self.kernel_, points, store=self.store)
        G = self._screened(G, control)
        return Training(points, kept, np.ones(len(kept)) if weight is None else weight, G)

    def _screened(self, G: Gram, control: Control) -> Gram:
        """The matrix, repaired if that was asked for; as it is if there is no time to look at it."""
        caller = type(self).__name__
        refuse_distance(self.kernel_, self.indefinite, caller)
        try:
            with control.limited():
                return screen(G, self.indefinite, caller)
        except Stopped:
            if self.indefinite != "warn":
                control.run.begin(f"the check of the kernel, which indefinite={self.indefinite!r} asks for")
                raise control.run.error() from None
            return G

    # -- result ---------------------------------------------------------------------------------
    def _keep(self, training: Training, support: NDArray[np.intp], coefficients: NDArray[np.float64]) -> None:
        """Keep the support vectors and let go of the rest, also of what an earlier fit has left."""
        for name in ("support_vectors_", "compression_"):
            if hasattr(self, name):
                delattr(self, name)
        self.support_ = training.kept[support].astype(np.int32)
        self.dual_coef_ = coefficients
        self.expansion_ = training.gram.select(support)
        if isinstance(self.kernel_.domain, Vectors):
            self.support_vectors_ = take(training.points, support)

    def _tell(self, solutions: Sequence[Solution[BoxValue]]) -> None:
        """Set what the solver has to say, and warn if it is not what was asked for."""
        self.solutions_ = tuple(solutions)
        self.converged_ = all(s.converged for s in solutions)
        worst = max(solutions, key=lambda s: (not s.converged, s.stats["kkt_violation"]))
        self.status_ = worst.status
        self.gap_ = float(sum(s.gap for s in solutions))
        self.kkt_violation_ = float(max(s.stats["kkt_violation"] for s in solutions))
        self.fit_status_ = 0 if self.converged_ else 1
        if self.verbose:
            steps = sum(s.stats["iterations"] for s in solutions)
            seconds = sum(s.stats["seconds"] for s in solutions)
            print(
                f"{type(self).__name__}: {self.status_}; {len(self.support_)} support vectors, "
                f"{steps} steps, {seconds:.3g} s, duality gap {self.gap_:.3g}"
            )
        if not self.converged_:
            tell(
                f"{type(self).__name__}: {self.status_}. {self._about_the_limit(worst)}"
                f"The model is {_use_of(worst)}; its duality gap is {worst.gap:.3g}.",
                ConvergenceWarning,
            )

    def _last(self) -> Last | None:
        """The last fit, if there was one."""
        if not hasattr(self, "dual_coef_"):
            return None
        return Last(self.support_, self.dual_coef_, self.shape_fit_, self.intercept_)

    def _about_the_limit(self, solution: Solution[BoxValue]) -> str:
        """What ``max_iter=-1`` stands for, to those who expected no limit and have met it."""
        most = most_steps(-1, len(solution.value.coefficients))
        if self.max_iter != -1 or solution.stats["iterations"] < most:
            return ""
        return f"(max_iter=-1 stands for {most:,} steps here; give a larger number to take more.) "

    def compress(self, tol: float = 1e-3, X: Any = None) -> Self:
        """Return a copy with fewer support vectors and nearly the same decision values.

        Parameters
        ----------
        tol : float, default=1e-3
            Largest change of a decision value at a support vector.
        X : points, optional
            Further points at which the change is measured, such as validation data.

        Returns
        -------
        SupportVectorMachine
            With the attribute ``compression_``: numbers of support vectors before and after, the change
            measured, and its norm, which bounds the change everywhere.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.machines import SVC
        >>> rng = np.random.default_rng(0)
        >>> model = SVC(C=10.0).fit(rng.standard_normal((300, 2)), rng.random(300) > 0.5)
        >>> small = model.compress(0.05)
        >>> small.compression_.after < small.compression_.before / 4, small.compression_.change <= 0.05
        (True, True)
        """
        self._check_fitted()
        self._require("tol", tol, lambda v: 0 <= v < np.inf, "a number >= 0")
        K = np.asarray(self.expansion_._in_double().dense(), dtype=np.float64)
        old, new = self.dual_coef_, np.zeros_like(self.dual_coef_)
        groups = self._groups_of_functions()
        parts, residual = [], 0.0
        for members, coefficients in groups:
            # A decision is made of the functions of at most two groups.
            part = project(K[members, members], coefficients, tol / min(len(groups), 2))
            chosen = part.chosen + members.start
            new[:, chosen] = part.coefficients.T
            parts.append(chosen)
            residual += float(part.residual.max(initial=0.0))
        change = float(np.abs(self._combine(K, new - old)).max(initial=0.0))
        if X is not None:
            values = self.expansion_._cross(self._validate_X(X, reset=False)).dense()
            change = max(change, float(np.abs(self._combine(values, new - old)).max(initial=0.0)))
        result, chosen = copy.copy(self), np.sort(np.concatenate(parts))
        result._keep_selected(chosen, new[:, chosen])
        result.compression_ = Compression(old.shape[1], len(chosen), change, float(np.sqrt(residual)))
        return result

    def _combine(self, values: NDArray[Any], coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Functions of all problems, from kernel values with the support vectors."""
        return np.asarray(values @ coefficients.T, dtype=np.float64)

    def _groups_of_functions(self) -> list[tuple[slice, NDArray[np.float64]]]:
        """Support vectors that belong together, and their coefficients: a column per function."""
        return [(slice(0, len(self.support_)), self.dual_coef_.T)]

    def _keep_selected(self, chosen: NDArray[np.intp], coefficients: NDArray[np.float64]) -> None:
        self.support_, self.dual_coef_ = self.support_[chosen], coefficients
        self.expansion_ = self.expansion_.select(chosen)
        self.n_support_ = np.array([len(chosen)], dtype=np.int32)
        if hasattr(self, "support_vectors_"):
            self.support_vectors_ = take(self.support_vectors_, chosen)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features, for the linear kernel; a row per problem."""
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        features = self.support_vectors_.T  # the values of <x_i, .> at the unit vectors
        return np.ascontiguousarray(self._combine(features, self.dual_coef_).T)

    def _function(self, X: Any, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """``sum_i coefficients[i] k(x_i, .)`` at new points; no matrix is held."""
        self._check_fitted()
        points = self._validate_X(X, reset=False)
        if not len(self.support_):
            return np.zeros((len_of(points), *coefficients.shape[1:]))
        return np.asarray(self.expansion_._cross(points) @ coefficients, dtype=np.float64)


def _use_of(solution: Solution[BoxValue]) -> str:
    """What a model is good for that did not converge."""
    if solution.stats.get("untouched"):
        return "as it was"
    return "usable" if np.isfinite(solution.gap) else "of no use"


def positive_rows(weight: Vector | None, n: int) -> NDArray[np.intp]:
    """Rows that count: a row of weight zero is as if absent."""
    return np.arange(n) if weight is None else np.flatnonzero(weight)


def grown(b: Vector, C: Vector) -> Vector:
    """A start for the capacities ``C`` from the solution for smaller ones: what was full is full again.

    Full were those with the same share of their capacity, the largest, if they are several.  The sum of the
    result is zero: the variables that were free make up for the others, where they can.
    """
    if np.isinf(C).any():
        return balanced(b)
    share = np.abs(b) / C
    full = share >= (1 - 1e-12) * share.max(initial=0.0)
    result = np.where(full, np.sign(b) * C, b)
    excess = float(result.sum())
    free = ~full & (b != 0)
    room = np.where(free, np.where(b * excess > 0, np.abs(b), C - np.abs(b)), 0.0)
    if full.sum() < 2 or abs(excess) > MOST_OF_ROOM * float(room.sum()):
        return balanced(b)
    return balanced(result - excess * room / max(float(room.sum()), 1e-300))


def balanced(b: Vector) -> Vector:
    """A point whose sum is zero, from one that is close: the heavier side is scaled down.

    If it is zero up to rounding the point stays: what is at a bound would no longer be.
    """
    up, down = float(b[b > 0].sum()), -float(b[b < 0].sum())
    least = min(up, down)
    if least == 0:
        return np.zeros_like(b)
    if abs(up - down) <= len(b) * np.finfo(float).eps * least:
        return b
    return np.where(b > 0, b * (least / up), b * (least / down))
