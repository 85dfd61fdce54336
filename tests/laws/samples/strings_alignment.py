"""Samples of the kernels that align two strings, and of those that compare them position by position."""

from __future__ import annotations

from mercer.kernels.strings import EditDistance, LocalAlignment, WeightedDegree

from ..cases import Case
from .strings_subsequences import STRINGS, TOKENS

__all__ = ["CASES"]

DNA = ["", "A", "ACGT", "ACGT", "TTTTT", "GATTACA", "GATNACA", "CAT"]
PROTEINS = ["", "M", "MKV", "MKVLAAGIV", "MKILA", "WWW", "PX*", "HEAGAWGHEE"]
TABLE = {("a", "a"): 2.0, ("b", "b"): 3.0, ("a", "b"): 0.5, (1, 1): 1.0, (1, "a"): 0.0, ("b", 1): 0.0}
INDEFINITE = {("a", "a"): 0.0, ("b", "b"): 0.0, ("a", "b"): 1.0}

CASES: list[Case] = [
    Case(LocalAlignment(), PROTEINS),
    Case(LocalAlignment("blosum62", 0.05, 2.0, 0.5), PROTEINS),
    Case(LocalAlignment("dna", 0.2, 3.0, 1.0), DNA),
    Case(LocalAlignment("dna", 0.2, 3.0, 1.0).normalized(), DNA),
    Case(LocalAlignment((2.0, -1.0), 0.5, 1.0, 0.25), STRINGS),
    Case(LocalAlignment((1.0, 1.0), 0.1, 0.0, 3.0), TOKENS),
    Case(LocalAlignment((-1.0, 1.0), 0.1), STRINGS),
    Case(LocalAlignment(TABLE, 1.0, 1.0, 1.0), [[], "a", "ab", "bb", ["a", 1, "b"], [1, 1], "ab"]),
    Case(LocalAlignment(INDEFINITE, 1.0, 1.0, 1.0), ["", "a", "ab", "bb", "abba", "ba"]),
    *(Case(EditDistance(*costs), STRINGS) for costs in ((), (1.0, 0.0), (1.0, 0.3), (0.7, 1.0), (1.0, 5.0))),
    Case(EditDistance(), TOKENS),
    Case(EditDistance().schoenberg(0.5), STRINGS),
    *(Case(WeightedDegree(d, shift=s), STRINGS) for d, s in ((1, 0), (3, 0), (2, 2), (4, 20))),
    Case(WeightedDegree(3, [0.0, 1.0, 2.5], 1), TOKENS),
]
