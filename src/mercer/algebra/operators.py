"""The operators and methods of :class:`~mercer.kernel.Kernel` that build expressions.

Importing this module installs them.  They live here, not on the class, because the nodes they build
are subclasses of it.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..domains import Domain
from ..errors import ParameterError
from ..kernel import Kernel
from .negative import Distance, Log1p, RealPower, Sqrt
from .nodes import is_scalar, scalar
from .normalized import Normalized
from .products import Power, Product
from .ring import Constant, Scaled, Sum
from .schoenberg import Reciprocal, Schoenberg, Shifted
from .series import Exp, PolynomialOf, PowerSeries
from .shape import Centered, Conformal, Pullback, source_of
from .user import assume
from .warped import WarpedKernel

__all__: list[str] = []


def _refuse_arrays(other: Any, operation: str) -> None:
    if isinstance(other, np.ndarray) and other.ndim > 0:
        raise TypeError(
            f"{operation}: a kernel combines with kernels and single numbers, "
            f"not with an array of shape {other.shape}"
        )


def _add(self: Kernel, other: Any) -> Kernel:
    _refuse_arrays(other, "+")
    if isinstance(other, Kernel):
        return Sum.of(self, other)
    return Sum.of(self, Constant(scalar(other, "k + c"))) if is_scalar(other) else NotImplemented


def _radd(self: Kernel, other: Any) -> Kernel:
    _refuse_arrays(other, "+")
    if type(other) is int and other == 0:  # the start value of Python's sum()
        return self
    return Sum.of(Constant(scalar(other, "c + k")), self) if is_scalar(other) else NotImplemented


def _sub(self: Kernel, other: Any) -> Kernel:
    _refuse_arrays(other, "-")
    if isinstance(other, Kernel):
        return Sum.of(self, Scaled(other, -1.0))
    return Sum.of(self, Constant(-scalar(other, "k - c"))) if is_scalar(other) else NotImplemented


def _rsub(self: Kernel, other: Any) -> Kernel:
    _refuse_arrays(other, "-")
    if is_scalar(other):
        return Sum.of(Constant(scalar(other, "c - k")), Scaled(self, -1.0))
    return NotImplemented  # type: ignore[no-any-return]


def _mul(self: Kernel, other: Any) -> Kernel:
    _refuse_arrays(other, "*")
    if isinstance(other, Kernel):
        return Product.of(self, other)
    return Scaled(self, scalar(other, "c * k")) if is_scalar(other) else NotImplemented


def _truediv(self: Kernel, other: Any) -> Kernel:
    _refuse_arrays(other, "/")
    if isinstance(other, Kernel):
        return Product.of(self, Reciprocal(other))
    if is_scalar(other):
        value = scalar(other, "k / c")
        if value == 0 or math.isinf(1.0 / value):
            raise ParameterError(f"k / c needs c != 0 with a finite 1 / c. Got c = {value!r}.")
        return Scaled(self, 1.0 / value)
    return NotImplemented  # type: ignore[no-any-return]


def _rtruediv(self: Kernel, other: Any) -> Kernel:
    _refuse_arrays(other, "/")
    if is_scalar(other):
        value = scalar(other, "c / k")
        return Reciprocal(self) if value == 1.0 else Scaled(Reciprocal(self), value)
    return NotImplemented  # type: ignore[no-any-return]


def _neg(self: Kernel) -> Kernel:
    return Scaled(self, -1.0)


def _pow(self: Kernel, exponent: Any) -> Kernel:
    _refuse_arrays(exponent, "**")
    if isinstance(exponent, numbers.Integral) and not isinstance(exponent, bool):
        return Power(self, int(exponent))
    return RealPower(self, scalar(exponent, "k ** a")) if is_scalar(exponent) else NotImplemented


def exp(self: Kernel) -> Kernel:
    """Return ``exp(k(x, y))``; see :class:`~mercer.algebra.Exp`."""
    return Exp(self)


def polynomial(self: Kernel, coefficients: Sequence[float]) -> Kernel:
    """Return ``a0 + a1 k + a2 k^2 + ...``; see :class:`~mercer.algebra.PolynomialOf`."""
    return PolynomialOf(self, np.asarray(coefficients, dtype=float))


def power_series(
    self: Kernel,
    coefficients: str | Callable[[int], float] | Sequence[float],
    radius: float | None = None,
    *,
    tail: tuple[float, float] | None = None,
    version: str | None = None,
) -> Kernel:
    """Return ``sum_n a_n k^n``; see :class:`~mercer.algebra.PowerSeries`.

    A finite list of coefficients is a polynomial, which converges everywhere.
    """
    if isinstance(coefficients, str) or callable(coefficients):
        limit = 0.0 if radius is None else float(radius)
        if math.isnan(limit):
            raise ParameterError("power_series: `radius` must be a number > 0. Got nan.")
        return PowerSeries(self, coefficients, limit, version, tail)
    return polynomial(self, coefficients)


def normalized(self: Kernel) -> Kernel:
    """Return ``k(x, y) / sqrt(k(x, x) k(y, y))``; see :class:`~mercer.algebra.Normalized`."""
    return Normalized(self)


def conformal(
    self: Kernel, factor: Callable[[Any], float], *, nonzero: bool = False, version: str | None = None
) -> Kernel:
    """Return ``f(x) f(y) k(x, y)``; see :class:`~mercer.algebra.Conformal`."""
    if not callable(factor):
        raise ParameterError(f"conformal: `factor` must be a function of one point. Got {factor!r}.")
    return Conformal(self, factor, version, nonzero)


def on(
    self: Kernel,
    map: Callable[[Any], Any],
    *,
    domain: Domain | None = None,
    injective: bool = False,
    vectorized: bool = False,
    version: str | None = None,
) -> Kernel:
    """Return ``k(f(x), f(y))``; see :class:`~mercer.algebra.Pullback`.

    Without ``domain`` the points are those that the map accepts, if it says so by an attribute ``domain``.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> by_length = Gaussian(1.0).on(lambda text: [len(text)])
    >>> by_length("three", "seven")
    1.0
    """
    if not callable(map):
        raise ParameterError(f"on: `map` must be a function of one point. Got {map!r}.")
    return Pullback(self, map, source_of(map) if domain is None else domain, injective, vectorized, version)


def gaussian(self: Kernel, sigma: float = 1.0) -> Kernel:
    r"""Return the Gaussian of the feature-space distance, ``exp(-|Phi(x) - Phi(y)|^2 / 2 sigma^2)``.

    The same as ``k.distance().schoenberg(1 / (2 sigma ** 2))``.
    """
    sigma = scalar(sigma, "gaussian")
    if not 1e-154 < sigma < 1e154:
        raise ParameterError(
            f"gaussian: `sigma` must be > 0, and its square in the range of floats. Got {sigma!r}."
        )
    return Schoenberg(Distance(self), 1.0 / (2.0 * sigma * sigma))


def distance(self: Kernel) -> Kernel:
    """Return the squared feature-space distance, a negative definite kernel.

    See :class:`~mercer.algebra.Distance`.
    """
    return Distance(self)


def centered(self: Kernel, X: Any) -> Kernel:
    """Return the kernel centred at the mean of ``X`` in feature space.

    See :class:`~mercer.algebra.Centered`.
    """
    return Centered(self, X)


def warped(self: Kernel, X: Any, penalty: Any) -> Kernel:
    """Return the kernel of the norm ``|f|^2 + f' M f`` with ``f`` the values at ``X``, M the penalty.

    See :class:`~mercer.algebra.WarpedKernel`.
    """
    return WarpedKernel(self, X, penalty)


def schoenberg(self: Kernel, t: float = 1.0) -> Kernel:
    """Return ``exp(-t psi(x, y))``; see :class:`~mercer.algebra.Schoenberg`."""
    return Schoenberg(self, t)


def log1p(self: Kernel) -> Kernel:
    """Return ``log(1 + psi(x, y))``; see :class:`~mercer.algebra.Log1p`."""
    return Log1p(self)


def sqrt(self: Kernel) -> Kernel:
    """Return the metric ``sqrt(psi)``; see :class:`~mercer.algebra.Sqrt`."""
    return Sqrt(self)


def shifted(self: Kernel, origin: Any) -> Kernel:
    """Return ``psi(x, o) + psi(y, o) - psi(x, y) - psi(o, o)``; see :class:`~mercer.algebra.Shifted`."""
    return Shifted(self, origin)


_OPERATORS: dict[str, Callable[..., Any]] = {
    "__add__": _add,
    "__radd__": _radd,
    "__sub__": _sub,
    "__rsub__": _rsub,
    "__mul__": _mul,
    "__rmul__": _mul,
    "__truediv__": _truediv,
    "__rtruediv__": _rtruediv,
    "__neg__": _neg,
    "__pow__": _pow,
}
_METHODS: list[Callable[..., Any]] = [
    exp, polynomial, power_series, normalized, conformal, on, gaussian, distance, centered,
    schoenberg, log1p, sqrt, shifted, warped, assume,
]  # fmt: skip

for _name, _function in _OPERATORS.items():
    setattr(Kernel, _name, _function)
for _method in _METHODS:
    setattr(Kernel, _method.__name__, _method)
