"""What kernels on trees share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from ...contributions import Contribution
from ...domains import Domain, Tree, TreeBatch, Trees
from ...engine.tree_pairs import tree_pairs
from ...intervals import NONNEGATIVE
from ...kernel import Kernel
from ..search import Family, Pattern
from .comparison import Comparison
from .forest import KeyedTrees, Subtrees

__all__ = ["TreeKernel", "TreePairKernel"]

Scaled = tuple[np.ndarray, np.ndarray]


class TreeKernel(Kernel):
    """Kernels on ordered trees that count fragments, with values >= 0."""

    @property
    def domain(self) -> Domain:
        return Trees()

    bounds = NONNEGATIVE


class TreePairKernel(TreeKernel):
    """Those whose fragments are too many to be listed: values are computed pair by pair, as ``m * 2 ** e``.

    Plain values that exceed every float are an error that says so; :meth:`log_block` and ``normalized()``
    give numbers for trees of any size.
    """

    _always_double: ClassVar[bool] = True

    _scaled: ClassVar[bool] = True

    _tile_size = 256  # a pair of sentences takes a microsecond

    def _keyed(self, subtrees: Subtrees) -> KeyedTrees:
        """Subtrees with the keys that say which of their roots match."""
        raise TypeError(f"{type(self).__name__} must define _keyed")

    def _decays(self) -> tuple[float, float | None]:
        """Factors of nodes and of gaps."""
        raise TypeError(f"{type(self).__name__} must define _decays")

    def _search(self, both: Comparison) -> Iterable[Pattern | Family]:
        """The fragments that a tree shares with others."""
        raise TypeError(f"{type(self).__name__} must define _search")

    def _contributions(self, x: Tree, y: Tree) -> Iterator[Contribution]:
        both = Comparison(x, [y])
        return both.heaviest(self._search(both))

    def _weighted_contributions(
        self, points: Sequence[Tree], coefficients: np.ndarray, x: Tree
    ) -> Iterator[Contribution]:
        both = Comparison(x, points, coefficients)
        return both.heaviest(self._search(both))

    def log_block(self, X: Any, Y: Any = None) -> np.ndarray:
        """Natural logarithms of the values ``k(X[i], Y[j])``, at any size; minus infinity where k is 0.

        The logarithm of a positive definite kernel is in general not positive definite.
        """
        m, e = self._scaled_block(*self._prepare_pair(X, Y))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(m) + e * np.log(2.0))

    def _prepare(self, X: TreeBatch) -> KeyedTrees:
        return self._keyed(Subtrees.of(X))

    def _block(self, X: KeyedTrees, Y: KeyedTrees | None) -> np.ndarray:
        return _plain(self._scaled_block(X, Y))

    def _diagonal(self, X: KeyedTrees) -> np.ndarray:
        return _plain(self._scaled_diagonal(X))

    def _scaled_block(self, X: KeyedTrees, Y: KeyedTrees | None) -> Scaled:
        n, m = len(X), len(X if Y is None else Y)
        i, j = np.tril_indices(n) if Y is None else np.indices((n, m)).reshape(2, -1)
        values = self._pair_values(X, X if Y is None else Y.coded_like(X), i, j)
        blocks = np.empty((2, n, m))
        blocks[:, i, j] = values
        if Y is None:
            blocks[:, j, i] = values
        return blocks[0], blocks[1]

    def _scaled_diagonal(self, X: KeyedTrees) -> Scaled:
        own = np.arange(len(X))
        return self._pair_values(X, X, own, own)

    def _pair_values(self, X: KeyedTrees, Y: KeyedTrees, i: np.ndarray, j: np.ndarray) -> Scaled:
        return tree_pairs(X.forest, Y.forest, X.chosen[i], Y.chosen[j], *self._decays())


def _plain(values: Scaled) -> np.ndarray:
    m, e = values
    if not e.any():
        return m
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(m, e.astype(np.intc)))
