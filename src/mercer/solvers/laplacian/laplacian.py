r"""Functions on a graph: labels that spread along its edges.

With weights :math:`A`, degrees :math:`D` and :math:`S = D^{-1/2} A D^{-1/2}`:

- the **harmonic function** has given values at some points and at every other the weighted mean of its
  neighbours' values: :math:`(D_{uu} - A_{uu}) f_u = A_{ul} \, y_l`, the minimiser of
  :math:`\tfrac12 \sum_{ij} A_{ij} (f_i - f_j)^2`;
- **local and global consistency** weighs smoothness against given values :math:`y` (0 where unknown):
  :math:`f = (1 - \alpha) (I - \alpha S)^{-1} y`, the minimiser of
  :math:`\alpha f^\top (I - S) f + (1 - \alpha) \|f - y\|^2`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy import linalg

from ...engine.factorizations import cholesky
from ...engine.runs import tracked
from ...graphs.laplacians import Affinity, components, degrees, inverse_roots
from ..solution import Solution

__all__ = ["consistent", "harmonic"]

#: Largest bound on the relative error of a linear system that counts as solved.
SOLVED = 1e-6


def harmonic(A: Affinity, known: NDArray[np.bool_], Y: NDArray[np.float64]) -> Solution[NDArray[np.float64]]:
    """The function with values ``Y`` at known points that is the mean of its neighbours elsewhere.

    Parameters
    ----------
    A : array or sparse matrix of shape (n, n)
        Symmetric weights >= 0.
    known : boolean array of shape (n,)
    Y : array of shape (n, t)
        Rows of unknown points are not used.

    Returns
    -------
    Solution
        Rows of points that no path links with a known one are NaN.  ``gap`` bounds the relative error.
    """
    _, component = components(A)
    reached = np.isin(component, np.unique(component[known])) & ~known
    F = np.where(known[:, None], Y, np.nan)
    if not reached.any():
        return Solution(F, True, "there is nothing to find", 0.0, {"reached": 0})
    rows = A[reached]
    s = inverse_roots(degrees(rows[:, known | reached]))
    inner = rows[:, reached]
    dense = (inner.toarray() if scipy.sparse.issparse(inner) else inner) * -s[:, None] * s
    dense[np.diag_indices_from(dense)] += 1.0
    right = s[:, None] * np.asarray(rows[:, known] @ Y[known])
    solution = _solve(dense, right, {"reached": int(reached.sum())})
    F[reached] = s[:, None] * solution.value
    return replace(solution, value=F)


def consistent(A: Affinity, Y: NDArray[np.float64], alpha: float) -> Solution[NDArray[np.float64]]:
    """The function ``(1 - alpha) (I - alpha S)^-1 Y`` with ``S`` the normalised weights.

    Parameters
    ----------
    A : array or sparse matrix of shape (n, n)
        Symmetric weights >= 0.
    Y : array of shape (n, t)
    alpha : float
        In [0, 1).

    Returns
    -------
    Solution
        ``gap`` bounds the relative error.
    """
    s = inverse_roots(degrees(A))[:, None]

    def product(F: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(F - alpha * (s * (A @ (s * F))))

    right = (1 - alpha) * Y
    F, steps = _conjugate_gradients(product, right)
    # The least eigenvalue of I - alpha S is at least 1 - alpha, its largest at most 1 + alpha.
    size = np.linalg.norm(F, axis=0)
    residual = np.linalg.norm(product(F) - right, axis=0) / np.where(size > 0, size, 1.0)
    error = float(residual.max(initial=0.0)) / (1 - alpha)
    if error > SOLVED:
        dense = (A.toarray() if scipy.sparse.issparse(A) else A) * (-alpha * s) * s.T
        dense[np.diag_indices_from(dense)] += 1.0
        return _solve(dense, right, {"iterations": steps})
    return Solution(F, True, "solved by conjugate gradients", error, {"iterations": steps})


def _conjugate_gradients(
    product: Callable[[NDArray[np.float64]], NDArray[np.float64]], right: NDArray[np.float64]
) -> tuple[NDArray[np.float64], int]:
    """Solve a positive definite system for all columns at once, until rounding is reached."""
    F, rest = np.zeros_like(right), right.copy()
    direction, power = rest.copy(), (rest**2).sum(axis=0)
    enough = (4 * np.finfo(np.float64).eps) ** 2 * power
    # Conjugate gradients that take longer than this are left to the dense solver.
    most_steps = 500
    for step in tracked(range(most_steps), "conjugate gradients", "step"):
        active = power > enough
        if not active.any():
            return F, step
        moved = product(direction)
        length = np.where(active, power, 0.0) / np.where(active, (direction * moved).sum(axis=0), 1.0)
        F += length * direction
        rest -= length * moved
        new = (rest**2).sum(axis=0)
        direction = rest + np.where(active, new, 0.0) / np.where(active, power, 1.0) * direction
        power = np.where(active, new, power)
    return F, most_steps


def _solve(
    M: NDArray[np.float64], right: NDArray[np.float64], stats: dict[str, Any]
) -> Solution[NDArray[np.float64]]:
    """Solve a positive definite system with a unit diagonal.

    ``gap`` bounds the relative error: the residual, and no less than one rounding, times the condition.
    """
    norm = float(np.abs(M).sum(axis=0).max())
    try:
        factor = (cholesky(M.copy()), True)
    except linalg.LinAlgError:  # rounding has made it singular
        solved, rcond = linalg.lstsq(M, right, check_finite=False)[0], 0.0
    else:
        solved = linalg.cho_solve(factor, right, check_finite=False)
        solved += linalg.cho_solve(factor, right - M @ solved, check_finite=False)
        rcond = float(linalg.lapack.dpocon(factor[0], norm, uplo="L")[0])
    scale = norm * float(np.abs(solved).max(initial=0.0)) or 1.0
    residual = float(np.abs(M @ solved - right).max(initial=0.0)) / scale
    error = max(residual, float(np.finfo(np.float64).eps)) / max(rcond, 1e-300)
    status = "solved by Cholesky factorisation"
    if error > SOLVED:
        status = (
            f"the system is close to singular (error up to {error:.3g}): some points hold to the labelled "
            "ones by hardly measurable weights. Take a wider kernel"
        )
    stats = {**stats, "condition": 1 / max(rcond, 1e-300), "residual": residual}
    return Solution(np.asarray(solved), error <= SOLVED, status, error, stats)
