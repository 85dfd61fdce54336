"""Isomorphism types of graphs with up to five nodes, and how their counts in a graph hang together.

A graph on the nodes 0, ..., s - 1 is a number: bit ``j (j - 1) / 2 + i`` says whether i < j are adjacent.
The smallest number of an isomorphic graph stands for its type.  Types are numbered by their edges, then by
that number.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations, permutations

import numpy as np

__all__ = ["Edges", "all_counts", "connected_counts", "graphlet_types", "is_connected", "type_numbers"]

#: Edges (i, j) with i < j.
Edges = tuple[tuple[int, int], ...]

#: Patterns that native code counts (native/graphs/graphlets.hpp): copies may have more edges.
PATTERNS: tuple[tuple[int, Edges], ...] = (
    (2, ((0, 1),)),
    (3, ((0, 1), (0, 2))),
    (3, ((0, 1), (0, 2), (1, 2))),
    (4, ((0, 1), (0, 2), (0, 3))),
    (4, ((0, 1), (1, 2), (2, 3))),
    (4, ((0, 1), (0, 2), (1, 2), (2, 3))),
    (4, ((0, 1), (1, 2), (2, 3), (0, 3))),
    (4, ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3))),
    (4, ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))),
)

#: Counts of a type in several graphs, by size and number of the type.
Known = dict[tuple[int, int], np.ndarray]


def _bit(i: int, j: int) -> int:
    i, j = min(i, j), max(i, j)
    return j * (j - 1) // 2 + i


def _number(edges: Edges) -> int:
    return sum(1 << _bit(i, j) for i, j in edges)


@cache
def _smallest(size: int) -> np.ndarray:
    """The number of the type, for the number of each graph."""
    pairs = list(combinations(range(size), 2))
    numbers = np.arange(1 << len(pairs))
    best = numbers.copy()
    for p in permutations(range(size)):
        moved = np.zeros_like(numbers)
        for i, j in pairs:
            moved |= (numbers >> _bit(i, j) & 1) << _bit(p[i], p[j])
        np.minimum(best, moved, out=best)
    return best


@cache
def graphlet_types(size: int) -> tuple[Edges, ...]:
    """All types of one size, by the edges of a graph of each.

    Examples
    --------
    >>> graphlet_types(3)
    ((), ((0, 1),), ((0, 1), (0, 2)), ((0, 1), (0, 2), (1, 2)))
    """
    numbers = sorted(set(_smallest(size).tolist()), key=lambda number: (number.bit_count(), number))
    pairs = [*combinations(range(size), 2)]
    return tuple(tuple((i, j) for i, j in pairs if number >> _bit(i, j) & 1) for number in numbers)


@cache
def type_numbers(size: int) -> np.ndarray:
    """Position of its type in :func:`graphlet_types`, for the number of each graph."""
    position = {_number(edges): i for i, edges in enumerate(graphlet_types(size))}
    return np.array([position[number] for number in _smallest(size).tolist()], dtype=np.int32)


def _components(size: int, edges: Edges) -> list[set[int]]:
    parts = [{v} for v in range(size)]
    for i, j in edges:
        joined = [part for part in parts if i in part or j in part]
        parts = [part for part in parts if part not in joined] + [set().union(*joined)]
    return sorted(parts, key=len)


def is_connected(size: int, edges: Edges) -> bool:
    """Whether a graph has one component."""
    return len(_components(size, edges)) == 1


def _induced(size: int, edges: Edges, nodes: tuple[int, ...]) -> tuple[int, int]:
    """Size and type of the subgraph that some nodes induce."""
    place = {v: i for i, v in enumerate(nodes)}
    kept = tuple((place[i], place[j]) for i, j in edges if i in place and j in place)
    return len(nodes), int(type_numbers(len(nodes))[_number(kept)])


def connected_counts(size: int, patterns: np.ndarray) -> Known:
    """Counts of the connected types of 3 or 4 nodes from those of :data:`PATTERNS`, a row for each graph.

    A pattern P has as many copies as each type F has spanning subgraphs of the type P, times the count of F.
    The types with more edges are known before.
    """
    known: Known = {}
    for column, (s, edges) in reversed(list(enumerate(PATTERNS))):
        if s == size:
            own = _induced(s, edges, tuple(range(s)))
            known[own] = patterns[:, column] - sum(
                copies * known[s, other] for other, copies in _spanning(s, own[1]).items() if other != own[1]
            )
    return known


@cache
def _spanning(size: int, pattern: int) -> Mapping[int, int]:
    """How many spanning subgraphs of one type each type has."""
    found: dict[int, int] = {}
    n_edges = len(graphlet_types(size)[pattern])
    for i, edges in enumerate(graphlet_types(size)):
        chosen = combinations(edges, n_edges)
        copies = sum(int(type_numbers(size)[_number(kept)]) == pattern for kept in chosen)
        if copies:
            found[i] = copies
    return found


def all_counts(size: int, known: Known) -> None:
    """Add the counts of disconnected types to those of the connected types of up to ``size`` nodes.

    Let A be the smallest component of a type H and B the rest.  Pairs of an induced A and an induced B, which
    may overlap, are counted by the product of their counts, and by the subgraph F that both cover: as many
    pairs as F has, times the count of F.  Other F than H have fewer nodes or more edges than H.
    """
    for s in range(2, size + 1):
        for i in reversed(range(len(graphlet_types(s)))):
            if (s, i) not in known:
                first, rest, pairs = _coverings(s, i)
                others = sum(n * known[other] for other, n in pairs.items() if other != (s, i))
                known[s, i] = (known[first] * known[rest] - others) // pairs[s, i]


@cache
def _coverings(
    size: int, number: int
) -> tuple[tuple[int, int], tuple[int, int], Mapping[tuple[int, int], int]]:
    """The smallest component of a type, the rest, and in each type the pairs of them that cover it."""
    edges = graphlet_types(size)[number]
    nodes = _components(size, edges)[0]
    first = _induced(size, edges, tuple(sorted(nodes)))
    rest = _induced(size, edges, tuple(sorted(set(range(size)) - nodes)))
    pairs: dict[tuple[int, int], int] = {}
    for s in range(rest[0], size + 1):
        for i, around in enumerate(graphlet_types(s)):
            parts = [b for b in combinations(range(s), rest[0]) if _induced(s, around, b) == rest]
            for a in combinations(range(s), first[0]):
                if parts and _induced(s, around, a) == first:
                    covering = sum(len({*a, *b}) == s for b in parts)
                    pairs[s, i] = pairs.get((s, i), 0) + covering
    return first, rest, {type_: n for type_, n in pairs.items() if n}
