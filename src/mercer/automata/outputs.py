"""The strings that a transducer writes, listed: explicit features of rational kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from .. import _native
from ..domains import EncodedSequences, Vocabulary
from ..engine.tiles import checkpoint
from .transducer import Transducer

__all__ = ["Outputs", "list_outputs", "listable"]

#: Steps without an end to them.
UNLIMITED = 2**62


@dataclass(frozen=True, eq=False)
class Outputs:
    """What a transducer writes for each of many strings.

    Attributes
    ----------
    weights : CSR array of shape (n_strings, n_nodes)
        T(x, z) for string x and output z; column i is node i of the tree.
    parents, symbols : int32 arrays of shape (n_nodes - 1,)
        Node 0 is the empty string; node i + 1 is that of ``parents[i]`` followed by ``symbols[i]``.
    alphabet : tuple
        The symbol of each number from 1 on.
    steps : int
        Steps that the listing has taken, each of which takes one path along an arc.
    """

    weights: scipy.sparse.csr_array
    parents: np.ndarray
    symbols: np.ndarray
    alphabet: tuple[Any, ...]
    steps: int

    @cached_property
    def strings(self) -> Vocabulary:
        """The output of each node, a tuple of symbols."""
        found: list[tuple[Any, ...]] = [()]
        for parent, symbol in zip(self.parents.tolist(), self.symbols.tolist(), strict=True):
            found.append((*found[parent], self.alphabet[symbol - 1]))
        return Vocabulary(found)


def listable(T: Transducer) -> str | None:
    """Why the outputs of a transducer cannot be listed string by string, or None if they can.

    The transducer must have no arcs with epsilon on both tapes, as ``T.remove_epsilons().trim()`` has.
    """
    m = T.machine
    if ((m.output < 0) & (m.input != m.output)).any():
        return "an arc writes any symbol of a class, so that there are infinitely many outputs"
    silent = m.input == 0
    if _has_cycle(T.n_states, m.source[silent], m.target[silent]):
        return "a cycle of arcs that read nothing writes, so that there are infinitely many outputs"
    return None


def list_outputs(T: Transducer, X: EncodedSequences, limit: int = UNLIMITED) -> Outputs | None:
    """List the outputs of many strings, or give up (None) after ``limit`` steps on one of them.

    The transducer, of real weights, must be :func:`listable` and have no arcs with epsilon on both tapes.
    """
    codes, starts = T.coding.encode(X, X, "X")
    reader = _native.Outputs(T.machine.arrays, T.coding.exclusions)
    found = reader.read(codes, starts, limit, checkpoint)
    if found is None:
        return None
    ends, nodes, weights = found
    parents, symbols = reader.tree()
    matrix = scipy.sparse.csr_array((weights, nodes, ends), shape=(len(X), len(parents) + 1))
    # As Coding.encode numbers them: first the symbols of T, then the others in the order of the data.
    alphabet = Vocabulary([*T.coding.symbols.elements, *X.alphabet.elements]).elements
    return Outputs(matrix, parents, symbols, alphabet, reader.steps)


def _has_cycle(n: int, source: np.ndarray, target: np.ndarray) -> bool:
    graph = scipy.sparse.csr_array((np.ones(len(source)), (source, target)), shape=(n, n))
    if graph.diagonal().any():
        return True
    count, _ = scipy.sparse.csgraph.connected_components(graph, directed=True, connection="strong")
    return bool(count < n)
