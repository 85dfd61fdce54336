"""Where the search for clusters starts: labels around points that are drawn or given."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.runs import checkpoint
from ..matrix import Matrix
from .geometry import Index, Vector, squared_distances

__all__ = ["around", "seed"]


def seed(matrix: Matrix, n_clusters: int, weight: Vector, random: Any) -> Index:
    """Labels from k-means++ seeding: each centre is drawn with chance proportional to what it can save.

    Of a few candidates (2 + log k) the one that saves most is taken.  Points drawn by weight: a point of
    weight 2 is drawn like two copies of it.
    """
    trials = 2 + int(np.log(n_clusters))
    first = _draw(weight, random.uniform(size=1))
    centres = [int(first[0])]
    away = squared_distances(matrix, first)
    closest = away[:, 0]
    while len(centres) < n_clusters:
        checkpoint()
        chance = weight * closest
        chance[centres] = 0.0
        if not chance.sum() > 0:  # fewer different points than clusters: any other point will do
            chance = weight.copy()
            chance[centres] = 0.0
        candidates = _draw(chance, random.uniform(size=trials))
        distances = squared_distances(matrix, candidates)
        best = int((weight @ np.minimum(distances, closest[:, None])).argmin())
        centres.append(int(candidates[best]))
        away = np.column_stack([away, distances[:, best]])
        closest = away.min(axis=1)
    return around(matrix, np.array(centres), away)


def around(matrix: Matrix, centres: Index, distances: Vector | None = None) -> Index:
    """Labels of the nearest of some points; each of these has its own."""
    if distances is None:
        distances = squared_distances(matrix, centres)
    labels = distances.argmin(axis=1)
    labels[centres] = np.arange(len(centres))
    return np.asarray(labels, dtype=np.intp)


def _draw(chance: Vector, uniform: Vector) -> Index:
    """Positions drawn with given chances, by numbers that are uniform in [0, 1)."""
    ends = np.cumsum(chance)
    drawn = np.searchsorted(ends, uniform * ends[-1], side="right")
    return np.asarray(np.minimum(drawn, np.flatnonzero(chance)[-1]), dtype=np.intp)
