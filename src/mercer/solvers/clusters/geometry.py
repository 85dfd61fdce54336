"""Inner products of the points that are to be clustered: of vectors, of a graph."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ...graphs.laplacians import Affinity, degrees
from ..matrix import Index as Selection
from ..matrix import Matrix

__all__ = ["FeatureMatrix", "GraphMatrix", "Index", "Vector", "squared_distances"]

Vector: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]


class FeatureMatrix(Matrix):
    """``Z Z'``, the inner products of vectors: no n-by-n matrix is needed."""

    cost = 0.0

    def __init__(self, Z: Vector) -> None:
        self._Z, self.size = Z, len(Z)

    def diagonal(self) -> Vector:
        """Squared norms."""
        return np.asarray(np.einsum("ij,ij->i", self._Z, self._Z))

    def block(self, rows: Selection, cols: Selection, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Inner products of some of the vectors."""
        return np.asarray(self._Z[rows] @ self._Z[cols].T, dtype=dtype)

    def product(self, V: Vector, *, reduced: bool = False) -> Vector:
        """``Z (Z' V)``."""
        return np.asarray(self._Z @ (self._Z.T @ V))

    def features(self) -> Vector:
        """The vectors."""
        return self._Z


class GraphMatrix(Matrix):
    """``D^-1 A D^-1 + D^-1`` of a graph: with the degrees as weights, J is the normalised cut.

    More precisely ``J = cut + n - 2 k + sum_i A_ii / d_i`` for k clusters.  All degrees must be positive.
    """

    cost = 0.0

    def __init__(self, A: Affinity) -> None:
        self._A, self._d, self.size = A, degrees(A), int(A.shape[0])

    def diagonal(self) -> Vector:
        """``A_ii / d_i^2 + 1 / d_i``."""
        return np.asarray(self._A.diagonal() / self._d**2 + 1 / self._d)

    def block(self, rows: Selection, cols: Selection, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Values of some rows and columns."""
        V = np.eye(self.size)[:, cols]
        return self.product(V)[rows].astype(dtype, copy=False)

    def product(self, V: Vector, *, reduced: bool = False) -> Vector:
        """Product with the sparse matrix; rows of zeros are left out."""
        support = np.flatnonzero(V.any(axis=1))
        scaled = V[support] / self._d[support, None]
        result = np.asarray(self._A[support].T @ scaled) / self._d[:, None]
        result[support] += scaled
        return result


def squared_distances(matrix: Matrix, index: Index) -> Vector:
    """Squared distances of all points from some, of shape (n, len(index))."""
    diagonal = matrix.diagonal()
    squared = diagonal[:, None] - 2 * matrix.block(index, slice(None)).T + diagonal[index]
    squared[index, np.arange(len(index))] = 0.0
    return np.asarray(np.maximum(squared, 0.0))
