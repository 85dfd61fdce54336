"""Sparse rows of explicit features, from which :meth:`mercer.Kernel.features` is made."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from .domains import Data
from .errors import DomainError

__all__ = ["feature_rows", "occurring_features"]


def feature_rows(features: Any, columns: np.ndarray) -> scipy.sparse.csr_array:
    """Some columns of dense or sparse features as CSR, in the 32-bit numbers that linear machines want."""
    rows = scipy.sparse.csr_array(features)
    if len(columns) < rows.shape[1]:
        rows = rows[:, columns]
    if max(rows.nnz, *rows.shape) > np.iinfo(np.int32).max:
        return rows
    parts = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return scipy.sparse.csr_array(parts, shape=rows.shape)


def occurring_features(kernel: Any, X: Data) -> tuple[scipy.sparse.csr_array, np.ndarray]:
    """Features of prepared data, and which columns of the embedding they are.

    Columns of a sparse embedding that are empty are left out: they are patterns that do not occur.
    """
    found = kernel._embedding(X)
    if found is None:
        raise DomainError(
            f"{kernel!r} has no finite features that are known, or too many of them to be listed. "
            "Use the kernel itself, or an approximate map of mercer.features."
        )
    occurs = np.ones(found.shape[1], dtype=bool)
    if scipy.sparse.issparse(found):
        occurs[:] = False
        occurs[found.indices] = True
    columns = np.flatnonzero(occurs)
    return feature_rows(found, columns), columns
