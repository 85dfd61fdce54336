r"""Systems with K_FF for one set F after the other.

A set that differs in a few places from one whose factor is known takes no new factor.  With the old set B,
what is added, J, and what is removed, D, the solution is that of

.. math::

    \begin{pmatrix} K_{BB} & U \\ U^\top & S \end{pmatrix}, \qquad
    U = (K_{BJ}, E_D), \qquad S = \begin{pmatrix} K_{JJ} & 0 \\ 0 & 0 \end{pmatrix},

whose last rows say that removed variables stay where they are.  It costs a solution with the factor for each
place in which the sets differ, and these are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.threads import single_threaded_blas
from ..matrices import SymmetricMatrix
from .cholesky import Factor

__all__ = ["SystemsOnSets"]

#: Sets that differ in more than this share of their members from the old one get a new factor.
MOST_DIFFERENT = 1 / 16

#: Added to the diagonal, relative to its largest number: well above rounding in single precision.
SHIFT = 1e-6

Index = NDArray[np.intp]


class SystemsOnSets:
    """Solves ``K_FF d = r`` to about single precision."""

    def __init__(self, matrix: SymmetricMatrix) -> None:
        self._matrix = matrix
        self._shift = SHIFT * float(matrix.diagonal().max(initial=0.0))
        self._base: Index = np.empty(0, dtype=np.intp)
        self._factor: Factor | None = None
        self._border: dict[int, tuple[NDArray[Any], NDArray[Any]]] = {}  # columns of U and of K_BB^-1 U

    def solve(self, index: Index, right: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The solution for the set ``index``, which is sorted; None if K is not positive definite there."""
        added = np.setdiff1d(index, self._base, assume_unique=True)
        removed = np.setdiff1d(self._base, index, assume_unique=True)
        if self._factor is None or len(added) + len(removed) > MOST_DIFFERENT * len(index):
            self._base, self._border = index, {}
            self._factor = Factor.of(self._matrix.rough_block(index), self._shift)
            return None if self._factor is None else self._factor.solve(right)
        if not len(added) and not len(removed):
            return self._factor.solve(right)
        return self._solve_bordered(self._factor, index, added, removed, right)

    def _solve_bordered(
        self, factor: Factor, index: Index, added: Index, removed: Index, right: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        U, W = self._columns(factor, added, removed)
        kept = np.isin(self._base, removed, invert=True, assume_unique=True)
        old = np.isin(index, added, invert=True, assume_unique=True)
        in_base = np.zeros((len(self._base), right.shape[1]))
        in_base[kept] = right[old]
        below = np.zeros((U.shape[1], right.shape[1]))
        below[: len(added)] = right[~old]
        corner = np.zeros((U.shape[1], U.shape[1]))
        among = slice(0, len(added))
        corner[among, among] = self._matrix.rough_block(added)
        corner[among, among] += self._shift * np.eye(len(added))
        first = factor.solve(in_base)
        with single_threaded_blas():
            second = np.linalg.solve(corner - U.T @ W, below - U.T @ first)
            first -= W @ second
        result = np.empty_like(right)
        result[old], result[~old] = first[kept], second[among]
        return result

    def _columns(self, factor: Factor, added: Index, removed: Index) -> tuple[NDArray[Any], NDArray[Any]]:
        """U and K_BB^-1 U; columns that are not known yet are computed together."""
        wanted = [*added.tolist(), *removed.tolist()]
        new = [i for i in wanted if i not in self._border]
        if new:
            U = np.zeros((len(self._base), len(new)))
            for c, i in enumerate(new):
                place = int(np.searchsorted(self._base, i))
                if place < len(self._base) and self._base[place] == i:
                    U[place, c] = 1.0
            fresh = [c for c, i in enumerate(new) if not U[:, c].any()]
            if fresh:
                U[:, fresh] = self._matrix.block(np.array(new)[fresh], self._base, np.float32).T
            W = factor.solve(U)
            self._border.update((i, (U[:, c], W[:, c])) for c, i in enumerate(new))
        pairs = [self._border[i] for i in wanted]
        return np.column_stack([u for u, _ in pairs]), np.column_stack([w for _, w in pairs])
