"""Kernels that are inner products of vectors that a model gives."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from ...domains import Data
from ...engine import pairwise
from ...engine.program import Builder, Value
from ...errors import ParameterError
from ...kernel import Kernel
from ...models import Model

__all__ = ["Scored", "finite_value", "model_of"]


class Scored(Kernel):
    """Inner products of features of each point.  Subclasses give the features of validated points."""

    @abstractmethod
    def _features(self, X: Data) -> np.ndarray:
        """Features, one row for each point."""

    def __call__(self, x: Any, y: Any) -> float:
        self._require_resolved()
        with np.errstate(all="ignore"):
            a, b = (self._features(self.domain.validate([point], "x"))[0] for point in (x, y))
            return finite_value(self, float(a @ b))

    def _prepare(self, X: Data) -> np.ndarray:
        return self._features(X)

    def _embedding(self, X: np.ndarray, like: np.ndarray | None = None) -> np.ndarray:
        return X

    def _block(self, X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
        return pairwise.dot(X, Y)

    def _compile(self, b: Builder, X: np.ndarray, Y: np.ndarray | None) -> Value:
        return b.dot(X, Y)

    def _diagonal(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(np.einsum("ij,ij->i", X, X))


def finite_value(kernel: Kernel, value: float) -> float:
    """Return the value unless it overflowed, which is an error."""
    if not math.isfinite(value):
        raise ParameterError(f"{kernel!r} overflows on these points. Scale the data.")
    return value


def model_of(value: Any, kernel: Kernel, name: str, kinds: type | tuple[type, ...] = Model) -> None:
    """Raise unless the parameter is a model of one of the given kinds."""
    if not isinstance(value, kinds):
        known = kinds if isinstance(kinds, tuple) else (kinds,)
        raise ParameterError(
            f"{type(kernel).__name__}: `{name}` must be a {' or '.join(k.__name__ for k in known)} of "
            f"mercer.models. Got {value!r}. Fitted models of scikit-learn and hmmlearn are converted by "
            "mercer.models.as_model."
        )
