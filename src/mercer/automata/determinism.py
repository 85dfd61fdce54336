"""Minimal deterministic automata: each string of a language on exactly one path.

Labels are sets of symbols or complements of such sets, so the alphabet is first cut into classes that no
label tells apart; the last class holds all symbols that no label mentions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ParameterError
from .syntax import Symbols

__all__ = ["Deterministic", "Nondeterministic", "minimal", "ordered"]

DEAD = -1


@dataclass(frozen=True)
class Nondeterministic:
    """States 0, 1, ... with arcs ``(label, target)``; no empty moves, no weights."""

    initial: frozenset[int]
    final: frozenset[int]
    arcs: Sequence[Sequence[tuple[Symbols, int]]]


@dataclass(frozen=True)
class Deterministic:
    """State 0 is initial (if there is a state at all); ``arcs[q]`` holds disjoint labels."""

    final: frozenset[int]
    arcs: Sequence[Sequence[tuple[Symbols, int]]]


def ordered(symbols: Iterable[Hashable]) -> list[Any]:
    """Symbols in an order that does not depend on hash values."""
    return sorted(symbols, key=lambda s: (type(s).__name__, s if isinstance(s, str) else repr(s)))


def minimal(machine: Nondeterministic) -> Deterministic:
    """Return the smallest deterministic automaton of the same language."""
    classes, members = _classes({label for arcs in machine.arcs for label, _ in arcs})
    table, final = _subsets(machine, classes, len(members))
    table, final = _useful(table, final)
    block = _hopcroft(table, final)
    return _built(table, final, block, members)


def _classes(labels: Iterable[Symbols]) -> tuple[dict[Symbols, list[int]], list[list[Any]]]:
    """Cut the alphabet: the classes that each label covers, and the symbols of each class.

    The last class stands for every symbol that is not in another one.
    """
    labels = list(labels)
    number = {label: i for i, label in enumerate(labels)}
    mentioned: dict[Hashable, set[int]] = {}
    for label in labels:
        for symbol in label.symbols:
            mentioned.setdefault(symbol, set()).add(number[label])
    elsewhere = frozenset(number[label] for label in labels if label.negated)
    groups: dict[frozenset[int], list[Any]] = {}
    for symbol in ordered(mentioned):
        # A mention adds a symbol to a plain label and takes it out of a negated one.
        covers = frozenset(elsewhere ^ mentioned[symbol])
        if covers != elsewhere:
            groups.setdefault(covers, []).append(symbol)
    signatures = [*groups, elsewhere]
    covered = {label: [c for c, s in enumerate(signatures) if number[label] in s] for label in labels}
    return covered, [*groups.values(), []]


def _subsets(
    machine: Nondeterministic, classes: dict[Symbols, list[int]], width: int
) -> tuple[list[list[int]], set[int]]:
    """The subset construction: a row of targets, one per class, for every reachable set of states."""
    number = {machine.initial: 0} if machine.initial else {}
    table: list[list[int]] = []
    final: set[int] = set()
    queue = list(number)
    while len(table) < len(queue):
        subset = queue[len(table)]
        if subset & machine.final:
            final.add(len(table))
        targets: list[set[int]] = [set() for _ in range(width)]
        for state in subset:
            for label, target in machine.arcs[state]:
                for c in classes[label]:
                    targets[c].add(target)
        row = []
        for found in map(frozenset, targets):
            if found and found not in number:
                number[found] = len(queue)
                queue.append(found)
            row.append(number[found] if found else DEAD)
        table.append(row)
        if len(queue) > 20_000:  # the number of sets may grow exponentially
            raise ParameterError(
                "from_regex: the pattern needs more than 20,000 states to count each string once. "
                "Repeat less often after an alternative that overlaps with what follows, or give the pattern "
                "a weight, as in <1>, to count derivations instead."
            )
    return table, final


def _useful(table: list[list[int]], final: set[int]) -> tuple[list[list[int]], set[int]]:
    """Drop the states from which no final state is reached."""
    sources = defaultdict(list)
    for state, row in enumerate(table):
        for target in row:
            sources[target].append(state)
    useful, stack = set(final), list(final)
    while stack:
        for source in sources[stack.pop()]:
            if source not in useful:
                useful.add(source)
                stack.append(source)
    number = {state: i for i, state in enumerate(sorted(useful))}
    rows = [[number.get(target, DEAD) for target in table[state]] for state in number]
    return rows, {number[state] for state in final}


def _hopcroft(table: list[list[int]], final: set[int]) -> list[int]:
    """The block of each state in the coarsest partition that final states and transitions respect."""
    n, width = len(table), len(table[0]) if table else 0
    sources: list[dict[int, list[int]]] = [defaultdict(list) for _ in range(width)]
    for state, row in enumerate(table):
        for c, target in enumerate(row):
            sources[c][target].append(state)
    members = [set(final), set(range(n)) - final]
    block = [0 if state in final else 1 for state in range(n)]
    # The dead state is a block of its own: all missing transitions lead there, so it splits first.
    waiting = [(c, set(part)) for c in range(width) for part in ({DEAD}, *members)]
    while waiting:
        c, splitter = waiting.pop()
        touched: dict[int, set[int]] = {}
        for target in splitter:
            for source in sources[c].get(target, ()):
                touched.setdefault(block[source], set()).add(source)
        for b, inside in touched.items():
            if len(inside) == len(members[b]):
                continue
            members[b] -= inside
            members.append(inside)
            for state in inside:
                block[state] = len(members) - 1
            smaller = min(inside, members[b], key=len)
            # Copies: a set that waits still splits as a whole, and with the smaller half that is enough.
            waiting.extend((other, set(smaller)) for other in range(width))
    return block


def _built(
    table: list[list[int]], final: set[int], block: list[int], members: list[list[Any]]
) -> Deterministic:
    """Number the blocks as a search from the initial state meets them, and merge classes into labels."""
    if not table:
        return Deterministic(frozenset(), ())
    number = {block[0]: 0}
    representatives = [0]
    arcs: list[list[tuple[Symbols, int]]] = []
    while len(arcs) < len(representatives):
        row = []
        for target in table[representatives[len(arcs)]]:
            if target != DEAD and block[target] not in number:
                number[block[target]] = len(representatives)
                representatives.append(target)
            row.append(DEAD if target == DEAD else number[block[target]])
        # A label per target; the target of the symbols that no label mentions gets a negated one.
        *named, elsewhere = row
        reached: dict[int, list[Any]] = {}
        for target, symbols in zip(named, members, strict=False):
            reached.setdefault(target, []).extend(symbols)
        leaving = []
        if elsewhere != DEAD:
            others = [s for target, symbols in reached.items() if target != elsewhere for s in symbols]
            leaving.append((Symbols(frozenset(others), negated=True), elsewhere))
        leaving.extend(
            (Symbols(frozenset(symbols)), target)
            for target, symbols in reached.items()
            if target not in (DEAD, elsewhere)
        )
        arcs.append(leaving)
    return Deterministic(frozenset(i for i, r in enumerate(representatives) if r in final), arcs)
