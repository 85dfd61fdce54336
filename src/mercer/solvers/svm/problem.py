r"""The quadratic problem behind all support vector machines, and how far a point is from solving it.

.. math::

    \min_b \; D(b) = \tfrac12 b^\top K b + q^\top b + w \|b\|_1 \quad\text{subject to}\quad
    l_i \le b_i \le h_i, \qquad l_i \le 0 \le h_i

and, by ``constraint``, that :math:`\sum_i b_i` is given (``"sum"``), that the sums of the positive and of the
negative :math:`b_i` are (``"signed"``), or nothing more (``"free"``).

=====================  ===============================  ================  ==================  ==========
machine                :math:`b_i`                      :math:`q_i`       box                 constraint
=====================  ===============================  ================  ==================  ==========
SVC                    :math:`y_i \alpha_i`             :math:`-y_i`      0 to C on y's side  sum = 0
SVR                    :math:`\alpha_i - \alpha_i^*`    :math:`-y_i`      -C to C             sum = 0
NuSVC                  :math:`y_i \alpha_i`             0                 0 to 1 on y's side  signed
NuSVR                  :math:`\alpha_i - \alpha_i^*`    :math:`-y_i`      -C to C             signed
OneClassSVM            :math:`\alpha_i`                 0                 0 to 1              sum
EnclosingBall          :math:`\alpha_i`                 -k(x_i, x_i)/2    0 to C              sum = 1
=====================  ===============================  ================  ==================  ==========

(SVR has :math:`w = \epsilon`, the others :math:`w = 0`.)  With :math:`f = K b + q`, raising :math:`b_i`
lowers the objective at the rate :math:`u_i = -f_i - w \, \mathrm{sign}(b_i + 0)`, and lowering it at the rate
:math:`-d_i`, :math:`d_i = -f_i - w \, \mathrm{sign}(b_i - 0)`.  A point is optimal iff
:math:`\max u_i \le \min d_i` over the variables that may be raised and lowered; any number in between is the
multiplier of the constraint, which is the offset of the machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["BoxProblem", "Optimality"]

#: The share of the variables that must be at a bound for the others to grow with them.
BOUND_SHARE = 0.2

Vector: TypeAlias = NDArray[np.float64]
Constraint: TypeAlias = Literal["sum", "signed", "free"]


class Optimality(NamedTuple):
    r"""How far a point is from the optimum.

    Attributes
    ----------
    violation : float
        Largest :math:`u_i - d_j`; 0 at the optimum.
    offsets : tuple of float
        Multipliers of the constraints: one for ``"sum"``, those of the positive and of the negative
        variables for ``"signed"``, none for ``"free"``.
    objective : float
        :math:`D(b)`.
    gap : float
        Duality gap, at least :math:`D(b) - \min D`.
    """

    violation: float
    offsets: tuple[float, ...]
    objective: float
    gap: float


@dataclass(frozen=True, eq=False)
class BoxProblem:
    """One problem; the matrix K is passed where it is needed."""

    linear: Vector
    low: Vector
    high: Vector
    width: float = 0.0
    constraint: Constraint = "sum"

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.linear)

    def scaled(self, factor: float) -> BoxProblem:
        """The same with bounds that are ``factor`` times as far."""
        return replace(self, low=factor * self.low, high=factor * self.high)

    def stretched(self, b: Vector, f: Vector, other: BoxProblem, factor: float) -> tuple[Vector, Vector]:
        """The same point in the box of ``other``, which is ``factor`` times as large, and its gradient there.

        What was at a bound is at a bound.
        """
        at_high, at_low = b == self.high, b == self.low
        result = np.where(at_high, other.high, np.where(at_low, other.low, factor * b))
        return np.clip(result, other.low, other.high), self.linear + factor * (f - self.linear)

    def grown(self, b: Vector, f: Vector, other: BoxProblem, factor: float) -> tuple[Vector, Vector]:
        """A start for ``other``, whose box is ``factor`` times as large, from the solution, and its gradient.

        In proportion to the box if some variables are at a bound, which they move with; else where it is:
        with none at a bound, that is the solution.
        """
        bound = int(((b != 0) & ((b == self.high) | (b == self.low))).sum())
        if factor >= 1.0 and bound < BOUND_SHARE * np.count_nonzero(b):
            return b, f
        return self.stretched(b, f, other, factor)

    def is_free(self, b: Vector) -> NDArray[np.bool_]:
        """Which variables may move in both directions without a change of slope."""
        inside = (b > self.low) & (b < self.high)
        if self.width > 0 or self.constraint == "signed":
            inside &= b != 0
        return inside

    def groups(self, b: Vector) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """For each constraint, which variables may be raised and which lowered."""
        grows, shrinks = b < self.high, b > self.low
        if self.constraint != "signed":
            return [(grows, shrinks)]
        return [(grows & (b >= 0), b > 0), (b < 0, shrinks & (b <= 0))]

    @np.errstate(over="ignore", invalid="ignore")  # bounds may be close to the largest number
    def optimality(self, b: Vector, f: Vector) -> Optimality:
        """How far ``b`` is from the optimum, where ``f`` is ``K @ b + linear``."""
        up = -f - np.where(b >= 0, self.width, -self.width)
        down = -f - np.where(b > 0, self.width, -self.width)
        violation, offsets = 0.0, []
        free = self.is_free(b)
        for grows, shrinks in self.groups(b):
            high = float(up[grows].max(initial=-np.inf))
            low = float(down[shrinks].min(initial=np.inf))
            if self.constraint == "free":
                violation = max(high, -low, 0.0)
                continue
            violation = max(violation, high - low)
            offsets.append(_between(high, low, up[free & grows & shrinks]))
        objective = 0.5 * float(b @ (f + self.linear)) + self.width * float(np.abs(b).sum())
        return Optimality(violation, tuple(offsets), objective, self._gap(b, f, offsets))

    def _gap(self, b: Vector, f: Vector, offsets: list[float]) -> float:
        """By how much the linear model at ``b`` can fall within the box, with the constraints priced in."""
        price = [*offsets, *offsets][:2] or [0.0, 0.0]
        positive, negative = f + price[0] + self.width, f + price[1] - self.width
        here = np.where(b > 0, positive * b, negative * b)
        least = np.minimum(_lowest(positive, self.high), _lowest(-negative, -self.low))
        return float(np.maximum(here - least, 0.0).sum())


def _lowest(slope: Vector, length: Vector) -> Vector:
    """Least value of ``slope * t`` for ``0 <= t <= length``, which may be infinite."""
    result = np.zeros_like(slope)
    np.multiply(slope, length, out=result, where=slope < 0)
    return result


def _between(high: float, low: float, free: Vector) -> float:
    """The multiplier: what free variables say on average, else the middle of what is possible."""
    if free.size:
        return float(free.mean())
    if np.isinf(high) and np.isinf(low):
        return 0.0
    return low if np.isinf(high) else high if np.isinf(low) else (high + low) / 2
