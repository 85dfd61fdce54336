"""Sums of the weights of paths in any semiring: from given states, or between all pairs of states.

Strongly connected components are taken in topological order, so that a graph without cycles costs one product
per arc.  Within a cyclic component there are two ways:

* Mohri's generic shortest-distance algorithm: a queue of states whose sum has changed since their arcs were
  last followed.  It ends in k-closed semirings.
* Elimination with the star: d = x + d A is solved as by Gauss, 1 / (1 - a) being the star of the pivot a.

Products are taken in the order of the arcs of a path, so that they need not commute.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np

from ..errors import DivergenceError
from .machine import Machine
from .semirings import REAL, SLACK, TROPICAL, Semiring, Weight

__all__ = ["Graph", "all_path_sums", "leaving_arcs", "path_sums"]

#: For each state the states that its arcs lead to, with weights.
Graph: TypeAlias = list[list[tuple[int, Weight]]]

#: States that the message of an error lists; there may be thousands.
_MOST_NAMED = 10


def leaving_arcs(machine: Machine, ring: Semiring, used: np.ndarray | None = None) -> Graph:
    """The graph of the arcs that are marked as used and have a weight other than zero."""
    graph: Graph = [[] for _ in range(machine.n_states)]
    weights = machine.weight.tolist()
    keep = ~ring.is_zero(machine.weight)
    if used is not None:
        keep &= used
    for arc in np.flatnonzero(keep).tolist():
        graph[machine.source[arc]].append((int(machine.target[arc]), weights[arc]))
    return graph


def path_sums(graph: Graph, starts: Mapping[int, Weight], ring: Semiring, caller: str) -> dict[int, Weight]:
    """For each state within reach the sum over all paths to it, each times the weight of its start."""
    components = _components(graph, starts)
    sums = dict.fromkeys((q for component in components for q in component), ring.zero) | dict(starts)
    for component in components:
        inside = set(component)
        if len(inside) > 1 or any(target in inside for target, _ in graph[component[0]]):
            _solve(graph, component, sums, ring, caller)
        for q in component:
            for target, weight in graph[q]:
                if target not in inside:
                    sums[target] = ring.plus(sums[target], ring.times(sums[q], weight))
    return sums


def all_path_sums(graph: Graph, ring: Semiring, caller: str) -> np.ndarray:
    """The matrix of the sums over all paths between two states: Kleene's algorithm."""
    n = len(graph)
    D = _matrix(graph, range(n), ring)
    plus, times = ring.on_arrays
    scale = _scale(D, ring)
    for component in _components(graph, range(n)):
        _check_absolute_sum(graph, component, ring, caller)
    for k in range(n):
        star = ring.array([_star(D[k, k], ring, scale, [k], caller)])
        through = times(times(D[:, k : k + 1], star), D[k : k + 1, :])
        D = plus(D, through)
    for k in range(n):
        D[k, k] = ring.plus(ring.one, D[k, k])
    return D


# -- within a component -----------------------------------------------------------------------------
def _solve(graph: Graph, component: list[int], sums: dict[int, Weight], ring: Semiring, caller: str) -> None:
    """From sums over the paths that enter a component to sums over all paths to its states."""
    if ring.star is None:
        if not _relax(graph, component, sums, ring, 100 * len(component)):
            raise _divergence(component, caller, " The semiring has no `star` that would give the sum.")
        return
    # Costs: the queue is faster, as elimination is cubic; it is left if there seem to be negative cycles.
    if ring.idempotent and _relax(graph, component, sums, ring, 1 + len(component)):
        return
    _check_absolute_sum(graph, component, ring, caller)
    equations = _Elimination(_matrix(graph, component, ring), ring, component, caller)
    found = equations.solve(ring.array(sums[q] for q in component))
    sums.update(zip(component, found.tolist(), strict=True))


def _relax(graph: Graph, component: list[int], sums: dict[int, Weight], ring: Semiring, most: int) -> bool:
    """Mohri's algorithm; whether it ended before a state was taken more than ``most`` times.

    ``sums`` changes only if it ended.  The queue is first in, first out (Bellman and Ford), except for
    nonnegative costs, where the nearest state comes first and none is taken twice (Dijkstra).
    """
    total = {q: sums[q] for q in component}
    #: What has been added to the sum of a state since its arcs were followed.
    added = {q: w for q, w in total.items() if w != ring.zero}
    nearest_first = ring is TROPICAL and all(w >= 0 for q in component for _, w in graph[q])
    taken = dict.fromkeys(component, 0)
    heap = [(w, q) for q, w in added.items()] if nearest_first else []
    heapq.heapify(heap)
    queue = deque(added)
    while added:
        q = heapq.heappop(heap)[1] if nearest_first else queue.popleft()
        if q not in added:
            continue  # it was nearer before
        weight = added.pop(q)
        taken[q] += 1
        if taken[q] > most:
            return False
        for target, w in graph[q]:
            if target not in total:
                continue
            more = ring.times(weight, w)
            new = ring.plus(total[target], more)
            if new == total[target]:
                continue
            if target not in added:
                queue.append(target)
            added[target] = ring.plus(added.get(target, ring.zero), more)
            total[target] = new
            if nearest_first:
                heapq.heappush(heap, (new, target))
    sums.update(total)
    return True


