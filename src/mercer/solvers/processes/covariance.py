r"""Observations of a Gaussian process: what follows from their covariance matrix.

.. math:: y \sim N(1 b, M), \qquad M = K + \mathrm{diag}(\sigma_1^2, \dots, \sigma_n^2)

with a constant :math:`b` that is zero or, with an intercept, has a flat prior of density one.  All follows
from three operations: products with the inverse of M, the diagonal of that, and the determinant of M.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Conditioned", "Covariance", "condition", "loo_predictions"]

Array: TypeAlias = NDArray[np.float64]


class Covariance(ABC):
    """The covariance matrix M of observations, in a form that can be inverted.

    Attributes
    ----------
    method : str
        How it is inverted, in words.
    size : int
    log_determinant : float
    """

    method: ClassVar[str]
    size: int
    log_determinant: float

    @abstractmethod
    def solve(self, B: Array) -> Array:
        """``M^-1 B`` for B of shape (n, t)."""

    @abstractmethod
    def inverse_diagonal(self) -> Array:
        """The diagonal of ``M^-1``."""


class Conditioned(NamedTuple):
    r"""Targets of shape (n, t), explained by a covariance.

    Attributes
    ----------
    coefficients : array of shape (n, t)
        :math:`C = M^{-1} (Y - 1 b)`.
    intercepts : array of shape (t,)
        :math:`b`: zero, or the generalised least squares estimate.
    log_likelihood : float
        Of all targets; with an intercept the restricted likelihood, with b integrated out.
    along : array of shape (n,), optional
        :math:`a = M^{-1} 1`, with an intercept.
    precision : float
        :math:`1^\top M^{-1} 1`, the inverse of the variance of b; zero without an intercept.
    """

    coefficients: Array
    intercepts: Array
    log_likelihood: float
    along: Array | None
    precision: float


def condition(covariance: Covariance, Y: Array, intercept: bool = False) -> Conditioned:
    r"""Condition on targets of shape (n, t).

    .. math:: \log p(Y) = -\tfrac12 \langle Y - 1b, C \rangle - \tfrac t2 \log\det M - \tfrac{nt}2 \log 2\pi

    With an intercept, n becomes n - 1 and :math:`-\tfrac t2 \log 1^\top M^{-1} 1` is added.
    """
    n, t = Y.shape
    if not intercept:
        C = covariance.solve(Y)
        value = -0.5 * float(np.sum(Y * C)) - 0.5 * t * (covariance.log_determinant + n * np.log(2 * np.pi))
        return Conditioned(C, np.zeros(t), value, None, 0.0)
    center = Y.mean(axis=0)
    solved = covariance.solve(np.column_stack([np.ones(n), Y - center]))
    along, precision = solved[:, 0], float(solved[:, 0].sum())
    shift = along @ (Y - center) / precision
    C = solved[:, 1:] - along[:, None] * shift
    value = -0.5 * float(np.sum((Y - center - shift) * C)) - 0.5 * t * (
        covariance.log_determinant + np.log(precision) + (n - 1) * np.log(2 * np.pi)
    )
    return Conditioned(C, center + shift, value, along, precision)


def loo_predictions(covariance: Covariance, Y: Array, fit: Conditioned) -> tuple[Array, Array]:
    r"""Means (n, t) and variances (n,) of each observation given all others.

    With :math:`N = M^{-1}`, less :math:`a a^\top / 1^\top M^{-1} 1` with an intercept, the mean is
    :math:`y_i - C_i / N_{ii}` and the variance, that of the noise included, :math:`1 / N_{ii}`.
    """
    diagonal = covariance.inverse_diagonal()
    if fit.along is not None:
        diagonal = diagonal - fit.along**2 / fit.precision
    return Y - fit.coefficients / diagonal[:, None], 1.0 / diagonal
