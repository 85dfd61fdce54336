"""Pointwise products and integer powers."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from ..arithmetic import Arithmetic, integer_power
from ..certificate import Certificate, Claim, Property
from ..intervals import Interval
from ..kernel import Kernel
from ..parameters import parameter
from ..spectral_density import AtZero, Convolution, SpectralDensity
from .nodes import Associative, Multiplicative, Unary, claim, operand, wrap
from .ring import Constant, Scaled, opposite

__all__ = ["Power", "Product"]


class Product(Associative, Multiplicative):
    r"""Pointwise product of kernels: ``k1 * k2 * ...``.

    Positive definite if every factor is (Schur).  Strictly, if one factor is strict and the others have a
    positive diagonal.
    """

    factors: tuple[Kernel, ...]
    _infix: ClassVar[bool] = True

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return reduce(lambda a, b: a * b, (k._define(x, y, m) for k in self.factors))

    def _spectral_density(self) -> SpectralDensity:
        parts = tuple(k._spectral_density() for k in self.factors)
        return Convolution(parts, mass=math.prod(p.mass for p in parts))

    def _normal_form(self) -> Kernel:
        return Product(tuple(k.normalized() for k in self.factors))

    def _certify(self) -> Certificate:
        premises = [k.certificate.positive for k in self.factors]
        if not all(p.proved for p in premises):
            why = "not every factor is known to be positive definite"
            return self._as_simpler() or Certificate.unknown(self, why, premises)
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

    def _simpler(self) -> tuple[Kernel, str] | None:
        constants = [k.value for k in self.factors if type(k) is Constant]
        rest = [k for k in self.factors if type(k) is not Constant]
        if constants:
            first: Kernel = Product.of(*rest) if rest else Constant(1.0)
            return reduce(Scaled, constants, first), "the product with constants"
        turned = [k if k.certificate.is_psd else opposite(k) for k in rest]
        count = sum(not k.certificate.is_psd for k in rest)
        if count == 0 or not all(k.certificate.is_psd for k in turned):
            return None
        product = Product.of(*turned)
        return Scaled(product, -1.0) if count % 2 else product, "(-a)(-b) = ab"

    def _infinitely_divisible(self) -> Claim | None:
        inner = [k._infinitely_divisible() for k in self.factors]
        premises = [p for p in inner if p is not None]
        if len(premises) < len(inner):
            return super()._infinitely_divisible()
        return claim(Property.NEGATIVE, self, "sum", "-log of a product is a sum", premises, of="-log ")

    def __repr__(self) -> str:
        return " * ".join(map(operand, self.factors))


class Power(Unary):
    r"""An integer power of a kernel: ``k ** n``.

    Positive definite if the kernel is, by repeated Schur products; ``k ** 0`` is the constant 1.
    """

    base: Kernel
    exponent: int = parameter(low=0, integer=True)
    _infix: ClassVar[bool] = True
    _tight: ClassVar[bool] = True

    _overflow: ClassVar[str | None] = "exponent"

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return m.power(t, self.exponent)

    def _spectral_density(self) -> SpectralDensity:
        if self.exponent == 0:
            return AtZero()
        part = self.base._spectral_density()
        return Convolution((part,) * self.exponent, mass=part.mass**self.exponent)

    def _normal_form(self) -> Kernel:
        return Power(self.base.normalized(), self.exponent)

    def _derivative(self, K: np.ndarray, F: np.ndarray) -> np.ndarray:
        n = self.exponent
        return n * integer_power(K, n - 1) if n > 0 else np.zeros_like(K)

    def _certify(self) -> Certificate:
        positive = self.base.certificate.positive
        if self.exponent == 0:
            return Constant(1.0).certificate
        if not positive.proved:
            why = "the base is not known to be positive definite"
            return self._as_simpler() or Certificate.unknown(self, why, [positive])
        return Certificate.psd(
            self,
            "Schur power",
            "an integer power of a positive definite kernel is positive definite",
            strict=positive.strict,
            premises=[positive],
        )

    def _simpler(self) -> tuple[Kernel, str] | None:
        if self.exponent <= 1:
            return (self.base, "k^1 = k") if self.exponent else (Constant(1.0), "k^0 = 1")
        turned = None if self.base.certificate.is_psd else opposite(self.base)
        if turned is None or not turned.certificate.is_psd:
            return None
        power = Power(turned, self.exponent)
        return Scaled(power, -1.0) if self.exponent % 2 else power, "k^n = (-1)^n (-k)^n"

    def _infinitely_divisible(self) -> Claim | None:
        inner = self.base._infinitely_divisible()
        return (
            super()._infinitely_divisible()
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
