"""Dynamic time warping: distances of series, and Gaussians of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...arithmetic import Arithmetic
from ...certificate import Certificate, Witness
from ...contributions import Contribution
from ...domains import Series, SeriesData, take
from ...engine import series as engine
from ...errors import ParameterError
from ...intervals import NONNEGATIVE, Interval
from ...kernel import Prepared
from ...parameters import parameter
from ..widths import generic_vector, median_of_pairs
from .common import (
    _Aligned,
    check_band,
    gap,
    is_ordinary,
    layout,
    missing,
    steps_of,
    width,
    witness_among,
)
from .paths import Path, best_path, best_table, explained, shared_among, squared_distances

__all__ = ["DTW", "SoftDTW", "dtw", "dtw_path"]


class DTW(_Aligned):
    r"""Gaussian of the dynamic time warping distance of two series.

    .. math:: k(x, y) = \exp\left(-\frac{d(x, y)^2}{2 \sigma^2}\right), \qquad
              d(x, y)^2 = \min_{\pi} \sum_{(i, j) \in \pi} \|x_i - y_j\|^2

    over all alignments: paths from the pair of the first steps to the pair of the last that move on in x, in
    y or in both.  **Not positive definite**, at any width: (0, 0, 1) and (0, 1, 1) have distance 0, so that
    they would have to be the same point of the feature space, but (0, 0, 0) is at distance 1 from one and
    :math:`\sqrt 2` from the other.  Machines repair its Gram matrix or refuse it (``indefinite``);
    :class:`GlobalAlignment` is the relative of it that is positive definite.

    Block cost: O(length^2) per pair, several pairs at a time in the lanes of vector registers; with a band
    O(length band).  Memory O(length).

    Parameters
    ----------
    sigma : float or "median", default=1.0
        Width, > 0.  ``"median"`` is the median distance of the series; of more than 64 series, of a fixed
        sample of at most 2,048 pairs.
    band : int, optional
        Sakoe-Chiba band, >= 0: steps i and j are aligned only if :math:`|i - j|` is at most the band, or the
        difference of the two lengths where that is more.
    missing : {"error", "drop"}, default="error"
        What to do about NaN; see :class:`~mercer.domains.Series`.
    layout : {None, "time_first", "channels_first"}, default=None
        Axes of arrays: (n, length, channels), or (n, channels, length) as aeon and sktime have them; see
        :class:`~mercer.domains.Series`.

    Notes
    -----
    The value is no sum over patterns.  :meth:`contributions` shares it out among the stretches of the best
    alignment, in proportion to the similarities :math:`e^{-\|x_i - y_j\|^2 / 2\sigma^2}` of their pairs.

    Examples
    --------
    >>> k = DTW(1.0)
    >>> k([0.0, 0.0, 1.0], [0.0, 1.0, 1.0])
    1.0
    >>> print(k.certificate.verdict)
    REFUTED
    >>> k.distances([[0.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    array([[0.        , 1.41421356],
           [1.41421356, 0.        ]])
    """

    sigma: Any = width()
    band: int | None = None
    missing: str = missing()
    layout: str | None = layout()

    def _validate(self) -> None:
        check_band("DTW", self.band, 0)

    def _value(self, x: Any, y: Any, m: Arithmetic) -> Any:
        sigma = m.real(self.sigma)
        return m.exp(-self._cost(x, y, m) / sigma / sigma / 2)

    def _cost(self, x: Any, y: Any, m: Arithmetic) -> Any:
        """The least sum of squared distances, row by row."""
        infinity = m.real("inf")
        band = len(x) + len(y) if self.band is None else max(self.band, abs(len(x) - len(y)))
        row = [m.real(0), *(infinity for _ in y)]
        for i, step in enumerate(x):
            above, row = row, [infinity]
            for j, other in enumerate(y):
                near = abs(i - j) <= band
                cell = gap(step, other, m) + min(above[j], above[j + 1], row[j]) if near else infinity
                row.append(cell)
        return row[-1]

    def _block(self, X: SeriesData, Y: SeriesData | None) -> np.ndarray:
        D = _squared(X, Y, self.band)
        with np.errstate(over="ignore"):
            D /= -2.0 * self.sigma
            D /= self.sigma
        return np.asarray(np.exp(D, out=D))

    def distances(self, X: Any, Y: Any = None) -> np.ndarray:
        """Matrix of the distances d(x, y), not squared."""
        X = self.domain.validate(X, "X")
        Y = None if Y is None else self.domain.validate(Y, "Y")
        self.domain.match(X, Y)
        return np.asarray(np.sqrt(_squared(X, Y, self.band)))

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        value = self(x, y)
        if value > 0:
            D = squared_distances(x, y)
            path = best_path(best_table(-_within(D, self.band)))
            similar = np.exp(-D / self.sigma / self.sigma / 2)
            rows, columns = map(list, zip(*path, strict=True))
            yield from shared_among(path, value * similar / similar[rows, columns].sum())

    def _rule(self, name: str, rule: str, X: SeriesData, weight: np.ndarray | None) -> float:
        return _median_distance(X, weight, self.band)

    def _certify(self) -> Certificate:
        reason = "two series at distance zero have different distances from a third"
        if isinstance(self.sigma, str) or not is_ordinary(self.sigma):
            return Certificate.refuted(self, "warping distance zero", reason)
        # Two series at warping distance zero, and a third that is nearer to one of them.  The first three
        # need a band of one step; the others do not: a series of one step has one alignment with any other.
        chosen = [0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]
        if self.band == 0:
            chosen = [0.0], [0.0, 0.0], [1.0]
        points = [self.sigma * np.array(p) for p in chosen]
        witness = Witness.of(self, points, (1.0, -1.0, -0.2))
        return Certificate.refuted(self, "warping distance zero", reason, witness=witness)

    bounds = Interval(0.0, 1.0)


class SoftDTW(_Aligned):
    r"""Gaussian of the soft-DTW divergence of two series.

    .. math:: k(x, y) = \exp\left(-\frac{D_\gamma(x, y)}{2 \sigma^2}\right), \qquad
              D_\gamma(x, y) = s(x, y) - \tfrac12 s(x, x) - \tfrac12 s(y, y)

    where :math:`s(x, y) = -\gamma \log \sum_\pi \exp(-\gamma^{-1} \sum_{(i,j) \in \pi} \|x_i - y_j\|^2)`
    is the soft minimum over alignments of the cost whose minimum is the squared warping distance.  As gamma
    goes to 0, it becomes ``DTW(sigma)``; with gamma = 2 sigma^2 it is ``GlobalAlignment(sigma,
    local="gaussian")``, and in general a power of such a kernel.  **Not positive definite** for gamma up to
    2 sigma^2, where constant series of one to three steps refute it; beyond, nothing is known.
    :class:`GlobalAlignment` has the local kernel that makes it so.

    Block cost: O(length^2) per pair, with two exponentials and a logarithm for each pair of steps.

    Parameters
    ----------
    sigma : float or "median", default=1.0
        Width, > 0.  ``"median"`` is the median warping distance of the series, as in :class:`DTW`.
    gamma : float, default=1.0
        Softness of the minimum, > 0, in units of squared distance.
    missing : {"error", "drop"}, default="error"
        What to do about NaN; see :class:`~mercer.domains.Series`.
    layout : {None, "time_first", "channels_first"}, default=None
        Axes of arrays: (n, length, channels), or (n, channels, length) as aeon and sktime have them; see
        :class:`~mercer.domains.Series`.

    Notes
    -----
    :meth:`contributions` shares the value out as ``GlobalAlignment`` does: by what alignments through a
    stretch add to the sum under the logarithm.

    Examples
    --------
    >>> k = SoftDTW(sigma=1.0, gamma=1.0)
    >>> round(k([0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 2.0]), 6)
    0.832529
    >>> print(k.certificate.verdict)
    REFUTED
    """

    sigma: Any = width()
    gamma: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")
    missing: str = missing()
    layout: str | None = layout()

    def _validate(self) -> None:
        if not math.isfinite(32.0 / self.gamma):
            raise ParameterError(
                f"SoftDTW: `gamma` must not be so small that 1 / gamma overflows. Got {self.gamma!r}."
            )

    def _value(self, x: Any, y: Any, m: Arithmetic) -> Any:
        divergence = self._soft_cost(x, y, m) - (self._soft_cost(x, x, m) + self._soft_cost(y, y, m)) / 2
        sigma = m.real(self.sigma)
        return m.exp(-divergence / sigma / sigma / 2)

    def _soft_cost(self, x: Any, y: Any, m: Arithmetic) -> Any:
        """The soft minimum, row by row."""
        infinity = m.real("inf")
        row = [m.real(0), *(infinity for _ in y)]
        for step in x:
            above, row = row, [infinity]
            for j, other in enumerate(y):
                row.append(gap(step, other, m) + self._soft_minimum([above[j], above[j + 1], row[j]], m))
        return row[-1]

    def _soft_minimum(self, costs: list[Any], m: Arithmetic) -> Any:
        least, gamma = min(costs), m.real(self.gamma)
        return least - gamma * m.log(m.fsum([m.exp((least - c) / gamma) for c in costs]))

    def _prepare(self, X: SeriesData) -> Prepared:
        """The series, and the logarithm of the sum over alignments of each with itself, halved."""
        ratios, norms = engine.gauge(steps_of(X), "gaussian", 1.0 / self.gamma)
        exponents = np.concatenate([[0.0], np.cumsum(-np.log2(ratios))])  # whole numbers
        halves = (exponents[X.starts[1:]] - exponents[X.starts[:-1]]) * math.log(2) + 0.5 * np.log(norms)
        return Prepared((X,), (halves,))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        K = np.exp(self._divergences(X, Y) / (-2.0 * self.sigma) / self.sigma)
        if Y is None:
            np.fill_diagonal(K, 1.0)
        return np.asarray(K)

    def _divergences(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        other = X if Y is None else Y
        logs = engine.log_sums(
            steps_of(X.parts[0]), None if Y is None else steps_of(Y.parts[0]), "gaussian", 1.0 / self.gamma
        )
        return np.asarray(self.gamma * ((X.arrays[0][:, None] + other.arrays[0]) - logs))

    def divergences(self, X: Any, Y: Any = None) -> np.ndarray:
        """Matrix of the divergences."""
        return self._divergences(*self._prepare_pair(X, Y))

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        value = self(x, y)
        if value > 0:
            yield from explained(value, squared_distances(x, y) / -self.gamma)

    def _rule(self, name: str, rule: str, X: SeriesData, weight: np.ndarray | None) -> float:
        return _median_distance(X, weight, None)

    def _certify(self) -> Certificate:
        if isinstance(self.sigma, str):
            return Certificate.unknown(self, "it depends on sigma: resolve it first")
        spacing = 0.9 * math.sqrt(self.gamma / 2)
        if not is_ordinary(self.sigma, spacing, spacing / self.sigma):
            return Certificate.unknown(self, "no series lie at such distances as would refute it")
        witness = witness_among(self, [np.full(n, spacing * i) for i in range(5) for n in (1, 2, 3)])
        if witness is None:
            return Certificate.unknown(
                self, "no theorem covers soft-DTW, and constant series do not refute it"
            )
        return Certificate.refuted(
            self, "constant series", "a power of the sum over alignments", witness=witness
        )

    bounds = NONNEGATIVE


def dtw(x: Any, y: Any, *, band: int | None = None, layout: str | None = None) -> float:
    r"""Dynamic time warping distance of two series.

    .. math:: d(x, y) = \min_\pi \Big(\sum_{(i, j) \in \pi} \|x_i - y_j\|^2\Big)^{1/2}

    Parameters
    ----------
    x, y : series
        See :class:`~mercer.domains.Series`.
    band : int, optional
        Sakoe-Chiba band, as in :class:`DTW`, whose ``distances`` has whole matrices.
    layout : {None, "time_first", "channels_first"}, default=None
        Axes of arrays of two axes: (length, channels), or (channels, length).

    Examples
    --------
    >>> dtw([0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 3.0])
    1.0
    """
    check_band("dtw", band, 0)
    return float(DTW(band=band, layout=layout).distances([x], [y])[0, 0])


def dtw_path(x: Any, y: Any, *, band: int | None = None, layout: str | None = None) -> tuple[Path, float]:
    """Best alignment of two series, as pairs of steps, and its length, the distance :func:`dtw`.

    Where several alignments are best, it is the one that, seen from the end, moves on in both series where it
    may, else in x.  Memory: O(length^2).

    Examples
    --------
    >>> dtw_path([0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 3.0])
    ([(0, 0), (0, 1), (1, 2), (2, 3)], 1.0)
    """
    check_band("dtw_path", band, 0)
    a, b = Series(layout=layout).pair(x, y)
    T = best_table(-_within(squared_distances(a, b), band))
    return best_path(T), math.sqrt(-T[-1, -1])


def _squared(X: SeriesData, Y: SeriesData | None, band: int | None) -> np.ndarray:
    return engine.squared_warping_distances(steps_of(X), None if Y is None else steps_of(Y), band)


def _within(D: np.ndarray, band: int | None) -> np.ndarray:
    """Costs of pairs of steps, infinite outside of the band."""
    if band is None:
        return D
    n, m = D.shape
    lag = np.abs(np.subtract.outer(np.arange(n), np.arange(m)))
    return np.where(lag <= max(band, abs(n - m)), D, np.inf)


def _median_distance(X: SeriesData, weight: np.ndarray | None, band: int | None) -> float:
    """Median of the distances that are positive; 1.0 if there are none."""
    kept = np.arange(len(X)) if weight is None else np.flatnonzero(weight > 0)
    data = take(X, kept)

    def block(rows: np.ndarray, cols: np.ndarray | None) -> np.ndarray:
        return np.asarray(
            np.sqrt(_squared(take(data, rows), None if cols is None else take(data, cols), band))
        )

    share = None if weight is None else weight[kept]
    vector = generic_vector(data.channels * int(data.lengths.max(initial=0)))
    keys = np.array([x.ravel() @ vector[: x.size] for x in map(np.asarray, data)])
    # The median rule takes all pairs of up to this many series, and of more series 2,048 pairs.
    return median_of_pairs(block, keys, share, 64) or 1.0
