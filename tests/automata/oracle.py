"""Machines as plain lists, their weights by enumeration of paths in exact arithmetic, and random ones.

Nothing here uses the library but to build the same machine there.
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from mercer.automata import ANY, EPSILON, AnyExcept, Transducer

#: plus, times, zero, one of each semiring, on exact numbers; LOG is compared with the logarithms of REAL.
RINGS = {
    "real": (lambda a, b: a + b, lambda a, b: a * b, Fraction(0), Fraction(1)),
    "tropical": (min, lambda a, b: a + b, math.inf, Fraction(0)),
    "boolean": (lambda a, b: a or b, lambda a, b: a and b, False, True),
}

SIGMA = "ab"


@dataclass
class Exact:
    """States 0, 1, ...; arcs (source, target, input, output, weight); ends {state: weight}."""

    n: int
    arcs: list
    initial: dict
    final: dict
    ring: str = "real"

    def build(self):
        return Transducer(self.arcs, self.initial, self.final, semiring=self.ring, n_states=self.n)


def exact_of(T):
    """A transducer as exact numbers: its floats are taken as they are."""
    exact = {"tropical": lambda w: w if w == math.inf else Fraction(w), "boolean": bool}.get(
        T.semiring.name, Fraction
    )
    arcs = [(a.source, a.target, a.input, a.output, exact(a.weight)) for a in T.arcs]
    ends = ({q: exact(w) for q, w in side.items()} for side in (T.initial, T.final))
    return Exact(T.n_states, arcs, *ends, T.semiring.name)


def relation(machine):
    """All pairs of strings with their weights, by walking every path of a machine without cycles."""
    plus, times, zero, _ = RINGS[machine.ring]
    leaving = defaultdict(list)
    for arc in machine.arcs:
        leaving[arc[0]].append(arc)
    found = defaultdict(lambda: zero)

    def walk(q, x, y, w):
        if q in machine.final:
            found[x, y] = plus(found[x, y], times(w, machine.final[q]))
        for _, t, i, o, v in leaving[q]:
            walk(t, x + _text(i), y + _text(o), times(w, v))

    for q, w in machine.initial.items():
        walk(q, "", "", w)
    return {pair: w for pair, w in found.items() if w != zero}


def _text(label):
    return "" if label is EPSILON else label


def weight(machine, x, y):
    """T(x, y) by walking every path that reads x and writes y; no cycle may be silent."""
    plus, times, zero, _ = RINGS[machine.ring]

    def future(q, i, j):
        total = machine.final.get(q, zero) if (i, j) == (len(x), len(y)) else zero
        for s, t, a, b, w in machine.arcs:
            di, dj = _fits(a, x, i), _fits(b, y, j)
            if s != q or di is None or dj is None:
                continue
            if isinstance(a, AnyExcept) and isinstance(b, AnyExcept) and x[i] != y[j]:
                continue
            total = plus(total, times(w, future(t, i + di, j + dj)))
        return total

    total = zero
    for q, w in machine.initial.items():
        total = plus(total, times(w, future(q, 0, 0)))
    return total


def _fits(label, string, i):
    """How many symbols of the string the label takes at position i, or None."""
    if label is EPSILON:
        return 0
    if i == len(string):
        return None
    fits = string[i] in label if isinstance(label, AnyExcept) else string[i] == label
    return 1 if fits else None


def joined(first, second, ring="real"):
    """The relation of a composition, from its definition: the sum over the strings in the middle."""
    plus, times, zero, _ = RINGS[ring]
    found = defaultdict(lambda: zero)
    for (x, z), v in first.items():
        for (u, y), w in second.items():
            if u == z:
                found[x, y] = plus(found[x, y], times(v, w))
    return {pair: w for pair, w in found.items() if w != zero}


def spelled_out(machine, symbols):
    """The machine with an arc for each symbol in the place of each class."""
    arcs = []
    for s, t, a, b, w in machine.arcs:
        classes = [label for label in (a, b) if isinstance(label, AnyExcept)]
        for symbol in [c for c in symbols if c in classes[0]] if classes else [None]:
            pair = (symbol if isinstance(label, AnyExcept) else label for label in (a, b))
            arcs.append((s, t, *pair, w))
    return Exact(machine.n, arcs, machine.initial, machine.final, machine.ring)


def strings(length, symbols=SIGMA):
    return ["".join(s) for n in range(length + 1) for s in product(symbols, repeat=n)]


def random_weight(rng, ring):
    if ring == "boolean":
        return bool(rng.integers(10) > 0)
    # Halves and small integers: floats compute with them exactly, in any order.
    values = [-1, 1, 2, 3, Fraction(1, 2)] if ring == "real" else [0, 1, 2, 5, Fraction(1, 2)]
    return Fraction(values[rng.integers(len(values))])


def random_machine(rng, *, n=4, arcs=7, ring="real", acyclic=True, silent=True, classes=False):
    """A small machine with epsilon on both tapes, several ends and parallel arcs.

    Silent arcs, and all arcs of an acyclic machine, lead to higher numbers.
    """
    labels = [*SIGMA, EPSILON]
    if classes:
        labels += [ANY, AnyExcept("a"), AnyExcept("b")]
    rows = []
    while len(rows) < arcs:
        s, t = sorted(rng.integers(n, size=2).tolist())
        a, b = (labels[rng.integers(len(labels))] for _ in range(2))
        if isinstance(a, AnyExcept) and isinstance(b, AnyExcept):
            b = a
        is_silent = a is EPSILON and b is EPSILON
        if (acyclic or is_silent) and (s == t or (is_silent and not silent)):
            continue
        if not (acyclic or is_silent) and rng.integers(2):
            s, t = t, s
        rows.append((s, t, a, b, random_weight(rng, ring)))
        if rng.integers(4) == 0:
            rows.append(rows[-1])
    begins = {q: random_weight(rng, ring) for q in range(1 + rng.integers(2))}
    ends = {n - 1 - q: random_weight(rng, ring) for q in range(1 + rng.integers(2))}
    return Exact(n, rows, begins, ends, ring)


def solve(matrix, vector):
    """x of matrix x = vector, by elimination in exact arithmetic."""
    n = len(vector)
    rows = [[*row, v] for row, v in zip(matrix, vector, strict=True)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [rows[k][n] / rows[k][k] for k in range(n)]


def total_by_equations(machine):
    """Total weight of a machine with cycles: initial (1 - A)^-1 final, exactly."""
    one_minus = [[Fraction(int(i == j)) for j in range(machine.n)] for i in range(machine.n)]
    for s, t, _, _, w in machine.arcs:
        one_minus[s][t] -= w
    final = [machine.final.get(q, Fraction(0)) for q in range(machine.n)]
    future = solve(one_minus, final)
    return sum((w * future[q] for q, w in machine.initial.items()), Fraction(0))
