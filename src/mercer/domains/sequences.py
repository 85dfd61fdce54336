"""Strings: finite sequences of letters or of any other hashable symbols."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ..arithmetic import Arithmetic
from ..digests import digest
from ..errors import InputError, warn
from .base import Domain, starts_of
from .containers import plain, plain_symbols, points_of
from .vocabulary import Vocabulary

__all__ = ["EncodedSequences", "Sequences", "check_symbols"]


@dataclass(frozen=True, eq=False)
class EncodedSequences:
    """Sequences as numbers of symbols, one after the other.

    Attributes
    ----------
    codes : int32 array
        Symbols of all sequences; sequence i is ``codes[starts[i]:starts[i + 1]]``.
    starts : int64 array of shape (n + 1,)
        Need not begin at 0: a slice of sequences shares the codes of the whole.
    alphabet : Vocabulary
        The symbol of each number, shared by all that is taken from these sequences.
    """

    codes: np.ndarray
    starts: np.ndarray
    alphabet: Vocabulary

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[str | tuple[Any, ...]]:
        symbols = self.alphabet.elements
        join = "".join if all(map(_is_letter, symbols)) else _canonical
        for start, end in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            yield join(symbols[c] for c in self.codes[start:end].tolist())

    @property
    def lengths(self) -> np.ndarray:
        """Number of symbols of each sequence."""
        return np.diff(self.starts)

    def take(self, index: slice | np.ndarray) -> EncodedSequences:
        """Select sequences."""
        if isinstance(index, slice) and index.step in (None, 1):
            first, last, _ = index.indices(len(self))
            return EncodedSequences(self.codes, self.starts[first : max(first, last) + 1], self.alphabet)
        chosen = np.arange(len(self))[index]
        starts = np.concatenate([[0], np.cumsum(self.lengths[chosen])]).astype(np.int64)
        parts = [self.codes[self.starts[i] : self.starts[i + 1]] for i in chosen.tolist()]
        codes = np.concatenate(parts) if parts else self.codes[:0]
        return EncodedSequences(codes, starts, self.alphabet)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the own symbols alone, in as few bytes as their codes need."""
        codes = self.codes[int(self.starts[0]) : int(self.starts[-1])]
        codes = codes.astype(np.min_scalar_type(int(codes.max(initial=0))))
        return _decoded, (codes, self.lengths, self.alphabet)

    def coded_like(self, other: EncodedSequences) -> EncodedSequences:
        """The same sequences in the numbers of ``other``; symbols that it lacks get numbers beyond its own.

        The alphabet of the result stays the own one: its numbers are good for comparing with ``other``, not
        for reading the symbols back.
        """
        if other.alphabet is self.alphabet:
            return self
        table = other.alphabet.numbers_of(self.alphabet)
        start, end = int(self.starts[0]), int(self.starts[-1])
        return EncodedSequences(table[self.codes[start:end]], self.starts - start, self.alphabet)


def _decoded(codes: np.ndarray, lengths: np.ndarray, alphabet: Vocabulary) -> EncodedSequences:
    return EncodedSequences(codes.astype(np.int32), starts_of(lengths), alphabet)


@dataclass(frozen=True)
class Sequences(Domain):
    """Finite sequences of symbols: ``str`` (its characters), lists, tuples and arrays of symbols.

    A symbol is any hashable that equals itself; two symbols are the same if Python's ``==`` says so, thus
    ``"ab"`` and ``["a", "b"]`` are one sequence, and 1, 1.0 and True one symbol.  Characters are Unicode code
    points: a letter with a combining mark is two symbols, and text in two normal forms is two sequences
    (``unicodedata.normalize`` brings them together).  Letters keep their case: "a" and "A" are two symbols; a
    warning says so where data look like DNA, RNA or proteins in both cases.
    The empty sequence is a sequence.

    ``bytes`` are the text that they spell in ASCII, and an error beyond it.  Of records, such as those of
    :func:`mercer.sequences.read_fasta`, the attribute ``sequence`` is the point.  Data may be a list, an
    array of one dimension or with one column, a column of a frame, or a frame that has no other; numeric
    arrays, sparse matrices and missing values are errors.

    Examples
    --------
    >>> import numpy as np
    >>> list(Sequences().validate(np.array([["GATTACA"], ["CAT"]])))
    ['GATTACA', 'CAT']
    >>> Sequences().point(b"CAT")
    'CAT'
    """

    def validate(self, X: Any, name: str = "X") -> EncodedSequences:
        if isinstance(X, EncodedSequences):
            return X
        points = points_of(X, name, "a sequence of strings or of sequences of symbols")
        sequences = [_symbols(x, f"{name}[{i}]") for i, x in enumerate(points)]
        texts = [s for s in sequences if isinstance(s, str)]
        return _encode_text(texts) if 0 < len(texts) == len(sequences) else _encode_symbols(sequences, name)

    def point(self, x: Any, name: str = "x") -> str | tuple[Any, ...]:
        return _canonical(_checked(_symbols(x, name), name))

    def pair(self, x: Any, y: Any) -> tuple[str | tuple[Any, ...], str | tuple[Any, ...]]:
        a, b = self.point(x, "x"), self.point(y, "y")
        if isinstance(a, str) and isinstance(b, str):
            self._check_cases({*a, *b}, len(a) + len(b))
        return a, b

    def match(self, X: EncodedSequences, Y: EncodedSequences | None) -> None:
        """Warn if the letters look like one alphabet in two cases, once for two data sets."""
        others = X if Y is None else Y

        def check(theirs: Vocabulary) -> None:
            length = int(X.lengths.sum() + others.lengths.sum())
            self._check_cases({*X.alphabet.index, *theirs.index}, length)

        if max(len(X.alphabet), len(others.alphabet)) <= 64:  # tokens are many, letters of DNA are not
            X.alphabet._maps.of(others.alphabet, check, "cases")

    def _check_cases(self, symbols: set[Any], length: int) -> None:
        """Warn if symbols are the letters of DNA, RNA or proteins, and enough of them in both cases.

        Words soon have other letters.  Of those in English text 32 % stand for nucleotides, 64 % for these or
        several of them, and 90 % for amino acids: 10, 30 and 100 letters in a row do so by chance with
        probabilities of some 1e-5.  Of the elements of molecules, as "Cl", no second letter is a first one.
        """
        if not all(map(_is_letter, symbols)):
            return
        found = {symbol.upper() for symbol in symbols}
        both = {letter for letter in found if letter.isalpha() and {letter, letter.lower()} <= symbols}
        bases = len(both & {*"ACGTU"})
        is_dna = found <= {*"ACGTUN-"} and bases >= 3 and length >= 10
        is_dna = is_dna or (found <= {*"ACGTURYSWKMBDHVN-"} and bases >= 4 and length >= 30)
        if is_dna:
            kind, known = "DNA", 'Mismatch(3, 1, alphabet="ACGT"), Spectrum(3, ambiguity="skip")'
        elif found <= {*"ACDEFGHIKLMNPQRSTVWYBXZ*-"} and len(both) >= 10 and length >= 100:
            kind, known = "proteins", 'LocalAlignment("blosum62")'
        else:
            return
        letters = "".join(sorted(both))
        warn(
            f"X looks like {kind} in capitals and in small letters: {letters} and {letters.lower()} are "
            "different letters, and match nothing of each other. Write X = [x.upper() for x in X], or "
            'read_fasta(file, case="upper"). Kernels with a declared alphabet read small letters as '
            f"capitals: {known}.",
            UserWarning,
        )

    def to_arithmetic(self, x: Any, numbers: Arithmetic) -> tuple[Any, ...]:
        """Return the symbols as a tuple, whatever held them: slices of two points can then be compared."""
        return tuple(x)

    def _digest(self, x: Any, position: int) -> str:
        return digest(x) if isinstance(x, str) else super()._digest(x, position)

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        letters = np.array(list("abcd"[: int(rng.integers(1, 5))]))
        return ["".join(rng.choice(letters, size=int(rng.integers(0, 9))).tolist()) for _ in range(n)]

    def __str__(self) -> str:
        return "sequences of symbols"


