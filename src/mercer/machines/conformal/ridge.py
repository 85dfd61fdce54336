r"""Intervals of kernel ridge regression and of Gaussian processes from one factor.

The prediction at x is linear in the targets, :math:`f(x) = c(x)^\top y`.  With :math:`M = K + \alpha I`,
where :math:`\alpha` is the penalty of ridge regression or the variance of the noise of a process,

.. math:: c(x) = M^{-1} k(X, x) + \frac{1 - 1^\top M^{-1} k(X, x)}{1^\top M^{-1} 1} M^{-1} 1

(the last term with an intercept only).  The coefficients are :math:`a = P y`, where P is
:math:`M^{-1}`, less :math:`M^{-1} 1 1^\top M^{-1} / 1^\top M^{-1} 1` with an intercept, and the residual of
the model at its own point i is :math:`\alpha a_i`.  Leaving out a point allows an :math:`\alpha_i` for each
point.

**Leaving out point i.**  Its residual becomes :math:`e_i = a_i / P_{ii}`.  Putting
:math:`y_i - e_i` in the place of :math:`y_i` changes nothing for the model without i, so that this model
predicts :math:`f_{-i}(x) = f(x) - c_i(x) e_i`.

**Adding a point (x, y).**  Its own coefficient is :math:`t = (y - f(x)) / s(x)`, where
:math:`s(x) - \alpha` is the posterior variance at x; that of point i becomes :math:`a_i - c_i(x) t`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ... import memory
from ...domains import Data, take
from ...engine.factorizations import cholesky, cholesky_inverse
from ...engine.runs import checkpoint
from ...errors import ParameterError
from ...gram import Gram
from ...solvers import WeightedMatrix
from ..base import len_of
from .split import lower_rank, upper_rank

__all__ = ["RidgeIntervals", "conforming"]

Array: TypeAlias = NDArray[np.float64]


class RidgeIntervals:
    """The inverse of the system of all points, and the intervals that follow from it: 8 n^2 bytes.

    Parameters
    ----------
    G : Gram
    targets, noise : arrays of shape (n,)
        ``noise`` is added to the diagonal; :meth:`full` takes it to be the same for all points.
    intercept : bool
    """

    def __init__(self, G: Gram, targets: Array, noise: Array, intercept: bool) -> None:
        n = len(targets)
        memory.require(
            16 * n * n, f"Conformal: the inverse of the system of {n} points", "Use method='split'."
        )
        M = WeightedMatrix(G, None).copy()
        M[np.diag_indices(n)] += noise
        try:
            self._inverse = cholesky_inverse(cholesky(M))
        except linalg.LinAlgError as error:
            raise ParameterError(
                f"Conformal: with alpha={noise.min():g} the matrix K + alpha I is not positive definite to "
                "working precision, and models without one point have no meaning. Raise `alpha` of the "
                "machine, or use method='split'."
            ) from error
        self._gram, self._alpha = G, float(noise.max(initial=0.0))
        diagonal = np.diagonal(self._inverse).copy()
        coefficients = self._inverse @ targets
        self._along: Array | None = None
        if intercept:
            q = self._inverse.sum(axis=1)
            total = float(q.sum())
            coefficients -= q * (float(q @ targets) / total)
            diagonal -= q * q / total
            self._along, self._total = q, total
        self.targets, self.coefficients = targets, coefficients
        # With an intercept and two points or fewer, P may be zero up to rounding.
        self.loo = coefficients / np.maximum(diagonal, np.finfo(np.float64).tiny)

    def _weights(self, B: Array) -> tuple[Array, Array]:
        """``c(x)`` and what the intercept leaves open, from ``M^-1 k(X, x)`` of shape (n, m)."""
        if self._along is None:
            return B, np.zeros(B.shape[1])
        left = 1.0 - B.sum(axis=0)
        return B + self._along[:, None] * (left / self._total), left

    def _bands(self, points: Data) -> Iterator[tuple[slice, Data, Array]]:
        for start in range(0, len_of(points), 256):
            checkpoint()
            band = slice(start, min(start + 256, len_of(points)))
            some = take(points, band)
            yield band, some, np.asarray(self._gram._cross(some).dense(), dtype=np.float64).T

    def jackknife(self, points: Data, alpha: float) -> Array:
        r"""Jackknife+ intervals, of shape (m, 2).

        From the :math:`\lfloor \alpha (n+1) \rfloor`-th smallest of :math:`f_{-i}(x) - |e_i|` to the
        :math:`\lceil (1 - \alpha)(n+1) \rceil`-th smallest of :math:`f_{-i}(x) + |e_i|`.
        """
        n = len(self.targets)
        size = np.abs(self.loo)[:, None]
        low, high = lower_rank(alpha, n), upper_rank(alpha, n)
        result = np.full((len_of(points), 2), [-np.inf, np.inf])
        for band, _, V in self._bands(points):
            C, _ = self._weights(self._inverse @ V)
            without = self.targets @ C - C * self.loo[:, None]  # f(x) minus what point i adds
            if low >= 1:
                result[band, 0] = np.partition(without - size, low - 1, axis=0)[low - 1]
            if high <= n:
                result[band, 1] = np.partition(without + size, high - 1, axis=0)[high - 1]
        return result

    def full(self, points: Data, alpha: float) -> Array:
        r"""Full conformal intervals, of shape (m, 2): hulls of the sets of targets that conform.

        A target y at x conforms if at least :math:`\lfloor \alpha (n+1) \rfloor` training points have a
        residual as large as its own, in the model of all n + 1 points:
        :math:`|a_i - c_i t| \ge |t|`.
        """
        count = lower_rank(alpha, len(self.targets))
        result = np.full((len_of(points), 2), [-np.inf, np.inf])
        if count < 1:
            return result
        for band, some, V in self._bands(points):
            B = self._inverse @ V
            C, left = self._weights(B)
            own = np.asarray(self._gram._self(some), dtype=np.float64)
            spread = self._alpha + own - np.einsum("ij,ij->j", V, B)
            if self._along is not None:
                spread += left**2 / self._total
            ends = conforming(self.coefficients, C, count)
            scale = np.maximum(spread, self._alpha)[:, None]  # the variance is not negative
            result[band] = (self.targets @ C)[:, None] + scale * ends
        return result


def conforming(a: Array, C: Array, count: int) -> Array:
    r"""Hull of the t for which :math:`|a_i - c_i t| \ge |t|` holds for at least ``count`` of the i.

    ``a`` has shape (n,), ``C`` shape (n, m); the result (m, 2).  For :math:`|c_i| < 1` the t of one i are an
    interval around zero.  If that is so for all i, order statistics of their ends are those of the hull.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = a[:, None] / (1 + C), a[:, None] / (C - 1)
    low, high = np.minimum(first, second), np.maximum(first, second)
    result = np.empty((C.shape[1], 2))
    simple = (np.abs(C) < 1).all(axis=0)
    if simple.any():
        n = len(a)
        result[simple, 0] = np.partition(low[:, simple], count - 1, axis=0)[count - 1]
        result[simple, 1] = np.partition(high[:, simple], n - count, axis=0)[n - count]
    for j in np.flatnonzero(~simple):
        result[j] = _hull(a, C[:, j], low[:, j], high[:, j], count)
    return result


def _hull(a: Array, c: Array, low: Array, high: Array, count: int) -> tuple[float, float]:
    """First and last t that at least ``count`` of the intervals hold; for ``|c_i| > 1`` they are two rays."""
    inner, outer, edge = np.abs(c) < 1, np.abs(c) > 1, np.abs(c) == 1
    first, last = [low[inner], high[outer]], [high[inner], low[outer]]
    first.append(np.full(int(outer.sum()), -np.inf))
    last.append(np.full(int(outer.sum()), np.inf))
    for slope, height in zip(c[edge], a[edge], strict=True):
        # |a - c t| >= |t| for c = 1 or -1: a^2 >= 2 a c t
        point = height * slope / 2
        first.append(np.array([-np.inf if height * slope >= 0 else point]))
        last.append(np.array([np.inf if height * slope <= 0 else point]))
    starts, ends = np.sort(np.concatenate(first)), np.sort(np.concatenate(last))
    at_starts = np.searchsorted(starts, starts, "right") - np.searchsorted(ends, starts, "left")
    at_ends = np.searchsorted(starts, ends, "right") - np.searchsorted(ends, ends, "left")
    return float(starts[at_starts >= count].min()), float(ends[at_ends >= count].max())
