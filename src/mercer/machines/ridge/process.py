"""The Gaussian-process view of kernel ridge regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...domains import Data, Similarities
from ...errors import DefinitenessError, InputError, ParameterError
from ...gram import Gram, PointGram
from ...gram.kernel_gram import gram_of_points
from ...gram.point_gram import widened
from ...kernel import Kernel
from ...parameters import check_random
from ..approximation import Approximated
from ..tuning import Hyperparameters, RidgeCriterion, search_space, tune_parameters
from .checks import signal_rule
from .posterior import Posterior

__all__ = ["GaussianProcessView"]


class GaussianProcessView(Approximated):
    """Predictions with their uncertainty, the evidence, and the search for hyper-parameters."""

    fit_intercept: bool
    tune: str | None
    n_restarts: int
    signal_variance: float | str | None
    random_state: Any

    # what fit leaves behind
    kernel_: Kernel
    alpha_: Any
    dual_coef_: np.ndarray
    gram_: Gram
    intercept_: Any
    signal_variance_: Any
    coef_: np.ndarray
    theta_: np.ndarray
    theta_names_: tuple[str, ...]
    _points: Data
    _weight: np.ndarray | None
    _Y: np.ndarray
    _flat: bool
    _posteriors: dict[float, Posterior]

    # -- hyper-parameters -----------------------------------------------------------------------
    def _search(self, alpha: float) -> float:
        """Tune the kernel and the penalty; leave the kernel in ``kernel_`` and return the penalty."""
        criterion, start = self._criterion(str(self.tune)), Hyperparameters(self.kernel_, alpha)
        space = search_space(start, criterion.scales(start))
        self.tuning_ = tune_parameters(
            criterion, space, criterion.points, int(self.n_restarts), self.random_state, type(self).__name__
        )
        self.kernel_ = self.tuning_.value.kernel
        return self.tuning_.value.alpha

    def _criterion(self, rule: str) -> RidgeCriterion:
        """What ``tune`` maximises, with its gradient in the logarithms."""
        points, intercept = widened(self._points), bool(self.fit_intercept)
        return RidgeCriterion(points, self._Y, self._weight, intercept, signal_rule(self, self._Y), rule)

    def log_marginal_likelihood(self, theta: Any = None, *, eval_gradient: bool = False) -> Any:
        r"""Logarithm of the evidence, the density of the targets under the prior; summed over targets.

        .. math:: -\frac{1}{2\tau} y^\top A^{-1} y - \frac12 \log\det \tau A - \frac n2 \log 2\pi,
                  \qquad A = K + \alpha W^{-1}

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
        self._require_exact("log_marginal_likelihood")
        if not hasattr(self, "theta_"):
            raise ParameterError(
                "KernelRidge.log_marginal_likelihood: there must be one penalty `alpha` > 0 for all targets. "
                f"Got {self.alpha_!r}."
            )
        if not isinstance(self.gram_, PointGram):
            raise InputError(
                "KernelRidge.log_marginal_likelihood: the Gram matrix was repaired; a density belongs to a "
                "positive definite kernel."
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
        try:
            value, slope = self._criterion("evidence")(point)
        except np.linalg.LinAlgError as error:
            raise DefinitenessError(
                f"KernelRidge.log_marginal_likelihood: {error}. Raise alpha, or use another kernel."
            ) from error
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
        if return_std or return_cov:
            self._require_exact("predict with standard deviations")
        if hasattr(self, "coef_"):
            values = self._feature_function()(points)
            return np.asarray((values if self.coef_.ndim == 2 else values[:, 0]) + self.intercept_)
        cross = self.gram_._cross(points)
        mean = np.asarray(cross @ self.dual_coef_ + self.intercept_)
        if return_std:
            return mean, np.sqrt(self._scaled(lambda p: p.variance(cross, self._own(points))))
        if return_cov:
            self._require_kernel()
            if not isinstance(self.gram_, PointGram):
                raise InputError(
                    "KernelRidge.predict: `return_cov` needs the kernel between new points, which a repaired "
                    "matrix does not define. Use return_std."
                )
            own = gram_of_points(self.kernel_, points)._in_double().dense()
            return mean, self._scaled(lambda p: p.covariance(cross, own))
        return mean

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Draw functions :math:`f + b` from the posterior, at the points ``X``.

        Returns
        -------
        array of shape (m, n_samples) or (m, n_targets, n_samples)
        """
        mean, covariance = self.predict(X, return_cov=True)
        rng = check_random(type(self).__name__, "random_state", random_state)
        columns = mean.reshape(len(mean), -1)
        draws = []
        for target, center in enumerate(columns.T):
            values, vectors = np.linalg.eigh(covariance if self._flat else covariance[..., target])
            root = vectors * np.sqrt(np.maximum(values, 0.0))  # below zero there is only rounding
            draws.append(center[:, None] + root @ rng.standard_normal((len(mean), n_samples)))
        return draws[0] if self._flat else np.stack(draws, axis=1)

    def _scaled(self, compute: Callable[[Posterior], np.ndarray]) -> np.ndarray:
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
        """The factor for one penalty; the last one is cached."""
        if alpha not in self._posteriors:
            self._posteriors = {alpha: Posterior(self.gram_, alpha, self._weight, bool(self.fit_intercept))}
        return self._posteriors[alpha]

    def _own(self, points: Any) -> np.ndarray:
        """Values of new points with themselves."""
        self._require_kernel()
        return self.gram_._self(points)

    def _require_kernel(self) -> None:
        if isinstance(self.kernel_.domain, Similarities):
            raise InputError(
                "KernelRidge.predict: a precomputed matrix does not hold the values of new points with "
                "themselves, which standard deviations need. Use the kernel itself."
            )

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {**state, "_posteriors": {}} if "_posteriors" in state else state
