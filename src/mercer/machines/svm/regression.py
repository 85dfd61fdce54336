"""Support vector regression."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from ...errors import InputError, warn
from ...features import FeatureMap
from ...kernels import Gaussian
from ...parameters import Checks, check_number
from ...solvers import LazyMatrix, Matrix
from ..arguments import check_positive, read_targets, read_weight
from ..base import len_of
from ..callbacks import as_run
from ..explanation import Expansion, ExplainedFunction
from ..translation import KernelLike
from .base import Fit, Limits, SupportVectorMachine, positive_rows
from .problems import check_mass, solve_nu_regression, solve_regression

__all__ = ["SVR", "NuSVR"]


Vector = NDArray[np.float64]


class _Regressor(RegressorMixin, ExplainedFunction, SupportVectorMachine):
    """Targets and predictions; the problem is what the subclass says."""

    C: float

    def _check_total(self, weight: float) -> None:
        """Raise before any kernel work if weights of this sum are too much."""

    def _solve(self, y: Vector, C: Vector, matrix: Matrix, limits: Limits, start: Vector | None) -> Fit:
        raise NotImplementedError

    @as_run
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
    ) -> Self:
        """Fit to the points ``X`` and the numbers ``y``.

        Parameters
        ----------
        X : points of the kernel's domain; for ``Precomputed()`` the square Gram matrix
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            Factors of C for each point: weight 2 is a repeated row, weight 0 an absent one.

        Returns
        -------
        self
        """
        limits, previous = self._limits(), self._previous()
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        targets = self._one_target(y, n)
        self._warn_if_coarse(float(np.ptp(targets)))
        weight = read_weight(type(self).__name__, sample_weight, n)
        self._check_total(float(n) if weight is None else float(weight.sum()))
        training = self._training(points, positive_rows(weight, n), weight)
        start = None
        if previous is not None and previous[0].shape == (1, n):
            start = previous[0][0, training.rows]
        C, matrix = float(self.C) * training.weight, LazyMatrix(training.gram)
        fit = self._solve(targets[training.rows], C, matrix, limits, start)
        if previous is not None and start is not None:
            fit = fit.or_previous(start, float(previous[1][0]))
        support = np.flatnonzero(fit.beta)
        self._keep(training, support, fit.beta[None, support])
        self.intercept_ = np.array([fit.bias])
        self.n_iter_ = int(fit.solution.stats["iterations"])
        self._report([fit.solution])
        return self

    def _warn_if_coarse(self, spread: float) -> None:
        """Warn if ``tol``, which is in the unit of y, is not small against the targets."""
        tube = 2 * float(getattr(self, "epsilon", 0.0))
        # targets that differ by less than this multiple of the tolerance are hardly distinguished
        if tube < spread < 10.0 * self.tol:
            warn(
                f"{type(self).__name__}: `tol` is {self.tol:g}, in the unit of y, and the targets differ by "
                f"no more than {spread:.3g}. Multiply y by a constant, or lower tol.",
                UserWarning,
            )

    def _one_target(self, y: Any, n: int) -> Vector:
        targets = read_targets(type(self).__name__, y, n, numeric=True)
        if targets.ndim == 2 and targets.shape[1] == 1:
            from sklearn.utils import column_or_1d

            targets = column_or_1d(targets, warn=True)
        if targets.ndim != 1:
            raise InputError(
                f"{type(self).__name__}: y must be of shape (n,). Got {targets.shape}; for several targets "
                "use sklearn.multioutput.MultiOutputRegressor."
            )
        return np.ascontiguousarray(targets, dtype=np.float64)

    def _expansion(self) -> Expansion:
        return self._sum_over_points()

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Values :math:`f(x) + b` at new points."""
        self._check_fitted()
        values = self._function(X, np.ascontiguousarray(self.dual_coef_[0]))
        return np.asarray(values + self.intercept_[0])


