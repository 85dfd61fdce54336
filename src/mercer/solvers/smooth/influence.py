r"""What a penalised model predicts at a point that it has not seen, from one fit to all points.

At the minimiser of :math:`\sum_i w_i \ell_i(f(x_i) + b) + \frac\alpha2 \|f\|^2` take away the loss of point i
and make one Newton step.  With the weighted slopes :math:`g_i`, the weighted curvature :math:`H_i` and the
block :math:`\Sigma_{ii}` of the inverse of the Hessian (as a matrix on predictions) it leads to

.. math:: f_{-i}(x_i) \approx f(x_i) + \Sigma_{ii} (I - H_i \Sigma_{ii})^{-1} g_i .

For the squared loss this is exact: the closed form of leave-one-out residuals.  Otherwise the error is of
second order in the influence of one point.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ...engine.factorizations import multiply, solve_lower
from ...engine.threads import few_threads
from ..losses import Root
from .curvature import Array, Factors
from .newton import SmoothProblem

__all__ = ["leave_one_out"]


def leave_one_out(problem: SmoothProblem, K: Array, alpha: float, F: Array) -> Array:
    """Predictions at every point by the model without it, to first order; of shape (n, m).

    Parameters
    ----------
    problem : SmoothProblem
    K : array of shape (n, n)
    alpha : float
        Penalty, > 0.
    F : array of shape (n, m)
        Predictions of the model fitted to all points.

    Costs O(m n^3) time and m matrices of the size of K.
    """
    with few_threads(len(K)):
        root, ones = problem.root(F), np.eye(F.shape[1])
        covariance = _Covariance(K, root, alpha)
        blocks = covariance.blocks()
        S = root.dense()
        H = np.einsum("icd,ied->ice", S, S)
        if problem.intercept:  # it adds U (B' H U)^+ U' with U = B - Sigma H B, where B are ones
            columns = range(len(ones))
            U = np.stack([ones[c] - covariance.times(H[:, :, c]) for c in columns], axis=2)
            inner = np.linalg.pinv(np.einsum("icd,ide->ce", H, U), rcond=1e-10, hermitian=True)
            blocks = blocks + U @ inner @ U.transpose(0, 2, 1)
        moved = np.linalg.solve(ones - H @ blocks, problem.slopes(F)[:, :, None])
        return np.asarray(F + (blocks @ moved)[:, :, 0])


class _Covariance:
    r"""The inverse of the Hessian on predictions, :math:`\Sigma = (\alpha K^{-1} \otimes I + S S^\top)^{-1}`.

    In terms of K alone :math:`\alpha \Sigma = K \otimes I - (K \otimes I) E (K \otimes I)` with :math:`E = S
    M^{-1} S^\top`.  On the diagonal it has the blocks :math:`E_c = d_c M_c^{-1} d_c`; where functions are
    coupled, :math:`X_c^\top (\sum_e r_e M_e^{-1} r_e)^{-1} X_{c'}` is taken away everywhere, :math:`X_c = r_c
    M_c^{-1} d_c`.
    """

    def __init__(self, K: Array, root: Root, alpha: float) -> None:
        self.K, self.alpha = K, alpha
        inverses, self.coupling = Factors(K).blocks(root, alpha)
        self.E = [d[:, None] * inverse * d for d, inverse in zip(root.scale.T, inverses, strict=True)]
        if root.unit is None:
            self.cross = self.E
        else:  # the coupling is that of r M_c^-1 r: the other side has d
            both = zip(root.scale.T, root.unit.T, inverses, strict=True)
            self.cross = [r[:, None] * inverse * d for d, r, inverse in both]

    def blocks(self) -> Array:
        """The diagonal blocks, of shape (n, m, m)."""
        n, m = len(self.K), len(self.E)
        result = np.zeros((n, m, m))
        for c, E in enumerate(self.E):
            result[:, c, c] = self.K.diagonal() - np.einsum("ij,ij->j", self.K, multiply(E, self.K))
        if self.coupling is not None:
            halves = [solve_lower(self.coupling[0], multiply(X, self.K)) for X in self.cross]
            for c in range(m):
                for d in range(m):
                    result[:, c, d] += np.einsum("ij,ij->j", halves[c], halves[d])
        return result / self.alpha

    def times(self, V: Array) -> Array:
        """``Sigma V`` for one column per function."""
        KV = self.K @ V
        inner = np.stack([E @ column for E, column in zip(self.E, KV.T, strict=True)], axis=1)
        if self.coupling is not None:
            along = sum(X @ column for X, column in zip(self.cross, KV.T, strict=True))
            solved = linalg.cho_solve(self.coupling, along)
            inner -= np.stack([X.T @ solved for X in self.cross], axis=1)
        return np.asarray((KV - self.K @ inner) / self.alpha)
