"""Values of pairs of windows by a table of all words over a small alphabet.

A letter takes ``bits`` bits, so that the words at distance d from a window are the window XOR the masks with
d letters that are not 0.  The values of a row's windows are added up at their neighbours; a window of another
row then finds what it adds in one place.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations

import numpy as np

from mercer import _native

from ...engine.threads import num_threads
from .slices import slices
from .windows import Runs

__all__ = ["count_neighbours", "sum_over_neighbours", "table_bits"]


def table_bits(length: int, base: int) -> int | None:
    """Bits of a letter, if there is a table of all words of this length over ``base`` letters."""
    bits = max(1, (base - 1).bit_length())
    # Bits of a word: the table of one thread has 2 MiB at most, and stays in the cache.
    return bits if length * bits <= 18 else None


def count_neighbours(length: int, bits: int, distance: int) -> int:
    """Number of words within a distance of a word."""
    return sum(math.comb(length, d) * (2**bits - 1) ** d for d in range(distance + 1))


@lru_cache(maxsize=8)
def _masks(length: int, bits: int, distance: int) -> tuple[np.ndarray, np.ndarray]:
    """Masks of all words within a distance, and the distance of each."""
    masks, distances = [np.zeros(1, dtype=np.int32)], [np.zeros(1, dtype=np.intp)]
    letters = np.arange(1, 2**bits, dtype=np.int32)
    for d in range(1, distance + 1):
        for places in combinations(range(length), d):
            changed = np.zeros(1, dtype=np.int32)
            for place in places:
                changed = (changed[:, None] | letters << (bits * place)).ravel()
            masks.append(changed)
            distances.append(np.full(len(changed), d))
    return np.concatenate(masks), np.concatenate(distances)


def sum_over_neighbours(X: Runs, Y: Runs, symmetric: bool, bits: int, values: np.ndarray) -> np.ndarray:
    """Sums of ``values[s]`` over all pairs of windows that agree in s places."""
    length = len(values) - 1
    least = int(np.flatnonzero(values)[0])
    masks, distances = _masks(length, bits, length - least)
    ours = _keys(X, length, bits)
    theirs = ours if symmetric else _keys(Y, length, bits)
    K = np.zeros((len(X), len(Y)))
    weights = values[length - distances]
    for rows in slices(len(X)):
        _native.sum_over_neighbours(
            ours,
            theirs,
            symmetric,
            rows.start,
            rows.stop,
            masks,
            weights,
            1 << (length * bits),
            K,
            num_threads(),
        )
    return K


def _keys(runs: Runs, length: int, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Windows as numbers, and where those of each row begin."""
    starts = np.ascontiguousarray(runs.starts, dtype=np.int64)
    keys = np.empty(int(starts[-1]), dtype=np.int64)
    _native.window_keys(runs.native, np.arange(length), 1 << bits, keys)
    return keys.astype(np.int32), starts
