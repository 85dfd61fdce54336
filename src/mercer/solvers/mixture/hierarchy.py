r"""Weights of kernels on a directed acyclic graph: a kernel has weight only if all its ancestors have.

Hierarchical kernel learning (Bach 2008) penalises the functions of the kernels by

.. math:: \Omega(f) = \sum_v \delta_v \Bigl( \sum_{w \in D(v)} \|f_w\|^2 \Bigr)^{1/2}

with D(v) the descendants of v, and v.  With A(w), the ancestors of w, and w,

.. math:: \Omega(f)^2 = \min_{\theta} \sum_w \frac{\|f_w\|^2}{d_w(\theta)}, \qquad
          \frac{1}{d_w(\theta)} = \sum_{v \in A(w)} \frac{\delta_v^2}{\theta_v}, \quad
          \theta \ge 0, \; \sum_v \theta_v = 1 ,

so that the solver of :mod:`~mercer.solvers.mixture.newton` serves here, too: d is concave in theta.

For any shares :math:`\kappa_{vw}` that add up to one over the ancestors v of w, the largest sum of weighted
prices is at most :math:`\max_v \delta_v^{-2} \sum_{w \in D(v)} \kappa_{vw}^2 p_w`.  Theta gives the shares
:math:`d_w \delta_v^2 / \theta_v`, which are optimal where theta is.  Kernels without weight have theirs from
a small problem of the same form among them, which also says which kernels join.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
import scipy.sparse

from .penalty import FALL, JOIN, Index
from .problem import Array

__all__ = ["Hierarchical"]


@dataclass(frozen=True, eq=False)
class Hierarchical:
    """The penalty of a hierarchy.

    Parameters
    ----------
    above : sparse array of shape (m, m)
        Row w has ones at the ancestors of w, and at w.
    delta : array of shape (m,)
        Positive.
    """

    above: scipy.sparse.csr_array
    delta: Array
    _square: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_square", self.delta**2)

    def weights(self, theta: Array) -> Array:
        """d; zero where an ancestor has theta zero."""
        active = self._active(theta)
        inverse = np.divide(self._square, theta, out=np.zeros_like(theta), where=theta > 0)
        return np.asarray(np.divide(1.0, self.above @ inverse, out=np.zeros_like(theta), where=active))

    def model(self, theta: Array, slopes: Array, H: Array) -> tuple[Array, Array]:
        """By the chain rule; theta is positive."""
        d, A = self.weights(theta), self.above.toarray()
        B = A * (self._square / theta**2)
        Z = d[:, None] ** 2 * B  # the derivative of d
        curve = 2.0 * (B.T * (slopes * d**3)) @ B
        curve[np.diag_indices(len(d))] -= 2.0 * (slopes * d**2) @ B / theta
        return slopes @ Z, np.asarray(Z.T @ H @ Z + curve)

    def dual(self, prices: Array, theta: Array) -> float:
        """The bound of the shares: those of theta, and the best among kernels without weight."""
        inside = self._inside(prices, theta)
        outside, _ = self._outside(prices, self._active(theta), inside)
        return max(inside, outside)

    def low(self, theta: Array) -> Array:
        """A part of theta."""
        # The least theta in a working set: derivatives do not exist at zero. What it adds to the gap is as
        # small.
        return np.maximum(FALL * theta, np.minimum(theta, 1e-10))

    def initial(self, m: int) -> Array:
        """Equal at the kernels that have no ancestors."""
        roots = self._roots()
        theta = np.zeros(m)
        theta[roots] = 1.0 / len(roots)
        return theta

    def first(self, prices: Array) -> Index:
        """The kernels that have no ancestors."""
        del prices
        return self._roots()

    def joining(self, prices: Array, theta: Array, working: Index) -> Index:
        """Those outside with the largest slopes, and their ancestors."""
        active = np.zeros(len(theta), dtype=bool)
        active[working] = True
        inside = self._inside(prices, theta)
        _, slopes = self._outside(prices, active, inside)
        order = np.argsort(-slopes, kind="stable")[:JOIN]
        chosen = order[slopes[order] > inside]
        found = np.flatnonzero(self.above[chosen].sum(axis=0))
        return np.setdiff1d(found, working)

    def restricted(self, theta: Array, working: Index) -> Array:
        """Positive on the working set."""
        part = np.zeros_like(theta)
        part[working] = theta[working]
        new = working[part[working] <= 0.0]
        if not len(new) and part.sum() == theta.sum():
            return theta
        # Part of the simplex that kernels get when they join.
        entry = 1e-2
        part *= (1.0 - entry * bool(len(new))) / part.sum()
        part[new] = entry / max(len(new), 1)
        return part

    def pruned(self, theta: Array, share: float) -> Array:
        """Without kernels of a small theta, and without their descendants."""
        kept = self._active(np.where(theta < share * theta.max(), 0.0, theta))
        part = np.where(kept, theta, 0.0)
        total = float(part.sum())
        return theta if total in (0.0, float(theta.sum())) else part / total

    def select(self, working: Index) -> Self:
        """The graph of a working set, which has the ancestors of its members."""
        return type(self)(self.above[working][:, working], self.delta[working])

    # -- parts ------------------------------------------------------------------------------------
    def _roots(self) -> Index:
        return np.flatnonzero(np.asarray(self.above.sum(axis=1)).ravel() == 1)

    def _active(self, theta: Array) -> np.ndarray:
        """Where theta is positive at all ancestors."""
        return np.asarray(self.above @ (theta <= 0.0).astype(np.float64) == 0.0)

    def _slopes(self, prices: Array, theta: Array, active: np.ndarray) -> Array:
        """Of the sum of weighted prices in theta, at the kernels that are active."""
        slopes = self.above.T @ (self.weights(theta) ** 2 * prices)
        return np.where(active, slopes * self._square / np.where(active, theta, 1.0) ** 2, 0.0)

    def _inside(self, prices: Array, theta: Array) -> float:
        return float(self._slopes(prices, theta, self._active(theta)).max())

    def _outside(self, prices: Array, active: np.ndarray, enough: float) -> tuple[float, Array]:
        """The bound of the kernels without weight, which is the largest of the slopes, and the slopes.

        Theta times the root of its slope, normalised, raises the sum of weighted prices (a minorisation).
        The iteration ends where the bound is below ``enough``, or close to the sum.
        """
        found, rest = np.zeros(len(active)), np.flatnonzero(~active)
        if not len(rest) or not prices[rest].any():
            return 0.0, found
        part, p = self.select(rest), prices[rest]
        theta, bound = np.full(len(rest), 1.0 / len(rest)), np.inf
        every = np.ones(len(rest), dtype=bool)
        # Iterations for the shares of kernels without weight, at most, and the accuracy that ends them
        # before.
        sharing, accurate = 2000, 1e-9
        for _ in range(sharing):
            slopes = part._slopes(p, theta, every)
            total, top = float(theta @ slopes), float(slopes.max())
            if top < bound:
                bound, found[rest] = top, slopes
            # Where kernels without weight are worth more than the others, their bound need not be closer than
            # this.
            if top <= enough or top <= (1.0 + (0.1 if total > enough else accurate)) * total:
                break
            # Kernels without weight have at least this theta in their own problem, whose squares must not
            # vanish.
            theta = np.maximum(theta * np.sqrt(slopes), 1e-100)
            theta /= theta.sum()
        return bound, found
