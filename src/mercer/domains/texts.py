"""Documents: running text, or lists of words that somebody has cut already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..digests import digest
from ..errors import InputError
from .base import Domain
from .containers import plain, plain_symbols, points_of
from .sequences import Sequences, check_symbols

__all__ = ["Texts", "Tokens"]


class Tokens(tuple[Any, ...]):
    """The words of a document that came as a list."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(list(self))


@dataclass(frozen=True)
class Texts(Domain):
    """Documents: ``str``, or lists, tuples and arrays of words (any hashables).

    A text and the list of its words are two points.  Kernels on documents and on sequences meet in
    :class:`Sequences`, where ``"ab"`` and ``["a", "b"]`` are one point: the text.  What else data may be, and
    what ``bytes`` and records are, is said there.
    """

    def validate(self, X: Any, name: str = "X") -> list[str | Tokens]:
        points = points_of(X, name, "a sequence of texts or of lists of words")
        return [self.point(x, f"{name}[{i}]") for i, x in enumerate(points)]

    def point(self, x: Any, name: str = "x") -> str | Tokens:
        if isinstance(x, Tokens):
            return x
        x = plain(x, name)
        if isinstance(x, str):
            return x
        if isinstance(x, np.ndarray) and x.ndim == 1:
            x = x.tolist()
        if not isinstance(x, list | tuple):
            raise InputError(f"{name} must be a text or a list of words. Got {type(x).__name__}.")
        words = Tokens(plain_symbols(x, name))
        check_symbols(words, name, "word")
        return words

    def pair(self, x: Any, y: Any) -> tuple[str | Tokens, str | Tokens]:
        return self.point(x, "x"), self.point(y, "y")

    def _meet(self, other: Domain) -> Domain | None:
        return other if isinstance(other, Sequences) else super()._meet(other)

    def _digest(self, x: Any, position: int) -> str:
        return digest(x) if isinstance(x, str) else super()._digest(("words", *x), position)

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        words = np.array(["red", "green", "blue", "sky", "sea"])
        return [" ".join(rng.choice(words, size=int(rng.integers(0, 7))).tolist()) for _ in range(n)]

    def __str__(self) -> str:
        return "texts"
