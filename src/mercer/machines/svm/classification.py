"""Support vector classification with a price on margin errors: ``SVC``."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ...features import FeatureMap
from ...kernels import Gaussian
from ...parameters import Checks, check_number
from ...solvers import BoxProblem, BoxValue, LazyMatrix, Matrix, Solution
from ..callbacks import as_run
from ..translation import KernelLike
from .base import Fit, Limits, Training
from .calibration import calibrate, folds_of
from .classifier import Classifier, Codes
from .leave_one_out import LeaveOneOutBounds, leave_one_out_bounds
from .multiclass import Task, can_pair, hold, solve_pairs
from .problems import classification, solve_hard_margin
from .starts import grown

__all__ = ["SVC"]

Vector = NDArray[np.float64]


class SVC(Classifier):
    r"""Support vector classification: the widest margin, with a price on points inside it.

    .. math:: \min_{f \in \mathcal{H}_k,\; b} \; \tfrac12 \|f\|^2
              + \sum_i C w_i \max(0,\; 1 - y_i (f(x_i) + b))

    solved in the dual, to the exact solution: two-variable steps on working sets, and at the end, where it is
    cheap, the optimality system of the free support vectors.  Several classes are compared in pairs
    (``multiclass="ovo"``) or each with the rest (``"ovr"``), all on one Gram matrix.

    The kernel should be positive definite.  For others ``indefinite`` decides; the result is a stationary
    point.

    Cost: between O(n^2) and O(n^3) kernel values and steps; memory for the rows of the Gram matrix that
    ``cache_size`` allows, in single precision; the checks at the end are in double and bound its effect.  A
    prediction compares with the support vectors alone.  Equal data and numbers of threads give equal bits.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain; ``X`` is then whatever that domain accepts.  ``Precomputed()`` takes the
        Gram matrix as ``X``.
    C : float, default=1.0
        Price of margin errors, > 0.  ``inf`` asks for the hard margin, and says if there is none.
    fit_intercept : bool, default=True
        False is the homogeneous problem, b = 0.
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which to stop.
    max_iter : int, default=-1
        Most two-variable steps per problem.  -1 does not mean no limit, as in scikit-learn, but one that only
        badly scaled data meet: ten million steps, or a thousand per point if that is more.  Whichever
        limit is met, a ConvergenceWarning says so, and the model is usable.
    cache_size : float or "auto", default="auto"
        Megabytes for rows of the Gram matrix.  By default room for some 4,000 rows whose values cost little,
        such as those of Gaussian kernels of up to a hundred features, else 537, or room for 5,120 rows if
        that is more.
        Several classes share blocks of the matrix instead; where all of it is needed more than once, it is
        held if it fits into half of the memory limit.
    verbose : bool, default=False
        Print how the fit ended.
    class_weight : dict, "balanced" or None, default=None
        Factors of C by class; "balanced" makes all classes weigh the same.  A class of factor 0, or whose
        points all have weight 0, is absent.
    multiclass : {"ovo", "ovr"}, default="ovo"
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether ``decision_function`` gives a score per class or per pair of classes.
    break_ties : bool, default=True
        Decide equal votes by the decision values, so that ``predict`` is the largest score.
    warm_start : bool, default=False
        Start from the last solution, if that has as many rows: to resume after a stop, or for another C.
    approximation : FeatureMap or "auto", optional
        Train on the features of this map, such as ``Nystrom(kernel, 1000)``, instead of the kernel: O(n r)
        memory for r features, and predictions that do not depend on the number of support vectors.  The map's
        kernel counts, and ``kernel`` is left out (or the same).  ``"auto"`` is exact while the Gram matrix
        can be held (2 GiB), then takes what :func:`~mercer.features.advise` recommends.
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        What to do if the kernel is not certified and its Gram matrix has a negative eigenvalue.
    store : path or GramStore, optional
        Keep kernel values on disk between fits, see :func:`mercer.gram`.
    probability : bool, default=False
        Whether to fit probabilities, at the price of about five more fits; see below.
    random_state : int, RandomState or None, default=0
        How points are dealt into folds for the probabilities.
    time_budget : float, optional
        Seconds after which ``fit`` stops, at its best state and with a ``ConvergenceWarning``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    support_ : array of shape (n_SV,)
        Positions of the support vectors in ``X``, class by class.
    support_vectors_ : array or sparse matrix of shape (n_SV, n_features)
        For vectors only.
    n_support_ : array of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : array of shape (1, n_SV), or (n_classes - 1, n_SV), or (n_classes, n_SV) for ``"ovr"``
        Coefficients :math:`y_i \alpha_i`; for pairs of classes as scikit-learn lays them out.
    intercept_ : array, one number per problem
    coef_ : array of shape (n_problems, n_features)
        For the linear kernel, or of the features of ``approximation``; then there is no ``expansion_``.
    class_weight_ : array of shape (n_classes,)
        Factors of C by class.
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved.  Of a kernel that is only conditionally positive
        definite, as ``-PowerDistance(1.0)``, the intercept needs no more: this is then the positive definite
        kernel ``k.centered(X[:1])``, which gives the same functions.
    expansion_ : Gram
        The (lazy) Gram matrix of the support vectors; it holds them and knows how to compare new points.
    converged_ : bool
        Whether every problem reached ``tol``, by its optimality conditions computed anew in double precision.
    fit_status_ : int
        0 if converged, else 1, as in scikit-learn.
    status_ : str
        How the least converged problem ended, and what to do about it.
    gap_ : float
        Duality gap, summed over the problems.
    kkt_violation_ : float
        Largest violation of the optimality conditions.
    solutions_ : tuple of Solution
        One per problem: iterations, times, cache statistics.
    n_iter_ : array of int
        Two-variable steps, per problem.
    approximation_ : FeatureMap or None
        The fitted map; None if ``"auto"`` was exact.  This and the next: with ``approximation`` only.
    approximation_error_ : float
        Frobenius norm of the error of the map's kernel on 500 training points, relative to the kernel's.
    shape_fit_ : tuple of int
        Shape of ``X``; for objects other than vectors their number.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.
    calibration_ : PiecewiseLogistic or Temperature
        For ``probability=True``: the function from decision values to probabilities, with its slopes (two
        classes) or its temperature (more).

    Notes
    -----
    Probabilities are fitted to decision values of points that the model has not seen: each fifth of them is
    left out once, and the machine is fitted to the rest with the same kernel, C and weights.  Copies of a
    point and points of one of the ``groups`` are left out together, a class of a single point never.  Points
    without a digest (rows of a precomputed matrix, instances of classes) count as different.

    For two classes p is an increasing function of the decision value with p(0) = 1/2; for more a softmax of
    how far each class is ahead of its strongest rival (``"ovo"``), or of the decision values (``"ovr"``).
    Weights count as repetition.  A stop within the extra fits leaves the model without probabilities: a
    warning says so, and ``predict_proba`` raises NotFittedError.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Polynomial
    >>> X, y = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1.0]]), ["even", "odd", "odd", "even"]
    >>> model = SVC(Polynomial(2), C=np.inf).fit(X, y)
    >>> model.dual_coef_
    array([[-0.125, -0.125,  0.125,  0.125]])
    >>> model.predict(X).tolist()
    ['even', 'odd', 'odd', 'even']
    """

    _checks: ClassVar[Checks] = {
        "C": partial(
            check_number,
            requirement="a positive number, or inf for the hard margin",
            above=0.0,
            infinite=True,
        ),
    }

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = -1,
        cache_size: float | str = "auto",
        verbose: bool = False,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        multiclass: str = "ovo",
        decision_function_shape: str = "ovr",
        break_ties: bool = True,
        warm_start: bool = False,
        approximation: FeatureMap | Literal["auto"] | None = None,
        indefinite: str = "warn",
        store: Any = None,
        probability: bool = False,
        random_state: Any = 0,
        time_budget: float | None = None,
    ) -> None:
        super().__init__(kernel, tol, max_iter, cache_size, verbose, indefinite, store, time_budget)
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.multiclass = multiclass
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.warm_start = warm_start
        self.approximation = approximation
        self.probability = probability
        self.random_state = random_state

    @as_run
    def path(
        self,
        X: Any,
        y: Any,
        Cs: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
    ) -> list[Self]:
        """Fit for several values of C, each from where the steps for the one before have led.

        The kernel values are computed once, and held where they fit; every solution is as exact as that of
        ``fit``.  What stops one value of C stops all that are not solved yet: their models are where they
        were.  Callbacks may be called from other threads, which finish one value while the steps for the next
        go on.  Pairs of many classes go along all values of C one after the other: what stops one pair leaves
        those that follow as they are, in every model.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in :meth:`fit`.
        Cs : sequence of float
            Finite values, in any order.

        Returns
        -------
        list of SVC
            A fitted copy for every C, in the order of ``Cs``; this estimator stays as it is.

        Examples
        --------
        >>> models = SVC().path([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], [0.1, 1.0, 10.0])
        >>> [round(float(abs(model.dual_coef_).max()), 3) for model in models]
        [0.1, 1.0, 1.541]
        """
        given = Cs if isinstance(Cs, Iterable) else [None]
        wanted = "a list of positive numbers"
        values = [check_number("SVC.path", "Cs", C, wanted, above=0.0) for C in given]
        model = clone(self)
        limits = model._limits()
        training, codes = model._prepare(X, y, sample_weight)
        folds = folds_of(model, training, codes, groups) if self.probability else []
        matrix: Matrix = LazyMatrix(training.gram)
        if folds:
            matrix = hold(matrix, limits)
        order = np.argsort(values, kind="stable").tolist()
        along = model._solve_path([values[place] for place in order], training, codes, matrix, limits)
        models: dict[int, Self] = {}
        for place, fits in zip(order, along, strict=True):
            model = copy.copy(model)
            model.C = values[place]
            model._become(fits, training, codes)
            if folds:
                calibrate(model, folds, fits, training, codes, matrix, limits)
            models[place] = model
        return [models[place] for place in range(len(values))]

    def leave_one_out_bounds(self, X: Any) -> LeaveOneOutBounds:
        """Bounds of the share of errors when each training point is left out once, from this one fit.

        For two classes, without ``sample_weight``.  Cost: the smallest ball around the points, the kernel
        values of support vectors with all points, and an inverse of the size of the free support vectors.

        Parameters
        ----------
        X : points
            Those of ``fit``.

        Returns
        -------
        LeaveOneOutBounds
            ``support_vectors``, ``radius_margin`` and ``span``, each a :class:`~mercer.guarantees.Bound`, and
            ``estimate``, a number.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.kernels import Gaussian
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((100, 2))
        >>> found = SVC(Gaussian(1.0)).fit(X, X[:, 0] > 0).leave_one_out_bounds(X)
        >>> found.support_vectors.value, found.span.value, found.estimate
        (0.34, 0.18, 0.04)
        """
        self._check_fitted()
        return leave_one_out_bounds(self, X)

    def _solve_path(
        self, Cs: Sequence[float], training: Training, codes: Codes, matrix: Matrix, limits: Limits
    ) -> list[list[Fit]]:
        """Solutions for increasing C, each from the solution before."""
        tasks, weight = self._tasks(codes), training.weight
        if not Cs:
            return []
        if len(self.classes_) == 2:
            problem = classification(tasks[0].y, weight, self.fit_intercept)
            return [[self._fit_of(solution)] for solution in limits.solve_path(problem, Cs, matrix)]
        if can_pair(tasks):
            return self._solve_pairs(tasks, weight, matrix, limits, Cs)
        matrix, starts, result = hold(matrix, limits), None, []
        model = copy.copy(self)
        for C in Cs:
            model.C = C
            fits = model._solve_tasks(tasks, weight, matrix, limits, starts)
            starts = [fit.beta for fit in fits]
            result.append(fits)
        return result

    def _fit_of(self, solution: Solution[BoxValue]) -> Fit:
        value = solution.value
        return Fit(value.coefficients, value.multipliers[0] if self.fit_intercept else 0.0, solution)

    def _solve(self, y: Vector, weight: Vector, matrix: Matrix, limits: Limits, start: Vector | None) -> Fit:
        C = float(self.C) * weight
        if np.isinf(float(self.C)) and self.fit_intercept:
            return solve_hard_margin(y, matrix, limits)
        start = None if start is None else self._feasible(start, y, C)
        return self._fit_of(limits.solve(classification(y, C, self.fit_intercept), matrix, start))

    def _feasible(self, start: Vector, y: Vector, C: Vector) -> Vector:
        """The nearest point of the box, or the one that has grown with it, whose sum is zero."""
        start = np.clip(start, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0))
        return grown(start, C) if self.fit_intercept else start

    def _solve_tasks(
        self,
        tasks: Sequence[Task],
        weight: Vector,
        matrix: Matrix,
        limits: Limits,
        starts: Sequence[Vector] | None = None,
    ) -> list[Fit]:
        if np.isinf(float(self.C)) or not can_pair(tasks):
            return super()._solve_tasks(tasks, weight, matrix, limits, starts)
        if starts is not None:
            starts = [
                self._feasible(start, task.y, float(self.C) * weight[task.index])
                for task, start in zip(tasks, starts, strict=True)
            ]
        return self._solve_pairs(tasks, weight, matrix, limits, [float(self.C)], starts)[0]

    def _solve_pairs(
        self,
        tasks: Sequence[Task],
        weight: Vector,
        matrix: Matrix,
        limits: Limits,
        Cs: Sequence[float],
        starts: Sequence[Vector] | None = None,
    ) -> list[list[Fit]]:
        def pose(y: Vector, index: NDArray[np.intp]) -> BoxProblem:
            return classification(y, weight[index], self.fit_intercept)

        return solve_pairs(tasks, matrix, limits, pose, starts, Cs)
