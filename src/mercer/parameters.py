"""Parameters of kernels: declared once per class, with range, scale and data-dependent rules.

A kernel declares its parameters as annotated class attributes::

    class Gaussian(Kernel):
        sigma: Width = parameter(default=1.0, low=0.0, open_low=True, scale="log", rules=("median", "scale"))

and gets a constructor, validation, ``repr``, equality, ``get_params`` and ``replace`` from it.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse

from .errors import ParameterError

__all__ = ["Parameter", "Spec", "canonical", "identity", "is_rule", "parameter", "show"]

Scale = Literal["log", "linear"]


@dataclass(frozen=True)
class Spec:
    """What a parameter may be."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    scale: Scale | None = None
    integer: bool = False
    ndim: tuple[int, ...] = (0,)
    rules: tuple[str, ...] = ()
    choices: tuple[Any, ...] = ()

    def check(self, owner: str, name: str, value: Any) -> None:
        """Raise :class:`~mercer.errors.ParameterError` unless ``value`` is allowed."""
        if self.choices:
            if not any(type(value) is not np.ndarray and bool(value == choice) for choice in self.choices):
                options = ", ".join(map(repr, self.choices))
                raise ParameterError(f"{owner}: `{name}` must be one of {options}. Got {value!r}.")
            return
        if isinstance(value, str) and value in self.rules:
            return
        try:
            array = np.asarray(value)
        except ValueError:  # a ragged list
            array = np.asarray(None)
        numeric = array.dtype.kind in "iuf" and array.ndim in self.ndim and np.isfinite(array).all()
        if numeric and self.integer:
            numeric = array.dtype.kind in "iu"
        if not (numeric and self._contains(array)):
            raise ParameterError(f"{owner}: `{name}` must be {self._requirement()}. Got {value!r}.")

    def _contains(self, value: np.ndarray) -> bool:
        above = value > self.low if self.open_low else value >= self.low
        below = value < self.high if self.open_high else value <= self.high
        return bool(np.all(above & below))

    def _requirement(self) -> str:
        kind = "an integer" if self.integer else "a finite number"
        if 1 in self.ndim:
            kind += " or a vector"
        if 2 in self.ndim:
            kind = "a matrix"
        bounds = []
        if self.low > -math.inf:
            bounds.append(f"{'>' if self.open_low else '>='} {self.low:g}")
        if self.high < math.inf:
            bounds.append(f"{'<' if self.open_high else '<='} {self.high:g}")
        text = kind + (" " + " and ".join(bounds) if bounds else "")
        return text + "".join(f" or {rule!r}" for rule in self.rules)


def parameter(
    default: Any = dataclasses.MISSING,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
    scale: Scale | None = None,
    integer: bool = False,
    ndim: tuple[int, ...] = (0,),
    rules: tuple[str, ...] = (),
    choices: tuple[Any, ...] = (),
    kw_only: bool = False,
) -> Any:
    """Declare a numeric parameter of a kernel.

    Parameters
    ----------
    default : value, optional
        Without it the parameter is required.
    low, high, open_low, open_high :
        Range; by default every finite number.
    scale : {"log", "linear"}, optional
        How an optimiser should move it; ``None`` marks a parameter that is not tuned continuously.
    integer : bool
        Whether it is a whole number.
    ndim : tuple of int
        Numbers of dimensions accepted: ``(0,)`` a number, ``(0, 1)`` a number or a vector.
    rules : tuple of str
        Names of data-dependent values, resolved by ``kernel.resolve(X)``.
    choices : tuple
        The only values allowed, for parameters that are not numbers.
    kw_only : bool
        Whether the constructor takes it by keyword only.
    """
    spec = Spec(low, high, open_low, open_high, scale, integer, ndim, rules, choices)
    return dataclasses.field(default=default, kw_only=kw_only, metadata={"mercer": spec})


@dataclass(frozen=True)
class Parameter:
    """A free parameter of a kernel expression: its value, range and scale."""

    value: float | np.ndarray | str
    low: float
    high: float
    scale: Scale


def is_rule(value: Any, spec: Spec | None) -> bool:
    """Whether the value still waits for data."""
    return spec is not None and isinstance(value, str) and value in spec.rules


def canonical(value: Any, spec: Spec | None = None) -> Any:
    """Store NumPy scalars as Python numbers, and arrays (and nested number lists) as read-only copies.

    What a kernel holds must not change under it: lists become tuples, sets frozensets, and dicts are
    copied into read-only ones.
    """
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, numbers.Integral):
        return int(value) if spec is None or spec.integer else float(value)
    if isinstance(value, numbers.Real) and not isinstance(value, float):
        return float(value)
    if isinstance(value, np.ndarray) or (spec is not None and isinstance(value, list | tuple)):
        array = np.array(value)
        if spec is not None and array.dtype.kind not in "iufO":
            raise TypeError("not an array of real numbers")
        if spec is not None and not (spec.integer and array.dtype.kind in "iu"):
            array = array.astype(np.float64)
        array.flags.writeable = False
        return array
    if isinstance(value, list) or type(value) is tuple:
        return tuple(canonical(v) for v in value)
    if isinstance(value, set):
        return frozenset(value)
    if isinstance(value, dict) and not isinstance(value, FrozenDict) and not scipy.sparse.issparse(value):
        return FrozenDict({k: canonical(v) for k, v in value.items()})
    return value


class FrozenDict(dict[Any, Any]):
    """A dict that refuses changes."""

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("the parameters of a kernel cannot be changed; make another with kernel.replace(...)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


def identity(value: Any) -> Any:
    """Return a hashable stand-in for a stored value, equal exactly when the values are."""
    if isinstance(value, np.ndarray):
        return ("array", value.shape, value.dtype.str, value.tobytes())
    if isinstance(value, tuple):
        return tuple(identity(v) for v in value)
    if isinstance(value, dict):
        return ("dict", frozenset((k, identity(v)) for k, v in value.items()))
    return (type(value).__name__, value) if isinstance(value, bool | int | float) else value


def show(value: Any) -> str:
    """``repr`` of a stored value that evaluates back to an equal one (arrays as lists)."""
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    if isinstance(value, tuple):
        inner = ", ".join(map(show, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{show(k)}: {show(v)}" for k, v in value.items()) + "}"
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    return repr(value)
