"""Rational operations on machines: linear in their size, by putting arrays together.

States keep their order; where a state has to be added, it comes last.  Arcs that only lead on carry epsilon
on both tapes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .machine import Machine
from .semirings import Semiring

__all__ = ["concat", "inverse", "plus", "reverse", "star", "union"]


def inverse(a: Machine) -> Machine:
    """Swap the tapes."""
    return Machine.of(**{**a.columns, "input": a.output, "output": a.input})


def reverse(a: Machine) -> Machine:
    """Turn every arc around: reads and writes the reversed strings."""
    turned = {"source": a.target, "target": a.source, "initial": a.final, "final": a.initial}
    return Machine.of(**{**a.columns, **turned})


def union(a: Machine, b: Machine) -> Machine:
    """Put two machines side by side."""
    shifted = {**b.columns, "source": b.source + a.n_states, "target": b.target + a.n_states}
    return Machine.of(**{name: np.concatenate([column, shifted[name]]) for name, column in a.columns.items()})


def concat(a: Machine, b: Machine, semiring: Semiring) -> Machine:
    """First ``a``, then ``b``, by way of a state between them."""
    both = union(a, b)
    ends, begins = _where(a.final, semiring), a.n_states + _where(b.initial, semiring)
    initial, final = both.initial.copy(), both.final.copy()
    initial[a.n_states :] = semiring.zeros(b.n_states)
    final[: a.n_states] = semiring.zeros(a.n_states)
    passed = _extended(replace(both, initial=initial, final=final), 1, semiring)
    between = both.n_states
    return _with_arcs(
        passed,
        [(ends, between, a.final[ends]), (between, begins, both.initial[begins])],
    )


def star(a: Machine, semiring: Semiring) -> Machine:
    """Any number of times, none among them: all begins and ends become one new state."""
    hub = a.n_states
    begins, ends = _where(a.initial, semiring), _where(a.final, semiring)
    looped = _extended(_without_ends(a, semiring), 1, semiring)
    initial, final = looped.initial.copy(), looped.final.copy()
    initial[hub] = final[hub] = semiring.one
    arcs = [(hub, begins, a.initial[begins]), (ends, hub, a.final[ends])]
    return _with_arcs(replace(looped, initial=initial, final=final), arcs)


def plus(a: Machine, semiring: Semiring) -> Machine:
    """Any number of times, at least once."""
    entry, leave = a.n_states, a.n_states + 1
    begins, ends = _where(a.initial, semiring), _where(a.final, semiring)
    looped = _extended(_without_ends(a, semiring), 2, semiring)
    initial, final = looped.initial.copy(), looped.final.copy()
    initial[entry] = final[leave] = semiring.one
    again = (np.array([leave]), entry, semiring.array([semiring.one]))
    arcs = [(entry, begins, a.initial[begins]), (ends, leave, a.final[ends]), again]
    return _with_arcs(replace(looped, initial=initial, final=final), arcs)


def _where(weights: np.ndarray, semiring: Semiring) -> np.ndarray:
    return np.flatnonzero(~semiring.is_zero(weights))


def _without_ends(a: Machine, semiring: Semiring) -> Machine:
    nothing = semiring.zeros(a.n_states)
    return replace(a, initial=nothing, final=nothing.copy())


def _extended(a: Machine, count: int, semiring: Semiring) -> Machine:
    """Add states without arcs."""
    more = semiring.zeros(count)
    initial, final = np.concatenate([a.initial, more]), np.concatenate([a.final, more])
    starts = np.concatenate([a.starts, np.full(count, a.n_arcs, dtype=np.int64)])
    return replace(a, starts=starts, initial=initial, final=final)


def _with_arcs(a: Machine, arcs: list[tuple[Any, Any, np.ndarray]]) -> Machine:
    """Add arcs with epsilon on both tapes, given as sources, targets, weights."""
    columns = {name: [column] for name, column in a.columns.items()}
    for source, target, weight in arcs:
        silent = np.zeros(len(weight), dtype=np.int32)
        columns["source"].append(np.broadcast_to(source, len(weight)))
        columns["target"].append(np.broadcast_to(target, len(weight)))
        columns["input"].append(silent)
        columns["output"].append(silent)
        columns["weight"].append(weight)
    return Machine.of(**{name: np.concatenate(parts) for name, parts in columns.items()})
