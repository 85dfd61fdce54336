"""Sequences whose symbols are known beforehand."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..domains import Domain, EncodedSequences, Sequences, Vocabulary
from ..errors import InputError

__all__ = ["SequencesOver"]


@lru_cache(maxsize=64)
def numbered(alphabet: tuple[Hashable, ...]) -> Vocabulary:
    """The one vocabulary of an alphabet: data sets over it need no translation."""
    return Vocabulary(alphabet)


def small_letters(numbers: Mapping[Any, int]) -> dict[Any, int]:
    """The numbers of the letters, by their small forms."""
    return {letter.lower(): i for letter, i in numbers.items() if isinstance(letter, str)}


@dataclass(frozen=True)
class SequencesOver(Sequences):
    """Finite sequences of the symbols of one alphabet; any other symbol is an error.

    The numbers of symbols are their places in the alphabet.

    Parameters
    ----------
    alphabet : tuple of hashables
    fold : bool, default=False
        Whether small letters are read as the capitals of the alphabet, as in the files of biology, where they
        only mark repeats.

    Examples
    --------
    >>> SequencesOver(("A", "B")).validate(["ABBA"]).codes.tolist()
    [0, 1, 1, 0]
    >>> SequencesOver(("A", "B"), fold=True).point("abBA")
    'ABBA'
    """

    alphabet: tuple[Any, ...]
    fold: bool = False

    def validate(self, X: Any, name: str = "X") -> EncodedSequences:
        data = super().validate(X, name)
        vocabulary = numbered(self.alphabet)
        if data.alphabet is vocabulary:
            return data
        start = int(data.starts[0])
        codes, starts = data.codes[start : int(data.starts[-1])], data.starts - start
        table = np.array([self._number(symbol) for symbol in data.alphabet.elements], dtype=np.int32)
        numbers = table[codes] if len(codes) else codes
        wrong = np.flatnonzero(numbers < 0)
        if len(wrong):
            row = int(np.searchsorted(starts, wrong[0], side="right")) - 1
            place = int(wrong[0] - starts[row])
            raise self._refusal(data.alphabet.elements[codes[wrong[0]]], f"{name}[{row}][{place}]")
        return EncodedSequences(numbers, starts, vocabulary)

    def point(self, x: Any, name: str = "x") -> str | tuple[Any, ...]:
        point = super().point(x, name)
        numbers = [self._number(symbol) for symbol in point]
        if -1 in numbers:
            place = numbers.index(-1)
            raise self._refusal(point[place], f"{name}[{place}]")
        return super().point([self.alphabet[i] for i in numbers], name)

    def _check_cases(self, symbols: set[Any], length: int) -> None:
        """Nothing: who declares the letters of two cases means them."""

    def _number(self, symbol: Any) -> int:
        """Place of a symbol in the alphabet, or -1."""
        return self._numbers().get(symbol, -1)

    def _numbers(self) -> Mapping[Any, int]:
        numbers = numbered(self.alphabet).index
        return small_letters(numbers) | numbers if self.fold else numbers

    def _refusal(self, symbol: Any, where: str) -> InputError:
        return InputError(f"{where} must be {self._letters()}. Got {symbol!r}.")

    def _letters(self) -> str:
        shown = ", ".join(map(repr, self.alphabet[:30]))
        return f"one of {shown}{', ...' if len(self.alphabet) > 30 else ''}"

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        lengths = rng.integers(0, 9, size=n).tolist()
        return [
            [self.alphabet[i] for i in rng.integers(0, len(self.alphabet), size=size)] for size in lengths
        ]

    def _meet(self, other: Domain) -> Domain | None:
        if type(other) is Sequences:
            return self
        if type(self) is type(other) is SequencesOver:
            known = numbered(other.alphabet).index
            common = tuple(symbol for symbol in self.alphabet if symbol in known)
            return SequencesOver(common, self.fold and other.fold) if common else None
        return super()._meet(other)

    def __str__(self) -> str:
        return f"sequences over {len(self.alphabet)} symbols"
