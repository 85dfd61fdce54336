"""Fingerprints: vectors of bits or counts, also those of RDKit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from ..errors import InputError
from .base import Data, Domain
from .regions import NONNEGATIVE, Region
from .vectors import Vectors

__all__ = ["BITS", "Bits", "Fingerprints"]


@dataclass(frozen=True)
class Bits(Region):
    """Vectors of zeros and ones."""

    def check(self, X: Any, name: str) -> None:
        values = X.data if scipy.sparse.issparse(X) else X
        if ((values == 0) | (values == 1)).all():
            return
        entries = scipy.sparse.coo_array(X)
        i = int(np.flatnonzero((entries.data != 0) & (entries.data != 1))[0])
        raise InputError(
            f"{name} must have entries 0 and 1. Got {float(entries.data[i])!r} in row {int(entries.row[i])}, "
            f"column {int(entries.col[i])}. MinMax compares counts."
        )

    def sample(self, n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
        return (rng.random((n, dim)) < rng.random((n, 1))).astype(np.float64)

    def __str__(self) -> str:
        return " of zeros and ones"


BITS = Bits()


@dataclass(frozen=True)
class Fingerprints(Vectors):
    """Vectors of bits or of counts: rows of arrays and sparse matrices, and RDKit's bit and count vectors.

    A list of RDKit's vectors (``ExplicitBitVect``, ``SparseBitVect``, ``UIntSparseIntVect``, ...) becomes a
    sparse matrix.  All of them must have one length.

    Parameters
    ----------
    dim, region, dense
        As of :class:`Vectors`; ``region`` is by default all vectors with entries >= 0.

    Examples
    --------
    >>> Fingerprints(region=BITS).validate([[1, 0, 1], [0, 0, 1]]).shape
    (2, 3)
    """

    region: Region = NONNEGATIVE

    def validate(self, X: Any, name: str = "X") -> Data:
        if isinstance(X, list | tuple | np.ndarray) and len(X) and _is_chemical(X[0]):
            X = _as_csr(X, name)
        return super().validate(X, name)

    def point(self, x: Any, name: str = "x") -> np.ndarray:
        if _is_chemical(x):
            x = _as_csr([x], name)
        return super().point(x, name)

    def pair(self, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Two points; of long sparse vectors the positions that either has."""
        if not (_is_chemical(x) and _is_chemical(y)):
            return super().pair(x, y)
        rows = self.validate([x, y], "[x, y]")
        positions, columns = np.unique(rows.indices, return_inverse=True)
        a, b = scipy.sparse.csr_array((rows.data, columns, rows.indptr), shape=(2, len(positions))).toarray()
        return a, b

    def _meet(self, other: Domain) -> Domain | None:
        both = super()._meet(other)
        if not isinstance(both, Vectors):
            return None
        return replace(self, dim=both.dim, region=both.region, dense=both.dense)

    def __str__(self) -> str:
        return super().__str__().replace("vectors", "fingerprints", 1)


def _is_chemical(x: Any) -> bool:
    """Whether it is a vector of RDKit, told by its methods."""
    return hasattr(x, "GetOnBits") or hasattr(x, "GetNonzeroElements")


def _as_csr(vectors: Sequence[Any] | np.ndarray, name: str) -> Any:
    """A sparse matrix with a row for each vector of RDKit."""
    columns, counts, starts, lengths = [], [], [0], []
    for i, v in enumerate(vectors):
        if hasattr(v, "GetOnBits"):
            # Positions beyond 2^31 come as negative numbers.
            found, length = dict.fromkeys((c % (1 << 32) for c in v.GetOnBits()), 1), v.GetNumBits()
        elif hasattr(v, "GetNonzeroElements"):
            found, length = v.GetNonzeroElements(), v.GetLength()
        else:
            raise InputError(f"{name}[{i}] must be a fingerprint as {name}[0] is. Got {type(v).__name__}.")
        order = sorted(found)
        columns += order
        counts += [found[c] for c in order]
        starts.append(len(columns))
        lengths.append(length)
    wrong = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
    if wrong is not None:
        raise InputError(
            f"{name} must have fingerprints of one length. Got {lengths[0]} in {name}[0] and "
            f"{lengths[wrong]} in {name}[{wrong}]."
        )
    # RDKit's longest vectors have more positions than a sparse matrix columns, all of them hashes of 32 bits.
    shape = (len(vectors), min(lengths[0], 1 << 62))
    return scipy.sparse.csr_array((np.array(counts, dtype=np.float64), columns, starts), shape=shape)
