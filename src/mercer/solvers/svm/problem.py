r"""The quadratic problem behind all support vector machines, and how far a point is from solving it.

.. math::

    \min_\beta \; D(\beta) = \tfrac12 \beta^\top K \beta + q^\top \beta + \epsilon \|\beta\|_1
    \quad\text{subject to}\quad l_i \le \beta_i \le h_i, \qquad l_i \le 0 \le h_i

and, by ``constraint``, that :math:`\sum_i \beta_i` is given (``"sum"``), that the sums of the positive and
of the negative :math:`\beta_i` are (``"signed"``), or nothing more (``"free"``).

=====================  ===============================  ================  ==================  ==========
machine                :math:`\beta_i`                  :math:`q_i`       box                 constraint
=====================  ===============================  ================  ==================  ==========
SVC                    :math:`y_i \alpha_i`             :math:`-y_i`      0 to C on y's side  sum = 0
SVR                    :math:`\alpha_i - \alpha_i^*`    :math:`-y_i`      -C to C             sum = 0
NuSVC                  :math:`y_i \alpha_i`             0                 0 to 1 on y's side  signed
NuSVR                  :math:`\alpha_i - \alpha_i^*`    :math:`-y_i`      -C to C             signed
OneClassSVM            :math:`\alpha_i`                 0                 0 to 1              sum
EnclosingBall          :math:`\alpha_i`                 -k(x_i, x_i)/2    0 to C              sum = 1
=====================  ===============================  ================  ==================  ==========

(SVR has :math:`\epsilon > 0`, the others :math:`\epsilon = 0`.)  With the gradient :math:`g = K \beta + q`,
raising :math:`\beta_i` lowers the objective at the rate :math:`u_i = -g_i - \epsilon \,
\mathrm{sign}(\beta_i + 0)`, and lowering it at the rate :math:`-d_i`, :math:`d_i = -g_i - \epsilon \,
\mathrm{sign}(\beta_i - 0)`.  A point is optimal iff :math:`\max u_i \le \min d_i` over the variables that
may be raised and lowered; any number in between is the multiplier of the constraint, which is the bias of
the machine.  ``native/svm/optimality.hpp`` has the definition of the violation, the multipliers and the
duality gap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ... import _native

__all__ = ["CONSTRAINTS", "DOUBLE_ROUNDING", "SINGLE_ROUNDING", "BoxProblem", "Optimality"]

Vector: TypeAlias = NDArray[np.float64]
Constraint: TypeAlias = Literal["sum", "signed", "free"]

CONSTRAINTS: dict[str, int] = {"sum": _native.SUM, "signed": _native.SIGNED, "free": _native.FREE}
_MULTIPLIERS = {"sum": 1, "signed": 2, "free": 0}

#: Relative rounding of a value of K in single precision, and a little for how it was computed.
SINGLE_ROUNDING = 1.1 * 2.0**-24

#: Rounding error of a gradient in double precision, relative to the largest sum of ``|K_ij beta_j|``: two
#: orders of summation differed by up to a quarter of 2^-53, mostly by a tenth.
DOUBLE_ROUNDING = 2.0**-56


class Optimality(NamedTuple):
    r"""How far a point is from the optimum.

    Attributes
    ----------
    violation : float
        Largest :math:`u_i - d_j`; 0 at the optimum.
    multipliers : tuple of float
        Multipliers of the constraints: one for ``"sum"``, those of the positive and of the negative
        variables for ``"signed"``, none for ``"free"``.
    objective : float
        :math:`D(\beta)`.
    gap : float
        Duality gap, at least :math:`D(\beta) - \min D`.
    """

    violation: float
    multipliers: tuple[float, ...]
    objective: float
    gap: float


@dataclass(frozen=True, eq=False)
class BoxProblem:
    """One problem; the matrix K is passed where it is needed."""

    linear: Vector
    low: Vector
    high: Vector
    epsilon: float = 0.0
    constraint: Constraint = "sum"

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.linear)

    @property
    def has_kink(self) -> bool:
        """Whether the rate at which the objective falls changes where a variable is zero."""
        return self.epsilon > 0 or self.constraint == "signed"

    def scaled(self, factor: float) -> BoxProblem:
        """The same problem with bounds ``factor`` times as far."""
        return replace(self, low=factor * self.low, high=factor * self.high)

    def warm_start(self, beta: Vector, grad: Vector, factor: float) -> tuple[Vector, Vector]:
        """A start for ``self.scaled(factor)`` from a solution, and its gradient.

        In proportion to the box, so that variables at a bound stay there; but without any at a bound a
        solution for a smaller box is one for the larger box too.
        """
        at_high, at_low = (beta == self.high) & (beta != 0), (beta == self.low) & (beta != 0)
        if factor >= 1.0 and not (at_high | at_low).any():
            return beta, grad
        other = self.scaled(factor)
        result = np.where(at_high, other.high, np.where(at_low, other.low, factor * beta))
        return np.clip(result, other.low, other.high), self.linear + factor * (grad - self.linear)

    def is_free(self, beta: Vector) -> NDArray[np.bool_]:
        """Which variables may move in both directions without a change of the rate."""
        inside = (beta > self.low) & (beta < self.high)
        return inside & (beta != 0) if self.has_kink else inside

    def optimality(self, beta: Vector, grad: Vector) -> Optimality:
        """How far ``beta`` is from the optimum, where ``grad`` is ``K @ beta + linear``."""
        linear, low, high, beta, grad = (
            np.ascontiguousarray(v, dtype=np.float64) for v in (self.linear, self.low, self.high, beta, grad)
        )
        constraint = CONSTRAINTS[self.constraint]
        found = _native.optimality(linear, low, high, self.epsilon, constraint, beta, grad)
        return self.stated(found)

    def stated(self, found: tuple[float, tuple[float, float], float, float]) -> Optimality:
        """What the native core has found, with the multipliers that the constraint has."""
        violation, multipliers, objective, gap = found
        return Optimality(violation, multipliers[: _MULTIPLIERS[self.constraint]], objective, gap)
