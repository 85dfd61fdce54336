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

__all__ = ["Table", "tabulate"]

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
    """The table of steps that begin with a count over so many words; None if there is none.

    There is none if values depend on more than the count, and if a count that need not occur fails a check.
    """
    ops = steps[:, 0]
    if len(ops) < 3 or (ops[1:] < _native.CONSTANT).any() or _LOCAL.intersection(ops.tolist()):
        return None
    counts = np.arange(_BITS * words + 1, dtype=np.float64)[np.newaxis]
    given = steps.copy()
    given[0, [0, 3]] = _native.FOREIGN, 0
    native = _native.Program(
        given, parameters, [], [], [counts], 1, counts.size, registers, False, _native.TILE, 1.0, False
    )
    table = np.empty_like(counts)
    if native.dense(0, native.tiles, table, 1) >= 0:
        return None
    op, _, _, b, _, _ = steps[0].tolist()
    two = [(op, 0, 0, b, 0, 0), (_native.LOOKUP, 0, 0, 0, 0, counts.size)]
    return Table(np.array(two, dtype=np.int64), table[0])
