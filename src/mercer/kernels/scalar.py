"""Shared shapes of the kernels on the line: formulas of two numbers and explicit features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from ..algebra.simple import SimpleKernel, finite
from ..arithmetic import Arithmetic
from ..certificate import Claim, Property, Status
from ..domains import EVERYWHERE, Data, Domain, Reals, Region
from ..engine import pairwise
from ..engine.program import Builder, Value
from ..errors import GradientError
from ..kernel import Gradient, Kernel

__all__ = ["dense", "divisible"]


class Scalar(SimpleKernel):
    """Kernels of two real numbers.

    Subclasses write ``formula(self, low, high, m)`` of the smaller and the larger of the two, against an
    :class:`~mercer.arithmetic.Arithmetic` ``m``: so they are symmetric.  With tunable parameters they add
    ``_slopes``.  Blocks are computed in double precision whatever type they are returned in.
    """

    _region: ClassVar[Region] = EVERYWHERE

    @property
    def domain(self) -> Domain:
        return Reals(region=self._region)

    def _pair(self, x: Any, y: Any, m: Arithmetic) -> tuple[Any, Any]:
        return min(x[0], y[0]), max(x[0], y[0])

    def _pairs(self, X: np.ndarray, Y: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        a, b = _double(X), _double(X if Y is None else Y).T
        return np.minimum(a, b), np.maximum(a, b)

    def _steps(self, b: Builder, X: np.ndarray, Y: np.ndarray | None) -> tuple[Value, Value]:
        return b.min_sums(X, Y), b.max_sums(X, Y)

    def _slopes(self, low: np.ndarray, high: np.ndarray, K: np.ndarray) -> Gradient:
        """Derivatives of the values ``K`` with respect to the logarithms of the tunable parameters."""
        if self.parameters:
            raise GradientError(f"{self!r} has no closed-form gradient; use finite differences of block.")
        return {}

    def _prepare(self, X: Data) -> np.ndarray:
        return dense(X)

    def _block(self, X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
        return self._gradient(X, Y, slopes=False)[0]

    _compile = SimpleKernel._compile

    def _diagonal(self, X: np.ndarray) -> np.ndarray:
        return self._diagonal_gradient(X, slopes=False)[0]

    def _gradient(
        self, X: np.ndarray, Y: np.ndarray | None, slopes: bool = True
    ) -> tuple[np.ndarray, Gradient]:
        return self._with_slopes(*self._pairs(X, Y), np.result_type(X, X if Y is None else Y), slopes)

    def _diagonal_gradient(self, X: np.ndarray, slopes: bool = True) -> tuple[np.ndarray, Gradient]:
        a = _double(X)[:, 0].copy()
        return self._with_slopes(a, a, X.dtype, slopes)

    def _with_slopes(
        self, low: np.ndarray, high: np.ndarray, dtype: np.dtype[Any], slopes: bool
    ) -> tuple[np.ndarray, Gradient]:
        with np.errstate(all="ignore"):
            K = self._checked(self._evaluate(low, high), dtype)
            gradient = self._slopes(low, high, K) if slopes else {}
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


def divisible(kernel: Kernel, rule: str, reason: str) -> Claim:
    """Claim that ``-log k`` is negative definite, so that ``k ** t`` is positive definite for all t > 0.

    Where ``k`` is 0 its ``-log`` counts as plus infinity and ``k ** t`` as 0.
    """
    return Claim(Property.NEGATIVE, Status.PROVED, f"-log {kernel!r}", rule, reason)
