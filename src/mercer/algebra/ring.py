"""Constants, scaling and sums.

``Sum`` and ``Product`` are different classes and flatten only their own kind, so that expressions mean
exactly what is written.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import chain
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Property, Status, Witness
from ..contributions import Contribution
from ..domains import Data, size
from ..engine.program import Builder, Value
from ..intervals import ZERO, Interval
from ..kernel import Gradient, Kernel, Prepared
from ..kernel_gradients import Adjoint
from ..parameters import parameter
from ..spectral_density import AtZero, Mixture, SpectralDensity, no_density
from .nodes import Additive, Associative, Node, claim, collected, minus, operand, prefixed, unproved
from .spectral import Terms, spectral_witness

__all__ = ["Constant", "Scaled", "Sum", "opposite"]


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

    def _embedding(self, X: Data, like: Data | None = None) -> Any:
        return np.full((size(X), 1), np.sqrt(self.value)) if self.value >= 0 else None

    def _feature_names(self, X: Data) -> list[str]:
        return ["1"]

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        return np.full((size(X), size(X if Y is None else Y)), self.value)

    def _compile(self, b: Builder, X: Data, Y: Data | None) -> Value:
        return b.constant(self.value)

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

    def _spectral_density(self) -> AtZero:
        if self.value <= 0:
            raise no_density(self, "it is not positive")
        return AtZero(mass=self.value)

    def _conditional_rule(self, sign: int) -> Claim:
        reason = "any constant vanishes when sum(c) = 0"
        return claim(Property.CONDITIONAL, self, "constant", reason, of=minus(sign), order=1)

    def _infinitely_divisible(self) -> Claim | None:
        if self.value <= 0:
            return None
        return claim(Property.NEGATIVE, self, "constant", "-log c is a constant", of="-log ")

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

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        return (c.scaled(self.factor) for c in self.base._contributions(x, y))

    def _weighted_contributions(
        self, points: Sequence[Any], coefficients: np.ndarray, x: Any
    ) -> Iterable[Contribution]:
        return self.base._weighted_contributions(points, self.factor * coefficients, x)

    def _collapse(
        self, points: Sequence[Any], coefficients: np.ndarray
    ) -> Callable[[Any], Iterable[Contribution]]:
        return self.base._collapse(points, self.factor * coefficients)

    def _embedding(self, X: Prepared, like: Prepared | None = None) -> Any:
        coordinates = None if like is None else like.parts[0]
        inner = self.base._embedding(X.parts[0], coordinates) if self.factor >= 0 else None
        return None if inner is None else np.sqrt(self.factor) * inner

    def _feature_names(self, X: Prepared) -> Sequence[str]:
        return self.base._feature_names(X.parts[0])

    def _action(self, X: Prepared, Y: Prepared | None, V: np.ndarray) -> np.ndarray | None:
        inner = self.base._action(X.parts[0], None if Y is None else Y.parts[0], V)
        return None if inner is None else self.factor * inner

    def _sparse_block(self, X: Prepared, Y: Prepared | None) -> Any:
        inner = self.base._sparse_block(X.parts[0], None if Y is None else Y.parts[0])
        return None if inner is None else self.factor * inner

    def _spectral_density(self) -> SpectralDensity:
        if self.factor <= 0:
            raise no_density(self, "the factor is not positive")
        return self.base._spectral_density().scaled(self.factor)

    def _self_value(self, x: Any, m: Arithmetic) -> Any:
        return m.real(self.factor) * self.base._self_value(x, m)

    def _normal_form(self) -> Kernel | None:
        return Scaled(self.base.normalized(), 1.0) if self.factor > 0 else None

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        return self.factor * self._blocks(X, Y)[0]

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value:
        return b.scale(next(self._compiled(b, X, Y)), self.factor)

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return self.factor * self._diagonals(X)[0]

    def _squared_distances(self, X: Prepared, Y: Prepared | None) -> np.ndarray | None:
        D = self.base._squared_distances(X.parts[0], None if Y is None else Y.parts[0])
        return None if D is None else self.factor * D

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        [(name, K, inner)] = self._gradients(X, Y)
        K = self.factor * K
        return K, {"factor": K.copy(), **prefixed(name, {k: self.factor * g for k, g in inner.items()})}

    def _diagonal_gradient(self, X: Prepared) -> tuple[np.ndarray, Gradient]:
        d, inner = self.base._diagonal_gradient(X.parts[0])
        d = self.factor * d
        return d, {"factor": d.copy(), **prefixed("base", {k: self.factor * g for k, g in inner.items()})}

    def _adjoint(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Adjoint]:
        pieces = self._adjoints(X, Y)
        K = self.factor * pieces[0][1]
        return K, lambda W: {"factor": np.tensordot(W, K, axes=2), **collected(pieces, [self.factor * W])}

    def _certify(self) -> Certificate:
        base = self.base.certificate
        if isinstance(self.base, Scaled) and self.factor < 0 and self.base.factor < 0:
            return self._carried(self.base.base.certificate, self.factor, self.base.factor)
        if self.factor > 0:
            return self._carried(base, self.factor)
        if self.factor == 0:
            reason = "0 times any kernel is the zero kernel"
            return Certificate(
                claim(Property.POSITIVE, self, "zero", reason), claim(Property.NEGATIVE, self, "zero", reason)
            )
        conditional = self.base._conditional()
        if conditional.proves_order(1):
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
        elif base.negative.proved and base.negative.strict and self.base.diagonal_bounds == ZERO:
            # Two points of a witness against the base, with equal coefficients, may refute this too.
            against, witness = base.positive.witness, None
            if against is not None and len(against.points) == 2:
                witness = Witness.of(self, against.points, (1.0, 1.0))
                witness = witness if witness.value < -sys.float_info.min else None
            positive = Claim(
                Property.POSITIVE,
                Status.REFUTED,
                repr(self),
                "Cauchy-Schwarz",
                "k(x, x) = 0 but k(x, y) != 0 for distinct points, so k(x, y)^2 <= k(x, x) k(y, y) fails",
                (base.negative,),
                witness=witness,
            )
        elif not negative.proved and (retold := self._as_simpler()) is not None:
            return retold
        else:
            positive = unproved(Property.POSITIVE, self, "a negative multiple of a kernel")
        return Certificate(positive, negative)

    def _simpler(self) -> tuple[Kernel, str] | None:
        if self.factor < 0 and type(self.base) is Sum:
            return _named_identity(self, "the factor multiplied out, and like terms collected")
        return None

    def _carried(self, inner: Certificate, *factors: float) -> Certificate:
        """Claims about a kernel times factors whose product is positive, be it beyond the range of floats."""
        return Certificate(self._carry(inner.positive, *factors), self._carry(inner.negative, *factors))

    def _carry(self, inner: Claim, *factors: float) -> Claim:
        witness = inner.witness
        if witness is not None:
            value, error = (math.prod((number, *factors)) for number in (witness.value, witness.error))
            is_normal = sys.float_info.min <= abs(value) < math.inf  # else the premise keeps the witness
            witness = replace(witness, value=value, error=error) if is_normal else None
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

    def _conditional_rule(self, sign: int) -> Claim:
        inner = self.base._conditional(sign if self.factor >= 0 else -sign)
        if not inner.proved:
            return super()._conditional_rule(sign)
        return claim(
            Property.CONDITIONAL,
            self,
            "nonnegative scaling",
            "a nonnegative multiple of a conditionally positive definite kernel",
            [inner],
            strict=inner.strict and self.factor != 0,
            order=inner.order,
            of=minus(sign),
        )

    def _infinitely_divisible(self) -> Claim | None:
        inner = self.base._infinitely_divisible() if self.factor > 0 else None
        return (
            None
            if inner is None
            else claim(Property.NEGATIVE, self, "scaling", "adds a constant", [inner], of="-log ")
        )

    @property
    def bounds(self) -> Interval:
        return self.base.bounds.scale(self.factor)

    @property
    def diagonal_bounds(self) -> Interval:
        return self.base.diagonal_bounds.scale(self.factor)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {operand(self.base)}"


class Sum(Associative, Additive):
    r"""Sum of kernels: ``k1 + k2 + ...``.

    Positive definite if every term is; strictly, if one term is, and reads every column that the others read
    of a table.  Negative definite if every term is.
    """

    terms: tuple[Kernel, ...]
    _infix: ClassVar[bool] = True

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return reduce(lambda a, b: a + b, (k._define(x, y, m) for k in self.terms))

    def _spectral_density(self) -> SpectralDensity:
        parts = tuple(k._spectral_density() for k in self.terms)
        return Mixture(parts, mass=math.fsum(p.mass for p in parts))

    def _self_value(self, x: Any, m: Arithmetic) -> Any:
        return reduce(lambda a, b: a + b, (k._self_value(x, m) for k in self.terms))

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        return chain.from_iterable(k._contributions(x, y) for k in self.terms)

    def _weighted_contributions(
        self, points: Sequence[Any], coefficients: np.ndarray, x: Any
    ) -> Iterable[Contribution]:
        return chain.from_iterable(k._weighted_contributions(points, coefficients, x) for k in self.terms)

    def _collapse(
        self, points: Sequence[Any], coefficients: np.ndarray
    ) -> Callable[[Any], Iterable[Contribution]]:
        parts = [k._collapse(points, coefficients) for k in self.terms]
        return lambda x: chain.from_iterable(part(x) for part in parts)

    def _embedding(self, X: Prepared, like: Prepared | None = None) -> Any:
        others: Any = [None] * len(X.parts) if like is None else like.parts
        parts = [k._embedding(a, b) for k, a, b in zip(self.terms, X.parts, others, strict=True)]
        if any(part is None for part in parts):
            return None
        is_sparse = any(scipy.sparse.issparse(part) for part in parts)
        return scipy.sparse.hstack(parts, format="csr") if is_sparse else np.hstack(parts)

    def _feature_names(self, X: Prepared) -> list[str]:
        """Those of the terms, with the number of the term before them where names of two terms are equal."""
        parts = [k._feature_names(part) for k, part in zip(self.terms, X.parts, strict=True)]
        names = [*chain.from_iterable(parts)]
        if len({*names}) == len(names):
            return names
        return [f"{i}: {name}" for i, found in enumerate(parts) for name in found]

    def _action(self, X: Prepared, Y: Prepared | None, V: np.ndarray) -> np.ndarray | None:
        others: Any = [None] * len(X.parts) if Y is None else Y.parts
        total: Any = 0.0
        for k, a, b in zip(self.terms, X.parts, others, strict=True):
            part = k._action(a, b, V)
            if part is None:
                return None
            total = total + part
        return np.asarray(total)

    def _sparse_block(self, X: Prepared, Y: Prepared | None) -> Any:
        columns: Any = [None] * len(X.parts) if Y is None else Y.parts
        pieces = [k._sparse_block(a, b) for k, a, b in zip(self.terms, X.parts, columns, strict=True)]
        return None if any(piece is None for piece in pieces) else reduce(lambda a, b: a + b, pieces)

    def _squared_distances(self, X: Prepared, Y: Prepared | None) -> np.ndarray | None:
        columns: Any = [None] * len(X.parts) if Y is None else Y.parts
        pieces = [k._squared_distances(a, b) for k, a, b in zip(self.terms, X.parts, columns, strict=True)]
        known = [D for D in pieces if D is not None]
        return reduce(np.add, known) if len(known) == len(pieces) else None

    def _certify(self) -> Certificate:
        certificates = [k.certificate for k in self.terms]
        positives = [c.positive for c in certificates]
        negatives = [c.negative for c in certificates]
        positive = self._all(
            Property.POSITIVE, positives, "sum", "a sum of positive definite kernels is positive definite"
        )
        negative = self._all(
            Property.NEGATIVE, negatives, "sum", "a sum of negative definite kernels is negative definite"
        )
        if positive.proved or negative.proved:
            return Certificate(positive, negative)
        retold = self._as_simpler()
        if retold is not None:
            return retold
        witness = spectral_witness(self, _collected(self))
        if witness is None:
            return Certificate(positive, negative)
        reason = "the spectral density takes negative values"
        return Certificate.refuted(self, "Bochner", reason, witness=witness)

    def _simpler(self) -> tuple[Kernel, str] | None:
        return _named_identity(self, "like terms collected")

    def _conditional_rule(self, sign: int) -> Claim:
        premises = [k._conditional(sign) for k in self.terms]
        if not all(p.proved for p in premises):
            return super()._conditional_rule(sign)
        reason = "a sum of conditionally positive definite kernels is one, of the largest of their orders"
        return self._all(Property.CONDITIONAL, premises, "sum", reason, of=minus(sign))

    def _all(self, about: Property, premises: list[Claim], rule: str, reason: str, of: str = "") -> Claim:
        if all(p.proved for p in premises):
            domains = [k.domain for k, p in zip(self.terms, premises, strict=True) if p.strict]
            order = max(p.order for p in premises)
            if about is Property.POSITIVE:
                strict = any(self.domain.separated_by([domain]) for domain in domains)
            else:  # a distance that is a sum is 0 only if all terms are; beyond order 1 there is none
                strict = bool(domains) and order <= 1 and self.domain.separated_by(domains)
            return claim(about, self, rule, reason, premises, strict=strict, of=of, order=order)
        return unproved(about, self, "not every term is known to be so", premises, of=of)

    def __repr__(self) -> str:
        return " + ".join(f"({k!r})" if isinstance(k, Sum) else repr(k) for k in self.terms)


# -- like terms -------------------------------------------------------------------------------
def opposite(k: Kernel) -> Kernel:
    """The kernel ``-k``, with the sign taken into sums and multiples."""
    return _combined(_collected(Scaled(k, -1.0)))


def _named_identity(k: Kernel, identity: str) -> tuple[Kernel, str] | None:
    """The sum of the collected terms of a kernel, unless it is the kernel itself."""
    found = _combined(_collected(k))
    return None if found == k else (found, identity)


def _collected(k: Kernel, factor: Fraction = Fraction(1)) -> Terms:
    """Kernels that are no sums or multiples, with their exact coefficients in ``k``."""
    if type(k) is Constant:
        return [(Constant(1.0), factor * Fraction(k.value))]
    if type(k) is Scaled:
        return _collected(k.base, factor * Fraction(k.factor))
    if type(k) is not Sum:
        found = k._simpler() if isinstance(k, Node) else None
        return [(k, factor)] if found is None else _collected(found[0], factor)
    kernels: list[Kernel] = []  # compared one by one: a kernel that holds a function may have no hash
    coefficients: list[Fraction] = []
    for kernel, coefficient in chain.from_iterable(_collected(term, factor) for term in k.terms):
        if kernel in kernels:
            coefficients[kernels.index(kernel)] += coefficient
        else:
            kernels.append(kernel)
            coefficients.append(coefficient)
    return list(zip(kernels, coefficients, strict=True))


def _combined(terms: Terms) -> Kernel:
    """The sum of multiples of kernels."""
    kernels: list[Kernel] = []
    for k, factor in terms:
        if factor == 0:
            continue
        while not sys.float_info.min <= abs(factor) <= sys.float_info.max:  # by several factors
            step = 2.0**1000 if abs(factor) > 1 else 2.0**-1000
            k, factor = Scaled(k, step), factor / Fraction(step)
        if type(k) is Constant:
            kernels.append(Constant(float(factor)))
        else:
            kernels.append(k if factor == 1 else Scaled(k, float(factor)))
    return Sum.of(*kernels) if kernels else Constant(0.0)
