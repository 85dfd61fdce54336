"""From a regular expression to an automaton without empty moves: one state for each symbol of the expression.

The construction is Glushkov's with weights.  A part of the expression is known by four things: the weight it
gives the empty string, the positions that may come first and last, and which position follows which.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..errors import ParameterError
from .semirings import Semiring
from .syntax import Alternatives, Node, Repeat, Sequence, Symbols, Weight

__all__ = ["Positions"]

Weights: TypeAlias = dict[int, Any]


@dataclass
class Part:
    """A part of the expression: weight of the empty string, first and last positions with weights."""

    empty: Any
    first: Weights = field(default_factory=dict)
    last: Weights = field(default_factory=dict)


class Positions:
    """The positions of an expression.

    Attributes
    ----------
    symbols : list of Symbols
        What is read on coming to each position.
    follow : list of dict
        For each position those that may come next, with weights.
    whole : Part
        The expression itself.
    """

    def __init__(self, node: Node, ring: Semiring) -> None:
        self.zero, self.one, self.plus, self.times = ring.zero, ring.one, ring.plus, ring.times
        self._ring = ring
        self.symbols: list[Symbols] = []
        self.follow: list[Weights] = []
        self._pairs = 0
        self.whole = self._part(node)

    def _part(self, node: Node) -> Part:
        match node:
            case Symbols():
                position = len(self.symbols)
                if position == 100_000:
                    raise ParameterError(
                        "from_regex: the pattern has more than 100,000 symbols once its repetitions are "
                        "written out. Repeat less often, or without an upper bound."
                    )
                self.symbols.append(node)
                self.follow.append({})
                return Part(self.zero, {position: self.one}, {position: self.one})
            case Weight(value):
                return Part(self._ring.weight(value, "from_regex"))
            case Sequence(parts):
                whole = Part(self.one)
                for part in parts:
                    whole = self._then(whole, self._part(part))
                return whole
            case Alternatives(parts):
                whole = Part(self.zero)
                for part in parts:
                    whole = self._or(whole, self._part(part))
                return whole
            case Repeat(part, low, high):
                return self._repeat(part, low, high)

    def _repeat(self, node: Node, low: int, high: int | None) -> Part:
        """Copies of a part: the required ones, then optional ones inside each other, or a loop."""
        required = low if high is not None else max(low - 1, 0)
        head = Part(self.one)
        for _ in range(required):
            head = self._then(head, self._part(node))
        if high is None:
            return self._then(head, self._loop(self._part(node), at_least_one=low > 0))
        tail = Part(self.one)
        for _ in range(high - low):
            tail = self._or(Part(self.one), self._then(self._part(node), tail))
        return self._then(head, tail)

    def _or(self, a: Part, b: Part) -> Part:
        return Part(self.plus(a.empty, b.empty), a.first | b.first, a.last | b.last)

    def _then(self, a: Part, b: Part) -> Part:
        self._join(a.last, b.first)
        first = a.first | self._scaled(a.empty, b.first)
        return Part(self.times(a.empty, b.empty), first, b.last | self._scaled(b.empty, a.last))

    def _loop(self, a: Part, at_least_one: bool) -> Part:
        """Repetition of matches that are not empty, so that no string has infinitely many derivations."""
        self._join(a.last, a.first)
        return Part(a.empty if at_least_one else self.one, a.first, a.last)

    def _scaled(self, weight: Any, weights: Weights) -> Weights:
        return {} if weight == self.zero else {p: self.times(weight, w) for p, w in weights.items()}

    def _join(self, last: Weights, first: Weights) -> None:
        self._pairs += len(last) * len(first)
        if self._pairs > 500_000:
            raise ParameterError(
                "from_regex: the pattern has more than 500,000 pairs of neighbouring symbols. Write "
                "it with classes such as [a-z] and with fewer repetitions of optional parts."
            )
        for p, v in last.items():
            follow = self.follow[p]
            for q, w in first.items():
                weight = self.times(v, w)
                follow[q] = self.plus(follow[q], weight) if q in follow else weight
