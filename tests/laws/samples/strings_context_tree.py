"""Samples of the context-tree kernel."""

from __future__ import annotations

from mercer.kernels.strings.context_tree import ContextTree

from ..cases import Case

__all__ = ["CASES"]

#: Nothing to draw, one letter, a repeated string, strings of one context, mixed ones.
STRINGS = ["", "a", "ab", "aaaaaa", "abababab", "abababab", "babababa", "aabbcaabbca", "cbacbbaccabca"]

CASES: list[Case] = [
    *(Case(ContextTree(depth, 3, boundary=b), STRINGS) for depth in (0, 2, 5) for b in (False, True)),
    Case(ContextTree(3, 26, sigma=30.0, split=0.2, prior=1.0), STRINGS),
    *(Case(ContextTree(2, 4, sigma=3.0, split=p, boundary=True), STRINGS) for p in (0.0, 1.0)),
]
