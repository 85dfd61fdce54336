r"""Ridge regression with unpenalised functions: conditionally positive definite kernels.

Minimise over coefficients :math:`a \in \mathbb{R}^n` with :math:`P^\top a = 0` and :math:`d \in \mathbb{R}^M`

.. math:: \sum_i w_i \, (y_i - (K a + P d)_i)^2 + \alpha \, a^\top K a .

The columns of :math:`P` are the unpenalised functions; :math:`a^\top K a \ge 0` is needed where
:math:`P^\top a = 0` only.  The solution is that of the bordered system

.. math:: \begin{pmatrix} K + \alpha W^{-1} & P \\ P^\top & 0 \end{pmatrix}
          \begin{pmatrix} a \\ d \end{pmatrix} = \begin{pmatrix} y \\ 0 \end{pmatrix} .

With :math:`W^{1/2} P = Q_1 R` and an orthonormal basis :math:`Q_2` of the complement, the eigenvectors
:math:`U` and eigenvalues :math:`s` of :math:`Q_2^\top W^{1/2} K W^{1/2} Q_2` solve it for all penalties at
once (Wahba 1990, section 1.3).  With :math:`Z = Q_2 U` the residuals are

.. math:: W^{1/2} (y - \hat y) = (I - H) W^{1/2} y, \qquad
          I - H = Z \, \mathrm{diag}\Big(\frac{\alpha}{s + \alpha}\Big) Z^\top ,

and the leave-one-out error is :math:`(y_i - \hat y_i) / (1 - H_{ii})`.  Cost: O(n^3) once, O(n^2) for each
penalty.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...engine.factorizations import eigh
from .spline import SplineErrors

__all__ = ["UnpenalizedRidge"]

Matrix: TypeAlias = NDArray[np.float64]

#: The least penalty that is resolved, as a part of the largest eigenvalue.  Predictions of splines of orders
#: 3 to 5 through 40 points then have errors of 1e-5 of the data; they are inverse to the penalty.
RESOLUTION = 1e6 * float(np.finfo(float).eps)


class UnpenalizedRidge:
    """Solutions and their leave-one-out errors for any penalty, from one decomposition.

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric; positive semidefinite for coefficients with ``P' a = 0``.
    P : array of shape (n, M)
        Values of the unpenalised functions at the points.
    weight : array of shape (n,)
        Positive.

    Attributes
    ----------
    rank : int
        Of ``P``.  Below M the points do not determine the functions, and nothing else is defined.
    eigenvalues : array of shape (n - M,)
        Of the projected matrix, ascending and at least 0.
    least : float
        The least positive penalty that double precision resolves; 0 if any does.
    """

    def __init__(self, K: Matrix, P: Matrix, weight: Matrix) -> None:
        root = np.sqrt(weight)
        self._root, self._K, self._P = root, K, P
        singular = linalg.svdvals(root[:, None] * P)
        self.rank = int((singular > max(P.shape) * np.finfo(float).eps * singular[0]).sum())
        if self.rank < P.shape[1]:
            return
        Q, R = linalg.qr(root[:, None] * P)
        self._free, self._R = Q[:, : self.rank], R[: self.rank]
        rest = Q[:, self.rank :]
        values, vectors = eigh(rest.T @ (root[:, None] * K * root) @ rest)
        self.eigenvalues = np.maximum(values, 0.0)
        self._Z = rest @ vectors
        floor = RESOLUTION * float(self.eigenvalues.max(initial=0.0))
        self.least = floor if len(values) and float(values[0]) < floor else 0.0

    @property
    def needed(self) -> NDArray[np.bool_]:
        """Rows without which the others do not determine the unpenalised functions."""
        # A row whose part outside the unpenalised functions is below this is needed to determine them.
        return np.asarray((self._Z**2).sum(axis=1) < 1e-10)

    def solve(self, Y: Matrix, alpha: float) -> tuple[Matrix, Matrix]:
        """Coefficients ``a`` and ``d`` for data of shape (n, t) and a penalty from 0 to infinity."""
        scaled = self._root[:, None] * Y
        shrunk = (self._Z.T @ scaled) / (self.eigenvalues + alpha)[:, None]
        a = self._root[:, None] * (self._Z @ shrunk)
        right = self._free.T @ (scaled - self._root[:, None] * (self._K @ a))
        return a, linalg.solve_triangular(self._R, right)

    def errors(self, y: Matrix, alpha: Any) -> SplineErrors:
        """Leave-one-out errors and leverages of data of shape (n,), for one positive penalty or several."""
        column = (slice(None), *(None,) * np.ndim(alpha))
        s, projected = self.eigenvalues[column], (self._Z.T @ (self._root * y))[column]
        kept = alpha / (s + alpha)
        squares = self._Z**2
        complement = squares @ kept
        leverage = (self._free**2).sum(axis=1)[column] + squares @ (s / (s + alpha))
        errors = (self._Z @ (kept * projected)) / self._root[column]
        left_out = errors / np.maximum(complement, np.finfo(float).tiny)  # rows that are needed have 0 / 0
        return SplineErrors(left_out, leverage, complement)
