r"""The matrix whose eigenvectors are principal components, as products alone.

With the weights :math:`w`, their shares :math:`p = w / \sum_i w_i` and :math:`S = \mathrm{diag}(\sqrt{w})`

.. math:: A = S \, (I - 1 p^\top) \, K \, (I - p 1^\top) \, S .

Centring is a correction of rank one before and after a product with :math:`K`, so that :math:`K` need not be
held; where it is small enough it is, because reading it is quicker than computing it again.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise

import numpy as np

from .. import memory
from ..engine.threads import num_threads, single_threaded_blas
from ..gram import Gram
from ..gram.spectrum import finite

__all__ = ["CenteredMatrix", "narrow_product"]

#: Matrices up to this size are held, larger ones computed again for every product.
HELD_BYTES = 1 << 30

#: Multiply-adds up to which OpenBLAS works on a matrix where it lies, instead of copying it first.
SMALL_PRODUCT = 1_000_000
#: Rows that it works on at a time.
ROWS = 6


class CenteredMatrix:
    """A Gram matrix centred by the weighted mean and scaled by the roots of the weights."""

    def __init__(self, G: Gram, weight: np.ndarray | None = None) -> None:
        self.size = len(G)
        w = np.ones(self.size) if weight is None else np.asarray(weight, dtype=np.float64)
        self.total = float(w.sum())
        self.share, self.root = w / self.total, np.sqrt(w)
        self.is_held = 8 * self.size**2 <= min(HELD_BYTES, memory.memory_limit() // 2)
        self._gram = G

    @cached_property
    def _held(self) -> np.ndarray:
        return np.asarray(self._gram.dense(), dtype=np.float64)

    def _times(self, V: np.ndarray) -> np.ndarray:
        """``K @ V``; an entry that is not finite shows in the product and is then looked for."""
        result = narrow_product(self._held, V) if self.is_held else np.asarray(self._gram @ V)
        if not np.isfinite(result).all():
            finite(self._held if self.is_held else result)
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
        """``A @ V``."""
        V = self.root[:, None] * V
        V -= self.share[:, None] * V.sum(axis=0)
        V = self._times(V)
        V -= self.share @ V
        V *= self.root[:, None]
        return V

    def dense(self) -> np.ndarray:
        """All of it, in memory of its own."""
        memory.require(
            2 * 8 * self.size**2,
            f"the spectrum of the {self.size} x {self.size} Gram matrix",
            "Ask for few components with solver='lanczos' or 'randomized'.",
        )
        K = self._held.copy() if self.is_held else finite(self._gram.dense())
        means = K @ self.share
        K -= means[:, None] + (means - self.share @ means)
        K *= self.root[:, None] * self.root
        return np.asarray((K + K.T) / 2)


def narrow_product(K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """``K @ V`` for a large ``K`` and few columns, some rows at a time.

    BLAS copies a matrix that it is about to use often; with few columns that copy takes longer than the
    product.  Products small enough are done without one.  The bits do not depend on the number of threads.
    """
    n, m = K.shape
    height = SMALL_PRODUCT // max(1, m * V.shape[1])
    if height < ROWS:
        return np.asarray(K @ V)
    height -= height % ROWS
    V, out = np.ascontiguousarray(V), np.empty((n, V.shape[1]))
    whole = n - n % height
    stacked, result = K[:whole].reshape(-1, height, m), out[:whole].reshape(-1, height, V.shape[1])
    cuts = np.linspace(0, len(stacked), num_threads() + 1).astype(int)

    def part(first: int, last: int) -> None:
        np.matmul(stacked[first:last], V, out=result[first:last])

    with single_threaded_blas(), ThreadPoolExecutor(len(cuts) - 1) as pool:
        np.matmul(K[whole:], V, out=out[whole:])
        for done in [pool.submit(part, a, b) for a, b in pairwise(cuts.tolist())]:
            done.result()
    return out
