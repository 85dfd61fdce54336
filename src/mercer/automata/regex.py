"""Automata from regular expressions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from ..errors import ParameterError
from .builder import Builder
from .determinism import Deterministic, Nondeterministic, minimal, ordered
from .labels import EPSILON, AnyExcept
from .positions import Positions
from .semirings import BOOLEAN, Semiring, semiring_of
from .syntax import Symbols, Weight, nodes, parse
from .transducer import Transducer

__all__ = ["determinize", "from_regex"]


def from_regex(
    pattern: str,
    *,
    words: bool = False,
    symbols: Mapping[str, Hashable] | None = None,
    semiring: Semiring | str = "real",
) -> Transducer:
    r"""Automaton of a regular expression.

    ====================  =========================================================================
    ``abc``               these symbols one after the other
    ``.``                 any symbol, newlines and symbols yet unseen among them
    ``[a-z]``, ``[^ab]``  one symbol of a set, or any symbol but those of a set
    ``x|y``               one of two
    ``x*``, ``x+``        any number of times; at least once
    ``x?``                once or not at all
    ``x{3}``              three times; ``{2,4}`` two to four times, ``{2,}`` at least twice
    ``( )``, ``(?: )``    a group
    ``<0.5>``             reads nothing and multiplies the weight: ``(ab<0.5>|c<2>)``
    ``\d``, ``\w``,       ASCII digits, letters with digits and ``_``, white space; in capitals all
    ``\s``                others
    ``\n``, ``\x41``,     control characters and code points, as in Python
    ``\u0041``
    ``\.``                a symbol that would mean something else
    ====================  =========================================================================

    The pattern describes whole strings; there are no anchors.

    Without weights it stands for a *set* of strings: the automaton is the smallest deterministic one, and
    gives each string of the set the weight one, however many ways there are to match it.  With a weight
    anywhere (``<1>`` will do) a string has the sum over all its derivations: ``(a<1>|a)`` gives "a" the
    weight 2.
    Repetitions without upper bound repeat matches that are not empty, so that no string has infinitely many
    derivations.

    Parameters
    ----------
    pattern : str
        The expression; the empty one stands for the empty string.
    words : bool, default=False
        Symbols are words, separated by white space, instead of letters: ``"the (big | small) dog+"``; a class
        is a list of words, ``[the a]``.
    symbols : mapping of str to hashable, optional
        What the words stand for, where the symbols are no text: ``{"C": 60, "E": 64}``.
    semiring : {"real", "log", "tropical", "boolean"} or Semiring, default="real"
        What weights are; they are written in it.

    Raises
    ------
    ParameterError
        If the pattern cannot be read, with the position, or if it is too large.

    Examples
    --------
    >>> A = from_regex("(ab|c)+d?")
    >>> A("abcd"), A("ba")
    (1.0, 0.0)
    >>> from_regex("x<0.5>|[xy]<2>")("x")
    2.5
    >>> from_regex("the [^the]+ ends", words=True)(["the", "story", "ends"])
    1.0
    """
    ring = semiring_of(semiring, "from_regex")
    tree = parse(pattern, words=words, symbols=symbols)
    is_weighted = any(isinstance(node, Weight) for node in nodes(tree))
    # The positions of the expression are states 1, 2, ...; state 0 comes before all.
    p = Positions(tree, ring if is_weighted else BOOLEAN)
    if not is_weighted:
        arcs = [[(p.symbols[q], q + 1) for q in reached] for reached in (p.whole.first, *p.follow)]
        final = {q + 1 for q in p.whole.last} | ({0} if p.whole.empty else set())
        return _automaton(minimal(Nondeterministic(frozenset([0]), frozenset(final), arcs)), ring)
    builder = Builder(ring)
    builder.state(initial=ring.one, final=p.whole.empty)
    for q in range(len(p.symbols)):
        builder.state(final=p.whole.last.get(q))
    for source, reached in enumerate((p.whole.first, *p.follow)):
        for q, weight in reached.items():
            _add_arcs(builder, source, q + 1, p.symbols[q], weight)
    return builder.build()


def determinize(automaton: Transducer) -> Transducer:
    """Smallest deterministic automaton of the strings that an automaton accepts, each with the weight one.

    A string is accepted if there is a path for it whose arcs have weights other than zero.

    Examples
    --------
    >>> from mercer.automata import determinize, string
    >>> twice = string("ab") | string("ab")
    >>> twice("ab"), determinize(twice)("ab")
    (2.0, 1.0)
    """
    if not automaton.is_automaton:
        raise ParameterError(
            "determinize: `automaton` must have equal tapes. Got a transducer; project it first."
        )
    zero = automaton.semiring.zero
    arcs: list[list[tuple[Symbols, int]]] = [[] for _ in range(automaton.n_states)]
    silent: list[list[int]] = [[] for _ in range(automaton.n_states)]
    for arc in automaton.arcs:
        if arc.weight == zero:
            continue
        if arc.input is EPSILON:
            silent[arc.source].append(arc.target)
        elif isinstance(arc.input, AnyExcept):
            arcs[arc.source].append((Symbols(frozenset(arc.input.excluded), negated=True), arc.target))
        else:
            arcs[arc.source].append((Symbols(frozenset([arc.input])), arc.target))
    closure = [_reached(q, silent) for q in range(automaton.n_states)]
    machine = Nondeterministic(
        frozenset(r for q in automaton.initial for r in closure[q]),
        frozenset(automaton.final),
        [[(label, r) for label, target in found for r in closure[target]] for found in arcs],
    )
    return _automaton(minimal(machine), automaton.semiring)


def _reached(state: int, silent: list[list[int]]) -> list[int]:
    """A state and all that it leads to without reading."""
    found, stack = {state: None}, [state]
    while stack:
        for target in silent[stack.pop()]:
            if target not in found:
                found[target] = None
                stack.append(target)
    return list(found)


def _automaton(machine: Deterministic, ring: Semiring) -> Transducer:
    builder = Builder(ring)
    for q in range(len(machine.arcs)):
        builder.state(initial=ring.one if q == 0 else None, final=ring.one if q in machine.final else None)
    for source, arcs in enumerate(machine.arcs):
        for label, target in arcs:
            _add_arcs(builder, source, target, label, ring.one)
    return builder.build()


def _add_arcs(builder: Builder, source: int, target: int, label: Symbols, weight: Any) -> None:
    """One arc for a negated set, else one for each symbol."""
    symbols = ordered(label.symbols)
    for symbol in [AnyExcept(symbols)] if label.negated else symbols:
        builder.arc(source, target, symbol, weight=weight)
