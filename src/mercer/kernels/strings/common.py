"""The common subsequences of two sequences by weight, heaviest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...contributions import Contribution
from ...errors import InputError, ParameterError
from ..search import Family, Pattern, heaviest

__all__ = ["common_subsequences", "require_room"]


def require_room(x: Any, y: Any, tables: int) -> None:
    """Refuse pairs of sequences whose tables are too large."""
    most = 50_000_000  # numbers in the tables that the search needs
    if len(x) * len(y) * tables + len(x) ** 2 + len(y) ** 2 > most:
        raise InputError(
            f"contributions: x and y must be short enough for tables of {most:,} numbers. "
            f"Got {len(x):,} and {len(y):,} symbols. Pass the stretches that concern you."
        )


def common_subsequences(
    x: Any, y: Any, decay: float, lengths: Sequence[float] | None
) -> Iterator[Contribution]:
    """Contributions of ``Subsequence`` (weights of the lengths 1, 2, ...) or ``AllSubsequences`` (None)."""
    require_room(x, y, 1 if lengths is None else len(lengths))
    search = _Search(x, y, decay, lengths)
    return heaviest(search.open(Prefix((), None, None)), "all other subsequences")


@dataclass(frozen=True, eq=False)
class Prefix:
    """The first symbols of a subsequence, with the weights of its places by where they end in x and in y."""

    codes: tuple[int, ...]
    x_ends: np.ndarray | None
    y_ends: np.ndarray | None


class _Search:
    """Families are the subsequences that begin alike."""

    def __init__(self, x: Any, y: Any, decay: float, lengths: Sequence[float] | None) -> None:
        self.x, self.y, self.decay, self.lengths = x, y, decay, lengths
        self.text = isinstance(x, str) or isinstance(y, str)  # then so are the symbols in common
        common = set(x) & set(y)
        self.letters = [symbol for symbol in dict.fromkeys(x) if symbol in common]
        number = {symbol: i for i, symbol in enumerate(self.letters)}
        self.x_codes = np.array([number.get(symbol, -1) for symbol in x], dtype=np.intp)
        self.y_codes = np.array([number.get(symbol, -2) for symbol in y], dtype=np.intp)
        self.x_steps, self.y_steps = _steps(len(x), decay), _steps(len(y), decay)
        with np.errstate(over="ignore", invalid="ignore"):
            self.after = self._endless() if lengths is None else self._bounded(lengths)
        if not all(np.isfinite(table).all() for table in self.after):
            raise ParameterError("contributions: the weights of these subsequences overflow. Lower `decay`.")

    def _bounded(self, lengths: Sequence[float]) -> list[np.ndarray]:
        """By length of a prefix: the weight of all that can follow after symbols i of x and j of y."""
        equal = self.x_codes[:, None] == self.y_codes
        tables = [np.zeros(equal.shape)]
        for weight in reversed(lengths[1:]):
            tables.append(self.x_steps @ (equal * (weight + tables[-1])) @ self.y_steps.T)
        return tables[::-1]

    def _endless(self) -> list[np.ndarray]:
        """The same if every length counts 1: one table, row by row from the end."""
        table = np.zeros((len(self.x), len(self.y)))
        later = np.zeros(len(self.y))
        for i in reversed(range(len(self.x))):
            table[i] = later
            later = self.decay * (later + ((self.x_codes[i] == self.y_codes) * (1 + later)) @ self.y_steps.T)
        return [table]

    def open(self, prefix: Prefix) -> Iterator[Pattern | Family]:
        """The subsequences one symbol longer than a prefix, and those that go on from them."""
        size = len(prefix.codes)
        weight = 1.0 if self.lengths is None else self.lengths[size]
        after = self.after[0 if self.lengths is None else size]
        x_next, y_next = self._next(prefix.x_ends, self.x_steps), self._next(prefix.y_ends, self.y_steps)
        for code in range(len(self.letters)):
            x_ends, y_ends = x_next * (self.x_codes == code), y_next * (self.y_codes == code)
            longer = Prefix((*prefix.codes, code), x_ends, y_ends)
            own = weight * float(x_ends.sum()) * float(y_ends.sum())
            yield Pattern(own, lambda p=longer, w=own: self._show(p, w))  # type: ignore[misc]
            yield Family(float(x_ends @ after @ y_ends), lambda p=longer: self.open(p))  # type: ignore[misc]

    def _next(self, ends: np.ndarray | None, steps: np.ndarray) -> np.ndarray:
        return np.full(len(steps), self.decay) if ends is None else np.asarray(ends @ steps)

    def _show(self, prefix: Prefix, weight: float) -> Contribution:
        symbols = tuple(self.letters[code] for code in prefix.codes)
        places = (windows(prefix.codes, codes) for codes in (self.x_codes, self.y_codes))
        return Contribution("".join(symbols) if self.text else symbols, weight, *places)


def _steps(length: int, decay: float) -> np.ndarray:
    """``decay ** (j - i)`` from every place i to every later one j."""
    places = np.arange(length)
    return np.where(places > places[:, None], decay ** np.maximum(places - places[:, None], 0), 0.0)


def windows(pattern: Iterable[int], codes: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Stretches of a sequence that hold a pattern as a subsequence, and have no shorter stretch within."""
    # The latest place where the symbols so far, in order, have begun, by where they have ended at the latest.
    last = begun = np.arange(1, len(codes) + 1)
    for code in pattern:
        begun = np.maximum.accumulate(np.where(codes == code, begun, 0))
        last, begun = begun, np.concatenate([[0], begun[:-1]])
    (ends,) = np.nonzero(np.diff(last, prepend=0))
    return tuple((int(last[end]) - 1, int(end) + 1) for end in ends)
