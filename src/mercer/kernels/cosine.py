"""The cosine of the angle between two vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..arithmetic import Arithmetic
from ..certificate import Certificate
from ..domains import Data, Domain, Vectors
from ..engine import pairwise
from ..engine.program import Builder, Value
from ..intervals import Interval
from ..kernel import Gradient, Kernel
from .inner import inner, largest_entries, squared_norms

__all__ = ["Cosine"]


class Cosine(Kernel):
    r"""Cosine of the angle between two vectors.

    .. math:: k(x, y) = \frac{\langle x, y \rangle}{\|x\| \, \|y\|}, \qquad k(x, 0) = 0

    Positive definite on :math:`\mathbb{R}^d`: the linear kernel on normalised vectors, where the zero vector
    stays zero.  Not strictly: ``x`` and ``2 x`` are the same direction.  Values never leave
    :math:`[-1, 1]`, and the diagonal is exactly 1, or 0 at the zero vector.  Block cost: O(n m d).

    Examples
    --------
    >>> Cosine()([1.0, 0.0], [2.0, 0.0])
    1.0
    >>> Cosine()([0.0, 0.0], [2.0, 0.0])
    0.0
    """

    @property
    def domain(self) -> Domain:
        return Vectors()

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        x, y = _largest_one(x), _largest_one(y)
        squares = inner(x, x, m) * inner(y, y, m)
        if squares == 0:
            return m.real(0)
        return max(m.real(-1), min(m.real(1), inner(x, y, m) / m.sqrt(squares)))

    def _prepare(self, X: Data) -> Data:
        """Normalise the rows, first by the largest entry so that nothing overflows."""
        return _scale_rows(_scale_rows(X, largest_entries(X)), None)

    def _embedding(self, X: Data, like: Data | None = None) -> Any:
        return X

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        K = pairwise.dot(X, Y)
        np.clip(K, -1.0, 1.0, out=K)
        if Y is None:
            np.fill_diagonal(K, self._diagonal(X))
        return K

    def _compile(self, b: Builder, X: Data, Y: Data | None) -> Value:
        return b.diagonal(b.clip(b.dot(X, Y), -1.0, 1.0), b.derived(X, ("cosine",), self._diagonal))

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.asarray((squared_norms(X) > 0).astype(X.dtype))

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        return self._block(X, Y), {}

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "inner product", "c'Kc = |sum_i c_i x_i/|x_i||^2 >= 0, the zero vector mapped to zero"
        )

    bounds = Interval(-1.0, 1.0)

    diagonal_bounds = Interval(0.0, 1.0)


# -- helpers ----------------------------------------------------------------------------------
def _scale_rows(X: Data, factors: np.ndarray | None) -> Data:
    """Divide the rows of dense or sparse data by numbers, or by their Euclidean norms (zero rows stay)."""
    if factors is None:
        norms = np.sqrt(squared_norms(X))
        factors = np.where(norms > 0, norms, 1).astype(X.dtype)
    if not scipy.sparse.issparse(X):
        return X / factors[:, None]
    scaled = X.copy()
    scaled.data = X.data / np.repeat(factors, np.diff(X.indptr))
    return scaled


def _largest_one(x: Any) -> Any:
    """Divide a vector of numbers by its largest absolute entry."""
    top = max((abs(a) for a in x), default=0)
    return [a / top for a in x] if top > 0 else x
