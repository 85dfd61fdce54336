"""What a kernel value is made of: named patterns, each with what it adds."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np

__all__ = ["Contribution", "Contributions", "weighted"]

#: A stretch of a sequence: first position and the one after the last.
Place = tuple[int, int]
Places = tuple[Place, ...]


@dataclass(frozen=True)
class Contribution:
    """One pattern and what it adds.

    Attributes
    ----------
    pattern : object
        What the two points share: text, a tuple of symbols, the name of a feature.
    weight : float
        What it adds to the value.
    x_places, y_places : tuple of (int, int)
        Where it stands in the two points, as stretches ``start:end``; empty if it has no place.
    """

    pattern: Any
    weight: float
    x_places: Places = ()
    y_places: Places = ()
    #: Parts of the weight that belong to the places, where several contributions became one.
    _x_parts: tuple[float, ...] = field(default=(), repr=False, compare=False, kw_only=True)
    _y_parts: tuple[float, ...] = field(default=(), repr=False, compare=False, kw_only=True)

    def scaled(self, factor: float) -> Contribution:
        """The same pattern with its weight times a number."""
        return replace(
            self,
            weight=self.weight * factor,
            _x_parts=tuple(part * factor for part in self._x_parts),
            _y_parts=tuple(part * factor for part in self._y_parts),
        )

    def placed(self, side: str = "x") -> dict[Place, float]:
        """What each of its places adds to the weight.

        Places that a kernel names together have even parts.  Where a pattern counts differently at different
        places, a kernel names each of them on its own, and then each has its own weight.

        Parameters
        ----------
        side : {"x", "y"}, default="x"
            In which of the two points.

        Examples
        --------
        >>> found = Contributions([Contribution("a", 2.0, ((0, 1),)), Contribution("a", 0.5, ((4, 5),))])
        >>> found[0].placed()
        {(0, 1): 2.0, (4, 5): 0.5}
        """
        places, parts = (self.x_places, self._x_parts) if side == "x" else (self.y_places, self._y_parts)
        if not parts:
            return dict.fromkeys(places, self.weight / max(len(set(places)), 1))
        return dict(zip(places, parts, strict=True))


class Contributions(Sequence[Contribution]):
    """Contributions that add up to one value, the largest first.

    Contributions of one pattern are added.  ``total`` is the sum of all weights: the value that they explain.

    Examples
    --------
    >>> found = Contributions([Contribution("ab", 2.0), Contribution("b", 0.5), Contribution("ab", 1.0)])
    >>> found.total
    3.5
    >>> print(found)
    weight  pattern
       3.0  'ab'
       0.5  'b'
    """

    def __init__(self, contributions: Iterable[Contribution]) -> None:
        merged: dict[Any, list[Contribution]] = {}
        for c in contributions:
            merged.setdefault(c.pattern, []).append(c)
        found = []
        for pattern, parts in merged.items():
            if len(parts) == 1:
                found += parts
                continue
            in_x, in_y = (_placed(parts, side) for side in "xy")
            total = math.fsum(c.weight for c in parts)
            inside = {"_x_parts": tuple(in_x.values()), "_y_parts": tuple(in_y.values())}
            found.append(Contribution(pattern, total, tuple(in_x), tuple(in_y), **inside))
        self._all = tuple(sorted(found, key=lambda c: (-abs(c.weight), repr(c.pattern))))

    @property
    def total(self) -> float:
        """Sum of all weights."""
        return math.fsum(c.weight for c in self._all)

    def __len__(self) -> int:
        return len(self._all)

    @overload
    def __getitem__(self, index: int) -> Contribution: ...
    @overload
    def __getitem__(self, index: slice) -> Contributions: ...
    def __getitem__(self, index: int | slice) -> Contribution | Contributions:
        return Contributions(self._all[index]) if isinstance(index, slice) else self._all[index]

    def __repr__(self) -> str:
        return f"<{len(self)} contributions, {self.total:.6g} in all>"

    def _rows(self) -> list[tuple[str, str, str]]:
        """Weight, pattern and places of the strongest; what the others add up to."""
        # Rows of a printed table; those beyond are added up.
        shown = 20
        rows = [(_number(c.weight), repr(c.pattern), _where(c)) for c in self._all[:shown]]
        if rest := self._all[shown:]:
            rows.append((_number(math.fsum(c.weight for c in rest)), f"in {len(rest)} more", ""))
        return rows

    def __str__(self) -> str:
        rows = [("weight", "pattern", ""), *self._rows()]
        width = max(len(weight) for weight, _, _ in rows)
        return "\n".join(f"{weight:>{width}}  {pattern}{places}" for weight, pattern, places in rows)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{weight}</td><td><code>{html.escape(pattern)}</code></td>"
            f"<td>{html.escape(places)}</td></tr>"
            for weight, pattern, places in self._rows()
        )
        return f"<table><tr><th>weight</th><th>pattern</th><th>places</th></tr>{rows}</table>"


def _number(weight: float) -> str:
    return f"{weight:.6g}" if weight % 1 else f"{weight:.1f}"


def _placed(parts: Sequence[Contribution], side: str) -> dict[Place, float]:
    """What each place of a pattern adds, in the order of the places."""
    weights: dict[Place, list[float]] = {}
    for c in parts:
        for place, weight in c.placed(side).items():
            weights.setdefault(place, []).append(weight)
    return {place: math.fsum(weights[place]) for place in sorted(weights)}


def _where(c: Contribution) -> str:
    sides = [" ".join(f"{a}:{b}" for a, b in places) for places in (c.x_places, c.y_places)]
    return f"  [{' | '.join(sides).removesuffix(' | ')}]" if any(sides) else ""


def weighted(
    contributions: Callable[[Any, Any], Iterable[Contribution]],
    points: Sequence[Any],
    coefficients: np.ndarray,
    x: Any,
) -> Iterator[Contribution]:
    """Contributions to ``sum_i a_i k(points[i], x)``, pair by pair, with their places in ``x``."""
    for point, a in zip(points, coefficients.tolist(), strict=True):
        for c in contributions(point, x):
            c = c.scaled(a)
            yield Contribution(c.pattern, c.weight, c.y_places, _x_parts=c._y_parts)
