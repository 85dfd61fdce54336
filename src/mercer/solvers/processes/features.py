r"""Covariances of finite rank plus noise, in the primal.

.. math:: M = Z Z^\top + D, \qquad D = \mathrm{diag}(\sigma_1^2, \dots, \sigma_n^2) > 0

for n points with r features each.  With the factors :math:`D^{-1/2} Z = Q R` (Q with r orthonormal columns)

.. math:: D^{1/2} M^{-1} D^{1/2} = I - Q Q^\top + Q (I + R R^\top)^{-1} Q^\top, \qquad
          \log\det M = \log\det D + \log\det (I + R R^\top) .

This is the identity of Sherman, Morrison and Woodbury; by orthogonal factors it loses no digits where the
noise is small.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ...engine.factorizations import cholesky, solve_lower
from ...engine.threads import few_threads
from .covariance import Covariance

__all__ = ["FeatureCovariance"]

Array: TypeAlias = NDArray[np.float64]


class FeatureCovariance(Covariance):
    """Inner products of features, and noise: O(n r^2) once, O(n r) for each product.

    Parameters
    ----------
    Z : array of shape (n, r)
    noise : array of shape (n,)
        Variances of the noise, > 0.

    Raises ``LinAlgError`` if the matrix is not positive definite to working precision.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[1.0], [2.0], [0.0]])
    >>> M = FeatureCovariance(Z, np.ones(3))
    >>> round(float(np.exp(M.log_determinant)), 10)
    6.0
    >>> bool(np.allclose(M.solve(np.eye(3)), np.linalg.inv(Z @ Z.T + np.eye(3))))
    True
    """

    method: ClassVar[str] = "finite features"

    def __init__(self, Z: Array, noise: Array) -> None:
        if not (noise > 0).all():
            raise np.linalg.LinAlgError("an observation has no noise")
        self.size, self._root = len(Z), np.sqrt(noise)[:, None]
        with np.errstate(over="ignore"):
            scaled = Z / self._root
        if not np.isfinite(scaled).all():
            raise np.linalg.LinAlgError("features divided by the noise overflow")
        with few_threads(Z.shape[1]):
            self._Q, self._R = scipy.linalg.qr(scaled, mode="economic", overwrite_a=True, check_finite=False)
        with np.errstate(over="ignore", invalid="ignore"):
            inner = self._R @ self._R.T
        if not np.isfinite(inner).all():
            raise np.linalg.LinAlgError("inner products of features divided by the noise overflow")
        self._inner = _shifted_root(inner)
        log_inner = 2.0 * float(np.log(np.diagonal(self._inner)).sum())
        self.log_determinant = float(np.log(noise).sum()) + log_inner

    def solve(self, B: Array) -> Array:
        """``M^-1 B``."""
        V = np.asarray(B, dtype=np.float64) / self._root
        along = self._Q.T @ V
        rest = V - self._Q @ along
        left = self._Q.T @ rest  # rounding of the first projection
        rest -= self._Q @ left
        return np.asarray((rest + self._Q @ self._solve_inner(along + left)) / self._root)

    def weights(self, B: Array) -> Array:
        """``Z' M^-1 B``: posterior means of the weights of the features, for targets B."""
        along = self._Q.T @ (np.asarray(B, dtype=np.float64) / self._root)
        return np.asarray(self._R.T @ self._solve_inner(along))

    def solve_features(self, columns: slice) -> Array:
        """``M^-1 Z`` for some of the features; no difference of large numbers."""
        return np.asarray((self._Q @ self._solve_inner(self._R[:, columns])) / self._root)

    def trace_of_features(self, columns: slice) -> float:
        """The trace of ``Z' M^-1 Z`` for some of the features."""
        W = solve_lower(self._inner, np.ascontiguousarray(self._R[:, columns]))
        return float(np.vdot(W, W))

    def inverse_diagonal(self) -> Array:
        """The diagonal of ``M^-1``."""
        W = solve_lower(self._inner, np.ascontiguousarray(self._Q.T))
        outside = np.maximum(1.0 - np.einsum("ij,ij->i", self._Q, self._Q), 0.0)
        return np.asarray((outside + np.einsum("ij,ij->j", W, W)) / self._root[:, 0] ** 2)

    def trace_of_inverse(self) -> float:
        """The trace of ``M^-1``."""
        return float(self.inverse_diagonal().sum())

    @cached_property
    def _precision(self) -> Array:
        """The Cholesky factor of ``I + Z' D^-1 Z``, the precision of the weights of the features."""
        return _shifted_root(self._R.T @ self._R)

    def whiten_features(self, Z: Array) -> Array:
        """Columns ``w`` with inner products ``z' (I + Z' D^-1 Z)^-1 z'``: posterior covariances of rows z."""
        return solve_lower(self._precision, np.ascontiguousarray(Z.T))

    def _solve_inner(self, B: Array) -> Array:
        return np.asarray(scipy.linalg.cho_solve((self._inner, True), B, check_finite=False))


def _shifted_root(A: Array) -> Array:
    A = np.asfortranarray(A)
    A[np.diag_indices(len(A))] += 1.0
    return cholesky(A)
