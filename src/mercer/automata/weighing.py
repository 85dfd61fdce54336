"""Sums over paths by their definition, in any arithmetic: what the fast ways are tested against.

A value is the sum over the paths of a graph whose nodes are *configurations*: how far each string has been
read, and the states of the machines.  Configurations are visited once; those on cycles are solved for
together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..arithmetic import Arithmetic
from ..errors import DivergenceError
from .labels import EPSILON, AnyExcept
from .transducer import Arc, Transducer

__all__ = ["inner_weight", "output_weights", "pair_weight"]

Node: TypeAlias = Hashable
Leaving: TypeAlias = list[list[tuple[Arc, Any]]]
#: Weight of each output, and where in the string it was written.
Outputs: TypeAlias = dict[tuple[Any, ...], tuple[Any, frozenset[tuple[int, int]]]]
#: Weight of ending in a node, and the nodes that follow it with weights.
Step: TypeAlias = tuple[Any, list[tuple[Any, Node]]]


class _String:
    """A string as something to read: positions, each with one symbol to go on with."""

    def __init__(self, x: Sequence[Any], m: Arithmetic) -> None:
        self.x, self.one = x, m.real(1)
        self.starts = [(self.one, 0)]

    def moves(self, i: int) -> list[tuple[Any, Any, int]]:
        """Symbols to read here, with weights and where they lead."""
        return [(self.x[i], self.one, i + 1)] if i < len(self.x) else []

    def ends(self, i: int) -> Any:
        """Weight of having read all."""
        return self.one if i == len(self.x) else 0 * self.one


class _Automaton:
    """An automaton without epsilon and classes as something to read: all its strings with their weights."""

    def __init__(self, A: Transducer, m: Arithmetic) -> None:
        self.m, self.final = m, A.final
        self.starts = [(m.real(w), q) for q, w in A.initial.items()]
        self._moves = [[(arc.input, w, arc.target) for arc, w in arcs] for arcs in _leaving(A, m)]

    def moves(self, q: int) -> list[tuple[Any, Any, int]]:
        """Symbols to read here, with weights and where they lead."""
        return self._moves[q]

    def ends(self, q: int) -> Any:
        """Weight of having read all."""
        return self.m.real(self.final.get(q, 0))


def _reader(x: Any, m: Arithmetic) -> _String | _Automaton:
    return _Automaton(x, m) if isinstance(x, Transducer) else _String(x, m)


def _read(label: Any, reader: _String | _Automaton, here: int, m: Arithmetic) -> list[tuple[Any, Any, int]]:
    """What an arc with this label can read: symbol or epsilon, weight, where the reader is then."""
    if label is EPSILON:
        return [(EPSILON, m.real(1), here)]
    return [move for move in reader.moves(here) if _fits(label, move[0])]


def pair_weight(U: Transducer, x: Any, y: Any, m: Arithmetic) -> Any:
    """U(x, y); instead of strings x and y may be automata without epsilon and classes."""
    leaving, of_x, of_y = _leaving(U, m), _reader(x, m), _reader(y, m)

    def step(node: Any) -> Step:
        q, i, j = node
        following: list[tuple[Any, Node]] = []
        for arc, weight in leaving[q]:
            for a, v, h in _read(arc.input, of_x, i, m):
                following += [
                    (weight * v * w, (arc.target, h, k))
                    for b, w, k in _read(arc.output, of_y, j, m)
                    if not _copies(arc) or a == b
                ]
        return m.real(U.final.get(q, 0)) * of_x.ends(i) * of_y.ends(j), following

    starts: list[tuple[Any, Node]] = [
        (m.real(u) * v * w, (q, i, j))
        for q, u in U.initial.items()
        for v, i in of_x.starts
        for w, j in of_y.starts
    ]
    return _path_sum(starts, step, m)


def inner_weight(T: Transducer, x: Any, y: Any, m: Arithmetic) -> Any:
    """The sum of T(x, z) T(y, z) over all strings z; x and y as in :func:`pair_weight`.

    Two paths with one output are taken in one order only: between two symbols of the output first those arcs
    of the path of x that write nothing (phase 0), then those of the path of y (phase 1).
    """
    leaving, of_x, of_y = _leaving(T, m), _reader(x, m), _reader(y, m)

    def moves(reader: _String | _Automaton, q: int, i: int) -> list[tuple[Any, Any, int, int]]:
        """What is written from here, with weights, states and places."""
        return [
            (a if _copies(arc) else arc.output, weight * w, arc.target, k)
            for arc, weight in leaving[q]
            for a, w, k in _read(arc.input, reader, i, m)
        ]

    def step(node: Any) -> Step:
        p, i, q, j, phase = node
        by_x = moves(of_x, p, i)
        if phase == 0:
            silent = [(w, (t, k, q, j, 0)) for z, w, t, k in by_x if z is EPSILON]
            return m.real(0), [*silent, (m.real(1), (p, i, q, j, 1))]
        by_y = moves(of_y, q, j)
        following: list[tuple[Any, Node]] = [(w, (p, i, t, k, 1)) for z, w, t, k in by_y if z is EPSILON]
        for a, v, s, h in by_x:
            following += [(v * w, (s, h, t, k, 0)) for b, w, t, k in by_y if a is not EPSILON and a == b]
        ends = [m.real(T.final.get(state, 0)) for state in (p, q)]
        return ends[0] * of_x.ends(i) * ends[1] * of_y.ends(j), following

    starts: list[tuple[Any, Node]] = [
        (m.real(u) * v * m.real(w) * s, (p, i, q, j, 0))
        for p, u in T.initial.items()
        for v, i in of_x.starts
        for q, w in T.initial.items()
        for s, j in of_y.starts
    ]
    return _path_sum(starts, step, m)


def output_weights(T: Transducer, x: Sequence[Any], m: Arithmetic, places: bool = False) -> Outputs:
    """T(x, z) for every output z, with the stretches of x that it was written on if they are asked for.

    No arc of T may have epsilon on both tapes, and there must be finitely many outputs: see
    :func:`mercer.automata.outputs.listable`.  A path is followed while it may still write; the weight of what
    comes after is its tail, the sum over all ways to read the rest of x in silence.
    """
    leaving = _leaving(T, m)
    order = _writing_states(T)
    tails = _tails(T, x, leaving, m)
    found: Outputs = {}

    def add(z: tuple[Any, ...], weight: Any, place: tuple[int, int] | None) -> None:
        if weight != 0:
            before, seen = found.get(z, (m.real(0), frozenset()))
            found[z] = (before + weight, seen if place is None else seen | {place})

    #: Paths by state; each state has weights by output and by where the first symbol of it was written.
    here: list[dict[tuple[tuple[Any, ...], int | None], Any]] = [{} for _ in range(T.n_states)]
    for q, w in T.initial.items():
        here[q][(), None] = m.real(w)
        add((), m.real(w) * tails[0][q], None)
    for i in range(len(x) + 1):
        ahead: list[dict[tuple[tuple[Any, ...], int | None], Any]] = [{} for _ in range(T.n_states)]
        for q in order:
            for arc, w in leaving[q]:
                reads = _reads(arc.input, x, i)
                if reads is None:
                    continue
                reached = (ahead if reads else here)[arc.target]
                symbol = x[i] if isinstance(arc.output, AnyExcept) else arc.output
                for (z, first), weight in here[q].items():
                    key = (z, first)
                    if symbol is not EPSILON:
                        start = i if first is None else first
                        key = ((*z, symbol), start if places else None)
                        place = (start, i + reads) if places else None
                        add(key[0], weight * w * tails[i + reads][arc.target], place)
                    reached[key] = reached.get(key, m.real(0)) + weight * w
        here = ahead
    return found


def _tails(T: Transducer, x: Sequence[Any], leaving: Leaving, m: Arithmetic) -> list[list[Any]]:
    """For each position and state the sum over the paths that read the rest of x and write nothing."""
    tails = [[m.real(T.final.get(q, 0)) for q in range(T.n_states)]]
    for i in reversed(range(len(x))):
        after = tails[-1]
        silent = (
            [w * after[arc.target] for arc, w in arcs if arc.output is EPSILON and _reads(arc.input, x, i)]
            for arcs in leaving
        )
        tails.append([m.fsum(weights) for weights in silent])
    return tails[::-1]


def _writing_states(T: Transducer) -> list[int]:
    """The states that lead to arcs that write, in an order in which arcs that read nothing lead forward."""
    waiting = [0] * T.n_states
    sources: list[list[int]] = [[] for _ in range(T.n_states)]
    targets: list[list[int]] = [[] for _ in range(T.n_states)]
    writes = {arc.source for arc in T.arcs if arc.output is not EPSILON}
    for arc in T.arcs:
        sources[arc.target].append(arc.source)
        if arc.input is EPSILON:
            targets[arc.source].append(arc.target)
            waiting[arc.target] += 1
    stack = list(writes)
    while stack:
        new = set(sources[stack.pop()]) - writes
        writes |= new
        stack += new
    order, ready = [], [q for q in range(T.n_states) if waiting[q] == 0]
    while ready:
        order.append(ready.pop())
        for q in targets[order[-1]]:
            waiting[q] -= 1
            if waiting[q] == 0:
                ready.append(q)
    return [q for q in order if q in writes]


def _leaving(T: Transducer, m: Arithmetic) -> Leaving:
    leaving: Leaving = [[] for _ in range(T.n_states)]
    for arc in T.arcs:
        leaving[arc.source].append((arc, m.real(arc.weight)))
    return leaving


def _fits(label: Any, symbol: Any) -> bool:
    return symbol in label if isinstance(label, AnyExcept) else bool(symbol == label)


def _copies(arc: Arc) -> bool:
    """Whether the arc writes the symbol of a class that it has read."""
    return isinstance(arc.input, AnyExcept) and isinstance(arc.output, AnyExcept)


def _reads(label: Any, x: Sequence[Any], i: int) -> int | None:
    """How many symbols at position i of the string the label covers: 0, 1, or None if it does not fit."""
    if label is EPSILON:
        return 0
    return 1 if i < len(x) and _fits(label, x[i]) else None


# -- sums over the paths of a graph -------------------------------------------------------------
def _path_sum(starts: list[tuple[Any, Node]], step: Callable[[Node], Step], m: Arithmetic) -> Any:
    """Sum over all paths from the starts to where they may end, of the product of the weights."""
    values: dict[Node, Any] = {}
    for _, node in starts:
        if node not in values:
            _find_values(node, step, values, m)
    return m.fsum([weight * values[node] for weight, node in starts])


def _find_values(root: Node, step: Callable[[Node], Step], values: dict[Node, Any], m: Arithmetic) -> None:
    """Value of every node within reach: Tarjan's search finds components after all that they lead to."""
    steps: dict[Node, Step] = {root: step(root)}
    index: dict[Node, int] = {root: 0}
    low = dict(index)
    component: list[Node] = [root]
    calls = [(root, iter(steps[root][1]))]
    while calls:
        node, rest = calls[-1]
        following = next(rest, None)
        if following is not None:
            target = following[1]
            if target in values:
                continue
            if target not in index:
                index[target] = low[target] = len(index)
                steps[target] = step(target)
                component.append(target)
                calls.append((target, iter(steps[target][1])))
            else:
                low[node] = min(low[node], index[target])
            continue
        calls.pop()
        if calls:
            low[calls[-1][0]] = min(low[calls[-1][0]], low[node])
        if low[node] == index[node]:
            members = [component.pop()]
            while members[-1] != node:
                members.append(component.pop())
            _solve({member: steps.pop(member) for member in members}, values, m)


