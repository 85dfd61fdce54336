"""The ring: constants, scaling, sums, products and integer powers.

``Sum`` and ``Product`` are different classes and flatten only their own kind, so that expressions mean
exactly what is written.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Property, Status, Witness
from ..domains import Data, size
from ..errors import ParameterError
from ..intervals import Interval
from ..kernel import Gradient, Kernel, Prepared
from ..parameters import parameter
from .nodes import Node, claim, prefixed, times, unproved, wrap

__all__ = ["Constant", "Power", "Product", "Scaled", "Sum"]


class Constant(Kernel):
    r"""The constant kernel.

    .. math:: k(x, y) = c

    Positive definite iff :math:`c \ge 0`; negative definite for every :math:`c`, because
    :math:`\sum_{ij} c_i c_j c = c (\sum_i c_i)^2 = 0` when the coefficients sum to zero.
    Lives on any domain.

    Parameters
    ----------
    value : float, default=1.0

    Examples
    --------
    >>> Constant(2.0)("any", "thing")
    2.0
    """

    value: float = parameter(default=1.0, scale="log")

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return m.real(self.value)

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        return np.full((size(X), size(X if Y is None else Y)), self.value)

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.full(size(X), self.value)

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        K = self._block(X, Y)
        return K, {"value": K.copy()}

    def _certify(self) -> Certificate:
        negative = claim(Property.NEGATIVE, self, "constant", "c'Kc = c (sum c)^2 = 0 when sum(c) = 0")
        if self.value >= 0:
            positive = claim(Property.POSITIVE, self, "constant", "c'Kc = c (sum c)^2 >= 0")
            return Certificate(positive, negative)
        return Certificate.refuted(
            self,
            "negative diagonal",
            "a single point gives k(x, x) < 0",
            witness=Witness((0,), (1.0,), self.value),
            negative=negative,
        )

    def _conditional(self) -> Claim:
        return claim(Property.NEGATIVE, self, "constant", "any constant vanishes when sum(c) = 0")

    def _infinitely_divisible(self) -> Claim | None:
        if self.value <= 0:
            return None
        return claim(Property.NEGATIVE, self, "constant", "-log c is a constant")

    @property
    def bounds(self) -> Interval:
        return Interval(self.value, self.value)


class Scaled(Node):
    r"""A kernel times a number: ``c * k``.

    Nonnegative factors keep both kinds of definiteness.  With :math:`c < 0` a positive definite kernel
    becomes negative definite.
    """

    base: Kernel
    factor: float = parameter(default=1.0, scale="log")
    _infix: ClassVar[bool] = True

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return m.real(self.factor) * self.base._define(x, y, m)

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        return self.factor * self._blocks(X, Y)[0]

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return self.factor * self._diagonals(X)[0]

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        [(name, K, inner)] = self._gradients(X, Y)
        K = self.factor * K
        return K, {"factor": K.copy(), **prefixed(name, {k: self.factor * g for k, g in inner.items()})}

    def _diagonal_gradient(self, X: Prepared) -> tuple[np.ndarray, Gradient]:
        d, inner = self.base._diagonal_gradient(X.parts[0])
        d = self.factor * d
        return d, {"factor": d.copy(), **prefixed("base", {k: self.factor * g for k, g in inner.items()})}

    def _certify(self) -> Certificate:
        base = self.base.certificate
        if isinstance(self.base, Scaled) and self.factor < 0 and self.base.factor < 0:
            return Scaled(self.base.base, self.factor * self.base.factor).certificate
        if self.factor > 0:
            return Certificate(self._carry(base.positive), self._carry(base.negative))
        if self.factor == 0:
            reason = "0 times any kernel is the zero kernel"
            return Certificate(
                claim(Property.POSITIVE, self, "zero", reason), claim(Property.NEGATIVE, self, "zero", reason)
            )
        conditional = self.base._conditional()
        if conditional.proved:
            reason = "minus a (conditionally) positive definite kernel is negative definite"
            negative = claim(
                Property.NEGATIVE, self, "negation", reason, [conditional], strict=conditional.strict
            )
        else:
            negative = unproved(Property.NEGATIVE, self, "the kernel that is negated is not known to be PSD")
        if base.positive.proved and base.positive.strict:
            positive = Claim(
                Property.POSITIVE,
                Status.REFUTED,
                repr(self),
                "negative diagonal",
                "k(x, x) > 0 for a strictly positive definite kernel, so a single point refutes minus it",
                (base.positive,),
            )
        else:
            positive = unproved(Property.POSITIVE, self, "a negative multiple of a kernel")
        return Certificate(positive, negative)

    def _carry(self, inner: Claim) -> Claim:
        """Carry a claim through a positive factor."""
        witness = inner.witness
        if witness is not None:
            witness = replace(witness, value=witness.value * self.factor, error=witness.error * self.factor)
        return replace(
            inner,
            subject=repr(self),
            rule="nonnegative scaling" if inner.status is not Status.UNKNOWN else inner.rule,
            reason="a positive factor keeps every sign"
            if inner.status is not Status.UNKNOWN
            else inner.reason,
            premises=(inner,),
            conditions=(),
            witness=witness,
        )

    def _conditional(self) -> Claim:
        if self.factor >= 0:
            inner = self.base._conditional()
        else:
            inner = self.base.certificate.negative
        if inner.proved:
            strict = inner.strict and self.factor != 0
            return claim(
                Property.NEGATIVE, self, "scaling", "of a claim about the base", [inner], strict=strict
            )
        return unproved(Property.NEGATIVE, self, "nothing known about the base", [inner])

    def _infinitely_divisible(self) -> Claim | None:
        inner = self.base._infinitely_divisible() if self.factor > 0 else None
        return (
            None if inner is None else claim(Property.NEGATIVE, self, "scaling", "adds a constant", [inner])
        )

    @property
    def bounds(self) -> Interval:
        return self.base.bounds.scale(self.factor)

    @property
    def diagonal_bounds(self) -> Interval:
        return self.base.diagonal_bounds.scale(self.factor)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_factor(self.base)}"


class _Associative(Node):
    """Common part of sums and products of two or more kernels; operands of the same class are flattened."""

    @classmethod
    def of(cls, *kernels: Kernel) -> Kernel:
        """Combine kernels."""
        return cls(tuple(kernels)) if len(kernels) > 1 else kernels[0]  # type: ignore[call-arg]

    def _validate(self) -> None:
        ((name, operands, _),) = self._fields()
        flat: list[Any] = []
        for k in operands if isinstance(operands, tuple) else ():
            flat.extend(getattr(k, name) if type(k) is type(self) else [k])
        if len(flat) < 2 or not all(isinstance(k, Kernel) for k in flat):
            owner = type(self).__name__
            raise ParameterError(f"{owner}: `{name}` must be two or more kernels. Got {operands!r}.")
        object.__setattr__(self, name, tuple(flat))
        _ = self.domain  # operands without common points are refused here, not at the first block


class Sum(_Associative):
    r"""Sum of kernels: ``k1 + k2 + ...``.

    Positive definite if every term is (strictly, if one term is); negative definite if every term is.
    """

    terms: tuple[Kernel, ...]
    _infix: ClassVar[bool] = True

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return reduce(lambda a, b: a + b, (k._define(x, y, m) for k in self.terms))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        return reduce(np.add, self._blocks(X, Y))

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return reduce(np.add, self._diagonals(X))

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        pieces = self._gradients(X, Y)
        gradient: Gradient = {}
        for name, _, inner in pieces:
            gradient.update(prefixed(name, inner))
        return reduce(np.add, (K for _, K, _ in pieces)), gradient

    def _diagonal_gradient(self, X: Prepared) -> tuple[np.ndarray, Gradient]:
        pieces = [
            (name, *child._diagonal_gradient(part))
            for (name, child), part in zip(self._children(), X.parts, strict=True)
        ]
        gradient: Gradient = {}
        for name, _, inner in pieces:
            gradient.update(prefixed(name, inner))
        return reduce(np.add, (d for _, d, _ in pieces)), gradient

    def _certify(self) -> Certificate:
        certificates = [k.certificate for k in self.terms]
        positives = [c.positive for c in certificates]
        negatives = [c.negative for c in certificates]
        return Certificate(
            self._all(
                Property.POSITIVE, positives, "sum", "a sum of positive definite kernels is positive definite"
            ),
            self._all(
                Property.NEGATIVE, negatives, "sum", "a sum of negative definite kernels is negative definite"
            ),
        )

    def _conditional(self) -> Claim:
        return self._all(
            Property.NEGATIVE,
            [k._conditional() for k in self.terms],
            "sum",
            "a sum of conditionally positive definite kernels is one",
        )

    def _all(self, about: Property, premises: list[Claim], rule: str, reason: str) -> Claim:
        if all(p.proved for p in premises):
            strict = any(p.strict for p in premises)
            return claim(about, self, rule, reason, premises, strict=strict)
        return unproved(about, self, "not every term is known to be so", premises)

    @property
    def bounds(self) -> Interval:
        return reduce(lambda a, b: a + b, (k.bounds for k in self.terms))

    @property
    def diagonal_bounds(self) -> Interval:
        return reduce(lambda a, b: a + b, (k.diagonal_bounds for k in self.terms))

    def __repr__(self) -> str:
        return " + ".join(f"({k!r})" if isinstance(k, Sum) else repr(k) for k in self.terms)


class Product(_Associative):
    r"""Pointwise product of kernels: ``k1 * k2 * ...``.

    Positive definite if every factor is (Schur).  Strictly, if one factor is strict and the others have a
    positive diagonal.
    """

    factors: tuple[Kernel, ...]
    _infix: ClassVar[bool] = True

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return reduce(lambda a, b: a * b, (k._define(x, y, m) for k in self.factors))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        return reduce(np.multiply, self._blocks(X, Y))

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return reduce(np.multiply, self._diagonals(X))

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        return self._leibniz(self._gradients(X, Y))

    def _diagonal_gradient(self, X: Prepared) -> tuple[np.ndarray, Gradient]:
        return self._leibniz(
            [
                (name, *child._diagonal_gradient(part))
                for (name, child), part in zip(self._children(), X.parts, strict=True)
            ]
        )

    @staticmethod
    def _leibniz(pieces: list[tuple[str, np.ndarray, Gradient]]) -> tuple[np.ndarray, Gradient]:
        gradient: Gradient = {}
        for i, (name, K, inner) in enumerate(pieces):
            others = reduce(np.multiply, (P for j, (_, P, _) in enumerate(pieces) if j != i), np.ones_like(K))
            gradient.update({f"{name}__{key}": times(others, g) for key, g in inner.items()})
        return reduce(np.multiply, (K for _, K, _ in pieces)), gradient

    def _certify(self) -> Certificate:
        premises = [k.certificate.positive for k in self.factors]
        if not all(p.proved for p in premises):
            return Certificate.unknown(self, "not every factor is known to be positive definite", premises)
        strict = any(p.strict for p in premises) and all(
            p.strict or k.diagonal_bounds.is_positive for p, k in zip(premises, self.factors, strict=True)
        )
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
        return claim(Property.NEGATIVE, self, "sum", "-log of a product is a sum", premises)

    @property
    def bounds(self) -> Interval:
        return reduce(lambda a, b: a * b, (k.bounds for k in self.factors))

    @property
    def diagonal_bounds(self) -> Interval:
        return reduce(lambda a, b: a * b, (k.diagonal_bounds for k in self.factors))

    def __repr__(self) -> str:
        return " * ".join(map(_factor, self.factors))


class Power(Node):
    r"""An integer power of a kernel: ``k ** n``.

    Positive definite if the kernel is, by repeated Schur products; ``k ** 0`` is the constant 1.
    """

    base: Kernel
    exponent: int = parameter(low=0, integer=True)
    _infix: ClassVar[bool] = True

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return self.base._define(x, y, m) ** self.exponent

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        return checked(integer_power(self._blocks(X, Y)[0], self.exponent), self, "exponent")

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
            else claim(Property.NEGATIVE, self, "scaling", "-log k^n = n (-log k)", [inner])
        )

    @property
    def bounds(self) -> Interval:
        return self.base.bounds.power(self.exponent)

    @property
    def diagonal_bounds(self) -> Interval:
        return self.base.diagonal_bounds.power(self.exponent)

    def __repr__(self) -> str:
        return f"{wrap(self.base)} ** {self.exponent}"


def _factor(k: Kernel) -> str:
    """``repr`` of a kernel as an operand of ``*``: only powers bind more tightly."""
    return repr(k) if isinstance(k, Power) else wrap(k)


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


def checked(K: np.ndarray, kernel: Kernel, name: str) -> np.ndarray:
    """Return ``K`` unless it overflowed, which is an error naming the parameter."""
    if np.isfinite(K).all():
        return K
    value = getattr(kernel, name)
    raise ParameterError(
        f"{type(kernel).__name__}: `{name}={value!r}` overflows on these data (a value exceeds "
        f"{np.finfo(K.dtype).max:.3g}). Scale the data, normalise the kernel or lower `{name}`."
    )
