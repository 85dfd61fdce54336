"""What classifiers share: labels of any type, and weights of points and classes."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ..errors import InputError, ParameterError
from .arguments import WEIGHT_RANGE
from .base import KernelMachine

__all__ = ["Labelled", "unwrapped", "validate_labels"]

Vector = NDArray[np.float64]


def validate_labels(machine: KernelMachine, y: Any, n: int) -> NDArray[Any]:
    """Return the labels of n points as an array of shape (n,), of a type that can be sorted.

    Numbers, strings, bytes and booleans are labels, also in arrays of objects (which they stay), if all are
    of one kind; numbers with fractions are refused.  A column is taken as a row, with scikit-learn's warning.
    """
    labels = machine._validate_targets(y, n, numeric=False)
    name = type(machine).__name__
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = np.asarray(column_or_1d(labels, warn=True))
    if labels.ndim != 1:
        check_classification_targets(labels)  # has better words for sets of labels
        raise InputError(f"{name}: `y` must hold one label per point. Got shape {labels.shape}.")
    plain = unwrapped(labels, name)
    if plain.dtype.kind == "f":
        check_classification_targets(plain)
    return labels


def unwrapped(labels: NDArray[Any], name: str) -> NDArray[Any]:
    """The numbers, strings, bytes or booleans of an array of objects, as an array of their own type.

    Of a mixture NumPy would make strings; it is refused, because it has no order.
    """
    if labels.dtype != object:
        return labels
    values = labels.tolist()
    if not any(all(isinstance(v, kind) for v in values) for kind in (str, bytes, numbers.Real | np.bool_)):
        kinds = ", ".join(sorted({type(v).__name__ for v in values}))
        raise InputError(
            f"{name}: `y` must hold labels of one kind: numbers, strings, bytes or booleans. Got {kinds}. "
            "Unknown label type."
        )
    return np.array(values)


class Labelled(KernelMachine):
    """A machine whose targets are labels; sets ``classes_`` and ``class_weight_``."""

    class_weight: dict[Any, float] | Literal["balanced"] | None

    def _encode(self, y: Any, n: int) -> NDArray[np.intp]:
        """Set the classes; return the position of each label among them."""
        labels = validate_labels(self, y, n)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        return np.asarray(codes, dtype=np.intp)

    def _check_classes(self, codes: NDArray[np.intp]) -> None:
        present = len(np.unique(codes))
        if len(self.classes_) < 2 or present < len(self.classes_):
            where = "" if present == len(self.classes_) else " of positive weight"
            raise InputError(
                f"{type(self).__name__}: the number of classes has to be greater than one, each with a "
                f"point; got {present} class{'es' * (present != 1)}{where} of {len(self.classes_)}."
            )

    def _class_weighted(self, codes: NDArray[np.intp], weight: Vector | None) -> Vector | None:
        """Weights of points and of their classes together."""
        count = len(self.classes_)
        if self.class_weight is None:
            factors = np.ones(count)
        elif isinstance(self.class_weight, str) and self.class_weight == "balanced":
            sums = np.bincount(codes, weight, count)
            factors = sums.sum() / (count * np.where(sums > 0, sums, 1.0))
        elif isinstance(self.class_weight, Mapping):
            factors = self._factors(self.class_weight)
        else:
            raise ParameterError(
                f"{type(self).__name__}: `class_weight` must be 'balanced', a dict from labels to factors, "
                f"or None. Got {self.class_weight!r}."
            )
        self.class_weight_ = factors
        if weight is None and (factors == 1).all():
            return None
        return np.asarray(factors[codes] * (1.0 if weight is None else weight))

    def _factors(self, wanted: Mapping[Any, float]) -> Vector:
        factors = np.ones(len(self.classes_))
        for label, factor in wanted.items():
            found = np.flatnonzero(self.classes_ == label)
            if not len(found):
                raise ParameterError(
                    f"{type(self).__name__}: `class_weight` names the class {label!r}, which is not in y. "
                    f"The classes in y: {list(self.classes_)}."
                )
            factors[found[0]] = self._require(
                "class_weight", factor, lambda v: 0 <= v <= WEIGHT_RANGE[1], "numbers >= 0, up to 1e20"
            )
        return factors
