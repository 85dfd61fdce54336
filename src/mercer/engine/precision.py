"""Whether the values of a kernel are in single or in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.domains import Data, Prepared, size, take
from mercer.engine.builder import Builder, Describes
from mercer.engine.points import DOUBLE, SINGLE
from mercer.engine.threads import user_code

__all__ = ["dtype_of"]


def dtype_of(k: Describes, X: Data, Y: Data | None, known: dict[Any, np.dtype[Any]]) -> np.dtype[Any]:
    """Type of the values of a kernel on prepared data.

    No value is computed to know it, except without steps of the engine for data that are no arrays in
    float64: then that of one pair.  For arrays ``known`` keeps it, by container and number of columns.
    """
    sides = (X,) if Y is None else (X, Y)
    if any(size(A) == 0 or _is_double(A) for A in sides):
        return DOUBLE
    kind = (
        frozenset((type(A), A.shape[1:]) for A in sides) if all(hasattr(A, "dtype") for A in sides) else None
    )
    if kind in known:
        return known[kind]
    x, y = take(X, slice(0, 1)), take(sides[-1], slice(0, 1))
    b = Builder(1, 1, False)
    with np.errstate(all="ignore"), user_code():
        value = k._compile(b, x, y)
        dtype = k._block(x, y).dtype if value is None else b.dtypes[value]
    dtype = SINGLE if dtype == SINGLE else DOUBLE
    if kind is not None:
        known[kind] = dtype
    return dtype


def _is_double(data: Data) -> bool:
    """Whether prepared data are known to hold no numbers in single precision."""
    if isinstance(data, Prepared):
        return all(map(_is_double, (*data.parts, *data.arrays)))
    return hasattr(data, "dtype") and data.dtype != SINGLE
