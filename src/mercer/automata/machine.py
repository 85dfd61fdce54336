"""The arrays behind a transducer, as the native core reads them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from .. import _native

__all__ = ["Machine"]

Array: TypeAlias = np.ndarray


@dataclass(frozen=True, eq=False)
class Machine:
    """Arcs by source and label, in one order only, whatever order they came in.

    Attributes
    ----------
    starts : int64 array of shape (n_states + 1,)
        The arcs that leave state q are those from ``starts[q]`` to ``starts[q + 1]``.
    target, input, output : int32 arrays of shape (n_arcs,)
        Where each arc leads, and the codes of its labels.
    weight : array of shape (n_arcs,)
        Weight of each arc: float64, or objects in a semiring that is not built in.
    initial, final : arrays of shape (n_states,)
        Weight of beginning and of ending in each state, the semiring's zero where that is not allowed.
    """

    starts: Array
    target: Array
    input: Array
    output: Array
    weight: Array
    initial: Array
    final: Array

    def __post_init__(self) -> None:
        for field in fields(self):
            getattr(self, field.name).flags.writeable = False

    @classmethod
    def of(
        cls,
        source: Array,
        target: Array,
        input: Array,
        output: Array,
        weight: Array,
        initial: Array,
        final: Array,
    ) -> Machine:
        """Sort arcs given in any order."""
        s, t, i, o = (np.ascontiguousarray(a, dtype=np.int32) for a in (source, target, input, output))
        objects = weight.dtype.kind == "O"
        w, first, last = (
            np.array(a, dtype=object if objects else np.float64) for a in (weight, initial, final)
        )
        numbers = np.arange(float(len(w))) if objects else w
        starts, t, i, o, numbers = _native.automata_sort(len(first), s, t, i, o, numbers)
        return cls(starts, t, i, o, w[numbers.astype(np.intp)] if objects else numbers, first, last)

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The seven arrays in order."""
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def n_states(self) -> int:
        return len(self.initial)

    @property
    def n_arcs(self) -> int:
        return len(self.target)

    @cached_property
    def source(self) -> Array:
        """State that each arc leaves."""
        return np.repeat(np.arange(self.n_states, dtype=np.int32), np.diff(self.starts))

    @property
    def columns(self) -> dict[str, Any]:
        """The arguments of :meth:`of`, for a machine that differs in some of them."""
        names = ("source", "target", "input", "output", "weight", "initial", "final")
        return {name: getattr(self, name) for name in names}
