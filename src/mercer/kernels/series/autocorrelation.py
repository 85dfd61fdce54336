"""How the steps of a time series correlate with later ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...contributions import Contribution
from ...domains import Domain, Series, SeriesData
from ...engine import pairwise
from ...intervals import REAL_LINE
from ...kernel import Kernel
from ...parameters import parameter
from .common import layout, missing

__all__ = ["Autocorrelation"]


class Autocorrelation(Kernel):
    r"""Inner product of the autocorrelations of two series.

    .. math:: k(x, y) = \sum_{l=0}^{L} \lambda^l \sum_{a, b} r^x_{ab}(l)\, r^y_{ab}(l), \qquad
              r_{ab}(l) = \frac{\sum_t \bar x_a(t) \bar x_b(t + l)}
                               {\sqrt{\sum_t \bar x_a(t)^2 \sum_t \bar x_b(t)^2}}

    where :math:`\bar x_a` is the channel a less its mean: correlations of all pairs of channels at all lags
    up to L.  Correlations with a constant channel, and those beyond the end of the series, are 0.  Positive
    definite: an inner product of explicit features.  It does not change when a channel is shifted or scaled,
    and compares rhythms wherever they begin.

    Block cost: O(length L channels^2) per series, and a matrix product.

    Parameters
    ----------
    lags : int, default=10
        The largest lag L, from 0 to 100,000.
    decay : float, default=1.0
        Factor :math:`\lambda` per lag, in (0, 1].
    missing : {"error", "drop"}, default="error"
        What to do about NaN; see :class:`~mercer.domains.Series`.
    layout : {None, "time_first", "channels_first"}, default=None
        Axes of arrays: (n, length, channels), or (n, channels, length) as aeon and sktime have them; see
        :class:`~mercer.domains.Series`.

    Examples
    --------
    >>> k = Autocorrelation(lags=1)
    >>> k([1.0, -1.0, 1.0, -1.0], [3.0, 5.0, 3.0, 5.0])  # 1 + 0.75^2
    1.5625
    """

    lags: int = parameter(default=10, low=0, high=100_000, integer=True)
    decay: float = parameter(default=1.0, low=0.0, open_low=True, high=1.0)
    missing: str = missing()
    layout: str | None = layout()

    @property
    def domain(self) -> Domain:
        return Series(missing=self.missing, layout=self.layout)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        centred = [[_centred(channel, m) for channel in zip(*z, strict=True)] for z in (x, y)]
        terms = []
        for lag in range(self.lags + 1):
            for a, b in product(range(len(x[0])), repeat=2):
                left, right = (_correlation(z[a], z[b], lag, m) for z in centred)
                terms.append(m.real(self.decay) ** lag * left * right)
        return m.fsum(terms)

    def _features(self, x: np.ndarray) -> np.ndarray:
        """Correlations of one series by lag, channel and channel, shape (lags + 1, channels, channels)."""
        n, channels = x.shape
        R = np.zeros((self.lags + 1, channels, channels))
        z = np.where(x.max(axis=0) > x.min(axis=0), x - x.mean(axis=0), 0.0)
        norms = np.sqrt((z * z).sum(axis=0))
        z = np.divide(z, norms, out=np.zeros_like(z), where=norms > 0)
        for lag in range(min(self.lags + 1, n)):
            R[lag] = z[: n - lag].T @ z[lag:]
        return R

    def _prepare(self, X: SeriesData) -> np.ndarray:
        damping = np.sqrt(self.decay ** np.arange(self.lags + 1))[:, None, None]
        rows = [(damping * self._features(x)).ravel() for x in X]
        return np.array(rows).reshape(len(X), (self.lags + 1) * X.channels**2)

    def _block(self, X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
        return np.asarray(pairwise.dot(X, Y))

    def _embedding(self, X: np.ndarray, like: np.ndarray | None = None) -> np.ndarray:
        return X

    def _diagonal(self, X: np.ndarray) -> np.ndarray:
        return np.asarray((X * X).sum(axis=1))

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        damping = (self.decay ** np.arange(self.lags + 1))[:, None, None]
        for (lag, a, b), weight in np.ndenumerate(damping * self._features(x) * self._features(y)):
            channels = "" if x.shape[1] == 1 else f", channels {a} and {b}"
            if weight != 0:
                yield Contribution(f"lag {lag}{channels}", float(weight))

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "explicit features", "the inner product of the correlations")

    bounds = REAL_LINE


def _centred(channel: Any, m: Arithmetic) -> list[Any]:
    """Values less their mean; zeros, exactly, if they are all equal."""
    if min(channel) == max(channel):
        return [m.real(0) for _ in channel]
    mean = m.fsum(channel) / len(channel)
    return [value - mean for value in channel]


def _correlation(a: list[Any], b: list[Any], lag: int, m: Arithmetic) -> Any:
    squares = m.fsum([v * v for v in a]) * m.fsum([v * v for v in b])
    if squares == 0:
        return m.real(0)
    return m.fsum([v * w for v, w in zip(a, b[lag:], strict=False)]) / m.sqrt(squares)
