"""Kernels between clouds of points from a kernel on the points."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse

from ..arithmetic import Arithmetic
from ..certificate import Certificate
from ..domains import CloudData, Clouds, Data, Domain, take
from ..engine.runs import checkpoint
from ..errors import InputError
from ..intervals import NONNEGATIVE, Interval
from ..kernel import Gradient, Kernel
from ..parameters import parameter
from .derived import Contracted, Gathered
from .measures import log_determinant

__all__ = ["CloudVariance", "MeanMap"]

#: Clouds in a tile: a block of the base kernel has all points of the tile in its rows and columns.
TILE_SIZE = 64

#: Numbers in a stack of matrices whose determinants are computed together: 16 MB.
STACK = 1 << 21


def resolved_on_points(k: Any, X: CloudData, weight: np.ndarray | None) -> Any:
    """The kernel with a base that is resolved on the points of all clouds."""
    if weight is not None:
        weight = np.repeat(weight, X.lengths) * X.weights
    return k.replace(base=k.base._resolve(X.points, weight))


class MeanMap(Contracted):
    r"""Mean of a base kernel over all pairs of points of two clouds.

    .. math:: k(\mu, \mu') = \sum_{ij} w_i w'_j \, k_0(x_i, y_j) = \langle m_\mu, m_{\mu'} \rangle

    the inner product of the mean embeddings :math:`m_\mu = \sum_i w_i k_0(x_i, \cdot)`; weights are equal if
    none are given.  Positive definite if the base kernel is.  Not strictly: the order of points makes no
    difference.  ``MeanMap(base).distance()`` is the squared maximum mean discrepancy (MMD), negative definite
    by the rule of distances, and ``MeanMap(base).gaussian(sigma)`` the Gaussian kernel of it.  Block cost:
    the base kernel on all pairs of points.

    Parameters
    ----------
    base : Kernel
        The kernel on points.  Rules such as ``Gaussian("median")`` see the points of all clouds.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> k = MeanMap(Linear())
    >>> k([[0.0, 1.0], [2.0, 1.0]], [[3.0, 0.0]])  # the inner product of the means
    3.0
    >>> k.distance()([[0.0], [2.0]], [[4.0]])  # the squared distance of the means
    9.0
    """

    base: Kernel

    @property
    def domain(self) -> Domain:
        return Clouds(self.base.domain)

    @property
    def _tile_size(self) -> int:
        return min(super()._tile_size, TILE_SIZE)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        mean = m.fsum(
            w * v * self.base._define(p, q, m)
            for p, w in zip(x.points, x.weights, strict=True)
            for q, v in zip(y.points, y.weights, strict=True)
        )
        return m.maximum(m.minimum(mean, self.bounds.high), self.bounds.low)

    def _prepare(self, X: CloudData) -> Gathered:
        positions = np.arange(len(X.weights))
        shape = (len(X), max(len(positions), 1))
        means = scipy.sparse.csr_array((X.weights, positions, X.starts), shape=shape)
        return Gathered(means, X.points, self.base._prepare(X.points))

    def _contract(self, X: Gathered, Y: Gathered | None, gradient: bool) -> tuple[np.ndarray, Gradient]:
        K, inner = super()._contract(X, Y, gradient)
        low, high = self.bounds.low, self.bounds.high  # a mean lies within them, except for rounding
        return np.clip(K, low, high), inner

    def _resolve(self, X: CloudData, weight: np.ndarray | None) -> Self:
        return resolved_on_points(self, X, weight)  # type: ignore[no-any-return]

    def _certify(self) -> Certificate:
        positive = self.base.certificate.positive
        if positive.proved:
            reason = "the inner product of the means of the feature vectors"
            return Certificate.psd(self, "mean embedding", reason, premises=[positive])
        return Certificate.unknown(self, "the kernel on points is not known to be PSD", [positive])

    @property
    def bounds(self) -> Interval:
        return self.base.bounds


class _Measured:
    """Clouds ready for determinants: points prepared by the base kernel, and its block on each cloud."""

    def __init__(self, points: Data, weights: np.ndarray, starts: np.ndarray, blocks: list[Any]) -> None:
        self.points, self.weights, self.starts, self.blocks = points, weights, starts, blocks

    def __len__(self) -> int:
        return len(self.blocks)

    def take(self, index: slice | np.ndarray) -> _Measured:
        """Select clouds."""
        own = CloudData(self.points, self.weights, self.starts).take(index)
        return _Measured(own.points, own.weights, own.starts, take(self.blocks, index))

    def padded(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, weights and blocks, filled up to one size by points of weight zero."""
        lengths = np.diff(self.starts)
        width = int(lengths.max())
        column = np.arange(width)
        inside = column < lengths[:, None]
        positions = np.where(inside, self.starts[:-1, None] + column, 0)
        K = np.zeros((len(self), width, width))
        for i, block in enumerate(self.blocks):
            K[i, : len(block), : len(block)] = block
        return positions, np.where(inside, self.weights[positions], 0.0), K


class CloudVariance(Kernel):
    r"""Semigroup kernel of two clouds: how little their union varies in the feature space of a base kernel.

    .. math:: k(\mu, \mu') = \det\Big(I + \tfrac{1}{\eta} \Sigma\big(\tfrac{\mu + \mu'}{2}\big)\Big)^{-1/2}
              = \det\Big(I + \tfrac{1}{\eta} K D\Big)^{-1/2}, \qquad D = \mathrm{diag}(w) - w w^T

    where :math:`\Sigma` is the covariance of the average of the two measures in feature space, K the matrix
    of the base kernel on the points of both clouds, and w half their weights.  Positive definite if the base
    kernel is: :math:`\det(\eta I + \Sigma(\mu))` is the determinant of the second moments T of
    :math:`(\Phi(x), 1)`, plus :math:`\eta` in the first block, which is affine in the measure, and
    :math:`\det((T + T')/2)^{-1/2}` is an L2 inner product of Gaussian functions.  With the linear kernel and
    small eta it is, up to a factor, :class:`MeanVariance` of the clouds.

    Block cost: a Cholesky factorization of the size of both clouds for each pair, many pairs at a time.

    Parameters
    ----------
    base : Kernel
        The kernel on points.
    eta : float, default=1.0
        Regularisation, > 0, in units of the base kernel: directions of much less variance do not count.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> k = CloudVariance(Linear(), eta=1e-7).normalized()
    >>> round(k([[-1.0], [1.0]], [[1.0], [3.0]]) ** -2, 5)  # 1 + D^2 / 4 for unit variances at distance D
    2.0
    """

    base: Kernel
    eta: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")

    @property
    def domain(self) -> Domain:
        return Clouds(self.base.domain)

    @property
    def _tile_size(self) -> int:
        return min(super()._tile_size, TILE_SIZE)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        points = [*x.points, *y.points]
        w = [v / 2 for v in (*x.weights, *y.weights)]
        K = [[self.base._define(p, q, m) for q in points] for p in points]
        means = [m.fsum(a * b for a, b in zip(row, w, strict=True)) for row in K]
        mean = m.fsum(a * b for a, b in zip(means, w, strict=True))
        eta = m.real(self.eta)
        S = [
            [
                (1 if i == j else 0) + m.sqrt(w[i] * w[j]) * (K[i][j] - means[i] - means[j] + mean) / eta
                for j in range(len(w))
            ]
            for i in range(len(w))
        ]
        return m.exp(-log_determinant(S, m) / 2)

    def _prepare(self, X: CloudData) -> _Measured:
        points = self.base._prepare(X.points)
        own = [slice(a, b) for a, b in pairwise(X.starts.tolist())]
        return _Measured(points, X.weights, X.starts, [self.base._block(take(points, s), None) for s in own])

    def _block(self, X: _Measured, Y: _Measured | None) -> np.ndarray:
        Z = X if Y is None else Y
        K = np.empty((len(X), len(Z)))
        if not K.size:
            return K
        cross = self.base._tiles(X.points, None if Y is None else Y.points)
        positions, weights, blocks = Z.padded()
        for i, own in enumerate(X.blocks):
            checkpoint()
            n, last = len(own), i + 1 if Y is None else len(Z)
            row = slice(int(X.starts[i]), int(X.starts[i + 1]))
            step = max(1, STACK // (n + weights.shape[1]) ** 2)
            for first in range(0, last, step):
                js = slice(first, min(first + step, last))
                between = cross[row][:, positions[js]].transpose(1, 0, 2)
                K[i, js] = self._values(own, X.weights[row], between, blocks[js], weights[js])
        if Y is None:
            upper = np.triu_indices(len(X), 1)
            K[upper] = K.T[upper]
        return K

    def _values(
        self, own: np.ndarray, w: np.ndarray, between: np.ndarray, others: np.ndarray, v: np.ndarray
    ) -> np.ndarray:
        """Values of one cloud of n points with several of m, of weights w and v.

        Shapes (n, n), (n,), (pairs, n, m), (pairs, m, m) and (pairs, m).
        """
        n = len(w)
        weights = np.concatenate([np.broadcast_to(w, (len(v), n)), v], axis=1) / 2
        K = np.empty((*weights.shape, weights.shape[1]))
        K[:, :n, :n] = own
        K[:, :n, n:] = between
        K[:, n:, :n] = between.transpose(0, 2, 1)
        K[:, n:, n:] = others
        return self._inverse_roots(K, weights)

    def _inverse_roots(self, K: np.ndarray, w: np.ndarray) -> np.ndarray:
        """det(I + K D / eta)^(-1/2) of stacked K, overwritten by the symmetric I + D^(1/2) K D^(1/2) / eta.

        With K centred by the weights, C = (I - 1w') K (I - w1'), that is diag(w)^(1/2) C diag(w)^(1/2).
        """
        means = np.einsum("pij,pj->pi", K, w)
        K -= means[:, :, None] + means[:, None, :]
        K += np.einsum("pi,pi->p", means, w)[:, None, None]
        roots = np.sqrt(w / self.eta)
        K *= roots[:, :, None] * roots[:, None, :]
        np.einsum("pii->pi", K)[:] += 1.0
        try:
            L = np.linalg.cholesky(K)
        except np.linalg.LinAlgError as error:
            raise InputError(
                f"{self!r} needs a positive definite base kernel: I + K D / eta has a determinant <= 0, by "
                "an indefinite base or by rounding. Raise `eta`."
            ) from error
        logs = np.log(np.einsum("pii->pi", L)).sum(axis=1)
        return np.asarray(np.exp(-np.maximum(logs, 0.0) if self.base.certificate.is_psd else -logs))

    def _diagonal(self, X: _Measured) -> np.ndarray:
        found = np.empty(len(X))
        for i, own in enumerate(X.blocks):
            w = X.weights[X.starts[i] : X.starts[i + 1]]
            found[i] = self._inverse_roots(np.array(own, dtype=float)[None], w[None])[0]
        return found

    def _resolve(self, X: CloudData, weight: np.ndarray | None) -> Self:
        return resolved_on_points(self, X, weight)  # type: ignore[no-any-return]

    def _certify(self) -> Certificate:
        positive = self.base.certificate.positive
        if not positive.proved:
            return Certificate.unknown(self, "the kernel on points is not known to be PSD", [positive])
        return Certificate.psd(
            self,
            "Gaussian integral",
            "det((T + T')/2)^(-1/2), T the regularised second moments of (Phi(x), 1), is an L2 inner product "
            "of exp(-z'Tz/4) on the span of the points",
            premises=[positive],
        )

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, 1.0) if self.base.certificate.is_psd else NONNEGATIVE
