"""Labels as numbers: 0 is epsilon, symbols are 1, 2, ..., classes of symbols are -1, -2, ..."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from ..domains import EncodedSequences, Vocabulary
from ..errors import InputError
from .labels import EPSILON, AnyExcept, Label

__all__ = ["Coding"]


class Coding:
    """Which number stands for which label.

    Attributes
    ----------
    symbols : Vocabulary
        Symbol number i has the code i + 1.
    classes : tuple of AnyExcept
        Class number i has the code -1 - i.  The symbols that a class excludes have codes too.
    """

    def __init__(self, symbols: Vocabulary, classes: Iterable[AnyExcept]) -> None:
        self.symbols = symbols
        self.classes = tuple(classes)

    @classmethod
    def of(cls, labels: Iterable[Label]) -> Coding:
        """Number the labels in the order in which they come."""
        classes: dict[AnyExcept, None] = {}
        symbols: dict[Any, None] = {}
        for label in labels:
            if isinstance(label, AnyExcept):
                classes.setdefault(label)
                symbols.update(dict.fromkeys(label.excluded))
            elif label is not EPSILON:
                symbols.setdefault(label)
        return cls(Vocabulary(symbols), classes)

    def __len__(self) -> int:
        return len(self.symbols)

    @cached_property
    def _class_codes(self) -> dict[AnyExcept, int]:
        return {label: -1 - i for i, label in enumerate(self.classes)}

    def code(self, label: Label) -> int:
        """Number of a label that is known."""
        if label is EPSILON:
            return 0
        return self._class_codes[label] if isinstance(label, AnyExcept) else self.symbols.index[label] + 1

    def label(self, code: int) -> Any:
        """Label of a number."""
        if code > 0:
            return self.symbols.elements[code - 1]
        return self.classes[-1 - code] if code else EPSILON

    def joined(self, other: Coding) -> tuple[Coding, np.ndarray | None]:
        """A coding for both, in which the own numbers stay, and the new numbers of the other one's labels.

        They are a table for :func:`recode`, or None where nothing changes.
        """
        if other is self:
            return self, None
        symbols, classes = dict(self.symbols.index), dict(self._class_codes)
        for symbol in other.symbols.index:
            symbols.setdefault(symbol, len(symbols))
        for label in other.classes:
            classes.setdefault(label, -1 - len(classes))
        same = len(symbols) == len(self.symbols) and len(classes) == len(self.classes)
        both = self if same else Coding(Vocabulary(symbols), classes)
        table = [classes[label] for label in reversed(other.classes)]
        table += [0, *(symbols[symbol] + 1 for symbol in other.symbols.index)]
        return both, np.array(table, dtype=np.int32)

    def recode(self, codes: np.ndarray, table: np.ndarray | None) -> np.ndarray:
        """Codes of this coding in the numbers of the table that :meth:`joined` gave for it."""
        return codes if table is None else table[codes + np.int32(len(self.classes))]

    def encode(
        self, X: EncodedSequences, first: EncodedSequences, name: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Codes and starts of strings that are to be compared with the strings of ``first``.

        Symbols that are not known here get numbers beyond: those of ``first`` first, then those of ``X``.
        """
        table = self._table(first.alphabet, len(self))
        if X.alphabet is not first.alphabet:
            known = first.alphabet.columns_of(X.alphabet)
            own = self._table(X.alphabet, len(self) + len(first.alphabet))
            table = np.where(known < 0, own, np.append(table, 0)[known]).astype(np.int32)
        for symbol in X.alphabet.index:
            if symbol is EPSILON or isinstance(symbol, AnyExcept):
                raise InputError(f"{name} must consist of symbols. Got {symbol!r}, which is a label of arcs.")
        start, end = int(X.starts[0]), int(X.starts[-1])
        return table[X.codes[start:end]], X.starts - start

    def _table(self, alphabet: Vocabulary, beyond: int) -> np.ndarray:
        known = self.symbols.columns_of(alphabet)
        new = known < 0
        return np.where(new, beyond + np.cumsum(new), known + 1).astype(np.int32)

    @cached_property
    def exclusions(self) -> tuple[np.ndarray, np.ndarray]:
        """Sorted codes that each class leaves out, one class after the other, and where each begins."""
        lists = [sorted(self.code(s) for s in label.excluded) for label in self.classes]
        starts = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        return np.array([c for codes in lists for c in codes], dtype=np.int32), starts
