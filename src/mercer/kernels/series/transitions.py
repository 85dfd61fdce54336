"""Histograms of the transitions between states of time series."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...contributions import Contribution
from ...domains import Domain, Series, SeriesData
from ...errors import InputError, ParameterError
from ...intervals import NONNEGATIVE
from ...kernel import Kernel
from ...parameters import parameter
from .common import layout, missing

__all__ = ["Transitions"]


class Transitions(Kernel):
    r"""Counts of the transitions between states that two series have in common.

    .. math:: k(x, y) = \sum_{w} N_x(w) N_y(w)

    Each step is in a state: the interval between two cuts in which its value lies (for several channels, one
    interval for each).  :math:`N_x(w)` counts the times t at which the states of the steps t, t + lag,
    t + 2 lag, ... are the word w.  With ``length=2`` and ``lag=1`` it compares histograms of transitions
    from one step to the next.  Positive definite: an inner product of explicit features.  Integers, exactly;
    longer series have larger values, and ``k.normalized()`` compares proportions.  A series too short for a
    word has k = 0.

    Block cost: linear in the lengths, and a sparse matrix product.

    Parameters
    ----------
    cuts : array of shape (c,) or (channels, c), or "quartiles", default="quartiles"
        Increasing numbers between which the states lie; a value equal to a cut is above it.  One row for all
        channels, or one for each.  ``"quartiles"`` are the three quartiles of each channel of the data.
    length : int, default=2
        Number of states in a word, from 1 to 62.
    lag : int, default=1
        Steps from one state of a word to the next, >= 1.
    missing : {"error", "drop"}, default="error"
        What to do about NaN; see :class:`~mercer.domains.Series`.  The steps around one that is left out
        count as neighbours.
    layout : {None, "time_first", "channels_first"}, default=None
        Axes of arrays: (n, length, channels), or (n, channels, length) as aeon and sktime have them; see
        :class:`~mercer.domains.Series`.

    Examples
    --------
    >>> k = Transitions([0.0])  # states: negative, not negative
    >>> k([-1.0, 1.0, -1.0, 1.0], [-2.0, 3.0, 3.0])
    2.0
    >>> print(k.contributions([-1.0, 1.0, -1.0, 1.0], [-2.0, 3.0, 3.0]))
    weight  pattern
       2.0  (0, 1)  [0:2 2:4 | 0:2]
    """

    cuts: Any = parameter(default="quartiles", ndim=(1, 2), rules=("quartiles",))
    length: int = parameter(default=2, low=1, high=62, integer=True)
    lag: int = parameter(default=1, low=1, integer=True)
    missing: str = missing()
    layout: str | None = layout()

    def _validate(self) -> None:
        if isinstance(self.cuts, np.ndarray) and (np.diff(self.cuts, axis=-1) <= 0).any():
            raise ParameterError(f"Transitions: `cuts` must be increasing numbers. Got {self.cuts.tolist()}.")

    @property
    def domain(self) -> Domain:
        fixed = isinstance(self.cuts, np.ndarray) and self.cuts.ndim == 2
        return Series(channels=len(self.cuts) if fixed else None, missing=self.missing, layout=self.layout)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        left, right = list(self._words(x)), list(self._words(y))
        return m.real(sum(word == other for word in left for other in right))

    def _words(self, x: Any) -> Iterator[tuple[Any, ...]]:
        states = [self._state(step) for step in x]
        for t in range(len(states) - (self.length - 1) * self.lag):
            yield tuple(states[t + s * self.lag] for s in range(self.length))

    def _state(self, step: Any) -> Any:
        """The number of cuts up to each channel's value; one number if there is one channel."""
        intervals = tuple(
            sum(float(value) >= cut for cut in cuts)
            for value, cuts in zip(step, self._cuts_of(len(step)).tolist(), strict=True)
        )
        return intervals[0] if len(intervals) == 1 else intervals

    def _cuts_of(self, channels: int) -> np.ndarray:
        return np.asarray(np.broadcast_to(self.cuts, (channels, self.cuts.shape[-1])))

    def _prepare(self, X: SeriesData) -> Any:
        """Counts of words as compressed rows, whose columns are the numbers of the words."""
        cuts = self._cuts_of(X.channels)
        states = (cuts.shape[1] + 1) ** X.channels
        if states**self.length > 1 << 62:  # words are numbered below this
            raise ParameterError(
                "Transitions: `length` and `cuts` must make fewer than 2^62 words. "
                f"Got {states}^{self.length}."
            )
        codes = np.zeros(len(X.values), dtype=np.int64)
        for column, own in zip(X.values.T, cuts, strict=True):
            codes = codes * (len(own) + 1) + np.searchsorted(own, column, side="right")
        numbers = []
        for a, b in zip(X.starts, X.starts[1:], strict=False):
            count = max(b - a - (self.length - 1) * self.lag, 0)
            words = np.zeros(count, dtype=np.int64)
            for first in range(a, a + self.length * self.lag, self.lag):
                words = words * states + codes[first : first + count]
            numbers.append(words)
        return _Counts.of(numbers, X.channels)

    def _block(self, X: _Counts, Y: _Counts | None) -> np.ndarray:
        return X.product(X if Y is None else Y)

    def _embedding(self, X: _Counts, like: _Counts | None = None) -> Any:
        return X.matrix((X if like is None else like).vocabulary)

    def _feature_names(self, X: _Counts) -> list[str]:
        """Words as tuples of states, as contributions show them; a state of several channels is a tuple."""
        digits = [self.cuts.shape[-1] + 1] * (X.channels * self.length)
        intervals = np.array(np.unravel_index(X.vocabulary, digits)).T.reshape(-1, self.length, X.channels)
        if X.channels == 1:
            return [repr(tuple(word)) for word in intervals[:, :, 0].tolist()]
        return [repr(tuple(map(tuple, word))) for word in intervals.tolist()]

    def _diagonal(self, X: _Counts) -> np.ndarray:
        return X.squares()

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        span = (self.length - 1) * self.lag + 1
        there: dict[Any, list[int]] = {}
        for t, word in enumerate(self._words(y)):
            there.setdefault(word, []).append(t)
        for t, word in enumerate(self._words(x)):
            if word in there:
                places = tuple((s, s + span) for s in there[word])
                yield Contribution(word, float(len(places)), ((t, t + span),), places)

    def _rule(self, name: str, rule: str, X: SeriesData, weight: np.ndarray | None) -> np.ndarray:
        """Quartiles of each channel; equal ones are separated, since cuts increase."""
        repeats = None if weight is None else np.repeat(weight, X.lengths)
        if len(X.steps) == 0 or (repeats is not None and not (repeats > 0).any()):
            raise InputError("Transitions: `cuts='quartiles'` needs data with at least one step. Got none.")
        rows: list[list[float]] = [[] for _ in X.steps.T]
        for row, column in zip(rows, X.steps.T, strict=True):
            for cut in _quantiles(column, repeats).tolist():  # those that coincide move on to the next number
                row.append(cut if not row or cut > row[-1] else float(np.nextafter(row[-1], np.inf)))
        return np.array(rows if len(rows) > 1 else rows[0])

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "explicit features", "the inner product of the counts of words")

    bounds = NONNEGATIVE


