"""The fragments of trees, one by one, in exact arithmetic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from mercer.domains import Tree

Features = dict[Any, Any]


def nested(tree: Tree, v: int = 0) -> tuple[Any, ...]:
    """A tree as nested tuples, leaves among them."""
    return (tree.labels[v], *(nested(tree, c) for c in tree.children[v]))


def nodes(t: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield t
    for child in t[1:]:
        yield from nodes(child)


def inner(t: tuple[Any, ...]) -> int:
    return sum(len(node) > 1 for node in nodes(t))


def subset_fragments(t: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Fragments that begin at the root and expand it: of every node all children, or none."""
    options = [[(child[0],), *(subset_fragments(child) if len(child) > 1 else ())] for child in t[1:]]
    for chosen in product(*options):
        yield (t[0], *chosen)


def partial_fragments(t: tuple[Any, ...], gap: Fraction) -> Iterator[tuple[tuple[Any, ...], Fraction]]:
    """Fragments that begin at the root, with lambda to the lengths of the stretches: one for each place."""
    yield (t[0],), gap
    places = range(1, len(t))
    for r in places:
        for chosen in combinations(places, r):
            span = gap ** (chosen[-1] - chosen[0] + 1)
            for below in product(*(list(partial_fragments(t[i], gap)) for i in chosen)):
                weight = span
                for _, part in below:
                    weight *= part
                yield (t[0], *(fragment for fragment, _ in below)), weight


def subtree_value(x: Tree, y: Tree, decay: Fraction, leaves: bool) -> Fraction:
    def features(tree: Tree) -> Counter[Any]:
        return Counter(t for t in nodes(nested(tree)) if leaves or len(t) > 1)

    a, b = features(x), features(y)
    return sum((decay ** max(inner(t), 1) * a[t] * b[t] for t in a), Fraction(0))


def subset_value(x: Tree, y: Tree, decay: Fraction, leaves: bool) -> Fraction:
    def features(tree: Tree) -> Counter[Any]:
        found: Counter[Any] = Counter()
        for t in nodes(nested(tree)):
            if len(t) > 1:
                found.update(subset_fragments(t))
            elif leaves:
                found[t] += 1
        return found

    a, b = features(x), features(y)
    return sum((decay ** max(inner(f), 1) * a[f] * b[f] for f in a), Fraction(0))


def partial_value(x: Tree, y: Tree, decay: Fraction, gap: Fraction, leaves: bool) -> Fraction:
    def features(tree: Tree) -> Counter[Any]:
        found: Counter[Any] = Counter()
        for t in nodes(nested(tree)):
            if leaves or len(t) > 1:
                for fragment, weight in partial_fragments(t, gap):
                    found[fragment] += weight
        return found

    a, b = features(x), features(y)
    return sum((decay ** len(list(nodes(f))) * a[f] * b[f] for f in a), Fraction(0))
