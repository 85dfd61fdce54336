"""Four kinds of numbers for one formula.

A kernel is written once, against an :class:`Arithmetic` ``m``: ``m.exp(-D / 2)``.  The same lines then give

==========================  =====================================================================
:data:`FLOAT`               ``k(x, y)``
:func:`multiprecision`      the value to fifty digits, enough to separate witnesses from rounding
:data:`ARRAYS`              a block of values with NumPy
``engine.formulas``         the steps of a tile program
==========================  =====================================================================

Each has a file of its own: ``floats``, ``multiprecision`` and ``arrays`` are here (``matern`` holds their
Bessel function), the last one is a layer higher, beside the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from .arrays import ARRAYS, floating, integer_power
from .floats import FLOAT
from .matern import matern
from .multiprecision import multiprecision

__all__ = ["ARRAYS", "FLOAT", "Arithmetic", "floating", "integer_power", "matern", "multiprecision"]

Number = Any  # float, mpmath.mpf, array or term of the engine


class Arithmetic(Protocol):
    """Elementary functions on one kind of number.

    Numbers have the operators ``+ - * / **`` and comparisons.  A formula must not branch on a comparison,
    for an array has many: it says :meth:`where`, :meth:`maximum` or :meth:`minimum`.
    """

    @property
    def pi(self) -> Number: ...

    @property
    def eps(self) -> Number:
        """The relative rounding error of a number."""

    def real(self, value: Any) -> Number:
        """Return a parameter as a number."""

    def fsum(self, terms: Iterable[Number]) -> Number:
        """Sum without loss of digits."""

    def power(self, t: Number, exponent: float) -> Number:
        """``t ** exponent``, infinite where it overflows; for exponents that are not integers, t >= 0."""

    def polynomial(self, t: Number, coefficients: Sequence[Number]) -> Number:
        """Polynomial by Horner's rule, the constant coefficient first."""

    def maximum(self, s: Number, t: Number) -> Number: ...
    def minimum(self, s: Number, t: Number) -> Number: ...

    def where(self, condition: Any, s: Number, t: Number) -> Number:
        """``s`` where the condition holds, else ``t``.  Both are computed."""

    def bounded(self, t: Number) -> Number:
        """``t`` >= 0, cut off where machine numbers would soon overflow: for ``p(t) exp(-t)``, 0 there."""

    def within(self, t: Number, low: float, high: float, error: Callable[[float], Exception]) -> Number:
        """``t`` if ``low <= t <= high``, else the error for its value."""

    def nonzero(self, t: Number, error: Callable[[float], Exception]) -> Number:
        """``t`` if it is not 0, else the error."""

    def exp(self, t: Number) -> Number: ...
    def expm1(self, t: Number) -> Number: ...
    def log(self, t: Number) -> Number: ...
    def log1p(self, t: Number) -> Number: ...
    def sqrt(self, t: Number) -> Number: ...
    def sin(self, t: Number) -> Number: ...
    def cos(self, t: Number) -> Number: ...
    def acos(self, t: Number) -> Number: ...
    def asin(self, t: Number) -> Number: ...
    def sinh(self, t: Number) -> Number: ...
    def cosh(self, t: Number) -> Number: ...
    def tanh(self, t: Number) -> Number: ...

    def sinc(self, t: Number) -> Number:
        """``sin(t) / t``, 1 at 0."""

    def gamma(self, t: Number) -> Number: ...

    def matern(self, order: float, t: Number) -> Number:
        """``2^(1-v) t^v K_v(t) / Gamma(v)`` with the modified Bessel function of the order v; 1 at 0."""
