"""Tree walks of small graphs one by one, with fractions: nothing here knows of matchings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import permutations, product
from typing import Any

from mercer.domains import Graph

from .walks_by_hand import same

__all__ = ["enumerated", "tree_walks"]

#: A node, and its children in order: the arc that leads to each, and what follows from there.
Tree = tuple[int, tuple[tuple[int, "Tree"], ...]]


def tree_walks(g: Graph, depth: int, arity: int) -> Iterator[Tree]:
    """Every tree walk with its children in every order."""
    for u in range(g.n):
        yield from _from(g, u, depth, arity)


def _from(g: Graph, u: int, depth: int, arity: int) -> Iterator[Tree]:
    leaving = [a for a in range(len(g.sources)) if g.sources[a] == u] if depth > 1 else []
    for count in range(min(arity, len(leaving)) + 1):
        for arcs in permutations(leaving, count):
            below = [list(_from(g, int(g.targets[a]), depth - 1, arity)) for a in arcs]
            for subtrees in product(*below):
                yield u, tuple(zip(arcs, subtrees, strict=True))


def enumerated(
    x: Graph,
    y: Graph,
    depth: int,
    arity: int,
    decay: Fraction,
    node: Callable[[Any, Any], Fraction] = same,
    edge: Callable[[Any, Any], Fraction] = same,
) -> Fraction:
    """Sum over all pairs of ordered tree walks of equal shape; orders of children that agree count once."""

    def similar(s: Tree, t: Tree) -> Fraction:
        (u, ours), (v, theirs) = s, t
        if len(ours) != len(theirs):
            return Fraction(0)
        value = node(x.labels[u], y.labels[v]) / math.factorial(len(ours))
        for (a, below), (b, under) in zip(ours, theirs, strict=True):
            weight = decay * Fraction(x.weights[a]) * Fraction(y.weights[b])
            value *= (
                weight * edge(x.edge_labels[a], y.edge_labels[b]) * (similar(below, under) if value else 0)
            )
        return value

    trees = list(tree_walks(y, depth, arity))
    return sum((similar(s, t) for s in tree_walks(x, depth, arity) for t in trees), Fraction(0))
