"""Samples of the kernels that count subsequences, and strings that samples of other families use too."""

from __future__ import annotations

from typing import Any

from mercer.kernels.strings import AllSubsequences, Subsequence

from ..cases import Case

__all__ = ["CASES", "STRINGS", "TOKENS"]

#: Empty, one symbol, shorter than most patterns, repeated; NUL, letters beyond 16 bits, combining marks.
STRINGS: list[str] = [
    "",
    "a",
    "ab",
    "ab",
    "abracadabra",
    "barbara",
    "aaaaaaa",
    "\0a\0",
    "a😀b😀",
    "e\u0301a",
    "xyz",
]

#: Symbols of several types; an empty sequence; letters.
TOKENS: list[Any] = [
    [],
    [1, 2, 1, 3],
    (1.0, "to", None),
    ["to", "be", "or", "not", "to", "be"],
    "not",
    b"\1\2\3",
]

CASES: list[Case] = [
    *(Case(Subsequence(n, decay), STRINGS) for n, decay in ((1, 0.5), (2, 1.0), (3, 0.3), (6, 0.9))),
    Case(Subsequence(3, 0.7, [1.0, 0.0, 2.5]), STRINGS),
    Case(Subsequence(2, 0.5, [1.0, 1.0]), TOKENS),
    Case(Subsequence(3, 0.5).normalized(), STRINGS),
    *(Case(AllSubsequences(decay), STRINGS) for decay in (1.0, 0.4)),
    Case(AllSubsequences(0.8), TOKENS),
    Case(AllSubsequences().normalized(), STRINGS),
]
