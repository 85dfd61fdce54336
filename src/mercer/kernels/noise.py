"""White noise: the kernel of equality, on any objects."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse

from ..arithmetic import Arithmetic
from ..certificate import Certificate
from ..domains import Data, Domain, Objects, items, size
from ..errors import DomainError
from ..intervals import Interval
from ..kernel import Gradient, Kernel
from ..parameters import parameter

__all__ = ["WhiteNoise"]


@dataclass(frozen=True)
class Comparable(Objects):
    """Any objects; rows of real matrices stay together, so that they are compared all at once."""

    def validate(self, X: Any, name: str = "X") -> Any:
        if scipy.sparse.issparse(X) and X.ndim == 2 and X.dtype in (np.float32, np.float64):
            return scipy.sparse.csr_array(X)
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype in (np.float32, np.float64):
            return X
        return super().validate(X, name)


class WhiteNoise(Kernel):
    r"""Independent noise: nothing is similar to anything but itself.

    .. math:: k(x, y) = c \, [x = y]

    Strictly positive definite on any objects: the Gram matrix of distinct points is :math:`c I`.  Equality is
    exact, number by number for arrays.  Block cost: O(n m) after O((n + m) d) for the comparison of hashes.

    Parameters
    ----------
    level : float, default=1.0
        Variance :math:`c`, > 0.

    Examples
    --------
    >>> WhiteNoise(0.5).block(["a", "b", "a"])
    array([[0.5, 0. , 0.5],
           [0. , 0.5, 0. ],
           [0.5, 0. , 0.5]])
    """

    level: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")

    @property
    def domain(self) -> Domain:
        return Comparable()

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return m.real(self.level if same(x, y) else 0.0)

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        K: np.ndarray = equality(X, X if Y is None else Y) * self.level
        return K.astype(np.float32) if _is_single(X) and (Y is None or _is_single(Y)) else K

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.full(size(X), self.level, dtype=X.dtype if _is_single(X) else np.float64)

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        K = self._block(X, Y)
        return K, {"level": K.copy()}

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        k = self._diagonal(X)
        return k, {"level": k.copy()}

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "diagonal",
            "c'Kc = level sum_i c_i^2 > 0 on distinct points",
            strict=True,
            conditions=["equality of points is an equivalence relation"],
        )

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, self.level)

    @property
    def diagonal_bounds(self) -> Interval:
        return Interval(self.level, self.level)


# -- equality ---------------------------------------------------------------------------------
def same(x: Any, y: Any) -> bool:
    """Whether two points are equal: the same object, or equal entry by entry."""
    if x is y:
        return True
    if any(isinstance(v, np.ndarray) or scipy.sparse.issparse(v) for v in (x, y)):
        return _key(x) == _key(y)
    if any(isinstance(x, kind) and isinstance(y, kind) for kind in (list, tuple)):
        return len(x) == len(y) and all(map(same, x, y))
    return bool(x == y)


def equality(X: Data, Y: Data) -> np.ndarray:
    """Matrix of truth values ``X[i] == Y[j]``."""
    try:
        codes: dict[Hashable, int] = {}
        rows, others = (
            np.array([codes.setdefault(key, len(codes)) for key in keys], dtype=np.intp)
            for keys in _keys(X, Y)
        )
    except TypeError:  # a point without a hash: compare one by one
        return np.array([[same(x, y) for y in _points(Y)] for x in _points(X)], dtype=bool).reshape(
            size(X), size(Y)
        )
    return np.asarray(rows[:, None] == others[None, :])


def _keys(X: Data, Y: Data) -> tuple[Iterable[Hashable], Iterable[Hashable]]:
    """Hashable stand-ins for points, equal exactly when the points are."""
    if not all(isinstance(data, np.ndarray) or scipy.sparse.issparse(data) for data in (X, Y)):
        return map(_key, _points(X)), map(_key, _points(Y))
    if any(map(scipy.sparse.issparse, (X, Y))):
        return _sparse_keys(X), _sparse_keys(Y)
    return _dense_keys(X), _dense_keys(Y)


def _dense_keys(X: np.ndarray) -> list[Hashable]:
    return [(row + 0.0).tobytes() for row in X.astype(np.float64, copy=False)]  # + 0.0 turns -0.0 into 0.0


def _sparse_keys(X: Data) -> list[Hashable]:
    rows = scipy.sparse.csr_array(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    indices, starts = rows.indices.astype(np.int64), rows.indptr
    return [(indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in pairwise(starts.tolist())]


def _key(x: Any) -> Hashable:
    if scipy.sparse.issparse(x):
        x = x.toarray()
    if isinstance(x, np.ndarray):
        return (np.ndarray, x.shape, *map(_key, x.ravel().tolist()))
    if isinstance(x, list | tuple):
        return (list if isinstance(x, list) else tuple, *map(_key, x))
    if isinstance(x, set):
        return frozenset(x)
    hash(x)
    return x  # type: ignore[no-any-return]


def _points(data: Data) -> Any:
    if not hasattr(data, "__iter__"):
        raise DomainError(
            "WhiteNoise compares points, and those of a precomputed matrix are not given. "
            "Add the noise to the diagonal of the matrix instead."
        )
    return items(data)


def _is_single(X: Data) -> bool:
    return getattr(X, "dtype", None) == np.float32
