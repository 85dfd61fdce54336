"""Pair hidden Markov models: machines that write two strings at once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from ..errors import ParameterError
from .builder import Builder
from .labels import EPSILON
from .transducer import Transducer

__all__ = ["pair_hmm"]


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
    table of possibilities has a negative eigenvalue.  :func:`mercer.refute` finds witnesses.

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
    for name, p in (("open", open), ("extend", extend), ("stop", stop)):
        if not 0 <= p <= 1:
            raise ParameterError(f"pair_hmm: `{name}` must be a probability. Got {p!r}.")
    if 2 * open + stop > 1 or extend + stop > 1:
        raise ParameterError(
            "pair_hmm: 2 open + stop and extend + stop must not exceed 1. Got "
            f"{2 * open + stop!r} and {extend + stop!r}."
        )
    for name, weights in (("match", match), ("insert", insert)):
        if any(not p >= 0 for p in weights.values()):
            raise ParameterError(f"pair_hmm: `{name}` must hold numbers >= 0. Got {dict(weights)!r}.")
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
