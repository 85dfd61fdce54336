r"""Systems with K on one set after another, where the sets differ by little.

.. math:: K_{FF} d + \rho 1 = r, \qquad 1^\top d = s

or without :math:`\rho` and the last equation.  The Cholesky factor of :math:`K_{BB} = L L^\top` of an old set
B serves a new one, F: with what is added, J, and what is removed, D, the solution is that of

.. math::

    \begin{pmatrix} K_{BB} & U \\ U^\top & S \end{pmatrix}, \qquad U = (1, E_D, K_{BJ}), \qquad
    S = \begin{pmatrix} 0 & 0 & 1^\top \\ 0 & 0 & 0 \\ 1 & 0 & K_{JJ} \end{pmatrix},

whose rows of D say that removed variables stay where they are.  Half of a solution with the factor,
:math:`V = L^{-1} U`, is needed for each column of U; these are kept, with :math:`S - V^\top V`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...engine.arrays import reused
from ..matrix import Matrix
from .cholesky import Factor, Single

__all__ = ["SystemsOnSets"]

#: Sets that differ in more than this share of their members from the old one get a new factor.
MOST_DIFFERENT = 1 / 5

#: Added to the diagonal, relative to its largest number: well above rounding in single precision.
SHIFT = 1e-6

Index = NDArray[np.intp]
Vector = NDArray[np.float64]


class SystemsOnSets:
    """Solves the systems to about single precision.

    Its bits are the same for every number of threads if BLAS has one.
    """

    def __init__(self, matrix: Matrix, with_sum: bool) -> None:
        self.matrix = matrix
        self._with_sum = with_sum
        self._shift = SHIFT * float(matrix.diagonal().max(initial=0.0))
        self._base: _Base | None = None

    def solve(self, index: Index, right: Vector, total: float) -> tuple[Vector, float] | None:
        """The solution for the set ``index``, which is sorted; None if K is (nearly) singular there."""
        if self._base is None or self._base.distance(index) > MOST_DIFFERENT * len(index):
            self._base = self._factored(index)
        try:
            return None if self._base is None else self._base.solve(index, right, total)
        except np.linalg.LinAlgError:
            return None

    def _factored(self, index: Index) -> _Base | None:
        self._base = None
        block: Single = reused((len(index), len(index)), np.float32)
        self.matrix.rough_square(index, block)
        factor = Factor.of(block, self._shift)
        if factor is None:
            return None
        return _Base(self.matrix, index, factor, self._shift, self._with_sum)


class _Base:
    """A factored set, the columns of V that are known, and what remains of the corner below them."""

    def __init__(
        self,
        matrix: Matrix,
        index: Index,
        factor: Factor,
        shift: float,
        with_sum: bool,
    ) -> None:
        self._matrix, self._index, self._factor, self._shift = matrix, index, factor, shift
        self._is_member = np.zeros(matrix.size, dtype=bool)
        self._is_member[index] = True
        self._place = np.full(matrix.size, -1)  # of a variable among the columns
        self._variables: Index = np.empty(0, dtype=np.intp)  # of the columns, after that of the sum
        self._sums = self._known = int(with_sum)
        self._V: Single = np.empty((self._sums, len(index)), dtype=np.float32)  # transposed
        self._V[:] = factor.forward(np.ones(len(index)))
        self._corner: Single = -(self._V @ self._V.T)

    def distance(self, index: Index) -> int:
        """How many variables are in one of the sets alone."""
        return len(index) + len(self._index) - 2 * int(self._is_member[index].sum())

    def solve(self, index: Index, right: Vector, total: float) -> tuple[Vector, float]:
        old = self._is_member[index]
        is_kept = np.zeros(len(self._is_member), dtype=bool)
        is_kept[index[old]] = True
        kept = is_kept[self._index]
        added, removed = index[~old], self._index[~kept]
        self._know(added, removed)
        places = np.concatenate([np.arange(self._sums), self._place[removed], self._place[added]])
        last = len(places) - len(added)
        in_base = np.zeros(len(self._index))
        in_base[kept] = right[old]
        first = self._factor.forward(in_base)
        below = np.zeros(len(places), dtype=np.float32)
        below[: self._sums], below[last:] = total, right[~old]
        V = self._V[: self._known]
        below -= (V @ first)[places]
        second = np.linalg.solve(self._corner[np.ix_(places, places)], below)
        factors = np.zeros(len(V), dtype=np.float32)
        factors[places] = second
        first -= factors @ V
        result = np.empty_like(right)
        result[old], result[~old] = self._factor.backward(first)[kept], second[last:]
        return result, float(second[0]) if self._sums else 0.0

    def _know(self, added: Index, removed: Index) -> None:
        """Columns of these variables; those that are not known yet are computed together."""
        joins, leaves = (some[self._place[some] < 0] for some in (added, removed))
        if len(joins) or len(leaves):
            old, new = self._known, self._known + len(leaves) + len(joins)
            self._make_room(new)
            self._known = new
            self._place[leaves] = old + np.arange(len(leaves))
            self._place[joins] = old + len(leaves) + np.arange(len(joins))
            self._variables = np.concatenate([self._variables, leaves, joins])
            self._extend(old, joins, leaves)

    def _make_room(self, columns: int) -> None:
        if columns > len(self._V):
            room = max(columns, int(MOST_DIFFERENT * len(self._index)))
            V: Single = reused((room, len(self._index)), np.float32)
            corner: Single = np.empty((room, room), dtype=np.float32)
            V[: self._known] = self._V[: self._known]
            corner[: self._known, : self._known] = self._corner[: self._known, : self._known]
            self._V, self._corner = V, corner

    def _extend(self, old: int, joins: Index, leaves: Index) -> None:
        """Fill the columns from ``old`` on, and their rows and columns of the corner."""
        V, corner = self._V[: self._known], self._corner[: self._known, : self._known]
        fresh = V[old:]
        fresh[: len(leaves)] = 0.0
        fresh[np.arange(len(leaves)), np.searchsorted(self._index, leaves)] = 1.0
        self._matrix.rough_block(joins, self._index, fresh[len(leaves) :])
        self._factor.solve_rows(fresh)
        np.negative(fresh @ V[:old].T, out=corner[old:, :old])
        np.negative(fresh @ fresh.T, out=corner[old:, old:])  # BLAS sees that half of it is enough
        rows = self._place[joins]
        outside = self._variables[~self._is_member[self._variables]]
        values = np.empty((len(joins), len(outside)), dtype=np.float32)
        self._matrix.rough_block(joins, outside, values)
        corner[np.ix_(rows, self._place[outside])] += values
        corner[rows, rows] += self._shift
        corner[rows, : self._sums] += 1.0
        corner[:old, old:] = corner[old:, :old].T
