"""Distances in feature space, for any method that works with a metric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import memory
from ..domains import take
from ..errors import DefinitenessError, ParameterError, brief
from ..gram import PointGram, gram
from ..kernel import Kernel

__all__ = ["KernelDistance", "kernel_distance"]


class KernelDistance:
    r"""The metric of a kernel, made by :func:`kernel_distance`.

    ``d(x, y)`` is the distance of one pair, ``d.pairwise(X, Y)`` a matrix, ``d.bands(X, Y)`` the same in
    bands of rows that fit into memory.

    Attributes
    ----------
    kernel : Kernel
    """

    def __init__(self, kernel: Kernel) -> None:
        if not isinstance(kernel, Kernel):
            raise ParameterError(
                f"kernel_distance: `kernel` must be a mercer Kernel such as Gaussian(1.0). "
                f"Got {brief(kernel)}."
            )
        kernel._require_resolved()
        self.kernel = kernel

    def __call__(self, x: Any, y: Any) -> float:
        """Distance of two points."""
        k = self.kernel
        direct = k._squared_distances(*k._prepare_pair([x], [y]))
        if direct is not None:
            return float(np.sqrt(direct[0, 0]))
        # The definition itself: equal points have equal values, and the difference is exactly zero.
        own, other, both = k(x, x), k(y, y), k(x, y)
        squared = np.array([[(own - both) + (other - both)]])
        return float(self._rooted(squared, np.array([own]), np.array([other]), exact=True)[0, 0])

    def pairwise(self, X: Any, Y: Any = None) -> NDArray[np.float64]:
        """Matrix of the distances of ``X`` from ``Y``, or from ``X`` itself: symmetric, its diagonal zero.

        Any sequences of points of the kernel's domain; for ``Precomputed()`` the Gram matrix.
        """
        lazy = self._lazy(X, Y)
        n, m = lazy.shape
        memory.require(8 * n * m, f"the {n} x {m} matrix of distances", "Go through d.bands(X, Y) instead.")
        squared = lazy.dense()
        for rows in lazy._bands():
            squared[rows] = self._roots(lazy, rows, squared[rows])
        return squared

    def bands(self, X: Any, Y: Any = None) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Rows of :meth:`pairwise` a band at a time, as (slice, array).

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> d = kernel_distance(Linear())
        >>> [values.argmin(axis=1).tolist() for _, values in d.bands([[1.9], [0.2]], [[0.0], [2.0]])]
        [[1, 0]]
        """
        lazy = self._lazy(X, Y)
        for rows in lazy._bands(progress=True):
            yield rows, self._roots(lazy, rows, lazy._values(rows, slice(0, lazy.shape[1])))

    def _lazy(self, X: Any, Y: Any) -> PointGram:
        return gram(self.kernel.distance(), X, Y, dtype=np.float64)

    def _roots(self, lazy: PointGram, rows: slice, squared: NDArray[np.float64]) -> NDArray[np.float64]:
        """Roots of a band of squared distances."""
        left = lazy._rows
        right = left if lazy._columns is None else lazy._columns[1]
        if lazy.is_symmetric:
            squared[np.arange(len(squared)), np.arange(rows.start, rows.stop)] = 0.0
        # Some kernels know their distances without a difference of large numbers.
        exact = self.kernel._squared_distances(take(left.parts[0], slice(0, 0)), None) is not None
        return self._rooted(squared, left.arrays[0][rows], right.arrays[0], exact=exact)

    def _rooted(
        self,
        squared: NDArray[np.float64],
        left: NDArray[np.float64],
        right: NDArray[np.float64],
        *,
        exact: bool,
    ) -> NDArray[np.float64]:
        """Roots of squared distances; what rounding alone can have made is zero."""
        # squared distances up to this many units of rounding of the kernel values are zero up to rounding
        level = 64 * float(np.finfo(np.float64).eps) * (np.abs(left)[:, None] + np.abs(right))
        if (squared < -level).any():
            i, j = (int(v) for v in np.argwhere(squared < -level)[0])
            raise DefinitenessError(
                f"kernel_distance: {self.kernel!r} is not positive definite: k(x, x) + k(y, y) - 2 k(x, y) "
                f"is {squared[i, j]:.6g} for some pair. Only positive definite kernels have distances."
            )
        return np.asarray(np.sqrt(np.where(squared <= (0.0 if exact else level), 0.0, squared)))

    def __repr__(self) -> str:
        return f"kernel_distance({self.kernel!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KernelDistance) and self.kernel == other.kernel

    def __hash__(self) -> int:
        return hash((KernelDistance, self.kernel))


def kernel_distance(kernel: Kernel) -> KernelDistance:
    r"""The metric of a kernel, for k-nearest neighbours and other methods that need distances only.

    .. math:: d(x, y) = \|\Phi(x) - \Phi(y)\| = \sqrt{k(x, x) + k(y, y) - 2 k(x, y)}

    For a positive definite kernel it satisfies the triangle inequality; it is a metric if only equal points
    are at distance zero.  (As a kernel that takes part in expressions it is ``k.distance().sqrt()``.)  Equal
    points are at distance exactly 0 and no rounding makes a NaN: what is left of squared distances below
    64 units of rounding of ``k(x, x) + k(y, y)`` counts as zero, unless the kernel knows its distances
    directly, as the Gaussian and the linear one do.

    Parameters
    ----------
    kernel : Kernel
        With fixed parameters: ``kernel.resolve(X)`` fixes those that depend on data.

    Returns
    -------
    KernelDistance
        A callable for one pair, with ``pairwise(X, Y)`` for many.

    Examples
    --------
    On vectors it is a ``metric`` of scikit-learn; matrices are much faster, and work for any objects:

    >>> from mercer.kernels import SetIntersection
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> d = kernel_distance(SetIntersection())
    >>> d({"a", "b"}, {"b", "c", "d"})              # the root of the size of the symmetric difference
    1.7320508075688772
    >>> X, y = [{"a"}, {"a", "b"}, {"x", "y"}, {"x"}], [0, 0, 1, 1]
    >>> knn = KNeighborsClassifier(1, metric="precomputed").fit(d.pairwise(X), y)
    >>> knn.predict(d.pairwise([{"b"}, {"y"}], X))
    array([0, 1])
    """
    return KernelDistance(kernel)
