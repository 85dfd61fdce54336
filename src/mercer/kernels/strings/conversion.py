"""Kernels on strings as rational kernels: the same values by way of weighted transducers."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from functools import partial, reduce, singledispatch
from operator import add
from typing import Any

from ...arithmetic import FLOAT
from ...errors import DomainError, ParameterError
from ...kernel import Kernel
from . import transducers
from .alignment import LocalAlignment
from .factors import Factors
from .gapped import GappedKmer, Wildcard
from .gappy import GappyNGram
from .mismatch import Mismatch
from .ngrams import NGram
from .rational import Rational
from .regex_count import RegexCount
from .subsequences import AllSubsequences, Subsequence

__all__ = ["as_rational"]


@singledispatch
def as_rational(k: Kernel, alphabet: Collection[Any] | None = None) -> Kernel:
    """A kernel on strings as a rational one: equal values, from weighted transducers.

    Good for looking at what a kernel counts (``as_rational(k).transducer`` can be drawn), for composing it
    with other machines, for comparing automata instead of strings, and as a second way to every value.
    Lengths with weights of their own become a sum of rational kernels.

    Parameters
    ----------
    k : Kernel
        :class:`NGram`, :class:`Spectrum`, :class:`GappyNGram`, :class:`Wildcard`, :class:`GappedKmer`,
        :class:`Mismatch`, :class:`Subsequence`, :class:`AllSubsequences`, :class:`Factors` with counts,
        :class:`LocalAlignment`, :class:`RegexCount`, or a rational kernel.
    alphabet : collection of symbols, optional
        The symbols that :class:`LocalAlignment` with (match, mismatch) may meet.

    Returns
    -------
    Kernel
        A :class:`Rational`, or a sum of multiples of such.

    Examples
    --------
    >>> from mercer.kernels import GappedKmer
    >>> k = GappedKmer(3, 2)
    >>> k("abcab", "abdab"), as_rational(k)("abcab", "abdab")
    (3.0, 3.0)
    """
    raise DomainError(f"as_rational: {k!r} is not known as a rational kernel.")


@as_rational.register
def _(k: Rational, alphabet: Collection[Any] | None = None) -> Kernel:
    return k


@as_rational.register
def _(k: RegexCount, alphabet: Collection[Any] | None = None) -> Kernel:
    return k._rational


@as_rational.register
def _(k: NGram, alphabet: Collection[Any] | None = None) -> Kernel:
    _require_plain(k)
    return _sum((weight, transducers.ngrams(n)) for n, weight in k._lengths())


@as_rational.register
def _(k: GappyNGram, alphabet: Collection[Any] | None = None) -> Kernel:
    return Rational.pds(transducers.gappy_ngrams(k.n, k.decay, k.max_gap))


@as_rational.register
def _(k: Wildcard, alphabet: Collection[Any] | None = None) -> Kernel:
    _require_plain(k)
    return Rational.pds(transducers.wildcards(k.n, k.m, k.decay))


@as_rational.register
def _(k: GappedKmer, alphabet: Collection[Any] | None = None) -> Kernel:
    _require_plain(k)
    return Rational.pds(transducers.gapped_kmers(k.l, k.k))


@as_rational.register
def _(k: Mismatch, alphabet: Collection[Any] | None = None) -> Kernel:
    _require_plain(k)
    return Rational.pds(transducers.mismatches(k.n, k.m, k.alphabet))


@as_rational.register
def _(k: Subsequence, alphabet: Collection[Any] | None = None) -> Kernel:
    lengths = enumerate(k._lengths, start=1)
    return _sum((weight, transducers.subsequences(n, k.decay)) for n, weight in lengths if weight > 0)


@as_rational.register
def _(k: AllSubsequences, alphabet: Collection[Any] | None = None) -> Kernel:
    return Rational.pds(transducers.all_subsequences(k.decay))


@as_rational.register
def _(k: Factors, alphabet: Collection[Any] | None = None) -> Kernel:
    if not k.counts:
        raise ParameterError(
            "as_rational: Factors counts each common factor once, which no finite machine can; "
            "counts=True is rational."
        )
    if len(k.excluded) or k.bonus is not None:
        raise ParameterError("as_rational: Factors must have neither `excluded` factors nor a `bonus`.")
    return Rational.pds(transducers.substrings(math.sqrt(k.rho), k.shortest))


@as_rational.register
def _(k: LocalAlignment, alphabet: Collection[Any] | None = None) -> Kernel:
    table = k._table
    if alphabet is None and table is None:
        raise ParameterError("as_rational: `alphabet` must list the symbols: (match, mismatch) names none.")
    symbols = table.vocabulary.elements if table is not None else tuple(alphabet or ())
    first, further = (math.exp(-k.beta * cost) for cost in (k.open, k.extend))
    return Rational(transducers.local_alignments(partial(k._weight, m=FLOAT), symbols, first, further))


def _sum(parts: Iterable[tuple[float, Any]]) -> Kernel:
    """A sum of multiples of T o T^-1."""
    kernels = [Rational.pds(T) if weight == 1.0 else weight * Rational.pds(T) for weight, T in parts]
    return reduce(add, kernels)


def _require_plain(k: Any) -> None:
    """Refuse the options for DNA, which read a sequence in more than one way."""
    if getattr(k, "reverse_complement", False) or getattr(k, "ambiguity", "literal") != "literal":
        raise ParameterError(
            f"as_rational: {type(k).__name__} must read one strand, and letters as they are "
            "(reverse_complement=False, ambiguity='literal')."
        )
