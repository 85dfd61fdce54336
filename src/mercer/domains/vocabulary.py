"""Hashable things with numbers: the columns of a matrix of indicators, the letters of a string."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from ..caches import Cache

__all__ = ["Vocabulary"]


class Vocabulary:
    """Distinct elements, numbered; remembers how the numbers of other vocabularies map onto its own.

    Attributes
    ----------
    index : dict
        Number of each element, in order.
    """

    def __init__(self, elements: Iterable[Hashable]) -> None:
        self.index = {element: i for i, element in enumerate(dict.fromkeys(elements))}
        self._maps = Cache()

    def __len__(self) -> int:
        return len(self.index)

    @cached_property
    def elements(self) -> tuple[Any, ...]:
        """The elements by number."""
        return tuple(self.index)

    def columns_of(self, other: Vocabulary) -> np.ndarray:
        """Return for each number of ``other`` the one here, or -1."""
        return self._maps.of(other, self._columns_of)

    def numbers_of(self, other: Vocabulary) -> np.ndarray:
        """The same as int32, with numbers beyond the own ones for elements that are not here."""
        known = self.columns_of(other)
        return np.where(known < 0, len(self) + np.arange(len(known)), known).astype(np.int32)

    def _columns_of(self, other: Vocabulary) -> np.ndarray:
        return np.array([self.index.get(element, -1) for element in other.index], dtype=np.intp)
