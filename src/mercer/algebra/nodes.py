"""Shared shape of composite kernels."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Property, Status
from ..domains import Data, Domain, owned
from ..engine.program import Builder, Value
from ..errors import GradientError, ParameterError
from ..intervals import Interval
from ..kernel import Kernel, Prepared
from ..kernel_gradients import Adjoint, Gradient
from .simple import SimpleKernel

__all__ = [
    "Additive",
    "Associative",
    "Multiplicative",
    "Node",
    "Unary",
    "WithPoints",
    "Wrapper",
    "cancelled",
    "claim",
    "collected",
    "frozen",
    "is_scalar",
    "minus",
    "operand",
    "prefixed",
    "product_rule",
    "scalar",
    "scalar_or_inf",
    "show_version",
    "sum_rule",
    "times",
    "unproved",
    "wrap",
]


EPS = float(np.finfo(np.float64).eps)

#: Rounding errors that the terms of a difference may have, kernel values and means of them, in units of eps.
ROUNDINGS = 64


class Node(Kernel):
    """A kernel made of other kernels on the same points: children are prepared once per block."""

    def _simpler(self) -> tuple[Kernel, str] | None:
        """A kernel with the same values about which more is known, and the identity in words."""
        return None

    def _retold(self, inner: Claim, other: Kernel, identity: str, of: str = "") -> Claim:
        """A claim about another kernel with the same values, perhaps on more points, as one about this."""
        if inner.status is Status.UNKNOWN or (inner.refuted and other.domain != self.domain):
            return unproved(inner.about, self, inner.reason, [inner], of=of)
        return replace(
            inner,
            subject=_named(self, of),
            rule="same values",
            reason=identity,
            premises=(inner,),
            conditions=(),
            strict=inner.strict and self.domain.separated_by([other.domain]),
        )

    def _as_simpler(self) -> Certificate | None:
        """The certificate of the simpler kernel, if there is one."""
        found = self._simpler()
        if found is None:
            return None
        claims = found[0].certificate.positive, found[0].certificate.negative
        return Certificate(*(self._retold(inner, *found) for inner in claims))

    def _conditional_rule(self, sign: int) -> Claim:
        own = super()._conditional_rule(sign)
        found = None if own.proved else self._simpler()
        if found is None:
            return own
        return self._retold(found[0]._conditional(sign), *found, of=minus(sign))

    def _infinitely_divisible(self) -> Claim | None:
        found = self._simpler()
        inner = None if found is None else found[0]._infinitely_divisible()
        return None if found is None or inner is None else self._retold(inner, *found, of="-log ")

    def _prepare(self, X: Data) -> Prepared:
        return Prepared(tuple(child._prepare(X) for _, child in self._children))

    def _blocks(self, X: Prepared, Y: Prepared | None) -> list[np.ndarray]:
        """Blocks of all children."""
        columns: Iterable[Any] = X.parts if Y is None else Y.parts
        return [
            child._block(a, None if Y is None else b)
            for (_, child), a, b in zip(self._children, X.parts, columns, strict=True)
        ]

    def _compiled(self, b: Builder, X: Prepared, Y: Prepared | None) -> Iterator[Value]:
        """Compile the children one after the other."""
        columns: Iterable[Any] = X.parts if Y is None else Y.parts
        for (_, child), x, y in zip(self._children, X.parts, columns, strict=True):
            yield b.kernel(child, x, None if Y is None else y)

    def _gradients(self, X: Prepared, Y: Prepared | None) -> list[tuple[str, np.ndarray, Gradient]]:
        """Names, blocks and gradients of all children."""
        columns: Iterable[Any] = X.parts if Y is None else Y.parts
        return [
            (name, *child._gradient(a, None if Y is None else b))
            for (name, child), a, b in zip(self._children, X.parts, columns, strict=True)
        ]

    def _adjoints(self, X: Prepared, Y: Prepared | None) -> list[tuple[str, np.ndarray, Adjoint]]:
        """Names, blocks and adjoints of all children."""
        columns: Iterable[Any] = X.parts if Y is None else Y.parts
        return [
            (name, *child._adjoint(a, None if Y is None else b))
            for (name, child), a, b in zip(self._children, X.parts, columns, strict=True)
        ]

    def _diagonals(self, X: Prepared) -> list[np.ndarray]:
        """Diagonals of all children."""
        return [child._diagonal(a) for (_, child), a in zip(self._children, X.parts, strict=True)]

    def _diagonal_gradients(self, X: Prepared) -> list[tuple[str, np.ndarray, Gradient]]:
        """Names, diagonals and gradients of all children."""
        return [
            (name, *child._diagonal_gradient(a))
            for (name, child), a in zip(self._children, X.parts, strict=True)
        ]


class Additive(Node):
    """A kernel whose value is the sum of those of its children."""

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        return reduce(np.add, self._blocks(X, Y))

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value:
        return b.add(self._compiled(b, X, Y))

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return reduce(np.add, self._diagonals(X))

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        return sum_rule(self._gradients(X, Y))

    def _diagonal_gradient(self, X: Prepared) -> tuple[np.ndarray, Gradient]:
        return sum_rule(self._diagonal_gradients(X))

    def _adjoint(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Adjoint]:
        pieces = self._adjoints(X, Y)
        return reduce(np.add, (K for _, K, _ in pieces)), lambda W: collected(pieces, [W] * len(pieces))

    @property
    def bounds(self) -> Interval:
        return reduce(lambda a, b: a + b, (k.bounds for _, k in self._children))

    @property
    def diagonal_bounds(self) -> Interval:
        return reduce(lambda a, b: a + b, (k.diagonal_bounds for _, k in self._children))


class Multiplicative(Node):
    """A kernel whose value is the product of those of its children."""

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        return reduce(np.multiply, self._blocks(X, Y))

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value:
        return b.multiply(self._compiled(b, X, Y))

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return reduce(np.multiply, self._diagonals(X))

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        return product_rule(self._gradients(X, Y))

    def _diagonal_gradient(self, X: Prepared) -> tuple[np.ndarray, Gradient]:
        return product_rule(self._diagonal_gradients(X))

    def _adjoint(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Adjoint]:
        pieces = self._adjoints(X, Y)
        blocks = [K for _, K, _ in pieces]

        def adjoint(W: np.ndarray) -> Gradient:
            weights = [reduce(np.multiply, blocks[:i] + blocks[i + 1 :], W) for i in range(len(blocks))]
            return collected(pieces, weights)

        return reduce(np.multiply, blocks), adjoint

    @property
    def bounds(self) -> Interval:
        return reduce(lambda a, b: a * b, (k.bounds for _, k in self._children))

    @property
    def diagonal_bounds(self) -> Interval:
        return reduce(lambda a, b: a * b, (k.diagonal_bounds for _, k in self._children))


class Unary(SimpleKernel, Node):
    """A kernel that is a formula of another: ``f(k(x, y))``, elementwise."""

    base: Kernel

    def _pair(self, x: Any, y: Any, m: Arithmetic) -> tuple[Any, ...]:
        return (self.base._define(x, y, m),)

    def _pairs(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, ...]:
        return tuple(self._blocks(X, Y))

    def _steps(self, b: Builder, X: Prepared, Y: Prepared | None) -> tuple[Value, ...]:
        return tuple(self._compiled(b, X, Y))

    def _derivative(self, K: np.ndarray, F: np.ndarray) -> np.ndarray | None:
        """Derivative of the function at ``K``, where ``F`` is its value; None if there is no closed form."""
        return None

    def _own_gradient(self, K: np.ndarray, F: np.ndarray) -> Gradient:
        """Gradient with respect to the node's own log-parameters."""
        return {}

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return self._checked(self._evaluate(*self._diagonals(X)))

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        [(name, K, inner)] = self._gradients(X, Y)
        F = self._checked(self._evaluate(K))
        slope = self._derivative(K, F)
        if slope is None:
            raise GradientError(f"{self!r} has no closed-form gradient; use finite differences of block.")
        gradient = self._own_gradient(K, F)
        gradient.update({f"{name}__{key}": times(slope, g) for key, g in inner.items()})
        return F, gradient

    def _adjoint(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Adjoint]:
        pieces = self._adjoints(X, Y)
        [(_, K, _)] = pieces
        F = self._checked(self._evaluate(K))
        slope = self._derivative(K, F)
        if slope is None:
            return F, lambda W: {}
        own = self._own_gradient(K, F)
        return F, lambda W: {
            **{name: np.tensordot(W, g, axes=2) for name, g in own.items()},
            **collected(pieces, [W * slope]),
        }


