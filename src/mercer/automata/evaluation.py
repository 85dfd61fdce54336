"""The weight of what stands between two strings, or two automata."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..domains import Sequences
from ..errors import ParameterError
from .literals import string
from .operations import n_way
from .strings import all_pairs, weigh
from .transducer import Transducer

__all__ = ["weight_between", "weights_between"]


def weight_between(x: Any, *transducers_and_y: Any) -> Any:
    """Total weight of X o T1 o T2 o ... o Y: ``weight_between(x, T1, T2, ..., y)``.

    Of two strings x and y it is the weight that the composition of the transducers gives them.  Either may be
    an automaton instead, which stands for all its strings with their weights.  For many pairs of strings,
    compose once and use :func:`weights_between`.

    Examples
    --------
    >>> double = Transducer([(0, 0, "a", "a", 2.0)], {0: 1.0}, {0: 1.0})
    >>> weight_between("aa", double, double, "aa")
    16.0
    """
    transducers: list[Transducer] = list(transducers_and_y[:-1])
    if not transducers or not all(isinstance(T, Transducer) for T in transducers):
        raise ParameterError(
            "weight_between: pass x, at least one transducer, and y, in this order: weight_between(x, T, y)."
        )
    y = transducers_and_y[-1]
    if not isinstance(x, Transducer) and not isinstance(y, Transducer):
        return n_way(*transducers)(x, y)
    ring = transducers[0].semiring
    ends = [
        end if isinstance(end, Transducer) else string(Sequences().point(end, name), semiring=ring)
        for end, name in ((x, "x"), (y, "y"))
    ]
    return n_way(ends[0], *transducers, ends[1]).total_weight()


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
    values = weigh(T, first, second, rows, cols)
    return values if elementwise else values.reshape(len(first), len(second))
