"""Divergences that are not negative definite: Kullback-Leibler and Jeffreys.

``histograms`` has those that are: chi-square, Jensen, total variation and Hellinger.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.linalg
import scipy.special

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Property, Status, Witness
from ..domains import NONNEGATIVE, POSITIVE, Data, Domain, Gaussians, Vectors, size
from ..domains.measures import GaussianData
from ..engine.runs import checkpoint
from ..errors import InputError
from ..intervals import NONNEGATIVE as NONNEGATIVE_LINE
from ..intervals import ZERO
from ..kernel import Kernel
from ..models import Normal

__all__ = ["GaussianJeffreys", "Jeffreys", "jeffreys_divergence", "kl_divergence"]


def kl_divergence(p: Any, q: Any) -> float:
    r"""Kullback-Leibler divergence of two histograms, or of two normal distributions.

    .. math:: D(p \,\|\, q) = \sum_i \Big(p_i \log \frac{p_i}{q_i} - p_i + q_i\Big), \qquad
              D(p \,\|\, q) = \int p \log \frac{p}{q}

    which is the same for histograms of one total.  Infinite if q has an empty bin that p has not.  Not
    symmetric, so no kernel; a quadratic form sees half of :func:`jeffreys_divergence`, which is not negative
    definite.

    Parameters
    ----------
    p, q : arrays of shape (d,), entries >= 0, or two :class:`mercer.models.Normal`

    Examples
    --------
    >>> round(kl_divergence([0.5, 0.5], [0.25, 0.75]), 6)
    0.143841
    >>> from mercer.models import Normal
    >>> kl_divergence(Normal([0.0], [[1.0]]), Normal([2.0], [[1.0]]))
    2.0
    """
    if isinstance(p, Normal) and isinstance(q, Normal):
        if len(p.mean) != len(q.mean):
            raise InputError(
                "kl_divergence: `p` and `q` must be normal distributions of one dimension. "
                f"Got {len(p.mean)} and {len(q.mean)}."
            )
        # (tr Q^-1 P - d + |m - m'|^2 / Q + log det Q / det P) / 2
        root = scipy.linalg.cholesky(q.covariance, lower=True)
        own = scipy.linalg.cholesky(p.covariance, lower=True)
        ratio = scipy.linalg.solve_triangular(root, own, lower=True)
        z = scipy.linalg.solve_triangular(root, p.mean - q.mean, lower=True)
        logs = np.log(np.diag(root)).sum() - np.log(np.diag(own)).sum()
        return float(((ratio**2).sum() - len(z) + z @ z) / 2 + logs)
    histograms = Vectors(region=NONNEGATIVE, dense=True)
    a, b = histograms.point(p, "p"), histograms.point(q, "q")
    if a.shape != b.shape:
        raise InputError(f"kl_divergence: `p` and `q` must have the same length. Got {len(a)} and {len(b)}.")
    return float(scipy.special.kl_div(a, b).sum())


def jeffreys_divergence(p: Any, q: Any) -> float:
    r"""Jeffreys divergence of two histograms, or of two normal distributions: the symmetrised KL divergence.

    .. math:: J(p, q) = D(p \,\|\, q) + D(q \,\|\, p) = \sum_i (p_i - q_i) \log \frac{p_i}{q_i}

    Infinite if one histogram has an empty bin that the other has not.  Not negative definite:
    :class:`Jeffreys` and :class:`GaussianJeffreys` have the witnesses.

    Parameters
    ----------
    p, q : arrays of shape (d,), entries >= 0, or two :class:`mercer.models.Normal`

    Examples
    --------
    >>> round(jeffreys_divergence([0.5, 0.5], [0.25, 0.75]), 6)
    0.274653
    """
    return kl_divergence(p, q) + kl_divergence(q, p)


class _Symmetrised(Kernel):
    """Symmetric divergences that vanish on the diagonal and are not negative definite."""

    #: Points and coefficients with c'Kc > 0 although sum(c) = 0, and why.
    _against: ClassVar[tuple[list[Any], list[float], str]]

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.zeros(size(X))

    def _certify(self) -> Certificate:
        points, coefficients, reason = self._against
        negative = Claim(
            Property.NEGATIVE,
            Status.REFUTED,
            repr(self),
            "three points",
            reason,
            witness=Witness.of(self, points, coefficients, Property.NEGATIVE),
        )
        positive = Witness.of(self, points[:2], [1.0, -1.0])
        reason = "k(x, x) = 0 but k(x, y) != 0, so k(x, y)^2 <= k(x, x) k(y, y) fails"
        return Certificate.refuted(self, "Cauchy-Schwarz", reason, witness=positive, negative=negative)

    bounds = NONNEGATIVE_LINE

    diagonal_bounds = ZERO


class Jeffreys(_Symmetrised):
    r"""Jeffreys divergence of histograms without empty bins, **not negative definite**.

    .. math:: \psi(x, y) = \sum_i (x_i - y_i) \log \frac{x_i}{y_i}

    A term is :math:`(f(a) - f(b))(a - b)` with :math:`a = \log x_i` and :math:`f = \exp`; for coefficients
    that sum to zero :math:`\sum_{ij} c_i c_j \psi_{ij} = -2 \langle c, f \rangle \langle c, a \rangle`, which
    is positive for suitable c as f is not affine.  So ``Jeffreys().schoenberg(t)`` is not positive definite
    for small t.  :class:`Jensen` and :class:`ChiSquare` are relatives that are negative definite.  Block
    cost: O(n m d), with logarithms.

    Examples
    --------
    >>> print(Jeffreys().certificate.negative.label, Jeffreys().schoenberg(0.1).certificate.verdict)
    not NDS UNKNOWN
    """

    _against = (
        [np.array([0.5, 0.5]), np.array([0.9, 0.1]), np.array([0.99, 0.01])],
        [7.0, -20.0, 13.0],
        "the logit is no affine function of the probability",
    )

    @property
    def domain(self) -> Domain:
        return Vectors(region=POSITIVE, dense=True)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return m.fsum(
            (a - b) * (m.log1p((a - b) / b) if abs(a - b) < b / 2 else m.log(a) - m.log(b))
            for a, b in zip(x, y, strict=True)
        )

    def _block(self, X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
        X = X.astype(np.float64)
        Z = X if Y is None else Y.astype(np.float64)
        D = np.empty((len(X), len(Z)))
        logs = np.log(Z)
        for i, x in enumerate(X):
            checkpoint()
            gaps = x - Z
            near = np.abs(gaps) < Z / 2
            D[i] = (gaps * np.where(near, np.log1p(np.where(near, gaps / Z, 0.0)), np.log(x) - logs)).sum(1)
        return (D + D.T) / 2 if Y is None else D


class GaussianJeffreys(_Symmetrised):
    r"""Jeffreys divergence of normal distributions, **not negative definite**.

    .. math:: \psi(p, p') = \tfrac12 \mathrm{tr}(S^{-1} S' + S'^{-1} S - 2 I)
              + \tfrac12 (m - m')^T (S^{-1} + S'^{-1}) (m - m')

    On the line with equal means it is :math:`\cosh(\log v - \log v') - 1`, which grows faster than the square
    of the distance, and no negative definite function of a difference does: :math:`\psi(2t) > 4 \psi(t)`.  If
    all covariances are equal it is a squared Mahalanobis distance.  Block cost: O(n m d^3).

    Examples
    --------
    >>> GaussianJeffreys()((0.0, 1.0), (2.0, 1.0))
    4.0
    >>> print(GaussianJeffreys().certificate.negative.label)
    not NDS
    """

    _against = (
        [(0.0, 0.25), (0.0, 1.0), (0.0, 4.0)],
        [1.0, -2.0, 1.0],
        "cosh(2t) - 1 > 4 (cosh(t) - 1)",
    )

    @property
    def domain(self) -> Domain:
        return Gaussians()

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        (mean, S), (other, T) = x, y
        gaps = [[s - t for s, t in zip(*rows, strict=True)] for rows in zip(S, T, strict=True)]
        delta = [a - b for a, b in zip(mean, other, strict=True)]
        left, right = (_solved(A, [*zip(*gaps, strict=True), delta], m) for A in (S, T))
        # S^-1 T + T^-1 S - 2 I = S^-1 (S - T) T^-1 (S - T), without cancellation
        d = len(delta)
        trace = m.fsum(left[j][i] * right[i][j] for i in range(d) for j in range(d))
        return (trace + m.fsum(v * (a + b) for v, a, b in zip(delta, left[d], right[d], strict=True))) / 2

    def _block(self, X: GaussianData, Y: GaussianData | None) -> np.ndarray:
        Z = X if Y is None else Y
        D = np.empty((len(X), len(Z)))
        left, right = np.linalg.inv(X.covariances), np.linalg.inv(Z.covariances)
        for i, (mean, S) in enumerate(X):
            checkpoint()
            # S^-1 T + T^-1 S - 2 I = S^-1 (S - T) T^-1 (S - T), without cancellation
            gaps, delta = S - Z.covariances, mean - Z.means
            traces = np.einsum("jab,jba->j", left[i] @ gaps, right @ gaps)
            D[i] = (traces + np.einsum("ja,jab,jb->j", delta, left[i] + right, delta)) / 2
        return (D + D.T) / 2 if Y is None else D


def _solved(A: Any, columns: Any, m: Arithmetic) -> list[list[Any]]:
    """``A^-1 b`` for some columns b and a positive definite matrix, by Gaussian elimination."""
    d = len(A)
    rows = [[*row, *(b[i] for b in columns)] for i, row in enumerate(A)]
    for p in range(d):
        for i in range(p + 1, d):
            ratio = rows[i][p] / rows[p][p]
            rows[i] = [v - ratio * w for v, w in zip(rows[i], rows[p], strict=True)]
    solutions = []
    for c in range(d, d + len(columns)):
        z: list[Any] = [None] * d
        for i in reversed(range(d)):
            z[i] = (rows[i][c] - m.fsum(rows[i][j] * z[j] for j in range(i + 1, d))) / rows[i][i]
        solutions.append(z)
    return solutions
