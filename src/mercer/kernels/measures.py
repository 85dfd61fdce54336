"""Kernels between Gaussian measures, given as pairs ``(mean, covariance)``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate
from ..domains import Data, Domain
from ..domains.measures import GaussianData, Gaussians
from ..engine.runs import checkpoint
from ..intervals import NONNEGATIVE
from ..kernel import Gradient, Kernel
from ..parameters import parameter

__all__ = ["GaussianProduct", "MeanVariance"]


class _OfGaussians(Kernel):
    """Kernels that depend on the measures through log-determinants and one Mahalanobis distance.

    With :math:`A = (S + S')/2`: a log-determinant of each covariance, that of :math:`A`, and
    :math:`q = (m - m')^T A^{-1} (m - m')`.
    """

    @property
    def domain(self) -> Domain:
        return Gaussians()

    def _log(self, own: Any, other: Any, middle: Any, q: Any, d: int, m: Arithmetic | None) -> Any:
        """Logarithm of the kernel from the three log-determinants and ``q``; numbers or arrays."""
        raise TypeError(f"{type(self).__name__} must define _log")

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        (mean, S), (other, T) = x, y
        d = len(mean)
        delta = [a - b for a, b in zip(mean, other, strict=True)]
        average = [[(a + b) / 2 for a, b in zip(r, s, strict=True)] for r, s in zip(S, T, strict=True)]
        middle, q = _factor(average, delta, m)
        return m.exp(self._log(_factor(S, delta, m)[0], _factor(T, delta, m)[0], middle, q, d, m))

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        return np.asarray(np.exp(self._logs(X, Y)[0]))

    def _diagonal(self, X: Data) -> np.ndarray:
        own = _logdets(X.covariances)
        return np.asarray(np.exp(self._log(own, own, own, 0.0, X.means.shape[1], None)))

    def _logs(self, X: GaussianData, Y: GaussianData | None) -> tuple[np.ndarray, ...]:
        """Logarithms of the block, with the two log-determinants and the distances it came from."""
        Z = X if Y is None else Y
        n, k, d = len(X), len(Z), X.means.shape[1]
        own, other = _logdets(X.covariances)[:, None], _logdets(Z.covariances)[None, :]
        middle, q = np.empty((n, k)), np.empty((n, k))
        for i in range(n if k else 0):  # O(m d^2) memory at a time
            checkpoint()
            L = np.linalg.cholesky((X.covariances[i] + Z.covariances) / 2)
            z = np.linalg.solve(L, (X.means[i] - Z.means)[..., None])[..., 0]
            middle[i] = 2 * np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
            q[i] = np.einsum("ij,ij->i", z, z)
        return np.asarray(self._log(own, other, middle, q, d, None)), own, other, q

    bounds = NONNEGATIVE


class GaussianProduct(_OfGaussians):
    r"""Probability product kernel of Gaussian measures.

    .. math:: k(p, p') = \int p(z)^\beta \, p'(z)^\beta \, dz, \qquad p = N(m, S), \; p' = N(m', S')

    In closed form :math:`(2\pi)^{d(1/2 - \beta)} \beta^{-d/2} (|S||S'|)^{(1-\beta)/2} |S + S'|^{-1/2}
    \exp(-\tfrac{\beta}{2} (m - m')^T (S + S')^{-1} (m - m'))`.  Strictly positive definite: the inner product
    of :math:`p^\beta` in L2, and exponentials of distinct quadratic polynomials are linearly independent.
    :math:`\beta = 1/2` is the Bhattacharyya affinity, with k(p, p) = 1.  Block cost: O(n m d^3).

    Parameters
    ----------
    power : float, default=0.5
        The exponent :math:`\beta`, > 0.

    Examples
    --------
    >>> GaussianProduct()((0.0, 1.0), (2.0, 1.0))  # exp(-1/2)
    0.6065306597126334
    """

    power: float = parameter(default=0.5, low=0.0, open_low=True, scale="log")

    def _log(self, own: Any, other: Any, middle: Any, q: Any, d: int, m: Arithmetic | None) -> Any:
        beta = self.power if m is None else m.real(self.power)
        log = math.log if m is None else m.log
        two_pi = 2 * (math.pi if m is None else m.pi)
        # |S + S'| = 2^d |A| and (S + S')^-1 = A^-1 / 2
        constant = d * ((log(two_pi) * (1 - 2 * beta)) - log(2 * beta)) / 2
        return constant + (1 - beta) * (own + other) / 2 - middle / 2 - beta * q / 4

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        logs, own, other, q = self._logs(X, Y)
        K = np.exp(logs)
        return K, {"power": K * self._slope(own, other, q, X.means.shape[1])}

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        own, K = _logdets(X.covariances), self._diagonal(X)
        return K, {"power": K * self._slope(own, own, np.zeros_like(own), X.means.shape[1])}

    def _slope(self, own: np.ndarray, other: np.ndarray, q: np.ndarray, d: int) -> np.ndarray:
        """Derivative of the logarithm of the kernel with respect to that of the power."""
        return np.asarray(-self.power * (d * math.log(2 * math.pi) + (own + other) / 2 + q / 4) - d / 2)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "inner product in L2",
            "of p^beta; exponentials of distinct quadratic polynomials are linearly independent",
            strict=True,
        )


class MeanVariance(_OfGaussians):
    r"""Semigroup kernel of measures known by mean and covariance.

    .. math:: k(\mu, \mu') = \det\Big(\Sigma\big(\tfrac{\mu + \mu'}{2}\big)\Big)^{-1/2}, \qquad
              \Sigma = \tfrac{S + S'}{2} + \tfrac{(m - m')(m - m')^T}{4}

    the covariance of the average of the two measures.  Strictly positive definite:
    :math:`\det \Sigma(\mu)` is the determinant of the matrix T of second moments of :math:`(x, 1)`, which
    is linear in the measure, and :math:`\det((T + T')/2)^{-1/2}` is proportional to the L2 inner product of
    the Gaussian functions :math:`e^{-z^T T z / 4}` and :math:`e^{-z^T T' z / 4}`.  Block cost: O(n m d^3).

    Examples
    --------
    >>> round(MeanVariance()((0.0, 1.0), (2.0, 1.0)) ** -2, 12)  # 1 + D^2 / 4
    2.0
    """

    def _log(self, own: Any, other: Any, middle: Any, q: Any, d: int, m: Arithmetic | None) -> Any:
        # det(A + delta delta' / 4) = det(A) (1 + q / 4)
        return -(middle + (np.log1p(q / 4) if m is None else m.log1p(q / 4))) / 2

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "Gaussian integral",
            "det((T + T')/2)^(-1/2) is an L2 inner product of exp(-z'Tz/4), which determines T",
            strict=True,
        )


def _logdets(S: np.ndarray) -> np.ndarray:
    """Log-determinants of a stack of positive definite matrices."""
    L = np.linalg.cholesky(S)
    return np.asarray(2 * np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1))


def log_determinant(S: Sequence[Sequence[Any]], m: Arithmetic) -> Any:
    """Log-determinant of a positive definite matrix in the given arithmetic."""
    return _factor(S, [m.real(0)] * len(S), m)[0]


def _factor(S: Sequence[Sequence[Any]], b: Sequence[Any], m: Arithmetic) -> tuple[Any, Any]:
    """Log-determinant of ``S`` and ``b' S^-1 b``, by Cholesky in the given arithmetic."""
    L: list[list[Any]] = []
    z: list[Any] = []
    for i, row in enumerate(S):
        new: list[Any] = []
        for j in range(i):
            new.append((row[j] - m.fsum(a * c for a, c in zip(new, L[j], strict=False))) / L[j][j])
        pivot = m.sqrt(row[i] - m.fsum(a * a for a in new))
        z.append((b[i] - m.fsum(a * c for a, c in zip(new, z, strict=True))) / pivot)
        L.append([*new, pivot])
    return 2 * m.fsum(m.log(row[-1]) for row in L), m.fsum(v * v for v in z)
