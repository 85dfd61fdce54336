"""Samples of the kernels on events."""

from __future__ import annotations

from typing import Any

from mercer.kernels.events import BooleanFunctions, EventCovariance, SampledIntersection

from ..cases import Case

__all__ = ["CASES"]

DIE = dict.fromkeys(range(1, 7), 1 / 6)
LOADED = {"a": 0.5, "b": 0.25, "c": 0.25, "never": 0.0}

ROLLS: list[frozenset[int]] = [
    frozenset(s) for s in ((), (2, 4, 6), (4, 5, 6), (1, 2, 3, 4, 5, 6), (2, 4, 6), (1,))
]
LETTERS: list[frozenset[str]] = [frozenset(s) for s in ("", "a", "bc", "abc", "ab", "ab")]


def below_half(z: float) -> bool:
    """Whether the draw lies in [0, 1/2)."""
    return z < 0.5


def never(z: Any) -> bool:
    """The empty set, and the contradiction."""
    return False


def first(z: tuple[int, ...]) -> int:
    """The first variable."""
    return z[0]


def either(z: tuple[int, ...]) -> bool:
    """The disjunction of the first and the last variable."""
    return bool(z[0] or z[-1])


def parity(z: tuple[int, ...]) -> bool:
    """Whether the number of ones is odd."""
    return sum(z) % 2 == 1


def tautology(z: tuple[int, ...]) -> bool:
    """Always true."""
    return True


FORMULAS = [first, either, parity, tautology, never, first]
REGIONS: list[Any] = [below_half, never, {0.0, 0.25, 0.75}, frozenset(), [0.5], below_half]

CASES: list[Case] = [
    Case(EventCovariance(DIE), ROLLS),
    Case(EventCovariance(LOADED), LETTERS),
    *(Case(SampledIntersection([i / 8 for i in range(9)], total), REGIONS) for total in (1.0, 2.5)),
    *(Case(BooleanFunctions(4, n, agreement=a), FORMULAS) for n in (None, 1, 100) for a in (False, True)),
]