def _is_letter(symbol: Any) -> bool:
    return isinstance(symbol, str) and len(symbol) == 1


def _canonical(symbols: Iterable[Any]) -> str | tuple[Any, ...]:
    """The one form of a point: text if every symbol is a character, else a tuple."""
    found = tuple(symbols)
    return "".join(found) if all(map(_is_letter, found)) else found


def _symbols(x: Any, name: str) -> str | tuple[Any, ...]:
    """The symbols of one point as given."""
    x = plain(x, name)
    if isinstance(x, str):
        return x
    if isinstance(x, np.ndarray):
        if x.ndim != 1:
            raise InputError(f"{name} must be a one-dimensional array of symbols. Got shape {x.shape}.")
        return plain_symbols(x.tolist(), name)
    if isinstance(x, set | frozenset | dict) or not isinstance(x, Iterable):
        raise InputError(
            f"{name} must be a string or a sequence of hashable symbols. Got {type(x).__name__}, "
            "which has no order."
            if isinstance(x, set | frozenset | dict)
            else f"{name} must be a string or a sequence of hashable symbols. Got {x!r}."
        )
    return plain_symbols(x, name)


def _checked(symbols: str | tuple[Any, ...], name: str) -> str | tuple[Any, ...]:
    """Return the symbols if they can be distinguished: hashable, and equal to themselves."""
    if not isinstance(symbols, str):
        check_symbols(symbols, name)
    return symbols


def check_symbols(symbols: Iterable[Any], name: str, kind: str = "symbol") -> None:
    """Raise unless each symbol is hashable and equal to itself."""
    for i, symbol in enumerate(symbols):
        try:
            hash(symbol)
        except TypeError as error:
            raise InputError(f"{name}[{i}] must be a hashable {kind}: {error}.") from error
        if symbol != symbol:
            raise InputError(f"{name}[{i}] is {symbol!r}, which does not equal itself: it is no {kind}.")


def _encode_text(texts: list[str]) -> EncodedSequences:
    """Encode by code points, without a Python object per letter."""
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    raw = "".join(texts).encode("utf-32-le", "surrogatepass")
    letters = np.frombuffer(raw, dtype="<u4")
    found = np.zeros(int(letters.max(initial=0)) + 1, dtype=bool)
    found[letters] = True
    points = np.flatnonzero(found)  # in order, as a sort would give them, in linear time
    numbers = np.zeros(len(found), dtype=np.int32)
    numbers[points] = np.arange(len(points), dtype=np.int32)
    return EncodedSequences(numbers[letters], starts_of(lengths), Vocabulary(map(chr, points.tolist())))


def _encode_symbols(sequences: list[str | tuple[Any, ...]], name: str) -> EncodedSequences:
    try:
        alphabet: Vocabulary = Vocabulary(chain.from_iterable(sequences))
    except TypeError:
        alphabet = Vocabulary(())
    if len(alphabet) == 0 or any(s != s for s in alphabet.index):  # say which symbol of which sequence it is
        for i, sequence in enumerate(sequences):
            _checked(sequence, f"{name}[{i}]")
    index: dict[Hashable, int] = alphabet.index
    lengths = np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))
    codes = np.fromiter(
        (index[s] for s in chain.from_iterable(sequences)), dtype=np.int32, count=int(lengths.sum())
    )
    return EncodedSequences(codes, starts_of(lengths), alphabet)
