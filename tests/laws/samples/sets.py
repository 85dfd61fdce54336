"""Samples of the kernels on sets, and of those derived from kernels on members."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels.derived import DerivedSubsets, DualWords, Jittered
from mercer.kernels.dot import Linear
from mercer.kernels.radial import Gaussian
from mercer.kernels.sets import CommonSubsets, Jaccard, SetIntersection, SymmetricDifference
from mercer.kernels.subsets import Agreement, UnionComplement

from ..cases import Case

__all__ = ["CASES", "SETS", "shifts"]

#: The empty set, nested sets, a repeated one, elements of several types.
SETS: list[frozenset[Any]] = [
    frozenset(s)
    for s in ((), ("a",), ("b",), ("a", "b"), ("a", "b"), ("a", "b", "c"), (1, 2.5, None), ("a", (1, 2), 1))
]
ELEMENTS = frozenset().union(*SETS)
WEIGHTS = {"a": 2.0, "b": 0.3, 1: 1.0, "unused": 7.0, (1, 2): 0.0}
POSITIVE = {element: 0.5 + i for i, element in enumerate(sorted(ELEMENTS, key=repr))}

#: Sets of points of the plane.
CLOUDS: list[frozenset[Any]] = [
    frozenset(s)
    for s in (
        (),
        ((0.0, 0.0),),
        ((1.0, 2.0),),
        ((0.0, 0.0), (1.0, 2.0)),
        ((-3.0, 1.0), (1.0, 2.0), (0.5, 0.5)),
        ((100.0, 0.0), (0.0, 0.0)),
    )
]

VECTORS = np.array(
    [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [-1.0, 0.5, 0.0], [9.0, 0.0, 0.0]]
)

DOCUMENTS = [{"cat", "dog"}, {"cat", "dog", "fish"}, {"fish"}, set(), {"cat"}]
WORDS = ["cat", "dog", "fish", "cat", "unheard", "bird"]


def shifts(x: np.ndarray) -> list[np.ndarray]:
    """Cyclic shifts of a vector, all but one of them."""
    return [np.roll(x, s) for s in range(len(x) - 1)]


CASES: list[Case] = [
    *(Case(k, SETS) for k in (SetIntersection(), SetIntersection(WEIGHTS), CommonSubsets())),
    *(Case(SymmetricDifference(s, w), SETS) for s in (0.05, 0.5, 3.0) for w in (None, WEIGHTS)),
    *(Case(Jaccard(w), SETS) for w in (None, WEIGHTS)),
    *(
        Case(k, SETS)
        for k in (SymmetricDifference(0.5, POSITIVE, closed=True), Jaccard(POSITIVE, closed=True))
    ),
    *(Case(UnionComplement(ELEMENTS, w), SETS) for w in (None, WEIGHTS)),
    *(Case(Agreement(ELEMENTS, w, signed), SETS) for w in (None, WEIGHTS) for signed in (False, True)),
    *(
        Case(DerivedSubsets(k), CLOUDS)
        for k in (Linear(), Gaussian(2.0), Gaussian("median"), Gaussian([1.0, 5.0]))
    ),
    *(Case(Jittered(k, shifts), VECTORS) for k in (Linear(), Gaussian(2.0), Gaussian("median"))),
    *(Case(DualWords(DOCUMENTS, w), WORDS) for w in (None, [1.0, 0.5, 0.0, 2.0, 3.0])),
]
