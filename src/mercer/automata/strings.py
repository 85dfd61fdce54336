"""Weights of pairs of strings, position by position, without a machine for each pair."""

from __future__ import annotations

import numpy as np

from .. import _native
from ..domains import EncodedSequences
from ..engine.runs import checkpoint
from ..engine.threads import num_threads
from ..errors import InputError
from . import generic
from .operations import Operations
from .sums import checked

__all__ = ["all_pairs", "weigh"]


def all_pairs(n: int, m: int, elementwise: bool) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of each value asked for."""
    if not elementwise:
        return np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
    if n != m:
        raise InputError(f"elementwise: X and Y must have equally many points. Got {n} and {m}.")
    return np.arange(n), np.arange(n)


def weigh(
    T: Operations, X: EncodedSequences, Y: EncodedSequences, rows: np.ndarray, cols: np.ndarray
) -> np.ndarray:
    """T(x, y) for each pair of a row, a string of X, and a column, a string of Y."""
    x = T.coding.encode(X, X, "X")
    y = x if Y is X else T.coding.encode(Y, X, "Y")
    if not T.semiring.native:
        return generic.string_weights(T.epsilon_free, T.coding.exclusions, T.semiring, x, y, rows, cols)
    out = np.empty(len(rows))
    checked(
        _native.automata_string_weights(
            T.epsilon_free.arrays,
            T.coding.exclusions,
            T.semiring.code,
            x,
            y,
            rows,
            cols,
            out,
            num_threads(),
            checkpoint,
        ),
        "T(x, y)",
    )
    return out
