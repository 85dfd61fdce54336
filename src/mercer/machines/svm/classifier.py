"""What support vector classifiers share: labels, weights, several classes, probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _ovr_decision_function

from ... import memory
from ...engine.runs import STOPPING, conclude
from ...errors import InputError, ParameterError
from ...solvers import Matrix
from ..arguments import checked_random
from ..base import len_of
from ..callbacks import as_run
from ..explanation import Expansion, ExplainedClassifier
from ..labels import read_labels
from ..notices import tell
from .base import Control, Fit, Last, SupportVectorMachine, Training
from .folds import Fold, make_folds, tell_apart
from .multiclass import SharedGram, Task, one_against_one, one_against_rest, solve_all
from .probability import PiecewiseLogistic, Temperature, agree, class_margins

__all__ = ["Classifier"]

Vector = NDArray[np.float64]

#: Bytes of the problem of a pair of classes, and of each point in it, measured with 200 to 800 classes.
PAIR_BYTES, PAIR_POINT_BYTES = 3000, 64


def _has_probabilities(machine: Any) -> bool:
    if not machine.probability:
        raise AttributeError(
            f"{type(machine).__name__}: predict_proba is not available when probability=False. "
            "Fit with probability=True."
        )
    return True


def _spread(task: Task, fit: Fit, n: int) -> Vector:
    """Coefficients of all n points, zero for those that are not part of the problem."""
    result = np.zeros(n)
    result[task.index] = fit.coefficients
    return result


class Classifier(ClassifierMixin, ExplainedClassifier, SupportVectorMachine):
    """Labels, weights and several classes; a two-class problem is what the subclass says."""

    class_weight: dict[Any, float] | Literal["balanced"] | None
    decision_function_shape: str
    break_ties: bool
    multiclass: str
    probability: bool
    random_state: Any
    calibration_: PiecewiseLogistic | Temperature

    def _solve(
        self, y: Vector, weight: Vector, matrix: Matrix, control: Control, start: Vector | None
    ) -> Fit:
        raise NotImplementedError

    def _check_parameters(self) -> None:
        for name, options in (("multiclass", ("ovo", "ovr")), ("decision_function_shape", ("ovo", "ovr"))):
            if getattr(self, name) not in options:
                raise ParameterError(
                    f"{type(self).__name__}: `{name}` must be 'ovo' or 'ovr'. Got {getattr(self, name)!r}."
                )
        if not isinstance(self.probability, bool | np.bool_):
            raise ParameterError(
                f"{type(self).__name__}: `probability` must be True or False. Got {self.probability!r}."
            )
        if self.break_ties and self.decision_function_shape == "ovo" and self.multiclass == "ovo":
            raise ParameterError(
                f"{type(self).__name__}: `break_ties` must be False when decision_function_shape is 'ovo': "
                "there is no score per class to break them by."
            )

    def _check_feasible(self, tasks: Sequence[Task], weight: Vector) -> None:
        """Raise before any kernel work if a problem has no solution."""

    def _check_fits(self, fits: Sequence[Fit]) -> None:
        """Raise if a solution is none."""

    # -- fit ------------------------------------------------------------------------------------
    @as_run
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
    ) -> Self:
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
        control = self._control()
        last = self._last() if self.warm_start else None
        training, codes = self._prepare(X, y, sample_weight, control)
        folds = self._folds(training, codes, groups) if self.probability else []
        tasks = self._tasks(codes)
        shared = SharedGram(training.gram, len(tasks) + len(folds) > 1, control)
        starts = None if last is None else self._starts(last, tasks, training, codes)
        fits = self._solve_tasks(tasks, training, shared, control, starts)
        if last is not None and starts is not None:
            before = zip(starts, last.intercepts, strict=True)
            fits = [fit.resumed(b, float(old)) for fit, (b, old) in zip(fits, before, strict=True)]
        self._take(tasks, fits, training, codes)
        self._calibrate(folds, tasks, fits, training, codes, shared, control)
        return self

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, control: Control
    ) -> tuple[Training, NDArray[np.intp]]:
        """Validate everything and make the Gram matrix; of many classes, each has its points together."""
        self._check_parameters()
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        given = self._validate_weight(sample_weight, n)
        self.classes_, self.class_weight_, kept, codes, weight = read_labels(
            self, y, n, given, self.class_weight
        )
        self._check_memory(len(kept))
        if len(self.classes_) > 2:
            order = np.argsort(codes, kind="stable")
            kept, codes, weight = kept[order], codes[order], None if weight is None else weight[order]
        own = np.ones(len(kept)) if weight is None else weight
        self._check_feasible(self._tasks(codes), own)
        training = self._train_on(points, kept, given, control)
        return training._replace(weight=own), codes

    def _check_memory(self, n: int) -> None:
        """Raise before any work if there are too many pairs of classes."""
        count = len(self.classes_)
        if count > 2 and self.multiclass == "ovo":
            pairs = count * (count - 1) // 2
            memory.require(
                float(PAIR_BYTES) * pairs + float(PAIR_POINT_BYTES) * (count - 1) * n,
                f"{type(self).__name__}: `y` holds {count:,} classes. A problem for each of {pairs:,} pairs",
                "If these are quantities, use a regression; else group the classes, or set multiclass='ovr'.",
            )

    # -- two classes at a time ------------------------------------------------------------------
    def _tasks(self, codes: NDArray[np.intp]) -> list[Task]:
        count = len(self.classes_)
        by_pairs = self.multiclass == "ovo" and count > 2
        return (one_against_one if by_pairs else one_against_rest)(codes, count)

    def _take(
        self, tasks: Sequence[Task], fits: Sequence[Fit], training: Training, codes: NDArray[np.intp]
    ) -> None:
        """Become the model that the solutions say."""
        self._check_fits(fits)
        self._assemble(tasks, fits, training, codes)
        self._tell([fit.solution for fit in fits])

    def _solve_tasks(
        self,
        tasks: Sequence[Task],
        training: Training,
        shared: SharedGram,
        control: Control,
        starts: Sequence[Vector] | None = None,
    ) -> list[Fit]:
        def solve(t: int, matrix: Matrix, limits: Control) -> Fit:
            start = None if starts is None else starts[t]
            return self._solve(tasks[t].y, training.weight[tasks[t].index], matrix, limits, start)

        return solve_all(tasks, shared, control, solve)

    def _assemble(
        self, tasks: Sequence[Task], fits: Sequence[Fit], training: Training, codes: NDArray[np.intp]
    ) -> None:
        """Put the solutions together as scikit-learn has them: support vectors class by class."""
        count, n = len(self.classes_), len(codes)
        by_pairs = len(tasks) > 1 and self.multiclass == "ovo"
        table = np.zeros((count - 1 if by_pairs else len(tasks), n))
        for t, (task, fit) in enumerate(zip(tasks, fits, strict=True)):
            if not by_pairs:
                table[t, task.index] = fit.coefficients
                continue
            first, second = codes[task.index[0]], codes[task.index[-1]]
            side = task.y > 0  # a class has one row for each of the others, in their order
            table[second - 1, task.index[side]] = fit.coefficients[side]
            table[first, task.index[~side]] = fit.coefficients[~side]
        support = np.flatnonzero(table.any(axis=0))
        support = support[np.lexsort((training.kept[support], codes[support]))]
        self._keep(training, support, table[:, support])
        self.n_support_ = np.bincount(codes[support], minlength=count).astype(np.int32)
        self.intercept_ = np.array([fit.intercept for fit in fits])
        self.n_iter_ = np.array([fit.solution.stats["iterations"] for fit in fits], dtype=np.int64)

    def _starts(
        self, last: Last, tasks: Sequence[Task], training: Training, codes: NDArray[np.intp]
    ) -> list[Vector] | None:
        """The last solution as a start, if it is one of as many points and problems."""
        support, table, shape, _ = last
        by_pairs = len(tasks) > 1 and self.multiclass == "ovo"
        height = len(self.classes_) - 1 if by_pairs else len(tasks)
        if shape[0] != self.shape_fit_[0] or len(table) != height:
            return None
        full = np.zeros((len(table), shape[0]))
        full[:, support] = table
        full = full[:, training.kept]
        if not by_pairs:
            return [full[t, task.index] for t, task in enumerate(tasks)]
        starts = []
        for task in tasks:
            first, second = codes[task.index[0]], codes[task.index[-1]]
            starts.append(np.where(task.y > 0, full[second - 1, task.index], full[first, task.index]))
        return starts

    def _groups_of_functions(self) -> list[tuple[slice, NDArray[np.float64]]]:
        if not self._is_by_pairs:
            return super()._groups_of_functions()
        ends = np.concatenate([[0], np.cumsum(self.n_support_)]).tolist()
        return [(slice(a, b), self.dual_coef_[:, a:b].T) for a, b in pairwise(ends)]

    def _keep_selected(self, chosen: NDArray[np.intp], coefficients: NDArray[np.float64]) -> None:
        codes = np.repeat(np.arange(len(self.classes_)), self.n_support_)[chosen]
        super()._keep_selected(chosen, coefficients)
        self.n_support_ = np.bincount(codes, minlength=len(self.classes_)).astype(np.int32)

    # -- probabilities --------------------------------------------------------------------------
    def _folds(self, training: Training, codes: NDArray[np.intp], groups: Any) -> list[Fold]:
        if groups is not None:
            groups = np.asarray(groups)
            if groups.shape != self.shape_fit_[:1]:
                raise InputError(
                    f"{type(self).__name__}: `groups` must have one entry per point, "
                    f"shape ({self.shape_fit_[0]},). Got {groups.shape}."
                )
            names: dict[Any, int] = {}  # any hashable names a group
            groups = np.array([names.setdefault(group, len(names)) for group in groups.tolist()])
            groups = groups[training.kept]
        points = tell_apart(self.kernel_.domain, training.points, len(codes))
        return make_folds(codes, points, groups, checked_random(type(self).__name__, self.random_state))

    def _calibrate(
        self,
        folds: Sequence[Fold],
        tasks: Sequence[Task],
        fits: Sequence[Fit],
        training: Training,
        codes: NDArray[np.intp],
        shared: SharedGram,
        control: Control,
    ) -> None:
        """Fit the probabilities to decision values of left-out points; what stops the fit leaves none."""
        if hasattr(self, "calibration_"):
            del self.calibration_
        if not folds or any(solution.stats["stopped"] for solution in self.solutions_):
            return
        try:
            whole = [_spread(task, fit, len(codes)) for task, fit in zip(tasks, fits, strict=True)]
            values, fits = self._left_out_values(folds, whole, training, codes, shared, control)
        except InputError as error:
            raise InputError(f"in the calibration, without a fifth of the points: {error}") from error
        except STOPPING as error:
            self._warn(f"stopped in the calibration because {conclude(error)}. There are no probabilities")
            return
        missed = [fit.solution for fit in fits if not fit.solution.converged]
        stopped = [solution for solution in missed if solution.stats["stopped"]]
        if stopped:
            self._warn(f"in the calibration: {stopped[0].status}. There are no probabilities")
            return
        if missed:
            self._warn(f"{len(missed)} of the {len(fits)} fits of the calibration: {missed[0].status}")
        used = np.sort(np.concatenate([fold.left_out for fold in folds]))
        kind: type[PiecewiseLogistic | Temperature] = (
            PiecewiseLogistic if len(self.classes_) == 2 else Temperature
        )
        self.calibration_ = kind.fit(self._scores(values[used]), codes[used], training.weight[used])

    def _warn(self, message: str) -> None:
        tell(f"{type(self).__name__}: {message}.", ConvergenceWarning)

    def _left_out_values(
        self,
        folds: Sequence[Fold],
        whole: Sequence[Vector],
        training: Training,
        codes: NDArray[np.intp],
        shared: SharedGram,
        control: Control,
    ) -> tuple[NDArray[np.float64], list[Fit]]:
        """Decision values of each point by the model without its fold, and these models.

        They start from the coefficients of the ``whole`` model, which saves about a fifth of the steps.
        """
        tasks = [
            Task(fold.rest[task.index], task.y) for fold in folds for task in self._tasks(codes[fold.rest])
        ]
        each = len(whole)
        starts = [whole[t % each][task.index] for t, task in enumerate(tasks)]
        fits = self._solve_tasks(tasks, training, shared, control, starts)
        values = np.zeros((len(codes), each))
        for f, fold in enumerate(folds):
            mine = slice(f * each, (f + 1) * each)
            parts = zip(tasks[mine], fits[mine], strict=True)
            table = np.column_stack([_spread(task, fit, len(codes)) for task, fit in parts])
            support = np.flatnonzero(table.any(axis=1))
            values[fold.left_out] = shared.product(fold.left_out, support, table[support])
            values[fold.left_out] += [fit.intercept for fit in fits[mine]]
        return values, fits

    def _scores(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the probabilities are made of: f for two classes, otherwise a score per class."""
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

    # -- decisions ------------------------------------------------------------------------------
    def _decisions(self, X: Any) -> NDArray[np.float64]:
        """One column per two-class problem."""
        if not self._is_by_pairs:
            return np.asarray(self._function(X, np.ascontiguousarray(self.dual_coef_.T)) + self.intercept_)
        points = self._validate_X(X, reset=False)
        cross = self.expansion_._cross(points)
        result = np.empty((len_of(points), len(self.intercept_)))
        for rows in cross._bands(progress=True):
            values = cross._values(rows, slice(0, len(self.support_)))
            result[rows] = self._combine(values, self.dual_coef_)
        return np.asarray(result + self.intercept_)

    @property
    def _is_by_pairs(self) -> bool:
        return len(self.classes_) > 2 and self.multiclass == "ovo"

    def _combine(self, values: NDArray[Any], coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Functions of all problems from kernel values; a support vector speaks for its own class only."""
        if not self._is_by_pairs:
            return super()._combine(values, coefficients)
        count = len(self.classes_)
        place = {pair: t for t, pair in enumerate(combinations(range(count), 2))}
        result = np.zeros((values.shape[0], len(place)))
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        for c in range(count):
            mine = slice(ends[c], ends[c + 1])
            parts = values[:, mine] @ coefficients[:, mine].T
            for r in range(count - 1):
                other = r if r < c else r + 1
                result[:, place[min(c, other), max(c, other)]] += parts[:, r]
        return result

    def _expansion(self) -> Expansion:
        coefficients = self._combine(np.eye(len(self.support_)), self.dual_coef_)
        return Expansion(self.expansion_, coefficients, np.asarray(self.intercept_))

    def _contest(self, values: NDArray[np.float64]) -> tuple[int, int, NDArray[np.float64]]:
        if not self._is_by_pairs:
            return super()._contest(values)
        winner = int(self._winners(values[None])[0])
        ahead = {}  # by how much, and the sign that says so, of the problem against each other class
        for t, (i, j) in enumerate(combinations(range(len(self.classes_)), 2)):
            if winner in (i, j):
                sign = 1.0 if winner == i else -1.0
                ahead[j if winner == i else i] = (sign * values[t], sign, t)
        rival = min(ahead, key=lambda c: (ahead[c][0], c))
        direction = np.zeros(len(values))
        direction[ahead[rival][2]] = ahead[rival][1]
        return winner, rival, direction

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
        if self.multiclass == "ovo" and self.decision_function_shape == "ovr":
            return np.asarray(_ovr_decision_function(values < 0, -values, len(self.classes_)))
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
        if self.multiclass == "ovr":
            return np.asarray(values.argmax(axis=1))
        if self.break_ties:
            scores = _ovr_decision_function(values < 0, -values, count)
        else:
            scores = np.zeros((len(values), count))
            for t, (i, j) in enumerate(combinations(range(count), 2)):
                scores[:, i] += values[:, t] > 0
                scores[:, j] += values[:, t] <= 0
        return np.asarray(scores.argmax(axis=1))
