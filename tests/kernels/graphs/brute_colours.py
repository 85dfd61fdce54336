"""Weisfeiler-Lehman colours by their definition, as nested tuples."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

from mercer.domains import Graph


@cache
def colours(g: Graph, h: int, edge_labels: bool = True) -> list[list[Any]]:
    """Colours of all nodes in the iterations 0, ..., h: trees that can be compared across graphs."""
    labels = [("label", repr(float(x)) if isinstance(x, int | float) else repr(x)) for x in g.labels]
    levels: list[list[Any]] = [labels]
    tags = [repr(tag) if edge_labels else "" for tag in g.edge_labels]
    for _ in range(h):
        last = levels[-1]
        out: list[list[Any]] = [[] for _ in range(g.n)]
        into: list[list[Any]] = [[] for _ in range(g.n)]
        for u, v, tag in zip(g.sources.tolist(), g.targets.tolist(), tags, strict=True):
            out[u].append((tag, last[v]))
            into[v].append((tag, last[u]))
        levels.append(
            [
                ("node", last[v], tuple(sorted(out[v], key=repr)))
                if sorted(out[v], key=repr) == sorted(into[v], key=repr)
                else ("arcs", last[v], tuple(sorted(out[v], key=repr)), tuple(sorted(into[v], key=repr)))
                for v in range(g.n)
            ]
        )
    return levels


def products(x: Graph, y: Graph, h: int, edge_labels: bool = True) -> int:
    """Pairs of nodes of one colour, over all iterations."""
    levels = zip(colours(x, h, edge_labels), colours(y, h, edge_labels), strict=True)
    return sum(a == b for ours, theirs in levels for a in ours for b in theirs)


def minima(x: Graph, y: Graph, h: int) -> int:
    levels = zip(colours(x, h), colours(y, h), strict=True)
    return sum((Counter(a) & Counter(b)).total() for a, b in levels)


def distance(x: Graph, y: Graph, h: int) -> Fraction:
    """The l1 distance of histograms over twice the number of iterations."""
    total = Fraction(0)
    for a, b in zip(colours(x, h), colours(y, h), strict=True):
        ours, theirs = Counter(a), Counter(b)
        for c in ours | theirs:
            total += abs(Fraction(ours[c], max(x.n, 1)) - Fraction(theirs[c], max(y.n, 1)))
    return total / (2 * (h + 1))
