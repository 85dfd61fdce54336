"""Ordered trees whose nodes have labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..digests import digest
from ..errors import DigestError, InputError
from .base import Domain
from .containers import points_of
from .tree import Tree, children_of, read_tree
from .vocabulary import Vocabulary

__all__ = ["TreeBatch", "Trees"]


@dataclass(frozen=True, eq=False)
class TreeBatch:
    """Trees one after the other: no Python object per node.

    Attributes
    ----------
    starts : int64 array of shape (n + 1,)
        Tree i has the nodes ``starts[i]:starts[i + 1]`` of the batch, in pre-order; it begins at 0.
    arities : int32 array
        Number of children of each node.
    codes : int32 array
        Number of the label of each node, in ``labels``.
    labels : Vocabulary
        The label of each number, shared by all that is taken from the batch.
    """

    starts: np.ndarray
    arities: np.ndarray
    codes: np.ndarray
    labels: Vocabulary

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> TreeBatch:
        """The batch of some trees."""
        labels: Vocabulary = Vocabulary(label for t in trees for label in t.labels)
        return cls(
            np.concatenate([[0], np.cumsum([len(t) for t in trees])]).astype(np.int64),
            np.concatenate([np.zeros(0, dtype=np.int32), *(t.arities for t in trees)]),
            np.fromiter((labels.index[label] for t in trees for label in t.labels), dtype=np.int32),
            labels,
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[Tree]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: int) -> Tree:
        """Tree number i."""
        i = range(len(self))[i]
        nodes = slice(int(self.starts[i]), int(self.starts[i + 1]))
        elements = self.labels.elements
        return Tree._of([elements[c] for c in self.codes[nodes].tolist()], self.arities[nodes])

    @property
    def sizes(self) -> np.ndarray:
        """Number of nodes of each tree."""
        return np.diff(self.starts)

    @cached_property
    def children(self) -> list[list[int]]:
        """The children of each node, by their numbers in the batch."""
        return children_of(self.arities)

    @cached_property
    def productions(self) -> tuple[np.ndarray, Vocabulary]:
        """Numbers of the productions ``(label, label of child, ...)`` of the nodes, and their vocabulary."""
        elements = self.labels.elements
        labels = [elements[c] for c in self.codes.tolist()]
        found = [
            (label, *(labels[c] for c in below)) for label, below in zip(labels, self.children, strict=True)
        ]
        vocabulary: Vocabulary = Vocabulary(found)
        return np.array([vocabulary.index[p] for p in found], dtype=np.int32), vocabulary

    def take(self, index: slice | np.ndarray) -> TreeBatch:
        """Select trees."""
        chosen = np.arange(len(self))[index]
        sizes = self.sizes[chosen]
        ends = np.cumsum(sizes)
        nodes = np.repeat(self.starts[:-1][chosen] - (ends - sizes), sizes) + np.arange(int(sizes.sum()))
        starts = np.concatenate([[0], ends]).astype(np.int64)
        return TreeBatch(starts, self.arities[nodes], self.codes[nodes], self.labels)

    def __reduce__(self) -> tuple[Any, ...]:
        return TreeBatch, (self.starts, self.arities, self.codes, self.labels)


@dataclass(frozen=True)
class Trees(Domain):
    """Ordered trees with labels, in any of the forms of :class:`Tree`.

    Labels are hashables that equal themselves; two are the same if Python's ``==`` says so.  A node without
    children is a leaf.  There is no empty tree.

    Examples
    --------
    >>> batch = Trees().validate(["(S (NP John) (VP sleeps))", ("NP", "Mary")])
    >>> len(batch), batch.sizes.tolist()
    (2, [5, 2])
    """

    def validate(self, X: Any, name: str = "X") -> TreeBatch:
        if isinstance(X, TreeBatch):
            return X
        single = InputError(
            f"{name} must be a sequence of trees. Got one tree. Pass a list of one: [{name}]."
        )
        if isinstance(X, Tree) or callable(getattr(X, "label", None)):
            raise single
        points = points_of(X, name, "a sequence of trees")
        first = points[0] if points else None
        if isinstance(first, str) and "(" not in first and len(points) > 1:  # a label, then children
            raise single
        return TreeBatch.of([self.point(x, f"{name}[{i}]") for i, x in enumerate(points)])

    def point(self, x: Any, name: str = "x") -> Tree:
        return x if isinstance(x, Tree) else Tree._of(*read_tree(x, name))

    def pair(self, x: Any, y: Any) -> tuple[Tree, Tree]:
        return self.point(x, "x"), self.point(y, "y")

    def _digest(self, x: Tree, position: int) -> str:
        try:
            return digest((x.labels, x.arities))
        except DigestError as error:
            raise DigestError(f"point {position}: {error}") from error

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        """Trees of a few nodes with labels out of three."""
        trees = []
        for _ in range(n):
            labels: list[str] = []
            arities: list[int] = []
            waiting = 1  # nodes to come
            while waiting:
                arity = int(rng.integers(0, 3)) if len(labels) < 6 else 0
                labels.append("abc"[int(rng.integers(0, 3))])
                arities.append(arity)
                waiting += arity - 1
            trees.append(Tree._of(labels, arities))
        return trees

    def __str__(self) -> str:
        return "ordered trees"
