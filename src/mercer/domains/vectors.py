"""Real vectors and real numbers."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse

from ..arithmetic import Arithmetic
from ..digests import POINT_BYTES
from ..errors import InputError
from .base import ArithmeticVector, Data, Domain
from .numeric import check_numbers
from .regions import EVERYWHERE, Box, Region
from .rows import explain_rows
from .sparse import check_sparse

__all__ = ["Reals", "Vectors", "check_finite", "is_plain"]

# Rows whose digests are taken together, so that their copies stay small.
_DIGEST_ROWS = 4096


@dataclass(frozen=True)
class Vectors(Domain):
    """Rows of a dense array or of a SciPy sparse matrix, with finite entries.

    Dense input becomes a float64 array (float32 stays float32, float16 becomes float32); sparse input
    becomes CSR with sorted indices and summed duplicates.  Nothing is copied unless it has to be.

    Parameters
    ----------
    dim : int or None
        Required number of columns; ``None`` accepts any.
    region : Region
        Where the rows have to lie.
    dense : bool
        Whether sparse input is made dense, for kernels whose block knows only NumPy arrays.
    """

    dim: int | None = None
    region: Region = EVERYWHERE
    dense: bool = False

    def validate(self, X: Any, name: str = "X") -> Data:
        if not is_plain(X):
            if scipy.sparse.issparse(X):
                check_sparse(X, name)
                X = X.toarray() if self.dense else _as_csr(X)
            if not scipy.sparse.issparse(X):
                X = self._as_rows(X, name)
        if self.dim is not None and X.shape[1] != self.dim:
            raise InputError(f"{name} must have {self.dim} column(s). Got {X.shape[1]}.")
        check_finite(X, name)
        if self.region is not EVERYWHERE:
            self.region.check(X, name)
        return X

    def point(self, x: Any, name: str = "x") -> np.ndarray:
        row: np.ndarray = self.validate(self._as_row(x, name), name)[0]
        return row

    def pair(self, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        a, b = self.point(x, "x"), self.point(y, "y")
        if a.shape != b.shape:
            raise InputError(f"x and y must have the same length. Got {a.shape[0]} and {b.shape[0]}.")
        return a, b

    def match(self, X: Data, Y: Data | None) -> None:
        if Y is not None and X.shape[1] != Y.shape[1] and X.shape[0] and Y.shape[0]:
            raise InputError(
                f"X and Y must have the same number of columns. Got {X.shape[1]} and {Y.shape[1]}."
            )

    def is_table(self, X: Any) -> bool:
        """Whether X, not validated yet, is meant as rows of numbers."""
        return True

    def comparable(self, points: Data) -> Domain:
        return replace(self, dim=int(points.shape[-1])) if self.dim is None else self

    def to_arithmetic(self, x: Any, numbers: Arithmetic) -> ArithmeticVector:
        return ArithmeticVector(numbers.real(v) for v in np.asarray(x, dtype=np.float64).tolist())

    def _digests(self, X: Data) -> list[str]:
        """Hash the entries that are not zero, in float64, with their columns: sparse and dense rows agree."""
        names: list[str] = []
        dim = struct.pack("<q", X.shape[1])
        for start in range(0, X.shape[0], _DIGEST_ROWS):
            part = scipy.sparse.csr_array(X[start : start + _DIGEST_ROWS])
            part.eliminate_zeros()
            columns = memoryview(part.indices.astype("<i8").tobytes())
            values = memoryview(part.data.astype("<f8").tobytes())
            for a, b in pairwise((8 * part.indptr.astype(np.int64)).tolist()):
                names.append(blake2b(dim + columns[a:b] + values[a:b], digest_size=POINT_BYTES).hexdigest())
        return names

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        dim = self.dim if self.dim is not None else int(rng.integers(1, 4))
        return list(self.region.sample(n, dim, rng))

    def _as_rows(self, X: Any, name: str) -> np.ndarray:
        array = _as_float(X, name)
        if array.ndim == 2:
            return array
        if isinstance(X, list | tuple) and len(X) == 0:
            return array.reshape(0, self.dim or 0)
        advice = (
            f" Reshape your data: {name}.reshape(-1, 1) for points on the line, "
            f"{name}.reshape(1, -1) for one point."
            if array.ndim == 1
            else ""
        )
        raise InputError(
            f"{name} must be a 2-D array of shape (n_points, n_features). Got {array.ndim}-D "
            f"of shape {array.shape}.{advice}"
        )

    def _as_row(self, x: Any, name: str) -> np.ndarray:
        if scipy.sparse.issparse(x):
            check_sparse(x, name)
            x = x.toarray()
            x = x[0] if x.shape[0] == 1 else x
        array = _as_float(x, name)
        if array.ndim == 0 and self.dim in (None, 1):
            array = array.reshape(1)
        if array.ndim != 1:
            raise InputError(f"{name} must be one vector (1-D). Got {array.ndim}-D of shape {array.shape}.")
        return array.reshape(1, -1)

    def _meet(self, other: Domain) -> Domain | None:
        if not isinstance(other, Vectors):
            return None
        if type(self) is Vectors and type(other) is not Vectors:
            return other._meet(self)
        dims = {d for d in (self.dim, other.dim) if d is not None}
        if len(dims) > 1:
            return None
        base = self if isinstance(self, Reals) else other
        dim = dims.pop() if dims else None
        return replace(base, dim=dim, region=self.region & other.region, dense=self.dense or other.dense)

    def __str__(self) -> str:
        return f"vectors{'' if self.dim is None else f' of dimension {self.dim}'}{self.region}"


@dataclass(frozen=True)
class Reals(Vectors):
    """Real numbers: a 1-D array of ``n`` numbers, or an ``(n, 1)`` array, dense or sparse."""

    dim: int | None = 1

    def _as_rows(self, X: Any, name: str) -> np.ndarray:
        array = _as_float(X, name)
        return super()._as_rows(array.reshape(-1, 1) if array.ndim == 1 else array, name)

    def __str__(self) -> str:
        region = str(self.region)
        if isinstance(self.region, Box):
            region = region.replace(" with entries", "")
        return f"real numbers{region}"


# -- conversion ---------------------------------------------------------------------------------
def is_plain(X: Any) -> bool:
    """Whether X is a 2-D array of float32 or float64, which needs no conversion."""
    return type(X) is np.ndarray and X.ndim == 2 and X.dtype.char in "fd" and X.dtype.isnative


def _as_float(X: Any, name: str) -> np.ndarray:
    """Convert to a float32 or float64 array without copying more than needed."""
    check_numbers(X, name, dense=True)
    try:
        array = np.asarray(X)
        if array.dtype == np.float16:
            return array.astype(np.float32)
        if array.dtype in (np.float32, np.float64):
            return array.astype(array.dtype.newbyteorder("="), copy=False)
        if array.dtype.kind not in "biufO":
            explain_rows(X, name)
            raise InputError(f"{name} must be an array of real numbers. Got an array of type {array.dtype}.")
        return array.astype(np.float64)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        explain_rows(X, name)
        raise InputError(f"{name} must be an array of real numbers: {error}.") from error


def _as_csr(X: Any) -> Any:
    """Convert to CSR with sorted indices, duplicates summed, float32 or float64."""
    dtype = np.float32 if X.dtype in (np.float16, np.float32) else np.float64
    csr = scipy.sparse.csr_array(X.astype(dtype, copy=False))
    if not csr.has_canonical_format:
        csr = csr.copy()  # the caller's matrix is left as it is
        csr.sum_duplicates()
    return csr


def check_finite(X: Any, name: str) -> None:
    """Raise with row and column of the first NaN or infinity."""
    sparse = scipy.sparse.issparse(X)
    values = X.data if sparse else X
    finite = np.isfinite(values)
    if finite.all():
        return
    if sparse:
        entries = X.tocoo()
        i = int(np.flatnonzero(~np.isfinite(entries.data))[0])
        row, column, value = int(entries.row[i]), int(entries.col[i]), entries.data[i]
    else:
        row, column = (int(v) for v in np.argwhere(~finite)[0])
        value = X[row, column]
    kind = "NaN" if np.isnan(value) else "infinity"
    raise InputError(f"{name} must be finite. Got {kind} in row {row}, column {column}.")