class Wrapper(Kernel):
    """A kernel with the values of another on prepared data: only the way to them, or the proof, differs."""

    base: Kernel

    def _prepare(self, X: Data) -> Data:
        return self.base._prepare(X)

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        return self.base._block(X, Y)

    def _given(self, X: Data, Y: Data | None) -> np.ndarray | None:
        return self.base._given(X, Y)

    def _embedding(self, X: Data, like: Data | None = None) -> Any:
        return self.base._embedding(X, like)

    def _feature_names(self, X: Data) -> Sequence[str]:
        return self.base._feature_names(X)

    def _compile(self, b: Builder, X: Data, Y: Data | None) -> Value:
        return b.kernel(self.base, X, Y)

    def _diagonal(self, X: Data) -> np.ndarray:
        return self.base._diagonal(X)

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        K, inner = self.base._gradient(X, Y)
        return K, prefixed("base", inner)

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        d, inner = self.base._diagonal_gradient(X)
        return d, prefixed("base", inner)

    def _adjoint(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Adjoint]:
        K, inner = self.base._adjoint(X, Y)
        return K, lambda W: prefixed("base", inner(W))

    @property
    def bounds(self) -> Interval:
        return self.base.bounds


class WithPoints(Node):
    """A kernel that keeps points, which it compares others with."""

    base: Kernel
    points: Any

    if TYPE_CHECKING:  # the points as the base prepares them
        _reference: ClassVar[Any]

    @property
    def domain(self) -> Domain:
        return self.base.domain.comparable(self.points)

    @property
    def is_precise(self) -> bool:
        return False

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._validate()  # what follows from the points is not part of the state


