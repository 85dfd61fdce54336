"""Weights of pairs of strings, without a machine for each pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _native
from ..domains import EncodedSequences, Sequences
from ..engine.threads import num_threads
from ..engine.tiles import checkpoint
from ..errors import InputError
from .sums import checked

if TYPE_CHECKING:
    from .transducer import Transducer

__all__ = ["all_pairs", "weight_of", "weights_between"]


def weight_of(T: Transducer, x: Any, y: Any) -> float:
    """T(x, y), or T(x) of an automaton."""
    if y is not None:
        return T.semiring.value(_weights(T, [x], [y], np.zeros(1, np.int64), np.zeros(1, np.int64))[0])
    if not T.is_automaton:
        raise InputError("T(x): a transducer with two tapes weighs pairs of strings: T(x, y). Got x alone.")
    reader = T.without_output()
    return weight_of(reader, x, ())


def weights_between(X: Any, T: Transducer, Y: Any = None, *, elementwise: bool = False) -> np.ndarray:
    r"""Weights of all pairs of strings: the matrix of :math:`T(x_i, y_j)`.

    Each is a sum over all paths, computed position by position, O(len(x) len(y) n_arcs), on several threads.

    Parameters
    ----------
    X, Y : sequences of strings, or EncodedSequences
        ``Y=None`` means ``Y = X``.
    T : Transducer
        Composed beforehand, if it is made of several.
    elementwise : bool, default=False
        Weigh only the pairs of equal position, and return a vector.

    Examples
    --------
    >>> from mercer.automata import ANY, EPSILON, Transducer, weights_between
    >>> loops = [(q, q, ANY, EPSILON, 1.0) for q in (0, 1)]
    >>> letters = Transducer([*loops, (0, 1, ANY, ANY, 1.0)], {0: 1.0}, {1: 1.0})
    >>> weights_between(["banana", "band"], letters, ["a", "n"])
    array([[3., 2.],
           [1., 1.]])
    """
    first = Sequences().validate(X, "X")
    second = first if Y is None else Sequences().validate(Y, "Y")
    rows, cols = all_pairs(len(first), len(second), elementwise)
    values = _weights(T, first, second, rows, cols)
    return values if elementwise else values.reshape(len(first), len(second))


def all_pairs(n: int, m: int, elementwise: bool) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of each value asked for."""
    if not elementwise:
        return np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
    if n != m:
        raise InputError(f"elementwise: X and Y must have equally many points. Got {n} and {m}.")
    return np.arange(n), np.arange(n)


def _weights(T: Transducer, X: Any, Y: Any, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    first, second = Sequences().validate(X, "x"), Sequences().validate(Y, "y")
    x = T.coding.encode(first, first, "x")
    y = x if second is first else T.coding.encode(second, first, "y")
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
