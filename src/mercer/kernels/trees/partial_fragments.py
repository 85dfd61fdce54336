r"""The partial trees that trees share, the heaviest first.

A fragment is written in pre-order: a node, its children one after the other, then its end.  A beginning of
it leaves some nodes open.  Let i and j be the children of an open pair (u, v) that were taken last.  All that
can still follow below the pair weighs

.. math:: R(i, j) = 1 + \sum_{i' > i,\ j' > j} \lambda^{i' - i + j' - j} \Delta(u_{i'}, v_{j'}) R(i', j')

and :math:`R = \Delta(u, v) / \mu` if no child was taken.  So the weight of all fragments that begin alike is
a sum over the occurrences of the beginning, of products of R over its open nodes.  A bound for the weight of
one fragment comes from the same recursion: of the children that may follow, only those with one label do, or
none, so the sum over labels becomes a maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...domains import Tree
from ..search import Family, Pattern
from .comparison import Comparison
from .forest import Subtrees

__all__ = ["PartialSearch"]


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Where a beginning occurs among some subtrees.

    Attributes
    ----------
    nodes : int array of shape (n, depth)
        The open nodes from the root on.
    taken : int array of shape (n, depth)
        The child of each that was taken last, from 1 on; 0 for none.
    weights : float array
        Decays of the gaps so far.
    """

    nodes: np.ndarray
    taken: np.ndarray
    weights: np.ndarray

    def chosen(self, index: np.ndarray) -> Occurrences:
        """Some of them."""
        return Occurrences(self.nodes[index], self.taken[index], self.weights[index])

    def closed(self, gap: float) -> Occurrences:
        """The last open node ends; equal occurrences become one."""
        weights = self.weights * (gap if self.taken[0, -1] == 0 else 1.0)
        root, depth = self.nodes[:, :1], self.nodes.shape[1] - 1
        rows = np.hstack([root, self.nodes[:, :-1], self.taken[:, :-1]])
        rows, places = np.unique(rows, axis=0, return_inverse=True)
        sums = np.bincount(places.ravel(), weights=weights, minlength=len(rows))
        if depth == 0:
            return Occurrences(rows[:, :1], rows[:, 1:], sums)
        return Occurrences(rows[:, 1 : depth + 1], rows[:, depth + 1 :], sums)


class Side:
    """Subtrees with the numbers of their labels, and their children in compressed rows."""

    def __init__(self, subtrees: Subtrees, index: dict[Any, int]) -> None:
        self.codes = np.array([index.get(label, -1) for label in subtrees.labels], dtype=np.intp)
        self.arities = subtrees.arities
        self.starts = np.cumsum(self.arities) - self.arities
        below = [c for _, *children in subtrees.table.elements for c in children]
        self.children = np.array(below, dtype=np.intp)

    def below(self, numbers: Any) -> np.ndarray:
        """Children of one subtree, or a row for each of several with equal arity."""
        starts, arity = self.starts[numbers], int(np.max(self.arities[numbers]))
        return np.asarray(self.children[np.add.outer(starts, np.arange(arity))])

    def roots(self, code: int, leaves: bool) -> Occurrences:
        """Fragments that begin with a label, with no child yet."""
        found = np.flatnonzero((self.codes == code) & ((self.arities > 0) | leaves))
        return Occurrences(found[:, None], np.zeros((len(found), 1), dtype=np.intp), np.ones(len(found)))

    def has_more(self, found: Occurrences) -> bool:
        """Whether the last open node has children ahead in some occurrence."""
        return bool((self.arities[found.nodes[:, -1]] > found.taken[:, -1]).any())

    def grown(self, found: Occurrences, gap: float) -> Occurrences:
        """Occurrences with one more child of the last open node, which is then open itself."""
        top, last = found.nodes[:, -1], found.taken[:, -1]
        ahead = self.arities[top] - last
        rows = np.repeat(np.arange(len(top)), ahead)
        step = np.arange(len(rows)) - np.repeat(np.cumsum(ahead) - ahead, ahead) + 1
        places = last[rows] + step
        child = self.children[self.starts[top[rows]] + places - 1]
        weights = found.weights[rows] * np.where(last[rows] == 0, gap, gap**step)
        taken = found.taken[rows]
        taken[:, -1] = places
        return Occurrences(
            np.hstack([found.nodes[rows], child[:, None]]),
            np.hstack([taken, np.zeros((len(rows), 1), dtype=np.intp)]),
            weights,
        )


@dataclass(frozen=True, eq=False)
class Beginning:
    """The first nodes of a fragment in pre-order, with their children so far, and where it occurs."""

    labels: tuple[Any, ...]
    arities: tuple[int, ...]
    opened: tuple[int, ...]  # the open nodes, by their places in the fragment
    x: Occurrences
    y: Occurrences


@dataclass(frozen=True, eq=False)
class Completions:
    """R by node of x, and the values of pairs of nodes that follow from it."""

    tables: list[np.ndarray]
    below: np.ndarray


def _plus(values: np.ndarray) -> np.ndarray:
    return np.asarray(1 + values.sum(axis=0))


def _or(values: np.ndarray) -> np.ndarray:
    return np.asarray(values.max(axis=0, initial=1.0))


