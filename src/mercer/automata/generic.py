"""Operations on machines of any semiring, by its own functions.

The native core knows four semirings, but the structure of a machine that it makes does not depend on the
weights.  It is given numbers in place of weights: its LOG semiring, whose product is +, adds them up, and the
digits of a sum say which weights to multiply.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np

from .. import _native
from ..engine.runs import checkpoint
from .machine import Machine
from .path_sums import leaving_arcs, path_sums
from .semirings import LOG, TROPICAL, Semiring, Weight

__all__ = [
    "are_numbered",
    "compose",
    "is_acyclic",
    "remove_epsilons",
    "string_weights",
    "total_weight",
    "trim",
]

#: Floats hold whole numbers up to here.
MOST_NUMBERS = 2**53

#: The arrays of a machine as the native core reads them.
Arrays = tuple[np.ndarray, ...]


def _numbered(machine: Machine, ring: Semiring, base: int = 1) -> Arrays:
    """The machine with multiples of ``base`` for weights, from one on; zero stays the zero of LOG."""
    columns = (machine.weight, machine.initial, machine.final)
    numbers = (
        np.where(ring.is_zero(column), LOG.zero, base * np.arange(1.0, len(column) + 1)) for column in columns
    )
    return (*machine.arrays[:4], *numbers)


def _weighed(arrays: Arrays, machines: Sequence[Machine], bases: Sequence[int], ring: Semiring) -> Machine:
    """The machine with the products of the weights that the digits of its numbers stand for."""
    times = ring.on_arrays[1]

    def weights(numbers: np.ndarray, name: str) -> np.ndarray:
        found = ring.zeros(len(numbers))
        some = np.isfinite(numbers)
        codes = numbers[some].astype(np.int64)
        chosen = None
        for machine, base, above in zip(machines, bases, (*bases[1:], MOST_NUMBERS), strict=True):
            table = ring.array([ring.one, *getattr(machine, name).tolist()])
            factor = table[codes % above // base]
            chosen = factor if chosen is None else times(chosen, factor)
        found[some] = chosen
        return found

    starts, target, read, written, arcs, initial, final = arrays
    ends = weights(initial, "initial"), weights(final, "final")
    return Machine(starts, target, read, written, weights(arcs, "weight"), *ends)


def trim(machine: Machine, ring: Semiring) -> Machine:
    """Leave out states and arcs that lie on no accepting path, and arcs of weight zero."""
    return _weighed(_native.automata_trim(_numbered(machine, ring), LOG.zero), [machine], [1], ring)


def is_acyclic(machine: Machine, ring: Semiring) -> bool:
    """Whether accepting paths never come back to a state."""
    return _native.automata_is_acyclic(_numbered(machine, ring), LOG.code)


def are_numbered(machines: Sequence[Machine]) -> bool:
    """Whether there are enough numbers for the products of the weights of these machines."""
    return _bases(machines)[-1] <= MOST_NUMBERS


def _bases(machines: Sequence[Machine]) -> list[int]:
    bases = [1]
    for machine in machines:
        bases.append(bases[-1] * (1 + max(machine.n_arcs, machine.n_states)))
    return bases


def compose(
    machines: Sequence[Machine], exclusions: tuple[np.ndarray, np.ndarray], ring: Semiring, connect: bool
) -> Any:
    """The composition and the classes of its labels, or the error that the native core reports."""
    bases = _bases(machines)[:-1]
    arrays = [_numbered(m, ring, base) for m, base in zip(machines, bases, strict=True)]
    # Only the symbols of a class ask whether the sum is idempotent, as that of TROPICAL is.
    code = (TROPICAL if ring.idempotent else LOG).code
    found = _native.automata_compose(arrays, exclusions, code, connect, checkpoint)
    if isinstance(found[0], str):
        return found
    result = _weighed(found[0], machines, bases, ring)
    if connect and ring.is_zero(result.weight).any():  # products of weights other than zero
        result = trim(result, ring)
    return result.arrays, found[1]


def total_weight(machine: Machine, ring: Semiring) -> Weight:
    """Sum of the weights of all accepting paths."""
    part = trim(machine, ring)
    starts = _marked(part.initial, ring)
    sums = path_sums(leaving_arcs(part, ring), starts, ring, "total_weight")
    total = ring.zero
    for q, weight in _marked(part.final, ring).items():
        total = ring.plus(total, ring.times(sums[q], weight))
    return total


def _marked(ends: np.ndarray, ring: Semiring) -> dict[int, Weight]:
    weights = ends.tolist()
    return {q: weights[q] for q in np.flatnonzero(~ring.is_zero(ends)).tolist()}


def remove_epsilons(machine: Machine, ring: Semiring) -> Machine:
    """Do without arcs that neither read nor write: follow them to the arcs and ends that come after."""
    part = trim(machine, ring)
    silent = (part.input == 0) & (part.output == 0)
    graph = leaving_arcs(part, ring, silent)
    weights, final = part.weight.tolist(), part.final.tolist()
    arcs: dict[tuple[int, int, int, int], Weight] = {}
    ends = [ring.zero] * part.n_states
    for q in {*_marked(part.initial, ring), *part.target[~silent].tolist()}:
        for r, so_far in path_sums(graph, {q: ring.one}, ring, "remove_epsilons").items():
            ends[q] = ring.plus(ends[q], ring.times(so_far, final[r]))
            for arc in range(part.starts[r], part.starts[r + 1]):
                if not silent[arc]:
                    key = (q, int(part.target[arc]), int(part.input[arc]), int(part.output[arc]))
                    weight = ring.times(so_far, weights[arc])
                    arcs[key] = ring.plus(arcs[key], weight) if key in arcs else weight
    source, target, read, written = np.array(list(arcs), dtype=np.int32).reshape(-1, 4).T
    free = Machine.of(
        source, target, read, written, ring.array(arcs.values()), part.initial, ring.array(ends)
    )
    return trim(free, ring)


def string_weights(
    machine: Machine,
    exclusions: tuple[np.ndarray, np.ndarray],
    ring: Semiring,
    x: tuple[np.ndarray, np.ndarray],
    y: tuple[np.ndarray, np.ndarray],
    rows: np.ndarray,
    cols: np.ndarray,
) -> np.ndarray:
    """Weights of pairs of strings, given as codes and starts, of a machine without silent arcs."""
    codes, starts = exclusions
    excluded = [frozenset(codes[a:b].tolist()) for a, b in pairwise(starts)]
    first, second = ([part[a:b].tolist() for a, b in pairwise(begins)] for part, begins in (x, y))
    pairs = zip(rows.tolist(), cols.tolist(), strict=True)
    return ring.array([_pair_weight(machine, excluded, ring, first[i], second[j]) for i, j in pairs])


def _pair_weight(
    machine: Machine, excluded: list[frozenset[int]], ring: Semiring, x: list[int], y: list[int]
) -> Weight:
    """Sum over the paths that read x and write y, position by position."""

    def fits(label: int, string: list[int], i: int) -> bool:
        if label == 0:
            return True
        return i < len(string) and (
            string[i] == label if label > 0 else string[i] not in excluded[-1 - label]
        )

    arcs = list(zip(*(a.tolist() for a in machine.arrays[1:5]), strict=True))
    here: dict[tuple[int, int], dict[int, Weight]] = {(0, 0): _marked(machine.initial, ring)}
    for i, j in product(range(len(x) + 1), range(len(y) + 1)):
        for q, so_far in here.pop((i, j), {}).items() if (i, j) != (len(x), len(y)) else ():
            for target, read, written, weight in arcs[machine.starts[q] : machine.starts[q + 1]]:
                if not (fits(read, x, i) and fits(written, y, j)) or (
                    read < 0 and written < 0 and x[i] != y[j]
                ):
                    continue
                cell = here.setdefault((i + (read != 0), j + (written != 0)), {})
                more = ring.times(so_far, weight)
                cell[target] = ring.plus(cell[target], more) if target in cell else more
    total = ring.zero
    final = machine.final.tolist()
    for q, so_far in here.get((len(x), len(y)), {}).items():
        total = ring.plus(total, ring.times(so_far, final[q]))
    return total
