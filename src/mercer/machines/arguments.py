"""Checks of constructor arguments that several machines make in ``fit``."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ParameterError

__all__ = ["require_choice", "require_count", "require_number"]


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
