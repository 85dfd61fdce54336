"""Colour histograms of images, and sums over the cells of grids."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from ...algebra.nodes import prefixed
from ...certificate import Certificate
from ...images import Histogram
from ...images.colors import SPACES
from ...images.histograms import MOST_BINS
from ...intervals import Interval
from ...kernel import Gradient, Kernel, Prepared
from ...parameters import parameter
from .cells import DEFAULT, OfCells

__all__ = ["ColorHistogram", "SpatialPyramid"]


class SumOfCells(OfCells):
    """Sums over cells with positive weights."""

    @property
    @abstractmethod
    def _weights(self) -> Sequence[float]:
        """Weight of each cell; they add up to 1."""

    def _combine(self, value: Callable[[int], Any]) -> Any:
        return sum(weight * value(cell) for cell, weight in enumerate(self._weights))

    def _embedding(self, X: Prepared, like: Prepared | None = None) -> Any:
        likes: Sequence[Any] = [None] * len(X.parts) if like is None else like.parts
        parts = [self.kernel._embedding(a, b) for a, b in zip(X.parts, likes, strict=True)]
        if any(part is None for part in parts):
            return None
        scaled = [part * np.sqrt(weight) for part, weight in zip(parts, self._weights, strict=True)]
        if any(map(scipy.sparse.issparse, parts)):
            return scipy.sparse.hstack(scaled, format="csr")
        return np.hstack(scaled)

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        columns: Sequence[Any] = [None] * len(X.parts) if Y is None else Y.parts
        pieces = [self.kernel._gradient(a, b) for a, b in zip(X.parts, columns, strict=True)]

        def combined(values: Sequence[np.ndarray]) -> np.ndarray:
            return np.asarray(self._combine(values.__getitem__))

        gradient = {name: combined([g[name] for _, g in pieces]) for name in pieces[0][1]}
        return combined([K for K, _ in pieces]), prefixed("kernel", gradient)

    @property
    def bounds(self) -> Interval:
        return self.kernel.bounds

    @property
    def diagonal_bounds(self) -> Interval:
        return self.kernel.diagonal_bounds


class ColorHistogram(SumOfCells):
    r"""A kernel on the colour histograms of images.

    .. math:: k(x, y) = k_0(h(x), h(y))

    where :math:`h(x)` are the shares of the pixels of x in bins of colours, a probability vector
    (:class:`~mercer.images.Histogram`).  It is ``kernel.on(histogram)``, and positive (negative) definite if
    ``kernel`` is; images with the same histogram are the same to it.  Images may have any sizes; grey images
    are coloured ones with equal channels.  Block cost: O(pixels) for each image, and a block of ``kernel``.

    Parameters
    ----------
    space : {"rgb", "hsv", "lab"}, default="rgb"
        The colour space.
    bins : int, default=8
        Bins of each coordinate, 1 to 256.
    kernel : Kernel, default=ChiSquare().schoenberg(1.0)
        Any kernel on histograms; a parameter such as ``"median"`` is resolved on them.
    joint : bool, default=False
        Whether a bin is a box of all three coordinates; else there is a histogram of each coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Intersection
    >>> red, blue = np.zeros((4, 4, 3)), np.zeros((6, 5, 3))
    >>> red[:, :, 0], blue[:, :, 2] = 1.0, 1.0
    >>> k = ColorHistogram("rgb", 8, Intersection())
    >>> round(k(red, blue), 4)      # they agree in green
    0.3333
    >>> ColorHistogram("rgb", 8, Intersection(), joint=True)(red, blue)
    0.0
    """

    space: str = parameter(default="rgb", choices=tuple(SPACES))
    bins: int = parameter(default=8, low=1, high=MOST_BINS, integer=True)
    kernel: Kernel = DEFAULT
    joint: bool = parameter(default=False, choices=(False, True), kw_only=True)

    @property
    def histogram(self) -> Histogram:
        return Histogram(self.space, self.bins, self.joint)

    _depth = 0

    @property
    def _weights(self) -> Sequence[float]:
        return (1.0,)

    def _simpler(self) -> tuple[Kernel, str]:
        return self.kernel.on(self.histogram), "the kernel of the histograms"

    def _certify(self) -> Certificate:
        found = self._as_simpler()
        assert found is not None
        return found


class SpatialPyramid(SumOfCells):
    r"""Colour histograms of the cells of finer and finer grids, compared cell by cell.

    .. math:: k(x, y) = \sum_{l=0}^{L} \frac{w_l}{4^l} \sum_{c=1}^{4^l} k_0(h_c(x), h_c(y)),
              \qquad w_0 = 2^{-L}, \quad w_l = 2^{l-L-1}

    The grid of level l has :math:`2^l \times 2^l` cells, and :math:`h_c` is the colour histogram of cell c.
    The weights add up to 1; finer levels count more (Lazebnik, Schmid and Ponce).  Positive definite if
    ``kernel`` is, as a sum.  Block cost: that of ``kernel`` for each of :math:`(4^{L+1} - 1) / 3` cells.

    Parameters
    ----------
    levels : int, default=2
        The finest level L, 0 to 6.  Images must be at least :math:`2^L` pixels wide and high.
    kernel : Kernel, default=ChiSquare().schoenberg(1.0)
        Any kernel on histograms; a parameter such as ``"median"`` is resolved on those of whole images.
    space, bins, joint
        As of :class:`ColorHistogram`.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.zeros((4, 4))
    >>> x[:2] = 1.0
    >>> from mercer.kernels import Intersection
    >>> SpatialPyramid(1, Intersection())(x, x[::-1])      # the same colours at other places
    0.5
    """

    levels: int = parameter(default=2, low=0, high=6, integer=True)
    kernel: Kernel = DEFAULT
    space: str = parameter(default="rgb", choices=tuple(SPACES), kw_only=True)
    bins: int = parameter(default=8, low=1, high=MOST_BINS, integer=True, kw_only=True)
    joint: bool = parameter(default=False, choices=(False, True), kw_only=True)

    @property
    def histogram(self) -> Histogram:
        return Histogram(self.space, self.bins, self.joint)

    @property
    def _depth(self) -> int:
        return self.levels

    @property
    def _weights(self) -> Sequence[float]:
        shares = [2.0 ** (max(level, 1) - 1 - self.levels) for level in range(self.levels + 1)]
        return [share / 4**level for level, share in enumerate(shares) for _ in range(4**level)]

    def _certify(self) -> Certificate:
        positive = self.kernel.certificate.positive
        if not positive.proved:
            return Certificate.unknown(self, "the kernel on histograms is not known to be PSD", [positive])
        reason = "a sum over cells with positive weights"
        return Certificate.psd(self, "sum", reason, premises=[positive])
