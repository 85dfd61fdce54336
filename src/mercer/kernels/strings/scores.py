"""Substitution scores: how alike two symbols are, from tables or by equality alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ...domains import EncodedSequences, Vocabulary
from ...errors import ParameterError
from ...parameters import FrozenDict
from ..weights import ordered

__all__ = ["TABLES", "Table", "as_scores", "named_table"]

BLOSUM62 = """
   A  R  N  D  C  Q  E  G  H  I  L  K  M  F  P  S  T  W  Y  V  B  Z  X  *
A  4
R -1  5
N -2  0  6
D -2 -2  1  6
C  0 -3 -3 -3  9
Q -1  1  0  0 -3  5
E -1  0  0  2 -4  2  5
G  0 -2  0 -1 -3 -2 -2  6
H -2  0  1 -1 -3  0  0 -2  8
I -1 -3 -3 -3 -1 -3 -3 -4 -3  4
L -1 -2 -3 -4 -1 -2 -3 -4 -3  2  4
K -1  2  0 -1 -3  1  1 -2 -1 -3 -2  5
M -1 -1 -2 -3 -1  0 -2 -3 -2  1  2 -1  5
F -2 -3 -3 -3 -2 -3 -3 -3 -1  0  0 -3  0  6
P -1 -2 -2 -1 -3 -1 -1 -2 -2 -3 -3 -1 -2 -4  7
S  1 -1  1  0 -1  0  0  0 -1 -2 -2  0 -1 -2 -1  4
T  0 -1  0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1  1  5
W -3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1  1 -4 -3 -2 11
Y -2 -2 -2 -3 -2 -1 -2 -3  2 -1 -1 -2 -1  3 -3 -2 -2  2  7
V  0 -3 -3 -3 -1 -2 -2 -3 -3  3  1 -2  1 -1 -2 -2  0 -3 -1  4
B -2 -1  3  4 -3  0  1 -1  0 -3 -4  0 -3 -3 -2  0 -1 -4 -3 -3  4
Z -1  0  0  1 -3  3  4 -2  0 -3 -3  1 -1 -3 -1  0 -1 -3 -2 -2  1  4
X  0 -1 -1 -1 -2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -2  0  0 -2 -1 -1 -1 -1 -1
* -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4  1
"""

#: Nucleotides: 5 for a match, -4 for a mismatch, and what an unknown one (N) scores.
DNA = """
   A  C  G  T  N
A  5
C -4  5
G -4 -4  5
T -4 -4 -4  5
N -2 -2 -2 -2 -1
"""

TABLES = {"blosum62": BLOSUM62, "dna": DNA}


@dataclass(frozen=True, eq=False)
class Table:
    """Scores of the pairs of an alphabet.

    Attributes
    ----------
    vocabulary : Vocabulary
    scores : ndarray of shape (a, a)
        Symmetric.
    """

    vocabulary: Vocabulary
    scores: np.ndarray

    @classmethod
    def of(cls, pairs: Mapping[tuple[Any, Any], float]) -> Table:
        """Table of scores of complete unordered pairs."""
        vocabulary = Vocabulary(symbol for pair in pairs for symbol in pair)
        scores = np.empty((len(vocabulary), len(vocabulary)))
        for (a, b), score in pairs.items():
            i, j = vocabulary.index[a], vocabulary.index[b]
            scores[i, j] = scores[j, i] = score
        scores.flags.writeable = False
        return cls(vocabulary, scores)

    def score(self, a: Any, b: Any) -> float:
        """Score of two symbols."""
        return float(self.scores[self.vocabulary.index[a], self.vocabulary.index[b]])

    def coded(self, X: EncodedSequences) -> EncodedSequences:
        """The same sequences, symbols numbered as in the table."""
        columns = self.vocabulary.columns_of(X.alphabet).astype(np.int32)
        start, end = int(X.starts[0]), int(X.starts[-1])
        return EncodedSequences(columns[X.codes[start:end]], X.starts - start, self.vocabulary)


@cache
def named_table(name: str) -> Table:
    """One of :data:`TABLES`."""
    letters, *lines = TABLES[name].strip().splitlines()
    rows = [line.split() for line in lines]
    return Table.of(
        {(row[0], b): float(s) for row in rows for b, s in zip(letters.split(), row[1:], strict=False)}
    )


def as_scores(owner: str, scores: Any) -> Any:
    """Validate scores: the name of a table, (match, mismatch), or a mapping of pairs, in canonical form."""
    if isinstance(scores, str):
        if scores in TABLES:
            return scores
    elif isinstance(scores, Mapping):
        return _as_pairs(owner, scores)
    else:
        try:
            match, mismatch = map(float, scores)
        except (TypeError, ValueError):
            match = mismatch = math.nan
        if math.isfinite(match) and math.isfinite(mismatch):
            return match, mismatch
    names = ", ".join(map(repr, TABLES))
    raise ParameterError(
        f"{owner}: `scores` must be one of {names}, two finite numbers (match, mismatch), or a mapping from "
        f"pairs of symbols to numbers. Got {scores!r}."
    )


def _as_pairs(owner: str, scores: Mapping[Any, Any]) -> FrozenDict:
    """A mapping with one entry for each unordered pair of its symbols."""
    if not scores or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in scores):
        raise ParameterError(
            f"{owner}: `scores` must be a mapping from pairs (a, b) to numbers. Got {scores!r}."
        )
    symbols = ordered(symbol for pair in scores for symbol in pair)
    found: dict[tuple[Any, Any], float] = {}
    for i, a in enumerate(symbols):
        for b in symbols[: i + 1]:
            given = {scores[pair] for pair in ((a, b), (b, a)) if pair in scores}
            if len(given) != 1:
                what = "no score" if not given else "two scores"
                raise ParameterError(
                    f"{owner}: `scores` must hold one number for every pair of its symbols, in either order. "
                    f"Got {what} for {a!r} and {b!r}."
                )
            score = given.pop()
            try:
                found[a, b] = float(score)
            except (TypeError, ValueError):
                found[a, b] = math.nan
            if not math.isfinite(found[a, b]):
                raise ParameterError(
                    f"{owner}: `scores` must be finite numbers. Got {score!r} for {(a, b)!r}."
                )
    return FrozenDict(found)
