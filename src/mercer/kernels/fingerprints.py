"""Similarities of fingerprints: what two vectors share over what either has."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ..algebra.simple import finite
from ..arithmetic import FLOAT, Arithmetic
from ..certificate import Certificate
from ..contributions import Contribution
from ..domains import Data, Domain
from ..domains.fingerprints import BITS, Fingerprints
from ..domains.regions import EVERYWHERE
from ..engine import pairwise
from ..engine.program import Builder, Value
from ..errors import InputError
from ..intervals import Interval
from ..kernel import Kernel, Prepared
from .inner import inner, squared_norms

__all__ = ["DotTanimoto", "MinMax", "Tanimoto"]


class SharedOverAll(Kernel):
    """Kernels ``s(x, y) / (s(x, x) + s(y, y) - s(x, y))`` with 0/0 = 1.

    Subclasses name the sum ``s``, a function of :mod:`mercer.engine.pairwise`.
    """

    _sum: ClassVar[str]

    @abstractmethod
    def _shared(self, x: Any, y: Any, m: Arithmetic) -> Any:
        """What two vectors share."""

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        if not any(x) and not any(y):
            return m.real(1)
        s = self._shared(x, y, m)
        union = self._shared(x, x, m) + self._shared(y, y, m) - s
        if union == 0:
            raise InputError(
                f"{type(self).__name__}: x and y must be larger. Their squares underflow: scale them."
            )
        return s / union

    @abstractmethod
    def _totals(self, X: Data) -> np.ndarray:
        """Values ``s(x, x)``."""

    def _prepare(self, X: Data) -> Prepared:
        """Totals, and which rows are zero: these have total 1/2, so that two of them have a union of 1."""
        zero = np.asarray((X != 0).sum(axis=1)).ravel() == 0
        totals = np.where(zero, 0.5, self._totals(X))
        return Prepared((X,), (totals.astype(X.dtype), zero.astype(X.dtype)))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        totals, zero = (X if Y is None else Y).arrays
        s = getattr(pairwise, self._sum)(X.parts[0], None if Y is None else Y.parts[0])
        union = (X.arrays[0][:, None] + totals) - s
        s += X.arrays[1][:, None] * zero
        K = finite(s / union, self)
        np.clip(K, self.bounds.low, 1.0, out=K)
        if Y is None:
            np.fill_diagonal(K, 1.0)
        return np.asarray(K)

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value:
        s = getattr(b, self._sum)(X.parts[0], None if Y is None else Y.parts[0])
        totals, zero = (None, None) if Y is None else Y.arrays
        union = b.outer_add(s, -1.0, X.arrays[0], totals)
        if X.arrays[1].any() and (zero is None or zero.any()):
            one = b.constant(1.0, X.arrays[0].dtype)
            s = b.add((s, b.outer_multiply(one, X.arrays[1], zero)))
        K = b.clip(b.finite(b.divide(s, union)), self.bounds.low, 1.0)
        return b.diagonal(K, np.ones(len(X), dtype=X.arrays[0].dtype))

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return np.ones(len(X))

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        """Positions that both have, by number, each with its share of what either has."""
        if not x.any() and not y.any():
            yield Contribution("both are empty", 1.0)
            return
        union = sum(self._shared(a, b, FLOAT) * sign for a, b, sign in ((x, x, 1), (y, y, 1), (x, y, -1)))
        for i in np.flatnonzero((x != 0) & (y != 0)).tolist():
            yield Contribution(i, float(self._shared(x[[i]], y[[i]], FLOAT) / union))

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, 1.0)

    diagonal_bounds = Interval(1.0, 1.0)


class InnerOverAll(SharedOverAll):
    """Those whose sum is the inner product."""

    _sum = "dot"

    def _shared(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return inner(x, y, m)

    def _totals(self, X: Data) -> np.ndarray:
        return squared_norms(X)


class Tanimoto(InnerOverAll):
    r"""Tanimoto similarity of bits: the positions that two fingerprints share over those that either has.

    .. math:: k(x, y) = \frac{\langle x, y \rangle}{|x| + |y| - \langle x, y \rangle}, \qquad 0/0 = 1

    Here :math:`|x|` is the number of ones.  Two empty fingerprints are equal, hence have k = 1.  It is
    :class:`Jaccard` of the sets of ones, and so strictly positive definite.  Block cost: O(n m d / 64), a
    count of bits in words of 64.

    Points are rows of zeros and ones, dense or sparse, or RDKit's bit vectors.

    Examples
    --------
    >>> Tanimoto()([1, 1, 1, 0], [0, 1, 1, 1])
    0.5
    >>> Tanimoto()([0, 0], [0, 0])
    1.0
    """

    @property
    def domain(self) -> Domain:
        return Fingerprints(region=BITS)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "mixture of strict kernels",
            "the Jaccard index of the sets of ones: |A & B| times int_0^1 s^(|A | B| - 1) ds, whose "
            "integrand is strict; the empty set stands apart",
            strict=True,
        )


class MinMax(SharedOverAll):
    r"""Tanimoto similarity of counts: sums of minima over sums of maxima.

    .. math:: k(x, y) = \frac{\sum_i \min(x_i, y_i)}{\sum_i \max(x_i, y_i)}, \qquad 0/0 = 1

    On vectors with entries >= 0; on bits it is :class:`Tanimoto`.  Two zero vectors are equal, hence have
    k = 1.  Strictly positive definite: the entries of finitely many vectors cut each axis into intervals,
    and with the lengths of these as weights it is the :class:`Jaccard` index of sets of intervals.  Block
    cost: O(n m d), or by the entries of sparse rows.

    Points are rows of an array or a sparse matrix, or RDKit's count vectors.

    Examples
    --------
    >>> MinMax()([2, 1, 0], [1, 1, 2])
    0.4
    """

    _sum = "min_sums"

    @property
    def domain(self) -> Domain:
        return Fingerprints()

    def _shared(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return m.fsum(m.minimum(a, b) for a, b in zip(x, y, strict=True))

    def _totals(self, X: Data) -> np.ndarray:
        return np.asarray(X.sum(axis=1)).ravel()

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "mixture of strict kernels",
            "the Jaccard index of the intervals [0, x_i], cut by the entries of all points into parts of "
            "positive length",
            strict=True,
        )


class DotTanimoto(InnerOverAll):
    r"""Tanimoto similarity of real vectors by inner products.

    .. math:: k(x, y) = \frac{\langle x, y \rangle}{\|x\|^2 + \|y\|^2 - \langle x, y \rangle},
              \qquad 0/0 = 1

    On bits it is :class:`Tanimoto`; on counts it differs from :class:`MinMax`.  Strictly positive definite on
    :math:`\mathbb{R}^d`: with :math:`s = \langle x, y \rangle` and :math:`t = \|x\|^2 + \|y\|^2 \ge 2|s|`
    it is :math:`\sum_{k \ge 1} s^k t^{-k}`, where :math:`t^{-k}` is positive definite, a Laplace transform
    of :math:`t^{k-1}`.  Values lie in [-1/3, 1].  Block cost: O(n m d).

    Points are rows of an array or a sparse matrix, or RDKit's count vectors.

    Examples
    --------
    >>> round(DotTanimoto()([2, 1, 0], [1, 1, 2]), 4)
    0.375
    """

    @property
    def domain(self) -> Domain:
        return Fingerprints(region=EVERYWHERE)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "power series",
            "sum over k >= 1 of <x, y>^k (|x|^2 + |y|^2)^-k, products of positive definite kernels; for all "
            "k together they separate points",
            strict=True,
        )

    @property
    def bounds(self) -> Interval:
        return Interval(Interval.about(-1 / 3).low, 1.0)
