"""Kernel ridge regression."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ...domains import Similarities, take
from ...errors import DefinitenessError, InputError, ParameterError
from ...gram import KernelGram, gram
from ...gram.pairs import widened
from ...kernel import Kernel
from ...kernels import Gaussian
from ...solvers import SOLVERS, RidgeSystem, WeightedMatrix, loo_residuals, ridge_path, solve_ridge
from ..base import KernelMachine, len_of
from ..indefinite import screen
from .objectives import Inverse, evidence, loo_error, signal_variances
from .posterior import Posterior
from .tuning import Hyperparameters, block_and_slopes, maximise

__all__ = ["KernelRidge"]

#: The penalties that are tried by default, relative to the mean of k(x, x).
GRID = np.logspace(-6, 3, 30)


class KernelRidge(MultiOutputMixin, RegressorMixin, KernelMachine):
    r"""Kernel ridge regression: least squares with a squared-norm penalty, solved exactly.

    .. math:: \min_{f \in \mathcal{H}_k,\; b} \; \sum_i w_i \, (y_i - f(x_i) - b)^2 + \alpha \|f\|^2

    (:math:`b = 0` unless ``fit_intercept``).  By the representer theorem
    :math:`f = \sum_i a_i k(x_i, \cdot)`; the coefficients solve a linear system of ``n`` unknowns.

    **Gaussian-process view.**  The same function is the posterior mean for the prior
    :math:`f \sim GP(0, \tau k)` and noise of variance :math:`\tau \alpha / w_i`, with a flat prior for b: alpha
    is the variance of the noise *relative to* the signal variance :math:`\tau` (``signal_variance``).  Standard
    deviations, samples and the evidence belong to this view.

    Cost: O(n^3) time and 4 n^2 bytes to fit (8 n^2 below 1,500 points), one kernel row per prediction.  Where
    that is more than 2 GiB, conjugate gradients, which take O(n^2) time for each product and O(n^1.5) memory.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        Any kernel on any domain; ``X`` is then whatever that domain accepts.  ``Precomputed()`` takes the
        Gram matrix as ``X``.
    alpha : float, array of shape (n_targets,), "loo" or "gcv", default=1.0
        Penalty, >= 0, for all targets or one for each.  With 0 the least-norm interpolant (or least-squares
        fit) is returned.  ``"loo"`` takes the one of ``alphas`` with the least leave-one-out error, ``"gcv"``
        that with the least generalised cross-validation score; both are exact and need one decomposition of
        the matrix for all penalties (24 n^2 bytes).
    alphas : array, optional
        The penalties to choose from, > 0; by default 30 from 1e-6 to 1e3 times the mean of k(x, x).
    alpha_per_target : bool, default=False
        Whether each target chooses for itself; otherwise the sum over targets decides.
    fit_intercept : bool, default=False
        Whether to fit the unpenalised constant :math:`b`.
    tune : {"evidence", "loo"}, optional
        Choose the penalty and all parameters of the kernel that have a logarithmic scale, starting from
        ``alpha`` and ``kernel``, by maximal evidence or minimal leave-one-out error.  L-BFGS on their
        logarithms; O(n^3) for each evaluation, and n^2 numbers for each parameter.
    n_restarts : int, default=0
        Further random starts of that search.
    signal_variance : float or "evidence", default=1.0
        The factor :math:`\tau` of the prior covariance; ``"evidence"`` takes the most likely one for each
        target, :math:`y^\top a / n` (n - 1 with an intercept).  Predictions do not depend on it.
    solver : {"auto", "cholesky", "eigen", "cg"}, default="auto"
        See :func:`mercer.solvers.solve_ridge`.
    tol : float, default=1e-6
        Relative residual of the linear system at which conjugate gradients stop.
    max_iter : int, default=500
        Most products of conjugate gradients with the Gram matrix.
    indefinite : {"warn", "error", "clip", "flip", "shift"}, default="warn"
        What to do if the kernel is not certified and its Gram matrix has a negative eigenvalue: say so,
        refuse, or repair the spectrum (the repair extends to new points, see ``Gram.repair``).
    random_state : int, optional
        Of the restarts.
    verbose : bool, default=False
        Whether to print how the system was solved.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved, or tuned.
    alpha_ : float or array of shape (n_targets,)
        The penalty that was used.
    alphas_ : array of shape (n_alphas,)
        The penalties that were tried.  This and the next three: with ``alpha="loo"`` or ``"gcv"`` only.
    loo_errors_, gcv_errors_ : arrays of shape (n_alphas,) or (n_alphas, n_targets)
        Weighted mean of squared leave-one-out errors, and its estimate by generalised cross-validation.
    degrees_of_freedom_ : array of shape (n_alphas,)
        Trace of the map from targets to fitted values.
    dual_coef_ : array of shape (n_kept,) or (n_kept, n_targets)
        Coefficients of the kept training points (those of positive weight).
    gram_ : Gram
        The (lazy) Gram matrix of the kept training points; it holds them and knows how to compare new ones.
    intercept_ : float or array of shape (n_targets,)
    signal_variance_, noise_variance_ : float or array of shape (n_targets,)
        The factor :math:`\tau` and :math:`\tau \alpha`.
    solution_ : Solution
        How the system was solved: status, residual, rank and condition.
    n_iter_ : int
        Products of conjugate gradients with the Gram matrix; 1 for the other solvers.
    tuning_ : Solution
        How the search ended, with ``tune`` only: status, the size of the remaining gradient, evaluations.
    theta_, theta_names_ : array and tuple of str
        Logarithms of the hyper-parameters (the penalty last) and their names, for
        ``log_marginal_likelihood``; with one penalty > 0 for all targets.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Notes
    -----
    Leave-one-out errors leave out a *row* with its whole weight.  So a row of weight two counts as one
    observation here, and not as two equal ones, of which each would tell about the other.

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

    def __init__(
        self,
        kernel: Kernel = Gaussian("scale"),  # noqa: B008 - an immutable value
        *,
        alpha: Any = 1.0,
        alphas: Any = None,
        alpha_per_target: bool = False,
        fit_intercept: bool = False,
        tune: str | None = None,
        n_restarts: int = 0,
        signal_variance: float | str = 1.0,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 500,
        indefinite: str = "warn",
        random_state: Any = None,
        verbose: bool = False,
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
        self.indefinite = indefinite
        self.random_state = random_state
        self.verbose = verbose

    # -- fitting --------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the points ``X`` and the targets ``y`` of shape (n,) or (n, n_targets)."""
        self._check_parameters()
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        targets = self._validate_targets(y, n, numeric=True)
        weight = self._validate_weight(sample_weight, n)
        if weight is not None and not weight.all():  # a row of weight zero is as if absent
            kept = np.flatnonzero(weight)
            points, targets, weight = take(points, kept), targets[kept], weight[kept]
        self._points, self._weight, self._flat = points, weight, targets.ndim == 1
        self._Y = targets.reshape(len(targets), -1)
        self._posteriors: dict[float, Posterior] = {}

        self.kernel_ = self.kernel.resolve(points, weight)
        alpha = self._starting_alpha()
        if self.tune is not None:
            alpha = self._search(float(alpha))
        self.gram_ = screen(gram(self.kernel_, points), self.indefinite, type(self).__name__)
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

    def _solve(self, alpha: Any) -> None:
        """Solve for the coefficients with a known penalty, and keep them."""
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
        )
        a, b = self.solution_.value
        self.alpha_ = float(alpha) if np.ndim(alpha) == 0 else np.asarray(alpha)
        self.dual_coef_ = a[:, 0] if self._flat else a
        self.intercept_ = self._per_target(b)
        self.n_iter_ = int(self.solution_.stats.get("iterations", 1))
        freedom = len(a) - bool(self.fit_intercept)
        self.signal_variance_ = self._per_target(
            signal_variances(np.einsum("ij,ij->j", self._Y, a), freedom, self.signal_variance)
        )
        self.noise_variance_ = self.alpha_ * self.signal_variance_
        if np.ndim(alpha) == 0 and alpha > 0:
            point = Hyperparameters(self.kernel_, float(alpha))
            self.theta_, self.theta_names_ = point.theta, point.names
        if self.verbose:
            print(f"KernelRidge: {self.solution_.status}; residual {self.solution_.gap:.3g}")
        if not self.solution_.converged:
            warnings.warn(
                f"KernelRidge: {self.solution_.status}. The relative residual is {self.solution_.gap:.3g}.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _per_target(self, values: np.ndarray) -> Any:
        return float(values[0]) if self._flat else values

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
                f"KernelRidge: `alpha` must be one number, or one for each of the {self._Y.shape[1]} targets. "
                f"Got an array of shape {alpha.shape}."
            )
        return alpha

    def _chosen_alpha(self, rule: str) -> Any:
        """The best of a grid of penalties."""
        if len(self._Y) < 1 + bool(self.fit_intercept) or len(self._Y) < 2:
            raise InputError(
                f"KernelRidge: alpha={rule!r} leaves rows out and needs at least 2 samples of positive weight. "
                f"Got {len(self._Y)} sample(s)."
            )
        path = ridge_path(self._system(1.0), self._grid())
        self.alphas_, self.degrees_of_freedom_ = path.alphas, path.freedom
        self.loo_errors_ = path.loo[:, 0] if self._flat else path.loo
        self.gcv_errors_ = path.gcv[:, 0] if self._flat else path.gcv
        errors = path.loo if rule == "loo" else path.gcv
        if self.alpha_per_target and not self._flat:
            return path.alphas[errors.argmin(axis=0)]
        return float(path.alphas[errors.sum(axis=1).argmin()])

    def _grid(self) -> np.ndarray:
        if self.alphas is not None:
            return np.asarray(self.alphas, dtype=np.float64)
        scale = float(np.average(np.asarray(self.gram_.diagonal(), dtype=np.float64), weights=self._weight))
        return GRID * (scale if scale > 0 else 1.0)

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
        if len(self._Y) < 2:
            raise InputError("KernelRidge.loo_residuals: at least 2 samples are needed. Got 1 sample.")
        if not np.all(np.asarray(self.alpha_) > 0):
            raise ParameterError("KernelRidge.loo_residuals: `alpha` must be > 0. Fit with a small penalty.")
        residuals = loo_residuals(self._system(self.alpha_))
        return residuals[:, 0] if self._flat else residuals

    # -- hyper-parameters -----------------------------------------------------------------------
    def _search(self, alpha: float) -> float:
        """Tune the kernel and the penalty; leave the kernel in ``kernel_`` and return the penalty."""
        start = Hyperparameters(self.kernel_, alpha)
        self.tuning_ = maximise(self._objective, start, int(self.n_restarts), self.random_state)
        if not self.tuning_.converged:
            warnings.warn(f"KernelRidge: {self.tuning_.status}.", ConvergenceWarning, stacklevel=4)
        self.kernel_ = self.tuning_.value.kernel
        return self.tuning_.value.alpha

    def _objective(self, point: Hyperparameters) -> tuple[float, np.ndarray]:
        """What ``tune`` maximises, with its gradient in the logarithms."""
        if self.tune != "loo":
            return self._evidence(point)
        inverse, right, slopes = self._at(point)
        value, G = loo_error(inverse, right)
        if value <= 0:
            raise np.linalg.LinAlgError("the leave-one-out error is zero: there is nothing to tune")
        return -float(np.log(value)), -slopes(G, inverse.root) / value

    def _evidence(self, point: Hyperparameters) -> tuple[float, np.ndarray]:
        inverse, right, slopes = self._at(point)
        value, G = evidence(inverse, right, self.signal_variance)
        return value, slopes(G, inverse.root)

    def _at(self, point: Hyperparameters) -> tuple[Inverse, np.ndarray, Any]:
        K, slopes = block_and_slopes(point, widened(self._points))
        root = np.ones(len(K)) if self._weight is None else np.sqrt(self._weight)
        inverse = Inverse.of(K, point.alpha, root, bool(self.fit_intercept))
        means = np.average(self._Y, axis=0, weights=root**2) if self.fit_intercept else 0.0
        return inverse, root[:, None] * (self._Y - means), slopes

    def log_marginal_likelihood(self, theta: Any = None, *, eval_gradient: bool = False) -> Any:
        r"""Logarithm of the evidence, the density of the targets under the prior; summed over targets.

        .. math:: -\frac{1}{2\tau} y^\top (K + \alpha W^{-1})^{-1} y - \frac12 \log\det \tau (K + \alpha W^{-1})
                  - \frac n2 \log 2\pi

        With an intercept, the restricted likelihood: the constant is integrated out under a flat prior of
        density one.  With ``signal_variance="evidence"`` :math:`\tau` is the most likely one for each theta.

        Parameters
        ----------
        theta : array, optional
            Logarithms of the hyper-parameters in the order of ``theta_names_``; by default ``theta_``.
        eval_gradient : bool, default=False
            Whether to return the gradient in ``theta`` too.

        Returns
        -------
        float, or (float, array)
        """
        self._check_fitted()
        if not hasattr(self, "theta_"):
            raise ParameterError(
                "KernelRidge.log_marginal_likelihood: there must be one penalty `alpha` > 0 for all targets. "
                f"Got {self.alpha_!r}."
            )
        point = Hyperparameters(self.kernel_, float(self.alpha_))
        if theta is not None:
            theta = np.asarray(theta, dtype=np.float64)
            if theta.shape != self.theta_.shape:
                raise InputError(
                    f"KernelRidge.log_marginal_likelihood: `theta` must be {len(self.theta_)} logarithms, of "
                    f"{', '.join(self.theta_names_)}. Got shape {theta.shape}."
                )
            point = point.at(theta)
        value, slope = self._evidence(point)
        return (value, slope) if eval_gradient else value

    # -- predicting -----------------------------------------------------------------------------
    def predict(self, X: Any, *, return_std: bool = False, return_cov: bool = False) -> Any:
        """Values :math:`f(x) + b` at new points.

        Parameters
        ----------
        X : points
        return_std : bool, default=False
            Also the standard deviation of :math:`f(x) + b` given the data (without the noise of a new
            observation: for that add ``noise_variance_`` to the variance).
        return_cov : bool, default=False
            Also their covariance matrix.

        Returns
        -------
        array of shape (m,) or (m, n_targets), or a pair
            Standard deviations have the shape of the values; covariances (m, m) or (m, m, n_targets).

        Notes
        -----
        Variances are never negative.  Where the data fix a value, its variance is a difference of two nearly
        equal numbers, and what is left may be rounding: what comes out below zero is set to zero.
        """
        self._check_fitted()
        if return_std and return_cov:
            raise ParameterError(
                "KernelRidge.predict: ask for `return_std` or for `return_cov`, not for both."
            )
        points = self._validate_X(X, reset=False)
        cross = self.gram_.cross(points)
        mean = np.asarray(cross @ self.dual_coef_ + self.intercept_)
        if return_std:
            return mean, np.sqrt(self._scaled(lambda p: p.variance(cross, self._own(points))))
        if return_cov:
            own = self._own_matrix(points)
            return mean, self._scaled(lambda p: p.covariance(cross, own))
        return mean

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Draw functions :math:`f + b` from the posterior, at the points ``X``.

        Returns
        -------
        array of shape (m, n_samples) or (m, n_targets, n_samples)
        """
        mean, covariance = self.predict(X, return_cov=True)
        rng = check_random_state(random_state)
        columns = mean.reshape(len(mean), -1)
        draws = []
        for target, center in enumerate(columns.T):
            values, vectors = np.linalg.eigh(covariance if self._flat else covariance[..., target])
            root = vectors * np.sqrt(np.maximum(values, 0.0))  # below zero there is only rounding
            draws.append(center[:, None] + root @ rng.standard_normal((len(mean), n_samples)))
        return draws[0] if self._flat else np.stack(draws, axis=1)

    def _scaled(self, compute: Any) -> np.ndarray:
        """A quantity of the posterior for each target, times its signal variance."""
        alphas = np.broadcast_to(np.asarray(self.alpha_), (self._Y.shape[1],))
        found = {alpha: compute(self._posterior(alpha)) for alpha in np.unique(alphas).tolist()}
        if self._flat:
            return np.asarray(found[float(alphas[0])] * self.signal_variance_)
        parts = [
            found[a] * tau for a, tau in zip(alphas.tolist(), np.asarray(self.signal_variance_), strict=True)
        ]
        return np.stack(parts, axis=-1)

    def _posterior(self, alpha: float) -> Posterior:
        """The factor for one penalty; the last one is kept."""
        if alpha not in self._posteriors:
            self._posteriors = {alpha: Posterior(self.gram_, alpha, self._weight, bool(self.fit_intercept))}
        return self._posteriors[alpha]

    def _own(self, points: Any) -> np.ndarray:
        if isinstance(self.kernel_.domain, Similarities):
            raise InputError(
                "KernelRidge.predict: a precomputed matrix does not hold the values of new points with "
                "themselves, which standard deviations need. Use the kernel itself."
            )
        return self.gram_._self(points)

    def _own_matrix(self, points: Any) -> np.ndarray:
        self._own(points[:1])
        if not isinstance(self.gram_, KernelGram):
            raise InputError(
                "KernelRidge.predict: `return_cov` needs the kernel between new points, which a repaired "
                "matrix does not define. Use return_std."
            )
        return gram(self.kernel_, points)._in_double().dense()

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {**state, "_posteriors": {}} if "_posteriors" in state else state

    # -- parameters -----------------------------------------------------------------------------
    def _check_parameters(self) -> None:
        self._check_alpha()
        if self.alphas is not None:
            grid = np.asarray(self.alphas)
            if (
                grid.ndim != 1
                or not grid.size
                or grid.dtype.kind not in "iuf"
                or not _all(grid > 0, grid < np.inf)
            ):
                raise ParameterError(
                    f"KernelRidge: `alphas` must be a list of positive numbers. Got {self.alphas!r}."
                )
        if self.tune is not None:
            if self.tune not in ("evidence", "loo"):
                raise ParameterError(
                    f"KernelRidge: `tune` must be 'evidence', 'loo' or None. Got {self.tune!r}."
                )
            if not isinstance(self.alpha, numbers.Real) or self.alpha <= 0:
                raise ParameterError(
                    f"KernelRidge: with `tune`, `alpha` must be a positive number: the search starts from it. "
                    f"Got {self.alpha!r}."
                )
        if self.signal_variance != "evidence":
            self._positive("signal_variance", self.signal_variance, "or 'evidence'")
        self._positive("tol", self.tol, "")
        if self.solver not in SOLVERS:
            raise ParameterError(
                f"KernelRidge: `solver` must be one of {', '.join(map(repr, SOLVERS))}. Got {self.solver!r}."
            )
        for name, least in (("max_iter", 1), ("n_restarts", 0)):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
                raise ParameterError(f"KernelRidge: `{name}` must be an integer >= {least}. Got {value!r}.")

    def _positive(self, name: str, value: Any, otherwise: str) -> None:
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < value < np.inf:
            raise ParameterError(
                f"KernelRidge: `{name}` must be a positive finite number{' ' * bool(otherwise)}{otherwise}. "
                f"Got {value!r}."
            )

    def _check_alpha(self) -> None:
        if isinstance(self.alpha, str) and self.alpha in ("loo", "gcv"):
            return
        array = np.asarray(self.alpha)
        sound = array.ndim <= 1 and array.dtype.kind in "iuf" and _all(array >= 0, array < np.inf)
        if not sound:
            raise ParameterError(
                f"KernelRidge: `alpha` must be a finite number >= 0, one for each target, 'loo' or 'gcv'. "
                f"Got {self.alpha!r}. Larger alpha gives a smoother fit."
            )
        if self.solver == "cg" and not _all(array > 0):
            raise ParameterError("KernelRidge: solver='cg' needs `alpha` > 0. Got 0. Use solver='eigen'.")


def _all(*conditions: np.ndarray) -> bool:
    return all(bool(np.all(condition)) for condition in conditions)
