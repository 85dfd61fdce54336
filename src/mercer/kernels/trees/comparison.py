"""One tree beside those that it is compared with, to say which fragments they share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ...contributions import Contribution, Places
from ...domains import Tree, Trees
from ...errors import InputError, ParameterError
from ..search import MOST_OPENED, Family, Pattern, heaviest
from .forest import Subtrees, number_subtrees

__all__ = ["Comparison"]

#: Numbers in the tables that a search for fragments needs, and letters of the fragments that it names.
MOST_NUMBERS = 50_000_000


class Comparison:
    """A tree x and the sum ``sum_i a_i k(points[i], x)``, by their distinct subtrees.

    All that a kernel says of two nodes follows from the subtrees below them, so the points are one table of
    distinct subtrees, each with the sum of its coefficients.

    Attributes
    ----------
    x, y : Subtrees
        Of the tree, and of all points.
    counts, totals : float64 arrays
        For each subtree of the table of x, how often it occurs; for each of the table of y, the sum of
        ``a_i`` over its occurrences in the points.
    """

    def __init__(self, x: Tree, points: Sequence[Tree], coefficients: np.ndarray | None = None) -> None:
        if int(x.sizes.sum()) > MOST_NUMBERS:
            raise InputError(
                f"contributions: the subtrees of x must have at most {MOST_NUMBERS:,} nodes in all. Got a "
                f"tree of {len(x):,} nodes. Pass the subtree that concerns you."
            )
        a = np.ones(len(points)) if coefficients is None else coefficients
        self.x, self.y = Subtrees.of(Trees().validate([x])), Subtrees.of(Trees().validate(list(points)))
        self.counts = self.x.counts
        occurring = self.y.counts * a[self.y.trees]
        self.totals = np.bincount(self.y.numbers, weights=occurring, minlength=len(self.y.table))
        self._x_places = _places(x)
        self._y_places = _places(points[0]) if coefficients is None else None

    def require(self, numbers: int) -> None:
        """Refuse comparisons whose tables are too large."""
        if numbers > MOST_NUMBERS:
            raise InputError(
                f"contributions: tables of at most {MOST_NUMBERS:,} numbers are made. These trees need "
                f"{numbers:,}. Pass the subtree that concerns you, or fewer points."
            )

    def require_finite(self, table: np.ndarray) -> None:
        """Refuse weights beyond the range of floats."""
        if not np.isfinite(table.sum()):
            raise ParameterError("contributions: the weights of these fragments overflow. Lower `decay`.")

    def heaviest(self, families: Iterable[Pattern | Family]) -> Iterator[Contribution]:
        """The heaviest fragments, and the sum of all others."""
        # Families that are opened, times the distinct subtrees that they may occur at: some seconds.
        most = max(20, 50_000_000 // len(self.y.table))
        return heaviest(families, "all other fragments", min(MOST_OPENED, most))

    def contribution(self, pattern: str, weight: float, us: Iterable[int], vs: Iterable[int]) -> Contribution:
        """Name a fragment that occurs at the roots of the subtrees us of x and vs of the points."""
        y_places = () if self._y_places is None else _joined(self._y_places, vs)
        return Contribution(pattern, weight, _joined(self._x_places, us), y_places)


def _places(tree: Tree) -> list[Places]:
    """Where each distinct subtree of a tree is, as stretches of nodes in pre-order."""
    table, numbers = number_subtrees(list(tree.labels), tree.children)
    places: list[list[tuple[int, int]]] = [[] for _ in range(len(table))]
    for v, (number, size) in enumerate(zip(numbers.tolist(), tree.sizes.tolist(), strict=True)):
        places[number].append((v, v + size))
    return [tuple(found) for found in places]


def _joined(places: list[Places], numbers: Iterable[int]) -> Places:
    return tuple(sorted(place for number in set(numbers) for place in places[number]))
