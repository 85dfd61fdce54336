"""What rational kernels compare: strings, and automata, which stand for many strings with weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arithmetic import Arithmetic
from ..digests import digest, encode
from ..domains import Domain, EncodedSequences, Sequences
from ..domains.containers import points_of
from ..errors import InputError
from .labels import EPSILON, AnyExcept
from .semirings import REAL
from .transducer import Transducer

__all__ = ["StringsAndAutomata"]


@dataclass(frozen=True)
class StringsAndAutomata(Domain):
    """Strings as in :class:`~mercer.domains.Sequences`, and automata (:class:`Transducer`) of real weights.

    A string is the automaton that accepts it alone.  Data without an automaton are validated as
    :class:`~mercer.domains.EncodedSequences`, others as a list.
    """

    def validate(self, X: Any, name: str = "X") -> EncodedSequences | list[Any]:
        if isinstance(X, Transducer):
            raise InputError(
                f"{name} must be a sequence of strings or automata. Got one automaton. Pass a list of one: "
                f"[{name}]."
            )
        if isinstance(X, EncodedSequences):
            return X
        points = points_of(X, name, "a sequence of strings or automata")
        if not any(isinstance(x, Transducer) for x in points):
            return Sequences().validate(points, name)
        return [self.point(x, f"{name}[{i}]") for i, x in enumerate(points)]

    def point(self, x: Any, name: str = "x") -> Any:
        if not isinstance(x, Transducer):
            return Sequences().point(x, name)
        if not x.is_automaton or x.semiring is not REAL:
            raise InputError(
                f"{name} must be an automaton of real weights. Got {x!r}. T.project and T.in_semiring give "
                "one."
            )
        return x

    def pair(self, x: Any, y: Any) -> tuple[Any, Any]:
        return self.point(x, "x"), self.point(y, "y")

    def to_arithmetic(self, x: Any, numbers: Arithmetic) -> Any:
        return x if isinstance(x, Transducer) else tuple(x)

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        return Sequences().sample(n, rng)

    def _digest(self, x: Any, position: int) -> str:
        if isinstance(x, Transducer):
            return digest(_machine_form(x))
        return Sequences()._digest(x, position)

    def _meet(self, other: Domain) -> Domain | None:
        return other if isinstance(other, Sequences) else super()._meet(other)

    def __str__(self) -> str:
        return "strings and automata"


def _machine_form(T: Transducer) -> bytes:
    """Canonical form of a transducer by its content, whatever the order in which its arcs were given."""
    arcs = sorted(encode((a.source, a.target, _form(a.input), _form(a.output), a.weight)) for a in T.arcs)
    return encode(("transducer", T.semiring.name, T.n_states, arcs, dict(T.initial), dict(T.final)))


def _form(label: Any) -> tuple[Any, ...]:
    if label is EPSILON:
        return ("epsilon",)
    return ("except", frozenset(label.excluded)) if isinstance(label, AnyExcept) else ("symbol", label)


# Installed here: only as a point, or as a parameter of a kernel, does a machine need a name by its content.
Transducer._digest_form = _machine_form  # type: ignore[attr-defined]
