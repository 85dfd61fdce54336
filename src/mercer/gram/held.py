"""Gram matrices that are in memory because their values are dear and will be used again."""

from __future__ import annotations

import numpy as np

from .. import memory
from ..engine.half import HalfMatrix
from .base import Gram
from .indexing import Selection
from .kernel_gram import KernelGram
from .spectrum import HELD_BYTES

__all__ = ["HeldGram", "hold"]


def hold(G: Gram) -> Gram:
    """The same matrix with all of its values in memory, if Python code computes them and they fit.

    Who asks for them twice would otherwise call the user's function twice.  Values that are stored, given or
    compiled are as they are.
    """
    if type(G) is not KernelGram or not G.is_symmetric or G._is_compiled or G._given() is not None:
        return G
    need = 8 * len(G) ** 2
    if G._in_double() is not G or need > min(HELD_BYTES, memory.memory_limit() // 2):
        return G
    return HeldGram(G, G.dense().astype(np.float64, copy=False))


class HeldGram(KernelGram):
    """Gram matrix of one set of points with its values; use :func:`hold` to make one."""

    def __init__(self, G: KernelGram, matrix: np.ndarray) -> None:
        self.kernel, self._layouts, self._asked = G.kernel, G._layouts, G._asked
        self._X, self._rows, self._columns, self.shape = G._X, G._rows, None, G.shape
        self._matrix = matrix

    def _in_single(self) -> HeldGram:
        result = HeldGram(self, self._matrix)
        result._asked = np.dtype(np.float32)
        return result

    def _given(self) -> np.ndarray:
        return self._matrix

    def _values(self, rows: Selection, cols: Selection, progress: bool = False) -> np.ndarray:
        if isinstance(rows, slice) or isinstance(cols, slice):
            return np.array(self._matrix[rows, cols], dtype=self.dtype)
        return np.asarray(self._matrix[np.ix_(rows, cols)], dtype=self.dtype)

    def _fill(self, rows: Selection, out: np.ndarray, cols: Selection | None = None) -> None:
        Gram._fill(self, rows, out, cols)

    def _half(self) -> HalfMatrix:
        return Gram._half(self)

    def _columns_product(self, columns: np.ndarray, v: np.ndarray, quick: bool = False) -> np.ndarray:
        return Gram._columns_product(self, columns, v, quick)

    def _rough(self) -> None:
        return None

    def _single_rows(self) -> None:
        return None
