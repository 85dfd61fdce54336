"""From documents to sparse rows: cutting texts into words, counting words and runs of words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...domains import Tokens, Vocabulary
from ..counts import Counts

__all__ = ["Bags", "Feature", "Found", "NormalForm", "WordReader", "runs"]

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]

#: A word, or a run of several as a tuple.
Feature = Any

#: What stands for a stop word; any hashable, None among them, may be a word.
DROPPED = object()


@dataclass(frozen=True)
class Found:
    """A feature of a document and the stretch where it stands."""

    feature: Feature
    place: tuple[int, int]


class WordReader:
    """The stages from a document to its words: normal form, cutting, lower case, synonyms, stop words."""

    def __init__(
        self,
        pattern: str,
        normal_form: NormalForm | None,
        lowercase: bool,
        synonyms: Mapping[Any, Any],
        stop_words: Iterable[Any],
    ) -> None:
        self._pattern, self._form, self._lowercase = re.compile(pattern), normal_form, lowercase
        # Lists that a user writes are read in the form in which words arrive at them.
        self._synonyms = {self._spell(word): self._spell(other) for word, other in synonyms.items()}
        self._stop_words = {self._spell(word) for word in stop_words}

    def _spell(self, word: Any) -> Any:
        """A word in normal form and lower case; words that are no text stay as they are."""
        if not isinstance(word, str):
            return word
        if self._form is not None:
            word = unicodedata.normalize(self._form, word)
        return word.lower() if self._lowercase else word

    def word(self, token: Any) -> Any:
        """The word that stands for a token; :data:`DROPPED` for a stop word."""
        spelt = self._spell(token)
        word = self._synonyms.get(spelt, spelt)
        return DROPPED if word in self._stop_words else word

    def tokens(self, document: Any) -> Sequence[Any]:
        """The tokens of a document, as they stand there."""
        text = self._text(document)
        return document if text is None else self._pattern.findall(text)

    def placed(self, document: Any) -> list[Found]:
        """The words of a document with their places: characters of a text, numbers in a list."""
        text = self._text(document)
        if text is None:
            tokens = [(token, (i, i + 1)) for i, token in enumerate(document)]
        else:
            group = min(self._pattern.groups, 1)
            tokens = [(found[group], found.span(group)) for found in self._pattern.finditer(text)]
        words = ((self.word(token), place) for token, place in tokens)
        return [Found(word, place) for word, place in words if word is not DROPPED]

    def _text(self, document: Any) -> str | None:
        """The text of a document, or None if it is a list of words."""
        if not isinstance(document, str):
            letters = not isinstance(document, Tokens) and all(
                isinstance(s, str) and len(s) == 1 for s in document
            )
            if not letters:
                return None
            document = "".join(document)  # a sequence of letters is the text that they spell
        return document if self._form is None else unicodedata.normalize(self._form, document)


def runs(found: Sequence[Found], shortest: int, longest: int) -> list[Found]:
    """All runs of some numbers of words; a run of one is the word, longer ones are tuples."""
    return [
        Found(
            tuple(f.feature for f in found[i : i + n]) if n > 1 else found[i].feature,
            (found[i].place[0], found[i + n - 1].place[1]),
        )
        for n in range(shortest, longest + 1)
        for i in range(len(found) - n + 1)
    ]


class _Numbers(dict[Hashable, int]):
    """Numbers of tokens, given out as they come; -1 for stop words."""

    def __init__(self, reader: WordReader) -> None:
        super().__init__()
        self.reader, self.words = reader, dict[Any, int]()

    def __missing__(self, token: Hashable) -> int:
        word = self.reader.word(token)
        number = -1 if word is DROPPED else self.words.setdefault(word, len(self.words))
        self[token] = number
        return number


@dataclass(frozen=True, eq=False)
class Bags(Counts):
    """Documents as sparse rows over a vocabulary of their own words, or runs of words."""

    @classmethod
    def counts(cls, documents: Iterable[Any], reader: WordReader, shortest: int, longest: int) -> Bags:
        """Count the runs of words of each document."""
        numbers = _Numbers(reader)
        flat: list[int] = []
        ends = [0]
        for document in documents:
            flat.extend(map(numbers.__getitem__, reader.tokens(document)))
            ends.append(len(flat))
        words = np.array(flat, dtype=np.int64)
        rows = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        rows, words = rows[words >= 0], words[words >= 0]
        return cls._of_words(rows, words, tuple(numbers.words), len(ends) - 1, shortest, longest)

    @classmethod
    def _of_words(
        cls, rows: np.ndarray, words: np.ndarray, names: tuple[Any, ...], n: int, shortest: int, longest: int
    ) -> Bags:
        """Number the runs: those of n words by the run of n - 1 that they begin with and their last word."""
        features: list[Feature] = []
        columns, at = [], []
        begin, run, found = np.arange(len(words)), words, list(names)
        for length in range(1, longest + 1):
            if length > 1:
                last = begin + length - 1
                kept = last < len(words)
                kept[kept] = rows[begin[kept]] == rows[last[kept]]
                begin, last = begin[kept], last[kept]
                _, first, run = np.unique(
                    run[kept] * len(names) + words[last], return_index=True, return_inverse=True
                )
                found = [
                    tuple(names[w] for w in words[i : i + length].tolist()) for i in begin[first].tolist()
                ]
            if length >= shortest:
                columns.append(run + len(features))
                at.append(rows[begin])
                features.extend(found)
        return cls.of(np.concatenate(at), np.concatenate(columns), n, Vocabulary(features))

    def frequencies(self, weight: np.ndarray | None) -> np.ndarray:
        """Number (or weight) of the documents that hold each feature."""
        entries = self.matrix.tocoo()
        weights = None if weight is None else weight[entries.row]
        return np.bincount(entries.col, weights, minlength=len(self.vocabulary))[: len(self.vocabulary)]
