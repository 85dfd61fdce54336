"""Samples of the bag of words."""

from __future__ import annotations

from typing import Any

from mercer.kernels.derived import DualWords
from mercer.kernels.strings.words import BagOfWords

from ..cases import Case

__all__ = ["CASES"]

#: No words at all, only stop words, a list of words, an accent as a letter and as a mark, a repeat.
TEXTS: list[Any] = [
    "",
    "... !",
    "The the THE",
    "The cat sat on the mat",
    "the cat sat on the mat",
    ["cat", "sat", ("sat", 1)],
    "Caf\u00e9 CAFE\u0301, cat; cat",
    "a mat, a mat and a hat",
]

DOCUMENTS = [("cat", "mat", "hat"), ("cat", "sat"), ("mat", "the"), ("hat",)]

CASES: list[Case] = [
    *(Case(BagOfWords(tf=tf), TEXTS) for tf in ("count", "log", "binary")),
    Case(BagOfWords(idf="fit", stop_words=["the", "a"]), TEXTS),
    Case(BagOfWords(idf="fit", ngrams=(1, 3), tf="log"), TEXTS),
    Case(BagOfWords(idf={"cat": 2.0, "mat": 0.5, "sat": 0.0}, synonyms={"hat": "cat"}), TEXTS),
    Case(BagOfWords(pattern="(?i)([a-m])", normal_form=None, lowercase=False, ngrams=(2, 2)), TEXTS),
    Case(BagOfWords(similarity=DualWords(DOCUMENTS), idf="fit"), TEXTS),
]
