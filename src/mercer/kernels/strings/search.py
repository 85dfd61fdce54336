"""The heaviest of a great many patterns, in order, with what all the others add up to.

Patterns are searched best first.  A *family* is a set of patterns with its total weight, known without
listing them; opening it gives patterns and smaller families.  No pattern is heavier than a family that it
belongs to, so patterns come out in the order of their weights, and what is left at the end is the sum of the
families that were not opened: nothing is estimated, and nothing cancels.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...contributions import Contribution

__all__ = ["Family", "Pattern", "heaviest", "windows"]

#: Patterns that are named, and families that are opened, before the rest is summed up.
MOST_PATTERNS = 1000
MOST_OPENED = 2000


@dataclass(frozen=True)
class Pattern:
    """One pattern: its weight, and how to name it and find its places."""

    weight: float
    show: Callable[[], Contribution]


@dataclass(frozen=True)
class Family:
    """Patterns not listed yet: their total weight, and how to list them."""

    weight: float
    open: Callable[[], Iterable[Pattern | Family]]


def heaviest(
    families: Iterable[Pattern | Family], rest: str, most_opened: int = MOST_OPENED
) -> Iterator[Contribution]:
    """Contributions of the heaviest patterns; if there are more, one named ``rest`` with all the others."""
    queue: list[tuple[float, int, Any]] = []
    count = 0

    def enter(found: Iterable[Pattern | Family]) -> None:
        nonlocal count
        for item in found:
            if item.weight > 0:
                heapq.heappush(queue, (-item.weight, count, item))
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
        yield Contribution(rest, math.fsum(-weight for weight, _, _ in queue))


def windows(pattern: Iterable[int], codes: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Stretches of a sequence that hold a pattern as a subsequence, and have no shorter stretch within."""
    # The latest place where the symbols so far, in order, have begun, by where they have ended at the latest.
    last = begun = np.arange(1, len(codes) + 1)
    for code in pattern:
        begun = np.maximum.accumulate(np.where(codes == code, begun, 0))
        last, begun = begun, np.concatenate([[0], begun[:-1]])
    (ends,) = np.nonzero(np.diff(last, prepend=0))
    return tuple((int(last[end]) - 1, int(end) + 1) for end in ends)
