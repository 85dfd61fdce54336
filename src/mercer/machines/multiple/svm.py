"""Support vector machines with several kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...domains import Data, take
from ...errors import ParameterError
from ...kernels import Gaussian, Linear
from ...parameters import Checks
from ...solvers import BoxMachine, BoxProblem, BoxTask, BoxValue, Matrix, Solution
from ..arguments import check_positive
from ..base import len_of
from ..svm.base import Fit, Limits, SupportVectorMachine, Training
from ..svm.classifier import Classifier
from ..svm.multiclass import Task
from ..svm.oneclass import OneClassSVM
from ..svm.problems import classification
from ..svm.regression import SVR
from .base import MultipleKernels, TrainingKernels
from .members import Kernels

__all__ = ["MultipleKernelOneClass", "MultipleKernelSVC", "MultipleKernelSVR"]

Vector = NDArray[np.float64]

DEFAULT: Kernels = (Linear(), Gaussian("scale"))


class _Machine(MultipleKernels, SupportVectorMachine):
    """Support vector machines whose dual problem is solved together with the weights of the kernels."""

    # What a machine of one kernel has as parameters.
    cache_size: ClassVar[str] = "auto"  # type: ignore[misc]
    indefinite: ClassVar[str] = "error"  # type: ignore[misc]
    verbose: ClassVar[bool] = False  # type: ignore[misc]
    warm_start: ClassVar[bool] = False  # type: ignore[misc]

    _kernels: TrainingKernels

    def _limits(self) -> Limits:
        self._check_weighting()
        return Limits(type(self).__name__, float(self.tol), -1, None)

    def _training(
        self, points: Data, rows: NDArray[np.intp], weight: Vector | None, own: Vector | None = None
    ) -> Training:
        """Select the rows, in this order, and make the Gram matrices of the kernels on them."""
        n = len_of(points)
        self.shape_fit_ = tuple(points.shape) if hasattr(points, "shape") else (n,)
        if not np.array_equal(rows, np.arange(n)):
            points, weight = take(points, rows), None if weight is None else weight[rows]
        intercept = self._intercept_is_free and bool(self.fit_intercept)
        self._kernels = self._training_kernels(points, weight, own, intercept=intercept)
        return Training(points, rows, self._kernels.weight, self._kernels.first)

    def _solutions(self, tasks: Sequence[BoxTask], targets: Any, unit: float) -> list[Solution[BoxValue]]:
        """Solutions of the problems for the weights that are best for all of them."""
        size = self._kernels.matrices.family.size
        machine = BoxMachine(tasks, size, type(self).__name__)
        found = self._weigh(self._kernels, machine, targets, unit)
        return list(found.value.trained.detail)

    def _keep(
        self,
        training: Training,
        support: NDArray[np.intp],
        coefficients: NDArray[np.float64],
        counts: NDArray[np.intp] | None = None,
    ) -> None:
        combined = training._replace(gram=self._gram_of_combination(training.points))
        super()._keep(combined, support, coefficients, counts)
        del self._kernels

    def _report(self, solutions: Sequence[Solution[BoxValue]]) -> None:
        self.kkt_violation_ = float(max(s.stats["kkt_violation"] for s in solutions))
        self._report_weights()


class MultipleKernelSVC(_Machine, Classifier):
    r"""Support vector classification with a weighted sum of kernels, the weights learned with it.

    .. math:: \min_{d,\, f_l,\, b} \; \tfrac12 \sum_l \frac{\|f_l\|_l^2}{d_l}
              + C \sum_i w_i \max\bigl(0,\; 1 - y_i (\textstyle\sum_l f_l(x_i) + b)\bigr),
              \qquad d \ge 0, \quad \|d\|_p \le 1

    The machine is that of the kernel :math:`\sum_l d_l k_l / s_l`, where the scales s bring the kernels to a
    common size.  With p = 1 (SimpleMKL, Rakotomamonjy et al. 2008) most weights are zero; with larger p fewer
    are, and in the limit all are equal.  Several classes share the weights: the objectives of their problems
    are added.  (The survey of Cuturi, section 5.2, leaves out the one half.)

    All kernels must be positive definite on the training points; others are an error that names them.  All of
    it is one convex problem.  Newton's method on the weights, with the machine trained in each step, goes
    on to a duality gap of ``tol``: some 5 to 15 trainings, and as many passes over all Gram matrices, which
    are held in memory as far as they fit.

    Parameters
    ----------
    kernels : sequence or mapping of kernels, Columns, sum or KernelHierarchy
        On the same points.  A mapping has their names; of ``columns(...)`` each column has a weight, and of a
        sum each term.  In a :class:`KernelHierarchy` a kernel has a weight only if its ancestors have.
    C : float, default=1.0
        Price of errors, > 0 and finite.
    weights : {"learn", "average", "alignment"}, default="learn"
        How the weights are found: together with the machine; all equal; or those of the largest alignment of
        the centred Gram matrix with the labels, before the machine is trained.
    norm : float, default=1.0
        p >= 1, finite.
    scale : {"trace", "variance", None}, default="trace"
        What s is: the mean of k(x, x) over the training points; that of the squared distance of x from the
        mean in feature space; or 1.
    fit_intercept, class_weight, multiclass, decision_function_shape
        As for :class:`SVC`.
    tol : float, default=1e-4
        The duality gap to stop at, relative to the objective.
    max_iter : int, default=100
        Newton steps at most.
    store : path or GramStore, optional
        Directory for the Gram matrices of the kernels: see :func:`mercer.gram`.
    time_budget : float, optional
        Seconds after which to stop.

    Attributes
    ----------
    weights_ : array of shape (n_kernels,)
        d, for the kernels divided by their scales.  Those of a hierarchy follow from its norm.
    scales_ : array of shape (n_kernels,)
        s.
    names_ : tuple of str
        Names of the kernels: keys, columns, or how they are written.
    kernels_ : tuple of Kernel
        The kernels with their parameters from data.
    kernel_ : Kernel
        The weighted sum, for use in any machine.
    gap_ : float
        Relative duality gap, computed from the returned numbers.  With given weights (average, alignment) it
        bounds what better ones would gain.
    objective_ : float
    solution_ : Solution
        ``value`` are the weights.
    converged_, status_, n_iter_
        Whether the gap was reached, how it ended, and Newton steps.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, classes_, class_weight_
        As for :class:`SVC`.
    kkt_violation_, expansion_, shape_fit_, n_features_in_, feature_names_in_
        As for :class:`SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, columns
    >>> rng = np.random.default_rng(0)
    >>> X = {name: rng.standard_normal(60) for name in "abc"}
    >>> model = MultipleKernelSVC(columns({name: Gaussian(1.0) for name in "abc"}), C=10.0)
    >>> model.fit(X, X["b"] ** 2 > 0.5).weights_.round(2)
    array([0.09, 0.86, 0.06])
    >>> model.kernel_weights()[0].pattern, model.gap_ < 1e-4
    ('b', True)
    """

    probability: ClassVar[bool] = False  # type: ignore[misc]
    break_ties: ClassVar[bool] = True  # type: ignore[misc]

    _checks: ClassVar[Checks] = {"C": check_positive}

    def __init__(
        self,
        kernels: Kernels = DEFAULT,
        *,
        C: float = 1.0,
        weights: str = "learn",
        norm: float = 1.0,
        scale: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 100,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        multiclass: str = "ovo",
        decision_function_shape: str = "ovr",
        store: Any = None,
        time_budget: float | None = None,
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.weights = weights
        self.norm = norm
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.multiclass = multiclass
        self.decision_function_shape = decision_function_shape
        self.store = store
        self.time_budget = time_budget

    def _solve(self, y: Vector, weight: Vector, matrix: Matrix, limits: Limits, start: Vector | None) -> Fit:
        return self._solve_tasks([Task(np.arange(len(y)), y)], weight, matrix, limits)[0]

    def _solve_tasks(
        self,
        tasks: Sequence[Task],
        weight: Vector,
        matrix: Matrix,
        limits: Limits,
        starts: Sequence[Vector] | None = None,
    ) -> list[Fit]:
        del matrix, limits, starts
        posed = [
            BoxTask(t.index, classification(t.y, float(self.C) * weight[t.index], self.fit_intercept))
            for t in tasks
        ]
        found = self._solutions(posed, self._signs, 1.0)
        free = bool(self.fit_intercept)
        return [Fit(s.value.coefficients, s.value.multipliers[0] if free else 0.0, s) for s in found]

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Training, NDArray[np.intp]]:
        training, self._codes = super()._prepare(X, y, sample_weight)
        return training, self._codes

    def _signs(self) -> NDArray[np.float64]:
        """Targets of the alignment: a column for each class, or one for two."""
        members = np.eye(len(self.classes_))[self._codes]
        return members[:, 1:] if len(self.classes_) == 2 else members

    def _keep(self, *args: Any, **options: Any) -> None:
        super()._keep(*args, **options)
        del self._codes


class MultipleKernelSVR(_Machine, SVR):
    r"""Support vector regression with a weighted sum of kernels, the weights learned with it.

    .. math:: \min_{d,\, f_l,\, b} \; \tfrac12 \sum_l \frac{\|f_l\|_l^2}{d_l}
              + C \sum_i w_i \max\bigl(0,\; |y_i - \textstyle\sum_l f_l(x_i) - b| - \epsilon\bigr),
              \qquad d \ge 0, \quad \|d\|_p \le 1

    Weights, solver and cost as for :class:`MultipleKernelSVC`.

    Parameters
    ----------
    kernels, weights, norm, scale
        As for :class:`MultipleKernelSVC`.
    C : float, default=1.0
        Price of errors beyond epsilon, > 0 and finite.
    epsilon : float, default=0.1
        Half the width of the tube, >= 0.
    fit_intercept, tol, max_iter, store, time_budget
        As for :class:`MultipleKernelSVC`.

    Attributes
    ----------
    weights_, scales_, names_, kernels_, kernel_, gap_, objective_, solution_, converged_, status_, n_iter_
        As for :class:`MultipleKernelSVC`.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, kkt_violation_, expansion_, shape_fit_
        As for :class:`SVR`.
    n_features_in_, feature_names_in_
        As for :class:`SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> model = MultipleKernelSVR([Gaussian(w) for w in (0.01, 1.0, 100.0)], C=10.0, epsilon=0.01)
    >>> model.fit(X, np.sin(X[:, 0])).weights_.round(2)
    array([0.03, 0.97, 0.  ])
    """

    _checks: ClassVar[Checks] = {"C": check_positive}

    def __init__(
        self,
        kernels: Kernels = DEFAULT,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        weights: str = "learn",
        norm: float = 1.0,
        scale: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 100,
        store: Any = None,
        time_budget: float | None = None,
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.epsilon = epsilon
        self.weights = weights
        self.norm = norm
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.store = store
        self.time_budget = time_budget

    def _warn_if_coarse(self, spread: float) -> None:
        """The tolerance is relative here."""

    def _solve(self, y: Vector, C: Vector, matrix: Matrix, limits: Limits, start: Vector | None) -> Fit:
        del matrix, limits, start
        problem = BoxProblem(-y, -C, C, float(self.epsilon), "sum" if self.fit_intercept else "free")
        spread = float(np.ptp(y)) or 1.0
        (found,) = self._solutions([BoxTask(np.arange(len(y)), problem)], lambda: y[:, None], spread)
        bias = found.value.multipliers[0] if self.fit_intercept else 0.0
        return Fit(found.value.coefficients, bias, found)


class MultipleKernelOneClass(_Machine, OneClassSVM):
    r"""One-class support vector machine with a weighted sum of kernels, the weights learned with it.

    .. math:: \min_{d,\, f_l,\, \rho} \; \tfrac12 \sum_l \frac{\|f_l\|_l^2}{d_l} - \nu W \rho
              + \sum_i w_i \max\bigl(0,\; \rho - \textstyle\sum_l f_l(x_i)\bigr), \qquad W = \sum_i w_i,
              \quad d \ge 0, \quad \|d\|_p \le 1

    The weights make the distance between the origin and most of the points as large as possible.  Solver and
    cost as for :class:`MultipleKernelSVC`.

    Parameters
    ----------
    kernels, norm, scale
        As for :class:`MultipleKernelSVC`.
    nu : float, default=0.5
        In (0, 1].
    weights : {"learn", "average"}, default="learn"
        As for :class:`MultipleKernelSVC`; without labels there is no alignment.
    tol, max_iter, store, time_budget
        As for :class:`MultipleKernelSVC`.

    Attributes
    ----------
    weights_, scales_, names_, kernels_, kernel_, gap_, objective_, solution_, converged_, status_, n_iter_
        As for :class:`MultipleKernelSVC`.
    offset_, support_, support_vectors_, n_support_, dual_coef_, intercept_, kkt_violation_, expansion_
        As for :class:`OneClassSVM`.
    shape_fit_, n_features_in_, feature_names_in_
        As for :class:`SVC`.

    Examples
    --------
    >>> X = [[0.0], [0.44], [0.45], [0.46], [1.0]]
    >>> MultipleKernelOneClass([Gaussian(0.1), Gaussian(1.0)], nu=0.5).fit(X).predict([[0.45], [9.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        kernels: Kernels = DEFAULT,
        *,
        nu: float = 0.5,
        weights: str = "learn",
        norm: float = 1.0,
        scale: str | None = "trace",
        tol: float = 1e-4,
        max_iter: int = 100,
        store: Any = None,
        time_budget: float | None = None,
    ) -> None:
        self.kernels = kernels
        self.nu = nu
        self.weights = weights
        self.norm = norm
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.store = store
        self.time_budget = time_budget

    def _check_parameters(self, weight: float) -> None:
        super()._check_parameters(weight)
        if self.weights == "alignment":
            raise ParameterError(
                "MultipleKernelOneClass: `weights` must be 'learn' or 'average': there are no labels to "
                "align with. Got 'alignment'."
            )

    def _minimum(
        self, problem: BoxProblem, matrix: Matrix, limits: Limits, start: Vector, tol: float
    ) -> Solution[BoxValue]:
        del matrix, limits
        task = BoxTask(np.arange(problem.size), problem, start)
        (found,) = self._solutions([task], lambda: start[:, None], tol / float(self.tol))
        return found
