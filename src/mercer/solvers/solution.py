"""What a solver returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

__all__ = ["Solution"]

T = TypeVar("T")


@dataclass(frozen=True)
class Solution(Generic[T]):
    """The answer of a solver, and how good it is.

    Attributes
    ----------
    value : the answer itself
    converged : bool
        Whether the stated accuracy was reached; true only if an independent recomputation agrees.
    status : str
        One sentence: how it ended and, if badly, what to do about it.
    gap : float
        Distance from the optimum in the solver's own measure (here: a relative residual or duality gap).
    stats : mapping
        Iterations, ranks, condition numbers, times.
    """

    value: T
    converged: bool
    status: str
    gap: float
    stats: Mapping[str, Any] = field(default_factory=dict)
