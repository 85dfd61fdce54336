"""Rows of counts over a vocabulary of features: what kernels with explicit features share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse

from ..domains import Vocabulary

__all__ = ["Counts"]


@dataclass(frozen=True, eq=False)
class Counts:
    """Points as sparse rows over a vocabulary of their own features.

    Attributes
    ----------
    matrix : csr_array of shape (n, max(v, 1))
    vocabulary : Vocabulary
        The feature of each column, any hashable; without features there is one empty column.
    """

    matrix: Any
    vocabulary: Vocabulary

    @classmethod
    def of(cls, rows: np.ndarray, columns: np.ndarray, n: int, vocabulary: Vocabulary) -> Self:
        """Count how often each column stands beside each of n rows."""
        ones = np.ones(len(rows))
        matrix = scipy.sparse.csr_array((ones, (rows, columns)), shape=(n, max(len(vocabulary), 1)))
        return cls(matrix, vocabulary)

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def take(self, index: slice | np.ndarray) -> Self:
        """Select points."""
        return replace(self, matrix=self.matrix[index])

    def coded_like(self, other: Counts) -> Any:
        """The rows over the columns of ``other``; features that it lacks are left out."""
        if other.vocabulary is self.vocabulary:
            return self.matrix
        entries = self.matrix.tocoo()
        columns = np.append(other.vocabulary.columns_of(self.vocabulary), -1)[entries.col]
        kept = columns >= 0
        matrix = scipy.sparse.csr_array(
            (entries.data[kept], (entries.row[kept], columns[kept])), shape=(len(self), other.matrix.shape[1])
        )
        matrix.sort_indices()
        return matrix
