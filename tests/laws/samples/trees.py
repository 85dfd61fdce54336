"""Samples of the kernels on trees."""

from __future__ import annotations

from typing import Any

from mercer.domains import Tree
from mercer.kernels import PartialTree, SubsetTree, SubTree

from ..cases import Case

__all__ = ["CASES", "TREES"]

#: A leaf alone, repeats, one label everywhere, a leaf that is an inner node elsewhere, labels of any type.
TREES: list[Any] = [
    "(a)",
    "(S (NP John) (VP (V saw) (NP Mary)))",
    "(S (NP Mary) (VP (V saw) (NP Mary)))",
    "(S (NP Mary) (VP (V saw) (NP Mary)))",
    ("a", "b"),
    ["a", ("b", "c")],
    Tree("(a (a (a a) a) (a a))"),
    (1, (None, "x"), (None, ("x", 2.5)), ("S", "NP", "VP")),
    "(S (NP (D the) (N dog)) (VP (V saw) (NP (D the) (N dog))))",
]

CASES: list[Case] = [
    *(Case(SubTree(decay, leaves=leaves), TREES) for decay, leaves in ((1.0, False), (0.4, True))),
    *(
        Case(SubsetTree(decay, leaves=leaves), TREES)
        for decay, leaves in ((1.0, False), (0.4, True), (0.3, False))
    ),
    *(
        Case(PartialTree(decay, gap, leaves=leaves), TREES)
        for decay, gap, leaves in ((1.0, 1.0, False), (0.4, 0.5, False), (0.7, 0.3, True))
    ),
    Case(SubTree(0.5).normalized(), TREES),
    Case(SubsetTree(0.5).normalized(), TREES),
    Case(PartialTree(0.5, 0.5).normalized(), TREES),
    Case(SubsetTree(0.5) * SubTree() + 2.0, TREES),
]
