"""Transducers step by step."""

from __future__ import annotations

from typing import Any

from ..errors import ParameterError
from .labels import Label
from .semirings import Semiring, Weight, semiring_of
from .transducer import Arc, Transducer, check_labels, is_state

__all__ = ["Builder"]

# Stands for "the same as the input": every other value could be a symbol.
_SAME: Any = object()


class Builder:
    """Collects states and arcs, and builds a :class:`Transducer` of them.

    Parameters
    ----------
    semiring : {"real", "log", "tropical", "boolean"} or Semiring, default="real"
        What weights are and how they add up.

    Examples
    --------
    >>> from mercer.automata import ANY, EPSILON, Builder
    >>> b = Builder()
    >>> start, end = b.state(initial=1), b.state(final=1)
    >>> b.arc(start, start, ANY, EPSILON)
    >>> b.arc(start, end, "a", weight=2)
    >>> b.build()("ba", "a")
    2.0
    """

    def __init__(self, semiring: Semiring | str = "real") -> None:
        self.semiring = semiring_of(semiring, "Builder")
        self._initial: dict[int, Weight] = {}
        self._final: dict[int, Weight] = {}
        self._n_states = 0
        self._arcs: list[Arc] = []

    def state(self, initial: Any = None, final: Any = None) -> int:
        """Add a state and return its number; give it weights to begin or to end a path."""
        if initial is not None:
            self._initial[self._n_states] = self.semiring.weight(initial, "Builder.state")
        if final is not None:
            self._final[self._n_states] = self.semiring.weight(final, "Builder.state")
        self._n_states += 1
        return self._n_states - 1

    def states(self, n: int) -> list[int]:
        """Add n states that neither begin nor end paths."""
        return [self.state() for _ in range(n)]

    def arc(self, source: int, target: int, input: Label, output: Label = _SAME, weight: Any = None) -> None:
        """Add an arc; without ``output`` it writes what it reads, without ``weight`` it weighs one."""
        for name, state in (("source", source), ("target", target)):
            if not is_state(state, self._n_states):
                raise ParameterError(
                    f"Builder.arc: `{name}` must be the number of a state that has been added. Got {state!r}."
                )
        written = input if output is _SAME else output
        check_labels("Builder.arc", input, written)
        value = self.semiring.one if weight is None else self.semiring.weight(weight, "Builder.arc")
        self._arcs.append(Arc(source, target, input, written, value))

    def build(self) -> Transducer:
        """The transducer of what has been added so far."""
        return Transducer(
            self._arcs, self._initial, self._final, semiring=self.semiring, n_states=self._n_states
        )
