r"""Norms with a penalty on values at given points.

For a kernel with Gram matrix :math:`K` at points :math:`x_1, ..., x_n` and a positive semidefinite matrix
:math:`M`, the norm :math:`\|f\|^2 + \mathbf{f}^\top M \mathbf{f}`, :math:`\mathbf{f} = (f(x_i))_i`, has the
kernel

.. math:: \tilde k(x, z) = k(x, z) - k_x^\top (I + M K)^{-1} M \, k_z .

Of some chosen points :math:`l` it needs only :math:`T = (I + M K)^{-1} E_l`, where :math:`E_l` holds the
columns :math:`l` of the identity, for :math:`(I + M K)^{-1} M K = I - (I + M K)^{-1}`:

.. math:: \tilde k(x, x_l) = k_x^\top T e_l .

Least squares with this norm does not need the kernel at all.  Of

.. math:: \sum_{i \in l} w_i (y_i - f(x_i) - b)^2 + \alpha \|f\|^2 + \gamma \, \mathbf{f}^\top L \mathbf{f}

the minimiser is :math:`f = \sum_i a_i k(x_i, \cdot)` with
:math:`(\alpha I + (J + \gamma L) K) a = J (y - b 1)`, :math:`J` the diagonal matrix of the weights, zero for
points that are not in :math:`l`, and :math:`b` such that the residuals have the weighted mean zero.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...engine.factorizations import multiply
from ...engine.lapack import interruptible
from ..solution import Solution
from .solver import RidgeValue

__all__ = ["Warp", "solve_smooth_ridge", "warp"]

#: Largest relative residual of the optimality conditions that counts as solved.
SOLVED = 1e-6


class Warp(NamedTuple):
    """Values of the warped kernel with some chosen points.

    Attributes
    ----------
    gram : array of shape (l, l)
        Its Gram matrix.
    map : array of shape (n, l)
        ``T``: rows of the plain kernel with all n points, times this, are rows of the warped one.
    residual : float
        Largest entry of ``((I + M K) T - E) P`` for a few random vectors P.
    """

    gram: NDArray[np.float64]
    map: NDArray[np.float64]
    residual: float


def warp(K: NDArray[np.float64], M: Any, chosen: NDArray[np.intp]) -> Warp:
    """Warp a Gram matrix; ``LinAlgError`` if ``I + M K`` is singular, as it cannot be for K >= 0.

    Parameters
    ----------
    K : array of shape (n, n)
        Gram matrix of all points.
    M : array or sparse matrix of shape (n, n)
        Positive semidefinite.
    chosen : array of positions
    """
    system = _plus(multiply(M, K), 1.0)
    unit = np.zeros((len(K), len(chosen)))
    unit[chosen, np.arange(len(chosen))] = 1.0
    T = linalg.lu_solve(_factor(system), unit, check_finite=False)
    # Random vectors by which a solution is compared with its system.
    probes = np.random.default_rng(0).standard_normal((len(chosen), 4))
    residual = float(np.abs(system @ (T @ probes) - unit @ probes).max(initial=0.0))
    G = K[chosen] @ T
    return Warp((G + G.T) / 2, np.asarray(T), residual)


def solve_smooth_ridge(
    K: NDArray[np.float64],
    L: Any,
    Y: NDArray[np.float64],
    labelled: NDArray[np.intp],
    *,
    alpha: float,
    smoothness: float,
    weight: NDArray[np.float64],
    intercept: bool,
) -> Solution[RidgeValue]:
    """Least squares with the two penalties; ``LinAlgError`` if K is so indefinite that it is singular.

    Parameters
    ----------
    K, L : arrays of shape (n, n)
        Gram matrix and Laplacian (which may be sparse) of all points.
    Y : array of shape (l, t)
        Values at the labelled points.
    labelled : array of l positions
    alpha, smoothness : float
        The penalties, > 0 and >= 0.
    weight : array of shape (l,)
        Positive weights.
    intercept : bool
        Whether to fit ``b``; otherwise it is zero.

    Returns
    -------
    Solution
        With a coefficient for each of the n points.  ``gap`` is the relative residual of the optimality
        conditions.
    """
    n, targets = len(K), Y.shape[1]
    system = _plus(smoothness * multiply(L, K), alpha)
    system[labelled] += weight[:, None] * K[labelled]
    right = np.zeros((n, targets + 1))
    right[labelled] = weight[:, None] * np.column_stack([Y, np.ones(len(Y))])
    factor = _factor(system)
    solved = linalg.lu_solve(factor, right, check_finite=False)
    solved += linalg.lu_solve(factor, right - system @ solved, check_finite=False)
    b = np.zeros(targets)
    if intercept:
        pulls = right[labelled] - weight[:, None] * (K[labelled] @ solved)
        b = pulls[:, :targets].sum(axis=0) / pulls[:, -1].sum()
    a = solved[:, :targets] - solved[:, -1:] * b

    f = K @ a
    pull = weight[:, None] * (Y - f[labelled] - b)
    rest = alpha * a + smoothness * (L @ f)
    rest[labelled] -= pull
    if intercept:
        rest = np.vstack([rest, pull.sum(axis=0)])
    gap = float(np.abs(rest).max(initial=0.0)) / (float(np.abs(weight[:, None] * Y).max(initial=0.0)) or 1.0)
    status = "solved by LU factorisation"
    if gap > SOLVED:
        status = (
            f"the optimality conditions are met to {gap:.3g} only: smoothness / alpha is too large for "
            "double precision. Raise alpha or lower smoothness"
        )
    return Solution(RidgeValue(a, b), gap <= SOLVED, status, gap, {"method": "LU"})


def _plus(A: Any, shift: float) -> NDArray[np.float64]:
    """``A + shift I``, in place where A is an array."""
    result: NDArray[np.float64] = np.asarray(A, dtype=np.float64)
    result[np.diag_indices(len(result))] += shift
    return result


def _factor(system: NDArray[np.float64]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is singular is said below
        factor = interruptible(linalg.lu_factor, system, check_finite=False)
    if not np.abs(np.diagonal(factor[0])).min(initial=1.0) > 0:
        raise linalg.LinAlgError("the system is singular")
    return factor