class SVR(_Regressor):
    r"""Support vector regression: errors up to epsilon cost nothing.

    .. math:: \min_{f \in \mathcal{H}_k,\; b} \; \tfrac12 \|f\|^2
              + \sum_i C w_i \max(0,\; |y_i - f(x_i) - b| - \epsilon)

    Solver, cost and promises as for :class:`SVC`.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        As for :class:`SVC`.
    C : float, default=1.0
        Price of errors beyond epsilon, > 0.
    epsilon : float, default=0.1
        Half the width of the tube, >= 0.
    fit_intercept, tol, max_iter, cache_size, verbose, warm_start, approximation
        As for :class:`SVC`.
    indefinite, store, time_budget
        As for :class:`SVC`; ``tol`` is in the unit of y.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_
        As for :class:`SVC`.
    kernel_, expansion_, converged_, fit_status_, status_, gap_, kkt_violation_, solutions_, n_iter_
        As for :class:`SVC`; ``dual_coef_`` has shape (1, n_SV).
    approximation_, approximation_error_, shape_fit_, n_features_in_, feature_names_in_
        As for :class:`SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> model = SVR(Gaussian(1.0), C=10.0, epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.06)
    True
    """

    _checks: ClassVar[Checks] = {
        "C": partial(check_number, requirement="a positive number", above=0.0, infinite=True),
        "epsilon": partial(check_number, requirement="a number >= 0", least=0.0),
    }

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = -1,
        cache_size: float | str = "auto",
        verbose: bool = False,
        warm_start: bool = False,
        approximation: FeatureMap | Literal["auto"] | None = None,
        indefinite: str = "warn",
        store: Any = None,
        time_budget: float | None = None,
    ) -> None:
        super().__init__(kernel, tol, max_iter, cache_size, verbose, indefinite, store, time_budget)
        self.C = C
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.warm_start = warm_start
        self.approximation = approximation

    def _solve(self, y: Vector, C: Vector, matrix: Matrix, limits: Limits, start: Vector | None) -> Fit:
        return solve_regression(y, C, float(self.epsilon), matrix, limits, self.fit_intercept, start)


class NuSVR(_Regressor):
    r"""Support vector regression whose tube is as wide as a share of the points asks for.

    .. math:: \min_{f,\, b,\, \epsilon \ge 0} \; \tfrac12 \|f\|^2
              + C \sum_i w_i \bigl(\nu \epsilon + \max(0,\; |y_i - f(x_i) - b| - \epsilon)\bigr)

    At most the share :math:`\nu` of the weight lies outside the tube, and at least that share are support
    vectors.  Solver, cost and promises as for :class:`SVC`.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        As for :class:`SVC`.
    nu : float, default=0.5
        In (0, 1].
    C : float, default=1.0
        Price of errors, > 0.
    tol, max_iter, cache_size, verbose, warm_start, indefinite, store, time_budget
        As for :class:`SVC`; ``tol`` is in the unit of y.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_
        As for :class:`SVR`.
    kernel_, expansion_, converged_, fit_status_, status_, gap_, kkt_violation_, solutions_, n_iter_
        As for :class:`SVR`.
    shape_fit_, n_features_in_, feature_names_in_
        As for :class:`SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> model = NuSVR(nu=0.2, C=10.0).fit(X, np.sin(X[:, 0]))
    >>> bool(np.abs(model.predict(X) - np.sin(X[:, 0])).max() < 0.1)
    True
    """

    fit_intercept = True

    _checks: ClassVar[Checks] = {"C": check_positive}

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        nu: float = 0.5,
        C: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = -1,
        cache_size: float | str = "auto",
        verbose: bool = False,
        warm_start: bool = False,
        indefinite: str = "warn",
        store: Any = None,
        time_budget: float | None = None,
    ) -> None:
        super().__init__(kernel, tol, max_iter, cache_size, verbose, indefinite, store, time_budget)
        self.nu = nu
        self.C = C
        self.warm_start = warm_start

    def _check_total(self, weight: float) -> None:
        check_mass(float(self.nu) * float(self.C) * weight, "NuSVR")

    def _solve(self, y: Vector, C: Vector, matrix: Matrix, limits: Limits, start: Vector | None) -> Fit:
        return solve_nu_regression(y, C, float(self.nu), matrix, limits, start)
