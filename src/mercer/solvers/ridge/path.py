r"""Leave-one-out errors and generalised cross-validation for many penalties, from one decomposition.

With :math:`N = M^{-1}` (with an intercept: the inverse on the space orthogonal to :math:`s`, see
:mod:`~mercer.solvers.ridge.system`) and :math:`c = N S y`, the error at a row that is left out, weight and
all, and everything refitted, is

.. math:: y_i - \hat y_i^{(-i)} = \frac{c_i}{s_i N_{ii}} ,

and generalised cross-validation replaces each :math:`N_{ii}` by their mean:
:math:`\mathrm{GCV} = n \|c\|^2 / (\mathrm{tr}\, N)^2`, which is
:math:`n \sum_i w_i r_i^2 / (n - \mathrm{df})^2` for residuals :math:`r` and degrees of freedom
:math:`\mathrm{df} = \mathrm{tr}(I - \alpha N)`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ... import memory
from ...engine.threads import num_threads, single_threaded_blas
from .reduction import BandReduction
from .system import RidgeSystem

__all__ = ["RidgePath", "loo_residuals", "ridge_path"]

Array: TypeAlias = NDArray[np.float64]


class RidgePath(NamedTuple):
    """What the penalties of a grid lead to.

    Attributes
    ----------
    alphas : array of shape (p,)
    loo : array of shape (p, t)
        Weighted mean of squared leave-one-out errors.
    gcv : array of shape (p, t)
        Generalised cross-validation, divided by the mean weight: on the same scale as ``loo``.
    freedom : array of shape (p,)
        Degrees of freedom of the fit.
    """

    alphas: Array
    loo: Array
    gcv: Array
    freedom: Array


class _Point(NamedTuple):
    loo: Array
    gcv: Array
    freedom: float


def ridge_path(system: RidgeSystem, alphas: Array) -> RidgePath:
    """Evaluate a grid of positive penalties; those of the system are ignored.

    Cost: O(n^3) once, O(n^2) for each penalty; 24 n^2 bytes.  Raises ``LinAlgError`` if the matrix with one
    of the penalties is not positive definite.
    """
    reduction, n = _reduced(system), system.size
    coordinates = reduction.transposed @ system.right
    total = float(system.root @ system.root)

    def evaluate(alpha: float) -> _Point:
        shifted = reduction.shifted(alpha)
        X = shifted.solve(coordinates)
        diagonal = reduction.inverse_diagonal(shifted)
        C = reduction.transposed.T @ X
        trace = float(diagonal.sum())
        loo = np.square(C / diagonal[:, None]).sum(axis=0) / total
        gcv = n * (n / total) * np.square(X).sum(axis=0) / trace**2
        return _Point(loo, gcv, n - alpha * trace)

    # Penalties side by side, each on one thread, so that none waits for another.
    with single_threaded_blas(), ThreadPoolExecutor(num_threads()) as pool:
        points = list(pool.map(evaluate, alphas.tolist()))
    loo, gcv, freedom = zip(*points, strict=True)
    return RidgePath(alphas, np.array(loo), np.array(gcv), np.array(freedom))


def loo_residuals(system: RidgeSystem) -> Array:
    """``y_i`` minus the prediction at ``x_i`` without row i, for every row and target: shape (n, t)."""
    reduction = _reduced(system)
    coordinates = reduction.transposed @ system.right
    result = np.empty_like(system.right)
    for alpha in np.unique(system.alpha):
        columns = np.flatnonzero(system.alpha == alpha)
        shifted = reduction.shifted(float(alpha))
        C = reduction.transposed.T @ shifted.solve(coordinates[:, columns])
        result[:, columns] = C / (system.root * reduction.inverse_diagonal(shifted))[:, None]
    return result


def _reduced(system: RidgeSystem) -> BandReduction:
    n = system.size
    memory.require(24 * n * n, f"the decomposition of {n} points", "Choose alpha on a part of the data.")
    return BandReduction(system.matrix.copy(), system.root if system.intercept else None)
