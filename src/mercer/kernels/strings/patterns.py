r"""The patterns of a rational kernel as columns of a matrix, and the same kernel with a weight for each.

.. math:: k_\mu(x, y) = \sum_z \mu(z) \, T(x, z) \, T(y, z), \qquad \mu \ge 0

is the kernel of the transducer T followed by an automaton that gives :math:`\sqrt{\mu(z)}` to z: again a
rational kernel, and positive definite.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from ...algebra import Scaled, Sum
from ...automata import Transducer
from ...automata.operations import union
from ...automata.outputs import list_outputs, listable
from ...domains import EncodedSequences, Sequences
from ...errors import MercerError, ParameterError
from ...kernel import Kernel
from .conversion import as_rational
from .rational import Rational

__all__ = ["Patterns", "list_patterns", "pattern_transducer", "weighted_patterns"]

#: Steps after which the patterns of one string are too many to be listed.
MOST_STEPS = 10_000_000

#: Text, or a tuple of symbols.
Pattern = str | tuple[Any, ...]


class Patterns(NamedTuple):
    """Patterns that occur in strings, and T(x, z): a sparse array with a column for each of them."""

    names: tuple[Pattern, ...]
    counts: scipy.sparse.csc_array


def pattern_transducer(kernel: Kernel, caller: str) -> Transducer:
    """The transducer T that writes the patterns of a kernel, with k = T o T^-1; an error if there is none.

    A sum of such kernels has one if no pattern is written by two of its terms.
    """
    try:
        terms = [_scaled(k, factor) for k, factor in _terms(kernel, 1.0)]
    except MercerError as error:
        raise ParameterError(_refusal(caller, kernel, str(error))) from error
    if any((S @ T.inverse()).n_states > 0 for S, T in combinations(terms, 2)):
        raise ParameterError(_refusal(caller, kernel, "Terms of the sum share patterns: pass one of them."))
    T = Rational.pds(reduce(union, terms))._evaluation.T
    if problem := listable(T):
        raise ParameterError(_refusal(caller, kernel, f"Here {problem}."))
    return T


def list_patterns(T: Transducer, X: EncodedSequences, caller: str) -> Patterns:
    """The patterns that a transducer writes for strings."""
    found = list_outputs(T, X, MOST_STEPS)
    if found is None:
        raise ParameterError(
            f"{caller}: `kernel` must have patterns that can be listed. A string of `X` takes more than "
            f"{MOST_STEPS:,} steps. Take a kernel of shorter patterns, or shorter strings."
        )
    starts, numbers, weights = found.entries
    shape = (len(X), len(found.strings))
    counts = scipy.sparse.csr_array((weights, numbers, starts), shape=shape).tocsc()
    counts.eliminate_zeros()
    occurring = np.flatnonzero(np.diff(counts.indptr))
    names = tuple(Sequences().point(found.strings.elements[i]) for i in occurring.tolist())
    return Patterns(names, counts[:, occurring])


def weighted_patterns(T: Transducer, weights: Mapping[Pattern, float]) -> Rational:
    """The kernel that counts these patterns alone, each with its weight >= 0."""
    return Rational.pds(T @ _acceptor({tuple(z): math.sqrt(weight) for z, weight in weights.items()}))


def _acceptor(weights: Mapping[tuple[Any, ...], float]) -> Transducer:
    """The automaton of strings with weights, a tree: strings share the arcs of what they begin with.

    The last arc of a string has its weight and leads to the one state where all of them end, rather than to a
    node of the tree: a transducer before it then needs its states after a pattern once, not for each pattern.
    """
    nodes: dict[tuple[Any, ...], int] = {(): 1}
    arcs = []
    for z, weight in weights.items():
        for length in range(1, len(z)):
            if z[:length] not in nodes:
                nodes[z[:length]] = len(nodes) + 1
                arcs.append((nodes[z[: length - 1]], nodes[z[:length]], z[length - 1], z[length - 1], 1.0))
        if z:
            arcs.append((nodes[z[:-1]], 0, z[-1], z[-1], weight))
    final = {0: 1.0, **({1: weights[()]} if () in weights else {})}
    return Transducer(arcs, {1: 1.0}, final, n_states=len(nodes) + 1)


def _terms(kernel: Kernel, factor: float) -> Iterator[tuple[Kernel, float]]:
    """The terms of a sum with their factors."""
    if isinstance(kernel, Scaled):
        yield from _terms(kernel.base, factor * kernel.factor)
    elif isinstance(kernel, Sum):
        for term in kernel.terms:
            yield from _terms(term, factor)
    elif (rational := as_rational(kernel)) is kernel:
        yield kernel, factor
    else:  # lengths with weights of their own are a sum
        yield from _terms(rational, factor)


def _scaled(kernel: Kernel, factor: float) -> Transducer:
    """T for the factor times T o T^-1."""
    if not isinstance(kernel, Rational) or not kernel.squared or factor < 0:
        raise ParameterError("Only T o T^-1, or sums of positive multiples of it, have patterns.")
    T = kernel._evaluation.T
    final = {state: math.sqrt(factor) * weight for state, weight in T.final.items()}
    return T if factor == 1.0 else Transducer(T.arcs, T.initial, final, n_states=T.n_states)


def _refusal(caller: str, kernel: Any, why: str) -> str:
    return (
        f"{caller}: `kernel` must be one on strings that lists its patterns, such as Spectrum(4), "
        f"GappyNGram(2, max_gap=3) or RegexCount('A.?T'). Got {kernel!r}. {why}"
    )
