r"""The linear system of kernel ridge regression.

Minimise over :math:`a \in \mathbb{R}^n` and, with an intercept, :math:`b \in \mathbb{R}`

.. math:: \sum_i w_i (y_i - (K a)_i - b)^2 + \alpha \, a^\top K a .

With :math:`S = \mathrm{diag}(\sqrt{w})` and :math:`M = S K S + \alpha I` the minimiser is
:math:`a = S M^{-1} S (y - b)`, and the derivative in :math:`b` vanishes iff :math:`\sum_i a_i = 0`, that is

.. math:: b = \frac{s^\top M^{-1} S y}{s^\top M^{-1} s}, \qquad s = \sqrt{w} .

For :math:`\alpha = 0` the limit :math:`\alpha \to 0` is taken: of all minimisers of the squared error, the
one of least norm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from .solution import Solution

__all__ = ["RidgeValue", "solve_ridge"]


class RidgeValue(NamedTuple):
    """Coefficients of shape (n, t) and intercepts of shape (t,)."""

    coefficients: np.ndarray
    intercepts: np.ndarray


def solve_ridge(
    K: np.ndarray, Y: np.ndarray, alpha: float, weight: np.ndarray | None = None, intercept: bool = False
) -> Solution[RidgeValue]:
    """Solve the ridge system exactly.

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric; :math:`S K S + alpha I` must be positive semidefinite.  Not modified.
    Y : array of shape (n, t)
    alpha : float
        Penalty, >= 0.
    weight : array of shape (n,), optional
        Positive weights.
    intercept : bool
        Whether to fit ``b``; otherwise it is zero.

    Returns
    -------
    Solution
        ``gap`` is the largest relative residual of the linear system.  Raises ``LinAlgError`` if the
        system is not positive semidefinite.
    """
    K = np.asarray(K, dtype=np.float64)
    Y = np.asarray(Y, dtype=np.float64)
    n = len(K)
    s = np.ones(n) if weight is None else np.sqrt(np.asarray(weight, dtype=np.float64))
    M = s[:, None] * K * s
    M[np.diag_indices(n)] += alpha
    right = np.column_stack([s[:, None] * Y, s]) if intercept else s[:, None] * Y

    factor = _cholesky(M) if alpha > 0 else None
    if factor is not None:
        solved = linalg.cho_solve(factor, right, check_finite=False)
        # one step of refinement: the residual in working precision costs a product and gives back
        # the digits that an ill-conditioned factor lost
        solved += linalg.cho_solve(factor, right - M @ solved, check_finite=False)
        spread = np.abs(np.diagonal(factor[0]))
        stats = {"rank": n, "method": "Cholesky", "condition": float((spread.max() / spread.min()) ** 2)}
        status = "solved by Cholesky factorisation"
        null_part = np.zeros_like(right)
    else:
        solved, null_part, rank, condition = _least_norm(M, right)
        stats = {"rank": rank, "method": "eigenvalues", "condition": condition}
        status = (
            f"the system is singular (rank {rank} of {n}): the least-norm solution is returned. "
            "Give alpha > 0 for a unique one."
            if rank < n
            else "solved by eigenvalues"
        )

    targets = Y.shape[1]
    if intercept:
        # where s has a component in the null space of M, that component alone decides b as alpha -> 0
        null_norm = float(s @ null_part[:, -1])
        use = null_part if null_norm > 1e-10 * float(s @ s) else solved
        denominator = float(s @ use[:, -1])
        b = (s @ use[:, :targets]) / denominator
        C = solved[:, :targets] - solved[:, -1:] * b
    else:
        b, C = np.zeros(targets), solved
    fitted = right[:, :targets] - (s[:, None] * b if intercept else 0.0)
    residual = float(_relative_residual(M, C, fitted)) if alpha > 0 or stats["rank"] == n else 0.0
    return Solution(
        RidgeValue(s[:, None] * C, b), converged=residual < 1e-6, status=status, gap=residual, stats=stats
    )


def _cholesky(M: np.ndarray) -> tuple[np.ndarray, bool] | None:
    """Cholesky factor, or None if the matrix is numerically singular; raise if it is indefinite."""
    try:
        return linalg.cho_factor(M, lower=True, check_finite=False)  # type: ignore[no-any-return]
    except linalg.LinAlgError:
        return None


def _least_norm(M: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray, int, float]:
    """Pseudo-inverse solution, the projection on the null space, the rank and the condition of the rest."""
    values, vectors = linalg.eigh(M, check_finite=False)
    cutoff = len(values) * np.finfo(float).eps * float(np.abs(values).max(initial=0.0))
    if values.size and values[0] < -cutoff:
        raise linalg.LinAlgError(f"the system is indefinite: least eigenvalue {values[0]:.6g}")
    keep = values > cutoff
    coordinates = vectors.T @ right
    solved = vectors[:, keep] @ (coordinates[keep] / values[keep, None])
    null_part = vectors[:, ~keep] @ coordinates[~keep]
    condition = float(values[keep].max() / values[keep].min()) if keep.any() else 1.0
    return solved, null_part, int(keep.sum()), condition


def _relative_residual(M: np.ndarray, C: np.ndarray, right: np.ndarray) -> float:
    scale = np.linalg.norm(right, axis=0)
    scale[scale == 0] = 1.0
    return float((np.linalg.norm(M @ C - right, axis=0) / scale).max(initial=0.0))
