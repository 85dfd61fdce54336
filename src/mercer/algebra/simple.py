"""Kernels that are one formula of a number or two: their shared shape.

The formula is written once, against an arithmetic; one pair of points, many digits, blocks and compiled
programs follow from it.  What the numbers are (a squared distance, an inner product, the value of another
kernel) is said by a family.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from ..arithmetic import ARRAYS, FLOAT, Arithmetic, floating
from ..domains import Data
from ..engine.formulas import compile_formula
from ..engine.program import Builder, Value
from ..errors import InputError, ParameterError
from ..kernel import Kernel

__all__ = ["SimpleKernel", "checked", "checked_value", "finite"]


class SimpleKernel(Kernel):
    """Kernels ``f(t)`` of a number t of each pair of points, or of a few such numbers.

    Subclasses write ``formula(self, t, m)`` against an :class:`~mercer.arithmetic.Arithmetic` ``m``.
    Families say what t is: for one pair, on blocks of prepared data, and as steps of the engine.
    """

    #: What an overflow is blamed on: a parameter, or the data "X"; None where the error names the points.
    _overflow: ClassVar[str | None] = "X"

    @abstractmethod
    def formula(self, *numbers: Any) -> Any:
        """Value of the kernel; the last argument is the arithmetic."""
        raise TypeError(f"{type(self).__name__} must define formula")

    @abstractmethod
    def _pair(self, x: Any, y: Any, m: Arithmetic) -> tuple[Any, ...]:
        """The numbers of one pair of points in the arithmetic ``m``."""

    @abstractmethod
    def _pairs(self, X: Data, Y: Data | None) -> tuple[np.ndarray, ...]:
        """The numbers of many pairs: matrices."""

    @abstractmethod
    def _steps(self, b: Builder, X: Data, Y: Data | None) -> tuple[Value, ...] | None:
        """The numbers as values of the engine, if it has steps for them."""

    def _value(self, x: Any, y: Any, m: Arithmetic) -> Any:
        """The formula on one pair of points."""
        return self.formula(*self._pair(x, y, m), m)

    def _values(self, X: Data, Y: Data | None) -> np.ndarray:
        """The formula on many pairs."""
        return self._evaluate(*self._pairs(X, Y))

    def _evaluate(self, *numbers: np.ndarray) -> np.ndarray:
        """The formula on arrays of numbers."""
        numbers = tuple(map(floating, numbers))
        with np.errstate(all="ignore"):
            K = np.asarray(self.formula(*numbers, ARRAYS), dtype=numbers[0].dtype)
        return K if K.shape else np.full_like(numbers[0], K)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        value = self._value(x, y, m)
        return value if self._overflow in (None, "X") else checked_value(value, self, self._overflow, m)

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        return self._checked(self._values(X, Y))

    def _compile(self, b: Builder, X: Data, Y: Data | None) -> Value | None:
        numbers = self._steps(b, X, Y)
        value = None if numbers is None else compile_formula(b, self.formula, *numbers)
        return value if value is None or self._overflow is None else b.finite(value)

    def _checked(self, K: np.ndarray, dtype: Any = None) -> np.ndarray:
        """Return values unless one has overflowed, which is an error."""
        if self._overflow is None:
            return K
        return finite(K, self, dtype) if self._overflow == "X" else checked(K, self, self._overflow)


def finite(K: np.ndarray, kernel: Kernel, dtype: Any = None) -> np.ndarray:
    """Return ``K`` unless it overflows (in ``dtype``, by default its own), which is an error."""
    largest = float(np.finfo(K.dtype if dtype is None else dtype).max)
    if (np.abs(K) <= largest).all():
        return K
    raise InputError(
        f"{type(kernel).__name__}: the values of {kernel!r} overflow on these data (one exceeds "
        f"{largest:.3g}). Rescale the data or change the parameters."
    )


def checked(K: np.ndarray, kernel: Kernel, name: str) -> np.ndarray:
    """Return ``K`` unless it overflowed, which is an error naming the parameter."""
    if np.isfinite(K).all():
        return K
    value = getattr(kernel, name)
    raise ParameterError(
        f"{type(kernel).__name__}: `{name}={value!r}` overflows on these data (a value exceeds "
        f"{np.finfo(K.dtype).max:.3g}). Scale the data, normalise the kernel or lower `{name}`."
    )


def checked_value(value: Any, kernel: Kernel, name: str, m: Arithmetic) -> Any:
    """Return one value unless it overflowed machine numbers, which is an error naming the parameter."""
    return float(checked(np.asarray(value), kernel, name)) if m is FLOAT else value
