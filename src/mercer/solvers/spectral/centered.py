r"""The matrix whose eigenvectors are principal components, as products alone.

With the weights :math:`w`, their shares :math:`p = w / \sum_i w_i` and :math:`S = \mathrm{diag}(\sqrt{w})`

.. math:: A = S \, (I - 1 p^\top) \, K \, (I - p 1^\top) \, S .

Centring is a correction of rank one before and after a product with :math:`K`, so that :math:`K` need not be
held; where it is small enough it is, because reading it is quicker than computing it again.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ... import memory
from ...engine.half import HalfMatrix
from ...gram import Gram
from ...gram.spectrum import finite

__all__ = ["CenteredMatrix"]

#: Matrices whose lower half takes up to this are held, larger ones computed again for every product.
HELD_BYTES = 1 << 30


class CenteredMatrix:
    """A Gram matrix centred by the weighted mean and scaled by the roots of the weights."""

    def __init__(self, G: Gram, weight: np.ndarray | None = None) -> None:
        self.size = len(G)
        w = np.ones(self.size) if weight is None else np.asarray(weight, dtype=np.float64)
        self.total = float(w.sum())
        self.share, self.root = w / self.total, np.sqrt(w)
        self.is_held = HalfMatrix.nbytes_of(self.size) <= min(HELD_BYTES, memory.memory_limit() // 2)
        self._gram = G

    @cached_property
    def _half(self) -> HalfMatrix:
        return self._gram._half()

    def _times(self, V: np.ndarray) -> np.ndarray:
        """``K @ V``; an entry that is not finite shows in the product and is then looked for."""
        result = self._half @ V if self.is_held else np.asarray(self._gram @ V)
        if not np.isfinite(result).all():
            finite(self._half.dense() if self.is_held else result)
        return result

    @cached_property
    def means(self) -> np.ndarray:
        """Inner product of each point with the mean."""
        return self._times(self.share[:, None])[:, 0]

    @property
    def center(self) -> float:
        """Squared norm of the mean."""
        return float(self.share @ self.means)

    def trace(self) -> float:
        """Sum of the eigenvalues: the weighted squared distances from the mean."""
        squares = np.asarray(self._gram.diagonal(), dtype=np.float64) - 2 * self.means + self.center
        return float(self.root**2 @ squares)

    def product(self, V: np.ndarray) -> np.ndarray:
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

    def dense(self) -> np.ndarray:
        """All of it, in memory of its own."""
        memory.require(
            2 * 8 * self.size**2,
            f"the spectrum of the {self.size} x {self.size} Gram matrix",
            "Ask for few components with solver='lanczos' or 'randomized'.",
        )
        known = "_half" in self.__dict__
        K = finite(self._half.dense() if known else self._gram.dense())
        self.means = K @ self.share
        K -= self.means[:, None] + (self.means - self.center)
        K *= self.root[:, None] * self.root
        return np.asarray((K + K.T) / 2)
