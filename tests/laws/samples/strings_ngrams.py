"""Samples of the kernels that count stretches of letters."""

from __future__ import annotations

from typing import Any

from mercer.kernels.strings.gapped import GappedKmer, Wildcard
from mercer.kernels.strings.gappy import GappyNGram
from mercer.kernels.strings.mismatch import Mismatch
from mercer.kernels.strings.ngrams import NGram
from mercer.kernels.strings.spectrum import Spectrum

from ..cases import Case

__all__ = ["CASES", "DNA", "STRINGS"]

#: The empty string, one letter, repeats, NUL, beyond the basic plane, combining marks, tokens of any type.
STRINGS: list[Any] = [
    "",
    "a",
    "aab",
    "aab",
    "banana",
    "ananas",
    "aaaaaaa",
    "a\0b\0a",
    "\U0001f600a\U0001f600a",
    "e\u0301e\u0301a",
    ["a", "a", "b"],
    ["aa", 1, None, "aa", 1, None],
    (1, 2.5, True, 2.5),
]

#: DNA with small letters, uracil and ambiguous letters; one is the other strand of another.
DNA = ["", "A", "AACGT", "ACGTT", "acgtt", "ACGUNACG", "NNRYACG", "TTTTTTT", "GATTACA", "TGTAATC"]
PLAIN = ["", "A", "AACGT", "ACGTT", "acguu", "TTTTTTT", "GATTACA", "TGTAATC"]
#: For kernels without an alphabet, to which small letters are other letters.
CAPITALS = [x.upper() for x in DNA]
ABC = ["", "a", "abc", "abca", "ccccc", ("a", "b"), "bacabac"]

CASES: list[Case] = [
    *(Case(NGram(n), STRINGS) for n in (1, 2, 3, 70)),
    *(Case(NGram(3, w), STRINGS) for w in ([1.0, 0.5, 2.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0])),
    Case(Spectrum(2), STRINGS),
    *(
        Case(
            Spectrum(n, reverse_complement=both, ambiguity=ambiguity),
            DNA if both or ambiguity != "literal" else CAPITALS,
        )
        for n in (1, 3)
        for both in (False, True)
        for ambiguity in ("literal", "skip", "expand")
    ),
    Case(Spectrum(3, [0.5, 0.25, 0.125], reverse_complement=True, ambiguity="expand"), DNA),
    *(Case(GappyNGram(n, decay), STRINGS) for n in (1, 2, 4) for decay in (0.1, 0.5, 1.0)),
    *(Case(GappyNGram(n, 0.5, gap), STRINGS) for n in (1, 3) for gap in (0, 2)),
    *(Case(GappedKmer(length, k), STRINGS) for length, k in ((1, 1), (3, 2), (4, 4), (70, 69))),
    *(
        Case(
            GappedKmer(4, 2, reverse_complement=both, ambiguity=ambiguity),
            DNA if both or ambiguity != "literal" else CAPITALS,
        )
        for both in (False, True)
        for ambiguity in ("literal", "skip")
    ),
    *(Case(Wildcard(n, m, decay), STRINGS) for n, m, decay in ((1, 1, 0.5), (3, 0, 0.5), (3, 2, 1.0))),
    Case(Wildcard(3, 1, 0.3, reverse_complement=True, ambiguity="skip"), DNA),
    *(Case(Mismatch(n, m), PLAIN) for n, m in ((1, 0), (2, 1), (3, 1), (4, 3), (5, 5))),
    Case(Mismatch(3, 1, reverse_complement=True), PLAIN),
    *(Case(Mismatch(3, 1, alphabet), ABC) for alphabet in ("abc", ("a", "b", "c", "d", "\0"))),
]
