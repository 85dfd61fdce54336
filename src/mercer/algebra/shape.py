"""Changing the points or the scale: conformal factors, pull-backs, centring."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Property
from ..contributions import Contribution
from ..domains import Data, Domain, Objects, items, size, to_float
from ..engine.program import Builder, Value
from ..errors import InputError
from ..intervals import Interval
from ..kernel import Gradient, Kernel, Prepared
from ..parameters import show
from .nodes import (
    Node,
    WithPoints,
    Wrapper,
    cancelled,
    claim,
    frozen,
    minus,
    prefixed,
    show_version,
    times,
    wrap,
)

__all__ = ["Centered", "Conformal", "Pullback", "source_of"]


class Conformal(Node):
    r"""Conformal scaling: ``k.conformal(f)``.

    .. math:: (x, y) \mapsto f(x) f(y) k(x, y)

    Positive definite for any real function ``f`` if ``k`` is; strictly, if ``k`` is and ``f`` has no zero.
    (With :math:`f = 1/a`, a positive function ``a``, it is the kernel :math:`k / (a(x) a(y))`; with ``k``
    constant it is :math:`f(x) f(y)`.)

    Parameters
    ----------
    base : Kernel
    factor : callable
        Function of one point, as the domain passes it (a row for vectors), to a real number.
    version : str, optional
        Your word on which code the function has; see :meth:`~mercer.Kernel.digest`.
    nonzero : bool, default=False
        Your word that the function has no zero; checked on every block.
    """

    base: Kernel
    factor: Callable[[Any], float]
    version: str | None = None
    nonzero: bool = False

    @property
    def is_precise(self) -> bool:
        return False

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        scale = m.real(float(self.factor(to_float(x)))) * m.real(float(self.factor(to_float(y))))
        return scale * self.base._define(x, y, m)

    def _prepare(self, X: Data) -> Prepared:
        values = np.array([float(self.factor(x)) for x in items(X)])
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise InputError(f"conformal: the factor must be finite. Got {values[row]} at point {row}.")
        if self.nonzero and not values.all():
            row = int(np.flatnonzero(values == 0)[0])
            raise InputError(f"conformal: the factor is said to be nonzero. It is 0 at point {row}.")
        return Prepared((self.base._prepare(X),), (values,))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        s, t = X.arrays[0], (X if Y is None else Y).arrays[0]
        return np.asarray(s[:, None] * self._blocks(X, Y)[0] * t)

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value:
        columns = None if Y is None else Y.arrays[0]
        return b.outer_multiply(next(self._compiled(b, X, Y)), X.arrays[0], columns)

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return np.asarray(X.arrays[0] ** 2 * self._diagonals(X)[0])

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        [(name, K, inner)] = self._gradients(X, Y)
        s, t = X.arrays[0], (X if Y is None else Y).arrays[0]
        weight = s[:, None] * t[None, :]
        return weight * K, prefixed(name, {key: times(weight, g) for key, g in inner.items()})

    def _certify(self) -> Certificate:
        positive = self.base.certificate.positive
        if not positive.proved:
            return Certificate.unknown(self, "the base is not known to be positive definite", [positive])
        return Certificate.psd(
            self,
            "conformal scaling",
            "c'Kc with c_i f(x_i) in place of c_i",
            strict=positive.strict and self.nonzero,
            premises=[positive],
            conditions=["f(x) != 0 (the user's word, checked on every block)"] if self.nonzero else [],
        )

    def __repr__(self) -> str:
        options = f"{', nonzero=True' if self.nonzero else ''}{show_version(self)}"
        return f"{wrap(self.base)}.conformal({show(self.factor)}{options})"


class Pullback(Wrapper):
    r"""Pull-back through a map: ``k.on(f)``.

    .. math:: (x, y) \mapsto k(f(x), f(y))

    Positive (negative) definite if ``k`` is, for any map; strictly, if the map is one-to-one.

    Parameters
    ----------
    base : Kernel
    map : callable
        Function of one point (or, with ``vectorized``, of the whole sequence of points).
    source : Domain, optional
        Domain of the new points; any objects by default.
    injective : bool, default=False
        The user's word that distinct points have distinct images.
    vectorized : bool, default=False
        Whether ``map`` takes all points at once and returns all images.
    version : str, optional
        Your word on which code the map has; see :meth:`~mercer.Kernel.digest`.
    """

    base: Kernel
    map: Callable[[Any], Any]
    source: Domain = Objects()
    injective: bool = False
    vectorized: bool = False
    version: str | None = None

    @property
    def domain(self) -> Domain:
        return self.source

    @property
    def is_precise(self) -> bool:
        return False

    def _contributions(self, x: Any, y: Any) -> Iterable[Contribution]:
        return self.base._contributions(*self.base.domain.pair(*items(self._image([x, y]))))

    def _weighted_contributions(
        self, points: Sequence[Any], coefficients: np.ndarray, x: Any
    ) -> Iterable[Contribution]:
        *images, image = items(self._image([*points, x]))
        return self.base._weighted_contributions(images, coefficients, image)

    def _image(self, X: Data) -> Data:
        images = self.map(X) if self.vectorized else [self.map(x) for x in items(X)]
        if size(X) == 0 and not self.vectorized:
            images = np.empty((0, 1)) if hasattr(self.base.domain, "region") else []
        return self.base.domain.validate(images, f"the image of X under {show(self.map)}")

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        a, b = to_float(x), to_float(y)
        if self.vectorized:
            a, b = items(self._image(_one(a)))[0], items(self._image(_one(b)))[0]
        else:
            a, b = self.map(a), self.map(b)
        domain = self.base.domain
        a, b = domain.pair(a, b)
        return self.base._define(domain.to_arithmetic(a, m), domain.to_arithmetic(b, m), m)

    def _normal_form(self) -> Kernel:
        return self.replace(base=self.base.normalized())

    def _prepare(self, X: Data) -> Data:
        return self.base._prepare(self._image(X))

    def _child_data(self, X: Data) -> Data:
        return self._image(X)

    def _certify(self) -> Certificate:
        base = self.base.certificate
        reason = "a subset of the points of the base kernel, some perhaps repeated"
        if base.positive.proved:
            certificate = Certificate.psd(
                self,
                "pull-back",
                reason,
                strict=base.positive.strict and self.injective,
                premises=[base.positive],
                conditions=["the map is one-to-one (the user's word)"] if self.injective else [],
            )
        else:
            certificate = Certificate.unknown(
                self, "refuting points may lie outside the image", [base.positive]
            )
        if base.negative.proved:
            strict = base.negative.strict and self.injective
            negative = claim(Property.NEGATIVE, self, "pull-back", reason, [base.negative], strict=strict)
            certificate = Certificate(certificate.positive, negative)
        return certificate

    def _conditional_rule(self, sign: int) -> Claim:
        inner = self.base._conditional(sign)
        if not inner.proves_order(1):  # polynomials in f(x) are none in x
            return super()._conditional_rule(sign)
        return claim(
            Property.CONDITIONAL,
            self,
            "pull-back",
            "through a map",
            [inner],
            strict=inner.strict and self.injective,
            order=inner.order,
            of=minus(sign),
        )

    def _infinitely_divisible(self) -> Claim | None:
        inner = self.base._infinitely_divisible()
        return (
            None
            if inner is None
            else claim(Property.NEGATIVE, self, "pull-back", "through a map", [inner], of="-log ")
        )

    @property
    def diagonal_bounds(self) -> Interval:
        return self.base.diagonal_bounds

    def __repr__(self) -> str:
        options = "" if self.source == source_of(self.map) else f", domain={self.source!r}"
        options += ", injective=True" if self.injective else ""
        options += ", vectorized=True" if self.vectorized else ""
        return f"{wrap(self.base)}.on({show(self.map)}{options}{show_version(self)})"


def source_of(map: Callable[[Any], Any]) -> Domain:
    """The points that a map accepts: its own domain, or any objects."""
    domain = getattr(map, "domain", None)
    return domain if isinstance(domain, Domain) else Objects()


def _one(x: Any) -> Any:
    """Return a sequence holding one point, an array if the point is one."""
    return x[None, :] if isinstance(x, np.ndarray) else [x]


class Centered(WithPoints):
    r"""Kernel centred at the mean of given points: ``k.centered(X)``.

    .. math:: (x, y) \mapsto \langle \Phi(x) - \bar\Phi, \Phi(y) - \bar\Phi \rangle,
              \qquad \bar\Phi = \tfrac1n \sum_i \Phi(x_i)

    Positive definite if ``k`` is (even if only :math:`-k` is negative definite).  The points are kept in
    the kernel.  Block cost: that of ``k``, plus one row of ``k`` with the points per new point.
    """

    if TYPE_CHECKING:  # computed once, from the points
        _mean: ClassVar[float]
        _eps: ClassVar[float]  # relative rounding error of one of the values that the mean is of

    def _validate(self) -> None:
        points = self.base.domain.validate(self.points, "X")
        if size(points) == 0:
            raise InputError("centered: X must have at least one point.")
        object.__setattr__(self, "points", frozen(points))
        object.__setattr__(self, "_reference", self.base._prepare(self.points))
        values = self.base._tiles(self._reference, None)
        object.__setattr__(self, "_mean", float(values.mean()))
        object.__setattr__(self, "_eps", float(np.finfo(values.dtype).eps))

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return self.base._define(x, y, m) - self._row(x, m) - self._row(y, m) + m.real(self._mean)

    def _self_value(self, x: Any, m: Arithmetic) -> Any:
        terms = self.base._define(x, x, m), -2 * self._row(x, m), m.real(self._mean)
        return cancelled(*terms, eps=self._eps)

    def _row(self, x: Any, m: Arithmetic) -> Any:
        """Mean of the values of a point with those that are kept."""
        points = [self.base.domain.to_arithmetic(p, m) for p in items(self.points)]
        return m.fsum(self.base._define(x, p, m) for p in points) / len(points)

    def _prepare(self, X: Data) -> Prepared:
        part = self.base._prepare(X)
        return Prepared((part,), (self.base._tiles(part, self._reference).mean(axis=1),))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        rows, columns = X.arrays[0], (X if Y is None else Y).arrays[0]
        return np.asarray(self._blocks(X, Y)[0] - (rows[:, None] + columns) + self._mean)

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value:
        rows, columns = -X.arrays[0], None if Y is None else -Y.arrays[0]
        return b.shift(b.outer_add(next(self._compiled(b, X, Y)), 1.0, rows, columns), self._mean)

    def _diagonal(self, X: Prepared) -> np.ndarray:
        rows = X.arrays[0]
        eps = max(self._eps, float(np.finfo(rows.dtype).eps))
        return np.asarray(cancelled(self._diagonals(X)[0], -2 * rows, self._mean, eps=eps))

    def _certify(self) -> Certificate:
        positive, conditional = self.base.certificate.positive, self.base._conditional()
        premise = positive if positive.proved else conditional
        if not premise.proves_order(1):
            return Certificate.unknown(self, "the base is not known to be positive definite", [positive])
        return Certificate.psd(
            self, "centring", "coefficients c and -sum(c)/n on the points sum to zero", premises=[premise]
        )

    def __repr__(self) -> str:
        return f"{wrap(self.base)}.centered({show(self.points)})"
