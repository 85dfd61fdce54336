"""Feature maps that are learned from a sample, on any objects."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..domains import Data, items
from ..errors import ParameterError, brief
from ..gram import PointGram
from ..parameters import canonical, identity, show
from .base import FeatureKernel, KernelMap

__all__ = ["FittedKernel", "FittedMap"]


class FittedMap(KernelMap):
    """A map into functions of the kernel values with a sample: ``k(x, sample) @ matrix``.

    Subclasses set ``kernel_`` (resolved), ``_gram`` (the Gram matrix of the sample) and ``_matrix`` (None
    stands for the identity) in ``fit``.
    """

    _gram: PointGram
    _matrix: np.ndarray | None

    def _fitted(self, K: PointGram, matrix: np.ndarray | None) -> None:
        """Store what ``fit`` has found."""
        self.kernel_, self._gram, self._matrix = K.kernel, K, matrix
        columns = getattr(K._X, "shape", None)
        if columns is not None:
            self.n_features_in_ = int(columns[1])

    @property
    def dim(self) -> int:
        """Number of features."""
        check_is_fitted(self, "_gram")
        return self._gram.shape[0] if self._matrix is None else self._matrix.shape[1]

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of ``X``, of shape (n, dim)."""
        check_is_fitted(self, "_gram")
        rows = self._gram._cross(self.kernel_.domain.validate(X, "X"))
        return rows.dense() if self._matrix is None else np.asarray(rows @ self._matrix)

    def as_kernel(self) -> FittedKernel:
        """Return the kernel of the map as fitted, the inner product of features: positive definite."""
        return FittedKernel(copy.copy(self))


class FittedKernel(FeatureKernel):
    r"""The kernel of a fitted feature map.

    .. math:: k(x, y) = \langle \phi(x), \phi(y) \rangle

    Positive definite, whatever the map.  Block cost: the features of each point once, and one matrix product.
    """

    map: Any

    def _validate(self) -> None:
        value: Any = self.map
        if not isinstance(value, FittedMap):
            raise ParameterError(f"FittedKernel: `map` must be a fitted feature map. Got {brief(value)}.")
        check_is_fitted(value, "_gram")

    def __call__(self, x: Any, y: Any) -> float:
        """Value on one pair of points."""
        a, b = self.map.transform([x, y])
        return float(a @ b)

    _block, _diagonal = FeatureKernel._block, FeatureKernel._diagonal
    _embedding = FeatureKernel._embedding

    def _prepare(self, X: Data) -> Data:
        return self.map.transform(X)

    @cached_property
    def _identity(self) -> tuple[Any, ...]:
        data = self.map._gram._X
        points: Any = data if isinstance(data, np.ndarray) else tuple(items(data))
        params = sorted(self.map.get_params().items())
        return (
            type(self),
            type(self.map),
            *((name, identity(canonical(value))) for name, value in params),
            self.map.kernel_,
            identity(points),
            identity(self.map._matrix),
        )

    def __repr__(self) -> str:
        params = self.map.get_params(deep=False).items()
        inner = ", ".join(f"{name}={show(canonical(value))}" for name, value in params)
        return f"{type(self.map).__name__}({inner}).fit(<{len(self.map._gram)} points>).as_kernel()"
