r"""Directions in which one quadratic form is large against another, penalised one.

For matrices :math:`T` (t, r) and :math:`R` (m, r) and a penalty :math:`\lambda \ge 0`, maximise one after the
other over :math:`z \in \mathbb{R}^r`

.. math:: \frac{|T z|^2}{|R z|^2 + \lambda |z|^2},

each :math:`z` orthogonal to those before it in the form of the denominator (and then in that of the
numerator too).  With the triangular factor :math:`C` of :math:`(R; \sqrt\lambda I)` and
:math:`T C^{-1} = A\, \mathrm{diag}(s)\, B'` the maximisers are :math:`z_j = C^{-1} b_j` with the quotients
:math:`s_j^2`: neither form is ever multiplied out, which would square its condition.

Functions enter through :func:`spectral_root`: where :math:`K = U \Lambda U'`, the function with coordinates
:math:`z` in the span of the points has the values :math:`U \Lambda^{1/2} z`, the squared norm :math:`|z|^2`
and the coefficients :math:`U \Lambda^{-1/2} z`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ...engine.factorizations import eigh, triangular_factor
from ...engine.runs import checkpoint
from ...errors import DefinitenessError
from ..solution import Solution

__all__ = ["RayleighValue", "SpectralRoot", "centred_root", "scaled", "solve_rayleigh", "spectral_root"]


class RayleighValue(NamedTuple):
    """Maximisers of shape (r, p), of unit length in the denominator, and their quotients, descending."""

    directions: np.ndarray
    quotients: np.ndarray


class SpectralRoot(NamedTuple):
    """Eigenvectors of a symmetric matrix, as columns, and the eigenvalues, in descending order."""

    vectors: np.ndarray
    values: np.ndarray

    @property
    def features(self) -> np.ndarray:
        """Coordinates whose inner products are the matrix: a row per point."""
        return np.asarray(self.vectors * np.sqrt(self.values))

    def coefficients(self, z: np.ndarray) -> np.ndarray:
        """Coefficients of the functions with coordinates ``z``."""
        return np.asarray(self.vectors @ (z / np.sqrt(self.values)[:, None]))


def spectral_root(
    K: np.ndarray, eps: float = 0.0, *, scale: float = 0.0, signed: bool = False
) -> SpectralRoot:
    """Eigenvectors that span the range of a symmetric matrix; eigenvalues that may be rounding are left out.

    Parameters
    ----------
    K : array of shape (n, n)
    eps : float
        Relative accuracy of the entries, if worse than that of double precision.
    scale : float
        Magnitude of the numbers that the entries were computed from, if larger than their own: centring
        takes numbers away from each other and leaves their rounding.
    signed : bool
        Whether negative eigenvalues are welcome; otherwise one beyond rounding raises
        ``DefinitenessError``.
    """
    values, vectors = eigh(K)
    double = np.finfo(np.float64)
    magnitude = max(scale, float(np.abs(values).max(initial=0.0)))
    level = max(max(len(K), 16) * max(eps, double.eps) * magnitude, double.tiny)
    if values.size and values[0] < -level and not signed:
        raise DefinitenessError(f"the least eigenvalue is {values[0]:.6g}")
    kept = np.flatnonzero(np.abs(values) > level)[::-1]
    return SpectralRoot(vectors[:, kept], values[kept])


def scaled(K: np.ndarray, root: np.ndarray) -> np.ndarray:
    """``D^1/2 K D^1/2``, some rows at a time: Ctrl-C need not wait for all of new memory."""
    result = np.empty_like(K)
    step = max(1, (1 << 22) // max(len(K), 1))
    for start in range(0, len(K), step):
        rows = slice(start, start + step)
        np.multiply(K[rows], root[rows, None], out=result[rows])
        result[rows] *= root
        checkpoint()
    return result


def centred_root(K: np.ndarray, weight: np.ndarray, eps: float = 0.0) -> SpectralRoot:
    """:func:`spectral_root` of ``D^1/2 H K H' D^1/2``: centred by the weights ``D``, and scaled by them.

    With ``M = D^1/2 K D^1/2`` and the unit vector ``u`` along ``D^1/2 1`` this is ``(I - uu') M (I - uu')``.
    """
    root = np.sqrt(weight)
    M = scaled(K, root)
    unit = root / np.linalg.norm(root)
    left = M - unit[:, None] * (unit @ M)
    centred = left - (left @ unit)[:, None] * unit
    return spectral_root(centred, eps, scale=float(np.abs(M).max()))


def solve_rayleigh(
    top: np.ndarray, bottom: np.ndarray, penalty: float, scale: float = 0.0
) -> Solution[RayleighValue]:
    """Maximise the penalised quotient.

    Parameters
    ----------
    top : array of shape (t, r)
    bottom : array of shape (m, r)
    penalty : float
        At least 0.
    scale : float
        Magnitude of the numbers that ``top`` was computed from: a direction in which it is no larger than
        their rounding is none.

    Returns
    -------
    Solution
        At most min(t, r) directions.  ``gap`` is the largest residual of the stationarity equations relative
        to the forms in them: the relative change of the forms after which they hold exactly.
        Raises ``LinAlgError`` if the denominator vanishes in some direction.
    """
    r = top.shape[1]
    stacked = np.vstack([bottom, np.sqrt(penalty) * np.eye(r)])
    C = triangular_factor(stacked)
    reciprocal = linalg.lapack.dtrcon(C)[0] if r else 1.0
    if reciprocal < max(stacked.shape) * np.finfo(np.float64).eps:
        raise linalg.LinAlgError("the denominator vanishes in some direction")

    Y = linalg.solve_triangular(C, top.T, trans="T", check_finite=False)
    B, s, _ = linalg.svd(Y, full_matrices=False, check_finite=False)
    Z = linalg.solve_triangular(C, B, check_finite=False)
    level = max(top.shape) * np.finfo(np.float64).eps * max(scale, float(np.abs(top).max(initial=0.0)))
    kept = s > level * np.linalg.norm(Z, axis=0)
    Z, quotients = Z[:, kept], s[kept] ** 2

    # The residual of T'Tz = q (R'R + penalty) z, relative to the size of both forms.
    left = top.T @ (top @ Z)
    right = quotients * (bottom.T @ (bottom @ Z) + penalty * Z)
    forms = np.linalg.norm(top) ** 2 + quotients * (np.linalg.norm(bottom) ** 2 + penalty)
    residual = np.linalg.norm(left - right, axis=0) / (forms * np.linalg.norm(Z, axis=0))
    gap = float(residual.max(initial=0.0))
    return Solution(
        RayleighValue(Z, quotients),
        converged=gap < 1e-10,
        status=f"{len(quotients)} directions, stationary to {gap:.1e}",
        gap=gap,
        stats={"directions": len(quotients), "dimension": r, "condition": float(1 / reciprocal)},
    )
