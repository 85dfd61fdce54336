"""The splits of a search, checked before any work."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from ...errors import InputError, ParameterError, brief, warn
from .evaluation import Split

__all__ = ["splits_of"]


def splits_of(
    cv: Any, machine: Any, X: Any, y: Any, groups: Any, weight: np.ndarray | None, n: int, caller: str
) -> list[Split]:
    """Positions of the training and test points of each split.

    As in scikit-learn, an integer is a number of folds, which are stratified for classifiers.  ``"loo"`` is
    one split whose test points are the training points, those of positive weight.
    """
    if isinstance(cv, str):
        if cv != "loo":
            raise ParameterError(
                f"{caller}: `cv` must be a number of folds, a splitter, a list of splits or 'loo'. "
                f"Got {brief(cv)}."
            )
        rows = np.arange(n) if weight is None else np.flatnonzero(weight)
        return [Split(rows, rows)]
    try:
        splitter = check_cv(cv, y, classifier=is_classifier(machine))
        found = [Split(*(_positions(part, n) for part in pair)) for pair in splitter.split(X, y, groups)]
    except Exception as error:  # of a splitter of the user
        raise ParameterError(f"{caller}: `cv={brief(cv)}` does not split these data. {error}") from error
    if not found:
        raise ParameterError(f"{caller}: `cv` must give at least one split. Got none from {brief(cv)}.")
    for number, split in enumerate(found):
        for part, rows in zip(("training", "test"), split, strict=True):
            if len(rows) == 0:
                raise ParameterError(f"{caller}: `cv` gives no {part} points in split {number}.")
        if is_classifier(machine) and y is not None:
            _check_classes(np.asarray(y), split, number, caller)
    return found


def _positions(part: Any, n: int) -> np.ndarray:
    index = np.asarray(part)
    index = np.flatnonzero(index) if index.dtype == bool else index.astype(np.intp)
    if len(index) and not -n <= index.min() <= index.max() < n:
        raise ValueError(f"A position is not below the number of points, {n}.")
    return index % max(n, 1)


def _check_classes(y: np.ndarray, split: Split, number: int, caller: str) -> None:
    """Raise if the training points of a split are of one class; warn if they lack one."""
    every, present = np.unique(y), np.unique(y[split.train])
    if len(every) < 2:
        raise InputError(
            f"{caller}: `y` must have at least two classes. The number of classes has to be greater than "
            f"one; got {len(every)} class."
        )
    if len(present) == len(every):
        return
    missing = ", ".join(repr(c) for c in np.setdiff1d(every, present)[:5].tolist())
    message = f"{caller}: the training points of split {number} have no point of class {missing}."
    if len(present) < 2:
        raise InputError(f"{message} Shuffle the points, or stratify: StratifiedKFold(5, shuffle=True).")
    warn(f"{message} Models of this split cannot predict it.", UserWarning)
