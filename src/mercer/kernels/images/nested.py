"""Nested histograms: all ways to divide an image into the cells of a quadtree."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np

from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...domains import Data
from ...engine.program import Builder, Value
from ...errors import ParameterError
from ...images import Histogram
from ...images.colors import SPACES
from ...images.histograms import MOST_BINS
from ...intervals import Interval
from ...kernel import Kernel, Prepared
from ...parameters import parameter
from .cells import DEFAULT, OfCells

__all__ = ["NestedHistograms"]


class NestedHistograms(OfCells):
    r"""Colour histograms at all resolutions: a mean over all divisions of an image by a quadtree.

    .. math:: k(x, y) = \sum_t P(t) \prod_{c \in f(t)} k_0(h_c(x), h_c(y))

    The sum is over all complete subtrees t of the quadtree: an image is left whole or divided into four
    quarters, each of which is left whole or divided, and so on down to ``depth``.  :math:`f(t)` are the cells
    that are left whole, :math:`h_c` is the colour histogram of cell c, and :math:`P(t)` the probability of a
    branching process that divides each cell above the last level with probability :math:`\varepsilon`
    (Cuturi and Fukumizu).  There are 2, 17, 83,522 and about 5e19 subtrees of depth 1, 2, 3 and 4; the
    recursion

    .. math:: K_c = (1 - \varepsilon)\, k_c + \varepsilon \prod_{c' \text{ in } c} K_{c'}, \qquad
              K_c = k_c \text{ on the last level}

    visits each cell once.  Positive definite if ``kernel`` is: sums and products with nonnegative weights.
    It runs in logarithms, or as it stands where ``kernel`` is at most 1: then no product is larger than the
    value that it is part of.  Block cost: that of ``kernel`` for each of :math:`(4^{d+1} - 1) / 3` cells;
    memory: d + 1 tiles.

    Parameters
    ----------
    depth : int, default=3
        Levels below the image, 0 to 6.  Images must be at least :math:`2^d` pixels wide and high.
    epsilon : float, default=0.5
        Probability that a cell is divided, 0 to 1.
    kernel : Kernel, default=ChiSquare().schoenberg(1.0)
        Kernel on histograms with values >= 0.  Values far below 1 vanish in products: with many cells take a
        small t in ``schoenberg(t)``.  A parameter such as ``"median"`` is resolved on histograms of whole
        images.
    space, bins, joint
        As of :class:`ColorHistogram`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Intersection
    >>> x = np.zeros((4, 4))
    >>> x[0] = 1.0
    >>> k = NestedHistograms(1, 0.5, Intersection())
    >>> k(x, x), k(x, x.T)          # the same colours: 1/2 for the whole, 1/2 (1 * 1/2 * 1/2 * 1)
    (1.0, 0.625)
    """

    depth: int = parameter(default=3, low=0, high=6, integer=True)
    epsilon: float = parameter(default=0.5, low=0.0, high=1.0)
    kernel: Kernel = DEFAULT
    space: str = parameter(default="rgb", choices=tuple(SPACES), kw_only=True)
    bins: int = parameter(default=8, low=1, high=MOST_BINS, integer=True, kw_only=True)
    joint: bool = parameter(default=False, choices=(False, True), kw_only=True)

    def _validate(self) -> None:
        super()._validate()
        if not self.kernel.bounds.is_nonnegative:
            raise ParameterError(
                "NestedHistograms: `kernel` must be known to be >= 0, because products are computed in "
                f"logarithms. Got {self.kernel!r}. ProbabilityProduct(1.0) is the dot product of histograms."
            )

    @property
    def histogram(self) -> Histogram:
        return Histogram(self.space, self.bins, self.joint)

    @property
    def _depth(self) -> int:
        return self.depth

    def _recurse(self, value: Callable[[int], Any], mix: Callable[[Any, Any], Any]) -> Any:
        """``mix(own, children)`` from the leaves to the root, one branch after the other."""

        def at(level: int, row: int, column: int) -> Any:
            own = value((4**level - 1) // 3 + row * 2**level + column)
            if level == self.depth:
                return own
            return mix(own, (at(level + 1, 2 * row + i, 2 * column + j) for i in (0, 1) for j in (0, 1)))

        return at(0, 0, 0)

    def _combine(self, value: Callable[[int], Any]) -> Any:
        e = self.epsilon
        return self._recurse(value, lambda own, children: (1 - e) * own + e * reduce(mul, children))

    def _of_pair(self, value: Callable[[int], Any], m: Arithmetic) -> Any:
        whole, divided = m.log(m.real(1 - self.epsilon)), m.log(m.real(self.epsilon))

        def mix(own: Any, children: Iterable[Any]) -> Any:
            low, high = sorted((whole + own, divided + reduce(add, children)))
            return high if low == -math.inf else high + m.log1p(m.exp(low - high))

        return m.exp(self._recurse(lambda cell: m.log(value(cell)), mix))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        return self._in_logarithms(lambda cell: self._cell_block(X, Y, cell))

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return self._in_logarithms(lambda cell: self.kernel._diagonal(X.parts[cell]))

    def _in_logarithms(self, value: Callable[[int], np.ndarray]) -> np.ndarray:
        with np.errstate(divide="ignore"):
            whole, divided = np.log([1 - self.epsilon, self.epsilon])
            total = self._recurse(
                lambda cell: np.log(value(cell).astype(np.float64)),
                lambda own, children: np.logaddexp(whole + own, divided + reduce(add, children)),
            )
        return np.asarray(np.exp(total))

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value | None:
        small = all(self._is_small(part) for data in (X, Y) if data is not None for part in data.parts)
        return super()._compile(b, X, Y) if small else None

    def _is_small(self, part: Data) -> bool:
        """Whether values on prepared histograms are at most 1, up to rounding; by Cauchy and Schwarz."""
        if self.kernel.bounds.high <= 1:
            return True
        # Relative rounding error of a histogram that should add up to 1, with much to spare.
        return self.kernel.certificate.is_psd and bool((self.kernel._diagonal(part) <= 1 + 1e-12).all())

    def _certify(self) -> Certificate:
        positive = self.kernel.certificate.positive
        if not positive.proved:
            return Certificate.unknown(self, "the kernel on histograms is not known to be PSD", [positive])
        return Certificate.psd(
            self,
            "sums and Schur products",
            "a sum over subtrees, with probabilities as weights, of products of kernels on the same images",
            premises=[positive],
        )

    @property
    def bounds(self) -> Interval:
        high = self.kernel.bounds.high
        return Interval(0.0, high if high <= 1 else math.inf)
