r"""How good hyper-parameters are: the evidence and the leave-one-out error, with derivatives.

Both depend on the kernel and the penalty through :math:`M = S K S + \alpha I` alone.  Each function returns
its value and the :class:`Weights` of the entries of K in its differential, so that a further parameter costs
O(n^2).  :math:`N` is :math:`M^{-1}`, with an intercept its restriction to the space orthogonal to :math:`s`;
in both cases :math:`dN = -N \, dM \, N`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...engine.factorizations import cholesky, cholesky_inverse, multiply
from ...errors import InputError

__all__ = ["Inverse", "Weights", "evidence", "loo_error", "signal_variances"]

Matrix: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Weights:
    r"""The symmetric matrix W in :math:`df = \langle W, dK \rangle + \rho \, d\alpha`, computed by tiles.

    Attributes
    ----------
    tile : callable
        ``tile(rows, cols)`` gives the entries of two slices.
    size : int
        Rows of W.
    ridge : float
        :math:`\rho`, the derivative in the penalty.
    """

    tile: Callable[[slice, slice], Matrix]
    size: int
    ridge: float = 0.0

    @classmethod
    def of(cls, G: Matrix, root: Matrix) -> Weights:
        """Weights ``S G S`` of K for a held matrix G of weights of M."""
        return cls(
            lambda rows, cols: root[rows, None] * G[rows, cols] * root[cols], len(G), float(np.trace(G))
        )

    def dot(self, K: Matrix) -> float:
        """The inner product with a matrix, band by band."""
        bands = [slice(start, min(start + 256, self.size)) for start in range(0, self.size, 256)]
        return float(sum(np.vdot(self.tile(rows, slice(0, self.size)), K[rows]) for rows in bands))

    def scaled(self, factor: float) -> Weights:
        """The same times a number."""
        return Weights(lambda rows, cols: factor * self.tile(rows, cols), self.size, factor * self.ridge)


@dataclass(frozen=True)
class Inverse:
    """``N``, and what belongs to it.

    Attributes
    ----------
    matrix : array of shape (n, n)
        ``N``.
    log_determinant : float
        Of M, with an intercept plus ``log(s' M^-1 s)``.
    root : array of shape (n,)
        ``s``.
    freedom : int
        n, or n - 1 with an intercept.
    """

    matrix: Matrix
    log_determinant: float
    root: Matrix
    freedom: int

    @classmethod
    def of(cls, K: Matrix, alpha: float, root: Matrix, intercept: bool) -> Inverse:
        """Invert ``S K S + alpha I`` in the memory of K; raise ``LinAlgError`` if it is not definite."""
        if (root != 1).any():
            K *= root[:, None]
            K *= root
        K[np.diag_indices(len(K))] += alpha
        factor = cholesky(K)
        log_determinant = 2.0 * float(np.log(np.diagonal(factor)).sum())
        N = cholesky_inverse(factor)
        if not intercept:
            return cls(N, log_determinant, root, len(N))
        along = N @ root
        weight = float(root @ along)
        return cls(N - np.outer(along, along / weight), log_determinant + np.log(weight), root, len(N) - 1)


def signal_variances(quadratic: Matrix, freedom: int, asked: float | str) -> Matrix:
    """The factor of the prior covariance for each target; ``"evidence"`` gives the most likely one."""
    if asked != "evidence":
        return np.full(len(quadratic), float(asked))
    return np.asarray(np.maximum(quadratic, 0.0) / max(freedom, 1))


def evidence(inverse: Inverse, right: Matrix, signal: float | str) -> tuple[float, Weights]:
    r"""The log marginal likelihood, summed over targets.

    .. math:: -\tfrac{1}{2 \tau} z^\top N z - \tfrac12 \log\det M - \tfrac{n}{2} \log 2 \pi \tau
              + \tfrac12 \sum_i \log w_i, \qquad z = S y

    With an intercept under a flat prior, :math:`n` becomes :math:`n - 1` and
    :math:`-\tfrac12 \log s^\top M^{-1} s` is added (the restricted likelihood).
    """
    C = inverse.matrix @ right
    quadratic = np.einsum("ij,ij->j", right, C)
    tau = signal_variances(quadratic, inverse.freedom, signal)
    if not (tau > 0).all():
        raise InputError(
            "KernelRidge: a target without variation has no most likely signal variance. "
            "Give `signal_variance` a number."
        )
    constant = np.log(inverse.root).sum() - 0.5 * inverse.log_determinant
    values = -0.5 * quadratic / tau - 0.5 * inverse.freedom * np.log(2 * np.pi * tau) + constant
    N, root, many = inverse.matrix, inverse.root, right.shape[1]
    A, B = root[:, None] * C / tau, root[:, None] * C

    def tile(rows: slice, cols: slice) -> Matrix:
        W = A[rows] @ B[cols].T
        W -= (many * root[rows, None]) * N[rows, cols] * root[cols]
        W *= 0.5
        return np.asarray(W)

    ridge = 0.5 * (float(np.einsum("ij,ij,j->", C, C, 1 / tau)) - many * float(np.trace(N)))
    return float(values.sum()), Weights(tile, len(N), ridge)


def loo_error(inverse: Inverse, right: Matrix) -> tuple[float, Weights]:
    """The weighted mean of squared leave-one-out errors, summed over targets."""
    N, total = inverse.matrix, float(inverse.root @ inverse.root)
    C, d = N @ right, np.diagonal(N)[:, None]
    E = C / d
    slopes = 2 * E / (d * total)  # derivative by C
    U = N @ slopes
    outer = U @ C.T
    G = -0.5 * (outer + outer.T) + multiply(N * (slopes * E).sum(axis=1), N)
    return float((E**2).sum() / total), Weights.of(G, inverse.root)
