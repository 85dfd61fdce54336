r"""The linear system of kernel ridge regression, as every way of solving it sees it.

With :math:`s = \sqrt{w}`, :math:`S = \mathrm{diag}(s)` and :math:`M = S K S + \alpha I` the solution of the
ridge problem is :math:`a = S c`, where

.. math:: M c + s b = S y , \qquad s^\top c = 0

(without an intercept: :math:`b = 0` and no second equation).  Only :math:`\alpha` differs between targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...gram import Gram

__all__ = ["Found", "RidgeSystem", "WeightedMatrix"]

Matrix: TypeAlias = NDArray[np.float64]


class WeightedMatrix:
    """``S K S`` for a matrix K that is held (an array) or computed when asked for (a Gram matrix)."""

    def __init__(self, K: np.ndarray | Gram, weight: np.ndarray | None) -> None:
        self._K = K._in_double() if isinstance(K, Gram) else np.asarray(K, dtype=np.float64)
        self.size = len(self._K)
        self.root = np.ones(self.size) if weight is None else np.sqrt(np.asarray(weight, dtype=np.float64))
        self._is_weighted = weight is not None

    @property
    def is_cheap(self) -> bool:
        """Whether products cost no more than a pass of compiled code over the pairs."""
        return not isinstance(self._K, Gram) or self._K._is_compiled

    def hold(self) -> WeightedMatrix:
        """The same with K in memory."""
        if not isinstance(self._K, Gram):
            return self
        return WeightedMatrix(np.asarray(self._K.dense(), dtype=np.float64), self._weight)

    @property
    def _weight(self) -> np.ndarray | None:
        return self.root**2 if self._is_weighted else None

    def product(self, V: Matrix) -> Matrix:
        """``S K S @ V`` in double precision, for V with columns."""
        if self._is_weighted:
            V = self.root[:, None] * V
        K = self._K
        result = K._product(V) if isinstance(K, Gram) else K @ V
        return np.asarray(self.root[:, None] * result if self._is_weighted else result)

    def dense(self, dtype: Any) -> NDArray[Any]:
        """All of it, as a fresh array in rows."""
        if isinstance(self._K, Gram):
            G = self._K._in_single() if dtype == np.float32 else self._K
            A = np.ascontiguousarray(G.dense(), dtype=dtype)
        else:
            A = np.array(self._K, dtype=dtype, order="C")
        return self._scaled(A, self.root, self.root)

    def block(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Matrix:
        """Some of its rows and columns, in double precision."""
        K = self._K
        A = K.block(rows, columns) if isinstance(K, Gram) else K[np.ix_(rows, columns)]
        return self._scaled(np.array(A, dtype=np.float64), self.root[rows], self.root[columns])

    def _scaled(self, A: NDArray[Any], left: Matrix, right: Matrix) -> NDArray[Any]:
        if self._is_weighted:
            A *= left[:, None].astype(A.dtype)
            A *= right.astype(A.dtype)
        return A


class RidgeSystem:
    """One matrix, one or more right sides, a penalty for each.

    With an intercept everything lives in the space orthogonal to ``s``: targets are replaced by their
    deviations from the weighted mean, and residuals are projected.

    Attributes
    ----------
    matrix : WeightedMatrix
    alpha : array of shape (t,)
    right : array of shape (n, t)
        ``S y``, centred if there is an intercept.
    means : array of shape (t,)
        What was subtracted from the targets; zeros without an intercept.
    """

    def __init__(
        self,
        matrix: WeightedMatrix,
        Y: np.ndarray,
        alpha: float | Sequence[float] | np.ndarray,
        intercept: bool = False,
    ) -> None:
        Y = np.asarray(Y, dtype=np.float64)
        self.matrix, self.intercept, self.targets = matrix, intercept, Y
        self.size, self.count = matrix.size, Y.shape[1]
        self.alpha = np.array(np.broadcast_to(np.asarray(alpha, dtype=np.float64), self.count))
        s = self.root = matrix.root
        self.unit = s / np.linalg.norm(s)  # the direction that an intercept takes away
        self.means: Matrix = np.zeros(self.count)
        deviations = Y
        for _ in range(2 if intercept else 0):  # a large mean is rounded: the second takes away what is left
            mean = (s**2 @ deviations) / (s @ s)
            self.means, deviations = self.means + mean, deviations - mean
        self.right: Matrix = s[:, None] * deviations
        self.scale = np.linalg.norm(self.right, axis=0)

    def select(self, columns: NDArray[np.intp]) -> RidgeSystem:
        """The system of some of the targets."""
        return RidgeSystem(self.matrix, self.targets[:, columns], self.alpha[columns], self.intercept)

    def project(self, R: Matrix) -> Matrix:
        """Take away what the intercept can explain."""
        return R - self.unit[:, None] * (self.unit @ R) if self.intercept else R

    def operator(self, C: Matrix, columns: Any = slice(None)) -> Matrix:
        """``M C``, projected; ``columns`` says which targets (and so which penalties) these are."""
        return self.project(self.matrix.product(C) + self.alpha[columns] * C)

    def residual(self, C: Matrix) -> Matrix:
        """What is left of the right side, for the best intercept."""
        return self.right - self.operator(C)

    def relative(self, residual: Matrix) -> Matrix:
        """Norms of residuals relative to those of the right sides."""
        norms = np.linalg.norm(residual, axis=0)
        return np.asarray(np.divide(norms, self.scale, out=norms.copy(), where=self.scale > 0))

    def intercepts(self, C: Matrix) -> Matrix:
        """The best intercept for each column of ``C``."""
        if not self.intercept:
            return np.zeros(self.count)
        shift = self.root @ self.matrix.product(C) / (self.root @ self.root)
        return np.asarray(self.means - shift)


class Found(NamedTuple):
    """Solved columns in the coordinates of the system, with the intercepts where they are known already."""

    C: Matrix
    status: str
    stats: dict[str, Any]
    gap: float  # the largest relative residual
    intercepts: Matrix | None = None
    is_rounding: bool = False  # the residual is what double precision leaves, whatever its relative size
