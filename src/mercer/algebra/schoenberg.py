"""From negative definite to positive definite.

Schoenberg's theorem ties both worlds together: ``psi`` is negative definite iff ``exp(-t psi)`` is positive
definite for every t > 0.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..arithmetic import FLOAT, Arithmetic
from ..certificate import Certificate, Claim, Property, Witness
from ..domains import Data, Domain
from ..engine.program import Builder, Value
from ..errors import InputError
from ..intervals import Interval
from ..kernel import Gradient, Kernel, Prepared
from ..parameters import parameter, show
from .nodes import EPS, Node, Unary, cancelled, claim, wrap
from .ring import Constant

__all__ = ["Reciprocal", "Schoenberg", "Shifted"]


class Schoenberg(Unary):
    r"""Exponential of a negative definite kernel: ``psi.schoenberg(t)``.

    .. math:: (x, y) \mapsto \exp(-t \psi(x, y))

    Positive definite for every :math:`t > 0` if :math:`\psi` is negative definite, and infinitely
    divisible.

    Parameters
    ----------
    base : Kernel
        The negative definite kernel.
    t : float, default=1.0
        Rate, > 0.
    """

    base: Kernel
    t: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")

    _overflow: ClassVar[str | None] = "t"

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return m.exp(-m.real(self.t) * t)

    def _derivative(self, K: np.ndarray, F: np.ndarray) -> np.ndarray:
        return -self.t * F

    def _own_gradient(self, K: np.ndarray, F: np.ndarray) -> Gradient:
        return {"t": -self.t * K * F}

    def _certify(self) -> Certificate:
        negative = self.base.certificate.negative
        if not negative.proved:
            return self._scaled_refutation(negative) or Certificate.unknown(
                self, "the base is not known to be negative definite", [negative]
            )
        return Certificate.psd(
            self,
            "Schoenberg",
            "exp(-t psi) is positive definite for negative definite psi",
            strict=negative.strict,
            premises=[negative],
        )

    def _scaled_refutation(self, negative: Claim) -> Certificate | None:
        """A refutation for every t, from a witness w against a homogeneous psi.

        Where ``sum(c) = 0``, ``c'Kc`` is at most ``-r c'Pc + (r^2 / 2) sum |c_i c_j| P_ij^2`` with P the
        values of psi at the witness and ``r = t s^d`` after scaling its points by s: negative for small r.
        """
        w, degree = negative.witness, self.base._homogeneity()
        if not negative.refuted or w is None or degree is None:
            return None
        P = np.array([[self.base(x, y) for y in w.points] for x in w.points])
        c = np.outer(w.coefficients, w.coefficients)
        rate = min(self.t, (w.value - w.error) / float((np.abs(c) * P * P).sum()))
        points = tuple((rate / self.t) ** (1 / degree) * np.asarray(x) for x in w.points)
        value, error = float((c * np.expm1(-rate * P)).sum()), 2 * rate * w.error
        reason = "psi(sx, sy) = s^d psi(x, y) is not negative definite, so that small s refutes every t"
        witness = Witness(points, w.coefficients, value, Property.POSITIVE, 15, error)
        return Certificate.refuted(self, "Schoenberg, by scaling", reason, witness=witness)

    def _infinitely_divisible(self) -> Claim | None:
        negative = self.base.certificate.negative
        return negative if negative.proved else None

    @property
    def bounds(self) -> Interval:
        return self.base.bounds.scale(-self.t).exp()

    @property
    def diagonal_bounds(self) -> Interval:
        return self.base.diagonal_bounds.scale(-self.t).exp()

    def __repr__(self) -> str:
        return f"{wrap(self.base)}.schoenberg({self.t!r})"


class Reciprocal(Unary):
    r"""Reciprocal of a kernel: ``1 / (c + psi)``.

    .. math:: (x, y) \mapsto 1 / u(x, y)

    Positive definite, and infinitely divisible, if ``u`` is negative definite and bounded below by a
    positive number: :math:`1/u = \int_0^\infty e^{-s u} ds`.
    """

    base: Kernel
    _infix: ClassVar[bool] = True

    _overflow: ClassVar[str | None] = None

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return 1 / m.nonzero(t, self._zero)

    def _zero(self, value: float) -> InputError:
        return InputError(f"{self!r} divides by zero. Add a positive constant: 1 / (c + psi).")

    def _derivative(self, K: np.ndarray, F: np.ndarray) -> np.ndarray:
        return np.asarray(-F * F)

    def _certify(self) -> Certificate:
        negative = self.base.certificate.negative
        if negative.proved and self.base.diagonal_bounds.is_positive:
            return Certificate.psd(
                self,
                "mixture of exponentials",
                "1/u is the integral of exp(-s u) over s > 0, u negative definite and u(x, x) > 0",
                strict=negative.strict,
                premises=[negative],
            )
        if isinstance(self.base, Constant) and self.base.value < 0:
            constant = claim(Property.NEGATIVE, self, "constant", "the reciprocal of a constant is one")
            reason = "a single point gives k(x, x) < 0"
            return Certificate.refuted(self, "negative diagonal", reason, negative=constant)
        return Certificate.unknown(
            self, "needs a negative definite denominator with positive diagonal", [negative]
        )

    def _infinitely_divisible(self) -> Claim | None:
        if not (self.base.certificate.is_nds and self.base.diagonal_bounds.is_positive):
            return None
        reason = "u^(-t) is a Gamma mixture of exp(-s u)"
        return claim(
            Property.NEGATIVE,
            self,
            "mixture of exponentials",
            reason,
            [self.base.certificate.negative],
            of="-log ",
        )

    @property
    def bounds(self) -> Interval:
        low, high = self.base.bounds.low, self.base.bounds.high
        if self.base.certificate.is_nds and self.base.diagonal_bounds.is_positive:
            low = max(low, self.base.diagonal_bounds.low)  # psi(x, y) >= (psi(x, x) + psi(y, y)) / 2
        return Interval(low, max(low, high)).reciprocal()

    def __repr__(self) -> str:
        return f"1 / {wrap(self.base)}"


class Shifted(Node):
    r"""The kernel of a negative definite function seen from a point: ``psi.shifted(x0)``.

    .. math:: (x, y) \mapsto \psi(x, x_0) + \psi(y, x_0) - \psi(x, y) - \psi(x_0, x_0)

    Positive definite iff :math:`\psi` is negative definite.

    Parameters
    ----------
    base : Kernel
    origin : point
        The point :math:`x_0` of the domain of ``base``.
    """

    base: Kernel
    origin: Any

    @property
    def domain(self) -> Domain:
        return self.base.domain.comparable(self.origin)

    def _validate(self) -> None:
        origin = self.base.domain.point(self.origin, "origin")
        if isinstance(origin, np.ndarray):
            origin = origin.copy()
            origin.flags.writeable = False
        object.__setattr__(self, "origin", origin)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        psi, x0 = self.base._define, self.base.domain.to_arithmetic(self.origin, m)
        return psi(x, x0, m) + psi(y, x0, m) - psi(x, y, m) - psi(x0, x0, m)

    def _self_value(self, x: Any, m: Arithmetic) -> Any:
        psi, x0 = self.base._define, self.base.domain.to_arithmetic(self.origin, m)
        terms = 2 * psi(x, x0, m), -psi(x, x, m), -psi(x0, x0, m)
        return cancelled(*terms, eps=EPS if m is FLOAT else 0.0)

    def _prepare(self, X: Data) -> Prepared:
        domain = self.base.domain
        raw = domain.validate([self.origin], "origin")
        domain.match(X, raw)
        x0 = self.base._prepare(raw)
        part = self.base._prepare(X)
        to_origin = self.base._block(part, x0)[:, 0] - 0.5 * self.base._diagonal(x0)[0]
        return Prepared((part,), (to_origin,))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        rows, columns = X.arrays[0], (X if Y is None else Y).arrays[0]
        return np.asarray((rows[:, None] + columns) - self._blocks(X, Y)[0])

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value:
        columns = None if Y is None else Y.arrays[0]
        return b.outer_add(next(self._compiled(b, X, Y)), -1.0, X.arrays[0], columns)

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return np.asarray(cancelled(2 * X.arrays[0], -self._diagonals(X)[0]))

    def _certify(self) -> Certificate:
        negative = self.base.certificate.negative
        if not negative.proved:
            return Certificate.unknown(self, "the base is not known to be negative definite", [negative])
        return Certificate.psd(
            self,
            "shift",
            "psi(x,x0) + psi(y,x0) - psi(x,y) - psi(x0,x0) is PD iff psi is ND",
            premises=[negative],
        )

    def __repr__(self) -> str:
        return f"{wrap(self.base)}.shifted({show(self.origin)})"
