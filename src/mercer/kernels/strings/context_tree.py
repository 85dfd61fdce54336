"""The mutual-information kernel of Bayesian context-tree models."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.special

from ...arithmetic import FLOAT, Arithmetic
from ...caches import Cache
from ...certificate import Certificate
from ...contributions import Contribution, Places
from ...domains import Domain, EncodedSequences, Sequences
from ...engine.substrings import ContextForest
from ...errors import InputError, ParameterError
from ...intervals import Interval
from ...kernel import Kernel
from ...parameters import parameter

__all__ = ["ContextTree"]

#: Logarithm of the smallest value that has the full precision of a float.
SMALLEST_LOG = math.log(np.finfo(np.float64).tiny)


class Trees:
    """Strings with their context trees, which follow the numbers of the partner's letters.

    Attributes
    ----------
    strings : EncodedSequences
        All strings, of which ``rows`` are meant.
    """

    def __init__(
        self, kernel: ContextTree, strings: EncodedSequences, rows: np.ndarray, known: _Forests | None = None
    ) -> None:
        self.kernel, self.strings, self.rows = kernel, strings, rows
        self._known = _Forests(kernel, strings) if known is None else known

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, index: slice | np.ndarray) -> Trees:
        """Select strings; their trees are shared."""
        return Trees(self.kernel, self.strings, self.rows[index], self._known)

    def forest(self, other: Trees | None = None) -> ContextForest:
        """The trees with children in the order of the letters of ``other``."""
        return self._known.of(self.strings if other is None else other.strings)


class _Forests:
    """Context trees by the alphabet that they are coded in; each is built once, by whoever comes first."""

    def __init__(self, kernel: ContextTree, strings: EncodedSequences) -> None:
        self._kernel, self._strings = kernel, strings
        self._known = Cache()

    def of(self, like: EncodedSequences) -> ContextForest:
        return self._known.of(like.alphabet, lambda _: self._forest(like))

    def _forest(self, like: EncodedSequences) -> ContextForest:
        k = self._kernel
        k._check_letters(like, self._strings)
        return ContextForest(
            self._strings.coded_like(like),
            depth=k.depth,
            boundary=k.boundary,
            letters=k.alphabet_size,
            sigma=k.sigma,
            split=k.split,
            prior=k.prior,
        )


class ContextTree(Kernel):
    r"""Mutual-information kernel under a Bayesian mixture of context-tree models.

    .. math:: k(x, y) = \sum_T \pi(T) \int P_{T,\theta}(x)^{\sigma/N_x}\, P_{T,\theta}(y)^{\sigma/N_y}\,
        \omega(d\theta \mid T)

    Here T runs over the complete trees of contexts of at most D letters.  A model :math:`(T, \theta)` draws
    each letter given the longest context in T that stands before it, :math:`P(x) = \prod_i
    \theta_{T(x_{i-D} \dots x_{i-1})}(x_i)`.  The prior splits every node of the tree with the probability p
    (up to depth D), and gives each leaf a Dirichlet distribution with all parameters b (Krichevsky-Trofimov:
    1/2).  :math:`N_x` is the number of letters that are drawn.  Every string counts as :math:`\sigma`
    letters, as in Cuturi and Vert (2005), so that values of long strings do not vanish with their lengths;
    where all strings have :math:`N` letters and :math:`\sigma = N`, it is the plain kernel
    :math:`\int P(x) P(y)`.

    Positive definite: an integral of products of a function of x with the same function of y.  Not strictly:
    strings with proportional counts of letters per context are one.

    Cost: the trees are built once, in O(D N) steps, and take about 60 bytes for each context that occurs, of
    which there are at most D N.  A pair costs what the two trees have in common, at most O(D (N_x + N_y)), by
    the weighted-tree recursion in logarithms.  A value that underflows (a large :math:`\sigma`) is an error.

    The contributions of contexts are shares of the value: a context has the posterior probability of being
    the one in use, times the part of the letters that are read behind it.  They add up to ``k(x, y)``; the
    value itself is no sum over contexts.

    Parameters
    ----------
    depth : int
        The most letters of a context, D, from 0 (letters are independent) to 100.
    alphabet_size : int
        Number of letters there may be, whether they occur or not.  Data with more are refused.
    sigma : float, default=1.0
        Letters that every string counts as, > 0: the larger, the more do values differ.
    split : float, default=0.5
        The probability p, from 0 to 1.
    prior : float, default=0.5
        Parameter b of the Dirichlet distributions, > 0.
    boundary : bool, default=False
        If false, the first D letters are contexts only; strings of D letters or fewer have nothing to draw,
        and count as the empty string.  If true, all letters are drawn, and the begin of a string is a further
        letter of contexts.

    Examples
    --------
    >>> k = ContextTree(2, alphabet_size=4, sigma=4.0)
    >>> k.normalized().block(["ACACACAC", "CACACACACA", "ACGTTGCA"]).round(2)
    array([[1.  , 1.  , 0.08],
           [1.  , 1.  , 0.08],
           [0.08, 0.08, 1.  ]])
    """

    depth: int = parameter(low=0, high=100, integer=True)
    alphabet_size: int = parameter(low=1, integer=True)
    sigma: float = parameter(default=1.0, low=0.0, open_low=True)
    split: float = parameter(default=0.5, low=0.0, high=1.0)
    prior: float = parameter(default=0.5, low=0.0, open_low=True)
    boundary: bool = parameter(default=False, choices=(False, True))

    @property
    def domain(self) -> Domain:
        return Sequences()

    def _check_letters(self, X: EncodedSequences, Y: EncodedSequences) -> None:
        self._check_count(len(X.alphabet.index.keys() | Y.alphabet.index.keys()))

    def _check_count(self, letters: int) -> None:
        if letters > self.alphabet_size:
            raise InputError(
                f"ContextTree: the strings must have at most `alphabet_size` = {self.alphabet_size} letters. "
                f"Got {letters} different ones. Count all letters that there may be."
            )

    # -- the definition -----------------------------------------------------------------------
    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        self._check_count(len({*x, *y}))
        logarithm = _Mixture(self, x, y, m).log_value(())
        if m is FLOAT and logarithm < SMALLEST_LOG:
            raise self._underflow()
        return m.exp(logarithm)

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        value, text = self(x, y), isinstance(x, str) and isinstance(y, str)
        mixture = _Mixture(self, tuple(x), tuple(y), FLOAT)
        for context, share in mixture.shares():
            letters = context[::-1]
            pattern = "".join(letters) if text and Mark.BEGIN not in letters else letters
            yield Contribution(pattern, value * share, *mixture.places(context))

    def _underflow(self) -> ParameterError:
        return ParameterError(
            f"{self!r} underflows on these points: with sigma={self.sigma:g} their values are smaller than "
            "any float. Lower `sigma`."
        )

    # -- many points --------------------------------------------------------------------------
    def _prepare(self, X: EncodedSequences) -> Trees:
        self._check_letters(X, X)
        return Trees(self, X, np.arange(len(X)))

    def _block(self, X: Trees, Y: Trees | None) -> np.ndarray:
        other = None if Y is None else Y.forest(X)
        return self._exp(X.forest().log_values(X.rows, other, (X if Y is None else Y).rows))

    def _diagonal(self, X: Trees) -> np.ndarray:
        return self._exp(X.forest().log_diagonal(X.rows))

    def _exp(self, logarithms: np.ndarray) -> np.ndarray:
        if (logarithms < SMALLEST_LOG).any():
            raise self._underflow()
        return np.asarray(np.exp(logarithms))

    # -- what is known ------------------------------------------------------------------------
    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "mutual information",
            "an integral over models of P(x)^(sigma/N_x) P(y)^(sigma/N_y): f(x) f(y) for each model",
            conditions=(f"all strings are over one alphabet of {self.alphabet_size} letters",),
        )

    bounds = Interval(0.0, 1.0)


class Mark(enum.Enum):
    """What stands before the first letter of a string."""

    BEGIN = "begin"

    def __repr__(self) -> str:
        return self.name


#: Letters before some place, the nearest first.
Context = tuple[Any, ...]


class _Mixture:
    """The counts of a pair of strings in all contexts, and the recursion over the tree of contexts."""

    def __init__(self, kernel: ContextTree, x: tuple[Any, ...], y: tuple[Any, ...], m: Arithmetic) -> None:
        self.kernel, self.m, self.strings = kernel, m, (x, y)
        self.counts: dict[Context, dict[Any, list[int]]] = {(): {}}
        self.children: dict[Context, dict[Context, None]] = {}
        drawn = [self._count(side) for side in (0, 1)]
        sigma = m.real(kernel.sigma)
        self.scales = [sigma / n if n else m.real(0) for n in drawn]
        self.weight = sigma * sum(n > 0 for n in drawn)

    def _count(self, side: int) -> int:
        """Count the letters of one string behind all their contexts; return how many there are."""
        places = list(self._places(side))
        for i in places:
            letter, context = self.strings[side][i], self._before(side, i)
            for depth in range(len(context) + 1):
                counts = self.counts.setdefault(context[:depth], {})
                counts.setdefault(letter, [0, 0])[side] += 1
                if depth:
                    self.children.setdefault(context[: depth - 1], {})[context[:depth]] = None
        return len(places)

    def _places(self, side: int) -> range:
        return range(0 if self.kernel.boundary else self.kernel.depth, len(self.strings[side]))

    def _before(self, side: int, i: int) -> Context:
        """The longest context of a place."""
        depth = self.kernel.depth
        letters = self.strings[side][max(0, i - depth) : i][::-1]
        return (*letters, Mark.BEGIN) if len(letters) < depth else letters

    def log_evidence(self, context: Context) -> Any:
        """Logarithm of the Dirichlet integral over the letters behind a context."""
        m, kernel = self.m, self.kernel
        a, b = self.scales
        amounts = [a * n[0] + b * n[1] for n in self.counts[context].values()]
        prior = m.real(kernel.prior)
        letters = m.fsum([_log_rising(prior, r, m) for r in amounts])
        return letters - _log_rising(kernel.alphabet_size * prior, m.fsum(amounts), m)

    def log_value(self, context: Context) -> Any:
        """Logarithm of the mixture of all trees below a context."""
        own, m = self.log_evidence(context), self.m
        if context not in self.children:
            return own
        below = m.fsum([self.log_value(child) for child in self.children[context]])
        p, top = m.real(self.kernel.split), max(own, below)
        terms = [(1 - p, own), (p, below)]
        return top + m.log(m.fsum([q * m.exp(t - top) for q, t in terms if q > 0]))

    def shares(self, context: Context = (), reached: float = 1.0) -> Iterator[tuple[Context, float]]:
        """Posterior probabilities of contexts, times the part of the letters that they stand before."""
        leaf = 1.0
        if context in self.children:
            leaf = (1 - self.kernel.split) * math.exp(self.log_evidence(context) - self.log_value(context))
        a, b = self.scales
        read = math.fsum(a * n[0] + b * n[1] for n in self.counts[context].values())
        yield context, reached * leaf * (read / self.weight if self.weight else 1.0)
        for child in self.children.get(context, ()):
            yield from self.shares(child, reached * (1 - leaf))

    def places(self, context: Context) -> tuple[Places, Places]:
        """Where the letters of a context stand before a letter that is drawn; the empty one has no place."""
        n = len(context)
        begins = context[-1:] == (Mark.BEGIN,)

        def stretches(side: int) -> Places:
            found = (i for i in self._places(side) if self._before(side, i)[:n] == context)
            return tuple((i - n + begins, i) for i in found)

        return (stretches(0), stretches(1)) if context else ((), ())


def _log_rising(b: Any, r: Any, m: Arithmetic) -> Any:
    """``log Gamma(b + r) - log Gamma(b)``, through the fractional part of r: Gamma itself may overflow."""
    whole = int(r)
    start = b + (r - whole)
    # Beyond this, values of the gamma function exceed the largest float.
    is_large = m is FLOAT and start > 170.0
    ratio = float(scipy.special.poch(b, r - whole)) if is_large else m.gamma(start) / m.gamma(b)
    return m.log(ratio) + m.fsum([m.log(start + i) for i in range(whole)])
