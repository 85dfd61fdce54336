"""What all support vector machines share: parameters, limits, training data, support vectors."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from ...domains import Data, Vectors, take
from ...engine.runs import Run, Stopped, current_run, until
from ...errors import warn
from ...gram import Gram, PointGram
from ...gram.kernel_gram import gram_of_points
from ...kernels import Linear
from ...parameters import Checks, check_count, check_number
from ...solvers import BoxProblem, BoxValue, Matrix, Solution, solve_box, solve_boxes
from ...solvers.svm import iteration_limit
from ..approximation import Approximated, check_approximation
from ..base import len_of
from ..explanation import Expansion
from ..indefinite import beside_intercept, refuse_distance, screen
from ..translation import KernelLike
from .compression import Compression, project

__all__ = ["Fit", "Limits", "SupportVectorMachine", "Training", "positive_rows"]

Vector = NDArray[np.float64]


class Limits(NamedTuple):
    """When the solver stops, and what it may use."""

    name: str  # of the machine, for the progress bar
    tol: float
    max_iter: int
    cache_bytes: float | None
    progress: bool = True
    refine: bool = True
    threads: int | None = None

    def solve(
        self,
        problem: BoxProblem,
        matrix: Matrix,
        start: Vector | None = None,
        tol: float | None = None,
    ) -> Solution[BoxValue]:
        """Solve one problem."""
        limits = {**self._asdict(), "tol": self.tol if tol is None else tol}
        return solve_box(problem, matrix, start=start, **limits)

    def solve_path(
        self, problem: BoxProblem, factors: Sequence[float], matrix: Matrix
    ) -> list[Solution[BoxValue]]:
        """Solve a problem with its bounds times each factor, each from the solution before."""
        return solve_boxes(problem, factors, matrix, **self._asdict())


class Fit(NamedTuple):
    """Solution of one problem: the function ``sum_i beta[i] k(x_i, .) + bias``."""

    beta: Vector
    bias: float
    solution: Solution[BoxValue]

    def after(self, steps: int) -> Fit:
        """The same, counting the steps of the problems that were solved before it."""
        stats = {**self.solution.stats, "iterations": steps + self.solution.stats["iterations"]}
        return self._replace(solution=replace(self.solution, stats=stats))

    def or_previous(self, beta: Vector, bias: float) -> Fit:
        """The previous function, if the solver was stopped before its first step."""
        return Fit(beta, bias, self.solution) if self.solution.stats.get("untouched") else self


class Training(NamedTuple):
    """Training data after validation: the rows of positive weight."""

    points: Data
    rows: NDArray[np.intp]  # their positions in the input
    weight: Vector
    gram: Gram


def run_of_fit() -> Run:
    """The run of the machine's ``fit``."""
    run = current_run()
    assert run is not None
    return run


def positive_rows(weight: Vector | None, n: int) -> NDArray[np.intp]:
    """Rows of positive weight: a row of weight zero is as if absent."""
    return np.arange(n) if weight is None else np.flatnonzero(weight)


