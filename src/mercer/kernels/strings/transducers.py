r"""The transducers behind the kernels on strings: what each of them counts, as a machine.

Every function returns a transducer T with :math:`k(x, y) = \sum_z T(x, z) T(y, z)`, except those for
alignments and edits, which read both strings at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ...automata import ANY, EPSILON, Builder, Transducer, counting

__all__ = [
    "WILDCARD",
    "all_subsequences",
    "edits",
    "gapped_kmers",
    "gappy_ngrams",
    "local_alignments",
    "mismatches",
    "ngrams",
    "subsequences",
    "substrings",
    "wildcards",
]


#: From a place in a window to (places read, exceptions used), reading and writing a symbol, with a weight.
Step = tuple[tuple[int, int], Any, Any, float]


class _Wildcard:
    """The symbol written for a letter that does not count."""

    def __repr__(self) -> str:
        return "WILDCARD"

    def __reduce__(self) -> str:
        return "WILDCARD"


WILDCARD = _Wildcard()


def _stretches(n: int, weight: float = 1.0) -> Transducer:
    """The automaton of all strings of n symbols, each symbol with a weight."""
    builder = Builder()
    for i in range(n + 1):
        builder.state(initial=1.0 if i == 0 else None, final=1.0 if i == n else None)
    for i in range(n):
        builder.arc(i, i + 1, ANY, weight=weight)
    return builder.build()


def ngrams(n: int) -> Transducer:
    """T(x, z): how often z, of n symbols, occurs in x."""
    return counting(_stretches(n))


def subsequences(n: int, decay: float) -> Transducer:
    """T(x, z): sum over the places of z, of n symbols, in x of decay to the length of the stretch."""
    return counting(_stretches(n, decay), gap=decay)


def gappy_ngrams(n: int, decay: float, max_gap: int | None) -> Transducer:
    """T(x, z): sum over the places of z in x of decay to the number of symbols left out, which is limited."""
    if max_gap is None:
        return counting(_stretches(n), gap=decay)

    def steps(i: int, gaps: int) -> list[Step]:
        skip = [((i, gaps + 1), ANY, EPSILON, decay)] if i > 0 and gaps < max_gap else []
        return [((i + 1, gaps), ANY, ANY, 1.0), *skip]

    return _windows(n, steps)


def wildcards(n: int, m: int, decay: float) -> Transducer:
    """T(x, z): windows of n symbols that fit z, in which up to m symbols are wildcards, each times decay."""

    def steps(i: int, used: int) -> list[Step]:
        wild = [((i + 1, used + 1), ANY, WILDCARD, decay)] if used < m else []
        return [((i + 1, used), ANY, ANY, 1.0), *wild]

    return _windows(n, steps)


def gapped_kmers(l: int, k: int) -> Transducer:  # noqa: E741 - the letters of the literature
    """T(x, z): windows of l symbols that fit z, which has k symbols and l - k wildcards."""

    def steps(i: int, used: int) -> list[Step]:
        wild = [((i + 1, used + 1), ANY, WILDCARD, 1.0)] if used < l - k else []
        return [((i + 1, used), ANY, ANY, 1.0), *wild]

    return _windows(l, steps, lambda used: used == l - k)


def mismatches(n: int, m: int, alphabet: Collection[Any]) -> Transducer:
    """T(x, z): windows of n symbols of x that differ from z in at most m places."""
    pairs = [(a, b) for a in alphabet for b in alphabet]

    def steps(i: int, used: int) -> list[Step]:
        return [((i + 1, used + (a != b)), a, b, 1.0) for a, b in pairs if used + (a != b) <= m]

    return _windows(n, steps)


def all_subsequences(decay: float) -> Transducer:
    """T(x, z): sum over the places of z in x of decay to the length of the stretch; 1 for the empty z."""
    builder = Builder()
    before, within, after = builder.state(initial=1.0, final=1.0), builder.state(), builder.state(final=1.0)
    for outside in (before, after):
        builder.arc(outside, outside, ANY, EPSILON)
    builder.arc(within, within, ANY, EPSILON, decay)
    for source in (before, within):
        for target in (within, after):
            builder.arc(source, target, ANY, weight=decay)
    return builder.build()


def substrings(weight: float, shortest: int) -> Transducer:
    """T(x, z): how often z occurs in x, times a weight per symbol; for z of a least length."""
    builder = Builder()
    for i in range(shortest + 1):
        builder.state(initial=1.0 if i == 0 else None, final=1.0 if i == shortest else None)
    for i in range(shortest):
        builder.arc(i, i + 1, ANY, weight=weight)
    builder.arc(shortest, shortest, ANY, weight=weight)
    return counting(builder.build())


def local_alignments(
    weight: Callable[[Any, Any], float], alphabet: Collection[Any], first: float, further: float
) -> Transducer:
    """U(x, y): sum over all local alignments of the product of their weights.

    Pairs of symbols have weights, and so have the first and every further symbol of a gap.
    Each alignment is one path: what comes before it in x, then in y; the matches, with what is left out of
    x before what is left out of y; what comes after it in x, then in y.
    """
    builder = Builder()
    x_before = builder.state(initial=1.0, final=1.0)
    y_before = builder.state(final=1.0)
    match = builder.state(final=1.0)
    x_gap, y_gap = builder.state(), builder.state()
    x_after, y_after = builder.state(final=1.0), builder.state(final=1.0)
    for source, target, factor in (
        (x_before, x_before, 1.0),
        (match, x_gap, first),
        (x_gap, x_gap, further),
        (match, x_after, 1.0),
        (x_after, x_after, 1.0),
    ):
        builder.arc(source, target, ANY, EPSILON, factor)
    for source, target, factor in (
        (x_before, y_before, 1.0),
        (y_before, y_before, 1.0),
        (match, y_gap, first),
        (x_gap, y_gap, first),
        (y_gap, y_gap, further),
        (match, y_after, 1.0),
        (x_after, y_after, 1.0),
        (y_after, y_after, 1.0),
    ):
        builder.arc(source, target, EPSILON, ANY, factor)
    for source in (x_before, y_before, match, x_gap, y_gap):
        for a in alphabet:
            for b in alphabet:
                builder.arc(source, match, a, b, weight(a, b))
    return builder.build()


def edits(gap: float, substitute: float, alphabet: Collection[Any]) -> Transducer:
    """Tropical U(x, y): the least cost of insertions, deletions and substitutions that turn x into y."""
    builder = Builder("tropical")
    state = builder.state(initial=0.0, final=0.0)
    builder.arc(state, state, ANY, EPSILON, gap)
    builder.arc(state, state, EPSILON, ANY, gap)
    for a in alphabet:
        for b in alphabet:
            builder.arc(state, state, a, b, 0.0 if a == b else substitute)
    return builder.build()


# -- windows ------------------------------------------------------------------------------------
def _windows(
    n: int,
    steps: Callable[[int, int], list[Step]],
    ends: Callable[[int], bool] = lambda used: True,
) -> Transducer:
    """Skip, read n places of a window by steps between (places read, exceptions used), skip the rest."""
    builder = Builder()
    before, after = builder.state(initial=1.0), builder.state(final=1.0)
    for outside in (before, after):
        builder.arc(outside, outside, ANY, EPSILON)
    number, queue = {(0, 0): before}, [(0, 0)]
    while queue:
        i, used = queue.pop()
        for place, read, written, weight in steps(i, used):
            if place[0] == n:
                if ends(place[1]):
                    builder.arc(number[i, used], after, read, written, weight)
                continue
            if place not in number:
                number[place] = builder.state()
                queue.append(place)
            builder.arc(number[i, used], number[place], read, written, weight)
    return builder.build().trim()
