r"""The Gram matrix of a norm with a penalty on values at given points.

For a kernel with Gram matrix :math:`K` at points :math:`x_1, ..., x_n` and a positive semidefinite matrix
:math:`M`, the norm :math:`\|f\|^2 + \mathbf{f}^\top M \mathbf{f}`, :math:`\mathbf{f} = (f(x_i))_i`, has the
kernel

.. math:: \tilde k(x, z) = k(x, z) - k_x^\top (I + M K)^{-1} M \, k_z .

Of some chosen points :math:`l` it needs only :math:`T = (I + M K)^{-1} E_l`, where :math:`E_l` holds the
columns :math:`l` of the identity, for :math:`(I + M K)^{-1} M K = I - (I + M K)^{-1}`:

.. math:: \tilde k(x, x_l) = k_x^\top T e_l .
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

__all__ = ["Warp", "warp"]


class Warp(NamedTuple):
    """Values of the warped kernel with some chosen points.

    Attributes
    ----------
    gram : array of shape (l, l)
        Its Gram matrix.
    map : array of shape (n, l)
        ``T``: rows of the plain kernel with all n points, times this, are rows of the warped one.
    residual : float
        Largest entry of ``(I + M K) T - E``.
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
    n = len(K)
    system = np.asarray(M @ K)
    system[np.diag_indices(n)] += 1.0
    unit = np.zeros((n, len(chosen)))
    unit[chosen, np.arange(len(chosen))] = 1.0
    factor = linalg.lu_factor(system, check_finite=False)
    if not np.abs(np.diagonal(factor[0])).min(initial=1.0) > 0:
        raise linalg.LinAlgError("I + M K is singular")
    T = linalg.lu_solve(factor, unit, check_finite=False)
    T += linalg.lu_solve(factor, unit - system @ T, check_finite=False)
    residual = float(np.abs(system @ T - unit).max(initial=0.0))
    G = K[chosen] @ T
    return Warp((G + G.T) / 2, np.asarray(T), residual)
