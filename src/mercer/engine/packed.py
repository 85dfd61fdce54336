"""Packed symmetric matrices: the tiles on and below the diagonal.

They take half of the memory, and a product reads each tile once, for its own rows and for those of its mirror
image.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mercer import _native
from mercer.engine.threads import num_threads

__all__ = ["TILE", "PackedTiles"]

Array: TypeAlias = npt.NDArray[Any]

#: Rows and columns of a tile.
TILE: int = _native.TILE


class PackedTiles:
    """A symmetric matrix of float64, as products alone; its values are to be filled in.

    Attributes
    ----------
    size : int
        Rows of the matrix.
    tiles : array of shape (count, TILE, TILE)
        The tiles on and below the diagonal, row of tiles by row of tiles, with zeros beyond the matrix.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.tiles = np.empty((_count(size), TILE, TILE))

    @staticmethod
    def nbytes_of(size: int) -> int:
        """Bytes that a matrix of this size takes."""
        return 8 * TILE * TILE * _count(size)

    def fill(self, row: int, col: int, values: Array) -> None:
        """Take a block of the matrix whose first entry is (row, col), both multiples of ``TILE``.

        It must go to the end of its last tiles, or of the matrix; what lies above the diagonal is left out.
        """
        for i in range(0, values.shape[0], TILE):
            for j in range(0, min(values.shape[1], row + i - col + 1), TILE):
                part, tile = values[i : i + TILE, j : j + TILE], self._tile(row + i, col + j)
                tile[...] = 0.0
                tile[: part.shape[0], : part.shape[1]] = part

    def __matmul__(self, V: Array) -> Array:
        """Product with a matrix; the result has its layout, and the same bits on any number of threads."""
        out = np.empty_like(V)
        _native.packed_product(self.tiles, V, out, num_threads())
        return out

    def dense(self) -> Array:
        """All of the matrix."""
        K = np.empty((self.size, self.size))
        for i in range(0, self.size, TILE):
            for j in range(0, i + 1, TILE):
                block = K[i : i + TILE, j : j + TILE]
                block[...] = self._tile(i, j)[: block.shape[0], : block.shape[1]]
                if j < i:  # of tiles on the diagonal both triangles are there
                    K[j : j + TILE, i : i + TILE] = block.T
        return K

    def _tile(self, row: int, col: int) -> Array:
        """The tile that begins with this entry."""
        result: Array = self.tiles[_count(row) + col // TILE]
        return result


def _count(size: int) -> int:
    """Number of tiles of a matrix of this size."""
    down = -(-size // TILE)
    return down * (down + 1) // 2
