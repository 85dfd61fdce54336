"""Finite sets of hashable objects."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from .base import Domain
from .containers import refuse_masked

__all__ = ["Sets"]


@dataclass(frozen=True)
class Sets(Domain):
    """Sets of hashables: each point is a set, frozenset, list, tuple or any other iterable.

    Repeated elements count once.  A bare string is refused, for it is rarely meant as a set of letters:
    write ``set("abc")`` if it is.
    """

    def validate(self, X: Any, name: str = "X") -> list[frozenset[Hashable]]:
        if isinstance(X, str | bytes) or not isinstance(X, Iterable):
            raise InputError(f"{name} must be a sequence of sets. Got {type(X).__name__}.")
        return [self.point(x, f"{name}[{i}]") for i, x in enumerate(X)]

    def point(self, x: Any, name: str = "x") -> frozenset[Hashable]:
        if isinstance(x, frozenset):
            return x
        if isinstance(x, str | bytes):
            raise InputError(
                f"{name} must be a set of hashables. Got the string {x!r}; write set({name}) for its letters."
            )
        refuse_masked(x, name)
        try:
            return frozenset(x.tolist() if isinstance(x, np.ndarray) else x)
        except TypeError as error:
            raise InputError(f"{name} must be a set of hashables: {error}.") from error

    def pair(self, x: Any, y: Any) -> tuple[frozenset[Hashable], frozenset[Hashable]]:
        return self.point(x, "x"), self.point(y, "y")

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        universe = int(rng.integers(2, 7))
        return [frozenset(np.flatnonzero(rng.random(universe) < 0.5).tolist()) for _ in range(n)]

    def __str__(self) -> str:
        return "finite sets"