class _Elimination:
    """The equations d = x + d A of one component, its matrix A factored."""

    def __init__(self, A: np.ndarray, ring: Semiring, states: list[int], caller: str) -> None:
        self.ring, self.A, self.stars = ring, A, ring.zeros(len(A))
        plus, times = ring.on_arrays
        scale = _scale(A, ring)
        for k in range(len(A)):
            self.stars[k] = _star(A[k, k], ring, scale, states, caller)
            column = times(A[k + 1 :, k : k + 1], self.stars[k : k + 1])
            A[k + 1 :, k + 1 :] = plus(A[k + 1 :, k + 1 :], times(column, A[k : k + 1, k + 1 :]))

    def solve(self, d: np.ndarray) -> np.ndarray:
        """The solution for a vector x, in its place."""
        (plus, times), A, stars = self.ring.on_arrays, self.A, self.stars
        for k in range(len(d)):
            d[k + 1 :] = plus(d[k + 1 :], times(times(d[k : k + 1], stars[k : k + 1]), A[k, k + 1 :]))
        for k in reversed(range(len(d))):
            for more in times(d[k + 1 :], A[k + 1 :, k]):
                d[k] = self.ring.plus(d[k], more)
            d[k : k + 1] = times(d[k : k + 1], stars[k : k + 1])
        return d


def _check_absolute_sum(graph: Graph, component: list[int], ring: Semiring, caller: str) -> None:
    """Raise if real weights of both signs have a star only because they cancel: that is no sum over paths."""
    if ring is REAL and any(weight < 0 for q in component for _, weight in graph[q]):
        sizes = [[(target, abs(weight)) for target, weight in arcs] for arcs in graph]
        _Elimination(_matrix(sizes, component, ring), ring, component, caller)


def _matrix(graph: Graph, states: Iterable[int], ring: Semiring) -> np.ndarray:
    """Sums of the weights of parallel arcs among these states."""
    number = {q: i for i, q in enumerate(states)}
    A = ring.zeros(len(number) ** 2).reshape(len(number), len(number))
    for q, i in number.items():
        for target, weight in graph[q]:
            j = number.get(target)
            if j is not None:
                A[i, j] = ring.plus(A[i, j], weight)
    return A


def _scale(A: np.ndarray, ring: Semiring) -> float:
    """The largest cost, which sets the rounding error of cycles."""
    return float(np.abs(A[np.isfinite(A)]).max(initial=0.0)) if ring is TROPICAL else 0.0


def _star(a: Weight, ring: Semiring, scale: float, states: list[int], caller: str) -> Weight:
    if ring is TROPICAL and -SLACK * scale <= a < 0:
        a = 0.0  # the cost of a cycle is zero up to rounding
    try:
        return ring.closure(ring.value(a))
    except DivergenceError as error:
        raise _divergence(states, caller, f" {error}") from error


def _divergence(states: list[int], caller: str, reason: str) -> DivergenceError:
    named = ", ".join(map(str, sorted(states)[:_MOST_NAMED])) + (", ..." if len(states) > _MOST_NAMED else "")
    return DivergenceError(
        f"{caller}: the sum over all paths diverges, or is too close to that, on the cycles through the "
        f"states {named}.{reason}"
    )


def _components(graph: Graph, starts: Iterable[int]) -> list[list[int]]:
    """Strongly connected components within reach of the starts, each before those it leads to (Tarjan)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    done: set[int] = set()
    open_states: list[int] = []
    found: list[list[int]] = []
    for start in starts:
        if start in index:
            continue
        calls = [(start, iter(graph[start]))]
        index[start] = low[start] = len(index)
        open_states.append(start)
        while calls:
            q, rest = calls[-1]
            following = next(rest, None)
            if following is None:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[q])
                if low[q] == index[q]:
                    component = [open_states.pop()]
                    while component[-1] != q:
                        component.append(open_states.pop())
                    found.append(component)
                    done.update(component)
                continue
            target = following[0]
            if target not in index:
                index[target] = low[target] = len(index)
                open_states.append(target)
                calls.append((target, iter(graph[target])))
            elif target not in done:
                low[q] = min(low[q], index[target])
    return found[::-1]
