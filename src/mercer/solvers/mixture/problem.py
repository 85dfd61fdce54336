r"""Many rank-one kernels and a machine: the problem of choosing their weights, and bounds of its minimum.

The kernel is :math:`K = \sum_z d_z v_z v_z^\top` with weights d >= 0 that add up to one.  Minimise over the
weights, coefficients :math:`w_z \in \mathbb{R}^c` and intercepts

.. math:: P = \sum_{ic} \ell(y_{ic}, f_{ic}) + \tfrac12 \sum_z |w_z|^2 / d_z, \qquad
          f = \sum_z v_z w_z^\top + b .

The functions :math:`f_1, \dots, f_c` share the weights.  For fixed d this is the machine of the kernel K; the
best d for fixed w turn the penalty into :math:`\frac12 (\sum_z |w_z|)^2`, which is why most of them are zero.
All of it is one convex problem.  Its dual is, over coefficients A with columns that add up to zero,

.. math:: D = g(A) - \tfrac12 \max_z |v_z^\top A|^2, \qquad w_z = d_z A^\top v_z ,

with the concave :math:`g(A) = -\sum \ell^*(-a_{ic})`.  Any d and A at all bracket the minimum, D <= min <= P.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Bracket", "LargeMargin", "LeastSquares", "MixtureLoss", "MixtureProblem", "MixtureValue"]

Array: TypeAlias = NDArray[np.float64]


class MixtureLoss(Protocol):
    """What is asked of a loss: its values, the gain g, and the form of g."""

    @property
    def curvature(self) -> float:
        """G is ``<Y, A> - curvature / 2 * |A|^2``."""

    @property
    def limit(self) -> float | None:
        """The domain of g is ``0 <= Y * A <= limit``; everything if there is no limit."""

    def loss(self, Y: Array, F: Array) -> float:
        """The sum of the losses."""


@dataclass(frozen=True)
class LargeMargin:
    """C times what is missing to a margin of one; targets are -1 and 1."""

    C: float
    curvature: ClassVar[float] = 0.0

    @property
    def limit(self) -> float:
        return self.C

    def loss(self, Y: Array, F: Array) -> float:
        return self.C * float(np.maximum(0.0, 1.0 - Y * F).sum())


@dataclass(frozen=True)
class LeastSquares:
    """Squared errors over 2 alpha."""

    alpha: float
    limit: ClassVar[float | None] = None

    @property
    def curvature(self) -> float:
        return self.alpha

    def loss(self, Y: Array, F: Array) -> float:
        return float(((Y - F) ** 2).sum()) / (2.0 * self.alpha)


class MixtureValue(NamedTuple):
    """Weights (p,) of the columns, coefficients (n, c), intercepts (c,)."""

    weights: Array
    coefficients: Array
    intercepts: Array


class Bracket(NamedTuple):
    """Bounds of the minimum, and the gap between them relative to the upper one."""

    upper: float
    lower: float

    @property
    def gap(self) -> float:
        return max(1.0 - self.lower / self.upper, 0.0)


class MixtureProblem(NamedTuple):
    """Columns (n, p), dense or sparse; targets (n, c); the loss."""

    columns: Any
    targets: Array
    loss: MixtureLoss

    def prices(self, A: Array) -> Array:
        """The squared lengths of ``v_z' A``, which say what a column is worth."""
        return np.asarray(((self.columns.T @ A) ** 2).sum(axis=1))

    def bracket(self, v: MixtureValue) -> Bracket:
        """P at the weights and D at the best multiple of the coefficients, from these numbers alone."""
        used, A = np.flatnonzero(v.weights), self._feasible(v.coefficients)
        V, prices = self.columns[:, used], self.prices(A)
        F = np.asarray(V @ (v.weights[used, None] * (V.T @ A))) + v.intercepts
        upper = self.loss.loss(self.targets, F) + 0.5 * float(v.weights @ prices)
        rise, bend = self._along(A, prices)
        length = min(1.0, rise / bend) if bend > 0 else 1.0
        return Bracket(upper, length * (rise - 0.5 * length * bend))

    def interior_point(self) -> Array:
        """Coefficients strictly within the domain of the gain; their columns add up to zero."""
        Y, limit = self.targets, self.loss.limit
        A = self._feasible(Y if limit is None else 0.5 * limit * Y)
        rise, bend = self._along(A, self.prices(A))
        return np.asarray(A * min(1.0, rise / bend)) if bend > 0 else A

    def _feasible(self, A: Array) -> Array:
        """Coefficients near those given, within the domain of the gain; their columns add up to zero."""
        Y, limit = self.targets, self.loss.limit
        if limit is None:
            return np.asarray(A - A.mean(axis=0))
        sizes = np.clip(Y * A, 0.0, limit)
        up, down = ((sizes * side).sum(axis=0) for side in (Y > 0, Y < 0))
        less = np.minimum(up, down)
        return np.asarray(Y * sizes * np.where(Y > 0, less / up, less / down))

    def _along(self, A: Array, prices: Array) -> tuple[float, float]:
        """D along multiples of A is ``rise * t - bend / 2 * t^2``."""
        bend = self.loss.curvature * float((A**2).sum()) + float(prices.max())
        return float((self.targets * A).sum()), bend
