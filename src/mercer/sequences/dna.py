"""DNA: letters, complements, ambiguity codes.

Letters are those of IUPAC: A, C, G, T, and eleven more that each stand for several of these.  Small letters
are read as capitals, and U (of RNA) as T.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from ..domains import Domain
from ..errors import InputError
from .alphabets import SequencesOver, small_letters

__all__ = ["DNA", "IUPAC", "complement", "expand", "reverse_complement"]

#: The nucleotides that each letter stands for.
IUPAC: Mapping[str, str] = {
    "A": "A",
    "C": "C",
    "G": "G",
    "T": "T",
    "R": "AG",
    "Y": "CT",
    "S": "CG",
    "W": "AT",
    "K": "GT",
    "M": "AC",
    "B": "CGT",
    "D": "AGT",
    "H": "ACT",
    "V": "ACG",
    "N": "ACGT",
}

#: Letters by number: those that stand for themselves come first.
LETTERS = tuple(IUPAC)
NUCLEOTIDES = LETTERS[:4]

#: The complement of a letter stands for the complements of what the letter stands for.
_BASES = dict(zip("ACGT", "TGCA", strict=True))
_BY_MEANING = {frozenset(meaning): letter for letter, meaning in IUPAC.items()}
_COMPLEMENTS = {
    letter: _BY_MEANING[frozenset(map(_BASES.__getitem__, meaning))] for letter, meaning in IUPAC.items()
}

#: Number of the complement of each letter.
COMPLEMENT_CODES = np.array([LETTERS.index(_COMPLEMENTS[letter]) for letter in LETTERS], dtype=np.int32)
COMPLEMENT_CODES.flags.writeable = False


@dataclass(frozen=True)
class DNA(SequencesOver):
    """Strings of the letters of nucleotides, in capitals; small letters and U are brought to that form.

    Parameters
    ----------
    ambiguous : bool or str, default=True
        Whether letters that stand for several nucleotides are allowed, or which of them are.

    Examples
    --------
    >>> DNA().point("acgun")
    'ACGTN'
    """

    alphabet: tuple[str, ...] = LETTERS
    fold: bool = True
    ambiguous: bool | str = True

    @property
    def _allowed(self) -> tuple[str, ...]:
        """The letters that may occur."""
        if isinstance(self.ambiguous, bool):
            return LETTERS if self.ambiguous else NUCLEOTIDES
        return tuple(letter for letter in LETTERS if letter in NUCLEOTIDES or letter in self.ambiguous)

    def _numbers(self) -> Mapping[Any, int]:
        return _spellings(self._allowed)

    def _letters(self) -> str:
        if self.ambiguous:
            return (
                f"a letter of DNA ({''.join(self._allowed)}); gaps and other signs must be taken out before"
            )
        return "A, C, G or T"

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        letters = np.array(self._allowed)
        return ["".join(rng.choice(letters, size=int(rng.integers(0, 9))).tolist()) for _ in range(n)]

    def _meet(self, other: Domain) -> Domain | None:
        if isinstance(other, SequencesOver):
            theirs = other._allowed if isinstance(other, DNA) else other.alphabet
            letters = [letter for letter in self._allowed if letter in theirs]
            if not set(NUCLEOTIDES).issubset(letters):
                return None
            ambiguous = "".join(letter for letter in LETTERS[4:] if letter in letters)
            return DNA(ambiguous=bool(ambiguous) if ambiguous in ("", "".join(LETTERS[4:])) else ambiguous)
        return super()._meet(other)

    def __str__(self) -> str:
        return "DNA" if self.ambiguous else "DNA without ambiguous letters"


@cache
def _spellings(letters: tuple[str, ...]) -> Mapping[str, int]:
    numbers = {letter: LETTERS.index(letter) for letter in letters}
    numbers["U"] = numbers["T"]
    return numbers | small_letters(numbers)


def complement(x: Any) -> str:
    """The other strand, letter by letter in the same direction.

    Examples
    --------
    >>> complement("AACGTN")
    'TTGCAN'
    """
    return "".join(_COMPLEMENTS[letter] for letter in DNA().point(x))


def reverse_complement(x: Any) -> str:
    """The other strand as it is read.

    Examples
    --------
    >>> reverse_complement("AACG")
    'CGTT'
    """
    return complement(x)[::-1]


def expand(x: Any, most: int = 4096) -> list[str]:
    """All strings of A, C, G and T that a string with ambiguous letters stands for.

    Parameters
    ----------
    x : str
    most : int, default=4096
        More of them are an error.

    Examples
    --------
    >>> expand("ARS")
    ['AAC', 'AAG', 'AGC', 'AGG']
    """
    meanings = [IUPAC[letter] for letter in DNA().point(x)]
    count = 1
    for meaning in meanings:
        count *= len(meaning)
    if count > most:
        raise InputError(f"expand: x must stand for at most {most:,} strings. Got {x!r}, with {count:,}.")
    return ["".join(letters) for letters in product(*meanings)]
