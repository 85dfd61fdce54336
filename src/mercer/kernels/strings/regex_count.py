"""Kernel that counts the matches of a regular expression."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from ...arithmetic import Arithmetic
from ...automata import counting, from_regex
from ...certificate import Certificate
from ...contributions import Contribution
from ...domains import Data, Domain, Sequences
from ...errors import ParameterError
from ...intervals import NONNEGATIVE, REAL_LINE, Interval
from ...kernel import Kernel
from ...parameters import parameter
from .plans import PLANS, Points
from .rational import Rational

__all__ = ["RegexCount"]


class RegexCount(Kernel):
    r"""Kernel on strings by the matches of a regular expression.

    .. math:: k(x, y) = \sum_{z \text{ matched}} w(z)^2 \,\#_x(z)\, \#_y(z)

    where :math:`\#_x(z)` is the number of places of x at which z stands; overlapping places all count, and
    each counts once, however the expression matches there.  With ``by="total"`` all matches are alike,
    :math:`k(x, y) = N(x) N(y)` for the number N of places of any match.  Weights w are 1 unless the pattern
    has some (see :func:`mercer.automata.from_regex`).  If the empty string matches, it does so ``len(x) + 1``
    times.

    Positive definite: the inner product of counts.  It is the rational kernel of a counting transducer, and
    linear in the lengths for patterns of bounded length; see :meth:`explain`.

    Parameters
    ----------
    pattern : str
        The regular expression.
    by : {"substring", "total"}, default="substring"
        Whether different matched strings are different features.
    words : bool, default=False
        Symbols are words rather than letters.
    gap : float, optional
        Symbols may be left out within a match, each at this price.  By default none may be.
    plan : {"auto", "features", "automata", "composition"}, default="auto"
        How to compute: see :class:`Rational`.

    Examples
    --------
    >>> k = RegexCount("[ACGT]TG|TAA")
    >>> k("CATGTAA", "ATGATG")  # ATG once and twice; TAA only in one of them
    2.0
    >>> RegexCount("A+", by="total")("AAB", "A")  # A, A and AA; A
    3.0
    """

    pattern: str
    by: str = parameter(default="substring", choices=("substring", "total"), kw_only=True)
    words: bool = parameter(default=False, choices=(False, True), kw_only=True)
    gap: float | None = field(default=None, kw_only=True)
    plan: str = parameter(default="auto", choices=("auto", *PLANS), kw_only=True)

    def _validate(self) -> None:
        gap: Any = self.gap
        if gap is not None:
            if isinstance(gap, bool) or not isinstance(gap, int | float) or not math.isfinite(gap):
                raise ParameterError(f"RegexCount: `gap` must be a finite number or None. Got {gap!r}.")
            object.__setattr__(self, "gap", float(gap))
        _ = self._rational

    @cached_property
    def _rational(self) -> Rational:
        patterns = from_regex(self.pattern, words=self.words)
        return Rational.pds(counting(patterns, gap=self.gap, silent=self.by == "total"), plan=self.plan)

    @property
    def domain(self) -> Domain:
        return Sequences()

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return self._rational._define(x, y, m)

    def _prepare(self, X: Data) -> Points:
        return self._rational._prepare(X)

    def _block(self, X: Points, Y: Points | None) -> np.ndarray:
        return self._rational._block(X, Y)

    def _diagonal(self, X: Points) -> np.ndarray:
        return self._rational._diagonal(X)

    def _contributions(self, x: Any, y: Any) -> Iterable[Contribution]:
        return self._rational._contributions(x, y)

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "explicit features", "the inner product of weighted counts of matches")

    @property
    def bounds(self) -> Interval:
        m = self._rational.transducer.machine
        counts = all((weights >= 0).all() for weights in (m.weight, m.initial, m.final))
        return NONNEGATIVE if counts else REAL_LINE

    def _digest_form(self) -> bytes:
        # Plans give the same values: one store serves them all.
        return super()._digest_form() if self.plan == "auto" else self.replace(plan="auto")._digest_form()

    def explain(self) -> str:
        """How values are computed: see :meth:`Rational.explain`."""
        return self._rational.explain()