class Associative(Node):
    """Common part of sums and products of two or more kernels; operands of the same class are flattened."""

    @classmethod
    def of(cls, *kernels: Kernel) -> Kernel:
        """Combine kernels."""
        return cls(tuple(kernels)) if len(kernels) > 1 else kernels[0]  # type: ignore[call-arg]

    def _validate(self) -> None:
        ((name, _),) = self._declared  # not the fields, which are kept as they are
        operands = getattr(self, name)
        flat: list[Any] = []
        for k in operands if isinstance(operands, tuple) else ():
            flat.extend(getattr(k, name) if type(k) is type(self) else [k])
        if len(flat) < 2 or not all(isinstance(k, Kernel) for k in flat):
            owner = type(self).__name__
            raise ParameterError(f"{owner}: `{name}` must be two or more kernels. Got {operands!r}.")
        object.__setattr__(self, name, tuple(flat))
        _ = self.domain  # operands without common points are refused here, not at the first block


def frozen(points: Data) -> Data:
    """Validated points as a kernel keeps them: nobody else can change them."""
    points = owned(points, points)
    return tuple(points) if isinstance(points, list) else points


def cancelled(*terms: Any, eps: float = EPS) -> Any:
    """Sum of numbers or arrays, exactly 0 where it is no more than the rounding errors of its terms."""
    total = sum(terms)
    return total * (abs(total) > ROUNDINGS * eps * sum(map(abs, terms)))


