r"""Which points of a sample become landmarks: rules that need kernel values only, and so work on any objects.

===============  ==========================================================================================
``uniform``      every subset of the size asked for is equally likely
``kmeans++``     each next point with probability proportional to its squared distance in feature space from
                 the nearest landmark so far (Arthur and Vassilvitskii)
``leverage``     in proportion to approximate ridge leverage scores, by recursive halving (Musco and Musco)
===============  ==========================================================================================

The rule ``rpcholesky`` is :func:`~mercer.gram.pivoted.pivoted_cholesky`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import linalg

from ..engine.runs import tracked
from ..gram import Gram
from ..gram.spectrum import rounding_level

__all__ = ["RULES"]


def uniform(K: Gram, count: int, rng: np.random.RandomState) -> np.ndarray:
    """Positions of a sample without replacement."""
    return rng.permutation(len(K))[:count]


def kmeans_plus_plus(K: Gram, count: int, rng: np.random.RandomState) -> np.ndarray:
    """Positions far from each other; fewer where all points coincide with one of them.  O(n count) values."""
    diagonal = K.diagonal().astype(np.float64)
    nearest = np.ones(len(K))  # the first landmark is any point
    squared = np.full(len(K), np.inf)
    chosen: list[int] = []
    for _ in tracked(range(count), "landmarks", "point"):
        total = np.cumsum(nearest)
        if not total[-1] > 0:
            break
        i = int(np.searchsorted(total, rng.uniform() * total[-1], "right"))
        i = min(i, int(np.flatnonzero(nearest)[-1]))
        chosen.append(i)
        squared = np.minimum(squared, diagonal + diagonal[i] - 2 * K.block(i)[0])
        squared[i] = 0.0
        nearest = np.maximum(squared, 0.0)
    return np.array(chosen, dtype=np.intp)


def leverage(K: Gram, count: int, rng: np.random.RandomState) -> np.ndarray:
    r"""Positions in proportion to approximate ridge leverage scores.  O(n count) values, O(n count^2) time.

    The score of point i is the diagonal entry :math:`(K (K + \lambda I)^{-1})_{ii}`.  Those of a random half
    of the points are found first, in the same way; a weighted sample of them stands for K in those of all.
    """
    order = rng.permutation(len(K))
    sizes = [len(K)]
    while sizes[-1] > count:
        sizes.append((sizes[-1] + 1) // 2 if sizes[-1] > 1 else 1)
    sample, weight = order[: sizes[-1]], np.ones(sizes[-1])
    for size in sizes[-2::-1]:
        points = order[:size]
        scores = _scores(K, points, sample, weight, count)
        if size == len(K):
            return rng.choice(points, count, replace=False, p=scores / scores.sum())
        chance = np.minimum(1.0, scores * (count / scores.sum()))
        kept = rng.uniform(size=size) < chance
        sample, weight = points[kept], 1 / np.sqrt(chance[kept])
    return sample


def _scores(K: Gram, points: np.ndarray, sample: np.ndarray, weight: np.ndarray, count: int) -> np.ndarray:
    """Ridge leverage scores of points, with the weighted sample in place of all; all positive."""
    W = weight[:, None] * K.block(sample, sample).astype(np.float64) * weight
    # lambda: the mean of the eigenvalues beyond the first k, so that about 2 k directions count
    k = max(1, min(len(W) - 1, math.ceil(count / (4 * math.log(count + 1)))))
    values = linalg.eigvalsh(W)[::-1]
    floor = rounding_level(len(K), K._eps, float(values[0]) if len(values) else 0.0)
    penalty = max(float(values[k:].sum()) / k, floor, np.finfo(np.float64).tiny)
    factor = linalg.cholesky(W + (penalty + floor) * np.eye(len(W)), lower=True)
    diagonal = K.diagonal()[points].astype(np.float64)
    scores = np.empty(len(points))
    band = 4096  # rows of kernel values at a time
    for start in tracked(range(0, len(points), band), "leverage scores", "band"):
        rows = slice(start, start + band)
        half = linalg.solve_triangular(factor, weight[:, None] * K.block(sample, points[rows]), lower=True)
        scores[rows] = (diagonal[rows] - np.einsum("ij,ij->j", half, half)) / penalty
    return np.clip(scores, np.finfo(np.float64).eps, 1.0)


RULES: dict[str, Callable[[Gram, int, np.random.RandomState], np.ndarray]] = {
    "uniform": uniform,
    "kmeans++": kmeans_plus_plus,
    "leverage": leverage,
}
