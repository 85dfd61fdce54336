"""Parameters: of kernels, declared once per class; of estimators and functions, checked in one way.

A kernel declares its parameters as annotated class attributes::

    class Gaussian(Kernel):
        sigma: Width = parameter(default=1.0, low=0.0, open_low=True, scale="log", rules=("median", "scale"))

and gets a constructor, validation, ``repr``, equality, ``get_params`` and ``replace`` from it.

An estimator has a constructor as scikit-learn wants it, and declares what ``fit`` has to check::

    class SVR(...):
        _checks = {"epsilon": partial(check_number, requirement="a number >= 0", least=0.0, below=np.inf)}

:func:`check_arguments` reads it.  Functions call :func:`check_flag`, :func:`check_choice`,
:func:`check_count`, :func:`check_number` and :func:`check_random` themselves.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse

from .errors import ParameterError, brief

__all__ = [
    "Checks",
    "Parameter",
    "Spec",
    "canonical",
    "check_arguments",
    "check_choice",
    "check_count",
    "check_flag",
    "check_number",
    "check_random",
    "identity",
    "is_rule",
    "parameter",
    "show",
]

Scale = Literal["log", "linear"]

#: Functions of caller, name and value that raise unless the value of a parameter makes sense.
Checks: TypeAlias = Mapping[str, Callable[[str, str, Any], Any]]


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
                raise ParameterError(f"{owner}: `{name}` must be one of {options}. Got {brief(value)}.")
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
            raise ParameterError(f"{owner}: `{name}` must be {self._requirement()}. Got {brief(value)}.")

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


# -- parameters of estimators and functions -------------------------------------------------------
def check_arguments(estimator: Any) -> None:
    """Check what the constructor of an estimator was given; every ``fit`` begins with this.

    A parameter whose default is True or False is a flag.  What others may be the classes say in ``_checks``,
    a subclass in addition to its bases; so do flags that may be words as well.
    """
    kind: type = type(estimator)
    for name, default, check in _checks_of(kind):
        value = getattr(estimator, name)
        if value is not default:
            check(kind.__name__, name, value)


@cache
def _checks_of(kind: type) -> list[tuple[str, Any, Callable[[str, str, Any], Any]]]:
    """Name, default and check of each parameter of a class, in the order of its constructor."""
    declared = {k: check for base in kind.__mro__[::-1] for k, check in vars(base).get("_checks", {}).items()}
    found = []
    for name, argument in inspect.signature(kind).parameters.items():
        check = declared.get(name, check_flag if isinstance(argument.default, bool) else None)
        if check is not None:
            found.append((name, argument.default, check))
    return found


def check_flag(caller: str, name: str, value: Any) -> bool:
    """Return True or False, whether Python's or NumPy's."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{caller}: `{name}` must be True or False. Got {brief(value)}.")
    return bool(value)


def check_choice(caller: str, name: str, value: Any, options: Sequence[Any], advice: str = "") -> Any:
    """Return a value that is one of a few words (or None, where that is among them)."""
    if not _is_among(value, options):
        listed = (
            " or ".join(map(repr, options))
            if len(options) == 2
            else f"one of {', '.join(map(repr, options))}"
        )
        raise ParameterError(
            f"{caller}: `{name}` must be {listed}. Got {brief(value)}.{advice and ' '}{advice}"
        )
    return value


def _is_among(value: Any, options: Sequence[Any]) -> bool:
    """Whether a value, of any type, is one of some words or None."""
    return any(isinstance(value, type(option)) and value == option for option in options)


def check_count(
    caller: str,
    name: str,
    value: Any,
    requirement: str = "",
    *,
    low: int = 1,
    high: int = 2**31 - 1,
    unless: Sequence[Any] = (),
    advice: str = "",
) -> Any:
    """Return a whole number within bounds as an int; ``unless`` it is one of some words or None."""
    if _is_among(value, unless):
        return value
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or not low <= value <= high:
        rule = requirement or f"an integer >= {low}" + "".join(f", or {option!r}" for option in unless)
        rule = f"at most {high:,}" if whole and value > high else rule
        raise ParameterError(
            f"{caller}: `{name}` must be {rule}. Got {brief(value)}.{advice and ' '}{advice}"
        )
    return int(value)


def check_number(
    caller: str,
    name: str,
    value: Any,
    requirement: str,
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    below: float = math.inf,
    most: float = math.inf,
    infinite: bool = False,
    unless: Sequence[Any] = (),
    advice: str = "",
) -> Any:
    """Return a number within bounds as a float; ``unless`` it is one of some words or None.

    ``above`` and ``below`` are bounds that it must not reach; ``infinite`` admits infinity.  NaN, and an int
    beyond the floats, are in no range.
    """
    if _is_among(value, unless):
        return value
    number = math.nan
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        with suppress(OverflowError):
            number = float(value)
    within = above < number < below or (infinite and number == math.inf)
    if not (within and least <= number <= most):
        raise ParameterError(
            f"{caller}: `{name}` must be {requirement}. Got {brief(value)}.{advice and ' '}{advice}"
        )
    return number


def check_random(caller: str, name: str, value: Any) -> np.random.RandomState:
    """Return a source of random numbers."""
    from sklearn.utils import check_random_state

    try:
        if isinstance(value, bool | np.bool_):
            raise ValueError("a flag is no seed")
        source: np.random.RandomState = check_random_state(value)
    except Exception as error:  # comparisons of any object may raise anything
        raise ParameterError(
            f"{caller}: `{name}` must be None, an integer from 0 to 2^32 - 1 or a NumPy RandomState. "
            f"Got {brief(value)}."
        ) from error
    return source
