"""Pair hidden Markov models: machines that write two strings at once."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

from ..errors import ParameterError
from .builder import Builder
from .labels import EPSILON
from .transducer import Transducer

__all__ = ["conditional_pair_hmm", "pair_hmm"]


def pair_hmm(
    match: Mapping[tuple[Hashable, Hashable], float],
    insert: Mapping[Hashable, float],
    *,
    open: float,
    extend: float,
    stop: float,
) -> Transducer:
    r"""Pair hidden Markov model: the probability of generating two strings together.

    Three states generate aligned symbols (a, b) with probability ``match[a, b]``, a symbol of the first
    string alone, or one of the second alone, with probability ``insert[a]``.  A model begins as if after a
    match.  From a match a gap in either string opens with probability :math:`\delta`; a gap goes on with
    probability :math:`\varepsilon`; everything ends with probability :math:`\tau`; what remains leads (back)
    to a match.  T(x, y) sums over all alignments.

    T(x, y) = T(y, x) if ``match`` is symmetric.  As a kernel, ``Rational(pair_hmm(...))``, it need not be
    positive definite: a gap in x alone and one in y alone are possible, both at one place are not, and this
    table of possibilities has a negative eigenvalue.  The certificate of the kernel shows a witness if short
    strings have one.  :func:`conditional_pair_hmm` makes models whose kernels are positive definite.

    Parameters
    ----------
    match : mapping of pairs of symbols to numbers >= 0
        Probabilities of aligned pairs.
    insert : mapping of symbols to numbers >= 0
        Probabilities of symbols opposite to a gap.
    open, extend, stop : float
        Probabilities :math:`\delta`, :math:`\varepsilon` and :math:`\tau`, with
        :math:`2\delta + \tau \le 1` and :math:`\varepsilon + \tau \le 1`.

    Examples
    --------
    >>> from mercer.automata import pair_hmm
    >>> T = pair_hmm({("a", "a"): 1.0}, {"a": 1.0}, open=0.125, extend=0.25, stop=0.25)
    >>> T("a", "a"), T("a", "")  # one match and the end; a gap in y and the end
    (0.125, 0.03125)
    """
    _check_probabilities("pair_hmm", open=open, extend=extend, stop=stop)
    if 2 * open + stop > 1 or extend + stop > 1:
        raise ParameterError(
            "pair_hmm: 2 open + stop and extend + stop must not exceed 1. Got "
            f"{2 * open + stop!r} and {extend + stop!r}."
        )
    _check_weights("pair_hmm", match=match, insert=insert)
    builder = Builder()
    aligned = builder.state(initial=1, final=stop)
    in_x, in_y = builder.state(final=stop), builder.state(final=stop)
    to_match = {aligned: 1 - 2 * open - stop, in_x: 1 - extend - stop, in_y: 1 - extend - stop}

    def arc(source: int, target: int, read: Any, written: Any, weight: float) -> None:
        if weight > 0:
            builder.arc(source, target, read, written, weight)

    for source, p in to_match.items():
        for (a, b), q in match.items():
            arc(source, aligned, a, b, p * q)
    for a, q in insert.items():
        for gap, read, written in ((in_x, a, EPSILON), (in_y, EPSILON, a)):
            arc(aligned, gap, read, written, open * q)
            arc(gap, gap, read, written, extend * q)
    return builder.build()


def conditional_pair_hmm(
    hidden: Mapping[Hashable, float],
    emit: Mapping[tuple[Hashable, Hashable], float],
    insert: Mapping[Hashable, float],
    *,
    open: float,
    extend: float,
    stop: float,
) -> Transducer:
    r"""Conditionally symmetric pair hidden Markov model: one half of it.

    A hidden string z is drawn; given z, two strings x and y are drawn independently from the same model.
    Then p(x, y) is an inner product and so a positive definite kernel (Watkins 1999), ``Rational.pds(T)``:

    .. math:: p(x, y) = \sum_z p(z) \, p(x | z) \, p(y | z) = \sum_z T(x, z) \, T(y, z), \qquad
              T(x, z) = \sqrt{p(z)} \, p(x | z) .

    The hidden string has length m with probability :math:`\tau (1 - \tau)^m` and independent symbols of
    probabilities ``hidden[h]``.  Each writes one symbol of x with probability ``emit[h, a]``: symbols of x
    and y from the same h are aligned, with probability :math:`\sum_h p(h) \, p(a | h) \, p(b | h)`.  Before,
    between and after them x may have runs of further symbols, gaps in z: a run begins with probability
    :math:`\delta`, goes on with probability :math:`\varepsilon`, and its symbols have probabilities
    ``insert[a]``.  Unlike in :func:`pair_hmm`, x and y may both have one at the same place: runs are
    independent given z.

    Parameters
    ----------
    hidden : mapping of hidden symbols to numbers >= 0
        Probabilities p(h).
    emit : mapping of (hidden symbol, symbol) to numbers >= 0
        Probabilities p(a | h).
    insert : mapping of symbols to numbers >= 0
        Probabilities of symbols opposite to a gap.
    open, extend, stop : float
        Probabilities :math:`\delta`, :math:`\varepsilon` and :math:`\tau`.

    Returns
    -------
    Transducer
        T, which reads x and writes z.

    Examples
    --------
    >>> from mercer.automata import conditional_pair_hmm
    >>> from mercer.kernels import Rational
    >>> T = conditional_pair_hmm({"h": 1}, {("h", "a"): 1}, {"a": 1}, open=0.5, extend=0.5, stop=0.25)
    >>> k = Rational.pds(T)
    >>> k("", ""), k("a", "")  # no runs, and the end; a run in x
    (0.0625, 0.03125)
    >>> k.certificate.is_psd
    True
    """
    _check_probabilities("conditional_pair_hmm", open=open, extend=extend, stop=stop)
    _check_weights("conditional_pair_hmm", hidden=hidden, emit=emit, insert=insert)
    unknown = sorted({h for h, _ in emit} - set(hidden), key=repr)
    if unknown:
        raise ParameterError(
            f"conditional_pair_hmm: `emit` must use symbols of `hidden` only. Got {unknown[0]!r}."
        )
    builder = Builder()
    end = math.sqrt(stop)
    aligned = builder.state(initial=1, final=(1 - open) * end)
    gap = builder.state(final=(1 - extend) * end)
    for source, leave in ((aligned, 1 - open), (gap, 1 - extend)):
        for (h, a), q in emit.items():
            weight = leave * math.sqrt((1 - stop) * hidden[h]) * q
            if weight > 0:
                builder.arc(source, aligned, a, h, weight)
    for a, q in insert.items():
        for source, p in ((aligned, open), (gap, extend)):
            if p * q > 0:
                builder.arc(source, gap, a, EPSILON, p * q)
    return builder.build()


def _check_probabilities(caller: str, **values: float) -> None:
    for name, p in values.items():
        if not 0 <= p <= 1:
            raise ParameterError(f"{caller}: `{name}` must be a probability. Got {p!r}.")


def _check_weights(caller: str, **tables: Mapping[Any, float]) -> None:
    for name, weights in tables.items():
        if any(not 0 <= p < math.inf for p in weights.values()):
            raise ParameterError(f"{caller}: `{name}` must hold numbers >= 0. Got {dict(weights)!r}.")
