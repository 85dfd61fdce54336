"""One against one: coefficients and votes of pairs of classes.

With c classes there are c (c - 1) / 2 functions, one for each pair i < j, positive for class i.  A point
takes part in c - 1 of them.  As in scikit-learn, its coefficients are a column of a table with a row for each
other class, in their order: a point of class i has its coefficient against class j > i in row j - 1, a point
of class j its coefficient against class i < j in row i.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import _ovr_decision_function

__all__ = ["class_scores", "class_slices", "closest_pair", "from_table", "pair_values", "to_table", "votes"]

Matrix = NDArray[np.float64]


def class_slices(sizes: NDArray[np.integer]) -> list[slice]:
    """Positions of the points of each class, of points sorted by class."""
    ends = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]


def to_table(betas: Sequence[NDArray[np.float64]], classes: Sequence[slice]) -> Matrix:
    """The table of the coefficients of all pairs, of points sorted by class."""
    count = len(classes)
    table = np.zeros((count - 1, classes[-1].stop))
    for beta, (i, j) in zip(betas, combinations(range(count), 2), strict=True):
        size = classes[i].stop - classes[i].start
        table[j - 1, classes[i]], table[i, classes[j]] = beta[:size], beta[size:]
    return table


def from_table(table: Matrix, classes: Sequence[slice]) -> list[NDArray[np.float64]]:
    """The coefficients of each pair."""
    return [
        np.concatenate([table[j - 1, classes[i]], table[i, classes[j]]])
        for i, j in combinations(range(len(classes)), 2)
    ]


def pair_values(values: Matrix, table: Matrix, classes: Sequence[slice]) -> Matrix:
    """Functions of all pairs, a column each, from kernel values with the points of the table."""
    parts = [values[:, members] @ table[:, members].T for members in classes]
    pairs = combinations(range(len(classes)), 2)
    return np.column_stack([parts[i][:, j - 1] + parts[j][:, i] for i, j in pairs])


def class_scores(values: Matrix, count: int) -> Matrix:
    """Votes for each class, plus the sum of its decision values scaled to less than half a vote."""
    return np.asarray(_ovr_decision_function(values < 0, -values, count))


def votes(values: Matrix, count: int) -> Matrix:
    """How many other classes each class beats."""
    scores = np.zeros((len(values), count))
    for t, (i, j) in enumerate(combinations(range(count), 2)):
        scores[:, i] += values[:, t] > 0
        scores[:, j] += values[:, t] <= 0
    return scores


def closest_pair(values: NDArray[np.float64], winner: int, count: int) -> tuple[int, int, float]:
    """The strongest rival of the winner, the number of their pair, and the sign that favours the winner."""
    rivals = [
        (values[t], j, t, 1.0) if winner == i else (-values[t], i, t, -1.0)
        for t, (i, j) in enumerate(combinations(range(count), 2))
        if winner in (i, j)
    ]
    _, rival, t, sign = min(rivals)
    return rival, t, sign