class SupportVectorMachine(Approximated):
    """Base of the support vector machines."""

    fit_intercept: bool
    #: Whether the intercept, if there is one, is free: then the signed dual variables sum to zero.
    _intercept_is_free: ClassVar[bool] = True
    _full_only: ClassVar[dict[str, Any]] = {"indefinite": "warn", "store": None}
    warm_start: bool
    dual_coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    n_support_: NDArray[np.int32]

    _checks: ClassVar[Checks] = {
        "nu": partial(check_number, requirement="a number in (0, 1]", above=0.0, most=1.0),
        "tol": partial(check_number, requirement="a positive number", above=0.0),
        "max_iter": partial(
            check_count,
            requirement="a number of steps, or -1 for a limit that only badly scaled data meet",
            low=-1,
        ),
        "cache_size": partial(
            check_number,
            requirement="'auto', or a number of MB > 0",
            above=0.0,
            infinite=True,
            unless=("auto",),
        ),
    }

    def __init__(
        self,
        kernel: KernelLike,
        tol: float,
        max_iter: int,
        cache_size: float | str,
        verbose: bool,
        indefinite: str,
        store: Any,
        time_budget: float | None,
    ) -> None:
        self.kernel = kernel
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.verbose = verbose
        self.indefinite = indefinite
        self.store = store
        self.time_budget = time_budget

    # -- parameters -----------------------------------------------------------------------------
    def _limits(self) -> Limits:
        """Check and return the limits; from here on, a stop leaves a usable model."""
        limits = self._checked_limits()
        run_of_fit().conclude()
        return limits

    def _checked_limits(self) -> Limits:
        """The limits of the solver, or an error if the full kernel matrix is needed where there is none."""
        check_approximation(self, self._full_only)
        cache_bytes = None if isinstance(self.cache_size, str) else 1e6 * float(self.cache_size)
        return Limits(type(self).__name__, float(self.tol), int(self.max_iter), cache_bytes)

    # -- data -----------------------------------------------------------------------------------
    def _training(
        self, points: Data, rows: NDArray[np.intp], weight: Vector | None, own: Vector | None = None
    ) -> Training:
        """Select the rows, in this order, resolve the kernel on them, and make their Gram matrix.

        ``weight``, of all points, is for the kernel; ``own``, of the rows, for the machine if it differs.
        """
        n = len_of(points)
        self.shape_fit_ = tuple(points.shape) if hasattr(points, "shape") else (n,)
        G = self._gram_of_features(points, rows, weight)
        if not np.array_equal(rows, np.arange(n)):
            points, weight = take(points, rows), None if weight is None else weight[rows]
        if G is None:
            kernel = self._checked_kernel()
            self.kernel_ = kernel if kernel.is_resolved else kernel._resolve(points, weight)
            if self._intercept_is_free and self.fit_intercept:
                self.kernel_ = beside_intercept(self.kernel_, points)
            G = self._screened(gram_of_points(self.kernel_, points, store=self.store))
        if own is None:
            own = np.ones(len(rows)) if weight is None else weight
        return Training(points, rows, own, G)

    def _gram_of_features(self, points: Data, rows: NDArray[np.intp], weight: Vector | None) -> Gram | None:
        """The Gram matrix of the features of the rows; the map is fitted to them in the order given."""
        kept = np.arange(len_of(points)) if self.approximation is None else np.sort(rows)
        if len(kept) < len_of(points):
            points, weight = take(points, kept), None if weight is None else weight[kept]
        G = self._approximate(points, weight)
        return G if G is None or np.array_equal(rows, kept) else G.select(np.searchsorted(kept, rows))

    def _screened(self, G: Gram) -> Gram:
        """The matrix, repaired if asked for; unchecked if the time budget is used up."""
        caller, run = type(self).__name__, run_of_fit()
        refuse_distance(self.kernel_, self.indefinite, caller)
        try:
            with until(run.is_over):
                remedy = "fit_intercept=True" if self._intercept_is_free else None
                return screen(G, self.indefinite, caller, remedy=remedy)
        except Stopped:
            if self.indefinite != "warn":
                run.begin(f"the check of the kernel, which indefinite={self.indefinite!r} asks for")
                raise run.error() from None
            return G

    def _previous(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Dual variables of all points of the last fit, a row per function, and its intercepts."""
        if not self.warm_start or not hasattr(self, "dual_coef_"):
            return None
        table = np.zeros((len(self.dual_coef_), self.shape_fit_[0]))
        table[:, self.support_] = self.dual_coef_
        return table, self.intercept_

    # -- result ---------------------------------------------------------------------------------
    def _keep(
        self,
        training: Training,
        support: NDArray[np.intp],
        coefficients: NDArray[np.float64],
        counts: NDArray[np.intp] | None = None,
    ) -> None:
        """Keep the support vectors alone, and nothing of an earlier fit; ``counts`` are those of classes."""
        for name in ("support_vectors_", "compression_", "expansion_"):
            if hasattr(self, name):
                delattr(self, name)
        self.support_ = training.rows[support].astype(np.int32)
        self.n_support_ = np.array([len(support)] if counts is None else counts, dtype=np.int32)
        self.dual_coef_ = coefficients
        expansion = training.gram.select(support)
        if self._is_approximate:
            assert isinstance(expansion, PointGram)
            self._weights = self._combine(expansion._X.T, coefficients)
        else:
            self.expansion_ = expansion
        if isinstance(self.kernel_.domain, Vectors):
            self.support_vectors_ = take(training.points, support)

    def _report(self, solutions: Sequence[Solution[BoxValue]]) -> None:
        """Set the attributes on convergence, and warn if a problem has not converged."""
        solutions = [replace(solution, status=self._said(solution.status)) for solution in solutions]
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
            warn(
                f"{type(self).__name__}: {self.status_}. {self._about_the_limit(worst)}"
                f"The model is {_use_of(worst)}; its duality gap is {worst.gap:.3g}.",
                ConvergenceWarning,
            )

    def _solver_report(self) -> str:
        stats = [solution.stats for solution in self.solutions_]
        methods = ", ".join(dict.fromkeys(one["method"] for one in stats))
        known = f" on {stats[0]['features']} known features" if "features" in stats[0] else ""
        problems = f"{len(stats)} problems by " if len(stats) > 1 else ""
        return f"{problems}{methods}{known}: {self.status_}"

    def _about_the_limit(self, solution: Solution[BoxValue]) -> str:
        """What ``max_iter=-1`` stands for, if that limit was met."""
        most = iteration_limit(-1, len(solution.value.coefficients))
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
        self._require_exact("compress")
        tol = check_number(f"{type(self).__name__}.compress", "tol", tol, "a number >= 0", least=0.0)
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
        """Weights of the features, for the linear kernel or ``approximation``; a row per problem."""
        if self._is_approximate:
            return self._weights.T
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        features = self.support_vectors_.T  # the values of <x_i, .> at the unit vectors
        return np.ascontiguousarray(self._combine(features, self.dual_coef_).T)

    def _sum_over_points(self) -> Expansion:
        """The functions of all problems, as sums over support vectors or landmarks."""
        if self._is_approximate:
            return Expansion(*self._landmark_sum(), np.asarray(self.intercept_))
        identity = sparse.eye_array(len(self.support_), format="csc")
        coefficients = self._combine(identity, self.dual_coef_)
        return Expansion(self.expansion_, coefficients, np.asarray(self.intercept_))

    def _function(self, X: Any, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """``sum_i coefficients[i] k(x_i, .)`` at new points; no matrix is held."""
        self._check_fitted()
        points = self._validate_X(X, reset=False)
        if self._is_approximate:
            values = self._feature_function()(points)
            return values if coefficients.ndim == 2 else values[:, 0]
        if not len(self.support_):
            return np.zeros((len_of(points), *coefficients.shape[1:]))
        return np.asarray(self.expansion_._cross(points) @ coefficients, dtype=np.float64)


def _use_of(solution: Solution[BoxValue]) -> str:
    """What a model that has not converged is good for."""
    if solution.stats.get("untouched"):
        return "as it was"
    return "usable" if np.isfinite(solution.gap) else "of no use"