class PartialSearch:
    """Families are the fragments that begin alike."""

    def __init__(self, both: Comparison, decay: float, gap_decay: float, leaves: bool) -> None:
        both.require(len(both.x.table) * len(both.y.table))
        self.both, self.decay, self.gap, self.leaves = both, decay, gap_decay, leaves
        index = {label: i for i, label in enumerate(dict.fromkeys(both.y.labels))}
        self.x, self.y = Side(both.x, index), Side(both.y, index)
        shape = (len(both.x.table), len(both.y.table))
        self.offsets = np.zeros(shape, dtype=np.intp)  # of R(0, 0) in the table of u
        self.sums, self.most = Completions([], np.zeros(shape)), Completions([], np.zeros(shape))
        with np.errstate(over="ignore", invalid="ignore"):
            for u in range(shape[0]):
                self._complete(u)
        both.require_finite(self.sums.below)

    def _complete(self, u: int) -> None:
        """R for a node u of x and all v with its label: of sums, and of bounds for one fragment."""
        vs = np.flatnonzero(self.y.codes == self.x.codes[u])
        tables: tuple[list[np.ndarray], list[np.ndarray]] = ([np.zeros(0)], [np.zeros(0)])
        size = 0
        for cols in np.unique(self.y.arities[vs]).tolist():
            same = vs[self.y.arities[vs] == cols]
            for found, parts, total in zip((self.sums, self.most), tables, (_plus, _or), strict=True):
                R = self._rest(u, same, found.below, total)
                found.below[u, same] = self.decay * R[:, 0, 0]
                parts.append(R.ravel())
            self.offsets[u, same] = size + np.arange(len(same)) * R[0].size
            size += R.size
        self.sums.tables.append(np.concatenate(tables[0]))
        self.most.tables.append(np.concatenate(tables[1]))

    def _rest(
        self, u: int, vs: np.ndarray, below: np.ndarray, total: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """R for a node u of x and nodes vs of equal arity.

        ``below`` has the values of pairs of children, and ``total`` puts those together that have different
        labels, with the end of the fragment.
        """
        ours, theirs = self.x.below(u), self.y.below(vs)
        rows, cols = len(ours), theirs.shape[1]
        labels, group = np.unique(self.x.codes[ours], return_inverse=True)
        gap = self.gap
        R = np.ones((len(vs), rows + 1, cols + 1))
        later = np.zeros((len(labels), len(vs), cols + 2))  # by label, decayed sums over i' > i and j' >= j
        every = np.zeros((len(labels), len(vs)))
        for i in reversed(range(1, rows + 1)):
            R[:, i, 1:] = total(gap**2 * later[:, :, 2:])
            along = np.zeros(len(vs))
            later *= gap
            for j in reversed(range(1, cols + 1)):
                ends = below[ours[i - 1], theirs[:, j - 1]] * R[:, i, j]
                along = gap * along + ends
                every[group[i - 1]] += ends
                later[group[i - 1], :, j] += along
        R[:, 0, 0] = gap**2 * total(every)
        return R

    def families(self) -> Iterator[Pattern | Family]:
        """The fragments by the label of their root."""
        for code in np.unique(self.x.codes[self.x.codes >= 0]).tolist():
            x, y = (side.roots(code, self.leaves) for side in (self.x, self.y))
            if len(x.weights) and len(y.weights):
                label = self.both.x.labels[int(x.nodes[0, 0])]
                yield self._item(Beginning((label,), (0,), (0,), x, y))

    def _item(self, b: Beginning) -> Pattern | Family:
        """The family of all fragments that begin so; a pattern if only one does."""
        while b.opened and not (self.x.has_more(b.x) and self.y.has_more(b.y)):
            b = self._closed(b)
        weight, bound = self._weights(b)
        if b.opened:
            return Family(weight, lambda: self._open(b), bound)
        text = str(Tree._of(b.labels, b.arities))
        roots = b.x.nodes[:, 0].tolist(), b.y.nodes[:, 0].tolist()
        return Pattern(weight, lambda: self.both.contribution(text, weight, *roots))

    def _weights(self, b: Beginning) -> tuple[float, float]:
        """Sum of the weights of all fragments that begin so, and the most that one of them can weigh."""
        factors = np.zeros((2, len(b.y.weights)))
        widths = self.y.arities[b.y.nodes] + 1
        for nodes, taken, weight in zip(b.x.nodes, b.x.taken, b.x.weights, strict=True):
            product = np.full(factors.shape, self.both.counts[nodes[0]] * weight)
            for level in range(len(b.opened)):
                u, vs = int(nodes[level]), b.y.nodes[:, level]
                place = self.offsets[u, vs] + taken[level] * widths[:, level] + b.y.taken[:, level]
                product[0] *= self.sums.tables[u][place]
                product[1] *= self.most.tables[u][place]
            factors += product
        factors *= b.y.weights * self.decay ** len(b.labels)
        totals = self.both.totals[b.y.nodes[:, 0]]
        return float(factors[0] @ totals), float(factors[1] @ np.abs(totals))

    def _open(self, b: Beginning) -> Iterable[Pattern | Family]:
        yield self._item(self._closed(b))
        x, y = self.x.grown(b.x, self.gap), self.y.grown(b.y, self.gap)
        ours, theirs = self.x.codes[x.nodes[:, -1]], self.y.codes[y.nodes[:, -1]]
        for code in sorted(set(ours[ours >= 0].tolist()) & set(theirs.tolist())):
            rows, cols = np.flatnonzero(ours == code), np.flatnonzero(theirs == code)
            label = self.both.x.labels[int(x.nodes[rows[0], -1])]
            arities = list(b.arities)
            arities[b.opened[-1]] += 1
            opened = (*b.opened, len(b.labels))
            longer = (*b.labels, label), (*arities, 0), opened
            yield self._item(Beginning(*longer, x.chosen(rows), y.chosen(cols)))

    def _closed(self, b: Beginning) -> Beginning:
        """The last open node ends."""
        x, y = b.x.closed(self.gap), b.y.closed(self.gap)
        return Beginning(b.labels, b.arities, b.opened[:-1], x, y)
