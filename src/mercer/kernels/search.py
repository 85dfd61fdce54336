"""The heaviest of a great many patterns, in order, with what all the others add up to.

Patterns are searched best first.  A *family* is a set of patterns with its total weight, known without
listing them; opening it gives patterns and smaller families.  Where weights have signs, it also has a bound:
the sum of their absolute values, or more.  No pattern is heavier than the bound of a family that it belongs
to, so patterns come out in the order of their weights, and what is left at the end is the sum of the families
that were not opened: nothing is estimated.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..contributions import Contribution

__all__ = ["MOST_OPENED", "Family", "Pattern", "heaviest"]

#: Patterns that are named, and families that are opened, before the rest is summed up.
MOST_PATTERNS = 1000
MOST_OPENED = 2000


@dataclass(frozen=True)
class Pattern:
    """One pattern: its weight, and how to name it and find its places."""

    weight: float
    show: Callable[[], Contribution]

    @property
    def bound(self) -> float:
        """Absolute value of the weight."""
        return abs(self.weight)


@dataclass(frozen=True)
class Family:
    """Patterns not listed yet: their total weight, and how to list them."""

    weight: float
    open: Callable[[], Iterable[Pattern | Family]]
    most: float | None = None

    @property
    def bound(self) -> float:
        """No pattern of the family weighs more, in absolute value; by default its weight."""
        return self.weight if self.most is None else self.most


def heaviest(
    families: Iterable[Pattern | Family], rest: str, most_opened: int = MOST_OPENED
) -> Iterator[Contribution]:
    """Contributions of the heaviest patterns; if there are more, one named ``rest`` with all the others."""
    queue: list[tuple[float, int, Any]] = []
    count = 0

    def enter(found: Iterable[Pattern | Family]) -> None:
        nonlocal count
        for item in found:
            if item.bound > 0:
                heapq.heappush(queue, (-item.bound, count, item))
                count += 1

    enter(families)
    named = opened = 0
    while queue and named < MOST_PATTERNS and opened < most_opened:
        item = heapq.heappop(queue)[2]
        if isinstance(item, Family):
            opened += 1
            enter(item.open())
        else:
            named += 1
            yield item.show()
    if queue:
        yield Contribution(rest, math.fsum(item.weight for _, _, item in queue))
