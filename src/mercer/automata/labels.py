"""What may stand on the tapes of a transducer: symbols, the empty string, and classes of symbols."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias

from ..domains import Sequences
from ..errors import InputError, ParameterError

__all__ = ["ANY", "EPSILON", "AnyExcept", "Epsilon", "Label", "check_label", "symbols_of"]

Label: TypeAlias = Hashable


class Epsilon:
    """The empty string as a label; there is one, :data:`EPSILON`."""

    _only: Epsilon | None = None

    def __new__(cls) -> Epsilon:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __reduce__(self) -> str:
        return "EPSILON"

    def __repr__(self) -> str:
        return "EPSILON"

    def __str__(self) -> str:
        return "ε"


class AnyExcept:
    """A label for every symbol but some; :data:`ANY` excludes none.

    An arc with a class stands for one arc per symbol of it, whatever the symbols may be: those that no
    transducer has ever named are among them.  With one class on both tapes the arc copies: it stands for
    ``a:a`` for every symbol a of the class.

    Parameters
    ----------
    symbols : iterable of hashables
        The symbols left out.

    Examples
    --------
    >>> AnyExcept("ab") == AnyExcept(["b", "a"]), AnyExcept("") == ANY
    (True, True)
    >>> "c" in AnyExcept("ab"), "a" in AnyExcept("ab")
    (True, False)
    """

    __slots__ = ("_members", "excluded")

    excluded: tuple[Any, ...]
    _members: frozenset[Any]

    def __init__(self, symbols: Iterable[Hashable]) -> None:
        object.__setattr__(self, "excluded", symbols_of(symbols, "AnyExcept"))
        object.__setattr__(self, "_members", frozenset(self.excluded))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed; make another")

    def __contains__(self, symbol: Hashable) -> bool:
        return symbol not in self._members

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyExcept) and self._members == other._members

    def __hash__(self) -> int:
        return hash((AnyExcept, self._members))

    def __and__(self, other: AnyExcept) -> AnyExcept:
        return AnyExcept(self.excluded + other.excluded)

    def __reduce__(self) -> tuple[Any, ...]:
        return AnyExcept, (self.excluded,)

    def __repr__(self) -> str:
        if not self.excluded:
            return "ANY"
        if all(isinstance(s, str) and len(s) == 1 for s in self.excluded):
            return f"AnyExcept({''.join(self.excluded)!r})"
        return f"AnyExcept({self.excluded!r})"

    def __str__(self) -> str:
        return f"[^{' '.join(map(str, self.excluded))}]" if self.excluded else "."


def symbols_of(symbols: Iterable[Hashable], caller: str) -> tuple[Any, ...]:
    """The distinct symbols in an order of their own: that of a set would change with the hash seed."""
    given = tuple(symbols) if isinstance(symbols, set | frozenset) else symbols
    found = dict.fromkeys(Sequences().point(given, f"{caller}: symbols"))
    for symbol in found:
        check_label(caller, "symbols", symbol, classes=False)
    return tuple(sorted(found, key=lambda s: (type(s).__qualname__, repr(s))))


def check_label(caller: str, name: str, label: Any, *, classes: bool = True) -> None:
    """Refuse what cannot stand on a tape."""
    if label is EPSILON or isinstance(label, AnyExcept):
        if classes:
            return
        raise ParameterError(
            f"{caller}: `{name}` must hold symbols. Got {label!r}, which is a label of arcs."
        )
    try:
        hash(label)
    except TypeError as error:
        raise InputError(f"{caller}: `{name}` must be a hashable symbol: {error}.") from error
    if label != label:
        raise InputError(f"{caller}: `{name}` is {label!r}, which does not equal itself: it is no symbol.")
    if isinstance(label, bytes):
        raise InputError(
            f"{caller}: `{name}` must be text instead of bytes, as in the strings that are read. "
            f"Got {label!r}. Use label.decode()."
        )


#: The empty string.
EPSILON = Epsilon()

#: Any symbol at all.
ANY = AnyExcept(())
