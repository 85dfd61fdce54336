"""The strings that a transducer writes, listed: explicit features of rational kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .. import _native
from ..domains import EncodedSequences, Vocabulary
from ..engine.runs import checkpoint
from ..engine.threads import num_threads
from .machine import Machine
from .semirings import REAL
from .sums import is_acyclic
from .transducer import Transducer

__all__ = ["Outputs", "list_outputs", "listable"]


@dataclass(frozen=True, eq=False)
class Outputs:
    """What a transducer writes for each of many strings.

    Attributes
    ----------
    entries : (int64 array of shape (n_strings + 1,), int32 array, float64 array)
        Where each string begins, numbers of its outputs z in ascending order, weights T(x, z).
    parents, symbols : int32 arrays
        Output 0 is the empty string; output i + 1 is ``parents[i]`` followed by ``symbols[i]``.
    alphabet : tuple
        The symbol of each number from 1 on.
    steps : int
        Steps that the listing has taken, each of which takes one path along an arc.
    """

    entries: tuple[np.ndarray, np.ndarray, np.ndarray]
    parents: np.ndarray
    symbols: np.ndarray
    alphabet: tuple[Any, ...]
    steps: int

    @property
    def count(self) -> int:
        """Number of outputs of all strings together."""
        return len(self.entries[1])

    @cached_property
    def strings(self) -> Vocabulary:
        """The outputs by number, tuples of symbols."""
        found: list[tuple[Any, ...]] = [()]
        for parent, symbol in zip(self.parents.tolist(), self.symbols.tolist(), strict=True):
            found.append((*found[parent], self.alphabet[symbol - 1]))
        return Vocabulary(found)

    def inner_products(self, rows: np.ndarray, other: Outputs, cols: np.ndarray) -> np.ndarray:
        """Sums over z of T(x, z) T(y, z) for strings x of these and y of the other ones."""
        width = len(self.parents) + 1
        if other is self:
            table = np.arange(width, dtype=np.int32)
        else:
            table = self.strings.columns_of(other.strings).astype(np.int32)
        out = np.empty((len(rows), len(cols)))
        # Fewer pairs than these are not worth waking up threads for.
        threads = num_threads() if len(rows) * len(cols) >= 1024 else 1
        _native.outputs_inner_products(
            self.entries, rows, other.entries, cols, table, width, out, threads, checkpoint
        )
        return out

    def squared_norms(self, rows: np.ndarray) -> np.ndarray:
        """Sums over z of T(x, z) squared."""
        starts, _, weights = self.entries
        squares = weights * weights
        string_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        sums = np.bincount(string_of, squares, minlength=len(starts) - 1)
        return np.asarray(sums[rows], dtype=np.float64)  # sums of no numbers at all are integers


def listable(T: Transducer) -> str | None:
    """Why the outputs of a transducer cannot be listed string by string, or None if they can.

    The transducer must have no arcs with epsilon on both tapes, as ``T.remove_epsilons().trim()`` has.
    """
    m = T.machine
    if ((m.output < 0) & (m.input != m.output)).any():
        return "an arc writes any symbol of a class, so that there are infinitely many outputs"
    silent = m.input == 0
    ones = np.ones(T.n_states)
    arcs = {name: column[silent] for name, column in m.columns.items() if name not in ("initial", "final")}
    if not is_acyclic(Machine.of(**arcs, initial=ones, final=ones), REAL):
        return "a cycle of arcs that read nothing writes, so that there are infinitely many outputs"
    return None


def list_outputs(T: Transducer, X: EncodedSequences, limit: int = 2**62) -> Outputs | None:
    """List the outputs of many strings, or give up (None) after ``limit`` steps on one of them.

    The transducer, of real weights, must be :func:`listable` and have no arcs with epsilon on both tapes.
    """
    codes, starts = T.coding.encode(X, X, "X")
    reader = _native.Outputs(T.machine.arrays, T.coding.exclusions)
    found = reader.read(codes, starts, limit, checkpoint)
    if found is None:
        return None
    parents, symbols = reader.tree()
    # As Coding.encode numbers them: first the symbols of T, then the others in the order of the data.
    alphabet = Vocabulary([*T.coding.symbols.elements, *X.alphabet.elements]).elements
    return Outputs(found, parents, symbols, alphabet, reader.steps)
