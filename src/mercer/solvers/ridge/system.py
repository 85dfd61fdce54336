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
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from ...gram import Gram
from ..matrix import Index, Matrix, matrix_of

__all__ = ["Found", "RidgeSystem", "WeightedMatrix"]

Array: TypeAlias = NDArray[np.float64]


class WeightedMatrix(Matrix):
    """``S K S``, with the diagonal matrix ``S`` of the square roots of weights; without weights, ``K``."""

    def __init__(self, K: Matrix | Gram | np.ndarray, weight: np.ndarray | None) -> None:
        self._matrix, self._is_weighted = matrix_of(K, passes=1), weight is not None
        self.size, self.is_held = self._matrix.size, self._matrix.is_held
        self.root = np.ones(self.size) if weight is None else np.sqrt(np.asarray(weight, dtype=np.float64))

    @property
    def cost(self) -> float:
        """Elementary operations of a value of K."""
        return self._matrix.cost

    def diagonal(self) -> Array:
        """``w_i K_ii``."""
        return self.root**2 * self._matrix.diagonal()

    def product(self, V: Array, *, reduced: bool = False) -> Array:
        """``S K S @ V`` in double precision, for V with columns."""
        if not self._is_weighted:
            return self._matrix.product(V, reduced=reduced)
        return self.root[:, None] * self._matrix.product(self.root[:, None] * V, reduced=reduced)

    def features(self) -> Any:
        """Vectors whose inner products are the values, if the kernel knows them."""
        X = self._matrix.features()
        if X is None or not self._is_weighted:
            return X
        return sparse.diags_array(self.root) @ X if sparse.issparse(X) else self.root[:, None] * X

    def block(self, rows: Index, cols: Index, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Some of its rows and columns."""
        A = np.array(self._matrix.block(rows, cols, dtype))
        return self._scaled(A, self.root[rows], self.root[cols])

    def copy(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """All of it, in memory of its own."""
        return self._scaled(self._matrix.copy(dtype), self.root, self.root)

    def _scaled(self, A: NDArray[Any], left: Array, right: Array) -> NDArray[Any]:
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
        self.means: Array = np.zeros(self.count)
        deviations = Y
        for _ in range(2 if intercept else 0):  # a large mean is rounded: the second takes away what is left
            mean = (s**2 @ deviations) / (s @ s)
            self.means, deviations = self.means + mean, deviations - mean
        self.right: Array = s[:, None] * deviations
        self.scale = np.linalg.norm(self.right, axis=0)

    def select(self, columns: NDArray[np.intp]) -> RidgeSystem:
        """The system of some of the targets."""
        return RidgeSystem(self.matrix, self.targets[:, columns], self.alpha[columns], self.intercept)

    def project(self, R: Array) -> Array:
        """Take away what the intercept can explain."""
        return R - self.unit[:, None] * (self.unit @ R) if self.intercept else R

    def operator(self, C: Array, columns: Any = slice(None)) -> Array:
        """``M C``, projected; ``columns`` says which targets (and so which penalties) these are."""
        return self.project(self.matrix.product(C) + self.alpha[columns] * C)

    def residual(self, C: Array) -> Array:
        """What is left of the right side, for the best intercept."""
        return self.right - self.operator(C)

    def relative(self, residual: Array) -> Array:
        """Norms of residuals relative to those of the right sides."""
        norms = np.linalg.norm(residual, axis=0)
        return np.asarray(np.divide(norms, self.scale, out=norms.copy(), where=self.scale > 0))

    def intercepts(self, C: Array) -> Array:
        """The best intercept for each column of ``C``."""
        if not self.intercept:
            return np.zeros(self.count)
        shift = self.root @ self.matrix.product(C) / (self.root @ self.root)
        return np.asarray(self.means - shift)


class Found(NamedTuple):
    """Solved columns in the coordinates of the system, with the intercepts where they are known already."""

    C: Array
    status: str
    stats: dict[str, Any]
    gap: float  # the largest relative residual
    intercepts: Array | None = None
    is_rounding: bool = False  # the residual is what double precision leaves, whatever its relative size
