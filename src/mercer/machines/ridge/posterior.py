r"""What is known about the function after the data were seen, in the Gaussian-process view.

Prior: :math:`f \sim GP(0, \tau k)`, a constant :math:`b` with a flat prior where there is an intercept, and
:math:`y_i = f(x_i) + b + \varepsilon_i` with independent :math:`\varepsilon_i \sim N(0, \tau \alpha / w_i)`.
The posterior mean does not depend on :math:`\tau`; the covariance is :math:`\tau` times

.. math:: k(z, z') - v(z)^\top M^{-1} v(z') + \frac{u(z) u(z')}{s^\top M^{-1} s}, \qquad
          v(z) = S k(X, z), \quad u(z) = 1 - s^\top M^{-1} v(z)

(the last term with an intercept only).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ... import memory
from ...engine.factorizations import cholesky, solve_lower
from ...errors import DefinitenessError, ParameterError
from ...gram import Gram
from ...gram.spectrum import rounding_level
from ...solvers import WeightedMatrix

__all__ = ["Posterior"]

Matrix: TypeAlias = NDArray[np.float64]


class Posterior:
    """Covariances after the data, for one penalty; holds a factor of 8 n^2 bytes."""

    def __init__(self, G: Gram, alpha: float, weight: np.ndarray | None, intercept: bool) -> None:
        n = len(G)
        memory.require(8 * n * n, f"the posterior covariance of {n} training points")
        matrix = WeightedMatrix(G, weight)
        M = matrix.copy()
        M[np.diag_indices(n)] += alpha
        try:
            self._factor = cholesky(M)
        except linalg.LinAlgError as error:
            raise ParameterError(
                f"KernelRidge: with alpha={alpha:g} the noisy Gram matrix is singular to working "
                "precision, and variances have no meaning. Raise alpha, the variance of the noise."
            ) from error
        self._root, self._eps = matrix.root, G._eps
        self._along = solve_lower(self._factor, self._root[:, None])[:, 0] if intercept else None

    def _explained(self, values: np.ndarray) -> tuple[Matrix, Matrix]:
        """Columns whose inner products are what the data explain, and what the intercept leaves open."""
        V = solve_lower(self._factor, np.asarray(self._root[:, None] * values.T, dtype=np.float64))
        if self._along is None:
            return V, np.zeros(V.shape[1])
        return V, (1.0 - self._along @ V) / np.linalg.norm(self._along)

    def variance(self, cross: Gram, own: np.ndarray) -> Matrix:
        """Variances at new points, from their values with the training points and with themselves."""
        result = np.asarray(own, dtype=np.float64).copy()
        for start in range(0, len(result), 1024):
            rows = slice(start, min(start + 1024, len(result)))
            V, open_part = self._explained(cross.block(rows))
            result[rows] += open_part**2 - np.einsum("ij,ij->j", V, V)
        return self._nonnegative(result, np.asarray(own, dtype=np.float64))

    def covariance(self, cross: Gram, values: np.ndarray) -> Matrix:
        """The covariance matrix of new points."""
        V, open_part = self._explained(cross.dense())
        result = np.asarray(values, dtype=np.float64) - V.T @ V + np.outer(open_part, open_part)
        result = (result + result.T) / 2
        diagonal = self._nonnegative(np.diagonal(result), np.diagonal(values))
        result[np.diag_indices(len(result))] = diagonal
        return result

    def _nonnegative(self, variance: np.ndarray, prior: np.ndarray) -> Matrix:
        """Set to zero what rounding alone made negative; warn of anything larger.

        A variance is a difference of numbers of the size of the prior one: where the data say almost
        everything, nothing is left of it but their rounding, of either sign.
        """
        level = 64 * rounding_level(len(self._root), self._eps, float(np.abs(prior).max(initial=0.0)))
        if (variance < -level).any():
            raise DefinitenessError(
                f"KernelRidge: a variance of {variance.min():.6g} came out: the kernel is not positive "
                "definite. Repair it with indefinite='clip', 'flip' or 'shift'."
            )
        return np.asarray(np.maximum(variance, 0.0))
