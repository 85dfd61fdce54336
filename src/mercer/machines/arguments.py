"""Checks of what ``fit`` is given: targets, weights, penalties, callbacks.

Those of one parameter by itself are in :mod:`mercer.parameters`.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping, MappingView, Sequence, Set
from contextlib import contextmanager
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight

from ..domains import check_numbers
from ..errors import InputError, MercerError, ParameterError, brief
from ..gram import Gram
from ..parameters import check_count, check_number

__all__ = [
    "PENALTY_RANGE",
    "WEIGHT_RANGE",
    "check_callbacks",
    "check_fraction",
    "check_path",
    "check_penalties",
    "check_penalty",
    "check_positive",
    "check_time_budget",
    "check_verbose",
    "naming",
    "read_column",
    "read_targets",
    "read_weight",
    "refuse_large_targets",
    "refuse_large_values",
]

#: Squares of larger targets, summed over the points, overflow.
LARGEST_TARGET = 1e150

#: What the largest weight may be: objectives are of second order in weights, and beyond 1e16 times the
#: penalty rounding takes the penalty away.
WEIGHT_RANGE = (1e-100, 1e20)

#: What a penalty may be: squares and reciprocals of others overflow, at the latest next to kernel values.
PENALTY_RANGE = (1e-100, 1e100)


# -- parameters -----------------------------------------------------------------------------------
check_positive = partial(check_number, requirement="a positive finite number", above=0.0)
check_fraction = partial(check_number, requirement="a number between 0 and 1", above=0.0, below=1.0)
check_time_budget = partial(
    check_number,
    requirement="a number of seconds > 0, or None",
    above=0.0,
    infinite=True,
    unless=(None,),
)


def check_penalty(
    caller: str, name: str, value: Any, requirement: str, *, zero: bool = False, **more: Any
) -> Any:
    """Return a number within the range of penalties, or 0 if there may be none."""
    none = zero and isinstance(value, numbers.Real) and value == 0
    low, high = PENALTY_RANGE
    return check_number(caller, name, value, requirement, least=0.0 if none else low, most=high, **more)


def check_penalties(caller: str, name: str, value: Any) -> None:
    """Raise unless the value is a list of penalties to choose from, or None."""
    if value is None:
        return
    given = np.asarray(value).tolist() if hasattr(value, "__array__") else value
    wanted = "a list of numbers between 1e-100 and 1e100"
    if not isinstance(given, Sequence) or isinstance(given, str | bytes) or len(given) == 0:
        raise ParameterError(f"{caller}: `{name}` must be {wanted}. Got {brief(value)}.")
    for penalty in given:
        check_penalty(caller, name, penalty, wanted)


def check_path(caller: str, name: str, value: Any) -> None:
    """Raise unless the value is the name of a file, or None."""
    if not (value is None or (isinstance(value, str | PathLike) and value)):
        raise ParameterError(f"{caller}: `{name}` must be a path, or None. Got {brief(value)}.")


def check_verbose(caller: str, name: str, value: Any) -> None:
    """Raise unless the value is True, False or, as in scikit-learn, a whole number: there is one level."""
    if not isinstance(value, bool | np.bool_):
        check_count(caller, name, value, "True, False or an integer >= 0", low=0)


def check_callbacks(caller: str, name: str, value: Any) -> None:
    """Raise unless the value is a sequence of functions."""
    if not isinstance(value, Sequence) or isinstance(value, str | bytes) or not all(map(callable, value)):
        raise ParameterError(f"{caller}: `{name}` must be a sequence of callables. Got {brief(value)}.")


# -- data -----------------------------------------------------------------------------------------
@contextmanager
def naming(caller: str, argument: str) -> Iterator[None]:
    """Make what NumPy and scikit-learn say one of our errors, which names the machine and the argument."""
    try:
        yield
    except MercerError:
        raise
    except Exception as error:  # objects that are no numbers may raise anything
        raise InputError(f"{caller}: `{argument}` is not valid. {error}") from error


def read_column(caller: str, argument: str, values: Any) -> Any:
    """Return an array or a table with an entry for each point, in their order; raise if this is none.

    Lists become arrays, of objects if there are numbers beside strings: these are no numbers, and no strings.
    """
    name = f"{caller}: `{argument}`"
    check_numbers(values, name, dense=True)
    if isinstance(values, Mapping | Set | MappingView):
        raise InputError(
            f"{name} must be an array, a list or a column, in the order of the points. Got a "
            f"{type(values).__name__}."
        )
    if isinstance(values, list | tuple):
        with naming(caller, argument):
            array = np.asarray(values)
        text: Any = {"U": str, "S": bytes}.get(array.dtype.kind, object)
        mixed = array.ndim == 1 and not all(isinstance(value, text) for value in values)
        values = np.array(values, dtype=object) if mixed else array
    if getattr(getattr(values, "dtype", None), "kind", "") == "V":  # records; a frame has no dtype
        raise InputError(f"{name} must hold real numbers or labels. Got an array of type {values.dtype}.")
    return values


def read_targets(caller: str, y: Any, n: int | None, *, numeric: bool, missing: bool = False) -> np.ndarray:
    """Return the targets of n points, numbers or labels, as an array of shape (n,) or (n, t), a copy.

    With ``missing``, NaN stands for a number that is not known.
    """
    if y is None:
        raise InputError(f"{caller} requires y to be passed, but the target y is None.")
    given = read_column(caller, "y", y)
    with naming(caller, "y"):
        values = check_array(
            given,
            ensure_2d=False,
            dtype="numeric" if numeric else None,  # which refuses numbers that are written in strings
            input_name="y",
            ensure_all_finite="allow-nan" if missing else True,
        )
        values = np.array(values, dtype=np.float64 if numeric else None)
    if n is not None and len(values) != n:
        raise InputError(
            f"{caller}: X and y must have the same length. Found input variables with inconsistent numbers "
            f"of samples: {[n, len(values)]}."
        )
    if numeric:
        refuse_large_targets(values, caller)
    return values


def refuse_large_targets(values: np.ndarray, caller: str) -> None:
    """Raise if squares of the targets overflow."""
    largest = float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))  # of those that are not NaN
    if largest > LARGEST_TARGET:
        raise InputError(
            f"{caller}: `y` must be between -{LARGEST_TARGET:g} and {LARGEST_TARGET:g}: squares of larger "
            f"numbers overflow. Got one of size {largest:.3g}. Divide y by a constant."
        )


def read_weight(
    caller: str, sample_weight: Any, n: int, largest_within: tuple[float, float] = WEIGHT_RANGE
) -> np.ndarray | None:
    """Return a copy of weights >= 0 of n points, not all zero, the largest within a range; None if None."""
    if sample_weight is None:
        return None
    given = read_column(caller, "sample_weight", sample_weight)
    with naming(caller, "sample_weight"):
        if np.asarray(given).dtype.kind in "US":
            raise InputError(f"{caller}: `sample_weight` must hold real numbers. Got {brief(given)}.")
        weight = np.array(
            _check_sample_weight(given, np.empty((n, 1)), dtype=np.float64, ensure_non_negative=True)
        )
    largest, (low, high) = float(weight.max(initial=0.0)), largest_within
    if largest == 0:
        raise InputError(f"{caller}: `sample_weight` must have at least one positive entry. All are zero.")
    if not low <= largest <= high:
        raise InputError(
            f"{caller}: `sample_weight` must be {'larger' if largest < low else 'smaller'}: the largest "
            f"weight may be between {low:g} and {high:g}. Got {largest:.3g}. Divide all weights by their "
            "largest."
        )
    return weight


def refuse_large_values(G: Gram, caller: str) -> None:
    """Raise if squares of kernel values overflow."""
    largest = float(np.abs(G.diagonal()).max(initial=0.0))
    if largest > LARGEST_TARGET:
        raise InputError(
            f"{caller}: `X` must be smaller: k(x, x) is up to {largest:.3g}, and squares of numbers beyond "
            f"{LARGEST_TARGET:g} overflow. Divide X by a constant, or normalise the kernel."
        )
