"""Cases of the kernels on trees, against plain dynamic programs in Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from mercer.domains import Tree
from mercer.kernels import PartialTree, SubsetTree
from mercer.trees import read_kelp

from .harness import Case, Skipped

COUNT, DECAY, GAP = 500, 0.4, 0.4


def trees(count: int) -> list[Tree]:
    path = Path(os.environ.get("MERCER_DATA", "")) / "trees" / "trec_train.klp.gz"
    if not path.is_file():
        raise Skipped("no TREC questions: set MERCER_DATA to the folder that has trees/trec_train.klp.gz")
    return read_kelp(path).trees["grct"][:count]


# -- plain Python ---------------------------------------------------------------------------------
def nodes(tree: Tree) -> list[tuple[Any, list[int], list[Any]]]:
    """Label, children and labels of the children of each node."""
    below = tree.children
    return [(tree.labels[v], below[v], [tree.labels[c] for c in below[v]]) for v in range(len(tree))]


def subset_pair(x: list[Any], y: list[Any]) -> float:
    """All pairs of nodes, children first."""
    delta: dict[tuple[int, int], float] = {}
    for u in range(len(x) - 1, -1, -1):
        label, below, labels = x[u]
        if not below:
            continue
        for v in range(len(y) - 1, -1, -1):
            other, others, other_labels = y[v]
            if label == other and labels == other_labels:
                product = DECAY
                for a, b in zip(below, others, strict=True):
                    product *= 1 + delta.get((a, b), 0.0)
                delta[u, v] = product
    return sum(delta.values())


def partial_pair(x: list[Any], y: list[Any]) -> float:
    delta: dict[tuple[int, int], float] = {}
    total = 0.0
    for u in range(len(x) - 1, -1, -1):
        label, below, _ = x[u]
        for v in range(len(y) - 1, -1, -1):
            other, others, _ = y[v]
            if label != other:
                continue
            found = GAP * GAP
            spread = [0.0] * (len(others) + 1)
            for a in below:
                along, row = 0.0, [0.0]
                for j, b in enumerate(others):
                    ends = GAP * GAP * delta.get((a, b), 0.0) * (1 + spread[j])
                    found += ends
                    along = GAP * along + ends
                    row.append(GAP * spread[j + 1] + along)
                spread = row
            delta[u, v] = DECAY * found
            if below and others:
                total += DECAY * found
    return total


def python_block(X: list[Tree], pair: Any) -> np.ndarray:
    points = [nodes(tree) for tree in X]
    K = np.empty((len(X), len(X)))
    for i, x in enumerate(points):
        for j, y in enumerate(points[: i + 1]):
            K[i, j] = K[j, i] = pair(x, y)
    return K


def same(ours: Any, peer: Any) -> bool:
    return bool(np.allclose(ours, peer, rtol=1e-9, atol=0))


CASES = [
    Case(
        "subset-tree",
        f"SubsetTree({DECAY}), Gram matrix of {COUNT} trees of TREC questions",
        "dynamic program in Python",
        lambda: trees(COUNT),
        lambda X: SubsetTree(DECAY).block(X),
        lambda X: python_block(X, subset_pair),
        same,
        repeats=1,
        target=50.0,
        warm=False,
    ),
    Case(
        "partial-tree",
        f"PartialTree({DECAY}, {GAP}), the same",
        "dynamic program in Python",
        lambda: trees(COUNT),
        lambda X: PartialTree(DECAY, GAP).block(X),
        lambda X: python_block(X, partial_pair),
        same,
        repeats=1,
        warm=False,
    ),
]
