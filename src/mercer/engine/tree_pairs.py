"""Sums over the pairs of matching nodes of two trees, in native code."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from mercer import _native
from mercer.engine.runs import checkpoint
from mercer.engine.threads import num_threads
from mercer.errors import MemoryLimitError
from mercer.memory import memory_limit

__all__ = ["Forest", "tree_pairs"]

#: The distinct subtrees of each tree, children first, tree by tree: ``starts`` of the trees (int64); ``keys``
#: that say which nodes match, negative for those that match none (int32); ``order``, the places within the
#: tree by key (int32); ``counts`` (float64); ``child_starts`` (int64) and ``children``, places within the
#: tree (int32).
Forest: TypeAlias = tuple[np.ndarray, ...]

#: Bytes that a thread needs for a pair of matching nodes, in wide numbers.
PAIR_BYTES = 24


def tree_pairs(
    X: Forest, Y: Forest, rows: np.ndarray, cols: np.ndarray, decay: float, gap_decay: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Sums over all fragments that trees share, as ``m * 2 ** e``.

    Parameters
    ----------
    X, Y : Forest
        With keys that can be compared.
    rows, cols : int64 arrays
        Which tree of X is compared with which one of Y.
    decay : float
        Factor of every node of a fragment that has children.
    gap_decay : float, optional
        Fragments are partial trees, and this is the factor of every child of a stretch; else a fragment has
        all children of a node or none.

    Returns
    -------
    m, e : ndarrays of shape (len(rows),)
    """
    sums, exponents = np.empty(len(rows)), np.empty(len(rows))
    gap = 0.0 if gap_decay is None else gap_decay
    most = memory_limit() // (PAIR_BYTES * num_threads())
    try:
        _native.tree_pairs(
            X,
            Y,
            rows,
            cols,
            gap_decay is not None,
            decay,
            gap,
            most,
            sums,
            exponents,
            num_threads(),
            checkpoint,
        )
    except MemoryError as error:
        raise MemoryLimitError(
            f"two trees have more than {most:,} pairs of nodes that match. Compare smaller trees. "
            "MERCER_MEMORY (such as '8GiB') sets another limit."
        ) from error
    return sums, exponents
