"""Gaussian-process regression."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from ...domains import Data, check_numbers, join
from ...errors import InputError, ParameterError, brief, warn
from ...gram.point_gram import widened
from ...kernel import Kernel
from ...kernels import Gaussian, WhiteNoise
from ...parameters import Checks, check_count, check_random
from ...solvers import Solution, loo_predictions
from ..arguments import read_targets
from ..base import len_of
from ..callbacks import as_run
from ..explanation import Expansion, ExplainedFunction
from ..indefinite import beside_intercept, refuse_distance
from ..translation import KernelLike
from ..tuning import has_unit, mean_size, mean_squares
from .evidence import EvidenceTuned
from .methods import Cholesky
from .noise import separate
from .observations import Observations, Posterior

__all__ = ["GaussianProcessRegressor"]


def _check_noise(caller: str, name: str, alpha: Any) -> Any:
    """Return a variance, or an array of them, as an array; "auto" as it is."""
    if isinstance(alpha, str) and alpha == "auto":
        return alpha
    try:
        values = np.asarray(alpha, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        values = np.array(np.nan)
    # largest variance of the noise; beyond it nothing would be left of the data
    if isinstance(alpha, bool | str) or not ((values >= 0) & (values <= 1e100)).all():
        raise ParameterError(
            f"{caller}: `{name}`, the variance of the noise, must be a number between 0 and 1e100, one for "
            f"each observation, or 'auto'. Got {brief(alpha)}."
        )
    return values


class GaussianProcessRegressor(MultiOutputMixin, RegressorMixin, ExplainedFunction, EvidenceTuned):
    r"""Gaussian-process regression: a distribution over functions, given noisy values of one of them.

    .. math:: f \sim GP(0, k), \qquad y_i = f(x_i) + b + \varepsilon_i, \qquad
              \varepsilon_i \sim N(0, \alpha_i) \text{ independent}

    (the level :math:`b` has a flat prior; without ``fit_intercept`` it is 0).  With :math:`M = K +
    \mathrm{diag}(\alpha)` and :math:`c = M^{-1} (y - b)` the function given the data is a Gaussian process
    with

    .. math:: \mathrm{mean}(x) = k(x, X)\, c + b, \qquad
              \mathrm{cov}(x, x') = k(x, x') - k(x, X) M^{-1} k(X, x').

    The mean is that of :class:`KernelRidge` with the penalty :math:`\alpha` and the same ``fit_intercept``.

    **Noise.**  Terms ``WhiteNoise(level)`` of the kernel, or multiples of them, are noise too: they are added
    to ``alpha``, and are independent for equal points.  ``alpha`` stays as it is; the level of ``WhiteNoise``
    is tuned like any parameter.  ``predict(X, return_std=True)`` is about f + b, without the noise; with
    ``include_noise=True`` about a new observation, which a band for held-out targets needs.  scikit-learn's
    ``WhiteKernel`` is always in its standard deviations, and its ``alpha`` never.

    **Units.**  The default has an amplitude, a width, noise and a level, and all are tuned: the fit on
    c y + b' is c times the fit on y, plus b'.  So is any kernel whose terms have factors of their own
    (``2.0 * k``, ``WhiteNoise(level)``): the search starts from the multiple of it that has the variance of
    the targets, and from usual widths too where those that are given are not within a factor of 4 of the
    median distance.  A kernel without a factor states its variance, in the units of y, and keeps it; a
    ``ConvergenceWarning`` says so where that is far from the targets'.  With ``fit_intercept=False`` the
    process knows where zero is.

    **Methods.**  All of them are exact; the structure of the kernel and the points decides which one is used,
    and ``method_`` says it.

    Parameters
    ----------
    kernel : Kernel, default=1.0 * Gaussian("scale") + WhiteNoise(0.1)
        Positive definite, on any domain; ``X`` is then whatever that domain accepts.  The default has one
        width for all features, which then should have comparable units.
    alpha : float, array of shape (n,) or "auto", default="auto"
        Variance of the noise, >= 0, for all observations or one for each.  ``"auto"`` is 0 if the kernel has
        noise.  Else it is 1e-10 times the mean of k(x, x), where the search starts: next to nothing, so that
        smooth kernels can be factored.
    tune : {"evidence"} or None, default="evidence"
        Whether to choose all parameters of the kernel that have a logarithmic scale by maximal evidence:
        L-BFGS on their logarithms, from ``kernel`` in the units of the data.  Where one ends at the end of
        its range and the evidence would rise beyond it, a ``ConvergenceWarning`` says so.
    n_restarts : int, default=0
        Further random starts of that search.
    fit_intercept : bool, default=True
        Whether there is an unknown level :math:`b`.
    normalize_y : bool, default=False
        Whether to subtract the mean of the targets and divide by their standard deviation before; kernel,
        ``alpha`` and evidence are then those of the normalised targets.
    random_state : int or RandomState, optional
        Of the restarts.
    time_budget : float, optional
        Seconds after which ``fit`` stops, with :class:`~mercer.errors.TimeBudgetError`.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with data-dependent parameters resolved, and tuned.
    method_ : str
        The name of the method that was used.
    solution_ : Solution
        How the coefficients were computed, and why by this method; in ``stats`` the structure and the cost.
        ``gap`` is the largest error of some of the equations, relative to their terms.
    dual_coef_ : array of shape (n,) or (n, n_targets)
        The coefficients c.
    gram_ : Gram
        The (lazy) Gram matrix of the training points, without the noise.
    intercept_ : float or array of shape (n_targets,)
        The constant :math:`b`, in the units of the targets.
    noise_variance_ : float or array of shape (n,)
        ``alpha`` and the level of ``WhiteNoise`` together, in the units of the normalised targets.
    log_marginal_likelihood_value_ : float
        The evidence at ``theta_``.
    theta_, theta_names_ : array and tuple of str
        Logarithms of the parameters of the kernel, and their names.
    tuning_ : Solution
        How the search ended; with ``tune`` and a kernel that has parameters only.
    n_iter_ : int
        Evaluations of the evidence; 1 without a search.
    n_features_in_, feature_names_in_
        As in scikit-learn, for vectors.

    Examples
    --------
    Prices by the age of a house, in years:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(0, 60, (80, 1))
    >>> price = 200_000 + 50_000 * np.sin(age[:, 0] / 10) + 5_000 * rng.standard_normal(80)
    >>> model = GaussianProcessRegressor().fit(age, price)
    >>> mean, std = model.predict([[15.0], [300.0]], return_std=True)
    >>> bool(abs(mean[0] - 249_875) < 5_000), bool(std[0] < 5_000 < 30_000 < std[1])
    (True, True)
    >>> bool(4_000 < np.sqrt(model.noise_variance_) < 6_000)  # of one price
    True
    """

    _checks: ClassVar[Checks] = {"alpha": _check_noise}

    def __init__(
        self,
        kernel: KernelLike = 1.0 * Gaussian("scale") + WhiteNoise(0.1),  # noqa: B008 - an immutable value
        *,
        alpha: Any = "auto",
        tune: str | None = "evidence",
        n_restarts: int = 0,
        fit_intercept: bool = True,
        normalize_y: bool = False,
        random_state: Any = None,
        time_budget: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.tune = tune
        self.n_restarts = n_restarts
        self.fit_intercept = fit_intercept
        self.normalize_y = normalize_y
        self.random_state = random_state
        self.time_budget = time_budget

    # -- fitting --------------------------------------------------------------------------------
    @as_run
    def fit(self, X: Any, y: Any) -> Self:
        """Condition on the targets ``y`` of shape (n,) or (n, n_targets) at the points ``X``."""
        self._prepare(X, y)
        self.n_iter_ = self._search()
        self._keep(self._observed.given(self.kernel_))
        return self

    def _prepare(self, X: Any, y: Any) -> None:
        """Check everything; set the kernel, and what was observed."""
        points = widened(self._validate_X(X, reset=True))
        targets = read_targets(type(self).__name__, y, len_of(points), numeric=True)
        self._flat, Y = targets.ndim == 1, targets.reshape(len(targets), -1)
        kernel, intercept = self._checked_kernel().resolve(points, None), bool(self.fit_intercept)
        if intercept:
            kernel = beside_intercept(kernel, points)
        refuse_distance(kernel, "error", type(self).__name__)
        self._center, self._scale = np.zeros(Y.shape[1]), np.ones(Y.shape[1])
        if self.normalize_y:
            self._center, scale = Y.mean(axis=0), Y.std(axis=0)
            self._scale = np.where(scale > 0, scale, 1.0)  # a constant target stays zero
            Y = (Y - self._center) / self._scale
        alpha = self._noise(kernel, points, Y)
        self.kernel_, self._observed = kernel, Observations(points, Y, alpha, intercept, type(self).__name__)
        if self.tune is not None:
            self._compare_units()

    def _compare_units(self) -> None:
        """Warn of units that no search can change: of columns under one width, and of a stated variance."""
        points = self._observed.points
        if isinstance(points, np.ndarray) and points.ndim == 2:
            with np.errstate(over="ignore", invalid="ignore"):
                spread = points.std(axis=0, dtype=np.float64)
            spread = spread[spread > 0]
            if len(spread) and 1e4 * spread.min() < spread.max() < np.inf:  # the smallest is lost in the sum
                widths = [p.value for name, p in self.kernel_.parameters.items() if name.endswith("sigma")]
                if widths and not any(map(np.ndim, widths)):
                    warn(
                        f"{type(self).__name__}: the columns of `X` have standard deviations from "
                        f"{spread.min():.2g} to {spread.max():.2g}, and the kernel has one width for all of "
                        "them: it sees the largest alone. Put a StandardScaler before, or give a width for "
                        "each column, as in Gaussian(X.std(axis=0)).",
                        UserWarning,
                    )
        observed, function = self._observed, separate(self.kernel_).kernel
        if function is None or not has_unit(function):
            return
        stated = mean_size(function, observed.points)
        found = mean_squares(observed.Y, observed.intercept)[1]
        # a factor of 1000: thirty standard deviations of one are one of the other
        if not found / 1e3 < stated < found * 1e3:
            warn(
                f"{type(self).__name__}: the kernel states a variance of {stated:.2g}, and the targets have "
                f"{found:.2g}: the process cannot follow them. Write 1.0 * kernel, so that the factor is "
                "tuned, or set normalize_y=True.",
                ConvergenceWarning,
            )

    def _keep(self, posterior: Posterior) -> None:
        """Keep what was found."""
        self._posterior = posterior
        method, fit, _ = posterior
        self.method_, self.gram_ = method.name, method.gram
        self.dual_coef_ = self._columns(fit.coefficients)
        self.intercept_ = self._columns(fit.intercepts * self._scale + self._center)
        if self._flat:
            self.intercept_ = float(self.intercept_)
        self.noise_variance_ = method.noise if np.ndim(self.alpha) else float(method.noise[0])
        self.log_marginal_likelihood_value_ = fit.log_likelihood
        self._keep_theta()
        # the backward error of some of the equations, which no method has a part in
        C, Y, n = fit.coefficients, self._observed.Y, len(self._observed.Y)
        count = min(n, 32, max(2, 2**21 // n))  # a fit in O(n) should not take less time than these values
        rows = np.unique(np.linspace(0, n - 1, count + 2)[1:-1].astype(np.intp))
        K, diagonal = np.asarray(method.gram.block(rows), dtype=np.float64), method.noise[rows, None]
        residual = K @ C + diagonal * C[rows] + fit.intercepts - Y[rows]
        terms = np.abs(K) @ np.abs(C) + diagonal * np.abs(C[rows]) + np.abs(Y[rows])
        gap = float(np.divide(np.abs(residual), terms, out=np.zeros_like(terms), where=terms > 0).max())
        stats = {
            "method": method.name,
            "structure": method.structure,
            "cost": method.cost,
            "checked": len(rows),
        }
        status = f"exact by {method.name}, for {method.structure}: {method.cost}"
        self.solution_ = Solution(posterior, converged=gap <= 1e-8, status=status, gap=gap, stats=stats)
        if not self.solution_.converged:
            warn(
                f"{type(self).__name__}: the equations of the coefficients hold to "
                f"{self.solution_.gap:.2g} only, relative to their terms. Raise `alpha`.",
                ConvergenceWarning,
            )

    def _columns(self, values: np.ndarray) -> Any:
        return values[..., 0] if self._flat else values

    # -- the evidence ---------------------------------------------------------------------------
    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False) -> Any:
        r"""Logarithm of the evidence, the density of the (normalised) targets; summed over targets.

        .. math:: -\tfrac12 y^\top M^{-1} y - \tfrac12 \log\det M - \tfrac n2 \log 2\pi

        With an intercept, the restricted likelihood: the constant is integrated out under a flat prior of
        density one.

        Parameters
        ----------
        theta : array, optional
            Logarithms of the parameters of the kernel in the order of ``theta_names_``; by default
            ``theta_``.
        eval_gradient : bool, default=False
            Whether to return the gradient in ``theta`` too.

        Returns
        -------
        float, or (float, array)
        """
        return self._log_marginal_likelihood(theta, eval_gradient)

    # -- predictions ----------------------------------------------------------------------------
    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, *, include_noise: bool = False
    ) -> Any:
        """Posterior means :math:`f(x) + b` at new points.

        Parameters
        ----------
        X : points
        return_std : bool, default=False
            Also the standard deviation of each value f(x) + b: where the function is, not where a new
            observation would be.
        return_cov : bool, default=False
            Also their covariance matrix.
        include_noise : bool, default=False
            Whether the uncertainty is that of a new observation: with the noise of ``WhiteNoise`` and of
            ``alpha``, if that is one number.  scikit-learn includes that of its ``WhiteKernel`` always, and
            ``alpha`` never.

        Returns
        -------
        array of shape (m,) or (m, n_targets), or a pair
            Standard deviations have the shape of the values; covariances (m, m) or (m, m, n_targets).
        """
        self._check_fitted()
        if return_std and return_cov:
            raise ParameterError(
                f"{type(self).__name__}.predict: ask for `return_std` or for `return_cov`, not for both."
            )
        points = widened(self._validate_X(X, reset=False))
        method, fit, _ = self._posterior
        mean = self._columns(method.mean(points, fit) * self._scale + self._center)
        if return_std:
            variance = method.variance(points, fit) + self._new_noise(include_noise)
            return mean, self._columns(np.sqrt(variance)[:, None] * self._scale)
        if return_cov:
            covariance = method.covariance_of(points, fit)
            covariance[np.diag_indices(len(covariance))] += self._new_noise(include_noise)
            return mean, self._columns(covariance[..., None] * self._scale**2)
        return mean

    def _new_noise(self, include_noise: bool) -> float:
        """The variance of the noise of a new observation, if it is to be included."""
        if not include_noise:
            return 0.0
        if np.ndim(self.noise_variance_):
            raise ParameterError(
                f"{type(self).__name__}.predict: with one `alpha` for each observation the noise of a new "
                "one is not known. Leave out `include_noise`."
            )
        return float(self.noise_variance_)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Draw functions :math:`f + b` from the posterior, at the points ``X``.

        Returns
        -------
        array of shape (m, n_samples) or (m, n_targets, n_samples)
        """
        check_count(f"{type(self).__name__}.sample_y", "n_samples", n_samples)
        rng = check_random(type(self).__name__, "random_state", random_state)
        mean, covariance = self.predict(X, return_cov=True)
        draws = []
        for target, center in enumerate(mean.reshape(len(mean), -1).T):
            values, vectors = np.linalg.eigh(covariance if self._flat else covariance[..., target])
            root = vectors * np.sqrt(np.maximum(values, 0.0))  # below zero there is only rounding
            draws.append(center[:, None] + root @ rng.standard_normal((len(mean), n_samples)))
        return draws[0] if self._flat else np.stack(draws, axis=1)

    def leave_one_out(self, *, include_noise: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Means and standard deviations at each training point, given all others.

        In closed form, exactly what fitting without a point would give; hyper-parameters stay as they are.

        Parameters
        ----------
        include_noise : bool, default=False
            Whether the deviations are those of the observation instead of the function.

        Returns
        -------
        mean, std : arrays of shape (n,) or (n, n_targets)
        """
        self._check_fitted()
        method, fit, _ = self._posterior
        if len(method.noise) < 2:
            raise InputError(f"{type(self).__name__}.leave_one_out: at least 2 points are needed. Got 1.")
        mean, variance = loo_predictions(method.covariance, self._observed.Y, fit)
        if not include_noise:
            variance = np.maximum(variance - method.noise, 0.0)
        std = np.sqrt(variance)[:, None] * self._scale
        return self._columns(mean * self._scale + self._center), self._columns(std)

    # -- one more observation -------------------------------------------------------------------
    def update(self, x: Any, y: Any, *, alpha: float | None = None) -> Self:
        """Add one observation, with hyper-parameters and normalisation as they are.

        O(n^2) with a Cholesky factor; on the line and with finite features the process is conditioned anew,
        in less time than that.  A grid that gets a further point is none any more: its first update makes a
        Cholesky factor, in O(n^3).

        Parameters
        ----------
        x : point
            One point, not a sequence of them.
        y : float or array of shape (n_targets,)
        alpha : float, optional
            The variance of its noise, needed if ``alpha`` is an array; by default ``alpha``.
        """
        self._check_fitted()
        method, _, level = self._posterior
        new = widened(self._validate_X([x], reset=False))
        target = self._one_target(y)
        if alpha is not None:
            noise = float(_check_noise(type(self).__name__, "alpha", alpha))
        elif np.ndim(self.alpha):
            raise ParameterError(
                f"{type(self).__name__}.update: `alpha` must be the variance of the noise of the new "
                "observation, because the machine has one for each. Got None."
            )
        else:
            noise = float(self._observed.alpha[0])
        old = self._observed
        points = join(self.kernel_.domain, old.points, new)
        observed = replace(
            old, points=points, Y=np.vstack([old.Y, target]), alpha=np.append(old.alpha, noise)
        )
        if isinstance(method, Cholesky):
            with observed.explaining(self.kernel_):
                larger = method.extended(points, new, noise + level)
            fit = larger.condition(observed.Y, observed.intercept)
            posterior = Posterior(larger, fit, level)
        else:
            posterior = observed.given(self.kernel_)
        self._observed = observed
        self._keep(posterior)
        return self

    def _one_target(self, y: Any) -> np.ndarray:
        """The (normalised) targets of one observation, of shape (1, n_targets)."""
        count = len(self._center)
        check_numbers(y, f"{type(self).__name__}: `y`", dense=True)
        try:
            values = np.asarray(y, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError):
            values = np.empty(0)
        if len(values) != count or not np.isfinite(values).all():
            raise InputError(
                f"{type(self).__name__}.update: `y` must be {count} finite number(s). Got {y!r}."
            )
        return np.asarray((values[None] - self._center) / self._scale)

    def _noise(self, kernel: Kernel, points: Data, Y: np.ndarray) -> np.ndarray:
        """``alpha`` for each observation."""
        n, intercept = len(Y), bool(self.fit_intercept)
        if isinstance(self.alpha, str) and self.alpha == "auto":
            if separate(kernel).noise:
                return np.zeros(n)
            is_scaled = self.tune is not None and not has_unit(kernel)
            mean = mean_squares(Y, intercept)[1] if is_scaled else mean_size(kernel, points)
            return np.full(n, 1e-10 * mean)  # 1e6 times the rounding of k(x, x)
        values = _check_noise(type(self).__name__, "alpha", self.alpha)
        if values.ndim and values.shape != (n,):
            raise ParameterError(
                f"{type(self).__name__}: `alpha` must be one number, or one for each of the {n} "
                f"observations. Got an array of shape {values.shape}."
            )
        return np.array(np.broadcast_to(values, n))

    def _expansion(self) -> Expansion:
        fit = self._posterior.fit
        return Expansion(self.gram_, fit.coefficients * self._scale, np.atleast_1d(self.intercept_))
