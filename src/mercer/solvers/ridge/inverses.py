r"""Inverses of :math:`M = S K S + \alpha I`, exact up to the rounding of their precision, or approximate.

==================  ====================================================================================
``DoubleCholesky``  one factor in double precision
``SingleCholesky``  one factor in single precision: half the memory and time, digits by refinement
``FewFeatures``     the normal equations of known features: O(n r^2) time, O(r^2) memory
``Nystrom``         the largest eigenvalues as some columns show them, in O(n rank) memory
==================  ====================================================================================

Each is a callable ``inverse(R, alpha)`` on columns, and knows the ``condition`` of M (an estimate).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack

from ...engine.factorizations import cholesky, eigh
from ...engine.runs import tracked
from ...gram.pivoted import pivoted_cholesky
from .system import WeightedMatrix

__all__ = ["DoubleCholesky", "FewFeatures", "Nystrom", "SingleCholesky"]

Array: TypeAlias = NDArray[np.float64]

#: Rows whose features are squared in double precision at a time.
BAND = 4096


class _Cholesky:
    """A factor that overwrites the matrix: no copy is made, only one half is touched."""

    dtype: Any

    def __init__(self, matrix: WeightedMatrix, alpha: float) -> None:
        A = matrix.copy(self.dtype)
        # Penalties beyond this, next to which single precision may overflow, are the unit of the matrix.
        self._unit = alpha if alpha > 1e30 else 1.0
        if self._unit != 1.0:
            A *= self.dtype(1.0 / self._unit)  # may underflow: next to the penalty it is nothing
        A[np.diag_indices(len(A))] += self.dtype(alpha / self._unit)
        lange, pocon, self._potrs = lapack.get_lapack_funcs(("lange", "pocon", "potrs"), (A,))
        norm = float(lange("1", A.T))
        self.norm = self._unit * norm
        self._factor = cholesky(A)
        reciprocal, _ = pocon(self._factor, norm, uplo="L")
        self.condition = 1.0 / float(reciprocal) if reciprocal > 0 else np.inf

    def __call__(self, R: Array, alpha: Any = None) -> Array:
        """``M^-1 R``; the penalty is the one that was factored."""
        scale = np.linalg.norm(R, axis=0)
        scale[scale == 0] = 1.0
        right = np.asfortranarray((R / scale).astype(self.dtype))  # small residuals keep their digits
        solved, _ = self._potrs(self._factor, right, lower=True, overwrite_b=True)
        return np.asarray(solved * (scale / self._unit), dtype=np.float64)


class DoubleCholesky(_Cholesky):
    """Cholesky factor in double precision, 8 n^2 bytes."""

    dtype = np.float64


class SingleCholesky(_Cholesky):
    """Cholesky factor in single precision, 4 n^2 bytes."""

    dtype = np.float32


class FewFeatures:
    r"""Inverse by the normal equations of r known features, where :math:`S K S = F F^\top`.

    .. math:: M^{-1} = \tfrac1\alpha \bigl( I - F (F^\top F + \alpha I)^{-1} F^\top \bigr)
    """

    def __init__(self, features: Array, alpha: float) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite, the factorisation refuses
            A = features.T @ features
        A[np.diag_indices(len(A))] += alpha
        self._features, self._alpha = features, alpha
        self.norm = float(np.abs(A).sum(axis=0).max(initial=alpha))
        self.condition = self.norm / alpha
        self._factor = linalg.cho_factor(A, lower=True)

    def __call__(self, R: Array, alpha: Any = None) -> Array:
        """``M^-1 R``; the penalty is the one that was factored."""
        F = self._features
        return np.asarray((R - F @ linalg.cho_solve(self._factor, F.T @ R)) / self._alpha)


class Nystrom:
    r"""Inverse of a low-rank approximation plus a multiple of the identity (Frangella, Tropp and Udell).

    Randomly pivoted Cholesky gives :math:`S K S \approx F F^\top = U \Lambda U^\top` (Diaz, Epperly,
    Frangella, Tropp and Webber), and

    .. math:: M^{-1} \approx \frac{1}{\lambda_r + \alpha} \bigl( I + U D U^\top \bigr), \qquad
              D = \frac{\lambda_r + \alpha}{\Lambda + \alpha} - I ,

    which leaves no eigenvalue of the preconditioned matrix far from one if :math:`\lambda_r` (the least
    eigenvalue that was found) is of the size of :math:`\alpha`.  F is held in single precision, in units of
    the largest diagonal entry.
    """

    def __init__(self, matrix: WeightedMatrix, rank: int, seed: int = 0) -> None:
        diagonal = matrix.diagonal()
        unit = float(diagonal.max(initial=0.0)) or 1.0
        found = pivoted_cholesky(
            lambda rows, cols: matrix.block(rows, cols) / unit,
            diagonal / unit,
            rank,
            rng=np.random.RandomState(seed),
            dtype=np.float32,
        )
        self._features = found.factor.T  # F', so that S K S is about unit F F'
        values, vectors = eigh(self._second_moment(), overwrite=True)
        # what rounding F to single precision adds to its singular values, squared
        noise = 4 * rank * float(np.finfo(np.float32).eps) ** 2 * float(values.max(initial=0.0))
        kept = values > noise
        self._squares, self._vectors = values[kept], vectors[:, kept]
        self.values, self.rank = unit * self._squares, int(kept.sum())

    def _second_moment(self) -> Array:
        """``F'F``, added up in double precision."""
        r, n = self._features.shape
        total = np.zeros((r, r))
        for start in tracked(range(0, n, BAND), "preconditioner", "band"):
            band = self._features[:, start : start + BAND].astype(np.float64)
            total += band @ band.T
        return total

    def condition(self, alpha: Array) -> float:
        """Ratio of the largest eigenvalue that was found, with the penalty, to the penalty."""
        top = float(self.values[-1]) if self.rank else 0.0
        return float(np.max((top + alpha) / alpha))

    def __call__(self, R: Array, alpha: Array) -> Array:
        """Apply to columns with a penalty each."""
        if not self.rank:
            return R / alpha
        scale = np.abs(R).max(axis=0)  # columns of any size fit single precision in units of their own
        scale[scale == 0] = 1.0
        R = R / scale
        coordinates = self._vectors.T @ (self._features @ R.astype(np.float32)).astype(np.float64)
        # U = F V squares^-1/2, on both sides of (lambda_min + alpha) / (Lambda + alpha) - 1
        D = (self.values[0] - self.values[:, None]) / (self.values[:, None] + alpha) / self._squares[:, None]
        inner = self._vectors @ (D * coordinates)
        result = R + (self._features.T @ inner.astype(np.float32)).astype(np.float64)
        return np.asarray(result * (scale / (self.values[0] + alpha)))
