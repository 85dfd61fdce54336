"""The sigmoid kernel, and the points that refute it."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..algebra.nodes import claim
from ..arithmetic import Arithmetic
from ..certificate import Certificate, Property, Witness
from ..domains import Data
from ..intervals import Interval
from ..kernel import Gradient
from ..parameters import parameter
from .dot import DotProduct
from .widths import inner_width

__all__ = ["Sigmoid"]


class Sigmoid(DotProduct):
    r"""Sigmoid kernel: **not** positive definite.

    .. math:: k(x, y) = \tanh(a \langle x, y \rangle + b)

    Refuted for every :math:`a \ne 0` and every :math:`b`, already in one dimension.  With :math:`a = 0` it is
    the constant :math:`\tanh b`, positive definite iff :math:`b \ge 0`.  Block cost: O(n m d).

    Parameters
    ----------
    a : float or "scale", default=1.0
        ``"scale"`` is :math:`1 / (d \, \mathrm{var}(X))` with d the number of features, the value that
        scikit-learn calls ``gamma="scale"``.
    b : float, default=0.0

    Notes
    -----
    Some texts call it positive definite for :math:`a, b \ge 0`; the witness of the certificate refutes that.

    Examples
    --------
    >>> Sigmoid(1.0, 0.0)([1.0], [0.0])
    0.0
    >>> print(Sigmoid(1.0, 0.0).certificate.verdict)
    REFUTED
    """

    a: Any = parameter(default=1.0, scale="log", rules=("scale",))
    b: float = parameter(default=0.0, scale="linear")
    _overflow: ClassVar[str | None] = None

    def _rule(self, name: str, rule: str, X: Data, weight: np.ndarray | None) -> float:
        return 1.0 / inner_width(X, weight) ** 2

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return m.tanh(m.real(self.a) * t + m.real(self.b))

    def _slopes(self, T: np.ndarray, K: np.ndarray) -> Gradient:
        return {"a": self.a * T * (1 - K) * (1 + K)}

    def _certify(self) -> Certificate:
        if not self.is_resolved:  # the factor will be positive, and points are found once it is known
            return Certificate.refuted(self, "witness", "every a > 0 is refuted, whatever b")
        if self.a == 0:
            return self._constant()
        points, coefficients, reason = self._refutation()
        return Certificate.refuted(self, "witness", reason, witness=Witness.of(self, points, coefficients))

    def _constant(self) -> Certificate:
        negative = claim(Property.NEGATIVE, self, "constant", "c'Kc = tanh(b) (sum c)^2 = 0 when sum(c) = 0")
        if self.b >= 0:
            return Certificate(
                claim(Property.POSITIVE, self, "constant", "c'Kc = tanh(b) (sum c)^2 >= 0"), negative
            )
        return Certificate.refuted(
            self,
            "negative diagonal",
            "a single point gives tanh(b) < 0",
            witness=Witness.of(self, [(0.0,)], [1.0]),
            negative=negative,
        )

    def _refutation(self) -> tuple[list[tuple[float]], list[float], str]:
        """Points on the line and coefficients; the quadratic form is below -0.4 for all a != 0 and all b."""
        a, b = self.a, self.b
        unit = 1.0 / math.sqrt(abs(a))
        far = unit * math.sqrt(2.0) * math.sqrt(abs(b) + 5.0)  # |a| far^2 = 2 |b| + 10
        if a < 0:
            return [(far,)], [1.0], "a < 0: k(x, x) = tanh(b - |a| |x|^2) < 0 far from the origin"
        if b <= -0.5:
            return [(0.0,)], [1.0], "b < 0: k(0, 0) = tanh(b) < 0"
        if b < 0.5:
            reason = (
                "tanh^2(a s t + b) exceeds tanh(a s^2 + b) tanh(a t^2 + b) for s large, t small, s t large"
            )
            return [(100.0 * unit,), (0.1 * unit,)], [1.0, -1.0], reason
        reason = "0 is as near to s and to -s as to itself, yet tanh(b - a s^2) is near -1 for s large"
        return [(far,), (0.0,), (-far,)], [1.0, -2.0, 1.0], reason

    bounds = Interval(-1.0, 1.0)
