"""Sums over the paths of a graph as straight-line programs of sums, products and geometric series.

The program is written once, from the structure of the graph, and run on numbers of any kind: floats,
fractions, many digits, matrices, intervals, terms of the engine.  Paths are summed by :mod:`mercer.automata`,
in a semiring whose weights are the numbers of steps: one product for each edge outside of cycles, and
Gaussian elimination within a strongly connected component, with 1 / (1 - a) for a pivot 1 - a.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import reduce
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np

from ..automata.path_sums import path_sums
from ..automata.semirings import Semiring

__all__ = ["Edge", "PathProgram"]

#: From, to, and the inputs whose product is the weight.
Edge: TypeAlias = tuple[Hashable, Hashable, Sequence[int]]

ZERO, ONE = -1, 0
ADD, MULTIPLY, STAR = "+", "*", "1 / (1 - a)"


class PathProgram:
    """Sum over all paths from ``source`` to ``sink`` of the products of their edges.

    Values are numbered: 0 is the number one, 1 to ``n_inputs`` are the inputs, steps follow.

    Parameters
    ----------
    n_inputs : int
    edges : iterable of Edge
        Parallel edges and loops are allowed; inputs are counted from 0.
    source, sink : hashable
        If they are the same, the path without edges is among those summed.
    start : sequence of int
        Inputs that multiply the whole sum.

    Attributes
    ----------
    inputs, looped : tuple of int
        Inputs that the sum depends on; those among them that a geometric series depends on.
    steps : dict of int to (str, int, int)
        Operation and operands of each step, in an order in which they can be computed.
    is_looped : bool
        Whether a path may be arbitrarily long.
    width : int
        Bound of the number of values, inputs included, that are held at a time.
    """

    def __init__(
        self,
        n_inputs: int,
        edges: Iterable[Edge],
        source: Hashable,
        sink: Hashable,
        start: Sequence[int] = (),
    ) -> None:
        self._n_inputs = n_inputs
        self._known: dict[tuple[str, int, int], int] = {}
        ring = Semiring(
            "programs",
            self._plus,
            self._times,
            ZERO,
            ONE,
            star=self._star,
            equal=lambda a, b: True,  # of two programs nobody can tell; their values obey the axioms
        )
        index: dict[Hashable, int] = {source: 0}
        graph: list[list[tuple[int, int]]] = [[]]
        for u, v, inputs in edges:
            for vertex in (u, v):
                if index.setdefault(vertex, len(graph)) == len(graph):
                    graph.append([])
            graph[index[u]].append((index[v], self._product(inputs)))
        sums = path_sums(graph, {0: self._product(start)}, ring, "PathProgram")
        self.result: int = sums.get(index.get(sink, -1), ZERO)
        known = {number: step for step, number in self._known.items()}
        needed = _ancestors([self.result], known)
        self.steps = {number: known[number] for number in sorted(needed & known.keys())}
        self.inputs = self._inputs_among(needed)
        stars = [number for number, (operation, _, _) in self.steps.items() if operation == STAR]
        self.looped = self._inputs_among(_ancestors(stars, known))
        self.is_looped = bool(stars)
        last = {v: number for number, (_, a, b) in self.steps.items() for v in (a, b)}
        self._ends: dict[int, list[int]] = {number: [] for number in self.steps}
        for v, number in last.items():
            self._ends[number].append(v)
        changes = [1 - len(ends) for ends in self._ends.values()]
        self.width = len(self.inputs) + max(accumulate(changes), default=0) + 1

    # -- writing ------------------------------------------------------------------------------
    def _plus(self, a: int, b: int) -> int:
        return b if a == ZERO else a if b == ZERO else self._step(ADD, a, b)

    def _times(self, a: int, b: int) -> int:
        return ZERO if ZERO in (a, b) else b if a == ONE else a if b == ONE else self._step(MULTIPLY, a, b)

    def _star(self, a: int) -> int:
        return ONE if a == ZERO else self._step(STAR, a, a)

    def _step(self, operation: str, a: int, b: int) -> int:
        return self._known.setdefault((operation, a, b), 1 + self._n_inputs + len(self._known))

    def _product(self, inputs: Sequence[int]) -> int:
        return reduce(self._times, (i + 1 for i in inputs), ONE)

    def _inputs_among(self, values: set[int]) -> tuple[int, ...]:
        return tuple(sorted(v - 1 for v in values if 0 < v <= self._n_inputs))

    # -- running ------------------------------------------------------------------------------
    def run(self, value: Callable[[int], Any], star: Callable[[Any], Any], one: Any = 1.0) -> Any:
        """The sum, where ``value(i)`` is the value of an input and ``star(a)`` is 1 / (1 - a), or an error.

        It is 0.0 if there is no path, and ``one`` if that of a single path is.
        """
        return self._values(value, star, one, keep=False)[self.result]

    def gradient(
        self, value: Callable[[int], Any], star: Callable[[Any], Any]
    ) -> tuple[Any, dict[int, np.ndarray]]:
        """The sum and its derivatives in the inputs, by reverse accumulation."""
        values = self._values(value, star, 1.0, keep=True)
        slopes: dict[int, Any] = dict.fromkeys(values, 0.0)
        slopes[self.result] = 1.0
        for number, (operation, a, b) in reversed(self.steps.items()):
            slope = slopes.pop(number)
            if operation == ADD:
                slopes[a] = slopes[a] + slope
                slopes[b] = slopes[b] + slope
            elif operation == MULTIPLY:
                slopes[a] = slopes[a] + slope * values[b]
                slopes[b] = slopes[b] + slope * values[a]
            else:
                slopes[a] = slopes[a] + slope * values[number] ** 2
        return values[self.result], {i: slopes[i + 1] for i in self.inputs}

    def _values(
        self, value: Callable[[int], Any], star: Callable[[Any], Any], one: Any, keep: bool
    ) -> dict[int, Any]:
        """Values of the steps; those that are not needed any more are given up, unless they are to be kept.

        An input is asked for when it is first needed.
        """
        values: dict[int, Any] = {ONE: one, ZERO: 0.0}
        for number, (operation, a, b) in self.steps.items():
            for operand in (a, b):
                if operand not in values:
                    values[operand] = value(operand - 1)
            if operation == ADD:
                values[number] = values[a] + values[b]
            elif operation == MULTIPLY:
                values[number] = values[a] * values[b]
            else:
                values[number] = star(values[a])
            if not keep:
                for operand in self._ends[number]:
                    del values[operand]
        if self.result not in values:
            values[self.result] = value(self.result - 1)
        return values


def _ancestors(values: list[int], steps: dict[int, tuple[str, int, int]]) -> set[int]:
    """Values that others depend on, these included."""
    found, stack = set(values), list(values)
    while stack:
        _, *operands = steps.get(stack.pop(), ("",))
        new = {v for v in operands if v not in found}
        found |= new
        stack += new
    return found
