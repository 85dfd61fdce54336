"""Tables over the alignments of one pair of series: for explanations, where the whole table is wanted.

A table has a cell for every pair of steps, and one row and column before them.  It is filled by
antidiagonals, whose cells do not depend on each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import groupby, pairwise

import numpy as np

from ...contributions import Contribution

__all__ = [
    "best_path",
    "best_table",
    "explained",
    "log_table",
    "passages",
    "shared_among",
    "squared_distances",
]

Path = list[tuple[int, int]]
Join = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def squared_distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Squared distances of all pairs of steps, summed over channels in order."""
    D = np.zeros((len(x), len(y)))
    for a, b in zip(x.T, y.T, strict=True):
        D += np.subtract.outer(a, b) ** 2
    return D


def best_table(S: np.ndarray) -> np.ndarray:
    """Largest sums of the entries of ``S`` along an alignment of the first steps."""
    return _accumulate(S, lambda before, up, left: np.maximum(np.maximum(up, left), before))


def log_table(S: np.ndarray) -> np.ndarray:
    """Logarithms of the sums over alignments of the first steps of products of ``exp(S)``."""
    return _accumulate(S, lambda before, up, left: np.logaddexp(np.logaddexp(up, left), before))


def _accumulate(S: np.ndarray, join: Join) -> np.ndarray:
    n, m = S.shape
    T = np.full((n + 1, m + 1), -np.inf)
    T[0, 0] = 0.0
    for total in range(2, n + m + 1):
        i = np.arange(max(1, total - m), min(n, total - 1) + 1)
        j = total - i
        T[i, j] = S[i - 1, j - 1] + join(T[i - 1, j - 1], T[i - 1, j], T[i, j - 1])
    return T


def best_path(T: np.ndarray) -> Path:
    """Pairs of steps on the way to the last cell of a :func:`best_table`; both move on where they may."""
    i, j = T.shape[0] - 1, T.shape[1] - 1
    path = []
    while i > 0 and j > 0:
        path.append((i - 1, j - 1))
        before = {(i - 1, j - 1): T[i - 1, j - 1], (i - 1, j): T[i - 1, j], (i, j - 1): T[i, j - 1]}
        i, j = max(before, key=lambda cell: before[cell])  # the first of the largest
    return path[::-1]


def passages(S: np.ndarray) -> np.ndarray:
    """How much of the sum over alignments goes through each pair of steps; the entries add up to 1.

    An alignment, taken with the probability of its share of the sum, enters each step of x at one step of y,
    and each step of y at one step of x.  The entry (i, j) is the mean of the probabilities that it enters i
    at j, divided by the number of steps of x, and that it enters j at i, divided by that of y.
    """
    n, m = S.shape
    T = log_table(S)
    rest = log_table(S[::-1, ::-1])[:0:-1, :0:-1] - T[n, m]  # from a cell to the end, the cell included
    into_row = np.exp(np.logaddexp(T[:-1, :-1], T[:-1, 1:]) + rest)
    into_column = np.exp(np.logaddexp(T[:-1, :-1], T[1:, :-1]) + rest)
    return np.asarray(into_row / (2 * n) + into_column / (2 * m))


def explained(value: float, S: np.ndarray) -> Iterator[Contribution]:
    """Share out a function of the sum over alignments of products of ``exp(S)``: see :func:`passages`."""
    through = value * passages(S)
    path = best_path(best_table(S))
    on_path = list(shared_among(path, through))
    yield from on_path
    yield Contribution("other alignments", value - math.fsum(c.weight for c in on_path))


def shared_among(path: Path, weights: np.ndarray) -> Iterator[Contribution]:
    """One contribution for each stretch of a path on which x waits, y waits or both move on."""
    for stretch in _stretches(path):
        (i, j), (last_i, last_j) = stretch[0], stretch[-1]
        x_place, y_place = (i, last_i + 1), (j, last_j + 1)
        rows, columns = map(list, zip(*stretch, strict=True))
        yield Contribution(
            f"x[{i}:{last_i + 1}] with y[{j}:{last_j + 1}]",
            float(weights[rows, columns].sum()),
            (x_place,),
            (y_place,),
        )


def _stretches(path: Path) -> Iterator[Path]:
    """Cut a path where its direction changes."""
    moves = [(c - a, d - b) for (a, b), (c, d) in pairwise(path)]
    moves = [*moves[:1], *moves] or [(1, 1)]  # the first pair goes with the second
    for _, group in groupby(zip(moves, path, strict=True), key=lambda step: step[0]):
        yield [cell for _, cell in group]
