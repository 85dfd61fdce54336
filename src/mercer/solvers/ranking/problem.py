r"""The problem of ranking, its linear systems and its duality gap.

Minimise, with :math:`F = K a` and the differences :math:`m = D F` of the pairs,

.. math:: P(a) = \sum_p c_p \, \ell(m_p) + \tfrac12 a^\top K a .

Slopes :math:`s_p` of the loss give the point :math:`\bar a = -D^\top (c s)` of the dual problem

.. math:: \max_s \; -\sum_p c_p \, \ell^*(s_p) - \tfrac12 \bar a^\top K \bar a .

All methods solve systems with :math:`I + H K`, where H is the Laplacian of the pairs with some weights, by a
factor :math:`K = R R^\top` (pivoted Cholesky): :math:`(I + H K)^{-1} = I - H R (I + R^\top H R)^{-1} R^\top`.
The factor affects the steps, not the solution, which is judged by products with K.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...engine.runs import checkpoint
from ...gram import Gram
from ..incomplete import incomplete_cholesky
from ..matrix import matrix_of
from .margins import MarginLoss
from .pairs import Pairs

__all__ = ["RankingProblem", "RankingValue", "State", "System"]

Array: TypeAlias = NDArray[np.float64]


class RankingValue(NamedTuple):
    """Coefficients of the points, predictions, and the slopes of the pairs (a point of the dual problem)."""

    coefficients: Array
    predictions: Array
    slopes: Array


class State(NamedTuple):
    """A point of an iteration, its objective and its duality gap."""

    value: RankingValue
    objective: float
    gap: float


class RankingProblem:
    """Pairs, a loss of their differences, and a kernel matrix.

    Parameters
    ----------
    pairs : Pairs
    loss : MarginLoss
    G : Gram
        Positive semidefinite.
    """

    def __init__(self, pairs: Pairs, loss: MarginLoss, G: Gram) -> None:
        self.pairs, self.loss, self.matrix = pairs, loss, matrix_of(G)

    @cached_property
    def factor(self) -> Array:
        """R with K = R R', up to rounding; raises ``LinAlgError`` if K is not positive semidefinite."""
        # Part of the trace of K that its factor leaves out.
        found = incomplete_cholesky(
            lambda index: self.matrix.block(index, slice(None)).T, self.matrix.diagonal(), tol=1e-14
        )
        return found.value.factor

    def product(self, v: Array) -> Array:
        """``K v``."""
        checkpoint()
        return self.matrix.product(v)

    def state(self, c: Array, a: Array, F: Array, s: Array) -> State:
        r"""The point with the coefficients ``a`` and the slopes ``s``.

        The gap is :math:`\sum_p c_p (\ell(m_p) + \ell^*(s_p) - s_p m_p) + \frac12 \|f - \bar f\|^2`: terms
        that are not negative, and no difference of large numbers.
        """
        m = self.pairs.differences(F)
        losses = self.loss.value(m)
        r = a + self.pairs.adjoint(c * s)
        away = 0.5 * max(float(r @ self.product(r)), 0.0)
        gap = float(c @ np.maximum(losses + self.loss.conjugate(s) - s * m, 0.0)) + away
        return State(RankingValue(a, F, s), float(c @ losses) + 0.5 * float(a @ F), gap)


class System:
    """``I + H K`` where H is the Laplacian of the pairs with the weights ``theta``."""

    def __init__(self, problem: RankingProblem, theta: Array) -> None:
        checkpoint()
        self.R, self.H = problem.factor, problem.pairs.laplacian(theta)
        M = np.asarray(self.R.T @ (self.H @ self.R))
        M[np.diag_indices_from(M)] += 1.0
        self._factor = linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)

    def solve(self, r: Array) -> Array:
        """``(I + H K)^-1 r``."""
        return np.asarray(r - self.H @ self.predictions(r))

    def predictions(self, r: Array) -> Array:
        """``K (I + H K)^-1 r``."""
        return np.asarray(self.R @ linalg.cho_solve(self._factor, self.R.T @ r, check_finite=False))
