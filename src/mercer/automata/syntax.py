"""Regular expressions as trees: the parser behind :func:`mercer.automata.from_regex`.

A tree has five kinds of nodes: one symbol out of a set, a weight, a sequence, alternatives, a repetition.
The empty expression is a sequence of nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from string import ascii_letters, digits
from typing import TypeAlias

from ..errors import ParameterError

__all__ = ["Alternatives", "Node", "Repeat", "Sequence", "Symbols", "Weight", "nodes", "parse"]

SPACE = frozenset(" \t\n\r\f\v")
CLASSES = {"d": frozenset(digits), "w": frozenset(ascii_letters + digits + "_"), "s": SPACE}


@dataclass(frozen=True)
class Symbols:
    """One symbol of a set, or of its complement."""

    symbols: frozenset[Hashable]
    negated: bool = False


@dataclass(frozen=True)
class Weight:
    """Nothing, with a weight."""

    value: float


@dataclass(frozen=True)
class Sequence:
    """One after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Alternatives:
    """One of several."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """Between ``low`` and ``high`` times; ``None`` is without end."""

    part: Node
    low: int
    high: int | None


Node: TypeAlias = Symbols | Weight | Sequence | Alternatives | Repeat


def nodes(node: Node) -> Iterator[Node]:
    """Iterate over a tree, parents first."""
    yield node
    if isinstance(node, Sequence | Alternatives):
        for part in node.parts:
            yield from nodes(part)
    elif isinstance(node, Repeat):
        yield from nodes(node.part)


def parse(
    pattern: str,
    *,
    words: bool = False,
    symbols: Mapping[str, Hashable] | None = None,
    caller: str = "from_regex",
) -> Node:
    """Read a regular expression; see :func:`mercer.automata.from_regex` for its syntax."""
    if not isinstance(pattern, str):
        raise ParameterError(f"{caller}: `pattern` must be text. Got {type(pattern).__name__}.")
    return _Parser(pattern, words or symbols is not None, symbols, caller).parse()


class _Parser:
    """Recursive descent; ``position`` is where the next character is read."""

    def __init__(self, text: str, words: bool, symbols: Mapping[str, Hashable] | None, caller: str) -> None:
        self.text, self.words, self.symbols, self.caller = text, words, symbols, caller
        self.position = self.depth = 0

    def parse(self) -> Node:
        node = self.alternatives()
        if self.peek() == ")":
            raise self.error("this `)` closes no group. Escape it as \\) if it is meant as a symbol")
        return node

    # -- reading ------------------------------------------------------------------------------
    def peek(self) -> str:
        """The next character that means something, '' at the end."""
        if self.words:
            self.skip(SPACE)
        return self.text[self.position : self.position + 1]

    def skip(self, characters: frozenset[str]) -> None:
        while self.text[self.position : self.position + 1] in characters:
            self.position += 1

    def read(self) -> str:
        character = self.peek()
        self.position += 1
        return character

    def error(self, what: str, at: int | None = None) -> ParameterError:
        at = self.position if at is None else at
        return ParameterError(f"{self.caller}: {what}. Got {self.text!r}, position {at}.")

    # -- structure ----------------------------------------------------------------------------
    def alternatives(self) -> Node:
        parts = [self.sequence()]
        while self.peek() == "|":
            self.read()
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else Alternatives(tuple(parts))

    def sequence(self) -> Node:
        parts: list[Node] = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.repeated())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def repeated(self) -> Node:
        node = self.atom()
        bounds = self.bounds()
        if bounds is None:
            return node
        if isinstance(node, Weight):
            raise self.error("a weight reads nothing and cannot be repeated. Put what it weighs in a group")
        if self.peek() in tuple("*+?{"):
            raise self.error("a repetition follows a repetition. Put the first one in a group, as in (a*){2}")
        return Repeat(node, *bounds)

    def bounds(self) -> tuple[int, int | None] | None:
        """Read the repetition that follows an atom, if there is one."""
        match self.peek():
            case "*":
                found: tuple[int, int | None] = (0, None)
            case "+":
                found = (1, None)
            case "?":
                found = (0, 1)
            case "{":
                return self.braces()
            case _:
                return None
        self.read()
        return found

    def braces(self) -> tuple[int, int | None]:
        start = self.position
        match = re.compile(r"\{(\d+)(?:(,)(\d*))?\}", re.ASCII).match(self.text, start)
        if match is None:
            raise self.error("`{` must open a repetition such as {3}, {2,5} or {2,}. Escape it as \\{")
        low, comma, end = match.groups()
        high = int(end) if end else (None if comma else int(low))
        if high is not None and high < int(low):
            raise self.error(f"a repetition must not end below its beginning, as {match[0]} does")
        if max(int(low), high or 0) > 10_000:
            raise self.error("a repetition must have bounds of at most 10000")
        self.position = match.end()
        return int(low), high

    def atom(self) -> Node:
        match self.peek():
            case "(":
                return self.group()
            case "[":
                return self.bracket()
            case "<":
                return self.weight()
            case ".":
                self.read()
                return Symbols(frozenset(), negated=True)
            case "*" | "+" | "?" | "{":
                raise self.error(
                    "there is nothing to repeat here. Escape it with a backslash if it is a symbol"
                )
            case "^" | "$":
                raise self.error(
                    "anchors are not needed, for a pattern describes whole strings. Escape a symbol"
                )
            case "]" | "}" | ">":
                raise self.error("nothing was opened that this closes. Escape it with a backslash")
            case _:
                return self.word() if self.words else self.letter()

    def group(self) -> Node:
        start = self.position
        self.read()
        if self.text.startswith("?", self.position):
            if not self.text.startswith("?:", self.position):
                raise self.error("groups are ( ) or (?: ), without names, flags or conditions")
            self.position += 2
        self.depth += 1
        if self.depth > 100:
            raise self.error("groups must not be nested more than 100 deep")
        node = self.alternatives()
        if self.read() != ")":
            raise self.error("this group is never closed", start)
        self.depth -= 1
        return node

    def weight(self) -> Weight:
        start = self.position
        end = self.text.find(">", start)
        try:
            value = float(self.text[start + 1 : end]) if end >= 0 else math.nan
        except ValueError:
            value = math.nan
        if math.isnan(value):
            raise self.error(
                "`<` must open a weight such as <0.5>. Escape it as \\< if it is a symbol", start
            )
        self.position = end + 1
        return Weight(value)

    # -- symbols ------------------------------------------------------------------------------
    def letter(self) -> Symbols:
        start = self.position
        character = self.text[start]
        self.position += 1
        return self.escape(start) if character == "\\" else Symbols(frozenset(character))

    def escape(self, start: int) -> Symbols:
        """What stands after a backslash."""
        kind = self.text[self.position : self.position + 1]
        self.position += 1
        control = {"0": "\0", "a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
        hexadecimal = {"x": 2, "u": 4, "U": 8}
        if kind in control:
            return Symbols(frozenset(control[kind]))
        if kind in hexadecimal:
            n = hexadecimal[kind]
            found = self.text[self.position : self.position + n]
            self.position += n
            if re.fullmatch(r"[0-9a-fA-F]+", found) is None or len(found) < n or int(found, 16) > 0x10FFFF:
                raise self.error(f"this escape needs {n} hexadecimal digits of a character", start)
            return Symbols(frozenset(chr(int(found, 16))))
        if kind and kind.lower() in CLASSES:
            return Symbols(CLASSES[kind.lower()], negated=kind.isupper())
        if kind == "" or kind.isalnum():
            raise self.error(f"the escape \\{kind} means nothing here", start)
        return Symbols(frozenset(kind))

    def word(self) -> Symbols:
        return Symbols(frozenset([self.token(frozenset("()[]{}<>|*+?.\\^$"))]))

    def token(self, stop: frozenset[str]) -> Hashable:
        """One word: up to white space or a character of ``stop``; a backslash takes the next one as it is."""
        start, found = self.position, ""
        while (character := self.text[self.position : self.position + 1]) and character not in SPACE:
            if character == "\\":
                self.position += 1
                character = self.text[self.position : self.position + 1]
                if not character:
                    raise self.error("a backslash must be followed by what it escapes", start)
            elif character in stop:
                break
            found += character
            self.position += 1
        if self.symbols is None:
            return found
        if found not in self.symbols:
            raise self.error(f"the word {found!r} is not a key of `symbols`", start)
        return self.symbols[found]

    def bracket(self) -> Symbols:
        """A class: [a-z], [^a-z], or with words [the a an]."""
        start = self.position
        self.read()
        negated = self.text.startswith("^", self.position)
        self.position += negated
        found: frozenset[Hashable] = frozenset()
        while (character := self.peek()) != "]":
            if not character:
                raise self.error("this class is never closed", start)
            found |= {self.token(frozenset("]"))} if self.words else self.class_range(start)
        self.read()
        if not found:
            raise self.error(
                "a class must not be empty. Write . for any symbol, and escape ] inside a class", start
            )
        return Symbols(found, negated)

    def class_range(self, start: int) -> frozenset[Hashable]:
        low = self.class_member()
        after = self.text[self.position : self.position + 2]
        if not after.startswith("-") or after in ("-", "-]"):
            return low
        self.position += 1
        high = self.class_member()
        if len(low) != 1 or len(high) != 1:
            raise self.error("a range must lie between two characters, not classes", start)
        (first,), (last,) = low, high
        span = range(ord(str(first)), ord(str(last)) + 1)
        if not 0 < len(span) <= 100_000:
            raise self.error("a range must go upwards, over at most 100000 characters", start)
        return frozenset(map(chr, span))

    def class_member(self) -> frozenset[Hashable]:
        start = self.position
        member = self.letter()
        if member.negated:
            raise self.error("a negated class cannot stand inside a class", start)
        return member.symbols
