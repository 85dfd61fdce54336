r"""How good hyper-parameters are: the evidence and the leave-one-out error, with gradients.

Both depend on the kernel and the penalty through :math:`M = S K S + \alpha I` alone.  Each function returns
its value and the symmetric matrix :math:`G` with :math:`d\,\mathrm{value} = \langle G, dM \rangle`, so that a
further parameter costs O(n^2).  :math:`N` is :math:`M^{-1}`, with an intercept its restriction to the space
orthogonal to :math:`s`; in both cases :math:`dN = -N \, dM \, N`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...engine.factorizations import cholesky, cholesky_inverse, multiply
from ...errors import InputError

__all__ = ["Inverse", "evidence", "loo_error", "signal_variances"]

Matrix: TypeAlias = NDArray[np.float64]


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
        """Invert ``S K S + alpha I``; raise ``LinAlgError`` if it is not positive definite."""
        M = root[:, None] * K * root
        M[np.diag_indices(len(M))] += alpha
        factor = cholesky(M)
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


def evidence(inverse: Inverse, right: Matrix, signal: float | str) -> tuple[float, Matrix]:
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
    G = 0.5 * ((C / tau) @ C.T - right.shape[1] * inverse.matrix)
    return float(values.sum()), G


def loo_error(inverse: Inverse, right: Matrix) -> tuple[float, Matrix]:
    """The weighted mean of squared leave-one-out errors, summed over targets."""
    N, total = inverse.matrix, float(inverse.root @ inverse.root)
    C, d = N @ right, np.diagonal(N)[:, None]
    E = C / d
    slopes = 2 * E / (d * total)  # derivative by C
    U = N @ slopes
    outer = U @ C.T
    G = -0.5 * (outer + outer.T) + multiply(N * (slopes * E).sum(axis=1), N)
    return float((E**2).sum() / total), G
