"""Transducers that count the occurrences of patterns."""

from __future__ import annotations

from typing import Any

from ..errors import ParameterError
from .builder import Builder
from .labels import ANY, EPSILON
from .transducer import Transducer

__all__ = ["counting"]


def counting(automaton: Transducer, *, gap: Any = None, silent: bool = False) -> Transducer:
    r"""Transducer that counts the occurrences of patterns in strings.

    .. math:: T(x, z) = A(z) \cdot \#\{(u, v) : x = u z v\}

    It skips a beginning of x, copies a pattern z that the automaton A accepts, and skips the rest.  The
    skipping loops are over any symbols, so strings may hold symbols that no pattern names.  An automaton with
    several paths for one string counts each of them (:func:`determinize` makes it count once; automata of
    regular expressions without weights already do).  The empty string, if A accepts it, occurs
    ``len(x) + 1`` times.

    With ``gap`` symbols of x may be left out between the symbols of a pattern, each at this price:

    .. math:: T(x, z) = A(z) \sum_{i_1 < \dots < i_n : x_{i_1} \cdots x_{i_n} = z} \lambda^{i_n - i_1 + 1 - n}

    Parameters
    ----------
    automaton : Transducer
        The patterns with their weights.
    gap : optional
        The weight :math:`\lambda` of each symbol left out within a pattern.  By default none may be.
    silent : bool, default=False
        Write nothing: T(x, empty) is the number of occurrences of all patterns together.

    Examples
    --------
    >>> from mercer.automata import counting, from_regex
    >>> bigrams = counting(from_regex(".{2}"))
    >>> bigrams("banana", "an"), bigrams("banana", "aa")
    (2.0, 0.0)
    >>> counting(from_regex(".{2}"), gap=0.5)("banana", "aa")  # twice over one letter, once over three
    1.125
    """
    if not automaton.is_automaton:
        raise ParameterError(
            "counting: `automaton` must have equal tapes. Got a transducer; project it first."
        )
    A = automaton if (automaton.machine.input != 0).all() else automaton.remove_epsilons()
    ring = A.semiring
    builder = Builder(ring)
    before, within = builder.state(initial=ring.one), builder.states(A.n_states)
    after = builder.state(final=ring.one)
    for outside in (before, after):
        builder.arc(outside, outside, ANY, EPSILON)
    for arc in A.arcs:
        # Entering and leaving happen together with the first and the last symbol: nothing but the empty
        # pattern needs an empty move, and gaps are possible between symbols only.
        begins = [(within[arc.source], ring.one)]
        begins += [(before, A.initial[arc.source])] if arc.source in A.initial else []
        ends = [(within[arc.target], ring.one)]
        ends += [(after, A.final[arc.target])] if arc.target in A.final else []
        written = EPSILON if silent else arc.output
        for source, v in begins:
            for target, w in ends:
                builder.arc(source, target, arc.input, written, ring.times(ring.times(v, arc.weight), w))
    for q in A.initial.keys() & A.final.keys():
        builder.arc(before, after, EPSILON, EPSILON, ring.times(A.initial[q], A.final[q]))
    if gap is not None:
        for q in within:
            builder.arc(q, q, ANY, EPSILON, gap)
    return builder.build().trim()