def _solve(steps: dict[Node, Step], values: dict[Node, Any], m: Arithmetic) -> None:
    """Values v = ends + A v of the nodes of one component, by elimination."""
    number = {node: i for i, node in enumerate(steps)}
    rows = []
    for node, (ends, following) in steps.items():
        row = [m.real(0)] * len(steps)
        row[number[node]] = m.real(1)
        right = ends
        for weight, target in following:
            if target in number:
                row[number[target]] -= weight
            else:
                right += weight * values[target]
        rows.append([*row, right])
    if all(row[-1] == 0 for row in rows):  # nothing ever ends here
        values.update(dict.fromkeys(steps, m.real(0)))
        return
    # Unless the powers of the component's weights have a sum, elimination finds a wrong number.
    cycles = np.abs(np.eye(len(rows)) - np.array([[float(v) for v in row[:-1]] for row in rows]))
    if cycles.any() and np.abs(np.linalg.eigvals(cycles)).max() >= 1 - 1e-12:
        raise DivergenceError(
            "the sum over all paths diverges: the weights of cycles must add up to less than one in absolute "
            "value."
        )
    for k in range(len(rows)):
        pivot = max(range(k, len(rows)), key=lambda r: abs(rows[r][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i, row in enumerate(rows):
            if i != k and row[k] != 0:
                factor = row[k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(row, rows[k], strict=True)]
    for node, i in number.items():
        values[node] = rows[i][-1] / rows[i][i]
