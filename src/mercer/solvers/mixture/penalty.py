r"""How weights of kernels follow from a point of the simplex: norms.

Every set of weights that the solver knows is :math:`\{d(\theta) : \theta \ge 0, \sum_v \theta_v = 1\}` with
d concave in theta, so that J, which is convex and falls in d, is convex in theta.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from .problem import Array

__all__ = ["LpNorm", "Penalty"]

Index = NDArray[np.intp]

#: Kernels in the first working set, and that join at a time.
FIRST, JOIN = 64, 16

#: A weight falls at most to this part of itself in a step if p > 1, where weights are positive.
FALL = 0.02


class Penalty(Protocol):
    """What the search for weights asks about the set of weights."""

    def weights(self, theta: Array) -> Array:
        """The weights d of the kernels."""

    def model(self, theta: Array, slopes: Array, H: Array) -> tuple[Array, Array]:
        """Derivatives of J in theta, from those in d."""

    def dual(self, prices: Array, theta: Array) -> float:
        """A bound of the largest sum of weighted prices from above, exact if theta is optimal."""

    def low(self, theta: Array) -> Array:
        """Where a step from here has to stay above."""

    def initial(self, m: int) -> Array:
        """Where the search begins."""

    def first(self, prices: Array) -> Index:
        """The first working set."""

    def joining(self, prices: Array, theta: Array, working: Index) -> Index:
        """Kernels outside of the working set that promise most; none if it is optimal."""

    def restricted(self, theta: Array, working: Index) -> Array:
        """A point near this one whose weights are those of a working set, and may change."""

    def pruned(self, theta: Array, share: float) -> Array:
        """The point without the weights below this share of the largest."""

    def select(self, working: Index) -> Self:
        """The same for a working set."""


class LpNorm(NamedTuple):
    r"""Weights of norm p, finite and >= 1: :math:`d = \theta^{1/p}`."""

    p: float = 1.0

    def weights(self, theta: Array) -> Array:
        """``theta ** (1 / p)``."""
        return theta if self.p == 1 else np.asarray(theta ** (1.0 / self.p))

    def model(self, theta: Array, slopes: Array, H: Array) -> tuple[Array, Array]:
        """By the chain rule."""
        if self.p == 1:
            return slopes, H
        chain = theta ** (1.0 / self.p - 1.0) / self.p
        H = chain[:, None] * H * chain
        H[np.diag_indices(len(theta))] += slopes * chain * (1.0 / self.p - 1.0) / theta
        return slopes * chain, H

    def dual(self, prices: Array, theta: Array) -> float:
        """The dual norm of the prices: the largest sum of weighted prices over weights of norm p."""
        del theta
        top = float(prices.max(initial=0.0))
        if self.p == 1 or top == 0:
            return top
        q = self.p / (self.p - 1.0)
        return float(top * ((prices / top) ** q).sum() ** (1.0 / q))

    def low(self, theta: Array) -> Array:
        """Zero, or a part of theta if p > 1."""
        return np.zeros_like(theta) if self.p == 1 else FALL * theta

    def initial(self, m: int) -> Array:
        """Equal weights."""
        return np.full(m, 1.0 / m)

    def first(self, prices: Array) -> Index:
        """All kernels, or those that promise most."""
        m = len(prices)
        if m <= 2 * FIRST or self.p > 1:
            return np.arange(m)
        return np.sort(np.argsort(-prices, kind="stable")[:FIRST])

    def joining(self, prices: Array, theta: Array, working: Index) -> Index:
        """Those that are worth more than all in the working set."""
        del theta
        outside = prices.copy()
        outside[working] = -np.inf
        order = np.argsort(-outside, kind="stable")[:JOIN]
        return order[outside[order] > float(prices[working].max())]

    def restricted(self, theta: Array, working: Index) -> Array:
        """All weight on the working set."""
        part = np.zeros_like(theta)
        part[working] = theta[working]
        return theta if part.sum() == theta.sum() else part / part.sum()

    def pruned(self, theta: Array, share: float) -> Array:
        """Small weights are zero; only if p = 1, where the optimum has such."""
        if self.p > 1:
            return theta
        kept = np.where(theta < share * theta.max(), 0.0, theta)
        return theta if kept.sum() == theta.sum() else kept / kept.sum()

    def select(self, working: Index) -> Self:
        """The same norm."""
        del working
        return self
