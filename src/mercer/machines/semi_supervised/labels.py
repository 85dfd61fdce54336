"""Labels of which some are missing, in scikit-learn's convention: -1 stands for "not known"."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ...errors import InputError
from ..arguments import naming
from ..labels import require_classes, unwrapped

__all__ = ["PartialLabels", "partial_labels"]


class PartialLabels(NamedTuple):
    """Classes, and for each point its position among them, or -1."""

    classes: NDArray[Any]
    codes: NDArray[np.intp]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which points have a label."""
        return self.codes >= 0

    def weighted(self, caller: str, kept: NDArray[np.intp]) -> PartialLabels:
        """Those of the points of positive weight, of two or more classes; classes without one are absent."""
        codes = self.codes[kept]
        known = codes >= 0
        present, own = np.unique(codes[known], return_inverse=True)
        require_classes(caller, self.classes[present], len(kept), weighted=len(kept) < len(self.codes))
        result = np.full(len(kept), -1, dtype=np.intp)
        result[known] = own
        return PartialLabels(self.classes[present], result)

    def indicators(self) -> NDArray[np.float64]:
        """One column per class, 1 for its points; rows of zeros for points without a label."""
        return np.asarray(self.codes[:, None] == np.arange(len(self.classes)), dtype=np.float64)


def partial_labels(caller: str, labels: NDArray[Any]) -> PartialLabels:
    """Read labels in which -1 marks points without one.

    An array of strings has no place for the number -1: give it ``dtype=object`` then.  The string ``"-1"``
    is refused, for it is most likely a -1 that NumPy has turned into text.
    """
    with naming(caller, "y"):
        labels = column_or_1d(labels, warn=True)
    if labels.dtype.kind in "US":
        if np.isin(labels.astype(str), "-1").any():
            raise InputError(
                f"{caller}: y holds the string '-1'. To mark points without a label among strings, use an "
                "array of dtype object with the number -1."
            )
        missing = np.zeros(len(labels), dtype=bool)
    elif labels.dtype == object:
        missing = np.array([isinstance(v, numbers.Real) and v == -1 for v in labels], dtype=bool)
    else:
        missing = np.asarray(labels == -1)
    present = labels[~missing]
    if not len(present):
        raise InputError(f"{caller}: y must have labelled points. All are -1, which stands for 'not known'.")
    plain = unwrapped(present, caller)
    if plain.dtype.kind == "f":
        with naming(caller, "y"):
            check_classification_targets(plain)
    classes, codes = np.unique(present, return_inverse=True)
    result = np.full(len(labels), -1, dtype=np.intp)
    result[~missing] = codes
    return PartialLabels(classes, result)
