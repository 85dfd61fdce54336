"""Steps on counts as a table.

The dot product and the squared distance of rows of zeros and ones are counts of bits.  A program that goes on
from one of them with elementwise steps alone has as many different values as there are counts: these are
computed once, by the steps themselves, and looked up afterwards.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mercer import _native

__all__ = ["Table", "tabulate", "values_at"]

Array: TypeAlias = npt.NDArray[Any]

#: Steps whose result depends on the place in the matrix.
_LOCAL = frozenset((_native.OUTER_MULTIPLY, _native.OUTER_ADD, _native.DIAGONAL))

#: Features in a word.
_BITS = 64


class Table(NamedTuple):
    """Two steps in place of many, on one register: a count, and the number that belongs to it."""

    steps: npt.NDArray[np.int64]
    parameters: npt.NDArray[np.float64]


def tabulate(steps: Array, parameters: Array, registers: int, words: int) -> Table | None:
    """The table of steps that begin with a count over this number of words; None if there is none.

    There is none if values depend on more than the count, and if a count that need not occur fails a check.
    """
    counts = np.arange(_BITS * words + 1, dtype=np.float64)
    table = values_at(counts, steps, parameters, registers) if len(steps) > 2 else None
    if table is None:
        return None
    op, _, _, b, _, _ = steps[0].tolist()
    two = [(op, 0, 0, b, 0, 0), (_native.LOOKUP, 0, 0, 0, 0, counts.size)]
    return Table(np.array(two, dtype=np.int64), table)


def values_at(numbers: Array, steps: Array, parameters: Array, registers: int) -> Array | None:
    """Values of the program if its first step gives these numbers.

    None if values depend on more than the first step, or fail a check.
    """
    ops = steps[:, 0]
    if (ops[1:] < _native.CONSTANT).any() or _LOCAL.intersection(ops.tolist()):
        return None
    given = steps.copy()
    given[0, [0, 3]] = _native.OPAQUE, 0
    first = np.ascontiguousarray(numbers, dtype=np.float64)[np.newaxis]
    native = _native.Program(
        given, parameters, [], [], [first], 1, first.size, registers, False, _native.TILE, 1.0, False
    )
    values = np.empty_like(first)
    return values[0] if native.dense(0, native.tiles, values, 1) < 0 else None
