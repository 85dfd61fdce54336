"""Selections of rows: what a user may pass, brought to a slice or an array of positions."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..errors import InputError

__all__ = ["Selection", "all_of", "length", "positions", "select"]

#: A slice with step 1 and explicit ends, or an array of positions.
Selection: TypeAlias = slice | np.ndarray


def all_of(n: int) -> slice:
    """Select everything."""
    return slice(0, n)


def length(selection: Selection) -> int:
    """Count what is selected."""
    return selection.stop - selection.start if isinstance(selection, slice) else len(selection)


def positions(selection: Selection) -> np.ndarray:
    """Selected positions as an array."""
    return np.arange(selection.start, selection.stop) if isinstance(selection, slice) else selection


def select(index: Any, n: int, name: str) -> Selection:
    """Bring an int, slice, array of positions or boolean mask to a :data:`Selection` of ``n`` things."""
    if isinstance(index, slice):
        start, stop, step = index.indices(n)
        return slice(start, max(start, stop)) if step == 1 else np.arange(start, stop, step)
    array = np.asarray(index)
    if array.size == 0 and array.ndim == 1:
        array = array.astype(np.intp)
    if array.dtype == bool:
        if array.shape != (n,):
            raise InputError(f"block: a mask for `{name}` must have length {n}. Got shape {array.shape}.")
        return np.flatnonzero(array)
    if array.dtype.kind not in "iu" or array.ndim > 1:
        raise InputError(
            f"block: `{name}` must be an int, a slice, an array of positions or a mask. Got {index!r}."
        )
    array = np.atleast_1d(array).astype(np.intp)
    if array.size and (array.min() < -n or array.max() >= n):
        raise InputError(f"block: `{name}` must be positions below {n}. Got {index!r}.")
    return np.where(array < 0, array + n, array)