class _Counts:
    """Counts of numbered words, row by row: those of row i stand at ``starts[i]:starts[i + 1]``.

    ``vocabulary`` has the words of all series that were read together, in increasing order.
    """

    def __init__(
        self,
        words: np.ndarray,
        counts: np.ndarray,
        starts: np.ndarray,
        vocabulary: np.ndarray,
        channels: int,
    ) -> None:
        self.words, self.counts, self.starts = words, counts, starts
        self.vocabulary, self.channels = vocabulary, channels

    @classmethod
    def of(cls, rows: list[np.ndarray], channels: int) -> _Counts:
        found = [np.unique(row, return_counts=True) for row in rows]
        words = np.concatenate([np.empty(0, dtype=np.int64), *(w for w, _ in found)])
        counts = np.concatenate([np.empty(0), *(c for _, c in found)])
        starts = np.concatenate([[0], np.cumsum([len(w) for w, _ in found])])
        return cls(words, counts, starts.astype(np.intp), np.unique(words), channels)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def take(self, index: slice | np.ndarray) -> _Counts:
        chosen = np.arange(len(self))[index]
        lengths = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
        at = np.repeat(self.starts[:-1][chosen] - starts[:-1], lengths) + np.arange(starts[-1])
        return _Counts(self.words[at], self.counts[at], starts, self.vocabulary, self.channels)

    def product(self, other: _Counts) -> np.ndarray:
        """Inner products of all rows."""
        words = np.unique(other.words)
        return np.asarray((self.matrix(words) @ other.matrix(words).T).toarray())

    def matrix(self, words: np.ndarray) -> Any:
        """Counts of some words, in increasing order, as a sparse matrix; the others are left out."""
        columns = np.searchsorted(words, self.words)
        known = np.append(words, -1)[columns] == self.words
        starts = np.concatenate([[0], np.cumsum(known)])[self.starts]
        shape = (len(self), max(len(words), 1))
        return scipy.sparse.csr_array((self.counts[known], columns[known], starts), shape=shape)

    def squares(self) -> np.ndarray:
        """Sums of the squared counts of each row."""
        sums = np.concatenate([[0.0], np.cumsum(self.counts**2)])
        return np.asarray(sums[self.starts[1:]] - sums[self.starts[:-1]])


def _quantiles(values: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Quartiles of values that are repeated as often as the weights say."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(np.ones(len(values)) if weights is None else weights[order])
    at = np.searchsorted(below, below[-1] * np.array([0.25, 0.5, 0.75]))
    return np.asarray(values[order[at]])
