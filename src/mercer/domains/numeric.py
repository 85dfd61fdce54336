"""What a conversion to an array of floats would hide, and is refused before it."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse

from ..errors import InputError
from .containers import frame_of, refuse_iterator, refuse_masked
from .dates import AS_NUMBERS, DATES
from .sparse import check_sparse

__all__ = ["check_numbers"]


def check_numbers(X: Any, name: str, *, dense: bool = False) -> None:
    """Raise if numbers, or labels, hold what a conversion to an array would take for something else.

    That is: masked entries, dates and times, imaginary parts, several columns of one name, indices of a
    sparse matrix that lie outside; and what can be read only once, or not before it is collected.

    Parameters
    ----------
    X : array, sparse matrix, frame, column or list
    name : str
        Name of the argument, for errors.
    dense : bool
        Whether sparse matrices are refused.
    """
    if type(X) is np.ndarray and X.dtype.kind in "fiub":
        return
    refuse_iterator(X, name)
    if scipy.sparse.issparse(X):
        check_sparse(X, name)
        if dense:
            raise InputError(f"{name} must be dense. Got a sparse matrix of shape {X.shape}. Use .toarray().")
    elif isinstance(X, list | tuple):
        _check_values(X, name)
    elif isinstance(X, np.ndarray) or (frame := frame_of(X, name)) is None:
        _check_array(X, name)
    else:
        for column, kind in frame.schema.items():
            if kind in (nw.Datetime, nw.Date, nw.Duration, nw.Time):
                raise InputError(f"{name} must hold numbers. Got dates in column {column!r}. {AS_NUMBERS}")
            if kind in (nw.Object, nw.Unknown):
                _check_array(frame[column].to_numpy(), f"{name}[{column!r}]")


def _check_array(X: Any, name: str) -> None:
    refuse_masked(X, name)
    array = np.asarray(X)
    if array.dtype.kind == "c":
        raise _complex(name)
    if array.dtype.kind in "mM":
        raise InputError(f"{name} must hold numbers. Got an array of type {array.dtype}. {AS_NUMBERS}")
    if array.dtype.kind == "O":
        _check_values(array.ravel().tolist(), name)


def _check_values(values: Collection[Any], name: str) -> None:
    """Check the entries of a list, by their types: there are few of these."""
    kinds = set(map(type, values))
    for kind in kinds:
        if issubclass(kind, complex | np.complexfloating):
            raise _complex(name)
        if issubclass(kind, DATES):
            raise InputError(f"{name} must hold numbers. Got a {kind.__name__}. {AS_NUMBERS}")
    if any(issubclass(kind, list | tuple) for kind in kinds):
        _check_values([*chain.from_iterable(v for v in values if isinstance(v, list | tuple))], name)
    if any(map(_is_array, kinds)):
        for value in values:
            if _is_array(type(value)):
                _check_array(value, name)


def _is_array(kind: type) -> bool:
    return hasattr(kind, "__array__") and not issubclass(kind, np.generic)


def _complex(name: str) -> InputError:
    return InputError(
        f"{name} must be real. Got complex numbers. Complex data not supported. Pass their real and "
        "imaginary parts side by side."
    )
