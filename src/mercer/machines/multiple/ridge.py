"""Ridge regression with several kernels."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin

from ...domains import take
from ...parameters import Checks
from ...solvers import RidgeMachine
from ..arguments import check_positive, read_targets, read_weight
from ..base import len_of
from ..callbacks import as_run
from ..explanation import Expansion, ExplainedFunction
from .base import MultipleKernels
from .members import Kernels
from .svm import DEFAULT

__all__ = ["MultipleKernelRidge"]


class MultipleKernelRidge(MultiOutputMixin, RegressorMixin, ExplainedFunction, MultipleKernels):
    r"""Ridge regression with a weighted sum of kernels, the weights learned with it.

    .. math:: \min_{d,\, f_l,\, b} \; \tfrac12 \sum_l \frac{\|f_l\|_l^2}{d_l}
              + \frac{1}{2\alpha} \sum_i w_i \bigl| y_i - \textstyle\sum_l f_l(x_i) - b \bigr|^2,
              \qquad d \ge 0, \quad \|d\|_p \le 1

    For fixed weights this is :class:`KernelRidge` with the kernel :math:`\sum_l d_l k_l / s_l`.  Several
    targets share the weights.  Weights and their solver as for :class:`MultipleKernelSVC`; each training is
    a Cholesky factor, O(n^3), of a matrix in memory.

    Parameters
    ----------
    kernels, weights, norm, scale
        As for :class:`MultipleKernelSVC`.
    alpha : float, default=1.0
        Penalty, > 0.
    fit_intercept : bool, default=True
        Whether there is an intercept, which is not penalised.
    tol, max_iter, store, time_budget
        As for :class:`MultipleKernelSVC`.

    Attributes
    ----------
    weights_, scales_, names_, kernels_, kernel_, gap_, objective_, solution_, converged_, status_, n_iter_
        As for :class:`MultipleKernelSVC`.
    dual_coef_ : array of shape (n,) or (n, n_targets)
    intercept_ : float or array of shape (n_targets,)
    expansion_ : Gram
        The Gram matrix of the training points.
    n_features_in_, feature_names_in_
        As for :class:`SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, columns
    >>> X = {"time": np.arange(40.0), "place": np.arange(40) % 7}
    >>> kernels = columns(time=Gaussian(5.0), place=Gaussian(1.0))
    >>> model = MultipleKernelRidge(kernels, alpha=0.1).fit(X, np.sin(X["place"]))
    >>> model.weights_.round(2)
    array([0., 1.])
    """

    _checks: ClassVar[Checks] = {"alpha": check_positive}

    def __init__(
        self,
        kernels: Kernels = DEFAULT,
        *,
        alpha: float = 1.0,
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
        self.alpha = alpha
        self.weights = weights
        self.norm = norm
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.store = store
        self.time_budget = time_budget

    @as_run
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the points ``X`` and the targets ``y`` of shape (n,) or (n, n_targets).

        Parameters
        ----------
        X : points of the domain of the kernels
        y : array of shape (n,) or (n, n_targets)
        sample_weight : array of shape (n,), optional
            Weight 2 is a repeated row, weight 0 an absent one.

        Returns
        -------
        self
        """
        self._check_weighting()
        points = self._validate_X(X, reset=True)
        targets = read_targets(type(self).__name__, y, len_of(points), numeric=True)
        weight = read_weight(type(self).__name__, sample_weight, len_of(points))
        if weight is not None and not weight.all():  # a row of weight zero is as if absent
            kept = np.flatnonzero(weight)
            points, targets, weight = take(points, kept), targets[kept], weight[kept]
        training = self._training_kernels(points, weight, None, intercept=bool(self.fit_intercept))
        Y = targets.reshape(len(targets), -1)
        shift = np.zeros(Y.shape[1])
        if self.fit_intercept:  # a constant is zero exactly then
            shift = np.where(np.ptp(Y, axis=0) == 0, Y[0], np.average(Y, axis=0, weights=training.weight))
        machine = RidgeMachine(Y - shift, float(self.alpha), training.weight, bool(self.fit_intercept))
        trained = self._weigh(training, machine, lambda: Y - shift).value.trained
        flat = targets.ndim == 1
        self.dual_coef_ = trained.coefficients[:, 0] if flat else trained.coefficients
        intercepts = trained.detail[2] + shift
        self.intercept_ = float(intercepts[0]) if flat else intercepts
        self.expansion_ = self._gram_of_combination(points)
        self._report_weights()
        return self

    def _expansion(self) -> Expansion:
        coefficients = self.dual_coef_.reshape(len(self.dual_coef_), -1)
        return Expansion(self.expansion_, coefficients, np.atleast_1d(self.intercept_))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Values :math:`f(x) + b` at new points."""
        self._check_fitted()
        points = self._validate_X(X, reset=False)
        return np.asarray(self.expansion_._cross(points) @ self.dual_coef_ + self.intercept_)
