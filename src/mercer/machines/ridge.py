"""Kernel ridge regression."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from ..domains import take
from ..errors import DefinitenessError, ParameterError
from ..gram import gram
from ..kernel import Kernel
from ..kernels import Gaussian
from ..solvers import solve_ridge
from .base import KernelMachine, len_of
from .indefinite import screen

__all__ = ["KernelRidge"]


class KernelRidge(MultiOutputMixin, RegressorMixin, KernelMachine):
    r"""Kernel ridge regression: least squares with a squared-norm penalty, solved exactly.

    .. math:: \min_{f \in \mathcal{H}_k,\; b} \; \sum_i w_i \, (y_i - f(x_i) - b)^2 + \alpha \|f\|^2

    (:math:`b = 0` unless ``fit_intercept``).  By the representer theorem
    :math:`f = \sum_i a_i k(x_i, \cdot)`; the coefficients solve a linear system of ``n`` unknowns.

    Cost: O(n^3) time and O(n^2) memory to fit, one kernel row per prediction.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain; ``X`` is then whatever that domain accepts.  ``Precomputed()`` takes the
        Gram matrix as ``X``.
    alpha : float, default=1.0
        Penalty, >= 0.  With 0 the least-norm interpolant (or least-squares fit) is returned.
    fit_intercept : bool, default=False
        Whether to fit the unpenalised constant :math:`b`.
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        What to do if the kernel is not certified and its Gram matrix has a negative eigenvalue: say so,
        refuse, or repair the spectrum (the repair extends to new points, see ``Gram.repair``).

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved.
    dual_coef_ : array of shape (n_kept,) or (n_kept, n_targets)
        Coefficients of the kept training points (those of positive weight).
    gram_ : Gram
        The (lazy) Gram matrix of the kept training points; it holds them and knows how to compare new ones.
    intercept_ : float or array of shape (n_targets,)
    solution_ : Solution
        How the system was solved: status, residual, rank and condition.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> model = KernelRidge(Gaussian(1.0), alpha=1e-6).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[np.pi / 2]])[0] - 1) < 1e-3)
    True
    """

    def __init__(
        self,
        kernel: Kernel = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        alpha: float = 1.0,
        fit_intercept: bool = False,
        indefinite: str = "warn",
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.indefinite = indefinite

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the points ``X`` and the targets ``y`` of shape (n,) or (n, n_targets)."""
        self._check_alpha()
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        targets = self._validate_targets(y, n, numeric=True)
        weight = self._validate_weight(sample_weight, n)

        if weight is not None and not weight.all():  # a row of weight zero is as if absent
            kept = np.flatnonzero(weight)
            points, targets, weight = take(points, kept), targets[kept], weight[kept]
        self.kernel_ = self.kernel.resolve(points, weight)
        self.gram_ = screen(gram(self.kernel_, points), self.indefinite, type(self).__name__)

        Y = targets.reshape(len(targets), -1)
        try:
            self.solution_ = solve_ridge(self.gram_.dense(), Y, float(self.alpha), weight, self.fit_intercept)
        except np.linalg.LinAlgError as error:
            raise DefinitenessError(
                f"KernelRidge: {error}; {self.kernel_!r} is not positive definite on these data. "
                "Raise alpha, or repair the kernel with indefinite='clip', 'flip' or 'shift'."
            ) from error
        coefficients, intercepts = self.solution_.value
        flat = targets.ndim == 1
        self.dual_coef_ = coefficients[:, 0] if flat else coefficients
        self.intercept_ = float(intercepts[0]) if flat else intercepts
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Values :math:`f(x) + b` at new points."""
        self._check_fitted()
        points = self._validate_X(X, reset=False)
        return np.asarray(self.gram_.cross(points) @ self.dual_coef_ + self.intercept_)

    def _check_alpha(self) -> None:
        if not isinstance(self.alpha, numbers.Real) or not (0 <= self.alpha < np.inf):
            raise ParameterError(
                f"KernelRidge: `alpha` must be a finite number >= 0. Got {self.alpha!r}. "
                "Larger alpha gives a smoother fit."
            )
