"""Kernels that count the complete subtrees that two trees share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...contributions import Contribution
from ...domains import Tree, TreeBatch
from ...engine import pairwise
from ...engine.program import Builder, Value
from ...parameters import parameter
from ..inner import squared_norms
from .base import TreeKernel
from .comparison import Comparison
from .definition import Values, sum_over_nodes
from .forest import Subtrees, SubtreeTable

__all__ = ["SubTree"]


@dataclass(frozen=True, eq=False)
class SubtreeCounts:
    """Weighted counts of the distinct subtrees of each tree: one column per subtree of the table."""

    matrix: scipy.sparse.csr_array
    table: SubtreeTable

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def take(self, index: slice | np.ndarray) -> SubtreeCounts:
        """Select trees."""
        return SubtreeCounts(self.matrix[index], self.table)

    def like(self, other: SubtreeCounts | None) -> scipy.sparse.csr_array:
        """The matrix with the columns of another table; subtrees that it lacks are left out."""
        if other is None or other.table is self.table:
            return self.matrix
        moved = self.matrix.tocoo()
        columns = other.table.columns_of(self.table)[moved.col]
        known = columns >= 0
        shape = (len(self), len(other.table))
        return scipy.sparse.csr_array((moved.data[known], (moved.row[known], columns[known])), shape=shape)


class SubTree(TreeKernel):
    r"""Common subtrees: a node with all that is below it.

    .. math:: k(x, y) = \sum_{u \in x} \sum_{v \in y} \Delta(u, v), \qquad
        \Delta(u, v) = \lambda \prod_j \Delta(u_j, v_j)
        \text{ if } u \text{ and } v \text{ have equal productions}

    and 0 otherwise.  A production is the label of a node with the labels of its children in order; the sum is
    over nodes with children, and a pair of leaves among the children is a factor 1 (Vishwanathan and Smola,
    2003).  So :math:`k = \sum_t \lambda^{|t|} c_x(t)\, c_y(t)`, where :math:`c_x(t)` counts how often the
    subtree t occurs in x and :math:`|t|` its nodes with children.

    Positive definite: an inner product of explicit features.  Not strictly, for a tree that is only a leaf
    has none; with ``leaves`` it is strict.  Cost: linear in the nodes for the features, then a sparse matrix
    product.

    Parameters
    ----------
    decay : float, default=1.0
        The factor :math:`\lambda`, > 0 and <= 1.
    leaves : bool, default=False
        Whether leaves count as subtrees, each pair of equal ones with :math:`\lambda`.

    Examples
    --------
    >>> x, y = "(S (NP John) (VP (V saw) (NP Mary)))", "(S (NP Mary) (VP (V saw) (NP Mary)))"
    >>> SubTree(0.5)(x, y)  # NP Mary twice, V saw, VP
    1.625
    >>> print(SubTree(0.5).contributions(x, y))
    weight  pattern
       1.0  '(NP Mary)'  [6:8 | 1:3 6:8]
       0.5  '(V saw)'  [4:6 | 4:6]
     0.125  '(VP (V saw) (NP Mary))'  [3:8 | 3:8]
    """

    decay: float = parameter(default=1.0, low=0.0, high=1.0, open_low=True)
    leaves: bool = parameter(default=False, choices=(False, True), kw_only=True)

    def _define(self, x: Tree, y: Tree, m: Arithmetic) -> Any:
        below_x, below_y, decay = x.children, y.children, m.real(self.decay)

        def value(u: int, v: int, values: Values) -> Any:
            if x.arities[u] != y.arities[v]:
                return None
            product = decay
            for a, b in zip(below_x[u], below_y[v], strict=True):
                if x.labels[a] != y.labels[b] or (a, b) not in values:
                    return None
                product = product * (values[a, b] if x.arities[a] else 1)
            return product

        return sum_over_nodes(x, y, value, self.leaves, m)

    def _weights(self, subtrees: Subtrees) -> np.ndarray:
        """Weight of each subtree of the table."""
        inner = subtrees.inner_nodes
        return np.where(inner > 0, self.decay**inner, self.decay if self.leaves else 0.0)

    def _prepare(self, X: TreeBatch) -> SubtreeCounts:
        subtrees = Subtrees.of(X)
        values = subtrees.counts * np.sqrt(self._weights(subtrees))[subtrees.numbers]
        shape = (len(X), len(subtrees.table))
        matrix = scipy.sparse.csr_array((values, subtrees.numbers, subtrees.starts), shape=shape)
        matrix.eliminate_zeros()
        return SubtreeCounts(matrix, subtrees.table)

    def _block(self, X: SubtreeCounts, Y: SubtreeCounts | None) -> np.ndarray:
        return pairwise.dot(X.matrix, None if Y is None else Y.like(X))

    def _compile(self, b: Builder, X: SubtreeCounts, Y: SubtreeCounts | None) -> Value | None:
        return b.dot(X.matrix, None if Y is None else Y.like(X))

    def _diagonal(self, X: SubtreeCounts) -> np.ndarray:
        return squared_norms(X.matrix)

    def _embedding(self, X: SubtreeCounts, like: SubtreeCounts | None = None) -> Any:
        matrix, table = X.like(like), (X if like is None else like).table
        return matrix if self.leaves else matrix[:, np.flatnonzero(table.inner)]

    def _feature_names(self, X: SubtreeCounts) -> Sequence[str]:
        return [t for t, inner in zip(X.table.texts, X.table.inner, strict=True) if inner or self.leaves]

    def _contributions(self, x: Tree, y: Tree) -> Iterator[Contribution]:
        return self._shared(Comparison(x, [y]))

    def _weighted_contributions(
        self, points: Sequence[Tree], coefficients: np.ndarray, x: Tree
    ) -> Iterator[Contribution]:
        return self._shared(Comparison(x, points, coefficients))

    def _shared(self, both: Comparison) -> Iterator[Contribution]:
        """Contributions of the subtrees of x that the points have."""
        weights, columns = self._weights(both.x), both.y.table.columns_of(both.x.table)
        for number in np.flatnonzero(columns >= 0).tolist():
            column = int(columns[number])
            weight = float(weights[number] * both.counts[number] * both.totals[column])
            if weight != 0:
                yield both.contribution(both.x.table.texts[number], weight, [number], [column])

    def _certify(self) -> Certificate:
        if self.leaves:
            return Certificate.psd(
                self,
                "triangular features",
                "one feature per subtree: its occurrences times a positive weight; that of x itself is "
                "positive at x and zero at all other trees that are not larger",
                strict=True,
            )
        return Certificate.psd(
            self,
            "explicit features",
            "one feature per subtree: its occurrences times a positive weight",
        )
