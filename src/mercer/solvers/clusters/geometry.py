"""Inner products of the points that are to be clustered: of a Gram matrix, of vectors, of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ... import memory
from ...gram import Gram
from ...gram.base import BAND_BYTES
from ..laplacian import Affinity, degrees

__all__ = ["Geometry", "Index", "Vector"]

Vector: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]

#: Matrices up to this size are held; larger ones are computed anew for every product.
HELD_BYTES = 1 << 30


class Geometry(NamedTuple):
    """Inner products of points, as far as means need them."""

    diagonal: Vector
    product: Callable[[Vector], Vector]  # V -> K @ V
    columns: Callable[[Index], Vector]  # positions -> K[:, positions]
    part: Callable[[Index, Vector], Vector]  # positions, V -> K[:, positions] @ V

    @classmethod
    def of_gram(cls, G: Gram) -> Geometry:
        """Points behind a Gram matrix, which is held if it is small and fits half of the memory limit."""
        G, n = G._in_double(), len(G)
        if 8 * n * n <= min(HELD_BYTES, memory.memory_limit() // 2):
            K = np.asarray(G.dense(), dtype=np.float64)
            return cls(K.diagonal().copy(), lambda V: K @ V, lambda i: K[i].T, lambda i, V: (V.T @ K[i]).T)

        def part(index: Index, V: Vector) -> Vector:
            width = max(1, BAND_BYTES // (8 * n))
            chunks = [slice(s, s + width) for s in range(0, len(index), width)]
            return sum((G.block(slice(None), index[c]) @ V[c] for c in chunks), np.zeros((n, V.shape[1])))

        diagonal = np.asarray(G.diagonal(), dtype=np.float64)
        return cls(diagonal, lambda V: np.asarray(G @ V), lambda i: G.block(slice(None), i), part)

    @classmethod
    def of_rows(cls, Z: Vector) -> Geometry:
        """Points given as vectors: no n-by-n matrix is needed."""
        diagonal = np.einsum("ij,ij->i", Z, Z)
        return cls(diagonal, lambda V: Z @ (Z.T @ V), lambda i: Z @ Z[i].T, lambda i, V: Z @ (Z[i].T @ V))

    @classmethod
    def of_graph(cls, A: Affinity) -> Geometry:
        """Inner products ``D^-1 A D^-1 + D^-1``: with the degrees as weights, J is the normalised cut.

        More precisely ``J = cut + n - 2 k + sum_i A_ii / d_i`` for k clusters.  All degrees must be positive.
        """
        d = degrees(A)

        def part(index: Index, V: Vector) -> Vector:
            V = V / d[index, None]
            result = np.asarray(A[index].T @ V) / d[:, None]
            result[index] += V
            return result

        def product(V: Vector) -> Vector:
            V = V / d[:, None]
            return np.asarray(A @ V) / d[:, None] + V

        diagonal = A.diagonal() / d**2 + 1 / d
        return cls(diagonal, product, lambda i: part(i, np.eye(len(i))), part)

    def distances(self, index: Index) -> Vector:
        """Squared distances of all points from some, of shape (n, len(index))."""
        squared = self.diagonal[:, None] - 2 * self.columns(index) + self.diagonal[index]
        squared[index, np.arange(len(index))] = 0.0
        return np.maximum(squared, 0.0)
