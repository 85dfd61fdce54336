"""Checks of arguments that several machines make in ``fit``."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

from ..domains import check_numbers
from ..errors import InputError, ParameterError
from ..gram import Gram

__all__ = [
    "PENALTY_RANGE",
    "WEIGHT_RANGE",
    "checked_random",
    "checked_weight",
    "is_penalty",
    "naming",
    "refuse_large_targets",
    "refuse_large_values",
    "require_choice",
    "require_count",
    "require_number",
]

#: Squares of larger targets, summed over the points, overflow.
LARGEST_TARGET = 1e150

#: What the largest weight may be: objectives are of second order in weights, and beyond 1e16 times the
#: penalty rounding takes the penalty away.
WEIGHT_RANGE = (1e-100, 1e20)


#: What a penalty may be: squares and reciprocals of others overflow, at the latest next to kernel values.
PENALTY_RANGE = (1e-100, 1e100)


def is_penalty(value: Any) -> bool:
    """Whether a number is within the range of penalties."""
    return bool(PENALTY_RANGE[0] <= value <= PENALTY_RANGE[1])


@contextmanager
def naming(caller: str, argument: str) -> Iterator[None]:
    """Make what scikit-learn's checks say one of our errors, which names the machine and the argument."""
    try:
        yield
    except ValueError as error:
        raise InputError(f"{caller}: `{argument}` is not valid. {error}") from error


def refuse_large_targets(values: np.ndarray, caller: str) -> None:
    """Raise if squares of the targets overflow."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest > LARGEST_TARGET:
        raise InputError(
            f"{caller}: `y` must be between -{LARGEST_TARGET:g} and {LARGEST_TARGET:g}: squares of larger "
            f"numbers overflow. Got one of size {largest:.3g}. Divide y by a constant."
        )


def refuse_large_values(G: Gram, caller: str) -> None:
    """Raise if squares of kernel values overflow."""
    largest = float(np.abs(G.diagonal()).max(initial=0.0))
    if largest > LARGEST_TARGET:
        raise InputError(
            f"{caller}: `X` must be smaller: k(x, x) is up to {largest:.3g}, and squares of numbers beyond "
            f"{LARGEST_TARGET:g} overflow. Divide X by a constant, or normalise the kernel."
        )


def checked_weight(
    sample_weight: Any, n: int, caller: str, largest_within: tuple[float, float] = WEIGHT_RANGE
) -> np.ndarray:
    """Return a copy of weights >= 0 of n points, not all zero, the largest of them within a range."""
    check_numbers(sample_weight, f"{caller}: `sample_weight`", dense=True)
    with naming(caller, "sample_weight"):
        weight = np.array(
            _check_sample_weight(sample_weight, np.empty((n, 1)), dtype=np.float64, ensure_non_negative=True)
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


def require_count(machine: Any, name: str, *, optional: bool = False) -> None:
    """Raise unless a parameter is a whole number >= 1 (or None, where that has a meaning)."""
    value = getattr(machine, name)
    if optional and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        kind = "a whole number >= 1" + (", or None" if optional else "")
        raise ParameterError(f"{type(machine).__name__}: `{name}` must be {kind}. Got {value!r}.")


def require_number(
    machine: Any, name: str, requirement: str, low: float, high: float, *, closed: bool
) -> None:
    """Raise unless a parameter is a number between two others; ``closed`` admits the lower one."""
    value = getattr(machine, name)
    is_real = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    if not is_real or not (low < value < high or (closed and value == low)):
        raise ParameterError(f"{type(machine).__name__}: `{name}` must be {requirement}. Got {value!r}.")


def require_choice(machine: Any, name: str, options: Sequence[Any]) -> None:
    """Raise unless a parameter is one of a few values."""
    value = getattr(machine, name)
    if not any(isinstance(value, type(option)) and value == option for option in options):
        listed = ", ".join(map(repr, options))
        raise ParameterError(f"{type(machine).__name__}: `{name}` must be one of {listed}. Got {value!r}.")


def checked_random(caller: str, random_state: Any) -> np.random.RandomState:
    """Return a source of random numbers, or raise an error that names the argument."""
    try:
        source: np.random.RandomState = check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"{caller}: `random_state` must be None, an integer from 0 to 2^32 - 1 or a NumPy RandomState. "
            f"Got {random_state!r}."
        ) from error
    return source
