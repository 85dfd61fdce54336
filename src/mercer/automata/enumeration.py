"""Accepting paths one by one: for looking at a machine, and for checking sums over paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from .labels import EPSILON

if TYPE_CHECKING:
    from .transducer import Arc, Transducer

__all__ = ["Path", "paths"]


class Path(NamedTuple):
    """An accepting path: its arcs from first to last, the strings on its tapes, its weight."""

    arcs: tuple[Arc, ...]
    input: tuple[Any, ...]
    output: tuple[Any, ...]
    weight: Any


def paths(T: Transducer, max_length: int) -> Iterator[Path]:
    """Accepting paths with at most ``max_length`` arcs, by first state and then depth first.

    The weight of a path is the product of the weights of its initial state, arcs and final state.  A class of
    symbols stands in the strings as itself.  Their number may grow exponentially with ``max_length``.

    Examples
    --------
    >>> from mercer.automata import Builder, paths
    >>> b = Builder()
    >>> q = b.state(initial=1, final=0.5)
    >>> b.arc(q, q, "a", weight=2)
    >>> [("".join(p.input), p.weight) for p in paths(b.build(), 2)]
    [('', 0.5), ('a', 1.0), ('aa', 2.0)]
    """
    times, final = T.semiring.times, T.final
    leaving: list[list[Arc]] = [[] for _ in range(T.n_states)]
    for arc in T.arcs:
        leaving[arc.source].append(arc)
    for state, weight in T.initial.items():
        stack: list[tuple[int, Any, tuple[Arc, ...]]] = [(state, weight, ())]
        while stack:
            here, so_far, arcs = stack.pop()
            if here in final:
                read = tuple(arc.input for arc in arcs if arc.input is not EPSILON)
                written = tuple(arc.output for arc in arcs if arc.output is not EPSILON)
                yield Path(arcs, read, written, T.semiring.value(times(so_far, final[here])))
            if len(arcs) < max_length:
                stack += [
                    (arc.target, times(so_far, arc.weight), (*arcs, arc)) for arc in reversed(leaving[here])
                ]
