"""Pointwise products and integer powers."""

from __future__ import annotations

from functools import reduce
from typing import Any, ClassVar

import numpy as np

from ..arithmetic import Arithmetic, integer_power
from ..certificate import Certificate, Claim, Property
from ..engine.program import Builder, Value
from ..errors import ParameterError
from ..intervals import Interval
from ..kernel import Gradient, Kernel, Prepared
from ..parameters import parameter
from .nodes import Associative, Multiplicative, Node, claim, operand, times, wrap
from .ring import Constant

__all__ = ["Power", "Product", "checked"]


class Product(Associative, Multiplicative):
    r"""Pointwise product of kernels: ``k1 * k2 * ...``.

    Positive definite if every factor is (Schur).  Strictly, if one factor is strict and the others have a
    positive diagonal.
    """

    factors: tuple[Kernel, ...]
    _infix: ClassVar[bool] = True

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return reduce(lambda a, b: a * b, (k._define(x, y, m) for k in self.factors))

    def _normal_form(self) -> Kernel:
        return Product(tuple(k.normalized() for k in self.factors))

    def _certify(self) -> Certificate:
        premises = [k.certificate.positive for k in self.factors]
        if not all(p.proved for p in premises):
            return Certificate.unknown(self, "not every factor is known to be positive definite", premises)
        pairs = list(zip(premises, self.factors, strict=True))
        domains = [k.domain for p, k in pairs if p.strict]
        strict = bool(domains) and self.domain.separated_by(domains)
        strict = strict and all(p.strict or k.diagonal_bounds.is_positive for p, k in pairs)
        return Certificate.psd(
            self,
            "Schur product",
            "a pointwise product of positive definite kernels is positive definite",
            strict=strict,
            premises=premises,
        )

    def _infinitely_divisible(self) -> Claim | None:
        inner = [k._infinitely_divisible() for k in self.factors]
        premises = [p for p in inner if p is not None]
        if len(premises) < len(inner):
            return None
        return claim(Property.NEGATIVE, self, "sum", "-log of a product is a sum", premises, of="-log ")

    def __repr__(self) -> str:
        return " * ".join(map(operand, self.factors))


class Power(Node):
    r"""An integer power of a kernel: ``k ** n``.

    Positive definite if the kernel is, by repeated Schur products; ``k ** 0`` is the constant 1.
    """

    base: Kernel
    exponent: int = parameter(low=0, integer=True)
    _infix: ClassVar[bool] = True
    _tight: ClassVar[bool] = True

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return self.base._define(x, y, m) ** self.exponent

    def _normal_form(self) -> Kernel:
        return Power(self.base.normalized(), self.exponent)

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        return checked(integer_power(self._blocks(X, Y)[0], self.exponent), self, "exponent")

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value:
        return b.finite(b.integer_power(next(self._compiled(b, X, Y)), self.exponent))

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return checked(integer_power(self._diagonals(X)[0], self.exponent), self, "exponent")

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        [(name, K, inner)] = self._gradients(X, Y)
        n = self.exponent
        slope = n * integer_power(K, n - 1) if n > 0 else np.zeros_like(K)
        return integer_power(K, n), {f"{name}__{key}": times(slope, g) for key, g in inner.items()}

    def _certify(self) -> Certificate:
        positive = self.base.certificate.positive
        if self.exponent == 0:
            return Constant(1.0).certificate
        if not positive.proved:
            return Certificate.unknown(self, "the base is not known to be positive definite", [positive])
        return Certificate.psd(
            self,
            "Schur power",
            "an integer power of a positive definite kernel is positive definite",
            strict=positive.strict,
            premises=[positive],
        )

    def _infinitely_divisible(self) -> Claim | None:
        inner = self.base._infinitely_divisible()
        return (
            None
            if inner is None
            else claim(Property.NEGATIVE, self, "scaling", "-log k^n = n (-log k)", [inner], of="-log ")
        )

    @property
    def bounds(self) -> Interval:
        return self.base.bounds.power(self.exponent)

    @property
    def diagonal_bounds(self) -> Interval:
        return self.base.diagonal_bounds.power(self.exponent)

    def __repr__(self) -> str:
        return f"{wrap(self.base)} ** {self.exponent}"


def checked(K: np.ndarray, kernel: Kernel, name: str) -> np.ndarray:
    """Return ``K`` unless it overflowed, which is an error naming the parameter."""
    if np.isfinite(K).all():
        return K
    value = getattr(kernel, name)
    raise ParameterError(
        f"{type(kernel).__name__}: `{name}={value!r}` overflows on these data (a value exceeds "
        f"{np.finfo(K.dtype).max:.3g}). Scale the data, normalise the kernel or lower `{name}`."
    )
