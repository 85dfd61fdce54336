"""Kernels over fragments that keep some children of a node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...domains import Tree
from ...parameters import parameter
from ..search import Family, Pattern
from .base import TreePairKernel
from .comparison import Comparison
from .definition import Values, sum_over_nodes
from .forest import KeyedTrees, Subtrees
from .partial_fragments import PartialSearch

__all__ = ["PartialTree"]


class PartialTree(TreePairKernel):
    r"""Common partial trees: fragments that have, of every node, any of its children in their order.

    .. math:: k(x, y) = \sum_{u \in x} \sum_{v \in y} \Delta(u, v), \qquad
        \Delta(u, v) = \mu \Bigl(\lambda^2 + \sum_{|I| = |J| \ge 1} \lambda^{d(I) + d(J)}
        \prod_i \Delta(u_{I_i}, v_{J_i})\Bigr) \text{ if } u \text{ and } v \text{ have equal labels}

    and 0 otherwise; I and J are increasing sequences of children, and :math:`d(I) = I_{last} - I_1 + 1` is
    the length of the stretch that they take (Moschitti, 2006).  The sum is over nodes with children; with
    ``leaves`` it is over all nodes, as in that article.

    Positive definite: an inner product of explicit features, one for each fragment.  Not strictly, for a tree
    that is only a leaf has none; with ``leaves`` it is strict.  Values that exceed every float are an error,
    while ``normalized()`` and :meth:`log_block` work on scaled numbers and give results at any size.  Block
    cost: the pairs of distinct subtrees with equal labels at the root, times the pairs of their children.

    Parameters
    ----------
    decay : float, default=0.4
        The factor :math:`\mu` of every node, > 0 and <= 1.
    gap_decay : float, default=0.4
        The factor :math:`\lambda` of every child in the stretch that a sequence of children takes, > 0 and
        <= 1.
    leaves : bool, default=False
        Whether fragments may begin at leaves.

    Examples
    --------
    >>> k = PartialTree(1.0, 1.0)
    >>> k("(NP (D the) (N dog))", "(NP (D the) (A big) (N dog))")  # D, D the, N, N dog, NP with some
    13.0
    """

    decay: float = parameter(default=0.4, low=0.0, high=1.0, open_low=True)
    gap_decay: float = parameter(default=0.4, low=0.0, high=1.0, open_low=True)
    leaves: bool = parameter(default=False, choices=(False, True), kw_only=True)

    def _define(self, x: Tree, y: Tree, m: Arithmetic) -> Any:
        below_x, below_y = x.children, y.children
        decay, gap, zero = m.real(self.decay), m.real(self.gap_decay), m.real(0)

        def value(u: int, v: int, values: Values) -> Any:
            total = gap**2
            spread = [zero] * (len(below_y[v]) + 1)  # sequences that end before a, up to before b
            for a in below_x[u]:
                along, row = zero, [zero]
                for j, b in enumerate(below_y[v]):
                    ends = gap**2 * values[a, b] * (1 + spread[j]) if (a, b) in values else zero
                    total = total + ends
                    along = gap * along + ends
                    row.append(gap * spread[j + 1] + along)
                spread = row
            return decay * total

        return sum_over_nodes(x, y, value, self.leaves, m)

    def _keyed(self, subtrees: Subtrees) -> KeyedTrees:
        matching = np.ones(len(subtrees.table), dtype=bool)
        return KeyedTrees.of(subtrees, subtrees.labels, matching, (subtrees.arities > 0) | self.leaves)

    def _decays(self) -> tuple[float, float | None]:
        return self.decay, self.gap_decay

    def _search(self, both: Comparison) -> Iterable[Pattern | Family]:
        return PartialSearch(both, self.decay, self.gap_decay, self.leaves).families()

    def _certify(self) -> Certificate:
        if self.leaves:
            return Certificate.psd(
                self,
                "triangular features",
                "one feature per fragment: the sum of positive weights over its places; that of x itself is "
                "positive at x and zero at all other trees that are not larger",
                strict=True,
            )
        return Certificate.psd(
            self, "explicit features", "one feature per fragment: the sum of positive weights over its places"
        )
