"""Samples of the kernels over common factors."""

from __future__ import annotations

from typing import Any

from mercer.kernels.strings.factors import Factors

from ..cases import Case

__all__ = ["CASES", "STRINGS"]

#: The empty string, one letter, repeats, NUL, a letter beyond the basic plane, a combining mark, tokens.
STRINGS: list[Any] = [
    "",
    "a",
    "aaaa",
    "abab",
    "abab",
    "cabbage",
    "bag\0bag",
    "e\u0301e\U0001d504e",
    ["ab", 1, "ab", None],
    b"ab",
]

CASES: list[Case] = [
    *(Case(Factors(rho, counts=c), STRINGS) for rho in (0.5, 1.0, 3.0) for c in (False, True)),
    *(
        Case(Factors(1.5, excluded=["ab", "", "abab", ("ab", 1)], bonus=(3, 2.0), counts=c), STRINGS)
        for c in (False, True)
    ),
    Case(Factors(0.9, shortest=2, bonus=(0, 0.5)), STRINGS),
]