def times(K: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Multiply a block into a gradient that may have a further axis."""
    return np.asarray(K[..., None] * g if g.ndim > K.ndim else K * g)


def sum_rule(pieces: list[tuple[str, np.ndarray, Gradient]]) -> tuple[np.ndarray, Gradient]:
    """Sum of named blocks, and its gradient."""
    gradient: Gradient = {}
    for name, _, inner in pieces:
        gradient.update(prefixed(name, inner))
    return reduce(np.add, (K for _, K, _ in pieces)), gradient


def product_rule(pieces: list[tuple[str, np.ndarray, Gradient]]) -> tuple[np.ndarray, Gradient]:
    """Product of named blocks, and its gradient."""
    gradient: Gradient = {}
    for i, (name, K, inner) in enumerate(pieces):
        others = reduce(np.multiply, (P for j, (_, P, _) in enumerate(pieces) if j != i), np.ones_like(K))
        gradient.update({f"{name}__{key}": times(others, g) for key, g in inner.items()})
    return reduce(np.multiply, (K for _, K, _ in pieces)), gradient


def collected(pieces: list[tuple[str, np.ndarray, Adjoint]], weights: list[np.ndarray]) -> Gradient:
    """Sums of all children, each with weights of its own."""
    sums: Gradient = {}
    for (name, _, adjoint), W in zip(pieces, weights, strict=True):
        sums.update(prefixed(name, adjoint(W)))
    return sums


def prefixed(name: str, gradient: Gradient) -> Gradient:
    """Put the name of a child before the names of its parameters."""
    return {f"{name}__{key}": value for key, value in gradient.items()}


def is_scalar(value: Any) -> bool:
    """Whether the value is one real number."""
    return isinstance(value, numbers.Real) or (isinstance(value, np.ndarray) and value.ndim == 0)


def scalar(value: Any, operation: str) -> float:
    """Return a finite Python float, or raise an error naming the operation."""
    number = float(value)
    if not math.isfinite(number):
        raise ParameterError(f"{operation} needs a finite number. Got {number!r}.")
    return number


def scalar_or_inf(value: Any) -> float:
    """Return a Python float that may be infinite, but not NaN."""
    number = float(value)
    if math.isnan(number):
        raise ParameterError("power_series: `radius` must be a number > 0. Got nan.")
    return number


def wrap(k: Kernel) -> str:
    """``repr`` of a kernel as an operand of a method call or a power."""
    text = repr(k)
    return f"({text})" if getattr(k, "_infix", False) else text


def operand(k: Kernel) -> str:
    """``repr`` of a kernel as an operand of ``*``: only powers bind more tightly."""
    return repr(k) if getattr(k, "_tight", False) else wrap(k)


def show_version(k: Any) -> str:
    """``repr`` of the version of a kernel that holds a function, as a further argument."""
    return "" if k.version is None else f", version={k.version!r}"


def claim(
    about: Property,
    subject: Kernel,
    rule: str,
    reason: str,
    premises: Iterable[Claim] = (),
    *,
    of: str = "",
    strict: bool = False,
    conditions: Iterable[str] = (),
    order: int = 0,
) -> Claim:
    """Make a proved claim; ``of="-"`` or ``of="-log "`` makes it one about that function of the kernel."""
    return Claim(
        about,
        Status.PROVED,
        _named(subject, of),
        rule,
        reason,
        tuple(premises),
        tuple(conditions),
        strict,
        order,
    )


def minus(sign: int) -> str:
    """What stands before a kernel in a claim about ``sign * k``."""
    return "-" if sign < 0 else ""


def unproved(
    about: Property, subject: Kernel, reason: str, premises: Iterable[Claim] = (), *, of: str = ""
) -> Claim:
    """Make an open claim that shows which premises are missing."""
    return Claim(about, Status.UNKNOWN, _named(subject, of), "", reason, tuple(premises))


def _named(subject: Kernel, of: str) -> str:
    return of + wrap(subject) if of else repr(subject)
