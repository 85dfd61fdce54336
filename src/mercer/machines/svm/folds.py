"""Folds for decision values of points that the model has not seen."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ...domains import Data, Domain, items, take
from ...errors import DigestError, InputError

__all__ = ["FOLDS", "Fold", "distinct_points", "make_folds"]

#: Number of folds.
FOLDS = 5

Index = NDArray[np.intp]


class Fold(NamedTuple):
    """Points left out, and the rest, to which a model is fitted."""

    left_out: Index
    rest: Index


def distinct_points(domain: Domain, points: Data, n: int) -> Index:
    """A number for each point, the same for copies; it does not depend on the order of the rows.

    Numbers follow the order of the values, coordinate by coordinate, so that another unit changes no fold:
    digests would deal anew.  Points that are no arrays of numbers (strings, graphs) have no unit; they follow
    their digests.  Points without a canonical form (rows of a precomputed matrix, instances of classes) all
    differ.
    """
    try:
        names = domain._digests(points)
    except DigestError:
        return np.arange(n)
    _, first, number = np.unique(names, return_index=True, return_inverse=True)
    keys: list[Any] = list(range(len(first)))
    own = take(points, first)
    if scipy.sparse.issparse(own):
        rows = own.tocsr().sorted_indices()
        ends = [slice(a, b) for a, b in itertools.pairwise(rows.indptr)]
        keys = [(rows.indices[end].tolist(), rows.data[end].tolist()) for end in ends]
    elif all(isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "fiub" for x in items(own)):
        keys = [(x.shape, x.ravel().tolist()) for x in items(own)]
    order = sorted(range(len(first)), key=keys.__getitem__)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return rank[number]


def make_folds(
    codes: Index, points: Index, groups: NDArray[Any] | None, random: np.random.RandomState
) -> list[Fold]:
    """Divide the points into folds, each with its share of every class.

    Points with equal numbers in ``points``, or in one of the ``groups``, stay together.  A class of fewer
    points than folds has each of them left out once.  The rest of every fold has all classes: points that
    are a class alone are never left out.

    Parameters
    ----------
    codes : array of shape (n,)
        Classes, 0, 1, ...
    points : array of shape (n,)
        From :func:`distinct_points`.
    groups : array of shape (n,), optional
    random : RandomState
    """
    unit = points if groups is None else np.unique(groups, return_inverse=True)[1]
    # how many different points of each class every unit has; copies count once
    different, count = np.unique(np.column_stack([unit, codes, points]), axis=0), codes.max() + 1
    counts = np.zeros((unit.max() + 1, count))
    np.add.at(counts, (different[:, 0], different[:, 1]), 1.0)
    fold = _deal(counts, random)[unit]
    for f in range(FOLDS):
        missing = np.setdiff1d(np.arange(count), codes[fold != f])
        kept = np.unique(unit[(fold == f) & np.isin(codes, missing)])
        fold[np.isin(unit, kept)] = -1
    folds = [Fold(np.flatnonzero(fold == f), np.flatnonzero(fold != f)) for f in range(FOLDS)]
    folds = [f for f in folds if len(f.left_out)]
    if not folds:
        what = "two different points" if groups is None else "points of two groups"
        raise InputError(
            f"probability=True needs points to leave out: some class must have {what}. "
            "Fit with probability=False."
        )
    return folds


def _deal(counts: NDArray[np.float64], random: np.random.RandomState) -> Index:
    """The fold of each unit: large ones first, class by class, to where these classes are rarest so far."""
    order = random.permutation(len(counts))
    order = order[np.lexsort((counts[order].argmax(axis=1), -counts[order].sum(axis=1)))]
    shares = counts / counts.sum(axis=0)
    load, size = np.zeros((FOLDS, counts.shape[1])), np.zeros(FOLDS)
    fold = np.empty(len(counts), dtype=np.intp)
    for u in order:
        # The sum of squares of all shares grows by twice this, and by the same for every fold.
        growth = load @ shares[u]
        best = np.flatnonzero(growth == growth.min())
        fold[u] = best[size[best].argmin()]
        load[fold[u]] += shares[u]
        size[fold[u]] += counts[u].sum()
    return fold
