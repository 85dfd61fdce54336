"""Shared shapes of the kernels on the line: scalar tables and explicit features."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from ..arithmetic import Arithmetic
from ..certificate import Claim, Property, Status
from ..domains import EVERYWHERE, Data, Domain, Reals, Region
from ..engine import pairwise
from ..engine.program import Builder, Value
from ..intervals import Interval
from ..kernel import Gradient, Kernel
from .simple import finite

__all__ = ["ONE", "UNIT", "dense", "divisible", "power"]

UNIT = Interval(0.0, 1.0)
ONE = Interval(1.0, 1.0)


class Scalar(Kernel):
    """Kernels of two real numbers.

    Subclasses write the kernel twice: ``_scalar(a, b, m)`` on one pair of numbers in the arithmetic ``m``
    (the definition), and ``_table(a, b)`` on float64 arrays that broadcast against each other.  Both have
    to be symmetric to the last bit.  With tunable parameters they add ``_slopes``, and where the engine has
    the steps, ``_steps`` on the smaller and the larger of the two numbers.
    """

    _region: ClassVar[Region] = EVERYWHERE

    @property
    def domain(self) -> Domain:
        return Reals(region=self._region)

    def _scalar(self, a: Any, b: Any, m: Arithmetic) -> Any:
        raise TypeError(f"{type(self).__name__} must define _scalar")

    def _table(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define _table")

    def _steps(self, b: Builder, low: Value, high: Value) -> Value | None:
        return None

    def _compile(self, b: Builder, X: np.ndarray, Y: np.ndarray | None) -> Value | None:
        value = self._steps(b, b.min_sums(X, Y), b.max_sums(X, Y))
        return None if value is None else b.finite(value)

    def _slopes(self, a: np.ndarray, b: np.ndarray, K: np.ndarray) -> Gradient:
        """Derivatives of the table ``K`` with respect to the logarithms of the tunable parameters."""
        return {}

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return self._scalar(x[0], y[0], m)

    def _prepare(self, X: Data) -> np.ndarray:
        return dense(X)

    def _block(self, X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
        return self._gradient(X, Y, slopes=False)[0]

    def _diagonal(self, X: np.ndarray) -> np.ndarray:
        return self._diagonal_gradient(X, slopes=False)[0]

    def _gradient(
        self, X: np.ndarray, Y: np.ndarray | None, slopes: bool = True
    ) -> tuple[np.ndarray, Gradient]:
        columns = X if Y is None else Y
        return self._evaluate(_double(X), _double(columns).T, np.result_type(X, columns), slopes)

    def _diagonal_gradient(self, X: np.ndarray, slopes: bool = True) -> tuple[np.ndarray, Gradient]:
        a = _double(X)[:, 0]
        return self._evaluate(a, a, X.dtype, slopes)

    def _evaluate(
        self, a: np.ndarray, b: np.ndarray, dtype: np.dtype[Any], slopes: bool
    ) -> tuple[np.ndarray, Gradient]:
        """Table and slopes; computed in double precision whatever ``dtype`` they are returned in."""
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            K = finite(self._table(a, b), self, dtype)
            gradient = self._slopes(a, b, K) if slopes else {}
        return K.astype(dtype, copy=False), {
            name: g.astype(dtype, copy=False) for name, g in gradient.items()
        }


class Featured(Kernel):
    """Kernels that are the inner product of explicit features: the Gram matrix is ``F F'`` as computed.

    Subclasses give the features of many points as ``_features`` and the kernel on one pair as ``_define``.
    """

    def _features(self, X: Data) -> np.ndarray:
        """Features of the rows of ``X`` in float64, of shape (n, n_features)."""
        raise TypeError(f"{type(self).__name__} must define _features")

    def _prepare(self, X: Data) -> np.ndarray:
        return finite(self._features(X), self, X.dtype).astype(X.dtype, copy=False)

    def _block(self, X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
        return finite(pairwise.dot(X, Y), self)

    def _compile(self, b: Builder, X: np.ndarray, Y: np.ndarray | None) -> Value:
        return b.finite(b.dot(X, Y))

    def _diagonal(self, X: np.ndarray) -> np.ndarray:
        return finite(np.asarray(np.einsum("ij,ij->i", X, X)), self)


# -- helpers ----------------------------------------------------------------------------------
def dense(X: Data) -> np.ndarray:
    """Validated vectors as a dense array."""
    return np.asarray(X.toarray()) if scipy.sparse.issparse(X) else np.asarray(X)


def _double(X: np.ndarray) -> np.ndarray:
    return X.astype(np.float64, copy=False)


def power(base: Any, exponent: Any) -> Any:
    """``base ** exponent`` for ``base >= 0``, saturating to infinity as the float arithmetic does."""
    try:
        return base**exponent
    except (OverflowError, ZeroDivisionError):
        return math.inf


def divisible(kernel: Kernel, rule: str, reason: str) -> Claim:
    """Claim that ``-log k`` is negative definite, so that ``k ** t`` is positive definite for all t > 0.

    Where ``k`` is 0 its ``-log`` counts as plus infinity and ``k ** t`` as 0.
    """
    return Claim(Property.NEGATIVE, Status.PROVED, f"-log {kernel!r}", rule, reason)
