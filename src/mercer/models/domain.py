"""Distributions as points: histograms, or models of one kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arithmetic import Arithmetic
from ..domains import NONNEGATIVE, Data, Domain, Region, Vectors, size
from ..errors import InputError
from .base import Model
from .multinomial import Multinomial

__all__ = ["Distributions", "ModelBatch"]


@dataclass(frozen=True, eq=False)
class ModelBatch:
    """Validated models of one class.

    Attributes
    ----------
    kind : type
        The class.
    models : tuple of Model
    logs : array of shape (n,)
        Logarithms of factors of the densities; 0 unless a kernel has scaled them.
    """

    kind: type
    models: tuple[Any, ...]
    logs: np.ndarray

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.models)

    def take(self, index: slice | np.ndarray) -> ModelBatch:
        """Select models."""
        chosen = np.arange(len(self.models))[index]
        return ModelBatch(self.kind, tuple(self.models[i] for i in chosen), self.logs[index])


@dataclass(frozen=True)
class Distributions(Vectors):
    """Histograms, the rows of an array or of a sparse matrix; or models of one class.

    A :class:`Multinomial` is the histogram of its probabilities.
    """

    region: Region = field(default=NONNEGATIVE)

    def is_table(self, X: Any) -> bool:
        sequence = isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype == object)
        models = sequence and len(X) > 0 and isinstance(X[0], Model)
        return not (isinstance(X, ModelBatch) or models)

    def validate(self, X: Any, name: str = "X") -> Data:
        if isinstance(X, ModelBatch):
            return X
        if self.is_table(X):
            first = X[0] if isinstance(X, list | tuple) and len(X) else None
            if hasattr(first, "fit") and not hasattr(first, "__array__"):
                raise InputError(
                    f"{name} must hold histograms or models of mercer.models. Got a {type(first).__name__} "
                    f"in {name}[0]: fitted models of scikit-learn and hmmlearn are converted by "
                    "mercer.models.as_model."
                )
            return super().validate(X, name)
        kinds = [type(model) for model in X]
        other = next((i for i, kind in enumerate(kinds) if kind is not kinds[0]), None)
        if other is not None:
            raise InputError(
                f"{name} must hold models of one class. Got a {kinds[0].__name__} in {name}[0] and a "
                f"{kinds[other].__name__} in {name}[{other}]."
            )
        if kinds[0] is Multinomial:
            sizes = [len(model.p) for model in X]
            other = next((i for i, k in enumerate(sizes) if k != sizes[0]), None)
            if other is not None:
                raise InputError(
                    f"{name} must hold Multinomial of as many outcomes. Got {sizes[0]} in {name}[0] and "
                    f"{sizes[other]} in {name}[{other}]."
                )
            return super().validate(np.array([model.p for model in X]), name)
        batch = ModelBatch(kinds[0], tuple(X), np.zeros(len(X)))
        for i, model in enumerate(batch):
            _require_comparable(batch.models[0], model, f"{name}[0]", f"{name}[{i}]")
        return batch

    def point(self, x: Any, name: str = "x") -> Any:
        if not isinstance(x, Model):
            return super().point(x, name)
        return x.p if isinstance(x, Multinomial) else x

    def pair(self, x: Any, y: Any) -> tuple[Any, Any]:
        a, b = self.point(x, "x"), self.point(y, "y")
        if not isinstance(a, Model) and not isinstance(b, Model):
            return super().pair(a, b)
        if type(a) is not type(b):
            raise InputError(
                f"x and y must be models of one class. Got {type(x).__name__} and {type(y).__name__}."
            )
        _require_comparable(a, b, "x", "y")
        return a, b

    def match(self, X: Data, Y: Data | None) -> None:
        if not isinstance(X, ModelBatch) and not isinstance(Y, ModelBatch):
            super().match(X, Y)
        elif Y is not None and size(X) and size(Y):
            kinds = [Z.kind.__name__ if isinstance(Z, ModelBatch) else "histograms" for Z in (X, Y)]
            if kinds[0] != kinds[1]:
                raise InputError(f"X and Y must hold models of one class. Got {kinds[0]} and {kinds[1]}.")
            _require_comparable(X.models[0], Y.models[0], "X[0]", "Y[0]")

    def comparable(self, points: Data) -> Domain:
        return self if isinstance(points, Model | ModelBatch) else super().comparable(points)

    def to_arithmetic(self, x: Any, numbers: Arithmetic) -> Any:
        return x if isinstance(x, Model) else super().to_arithmetic(x, numbers)

    def _digests(self, X: Data) -> list[str]:
        return [x.digest() for x in X] if isinstance(X, ModelBatch) else super()._digests(X)

    def _meet(self, other: Domain) -> Domain | None:
        if isinstance(other, Distributions):
            return super()._meet(other)
        return Vectors(self.dim, self.region, self.dense)._meet(other)

    def __str__(self) -> str:
        return "histograms or models"


def _require_comparable(a: Any, b: Any, here: str, there: str) -> None:
    """Raise unless two models of one class describe the same kind of observations."""
    one, two = (_observations(model) for model in (a, b))
    if one != two:
        raise InputError(f"{here} and {there} must be models of the same observations. Got {one} and {two}.")


def _observations(model: Any) -> str:
    """What a model describes; symbols may come from different alphabets."""
    domain = model.domain
    if isinstance(domain, Vectors):
        return f"vectors of dimension {domain.dim}"
    channels = getattr(domain, "channels", None)
    return "sequences of symbols" if channels is None else f"series of {channels} channel(s)"
