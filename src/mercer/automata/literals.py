"""Automata of given strings."""

from __future__ import annotations

from typing import Any

from ..domains import Sequences
from .builder import Builder
from .semirings import Semiring
from .transducer import Transducer

__all__ = ["string"]


def string(x: Any, *, weight: Any = None, semiring: Semiring | str = "real") -> Transducer:
    """Automaton that accepts one string, by one path.

    Parameters
    ----------
    x : str, bytes or sequence of hashables
        The string; it may be empty.
    weight : optional
        Its weight; by default the one of the semiring.
    semiring : {"real", "log", "tropical", "boolean"} or Semiring, default="real"
        What weights are.

    Examples
    --------
    >>> from mercer.automata import string
    >>> A = string("abc")
    >>> A("abc"), A("ab"), A.n_states
    (1.0, 0.0, 4)
    """
    builder = Builder(semiring)
    one = builder.semiring.one
    symbols = Sequences().point(x)
    for i in range(len(symbols) + 1):
        first, last = i == 0, i == len(symbols)
        builder.state(
            initial=(one if weight is None else weight) if first else None, final=one if last else None
        )
    for i, symbol in enumerate(symbols):
        builder.arc(i, i + 1, symbol)
    return builder.build()
