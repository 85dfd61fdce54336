"""Kernels over fragments that keep all children of a node or none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...domains import Tree
from ...parameters import parameter
from ..search import Family, Pattern
from .base import TreePairKernel
from .comparison import Comparison
from .definition import Values, sum_over_nodes
from .forest import KeyedTrees, Subtrees
from .subset_fragments import SubsetSearch

__all__ = ["SubsetTree"]


class SubsetTree(TreePairKernel):
    r"""Common subset trees: fragments that have, of every node, all children or none.

    .. math:: k(x, y) = \sum_{u \in x} \sum_{v \in y} \Delta(u, v), \qquad
        \Delta(u, v) = \lambda \prod_j (1 + \Delta(u_j, v_j))
        \text{ if } u \text{ and } v \text{ have equal productions}

    and 0 otherwise.  A production is the label of a node with the labels of its children in order; the sum is
    over nodes with children, and a leaf among the children is a factor 1 (Collins and Duffy, 2001).  So
    :math:`k = \sum_f \lambda^{|f|} c_x(f)\, c_y(f)` over all fragments f, where :math:`c_x(f)` counts the
    nodes of x at which f occurs and :math:`|f|` the nodes of f that have children.  With :math:`\lambda = 1`
    values are numbers of pairs of fragments, exact up to :math:`2^{53}`.

    Positive definite: an inner product of explicit features.  Not strictly, for a tree that is only a leaf
    has none; with ``leaves`` it is strict.  Fragments grow exponentially in number with the size of a tree:
    values that exceed every float are an error, while ``normalized()`` and :meth:`log_block` work on scaled
    numbers and give results at any size.  Large fragments make :math:`k(x, x)` much larger than other values,
    which a smaller ``decay`` softens.  Block cost: the pairs of distinct subtrees with equal productions,
    times their children.

    Parameters
    ----------
    decay : float, default=0.4
        The factor :math:`\lambda`, > 0 and <= 1.
    leaves : bool, default=False
        Whether leaves count as fragments, each pair of equal ones with :math:`\lambda`.

    Examples
    --------
    >>> x, y = "(NP (D the) (N dog))", "(NP (D the) (N cat))"
    >>> SubsetTree(1.0)(x, y)  # D the, NP, NP with D the
    3.0
    >>> print(SubsetTree(0.5).contributions(x, y))
    weight  pattern
       0.5  '(D the)'  [1:3 | 1:3]
       0.5  '(NP D N)'  [0:5 | 0:5]
      0.25  '(NP (D the) N)'  [0:5 | 0:5]
    """

    decay: float = parameter(default=0.4, low=0.0, high=1.0, open_low=True)
    leaves: bool = parameter(default=False, choices=(False, True), kw_only=True)

    def _define(self, x: Tree, y: Tree, m: Arithmetic) -> Any:
        below_x, below_y, decay = x.children, y.children, m.real(self.decay)

        def value(u: int, v: int, values: Values) -> Any:
            if [x.labels[a] for a in below_x[u]] != [y.labels[b] for b in below_y[v]]:
                return None
            product = decay
            for a, b in zip(below_x[u], below_y[v], strict=True):
                if x.arities[a] and (a, b) in values:
                    product = product * (1 + values[a, b])
            return product

        return sum_over_nodes(x, y, value, self.leaves, m)

    def _keyed(self, subtrees: Subtrees) -> KeyedTrees:
        counting = (subtrees.arities > 0) | self.leaves
        return KeyedTrees.of(subtrees, subtrees.productions, counting, counting)

    def _decays(self) -> tuple[float, float | None]:
        return self.decay, None

    def _search(self, both: Comparison) -> Iterable[Pattern | Family]:
        return SubsetSearch(both, self.decay, self.leaves).families()

    def _certify(self) -> Certificate:
        if self.leaves:
            return Certificate.psd(
                self,
                "triangular features",
                "one feature per fragment: its occurrences times a positive weight; that of x itself is "
                "positive at x and zero at all other trees that are not larger",
                strict=True,
            )
        return Certificate.psd(
            self,
            "explicit features",
            "one feature per fragment: its occurrences times a positive weight",
        )
