"""What classifiers share: labels of any type, and weights of points and classes."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from .. import memory
from ..errors import InputError, ParameterError, brief
from ..parameters import check_number
from .arguments import WEIGHT_RANGE, naming, read_targets
from .base import KernelMachine

__all__ = [
    "WeightedLabels",
    "class_factors",
    "read_labels",
    "require_classes",
    "unwrapped",
    "validate_labels",
]

Vector = NDArray[np.float64]


def validate_labels(machine: KernelMachine, y: Any, n: int) -> NDArray[Any]:
    """Return the labels of n points as an array of shape (n,), of a type that can be sorted.

    Numbers, strings, bytes and booleans are labels, also in arrays of objects (which they stay), if all are
    of one kind; numbers with fractions are refused.  A column is taken as a row, with scikit-learn's warning.
    """
    name = type(machine).__name__
    labels = read_targets(name, y, n, numeric=False)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = np.asarray(column_or_1d(labels, warn=True))
    if labels.ndim != 1:
        with naming(name, "y"):
            check_classification_targets(labels)  # has better words for sets of labels
        raise InputError(f"{name}: `y` must hold one label per point. Got shape {labels.shape}.")
    plain = unwrapped(labels, name)
    if plain.dtype.kind == "f":
        with naming(name, "y"):
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


class WeightedLabels(NamedTuple):
    """Labels of the points of positive weight: the others are as if absent, and so are their classes."""

    classes: NDArray[Any]
    factors: Vector  # weights of the classes
    kept: NDArray[np.intp]  # positions of the points in the input
    codes: NDArray[np.intp]  # positions of their labels among the classes
    weight: Vector | None  # of points and of their classes together; None if all are 1


def read_labels(
    machine: KernelMachine, y: Any, n: int, weight: Vector | None = None, class_weight: Any = None
) -> WeightedLabels:
    """Read the labels of n points with weights, of two or more classes of positive weight.

    ``class_weight`` has a factor for each class: a dict, in which 1 is the default, or ``"balanced"``, by
    which all classes have the same weight, or None.
    """
    labels = validate_labels(machine, y, n)
    classes, codes = np.unique(labels, return_inverse=True)
    own = np.ones(n) if weight is None else weight
    sums = np.asarray(np.bincount(codes, own, len(classes)), dtype=np.float64)
    factors = class_factors(machine, class_weight, classes, sums)
    own = factors[codes] * own
    kept = np.flatnonzero(own)
    present, codes = np.unique(codes[kept], return_inverse=True)
    is_plain = weight is None and bool((factors == 1).all())
    require_classes(type(machine).__name__, classes[present], len(kept), weighted=not is_plain)
    codes = np.asarray(codes, dtype=np.intp)
    return WeightedLabels(classes[present], factors[present], kept, codes, None if is_plain else own[kept])


def require_classes(
    caller: str, classes: NDArray[Any], n: int, *, weighted: bool = False, argument: str = "y"
) -> None:
    """Raise unless there are two classes or more, and memory for a number per class and point."""
    count = len(classes)
    if count < 2:
        which = " of positive weight" if weighted else ""
        found = f"one class only, {classes.tolist()[0]!r}" if count else "none: all weights are zero"
        raise InputError(f"{caller}: `{argument}` must hold at least two classes{which}. Got {found}.")
    if count == 2:  # one function separates them
        return
    # arrays with a number per class and point that a classifier holds at least: codes, coefficients, values
    memory.require(
        8.0 * 3 * n * count,
        f"{caller}: `{argument}` holds {count:,} classes. A number for each of them at each of {n:,} points",
        "If these are quantities, use a regression; else group the classes.",
    )


def class_factors(machine: KernelMachine, class_weight: Any, classes: NDArray[Any], sums: Vector) -> Vector:
    """Weight of each class, given the sums of the weights of its points."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        present = sums > 0
        return np.asarray(present * sums.sum() / (present.sum() * np.where(present, sums, 1.0)))
    if not isinstance(class_weight, Mapping):
        raise ParameterError(
            f"{type(machine).__name__}: `class_weight` must be 'balanced', a dict from labels to factors, "
            f"or None. Got {brief(class_weight)}."
        )
    name, wanted = type(machine).__name__, "numbers >= 0, up to 1e20"
    factors, place = np.ones(len(classes)), {known: i for i, known in enumerate(classes.tolist())}
    for label, factor in class_weight.items():
        if label not in place:
            raise ParameterError(
                f"{name}: `class_weight` names the class {brief(label)}, which is not in y. The classes in "
                f"y: {brief(list(classes))}."
            )
        factors[place[label]] = check_number(
            name, "class_weight", factor, wanted, least=0.0, most=WEIGHT_RANGE[1]
        )
    return factors
