"""Labels of classifiers, validated in one place."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ..errors import InputError
from .base import KernelMachine

__all__ = ["validate_labels"]


def validate_labels(machine: KernelMachine, y: Any, n: int) -> NDArray[Any]:
    """Return the labels of n points as an array of shape (n,), of a type that can be sorted.

    Numbers, strings, bytes and booleans are labels, also in arrays of objects, if all are of one kind;
    numbers with fractions are refused.  A column is taken as a row, with scikit-learn's warning.
    """
    labels = machine._validate_targets(y, n, numeric=False)
    name = type(machine).__name__
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = np.asarray(column_or_1d(labels, warn=True))
    if labels.ndim != 1:
        check_classification_targets(labels)  # has better words for sets of labels
        raise InputError(f"{name}: `y` must hold one label per point. Got shape {labels.shape}.")
    if labels.dtype == object:
        labels = _unwrapped(labels, name)
    if labels.dtype.kind == "f":
        check_classification_targets(labels)
    return labels


def _unwrapped(labels: NDArray[Any], name: str) -> NDArray[Any]:
    """Numbers, or strings, in disguise.

    Of a mixture NumPy would make strings, and predictions would not be among the labels that came.
    """
    values = labels.tolist()
    if not any(all(isinstance(v, kind) for v in values) for kind in (str, bytes, numbers.Real | np.bool_)):
        kinds = ", ".join(sorted({type(v).__name__ for v in values}))
        raise InputError(
            f"{name}: `y` must hold labels of one kind: numbers, strings, bytes or booleans. Got {kinds}. "
            "Unknown label type."
        )
    return np.array(values)
