r"""Systems with K on one set after another, where the sets differ by little.

The Cholesky factor of :math:`K_{BB} = L L^\top` of an old set B serves a new one: with what is added, J, and
what is removed, D, the solution is that of

.. math::

    \begin{pmatrix} K_{BB} & U \\ U^\top & S \end{pmatrix}, \qquad
    U = (K_{BJ}, E_D), \qquad S = \begin{pmatrix} K_{JJ} & 0 \\ 0 & 0 \end{pmatrix},

whose last rows say that removed variables stay where they are.  Half of a solution with the factor,
:math:`V = L^{-1} U`, is needed for each place in which the sets differ; these are kept, with
:math:`S - V^\top V`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...engine.threads import single_threaded_blas
from ..matrices import SymmetricMatrix
from .cholesky import Factor, Single

__all__ = ["SystemsOnSets"]

#: Sets that differ in more than this share of their members from the old one get a new factor.
MOST_DIFFERENT = 1 / 5

#: Added to the diagonal, relative to its largest number: well above rounding in single precision.
SHIFT = 1e-6

Index = NDArray[np.intp]


class SystemsOnSets:
    """Solves ``K_FF d = r`` to about single precision."""

    def __init__(self, matrix: SymmetricMatrix) -> None:
        self.matrix = matrix
        self._shift = SHIFT * float(matrix.diagonal().max(initial=0.0))
        self._base: Index = np.empty(0, dtype=np.intp)
        self._border: _Border | None = None

    def solve(self, index: Index, right: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The solution for the set ``index``, which is sorted; None if K is not positive definite there.

        ``right`` has a row for each right-hand side, and so has the solution.
        """
        added = np.setdiff1d(index, self._base, assume_unique=True)
        removed = np.setdiff1d(self._base, index, assume_unique=True)
        if self._border is None or len(added) + len(removed) > MOST_DIFFERENT * len(index):
            self._base, self._border = index, None
            factor = Factor.of(self.matrix.rough_block(index), self._shift)
            if factor is None:
                return None
            self._border = _Border(self.matrix, index, factor, self._shift)
            return factor.solve(right).astype(np.float64)
        if not len(added) and not len(removed):
            return self._border.factor.solve(right).astype(np.float64)
        return self._border.solve(index, added, removed, right)


class _Border:
    """The columns of V that are known, and what remains of the corner below them."""

    def __init__(self, matrix: SymmetricMatrix, base: Index, factor: Factor, shift: float) -> None:
        self.factor = factor
        self._matrix, self._base, self._shift = matrix, base, shift
        self._place: dict[int, int] = {}  # of a variable among the columns
        self._V: Single = np.empty((0, len(base)), dtype=np.float32)  # transposed
        self._corner: NDArray[np.float64] = np.empty((0, 0))

    def solve(
        self, index: Index, added: Index, removed: Index, right: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        places = self._know(added, removed)
        kept = np.isin(self._base, removed, invert=True, assume_unique=True)
        old = np.isin(index, added, invert=True, assume_unique=True)
        in_base = np.zeros((len(right), len(self._base)), dtype=np.float32)
        in_base[:, kept] = right[:, old]
        below = np.zeros((len(right), len(places)))
        below[:, : len(added)] = right[:, ~old]
        first = self.factor.forward(in_base)
        with single_threaded_blas():
            below -= (first @ self._V.T)[:, places]
            second = np.linalg.solve(self._corner[np.ix_(places, places)], below.T).T
            factors = np.zeros((len(right), len(self._V)), dtype=np.float32)
            factors[:, places] = second
            first -= factors @ self._V
        result = np.empty_like(right)
        result[:, old] = self.factor.backward(first)[:, kept]
        result[:, ~old] = second[:, : len(added)]
        return result

    def _know(self, added: Index, removed: Index) -> Index:
        """Columns of these variables; those that are not known yet are computed together."""
        joins = [i for i in added.tolist() if i not in self._place]
        leaves = [i for i in removed.tolist() if i not in self._place]
        if joins or leaves:
            self._extend(np.array(joins, dtype=np.intp), np.array(leaves, dtype=np.intp))
        return np.array([self._place[i] for i in (*added.tolist(), *removed.tolist())], dtype=np.intp)

    def _extend(self, joins: Index, leaves: Index) -> None:
        known, count = len(self._V), len(joins) + len(leaves)
        U = np.zeros((count, len(self._base)), dtype=np.float32)
        U[: len(joins)] = self._matrix.block(joins, self._base, np.float32)
        U[len(joins) + np.arange(len(leaves)), np.searchsorted(self._base, leaves)] = 1.0
        self._V = np.concatenate([self._V, self.factor.forward(U)])
        corner = np.zeros((known + count, known + count))
        corner[:known, :known] = self._corner
        with single_threaded_blas():
            corner[known:] -= self._V[known:] @ self._V.T
        every = np.array([*self._place, *joins.tolist()], dtype=np.intp)
        is_joined = np.isin(every, self._base, invert=True)
        places = np.flatnonzero(is_joined)
        new = known + np.arange(len(joins))
        corner[np.ix_(new, places)] += self._matrix.block(joins, every[is_joined], np.float32)
        corner[new, new] += self._shift
        corner[:known, known:] = corner[known:, :known].T
        self._corner = corner
        self._place.update((i, known + c) for c, i in enumerate((*joins.tolist(), *leaves.tolist())))
