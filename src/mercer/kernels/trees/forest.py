"""The distinct subtrees of trees, which is what kernels on trees compare."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...caches import Cache
from ...domains import TreeBatch, Vocabulary
from ...engine.tree_pairs import Forest

__all__ = ["KeyedTrees", "SubtreeTable", "Subtrees", "number_subtrees"]


class SubtreeTable(Vocabulary):
    """Distinct subtrees, children first: each is ``(label, number of child 1, ...)``."""

    @cached_property
    def inner(self) -> np.ndarray:
        """Which of them are no leaves."""
        return np.array([len(element) > 1 for element in self.elements], dtype=bool)

    @cached_property
    def texts(self) -> list[str]:
        """Their bracket strings."""
        found: list[str] = []
        for label, *below in self.elements:
            parts = [found[c] if self.inner[c] else found[c][1:-1] for c in below]
            found.append(f"({' '.join([str(label), *parts])})")
        return found

    def _columns_of(self, other: Vocabulary) -> np.ndarray:
        known: list[int] = []
        for label, *below in other.elements:
            moved = [known[c] for c in below]
            known.append(-1 if -1 in moved else self.index.get((label, *moved), -1))
        return np.array(known, dtype=np.intp)


def number_subtrees(labels: list[Any], children: list[list[int]]) -> tuple[SubtreeTable, np.ndarray]:
    """The distinct subtrees below some nodes in pre-order, and the number of the one below each node."""
    index: dict[tuple[Any, ...], int] = {}
    found = [0] * len(labels)
    for v in reversed(range(len(labels))):
        found[v] = index.setdefault((labels[v], *[found[c] for c in children[v]]), len(index))
    return SubtreeTable(index), np.array(found, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Subtrees:
    """The distinct subtrees of each tree: a subtree that occurs twice is there once, with the count 2.

    Attributes
    ----------
    table : SubtreeTable
        The distinct subtrees of all trees.
    starts : int64 array of shape (n + 1,)
        Tree i has the entries ``starts[i]:starts[i + 1]``.
    numbers : int64 array
        The subtree of each entry, ascending within a tree: children come first.
    counts : float64 array
        How often it occurs in the tree.
    """

    table: SubtreeTable
    starts: np.ndarray
    numbers: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, trees: TreeBatch) -> Subtrees:
        """The distinct subtrees of some trees."""
        table, numbers = number_subtrees(
            [trees.labels.elements[c] for c in trees.codes.tolist()], trees.children
        )
        tree = np.repeat(np.arange(len(trees)), trees.sizes)
        entries, counts = np.unique(tree * len(table) + numbers, return_counts=True)
        starts = np.searchsorted(entries, np.arange(len(trees) + 1) * len(table))
        return cls(table, starts, entries % max(len(table), 1), counts.astype(np.float64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def trees(self) -> np.ndarray:
        """The tree of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def labels(self) -> list[Any]:
        """The label at the root of each subtree of the table."""
        return [element[0] for element in self.table.elements]

    @cached_property
    def arities(self) -> np.ndarray:
        """Number of children at the root of each subtree of the table."""
        return np.array([len(element) - 1 for element in self.table.elements], dtype=np.int64)

    @cached_property
    def inner_nodes(self) -> np.ndarray:
        """Number of nodes with children of each subtree of the table."""
        found: list[int] = []
        for _, *below in self.table.elements:
            found.append(sum((found[c] for c in below), int(bool(below))))
        return np.array(found, dtype=np.float64)

    @cached_property
    def productions(self) -> list[tuple[Any, ...]]:
        """The production at the root of each subtree of the table: its label and those of its children."""
        labels = self.labels
        return [(label, *[labels[c] for c in below]) for label, *below in self.table.elements]

    @cached_property
    def children(self) -> tuple[np.ndarray, np.ndarray]:
        """The children of each entry, as places within its tree, in compressed rows."""
        flat = np.array([c for _, *below in self.table.elements for c in below], dtype=np.int64)
        first = np.cumsum(self.arities) - self.arities
        arities = self.arities[self.numbers]
        ends = np.cumsum(arities)
        chosen = np.repeat(first[self.numbers] - (ends - arities), arities) + np.arange(int(arities.sum()))
        tree = np.repeat(self.trees, arities)
        entries = self.trees * len(self.table) + self.numbers
        places = np.searchsorted(entries, tree * len(self.table) + flat[chosen]) - self.starts[tree]
        return np.concatenate([[0], ends]).astype(np.int64), places.astype(np.int32)


@dataclass(frozen=True, eq=False)
class KeyedTrees:
    """Trees for comparison: their distinct subtrees with keys that say which nodes match.

    Attributes
    ----------
    forest : Forest
        Arrays of all trees; what is taken shares them.
    chosen : int64 array
        Which trees of the forest these are.
    vocabulary : Vocabulary
        The meaning of the keys.
    """

    forest: Forest
    chosen: np.ndarray
    vocabulary: Vocabulary
    _known: Cache = field(default_factory=Cache)

    @classmethod
    def of(
        cls, subtrees: Subtrees, keys: Sequence[Hashable], matching: np.ndarray, counting: np.ndarray
    ) -> KeyedTrees:
        """Trees with the key of each subtree of the table.

        Parameters
        ----------
        subtrees : Subtrees
        keys : list of hashables
            For each subtree of the table.
        matching, counting : bool arrays
            Which subtrees of the table match others at all, and which count as roots of fragments.
        """
        vocabulary: Vocabulary = Vocabulary(keys)
        codes = np.array([vocabulary.index[key] for key in keys], dtype=np.int32)
        numbers = subtrees.numbers
        own = np.where(matching, codes, -1)[numbers].astype(np.int32)
        counts = subtrees.counts * counting[numbers]
        starts = subtrees.starts.astype(np.int64)
        forest = (starts, own, _order(own, subtrees.trees, starts), counts, *subtrees.children)
        return cls(forest, np.arange(len(subtrees)), vocabulary)

    def __len__(self) -> int:
        return len(self.chosen)

    def take(self, index: slice | np.ndarray) -> KeyedTrees:
        """Select trees."""
        return replace(self, chosen=self.chosen[index])

    def coded_like(self, other: KeyedTrees) -> KeyedTrees:
        """The same trees with the keys of ``other``; nodes with other keys match nothing."""
        if other.vocabulary is self.vocabulary:
            return self
        forest = self._known.of(other.vocabulary, self._recoded)
        return replace(self, forest=forest, vocabulary=other.vocabulary, _known=Cache())

    def _recoded(self, vocabulary: Vocabulary) -> Forest:
        starts, keys, _, *rest = self.forest
        table = np.append(vocabulary.columns_of(self.vocabulary), -1).astype(np.int32)
        moved = table[keys]  # the key -1 stays
        trees = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return (starts, moved, _order(moved, trees, starts), *rest)


def _order(keys: np.ndarray, trees: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Places within the tree, by key."""
    order = np.lexsort((keys, trees)) - starts[trees]
    return np.asarray(order.astype(np.int32))
