"""Walks of small graphs one by one, with fractions: nothing here knows of linear algebra in floats."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

from mercer.domains import Graph

__all__ = ["enumerated", "probability", "solved", "walks"]

Walk = tuple[int, ...]


def walks(g: Graph, steps: int) -> Iterator[tuple[Walk, Walk]]:
    """Nodes and arcs of every walk with so many steps."""
    arcs = list(zip(g.sources.tolist(), g.targets.tolist(), strict=True))
    found: list[tuple[Walk, Walk]] = [((u,), ()) for u in range(g.n)]
    for _ in range(steps):
        found = [
            ((*nodes, v), (*taken, a))
            for nodes, taken in found
            for a, (u, v) in enumerate(arcs)
            if u == nodes[-1]
        ]
    yield from found


def same(a: Any, b: Any) -> Fraction:
    return Fraction(int(a == b))


def enumerated(
    x: Graph,
    y: Graph,
    weights: list[Fraction],
    node: Callable[[Any, Any], Fraction] = same,
    edge: Callable[[Any, Any], Fraction] = same,
) -> Fraction:
    """Sum over all pairs of walks, ``weights[l]`` for those of l steps."""
    sums = (weight * pairs_of_walks(x, y, steps, node, edge) for steps, weight in enumerate(weights))
    return sum(sums, Fraction(0))


@cache
def pairs_of_walks(
    x: Graph,
    y: Graph,
    steps: int,
    node: Callable[[Any, Any], Fraction],
    edge: Callable[[Any, Any], Fraction],
) -> Fraction:
    """Sum over all pairs of walks with so many steps."""
    total = Fraction(0)
    for (nodes, edges), a in read(x, steps).items():
        for (others, along), b in read(y, steps).items():
            term = a * b
            for u, v in zip(nodes, others, strict=True):
                term *= node(u, v)
            for e, f in zip(edges, along, strict=True):
                term *= edge(e, f)
            total += term
    return total


@cache
def read(g: Graph, steps: int) -> dict[tuple[Any, Any], Fraction]:
    """Weights of all walks with so many steps, by the labels of their nodes and edges."""
    found: dict[tuple[Any, Any], Fraction] = {}
    for nodes, arcs in walks(g, steps):
        key = tuple(g.labels[u] for u in nodes), tuple(g.edge_labels[a] for a in arcs)
        found[key] = found.get(key, Fraction(0)) + math.prod(Fraction(g.weights[a]) for a in arcs)
    return found


def solved(
    x: Graph,
    y: Graph,
    decay: Fraction,
    node: Callable[[Any, Any], Fraction] = same,
    edge: Callable[[Any, Any], Fraction] = same,
) -> Fraction:
    """``1' (I - decay W)^-1 1`` on the pairs of nodes, by elimination: the whole geometric series."""
    pairs = [(u, v) for u in range(x.n) for v in range(y.n)]
    number = {pair: p for p, pair in enumerate(pairs)}
    n = len(pairs)
    similar = [node(x.labels[u], y.labels[v]) for u, v in pairs]
    M = [[Fraction(int(i == j)) for j in range(n)] + [similar[i]] for i in range(n)]
    for a, (u, s) in enumerate(zip(x.sources.tolist(), x.targets.tolist(), strict=True)):
        for b, (v, t) in enumerate(zip(y.sources.tolist(), y.targets.tolist(), strict=True)):
            p, q = number[u, v], number[s, t]
            step = Fraction(x.weights[a]) * Fraction(y.weights[b]) * edge(x.edge_labels[a], y.edge_labels[b])
            M[p][q] -= decay * similar[p] * step
    for k in range(n):
        pivot = next(i for i in range(k, n) if M[i][k] != 0)
        M[k], M[pivot] = M[pivot], M[k]
        M[k] = [value / M[k][k] for value in M[k]]
        for i in range(n):
            if i != k and M[i][k] != 0:
                M[i] = [a - M[i][k] * b for a, b in zip(M[i], M[k], strict=True)]
    return sum((row[n] for row in M), Fraction(0))


def probability(
    x: Graph, y: Graph, stop: Fraction, steps: int, tottering: bool = True, labels: Any = None
) -> Fraction:
    """Probability that walks of up to so many steps on both graphs stop having read the same labels."""
    labels = labels or (x.labels, y.labels)
    read: list[dict[Any, Fraction]] = []
    for g, own in zip((x, y), labels, strict=True):
        chances: dict[Any, Fraction] = {}
        for length in range(steps + 1):
            for nodes, arcs in walks(g, length):
                p = _chance(g, nodes, arcs, stop, tottering)
                if p:
                    key = tuple(own[u] for u in nodes), tuple(g.edge_labels[a] for a in arcs)
                    chances[key] = chances.get(key, Fraction(0)) + p
        read.append(chances)
    return sum((p * read[1].get(key, Fraction(0)) for key, p in read[0].items()), Fraction(0))


def _chance(g: Graph, nodes: Walk, arcs: Walk, stop: Fraction, tottering: bool) -> Fraction:
    """Probability of one walk: where it starts, each of its steps, and that it stops."""
    p = Fraction(1, g.n)
    for i, u in enumerate(nodes):
        allowed = {
            a: Fraction(g.weights[a])
            for a in range(len(g.sources))
            if g.sources[a] == u and (tottering or i == 0 or g.targets[a] != nodes[i - 1])
        }
        if i == len(arcs):
            return p * (stop if allowed else 1)
        if arcs[i] not in allowed:
            return Fraction(0)
        p *= (1 - stop) * allowed[arcs[i]] / sum(allowed.values())
    raise AssertionError("a walk has one node more than arcs")
