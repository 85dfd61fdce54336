"""Arrays of machine numbers, by NumPy.

Python floats among them (parameters, constants) stay Python floats, so that float32 arrays stay float32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.special

from .floats import FLOAT, horner
from .matern import matern

if TYPE_CHECKING:
    from . import Arithmetic

__all__ = ["ARRAYS", "floating", "integer_power"]


def _elementwise(name: str, function: Callable[[Any], Any]) -> Any:
    """Apply a function to arrays, and its twin of the floats to Python floats."""
    twin: Callable[[Any], Any] = getattr(FLOAT, name)
    return staticmethod(lambda t: function(t) if isinstance(t, np.ndarray) else twin(t))


def _chosen(name: str, function: Callable[..., Any]) -> Any:
    """The same of a function of several arguments, one of which may be an array."""
    twin: Callable[..., Any] = getattr(FLOAT, name)
    return staticmethod(lambda *t: (function if any(isinstance(s, np.ndarray) for s in t) else twin)(*t))


class _Arrays:
    pi, eps = FLOAT.pi, FLOAT.eps
    real = staticmethod(float)
    exp = _elementwise("exp", np.exp)
    expm1 = _elementwise("expm1", np.expm1)
    log = _elementwise("log", np.log)
    log1p = _elementwise("log1p", np.log1p)
    sqrt = _elementwise("sqrt", np.sqrt)
    sin = _elementwise("sin", np.sin)
    cos = _elementwise("cos", np.cos)
    acos = _elementwise("acos", lambda t: np.arccos(np.clip(t, -1.0, 1.0)))
    asin = _elementwise("asin", lambda t: np.arcsin(np.clip(t, -1.0, 1.0)))
    sinh = _elementwise("sinh", np.sinh)
    cosh = _elementwise("cosh", np.cosh)
    tanh = _elementwise("tanh", np.tanh)
    sinc = _elementwise("sinc", lambda t: np.divide(np.sin(t), t, out=np.ones_like(t), where=t != 0))
    gamma = _elementwise("gamma", scipy.special.gamma)
    bounded = _elementwise("bounded", lambda t: np.minimum(t, float(np.finfo(t.dtype).max ** 0.25)))
    maximum = _chosen("maximum", np.maximum)
    minimum = _chosen("minimum", np.minimum)
    where = _chosen("where", np.where)
    polynomial = staticmethod(horner)

    @staticmethod
    def fsum(terms: Iterable[Any]) -> Any:
        return sum(terms)

    @staticmethod
    def power(t: Any, exponent: float) -> Any:
        if not isinstance(t, np.ndarray):
            return FLOAT.power(t, exponent)
        if isinstance(exponent, int):
            return integer_power(t, exponent) if exponent >= 0 else 1 / integer_power(t, -exponent)
        return np.sqrt(t) if exponent == 0.5 else t if exponent == 1 else t**exponent

    @staticmethod
    def within(t: Any, low: float, high: float, error: Callable[[float], Exception]) -> Any:
        outside = ~((low <= t) & (t <= high))
        if np.any(outside):
            raise error(float(max(np.asarray(t)[outside], key=abs)))
        return t

    @staticmethod
    def nonzero(t: Any, error: Callable[[float], Exception]) -> Any:
        if np.any(t == 0):
            raise error(0.0)
        return t

    @staticmethod
    def matern(order: float, t: Any) -> Any:
        return matern(order, t) if isinstance(t, np.ndarray) else FLOAT.matern(order, t)


ARRAYS: Arithmetic = _Arrays()


def floating(values: Any) -> np.ndarray:
    """Kernel values as floats: whole numbers, which code of a user may give, as doubles."""
    found = np.asarray(values)
    return found if found.dtype.kind == "f" else np.asarray(found, dtype=np.float64)


def integer_power(K: np.ndarray, exponent: int) -> np.ndarray:
    """Elementwise power by repeated squaring: exact for small integers, faster than ``np.power``."""
    result: np.ndarray | None = None
    square = K
    with np.errstate(over="ignore", invalid="ignore"):  # the caller looks for overflow
        while exponent:
            if exponent & 1:
                result = square.copy() if result is None else result * square
            exponent >>= 1
            if exponent:
                square = square * square
    return np.ones_like(K) if result is None else result
