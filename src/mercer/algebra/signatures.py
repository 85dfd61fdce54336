"""Parameters of a user's function: its arguments behind the two points, as a kernel declares them."""

from __future__ import annotations

import dataclasses
import inspect
import numbers
from collections.abc import Callable
from typing import Any

from ..errors import ParameterError
from ..kernel import Kernel
from ..parameters import parameter

__all__ = ["fields_of", "require_accepts"]

#: Defaults that make an argument a parameter of the kernel; others, such as a dict that the function uses
#: as a memory, stay its own affair.
_VALUES = (numbers.Real, str, tuple, type(None), dataclasses.Field)


def fields_of(function: Callable[..., Any], taken: type[Kernel]) -> dict[str, Any]:
    """Declarations of the parameters of ``function(x, y, *, decay=1.0)`` by name.

    A positive float is a positive parameter that is tuned on a logarithmic scale, a whole number stays whole,
    any other number is any finite number; ``decay=parameter(1.0, low=0.0, high=1.0)`` says it otherwise.
    Names must differ from the attributes of the class ``taken``.
    """
    found: dict[str, Any] = {}
    try:
        arguments = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # functions of other languages do not tell
        return found
    points = [a for a in arguments if a.kind in (a.POSITIONAL_ONLY, a.POSITIONAL_OR_KEYWORD)][:2]
    for argument in arguments:
        if argument in points:
            continue
        name, default = argument.name, argument.default
        if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            continue
        if default is argument.empty or (
            isinstance(default, dataclasses.Field) and default.default is dataclasses.MISSING
        ):
            raise ParameterError(
                f"kernel: the argument `{name}` of {_name(function)} must have a default value, such as "
                f"{name}=1.0: the first two arguments are the points, the others parameters."
            )
        if not isinstance(default, _VALUES) or name.startswith("_"):
            continue
        if hasattr(taken, name):
            raise ParameterError(
                f"kernel: the argument `{name}` of {_name(function)} must have another name: every kernel "
                f"has an attribute `{name}`."
            )
        found[name] = _declaration(default)
    return found


def _declaration(default: Any) -> Any:
    if isinstance(default, dataclasses.Field):  # a declaration belongs to one class: this is a copy
        return dataclasses.field(default=default.default, kw_only=True, metadata=default.metadata)
    if isinstance(default, bool) or not isinstance(default, numbers.Real):
        return dataclasses.field(default=default, kw_only=True)
    if isinstance(default, numbers.Integral):
        return parameter(default, integer=True, kw_only=True)
    if float(default) > 0:
        return parameter(default, low=0.0, open_low=True, scale="log", kw_only=True)
    return parameter(default, kw_only=True)


def require_accepts(block: Callable[..., Any] | None, function: Callable[..., Any], names: Any) -> None:
    """Raise unless a block function takes the parameters of the function that it computes many values of."""
    if block is None or not names:
        return
    try:
        arguments = inspect.signature(block).parameters.values()
    except (TypeError, ValueError):
        return
    known = {a.name for a in arguments}
    missing = [name for name in names if name not in known]
    if missing and not any(a.kind is a.VAR_KEYWORD for a in arguments):
        raise ParameterError(
            f"kernel: `block` must take the parameters of {_name(function)} as keyword arguments. "
            f"{_name(block)} lacks {', '.join(missing)}."
        )


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", type(function).__name__)
