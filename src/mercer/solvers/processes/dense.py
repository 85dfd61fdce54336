"""Any covariance matrix, by its Cholesky factor."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ... import memory
from ...engine.factorizations import cholesky, cholesky_inverse, solve_lower
from .covariance import Covariance

__all__ = ["DenseCovariance"]

Array: TypeAlias = NDArray[np.float64]


class DenseCovariance(Covariance):
    """A matrix of covariances and its Cholesky factor: O(n^3) once, 8 n^2 bytes, O(n^2) for each product.

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric; overwritten.
    noise : array of shape (n,)
        Variances of the noise, added to the diagonal.

    Raises ``LinAlgError`` if ``K + diag(noise)`` is not positive definite to working precision.

    Examples
    --------
    >>> import numpy as np
    >>> M = DenseCovariance(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, 1.0]))
    >>> round(float(np.exp(M.log_determinant)), 10)
    8.0
    >>> M.solve(np.array([[8.0], [0.0]])).round(10)
    array([[ 3.],
           [-1.]])
    """

    method: ClassVar[str] = "Cholesky"

    def __init__(self, K: Array, noise: Array) -> None:
        K[np.diag_indices(len(K))] += noise
        self._take(cholesky(K))

    def _take(self, factor: Array) -> None:
        self._factor, self.size = factor, len(factor)
        self.log_determinant = 2.0 * float(np.log(np.diagonal(factor)).sum())

    def whiten(self, B: Array) -> Array:
        """``L^-1 B``, whose inner products are those of B in the metric of the inverse."""
        return solve_lower(self._factor, np.asarray(B, dtype=np.float64))

    def solve(self, B: Array) -> Array:
        """``M^-1 B``."""
        V = self.whiten(B)
        return np.asarray(
            scipy.linalg.solve_triangular(self._factor, V, lower=True, trans="T", check_finite=False)
        )

    def inverse(self) -> Array:
        """``M^-1``, in memory of its own."""
        memory.require(8 * self.size**2, f"the inverse covariance of {self.size} observations")
        return cholesky_inverse(np.array(self._factor, order="F"))

    def inverse_diagonal(self) -> Array:
        """The diagonal of ``M^-1``."""
        return np.diagonal(self.inverse()).copy()

    def extended(self, column: Array, value: float) -> DenseCovariance:
        """The covariance with one more observation, in O(n^2).

        Parameters
        ----------
        column : array of shape (n,)
            Covariances of the new observation with the others.
        value : float
            Its own variance, that of the noise included.
        """
        n = self.size
        memory.require(8 * (n + 1) ** 2, f"the covariance of {n + 1} observations")
        row = self.whiten(column[:, None])[:, 0]
        rest = float(value - row @ row)
        if not rest > 0:
            raise np.linalg.LinAlgError(f"the leading minor of order {n + 1} is not positive")
        factor = np.zeros((n + 1, n + 1), order="F")
        factor[:n, :n], factor[n, :n], factor[n, n] = self._factor, row, np.sqrt(rest)
        larger = DenseCovariance.__new__(DenseCovariance)
        larger._take(factor)
        return larger
