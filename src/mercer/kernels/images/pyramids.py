"""Pyramid match: sets of points compared by grids of growing cells."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import scipy.sparse

from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...domains import CloudData, Clouds, Domain, Vectors
from ...engine import pairwise
from ...errors import InputError
from ...intervals import NONNEGATIVE
from ...kernel import Kernel
from ...parameters import parameter

__all__ = ["PyramidMatch"]


class PyramidMatch(Kernel):
    r"""Pyramid match kernel on clouds of points: how much of them falls into the same cells of which size.

    .. math:: k(\mu, \nu) = \sum_{i=0}^{L} 2^{-i} (I_i - I_{i-1}), \qquad
              I_i = \sum_{\text{cells } c} \min(\mu(c), \nu(c)), \quad I_{-1} = 0

    The cells of level i are cubes of side :math:`2^i w` (Grauman and Darrell): what is matched in a cell of
    twice the side counts half.  A cloud has mass 1, divided among its points by their weights, so that sizes
    of clouds do not matter; points are local descriptors of images, or any vectors.  Positive definite:
    :math:`\sum_{i<L} 2^{-i-1} I_i + 2^{-L} I_L`, a sum of intersections of histograms.  Values lie in [0, 1],
    to rounding, and k = 1 if all mass is matched in the smallest cells.  Block cost: O(L) intersections of
    sparse histograms, and a sort of the cells.

    Parameters
    ----------
    levels : int, default=6
        The last level L, 0 to 60.
    width : float, default=1.0
        Side w of the smallest cells, > 0.  The origin is a corner.

    Examples
    --------
    >>> k = PyramidMatch(3, width=1.0)
    >>> k([[0.2], [5.5]], [[0.7], [6.5]])      # 1/2 in cells of side 1, 1/2 in cells of side 4
    0.625
    """

    levels: int = parameter(default=6, low=0, high=60, integer=True)
    width: float = parameter(default=1.0, low=0.0, open_low=True)

    @property
    def domain(self) -> Domain:
        return Clouds(Vectors(dense=True))

    def _cells(self, points: Any) -> np.ndarray:
        """Cells of level 0; half of them, rounded down, are those of the next level."""
        with np.errstate(over="ignore"):
            found = np.floor(np.asarray(points, dtype=np.float64) / self.width)
        most = 2.0**62  # the number of a larger cell would not be an integer of 64 bits
        if not (np.abs(found) < most).all():
            raise InputError(
                f"PyramidMatch: `width={self.width!r}` is too small for these points: they are more than "
                f"{most:.2g} cells from the origin."
            )
        return found.astype(np.int64)

    @property
    def _coefficients(self) -> list[float]:
        return [2.0 ** -(level + 1) for level in range(self.levels)] + [2.0**-self.levels]

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        X, Y = ([tuple(cell) for cell in self._cells(c.source.points).tolist()] for c in (x, y))
        total, before = m.real(0), m.real(0)
        for level in range(self.levels + 1):
            a, b = Counter[Any](), Counter[Any]()
            for histogram, cells, cloud in ((a, X, x), (b, Y, y)):
                for cell, weight in zip(cells, cloud.weights, strict=True):
                    histogram[tuple(c >> level for c in cell)] += weight
            matched = m.fsum(m.minimum(a[cell], b[cell]) for cell in sorted(a.keys() & b.keys()))
            total += (matched - before) / 2**level
            before = matched
        return total

    def _prepare(self, X: CloudData) -> CloudData:
        return CloudData(self._cells(X.points), X.weights, X.starts)

    def _block(self, X: CloudData, Y: CloudData | None) -> np.ndarray:
        clouds = [X] if Y is None else [X, Y]
        cells, index = _distinct(np.concatenate([c.points for c in clouds]))
        K = np.zeros((len(X), len(clouds[-1])))
        for coefficient in self._coefficients:
            histograms = []  # mass of each cloud in each cell
            for c, part in zip(clouds, np.split(index, [len(X.points)]), strict=False):
                entries, shape = (c.weights, part, c.starts), (len(c), len(cells))
                histograms.append(scipy.sparse.csr_array(entries, shape=shape, copy=True))
                histograms[-1].sum_duplicates()  # in place
            K += coefficient * pairwise.min_sums(histograms[0], None if Y is None else histograms[1])
            cells, parents = _distinct(cells >> 1)
            index = parents[index]
        return K

    def _diagonal(self, X: CloudData) -> np.ndarray:
        return np.ones(len(X))

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "sum of intersections",
            "intersections of the histograms of all levels, min(a, b) being PSD, with weights > 0",
        )

    bounds = NONNEGATIVE  # weights add up to 1 to rounding


def _distinct(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows, and which of them each row is."""
    found, index = np.unique(cells, axis=0, return_inverse=True)
    return found, index.reshape(-1)
