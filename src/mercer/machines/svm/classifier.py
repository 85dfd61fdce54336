"""What support vector classifiers share: labels, weights, decisions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from ... import memory
from ...errors import ParameterError
from ...parameters import Checks, check_choice
from ...solvers import LazyMatrix, Matrix
from ..arguments import read_weight
from ..base import len_of
from ..callbacks import as_run
from ..explanation import Expansion, ExplainedClassifier
from ..labels import read_labels
from .base import Fit, Limits, SupportVectorMachine, Training
from .calibration import calibrate, folds_of
from .multiclass import Task, hold, one_against_one, one_against_rest, solve_all
from .pairwise import class_scores, class_slices, closest_pair, from_table, pair_values, to_table, votes
from .probability import PiecewiseLogistic, Temperature, agree, class_margins

__all__ = ["Classifier"]

Vector = NDArray[np.float64]
Codes = NDArray[np.intp]


def _has_probabilities(machine: Any) -> bool:
    if not machine.probability:
        raise AttributeError(
            f"{type(machine).__name__}: predict_proba is not available when probability=False. "
            "Fit with probability=True."
        )
    return True


class Classifier(ClassifierMixin, ExplainedClassifier, SupportVectorMachine):
    """Labels, weights and several classes; subclasses state the two-class problem."""

    class_weight: dict[Any, float] | Literal["balanced"] | None
    multiclass: str
    decision_function_shape: str
    break_ties: bool
    probability: bool
    random_state: Any
    calibration_: PiecewiseLogistic | Temperature

    _checks: ClassVar[Checks] = {
        "multiclass": partial(check_choice, options=("ovo", "ovr")),
        "decision_function_shape": partial(check_choice, options=("ovo", "ovr")),
    }

    def _solve(self, y: Vector, weight: Vector, matrix: Matrix, limits: Limits, start: Vector | None) -> Fit:
        """Solve the problem of two classes, with labels +1 and -1."""
        raise NotImplementedError

    def _check_labels(self, codes: Codes, weight: Vector) -> None:
        """Raise before any kernel value is computed if a problem has no solution."""

    def _check_fits(self, fits: Sequence[Fit]) -> None:
        """Raise if a solution is of no use."""

    # -- fit ------------------------------------------------------------------------------------
    @as_run
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit to the points ``X`` and the labels ``y``.

        Parameters
        ----------
        X : points of the kernel's domain; for ``Precomputed()`` the square Gram matrix
        y : array of shape (n,)
            Labels of any type, of two or more classes.
        sample_weight : array of shape (n,), optional
            Factors of C for each point: weight 2 is a repeated row, weight 0 an absent one.
        groups : array of shape (n,), optional
            With ``probability=True``: points of one group, such as measurements of one patient, are left out
            together.

        Returns
        -------
        self
        """
        limits, previous = self._limits(), self._previous()
        training, codes = self._prepare(X, y, sample_weight)
        folds = folds_of(self, training, codes, groups) if self.probability else []
        matrix: Matrix = LazyMatrix(training.gram)
        starts = None if previous is None else self._starts(previous[0], len(previous[1]), training, codes)
        if folds:
            matrix = hold(matrix, limits)
        if len(self.classes_) == 2:
            signs = np.where(codes == 1, 1.0, -1.0)
            fits = [self._solve(signs, training.weight, matrix, limits, starts[0] if starts else None)]
        else:
            fits = self._solve_tasks(self._tasks(codes), training.weight, matrix, limits, starts)
        if previous is not None and starts is not None:
            before = zip(starts, previous[1], strict=True)
            fits = [
                fit.or_previous(beta, float(bias)) for fit, (beta, bias) in zip(fits, before, strict=True)
            ]
        self._become(fits, training, codes)
        if folds:
            calibrate(self, folds, fits, training, codes, matrix, limits)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Training, Codes]:
        """Validate everything and make the Gram matrix; the points of several classes are sorted by class."""
        caller = type(self).__name__
        if self.break_ties and self.decision_function_shape == "ovo" and self.multiclass == "ovo":
            raise ParameterError(
                f"{caller}: `break_ties` must be False when decision_function_shape is 'ovo': there is no "
                "score per class to break them by."
            )
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        given = read_weight(caller, sample_weight, n)
        self.classes_, self.class_weight_, rows, codes, weight = read_labels(
            self, y, n, given, self.class_weight
        )
        own, count = np.ones(len(rows)) if weight is None else weight, len(self.classes_)
        if count > 2:
            if self.multiclass == "ovo":
                pairs = count * (count - 1) // 2
                memory.require(  # bytes of a problem and of a point in it, measured with 200 to 800 classes
                    3000.0 * pairs + 64.0 * (count - 1) * len(rows),
                    f"{caller}: `y` holds {count:,} classes. A problem for each of {pairs:,} pairs",
                    "If these are quantities, use a regression; else group the classes, or set "
                    "multiclass='ovr'.",
                )
            order = np.argsort(codes, kind="stable")
            rows, codes, own = rows[order], codes[order], own[order]
        self._check_labels(codes, own)
        return self._training(points, rows, given, own), codes

    def _starts(
        self, table: NDArray[np.float64], functions: int, training: Training, codes: Codes
    ) -> list[Vector] | None:
        """The solution of the last fit for each problem, if it has as many points and problems."""
        count = len(self.classes_)
        if count == 2:
            layout = 1, 1
        else:
            layout = (count - 1, count * (count - 1) // 2) if self._is_by_pairs else (count, count)
        if (len(table), functions) != layout or table.shape[1] != self.shape_fit_[0]:
            return None
        table = table[:, training.rows]
        return from_table(table, class_slices(np.bincount(codes))) if self._is_by_pairs else list(table)

    @property
    def _is_by_pairs(self) -> bool:
        return len(self.classes_) > 2 and self.multiclass == "ovo"

    def _become(self, fits: Sequence[Fit], training: Training, codes: Codes) -> None:
        """Set the fitted attributes; support vectors are sorted by class, as in scikit-learn."""
        self._check_fits(fits)
        self.__dict__.pop("calibration_", None)
        betas, sizes = [fit.beta for fit in fits], np.bincount(codes)
        table = to_table(betas, class_slices(sizes)) if self._is_by_pairs else np.array(betas)
        support = np.flatnonzero(table.any(axis=0))
        support = support[np.lexsort((training.rows[support], codes[support]))]
        counts = np.bincount(codes[support], minlength=len(sizes))
        self._keep(training, support, table[:, support], counts)
        self.intercept_ = np.array([fit.bias for fit in fits])
        self.n_iter_ = np.array([fit.solution.stats["iterations"] for fit in fits], dtype=np.int64)
        self._report([fit.solution for fit in fits])

    # -- several classes, and folds -------------------------------------------------------------
    def _tasks(self, codes: Codes) -> list[Task]:
        count = len(self.classes_)
        if count == 2:
            return [Task(np.arange(len(codes)), np.where(codes == 1, 1.0, -1.0))]
        return (one_against_one if self._is_by_pairs else one_against_rest)(codes, count)

    def _solve_tasks(
        self,
        tasks: Sequence[Task],
        weight: Vector,
        matrix: Matrix,
        limits: Limits,
        starts: Sequence[Vector] | None = None,
    ) -> list[Fit]:
        def solve(t: int, part: Matrix, limits: Limits) -> Fit:
            start = None if starts is None else starts[t]
            return self._solve(tasks[t].y, weight[tasks[t].index], part, limits, start)

        return solve_all(tasks, hold(matrix, limits), limits, solve)

    # -- decisions ------------------------------------------------------------------------------
    def _decisions(self, X: Any) -> NDArray[np.float64]:
        """One column per two-class problem."""
        if not self._is_by_pairs or self._is_approximate:
            return np.asarray(self._function(X, np.ascontiguousarray(self.dual_coef_.T)) + self.intercept_)
        points = self._validate_X(X, reset=False)
        cross = self.expansion_._cross(points)
        result = np.empty((len_of(points), len(self.intercept_)))
        for rows in cross._bands(progress=True):
            values = cross._values(rows, slice(0, len(self.support_)))
            result[rows] = self._combine(values, self.dual_coef_)
        return np.asarray(result + self.intercept_)

    def _combine(self, values: NDArray[Any], coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self._is_by_pairs:
            return super()._combine(values, coefficients)
        return pair_values(values, coefficients, class_slices(self.n_support_))

    def _groups_of_functions(self) -> list[tuple[slice, NDArray[np.float64]]]:
        if not self._is_by_pairs:
            return super()._groups_of_functions()
        return [(members, self.dual_coef_[:, members].T) for members in class_slices(self.n_support_)]

    def _keep_selected(self, chosen: Codes, coefficients: NDArray[np.float64]) -> None:
        codes = np.repeat(np.arange(len(self.classes_)), self.n_support_)[chosen]
        super()._keep_selected(chosen, coefficients)
        self.n_support_ = np.bincount(codes, minlength=len(self.classes_)).astype(np.int32)

    def _expansion(self) -> Expansion:
        return self._sum_over_points()

    def _contest(self, values: NDArray[np.float64]) -> tuple[int, int, NDArray[np.float64]]:
        if not self._is_by_pairs:
            return super()._contest(values)
        winner = int(self._winners(values[None])[0])
        rival, t, sign = closest_pair(values, winner, len(self.classes_))
        return winner, rival, sign * np.eye(len(values))[t]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Signed distances from the boundary, up to the norm of f.

        For two classes of shape (n,), positive for ``classes_[1]``.  For more of shape (n, n_classes), a
        score per class; with ``decision_function_shape="ovo"`` one column per pair of classes, positive
        for the first of the two.
        """
        self._check_fitted()
        values = self._decisions(X)
        if len(self.classes_) == 2:
            return values[:, 0]
        if self._is_by_pairs and self.decision_function_shape == "ovr":
            return class_scores(values, len(self.classes_))
        return values

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels: for two classes by the sign, for more by the highest score.

        With ``break_ties=False``, classes with equally many votes are decided for the first of them.
        """
        self._check_fitted()
        return np.asarray(self.classes_[self._winners(self._decisions(X))])

    def _winners(self, values: NDArray[np.float64]) -> NDArray[np.intp]:
        """Positions of the predicted classes."""
        count = len(self.classes_)
        if count == 2:
            return (values[:, 0] > 0).astype(np.intp)
        if self._is_by_pairs:
            values = (class_scores if self.break_ties else votes)(values, count)
        return np.asarray(values.argmax(axis=1))

    # -- probabilities --------------------------------------------------------------------------
    def _scores(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the probabilities are a function of: f for two classes, otherwise a score per class."""
        if len(self.classes_) == 2:
            return values[:, 0]
        return class_margins(values, len(self.classes_)) if self._is_by_pairs else values

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, of shape (n, n_classes); ``predict`` is the most probable one.

        Needs ``probability=True`` before ``fit``.  All are strictly between 0 and 1.
        """
        self._check_fitted()
        if not hasattr(self, "calibration_"):
            raise NotFittedError(
                f"{type(self).__name__}: there are no probabilities: fit was stopped before they were known, "
                "or had probability=False. Fit again, with probability=True and enough time."
            )
        values = self._decisions(X)
        return agree(self.calibration_(self._scores(values)), self._winners(values))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of :meth:`predict_proba`; all are finite."""
        return np.asarray(np.log(self.predict_proba(X)))
