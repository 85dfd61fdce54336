"""Weights of pairs of strings."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from ..errors import InputError

if TYPE_CHECKING:
    from .transducer import Transducer

__all__ = ["weight_of"]


def weight_of(T: Transducer, x: Any, y: Any) -> float:
    """T(x, y), or T(x) of an automaton."""
    if y is None:
        if not T.is_automaton:
            raise InputError("T(x, y): a transducer with two tapes weighs pairs of strings. Got x alone.")
        y = x
    beyond: dict[Hashable, int] = {}
    a = T.coding.encode(x, "x", beyond).tolist()
    b = T.coding.encode(y, "y", beyond).tolist()
    ring = T.semiring
    arcs = [(arc.source, arc.target, arc.input, arc.output, arc.weight) for arc in T.arcs]
    memo: dict[tuple[int, int, int], float] = {}
    from .labels import EPSILON, AnyExcept

    xs, ys = tuple(x), tuple(y)

    def reads(label: Any, string: Any, i: int) -> int | None:
        if label is EPSILON:
            return 0
        if i == len(string):
            return None
        fits = string[i] in label if isinstance(label, AnyExcept) else string[i] == label
        return 1 if fits else None

    def future(q: int, i: int, j: int) -> float:
        key = (q, i, j)
        if key not in memo:
            total = T.final.get(q, ring.zero) if (i, j) == (len(xs), len(ys)) else ring.zero
            for s, t, read, written, w in arcs:
                if s != q:
                    continue
                di, dj = reads(read, xs, i), reads(written, ys, j)
                if (
                    di is None
                    or dj is None
                    or (isinstance(read, AnyExcept) and read == written and xs[i] != ys[j])
                ):
                    continue
                total = ring.plus(total, ring.times(w, future(t, i + di, j + dj)))
            memo[key] = total
        return memo[key]

    assert len(a) == len(xs) and len(b) == len(ys)
    total = ring.zero
    for q, w in T.initial.items():
        total = ring.plus(total, ring.times(w, future(q, 0, 0)))
    return ring.value(total)
