"""Data of composite kernels: what is prepared for each of their parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import Data, size, take

__all__ = ["Prepared"]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Per-point work of a composite kernel: the prepared data of its children and arrays of its own."""

    parts: tuple[Data, ...]
    arrays: tuple[np.ndarray, ...] = ()

    def __len__(self) -> int:
        return size(self.parts[0]) if self.parts else len(self.arrays[0])

    def take(self, index: slice | np.ndarray, taken: dict[int, Data] | None = None) -> Prepared:
        """Select points; children that share their data go on sharing them (``taken``, by identity)."""
        taken = {} if taken is None else taken
        for p in self.parts:
            if id(p) not in taken:
                taken[id(p)] = p.take(index, taken) if isinstance(p, Prepared) else take(p, index)
        return Prepared(tuple(taken[id(p)] for p in self.parts), tuple(a[index] for a in self.arrays))
