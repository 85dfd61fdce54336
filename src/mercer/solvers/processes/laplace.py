r"""Laplace's approximation of a Gaussian process given labels.

.. math:: f \sim N(0, K), \qquad P(y_i | f_i) = \frac{1}{1 + e^{-y_i f_i}}, \qquad y_i \in \{-1, 1\}

The posterior of f is approximated by the Gaussian density at its mode :math:`\hat f = K a` with the curvature
there: :math:`N(\hat f, (K^{-1} + W)^{-1})`, where :math:`W_{ii} = p_i (1 - p_i)`.  All follows from the
Cholesky factor of :math:`B = I + W^{1/2} K W^{1/2}`, whose eigenvalues are at least one (Rasmussen and
Williams 2006, section 3.4).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, ndtr

from ...engine.factorizations import cholesky, cholesky_inverse, multiply, solve_lower

__all__ = ["LaplaceApproximation", "expected_logistic"]

Array: TypeAlias = NDArray[np.float64]


class LaplaceApproximation:
    """The posterior of a process given labels, by its mode: O(n^3).

    Parameters
    ----------
    K : array of shape (n, n)
        Covariances; not changed.
    y : array of shape (n,)
        Labels -1 and 1.
    mode : array of shape (n,)
        The most probable values of the process.

    Attributes
    ----------
    coefficients : array of shape (n,)
        The slopes a of the log likelihood at the mode, with ``mode = K a``.
    log_likelihood : float
        The approximate log marginal likelihood, ``log p(y | mode) - a' mode / 2 - log det(B) / 2``.
    """

    def __init__(self, K: Array, y: Array, mode: Array) -> None:
        self.y, self.mode, self.size = y, mode, len(y)
        probability = expit(mode)
        self.coefficients = y * expit(-y * mode)
        self.weight = probability * expit(-mode)
        #: Third derivatives of the log likelihood.
        self._third = self.weight * (2 * probability - 1)
        self._root = np.sqrt(self.weight)
        self.factor(K)
        self.log_likelihood = float(
            log_expit(y * mode).sum()
            - 0.5 * self.coefficients @ mode
            - np.log(np.diagonal(self._factor)).sum()
        )

    def factor(self, K: Array) -> None:
        """Compute the factor of B, which pickles leave out."""
        B = np.asfortranarray(self._root[:, None] * K * self._root)
        B[np.diag_indices(self.size)] += 1.0
        self._K, self._factor = K, cholesky(B)

    @property
    def is_factored(self) -> bool:
        """Whether the factor is there."""
        return hasattr(self, "_factor")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_K", "_factor")}

    @cached_property
    def variances(self) -> Array:
        """Posterior variances at the training points: the diagonal of ``K - K R K``."""
        V = solve_lower(self._factor, self._root[:, None] * self._K)
        return np.asarray(np.maximum(self._K.diagonal() - np.einsum("ij,ij->j", V, V), 0.0))

    def explained(self, V: Array) -> Array:
        """What the labels take away from the prior variance, for columns of covariances with the points."""
        U = solve_lower(self._factor, self._root[:, None] * V)
        return np.asarray(np.einsum("ij,ij->j", U, U))

    def weights(self) -> tuple[Array, Array, Array]:
        r"""``R, u, a`` with :math:`d \log p = \frac12 \langle (a + 2 u) a^\top - R, dK \rangle`.

        :math:`R = W^{1/2} B^{-1} W^{1/2}`; u is what the mode contributes, which moves with K.
        """
        R = cholesky_inverse(np.array(self._factor, order="F"))
        R *= self._root[:, None]
        R *= self._root
        # The trace of the curvature with the posterior covariance, K - K R K, from R that is there already.
        variances = self._K.diagonal() - np.einsum("ij,ij->j", self._K, multiply(R, self._K))
        slope = 0.5 * variances * self._third
        return R, slope - R @ (self._K @ slope), self.coefficients

    def leave_one_out(self) -> tuple[Array, Array]:
        """Mean and variance of the process at each point given the other labels, to first order.

        The factor of a label is taken out of the Gaussian posterior: one Newton step from the mode.
        """
        left = 1.0 - self.weight * self.variances
        return self.mode - self.variances / left * self.coefficients, self.variances / left


def expected_logistic(mean: Array, variance: Array) -> Array:
    r"""The mean of the logistic function of a normal variable f, with an error of less than 1e-13.

    .. math:: E \frac{1}{1 + e^{-f}}, \qquad f \sim N(\mathrm{mean}, \mathrm{variance})

    By the trapezoidal rule over f where the standard deviation is at most 1.  Otherwise over the logistic
    distribution, whose distribution function this is: f + l > 0 for an independent l with that density.

    Examples
    --------
    >>> expected_logistic(np.array([0.0, 2.0]), np.array([3.0, 0.0])).round(6).tolist()
    [0.5, 0.880797]
    """
    mean, std = np.asarray(mean, dtype=np.float64), np.sqrt(np.asarray(variance, dtype=np.float64))
    result = np.empty_like(mean)
    narrow = std <= 1
    # Steps of the trapezoidal rule, and where it ends. For the first, in units of the standard deviation, the
    # logistic function has its poles at a distance of pi or more; for the second, in units of the logistic
    # distribution, its density has. The error of the rule is exp(-2 pi distance / step) < 1e-16 in both
    # cases, and what lies beyond the ends is less than that.
    step, normal_end, logistic_end = 0.5, 9.0, 40.0
    t = np.arange(-normal_end, normal_end + step, step)
    density = step * np.exp(-(t**2) / 2) / np.sqrt(2 * np.pi)
    result[narrow] = expit(mean[narrow, None] + std[narrow, None] * t) @ density
    t = np.arange(-logistic_end, logistic_end + step, step)
    density = step * expit(t) * expit(-t)
    result[~narrow] = ndtr((mean[~narrow, None] + t) / std[~narrow, None]) @ density
    return np.clip(result, 0.0, 1.0)
