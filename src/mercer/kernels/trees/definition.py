"""The definition of kernels on trees: a sum over pairs of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...arithmetic import Arithmetic
from ...domains import Tree

__all__ = ["Values", "sum_over_nodes"]

#: What each pair of nodes adds, children first; pairs that do not match are missing.
Values = dict[tuple[int, int], Any]


def sum_over_nodes(
    x: Tree, y: Tree, value: Callable[[int, int, Values], Any], leaves: bool, m: Arithmetic
) -> Any:
    """Sum of the values of all pairs of nodes with equal labels, children first.

    Parameters
    ----------
    x, y : Tree
    value : callable
        ``value(u, v, values)`` for nodes u of x and v of y, with the values of all pairs below them; None if
        they do not match.
    leaves : bool
        Whether pairs with a leaf count in the sum.
    m : Arithmetic
    """
    places: dict[Any, list[int]] = {}
    for v in reversed(range(len(y))):
        places.setdefault(y.labels[v], []).append(v)
    values: Values = {}
    terms = []
    for u in reversed(range(len(x))):
        for v in places.get(x.labels[u], ()):
            found = value(u, v, values)
            if found is None:
                continue
            values[u, v] = found
            if leaves or (x.arities[u] and y.arities[v]):
                terms.append(found)
    return m.fsum(terms)
