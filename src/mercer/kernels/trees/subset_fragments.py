"""The subset trees that trees share, the heaviest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...domains import Tree
from ..search import Family, Pattern
from .comparison import Comparison

__all__ = ["SubsetSearch"]


@dataclass(frozen=True, eq=False)
class Beginning:
    """The first nodes of a fragment in pre-order, and where it occurs.

    Attributes
    ----------
    labels, arities : tuples
        Of the nodes so far.
    us, vs : int arrays
        Subtrees of x and of the points with an occurrence at their root.
    x_next, y_next : int arrays of shape (occurrences, p)
        For each of them, the nodes that come next, the first one last.
    expanded : int
        Number of nodes with children.
    """

    labels: tuple[Any, ...]
    arities: tuple[int, ...]
    us: np.ndarray
    vs: np.ndarray
    x_next: np.ndarray
    y_next: np.ndarray
    expanded: int


class SubsetSearch:
    """Families are the fragments that begin alike."""

    def __init__(self, both: Comparison, decay: float, leaves: bool) -> None:
        both.require(len(both.x.table) * len(both.y.table))
        self.both, self.decay, self.leaves = both, decay, leaves
        index = {p: i for i, p in enumerate(dict.fromkeys(both.y.productions)) if len(p) > 1}
        self.x_codes, self.y_codes = (
            np.array([index.get(p, -1) for p in side.productions], dtype=np.intp) for side in (both.x, both.y)
        )
        self.delta = np.zeros((len(both.x.table), len(both.y.table)))
        for u in np.flatnonzero(self.x_codes >= 0).tolist():
            vs = np.flatnonzero(self.y_codes == self.x_codes[u])
            below = self._below(both.x.table.elements, np.array([u]))[0]
            factors = 1 + self.delta[below, self._below(both.y.table.elements, vs)]
            with np.errstate(over="ignore"):
                self.delta[u, vs] = decay * factors.prod(axis=1)
        both.require_finite(self.delta)

    @staticmethod
    def _below(elements: tuple[Any, ...], numbers: np.ndarray) -> np.ndarray:
        """Children of subtrees of equal arity, one row for each."""
        return np.array([elements[n][1:] for n in numbers.tolist()], dtype=np.intp)

    def families(self) -> Iterator[Pattern | Family]:
        """The fragments by the production at their root."""
        both, none = self.both, np.zeros((1, 0), dtype=np.intp)
        for code in np.unique(self.x_codes[self.x_codes >= 0]).tolist():
            us, vs = np.flatnonzero(self.x_codes == code), np.flatnonzero(self.y_codes == code)
            start = Beginning((), (), us, vs, us[:, None], vs[:, None], 0)
            yield self._item(self._expanded(start, np.arange(len(us)), np.arange(len(vs))))
        for u in np.flatnonzero(both.x.arities == 0).tolist() if self.leaves else ():
            v = both.y.table.index.get(both.x.table.elements[u])
            if v is not None:
                roots = np.array([u]), np.array([v])
                yield self._item(Beginning((both.x.labels[u],), (0,), *roots, none, none, 1))

    def _item(self, b: Beginning) -> Pattern | Family:
        """The family of all fragments that begin so; a pattern if only one does."""
        while b.x_next.shape[1] and not self._choices(b):
            b = self._stopped(b)
        weight, bound = self._weights(b)
        if b.x_next.shape[1]:
            return Family(weight, lambda: self._open(b), bound)
        text = str(Tree._of(b.labels, b.arities))
        return Pattern(weight, lambda: self.both.contribution(text, weight, b.us.tolist(), b.vs.tolist()))

    def _weights(self, b: Beginning) -> tuple[float, float]:
        """Sum of the weights of all fragments that begin so, and the most that one of them can weigh."""
        totals = self.both.totals[b.vs]
        factors = np.zeros(len(b.vs))
        for u, following in zip(b.us.tolist(), b.x_next, strict=True):
            factors += self.both.counts[u] * (1 + self.delta[following, b.y_next]).prod(axis=1)
        power = self.decay**b.expanded
        # No further node raises the weight, for decay <= 1, or the number of occurrences.
        most = float(self.both.counts[b.us].sum() * np.abs(totals).sum())
        return power * float(factors @ totals), power * most

    def _choices(self, b: Beginning) -> list[int]:
        """Productions that the next node may have in both."""
        ours, theirs = self.x_codes[b.x_next[:, -1]], self.y_codes[b.y_next[:, -1]]
        return sorted(set(ours[ours >= 0].tolist()) & set(theirs.tolist()))

    def _open(self, b: Beginning) -> Iterable[Pattern | Family]:
        yield self._item(self._stopped(b))
        for code in self._choices(b):
            rows, cols = (
                np.flatnonzero(codes[following[:, -1]] == code)
                for codes, following in ((self.x_codes, b.x_next), (self.y_codes, b.y_next))
            )
            yield self._item(self._expanded(b, rows, cols))

    def _stopped(self, b: Beginning) -> Beginning:
        """The next node is a leaf of the fragment."""
        label = self.both.x.labels[b.x_next[0, -1]]
        x_next, y_next = b.x_next[:, :-1], b.y_next[:, :-1]
        return Beginning((*b.labels, label), (*b.arities, 0), b.us, b.vs, x_next, y_next, b.expanded)

    def _expanded(self, b: Beginning, rows: np.ndarray, cols: np.ndarray) -> Beginning:
        """The next node has its children, in those occurrences that are chosen."""
        x, y = self.both.x, self.both.y
        label = x.labels[b.x_next[rows[0], -1]]
        x_below = self._below(x.table.elements, b.x_next[rows, -1])[:, ::-1]
        y_below = self._below(y.table.elements, b.y_next[cols, -1])[:, ::-1]
        return Beginning(
            (*b.labels, label),
            (*b.arities, x_below.shape[1]),
            b.us[rows],
            b.vs[cols],
            np.hstack([b.x_next[rows, :-1], x_below]),
            np.hstack([b.y_next[cols, :-1], y_below]),
            b.expanded + 1,
        )
