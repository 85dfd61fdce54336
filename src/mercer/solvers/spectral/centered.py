r"""The matrix whose eigenvectors are principal components.

With the weights :math:`w`, their shares :math:`p = w / \sum_i w_i` and :math:`S = \mathrm{diag}(\sqrt{w})`

.. math:: A = S \, (I - 1 p^\top) \, K \, (I - p 1^\top) \, S .

Centring is a correction of rank one before and after a product with :math:`K`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ... import memory
from ...engine.packed import PackedTiles
from ...gram import Gram
from ...gram.spectrum import finite
from ..matrix import Index, LazyMatrix, Matrix, matrix_of

__all__ = ["CenteredMatrix"]


class CenteredMatrix(Matrix):
    """A Gram matrix centred by the weighted mean and scaled by the roots of the weights."""

    def __init__(self, G: Gram, weight: np.ndarray | None = None) -> None:
        self._gram, self.size = G, len(G)
        w = np.ones(self.size) if weight is None else np.asarray(weight, dtype=np.float64)
        self.total = float(w.sum())
        self.share, self.root = w / self.total, np.sqrt(w)
        self.is_held = memory.can_hold(PackedTiles.nbytes_of(self.size))

    @property
    def cost(self) -> float:
        """Elementary operations of a value of K."""
        return self._matrix.cost

    @cached_property
    def _matrix(self) -> Matrix:
        return matrix_of(self._gram, packed=True)

    def _times(self, V: np.ndarray) -> np.ndarray:
        """``K @ V``; an entry that is not finite shows in the product and is then located."""
        result = self._matrix.product(V)
        if not np.isfinite(result).all():
            finite(self._matrix.dense() if self.is_held else result)
        return result

    @cached_property
    def means(self) -> np.ndarray:
        """Inner product of each point with the mean."""
        return self._times(self.share[:, None])[:, 0]

    @property
    def center(self) -> float:
        """Squared norm of the mean."""
        return float(self.share @ self.means)

    def diagonal(self) -> np.ndarray:
        """Weighted squared distances from the mean."""
        squares = np.asarray(self._gram.diagonal(), dtype=np.float64) - 2 * self.means + self.center
        return np.asarray(self.root**2 * squares)

    def trace(self) -> float:
        """Sum of the eigenvalues."""
        return float(self.diagonal().sum())

    def product(self, V: np.ndarray, *, reduced: bool = False) -> np.ndarray:
        """``A @ V``; columns are best laid out one after the other."""
        rows = self.root * V.T
        rows -= rows.sum(axis=1)[:, None] * self.share
        if "means" in self.__dict__:
            rows = self._times(rows.T).T
        else:  # the matrix is read, or computed, once for the means and the first product
            rows = self._times(np.vstack([rows, self.share]).T).T
            rows, self.means = rows[:-1], rows[-1].copy()
        rows -= (rows @ self.share)[:, None]
        rows *= self.root
        return rows.T

    def block(self, rows: Index, cols: Index, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Some of its rows and columns."""
        A = np.array(self._matrix.block(rows, cols))
        A -= self.means[rows, None] + (self.means[cols] - self.center)
        return np.asarray(A * (self.root[rows, None] * self.root[cols]), dtype=dtype)

    def copy(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """All of it, in memory of its own."""
        memory.require(
            2 * 8 * self.size**2,
            f"the spectrum of the {self.size} x {self.size} Gram matrix",
            "Ask for few components with solver='lanczos' or 'randomized'.",
        )
        known = "_matrix" in self.__dict__
        K = finite(self._matrix.copy() if known else LazyMatrix(self._gram).copy())
        self.means = K @ self.share
        K -= self.means[:, None] + (self.means - self.center)
        K *= self.root[:, None] * self.root
        return np.asarray((K + K.T) / 2, dtype=dtype)
