"""Kernel ridge regression."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from ...batches import Batches
from ...domains import Data, take
from ...engine.runs import stop_reason
from ...errors import DefinitenessError, InputError, ParameterError, warn
from ...features import FeatureMap
from ...features.nystrom import LandmarkMap
from ...gram.kernel_gram import gram_of_points
from ...kernels import Gaussian
from ...parameters import Checks
from ...solvers import (
    FeatureRows,
    NormalEquations,
    RestrictedValue,
    RidgeSystem,
    Solution,
    WeightedMatrix,
    loo_residuals,
    ridge_path,
    solve_restricted,
    solve_ridge,
)
from ..approximation import approximate
from ..arguments import read_targets, read_weight
from ..base import len_of
from ..callbacks import as_run
from ..explanation import Expansion, ExplainedFunction
from ..indefinite import beside_intercept, screen
from ..translation import KernelLike
from ..tuning import Hyperparameters, signal_variances
from .checks import CHECKS, check_parameters, signal_rule
from .posterior import Posterior
from .process import GaussianProcessView
from .stream import add_batch, fit_batches

__all__ = ["KernelRidge"]


def _has_map(machine: KernelRidge) -> bool:
    if not isinstance(machine.approximation, FeatureMap):
        raise AttributeError(
            "KernelRidge.partial_fit: `approximation` must be a feature map, such as Nystrom(kernel, 1000): "
            "the system of all points needs all points."
        )
    return True


class KernelRidge(MultiOutputMixin, RegressorMixin, GaussianProcessView, ExplainedFunction):
    r"""Kernel ridge regression: least squares with a squared-norm penalty, solved exactly.

    .. math:: \min_{f \in \mathcal{H}_k,\; b} \; \sum_i w_i \, (y_i - f(x_i) - b)^2 + \alpha \|f\|^2

    (:math:`b = 0` unless ``fit_intercept``).  By the representer theorem
    :math:`f = \sum_i a_i k(x_i, \cdot)`; the coefficients solve a linear system of ``n`` unknowns.

    **Gaussian-process view.**  The same function is the posterior mean for the prior
    :math:`f \sim GP(0, \tau k)` and noise of variance :math:`\tau \alpha / w_i`, with a flat prior for b:
    alpha is the variance of the noise *relative to* the signal variance :math:`\tau` (``signal_variance``).
    Standard deviations, samples and the evidence belong to this view.

    Cost: O(n^3) time and 4 n^2 bytes to fit (8 n^2 below 1,500 points), one kernel row per prediction.  Where
    that is more than 2 GiB, conjugate gradients, which take O(n^2) time for each product and O(n^1.5) memory.
    Where the kernel has few known features (linear, polynomials of low degree) their normal equations, which
    take O(n r^2) time.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain; ``X`` is then whatever that domain accepts.  ``Precomputed()`` takes the
        Gram matrix as ``X``.
    alpha : float, array of shape (n_targets,), "loo" or "gcv", default=1.0
        Penalty, 0 or from 1e-100 to 1e100, for all targets or one for each.  With 0 the least-norm
        interpolant (or least-squares fit) is returned.  ``"loo"`` takes the one of ``alphas`` with the least
        leave-one-out error, ``"gcv"`` that with the least generalised cross-validation score; both are exact
        and need one decomposition of the matrix for all penalties (24 n^2 bytes).
    alphas : array, optional
        The penalties to choose from, > 0; by default 30 from 1e-6 to 1e3 times the mean of k(x, x).
    alpha_per_target : bool, default=False
        Whether each target chooses for itself; otherwise the sum over targets decides.
    fit_intercept : bool, default=False
        Whether to fit the unpenalised constant :math:`b`.
    tune : {"evidence", "loo"}, optional
        Choose the penalty and all parameters of the kernel that have a logarithmic scale by maximal evidence
        or minimal leave-one-out error, starting from ``alpha`` and ``kernel``, and from usual values too
        where these are not (a width within a factor of 4 of the median distance).  L-BFGS on logarithms;
        O(n^3) for each evaluation, and n^2 numbers for each parameter.  A kernel without derivatives in
        closed form, such as your own, is moved along central finite differences: two more Gram matrices for
        each parameter and evaluation.
    n_restarts : int, default=0
        Further random starts of that search.
    signal_variance : float or "evidence", optional
        The factor :math:`\tau` of the prior covariance; ``"evidence"`` takes the most likely one for each
        target, :math:`y^\top a / n` (n - 1 with an intercept).  By default 1, and the most likely one with
        ``tune="evidence"``: the search then knows no unit of the targets.  At given parameters predictions
        do not depend on it.
    solver : {"auto", "cholesky", "eigen", "cg", "askotch"}, default="auto"
        See :func:`mercer.solvers.solve_ridge`.
    tol : float, default=1e-6
        Relative residual of the linear system at which conjugate gradients stop.
    max_iter : int, default=500
        Most products of conjugate gradients with the Gram matrix; passes of ``"askotch"``.
    warm_start : bool, default=False
        Whether conjugate gradients begin from the coefficients of the last fit, if these are as many.
    checkpoint : path, optional
        A file in which conjugate gradients store their coefficients every ten seconds.  A fit that finds it
        goes on from there, also after the process was killed; a fit that converges removes it.
    approximation : FeatureMap or "auto", optional
        Fit a function of the features of this map, such as ``Nystrom(kernel, 1000)``, instead of all
        functions of the kernel: O(n r) kernel values for each pass and O(r^2) memory for r features.  The
        map's kernel counts, and ``kernel`` is left out (or the same).  ``alpha`` is then one positive number;
        what needs the system of all points (``solver``, ``tune``, standard deviations, leave-one-out errors)
        is refused.  ``fit`` then takes :class:`~mercer.Batches` too, and there is ``partial_fit``.
        ``"auto"`` is exact while the Gram matrix can be held (2 GiB), then takes what
        :func:`~mercer.features.advise` recommends.
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        What to do if the kernel is not certified and its Gram matrix has a negative eigenvalue: say so,
        refuse, or repair the spectrum (the repair extends to new points, see ``Gram.repair``).
    random_state : int or RandomState, optional
        Of the restarts, and of the sample of batches.
    verbose : bool, default=False
        Whether to print how the system was solved.
    time_budget : float, optional
        Seconds after which ``fit`` stops: an iterative solver at its best state and with a
        ``ConvergenceWarning``, a direct one with :class:`~mercer.errors.TimeBudgetError`.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved, or tuned.  Of a kernel that is only conditionally
        positive definite, as ``-PowerDistance(1.0)``, the intercept needs no more: this is then the positive
        definite kernel ``k.centered(X[:1])``, which gives the same functions.
    alpha_ : float or array of shape (n_targets,)
        The penalty that was used.
    alphas_ : array of shape (n_alphas,)
        The penalties that were tried.  This and the next three: with ``alpha="loo"`` or ``"gcv"`` only.
    loo_errors_, gcv_errors_ : arrays of shape (n_alphas,) or (n_alphas, n_targets)
        Weighted mean of squared leave-one-out errors, and its estimate by generalised cross-validation.
    degrees_of_freedom_ : array of shape (n_alphas,)
        Trace of the map from targets to fitted values.
    dual_coef_ : array of shape (n_kept,) or (n_kept, n_targets)
        Coefficients of the training points of positive weight.
    gram_ : Gram
        The (lazy) Gram matrix of the training points of positive weight; ``gram_.cross`` compares new ones.
    intercept_ : float or array of shape (n_targets,)
    signal_variance_, noise_variance_ : float or array of shape (n_targets,)
        The factor :math:`\tau` and :math:`\tau \alpha`.
    solution_ : Solution
        How the system was solved: status, residual, rank and condition.
    n_iter_ : int
        Products of conjugate gradients with the Gram matrix; 1 for the other solvers.
    approximation_ : FeatureMap or None
        The fitted map; None if ``"auto"`` was exact.  This and the next: with ``approximation`` only.  Of
        landmarks, ``gram_`` is their Gram matrix and ``dual_coef_`` has their coefficients; of other maps,
        ``coef_`` has those of the features.
    approximation_error_ : float
        Frobenius norm of the error of the map's kernel on 500 training points, relative to the kernel's.
    n_samples_seen_ : int
        Rows of positive weight of all batches; after batches only.
    tuning_ : Solution
        How the search ended, with ``tune`` only: status, the size of the remaining gradient, evaluations,
        and in ``stats["gradient"]`` whether that is in closed form.
    theta_, theta_names_ : array and tuple of str
        Logarithms of the hyper-parameters (the penalty last) and their names, for
        ``log_marginal_likelihood``; with one penalty > 0 for all targets.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Notes
    -----
    Leave-one-out errors leave out a *row* with its whole weight.  So a row of weight two counts as one
    observation here, and not as two equal ones, of which each would tell about the other.

    :class:`~mercer.Batches` are read twice.  In the first pass ``batches.sample`` rows are drawn uniformly.
    The map is fitted to them, with parameters that depend on data; a map that is fitted stays as it is, and
    needs no such pass.  In the second pass the normal equations of the features are added up: O(n r^2) time,
    and one batch, the sample and O(r^2) numbers in memory.  A time budget or Ctrl-C ends it with the model of
    the batches so far; ``checkpoint`` stores them, and batches that it holds are read but not computed again.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> model = KernelRidge(Gaussian(1.0), alpha=1e-6).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[np.pi / 2]])[0] - 1) < 1e-3)
    True
    >>> mean, std = model.predict([[3.0], [30.0]], return_std=True)
    >>> bool(std[0] < 1e-2), round(float(std[1]), 6)  # far away only the prior is left
    (True, 1.0)
    """

    _reads_batches: ClassVar[bool] = True

    _checks: ClassVar[Checks] = CHECKS

    def __init__(
        self,
        kernel: KernelLike = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        alpha: Any = 1.0,
        alphas: Any = None,
        alpha_per_target: bool = False,
        fit_intercept: bool = False,
        tune: str | None = None,
        n_restarts: int = 0,
        signal_variance: float | str | None = None,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 500,
        warm_start: bool = False,
        checkpoint: Any = None,
        approximation: FeatureMap | Literal["auto"] | None = None,
        indefinite: str = "warn",
        random_state: Any = None,
        verbose: bool = False,
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.alphas = alphas
        self.alpha_per_target = alpha_per_target
        self.fit_intercept = fit_intercept
        self.tune = tune
        self.n_restarts = n_restarts
        self.signal_variance = signal_variance
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.approximation = approximation
        self.indefinite = indefinite
        self.random_state = random_state
        self.verbose = verbose
        self.time_budget = time_budget

    # -- fitting --------------------------------------------------------------------------------
    @as_run
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to the points ``X`` and the targets ``y`` of shape (n,) or (n, n_targets).

        Or to :class:`~mercer.Batches` ``X`` of both, with ``approximation``: see the notes.
        """
        check_parameters(self)
        self._posteriors: dict[float, Posterior] = {}
        if isinstance(X, Batches):
            if y is not None or sample_weight is not None:
                raise InputError("KernelRidge: `y` and `sample_weight` must be in the batches. Got both.")
            self._forget()
            self._solve_equations(fit_batches(self, X))
            return self
        points, targets, weight = self._validated(X, y, sample_weight, reset=True)
        self._flat = targets.ndim == 1
        self._forget()
        map = self._wanted_map(points, weight)
        if map is not None:
            self._fit_features(map, points, targets.reshape(len(targets), -1), weight)
            return self
        self._points, self._weight, self._Y = points, weight, targets.reshape(len(targets), -1)
        self.kernel_ = self._checked_kernel().resolve(points, weight)
        if self.fit_intercept:
            self.kernel_ = beside_intercept(self.kernel_, points)
        alpha = self._starting_alpha()
        if self.tune is not None:
            alpha = self._search(float(alpha))
        G = gram_of_points(self.kernel_, points)
        self.gram_ = screen(G, self.indefinite, type(self).__name__, remedy="fit_intercept=True")
        try:
            if isinstance(alpha, str):
                alpha = self._chosen_alpha(alpha)
            self._solve(alpha)
        except np.linalg.LinAlgError as error:
            if isinstance(error, DefinitenessError):
                raise
            raise DefinitenessError(
                f"KernelRidge: {error}; {self.kernel_!r} is not positive definite on these data. "
                "Raise alpha, or repair the kernel with indefinite='clip', 'flip' or 'shift'."
            ) from error
        return self

    @available_if(_has_map)  # type: ignore[untyped-decorator]
    @as_run
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those of the calls before, with ``approximation`` only.

        The model is that of ``fit`` on all rows so far with the same map: the normal equations are added up,
        O(m r^2) for m rows, and solved, O(r^3).  The first call fits the map to its rows, unless it is
        fitted; after ``fit`` on batches, rows are added to theirs.
        """
        check_parameters(self)
        self._posteriors = {}
        self._solve_equations(add_batch(self, X, y, sample_weight))
        return self

    def _validated(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Data, Any, Any]:
        """Points, targets and weights, without rows of weight zero, which are as if absent."""
        points = self._validate_X(X, reset=reset)
        n = len_of(points)
        targets = read_targets(type(self).__name__, y, n, numeric=True)
        weight = read_weight(type(self).__name__, sample_weight, n)
        if weight is not None and not weight.all():
            kept = np.flatnonzero(weight)
            points, targets, weight = take(points, kept), targets[kept], weight[kept]
        return points, targets, weight

    def _forget(self) -> None:
        """Delete what only some fits leave behind."""
        for name in (
            "alphas_",
            "approximation_",
            "approximation_error_",
            "coef_",
            "degrees_of_freedom_",
            "gcv_errors_",
            "loo_errors_",
            "theta_",
            "theta_names_",
            "tuning_",
            "n_samples_seen_",
            "_equations",
            "_sample_size",
        ):
            self.__dict__.pop(name, None)

    def _fit_features(self, map: FeatureMap, points: Data, Y: np.ndarray, weight: np.ndarray | None) -> None:
        """Fit a function of the features of the map."""
        fitted, self.approximation_error_ = approximate(map, points)
        self.approximation_, self.kernel_ = fitted, fitted.target
        rows = FeatureRows(fitted, points)
        found = solve_restricted(
            rows,
            Y,
            float(self.alpha),
            weight,
            bool(self.fit_intercept),
            tol=self.tol,
            max_iter=self.max_iter,
            progress=True,
            checkpoint=self.checkpoint,
        )
        self._store(found, int(found.stats["iterations"]))

    def _solve_equations(self, equations: NormalEquations) -> None:
        """Solve the normal equations of batches, and keep them for more."""
        reason = stop_reason()
        found = equations.solve(float(self.alpha), bool(self.fit_intercept), self.tol)
        status = f"normal equations of {equations.rows} rows in {equations.batches} batch(es): {found.status}"
        if reason:
            status = f"stopped because {reason}, after {status}"
        if hasattr(self, "_sample_size"):
            status = f"{status}, the map fitted to {self._sample_size} rows"
        self._equations, self.n_samples_seen_ = equations, equations.rows
        self._store(replace(found, status=status, converged=found.converged and not reason), 1)

    def _store(self, found: Solution[RestrictedValue], passes: int) -> None:
        """Keep the function of the features of the map."""
        for name in ("gram_", "dual_coef_"):
            self.__dict__.pop(name, None)
        map, (self._weights, b) = self.approximation_, found.value
        self.solution_: Solution[Any] = replace(found, status=self._said(found.status))
        if isinstance(map, LandmarkMap):
            self.gram_, self.dual_coef_ = map._gram, self._columns(map._coefficients(self._weights))
        else:
            self.coef_ = self._columns(self._weights)
        self.alpha_, self.signal_variance_ = float(self.alpha), 1.0
        self.noise_variance_ = self.alpha_
        self.intercept_, self.n_iter_ = self._per_target(b), passes
        self._report()

    def _columns(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self._flat else values

    def _solve(self, alpha: Any) -> None:
        """Solve for the coefficients with a known penalty, and keep them."""
        last = getattr(self, "dual_coef_", None) if self.warm_start else None
        start = None if last is None or last.size != self._Y.size else last.reshape(self._Y.shape)
        self.solution_ = solve_ridge(
            self.gram_,
            self._Y,
            alpha,
            self._weight,
            self.fit_intercept,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            progress=True,
            start=start,
            checkpoint=self.checkpoint,
        )
        a, b = self.solution_.value
        self.alpha_ = float(alpha) if np.ndim(alpha) == 0 else np.asarray(alpha)
        self.dual_coef_ = a[:, 0] if self._flat else a
        self.intercept_ = self._per_target(b)
        self.n_iter_ = int(self.solution_.stats.get("iterations", 1))
        freedom = len(a) - bool(self.fit_intercept)
        self.signal_variance_ = self._per_target(
            signal_variances(np.einsum("ij,ij->j", self._Y, a), freedom, signal_rule(self, self._Y))
        )
        self.noise_variance_ = self.alpha_ * self.signal_variance_
        if np.ndim(alpha) == 0 and alpha > 0:
            point = Hyperparameters(self.kernel_, float(alpha))
            self.theta_, self.theta_names_ = point.theta, point.names
        self._report()

    def _report(self) -> None:
        """Say how the system was solved, and warn if it was not."""
        if self.verbose:
            print(f"KernelRidge: {self.solution_.status}; residual {self.solution_.gap:.3g}")
        if not self.solution_.converged:
            warn(
                f"KernelRidge: {self.solution_.status}. The model is usable; the relative residual of its "
                f"linear system is {self.solution_.gap:.3g}.",
                ConvergenceWarning,
            )

    def _per_target(self, values: np.ndarray) -> Any:
        return float(values[0]) if self._flat else values

    def _expansion(self) -> Expansion:
        if self._is_approximate:
            return Expansion(*self._landmark_sum(), np.atleast_1d(self.intercept_))
        coefficients = self.dual_coef_.reshape(len(self.dual_coef_), -1)
        return Expansion(self.gram_, coefficients, np.atleast_1d(self.intercept_))

    # -- the penalty ----------------------------------------------------------------------------
    def _starting_alpha(self) -> Any:
        """The penalty as a number, an array with one per target, or the name of a rule; checked."""
        if isinstance(self.alpha, str):
            return self.alpha
        if np.ndim(self.alpha) == 0:
            return float(self.alpha)
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.shape != (self._Y.shape[1],):
            raise ParameterError(
                f"KernelRidge: `alpha` must be one number, or one for each of the {self._Y.shape[1]} "
                f"targets. Got an array of shape {alpha.shape}."
            )
        return alpha

    def _chosen_alpha(self, rule: str) -> Any:
        """The best of a grid of penalties."""
        if len(self._Y) < 2:
            raise InputError(
                f"KernelRidge: alpha={rule!r} leaves rows out and needs at least 2 samples of positive "
                f"weight. Got {len(self._Y)} sample(s)."
            )
        if self.alphas is None:  # relative to the mean of k(x, x)
            scale = float(np.average(self.gram_.diagonal().astype(np.float64), weights=self._weight))
            grid = np.logspace(-6, 3, 30) * (scale if scale > 0 else 1.0)
        else:
            grid = np.asarray(self.alphas, dtype=np.float64)
        path = ridge_path(self._system(1.0), grid)
        self.alphas_, self.degrees_of_freedom_ = path.alphas, path.freedom
        self.loo_errors_ = path.loo[:, 0] if self._flat else path.loo
        self.gcv_errors_ = path.gcv[:, 0] if self._flat else path.gcv
        errors = path.loo if rule == "loo" else path.gcv
        if self.alpha_per_target and not self._flat:
            return path.alphas[errors.argmin(axis=0)]
        return float(path.alphas[errors.sum(axis=1).argmin()])

    def _system(self, alpha: Any) -> RidgeSystem:
        matrix = WeightedMatrix(self.gram_, self._weight)
        return RidgeSystem(matrix, self._Y, alpha, bool(self.fit_intercept))

    def loo_residuals(self) -> np.ndarray:
        r"""Errors :math:`y_i - \hat y_i^{(-i)}` at training points that are left out, one at a time.

        Exactly what refitting without row i (of positive weight) and predicting it would give, with weights,
        intercept and a penalty per target; hyper-parameters stay as they are.  O(n^3), in closed form.

        Returns
        -------
        array of shape (n_kept,) or (n_kept, n_targets)
        """
        self._check_fitted()
        self._require_exact("loo_residuals")
        if len(self._Y) < 2:
            raise InputError("KernelRidge.loo_residuals: at least 2 samples are needed. Got 1 sample.")
        if not np.all(np.asarray(self.alpha_) > 0):
            raise ParameterError("KernelRidge.loo_residuals: `alpha` must be > 0. Fit with a small penalty.")
        residuals = loo_residuals(self._system(self.alpha_))
        return residuals[:, 0] if self._flat else residuals
