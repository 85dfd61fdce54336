"""The arithmetic of the compiler: a formula, evaluated on terms, writes the steps of a tile program.

A :class:`Term` is a number in the making.  Its operators and the functions of :data:`COMPILER` add steps to
a :class:`~mercer.engine.builder.Builder`, which folds constants; parameters stay Python floats.  What has no
step (a sine, a comparison) ends the attempt, and the kernel takes part with its blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from ..arithmetic import FLOAT, Arithmetic
from .builder import MOST_EXPONENT, Builder, Value

__all__ = ["COMPILER", "Term", "compile_formula"]

#: Constants with reciprocals that keep all their digits.
MOST_CONSTANT = 1e290

# Where bounded numbers end: see `Arithmetic.bounded`.
_LARGE = FLOAT.bounded(math.inf)


class NoStepError(TypeError):
    """The engine has no step for an operation."""


def compile_formula(b: Builder, formula: Callable[..., Any], *values: Value) -> Value | None:
    """Steps of ``formula(*numbers, m)``; None if an operation has none, or the result is a constant."""
    try:
        result = formula(*(Term(b, value) for value in values), COMPILER)
    except TypeError:  # also of a function that wants floats
        return None
    return result.value if isinstance(result, Term) else None


def _no_step(*_: Any) -> NoReturn:
    raise NoStepError("the engine has no step for this operation")


class Term:
    """A value of a builder, with the operators of a number."""

    __slots__ = ("b", "value")
    __array_ufunc__ = None  # np.float64(2) * term comes to us

    def __init__(self, b: Builder, value: Value) -> None:
        self.b, self.value = b, value

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Term):
            return Term(self.b, self.b.add((self.value, other.value)))
        return Term(self.b, self.b.shift(self.value, float(other)))

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Term):
            return Term(self.b, self.b.subtract(self.value, other.value))
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Term):
            return Term(self.b, self.b.multiply((self.value, other.value)))
        return Term(self.b, self.b.scale(self.value, float(other)))

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Term):
            return Term(self.b, self.b.divide(self.value, other.value))
        return self * (1 / other) if 1 / MOST_CONSTANT < abs(other) < MOST_CONSTANT else _no_step()

    def __rtruediv__(self, other: Any) -> Any:
        return Term(self.b, self.b.reciprocal(self.value)) * other

    def __neg__(self) -> Any:
        return self * -1.0

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, Term) or (
            not abs(exponent) <= MOST_EXPONENT and not isinstance(exponent, int)
        ):
            return _no_step()
        if exponent == 0:
            return 1.0
        if exponent < 0:  # a power that overflows has an inverse that does not
            power = self**-exponent
            return 1 / Term(self.b, self.b.finite(power.value))
        power_of = self.b.integer_power if isinstance(exponent, int) else self.b.real_power
        return Term(self.b, power_of(self.value, exponent))

    __radd__ = __add__
    __rmul__ = __mul__
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __abs__ = __rpow__ = _no_step
    __hash__ = None  # type: ignore[assignment]


def _function(name: str, step: str | None = None) -> Any:
    """Add a step to a term; a constant is computed at once."""
    plain: Callable[..., Any] = getattr(FLOAT, name)

    def apply(t: Any) -> Any:
        if not isinstance(t, Term):
            return plain(t)
        return _no_step() if step is None else Term(t.b, getattr(t.b, step)(t.value))

    return staticmethod(apply)


class _Compiler:
    pi, eps = FLOAT.pi, FLOAT.eps
    real = staticmethod(float)
    exp = _function("exp", "exp")
    log1p = _function("log1p", "log1p")
    sqrt = _function("sqrt", "sqrt")
    tanh = _function("tanh", "tanh")
    expm1, log, gamma = _function("expm1"), _function("log"), _function("gamma")
    sin, cos, sinc = _function("sin"), _function("cos"), _function("sinc")
    acos, asin = _function("acos"), _function("asin")
    where = staticmethod(FLOAT.where)  # comparisons of terms have failed by then

    @staticmethod
    def fsum(terms: Iterable[Any]) -> Any:
        return sum(terms)

    @staticmethod
    def power(t: Any, exponent: float) -> Any:
        return t**exponent if isinstance(t, Term) else FLOAT.power(t, exponent)

    @staticmethod
    def polynomial(t: Any, coefficients: Sequence[Any]) -> Any:
        if not isinstance(t, Term) or any(isinstance(c, Term) for c in coefficients):
            return FLOAT.polynomial(t, coefficients)
        return Term(t.b, t.b.polynomial(t.value, coefficients))

    @staticmethod
    def maximum(s: Any, t: Any) -> Any:
        return _clipped(s, t, lambda c: (c, math.inf), FLOAT.maximum)

    @staticmethod
    def minimum(s: Any, t: Any) -> Any:
        return _clipped(s, t, lambda c: (-math.inf, c), FLOAT.minimum)

    @staticmethod
    def bounded(t: Any) -> Any:
        return Term(t.b, t.b.clip(t.value, 0.0, _LARGE)) if isinstance(t, Term) else FLOAT.bounded(t)

    @staticmethod
    def within(t: Any, low: float, high: float, error: Callable[[float], Exception]) -> Any:
        if not isinstance(t, Term):
            return FLOAT.within(t, low, high, error)
        return Term(t.b, t.b.within(t.value, low, high))

    @staticmethod
    def nonzero(t: Any, error: Callable[[float], Exception]) -> Any:
        return Term(t.b, t.b.nonzero(t.value)) if isinstance(t, Term) else FLOAT.nonzero(t, error)

    @staticmethod
    def cosh(t: Any) -> Any:
        return (COMPILER.exp(t) + COMPILER.exp(-t)) / 2 if isinstance(t, Term) else FLOAT.cosh(t)

    @staticmethod
    def sinh(t: Any) -> Any:
        return COMPILER.tanh(t) * COMPILER.cosh(t) if isinstance(t, Term) else FLOAT.sinh(t)

    @staticmethod
    def matern(order: float, t: Any) -> Any:
        return _no_step() if isinstance(t, Term) else FLOAT.matern(order, t)


def _clipped(
    s: Any, t: Any, limits: Callable[[float], tuple[float, float]], plain: Callable[[float, float], float]
) -> Any:
    """The larger or smaller of a term and a constant."""
    if isinstance(s, Term) and isinstance(t, Term):
        return _no_step()
    term, constant = (s, t) if isinstance(s, Term) else (t, s)
    if not isinstance(term, Term):
        return plain(s, t)
    return Term(term.b, term.b.clip(term.value, *limits(float(constant))))


COMPILER: Arithmetic = _Compiler()
