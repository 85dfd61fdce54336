"""Kernels that are products over the features: Laplacian, Cauchy, periodic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from ..algebra.simple import SimpleKernel
from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Property, Status
from ..domains import Data, Domain, Vectors, size
from ..engine.program import Builder, Value
from ..intervals import Interval
from ..kernel import Gradient, Kernel, Prepared
from ..parameters import parameter
from ..spectral_density import IndependentCauchy, IndependentLaplace
from .radial import dense
from .widths import (
    median_distance,
    scaled_l1_distances,
    scaled_l1_values,
    scaled_squared_distances,
    scaled_squared_values,
    width,
)

__all__ = ["Cauchy", "Laplacian", "Periodic"]


class Laplacian(SimpleKernel):
    r"""Laplacian kernel on vectors.

    .. math:: k(x, y) = \exp\left(-\frac{\|x - y\|_1}{\sigma}\right)

    Strictly positive definite on :math:`\mathbb{R}^d` (Bochner: its spectral density is a product of Cauchy
    densities) and infinitely divisible.  Block cost: O(n m d).

    Parameters
    ----------
    sigma : float, array of shape (d,), "median" or "features", default=1.0
        Width, > 0.  A vector gives one width per feature: :math:`\exp(-\sum_i |x_i-y_i| / \sigma_i)`.
        ``"median"`` is the median of :math:`\|x - y\|_1` over the data, sampled as in :class:`Gaussian`,
        ``"features"`` the number d of features, as scikit-learn has it by default.

    Examples
    --------
    >>> round(Laplacian(2.0)([0.0, 0.0], [1.0, -1.0]), 6)
    0.367879
    """

    sigma: Any = width("median", "features")
    _overflow: ClassVar[str | None] = None

    @property
    def domain(self) -> Domain:
        return Vectors(dim=len(self.sigma) if isinstance(self.sigma, np.ndarray) else None)

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return m.exp(-t)

    def _pair(self, x: Any, y: Any, m: Arithmetic) -> tuple[Any]:
        return (m.fsum(abs(a - b) / s for a, b, s in _triples(x, y, self.sigma, m)),)

    def _pairs(self, X: Data, Y: Data | None) -> tuple[np.ndarray]:
        return (scaled_l1_distances(X, Y, self.sigma),)

    def _steps(self, b: Builder, X: Data, Y: Data | None) -> tuple[Value]:
        return (scaled_l1_values(b, X, Y, self.sigma),)

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.ones(size(X), dtype=X.dtype)

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        [D] = self._pairs(X, Y)
        np.minimum(D, np.finfo(D.dtype).max, out=D)
        K = self._evaluate(D)
        if not isinstance(self.sigma, np.ndarray):
            return K, {"sigma": K * D}
        A, B = dense(X), dense(X if Y is None else Y)
        return K, {"sigma": K[..., None] * (np.abs(A[:, None, :] - B[None, :, :]) / self.sigma)}

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        return self._diagonal(X), {"sigma": np.zeros((size(X), *np.shape(self.sigma)))}

    def _rule(self, name: str, rule: str, X: Data, weight: np.ndarray | None) -> float:
        return median_distance(X, weight, norm=1) if rule == "median" else float(max(X.shape[1], 1))

    def _certify(self) -> Certificate:
        reason = "the Fourier transform is a product of positive Cauchy densities"
        return Certificate.psd(self, "Bochner", reason, strict=True)

    def _infinitely_divisible(self) -> Claim:
        return _negative(self, "sum_i |x_i - y_i| is negative definite")

    def _spectral_density(self) -> IndependentCauchy:
        return IndependentCauchy(self.sigma)

    bounds = Interval(0.0, 1.0)

    diagonal_bounds = Interval(1.0, 1.0)


class Cauchy(SimpleKernel):
    r"""Product of Cauchy functions.

    .. math:: k(x, y) = \prod_i \frac{1}{1 + (x_i - y_i)^2 / \sigma^2}

    Strictly positive definite on :math:`\mathbb{R}^d` (Bochner: its spectral density is
    :math:`\prod_i \frac{\sigma}{2} e^{-\sigma |w_i|}`) and infinitely divisible.  Block cost: O(n m d).

    Parameters
    ----------
    sigma : float or array of shape (d,), default=1.0
        Width, > 0; a vector gives one width per feature.

    Notes
    -----
    Mohri, Rostamizadeh and Talwalkar (2018), table 6.1, print :math:`\prod_i 2/(1 + d_i^2)` with the density
    :math:`e^{-|w|_1}`; the normalised pair is the one above.

    Examples
    --------
    >>> Cauchy(1.0)([0.0, 0.0], [1.0, 1.0])
    0.25
    """

    sigma: Any = width()
    _overflow: ClassVar[str | None] = None

    @property
    def domain(self) -> Domain:
        return Vectors(dim=len(self.sigma) if isinstance(self.sigma, np.ndarray) else None)

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return 1 / t

    def _pair(self, x: Any, y: Any, m: Arithmetic) -> tuple[Any]:
        factors = (1 + m.power((a - b) / s, 2) for a, b, s in _triples(x, y, self.sigma, m))
        return (math.prod(factors, start=m.real(1)),)

    def _squares(self, X: Data, Y: Data | None) -> Iterator[tuple[int, np.ndarray]]:
        """Squared scaled differences, one matrix per feature that is not zero throughout."""
        widths = np.broadcast_to(self.sigma, X.shape[1])
        for j, a, b in columns(X, X if Y is None else Y):
            with np.errstate(over="ignore"):
                U = np.subtract.outer(a, b)
                U /= U.dtype.type(widths[j])
                U *= U
            yield j, U

    def _pairs(self, X: Data, Y: Data | None) -> tuple[np.ndarray]:
        other = X if Y is None else Y
        with np.errstate(over="ignore"):
            if scipy.sparse.issparse(X) and scipy.sparse.issparse(other):
                K = self._sparse_product(X, other)
                if K is not None:
                    return (K,)
            K = np.ones((size(X), size(other)), dtype=np.result_type(X.dtype, other.dtype))
            for _, U in self._squares(X, Y):
                U += 1
                K *= U
        return (K,)

    def _steps(self, b: Builder, X: Data, Y: Data | None) -> tuple[Value] | None:
        if scipy.sparse.issparse(X) or scipy.sparse.issparse(Y):
            return None
        with np.errstate(over="ignore"):
            weights = np.broadcast_to(1 / np.asarray(self.sigma, dtype=np.float64), X.shape[1])
        return (b.cauchy(X, Y, weights),) if np.isfinite(weights).all() else None

    def _sparse_product(self, X: Data, Y: Data) -> np.ndarray | None:
        """Denominators of sparse rows: those against zero, corrected where both rows have an entry."""
        widths = np.broadcast_to(self.sigma, X.shape[1])
        against_zero = []
        for A in (X, Y):
            logs = A.copy().astype(np.float64)
            logs.data = np.log1p((logs.data / widths[A.indices]) ** 2)
            against_zero.append(np.asarray(np.exp(logs.sum(axis=1))))
        K = np.multiply.outer(*against_zero)
        if not np.isfinite(K).all():
            return None
        for j, rows, a, others, b in common_entries(X, Y):
            difference = np.subtract.outer(a, b) / widths[j]
            a, b = a[:, None] / widths[j], b / widths[j]
            K[np.ix_(rows, others)] *= (1 + difference**2) / ((1 + a * a) * (1 + b * b))
        return np.asarray(K.astype(np.result_type(X.dtype, Y.dtype)))

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.ones(size(X), dtype=X.dtype)

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        K = self._block(X, Y)
        if isinstance(self.sigma, np.ndarray):
            by_width = np.zeros((*K.shape, len(self.sigma)), dtype=K.dtype)
            for j, U in self._squares(X, Y):
                by_width[..., j] = K * (2 - 2 / (1 + U))
            return K, {"sigma": by_width}
        total = np.zeros_like(K)
        for _, U in self._squares(X, Y):
            total += 2 - 2 / (1 + U)
        return K, {"sigma": K * total}

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        return self._diagonal(X), {"sigma": np.zeros((size(X), *np.shape(self.sigma)))}

    def _certify(self) -> Certificate:
        reason = "the Fourier transform is a product of positive Laplace densities"
        return Certificate.psd(self, "Bochner", reason, strict=True)

    def _infinitely_divisible(self) -> Claim:
        return _negative(self, "sum_i log(1 + (x_i - y_i)^2/s^2) is negative definite")

    def _spectral_density(self) -> IndependentLaplace:
        return IndependentLaplace(self.sigma)

    bounds = Interval(0.0, 1.0)

    diagonal_bounds = Interval(1.0, 1.0)


class Periodic(SimpleKernel):
    r"""Periodic kernel on vectors.

    .. math:: k(x, y) = \prod_i \exp\left(-\frac{2}{\sigma^2} \sin^2 \frac{\pi (x_i - y_i)}{p}\right)

    Positive definite on :math:`\mathbb{R}^d`: the Gaussian kernel of width :math:`\sigma` after each feature
    is wound around a unit circle.  Not strictly, for points one period apart are the same.  Infinitely
    divisible.  Block cost: O(n m d).

    Parameters
    ----------
    period : float, default=1.0
        Period :math:`p`, > 0.
    sigma : float, default=1.0
        Width on the circle, > 0.

    Examples
    --------
    >>> Periodic(2.0)([0.5], [4.5])
    1.0
    """

    period: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")
    sigma: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")
    _overflow: ClassVar[str | None] = None

    @property
    def domain(self) -> Domain:
        return Vectors()

    def formula(self, D: Any, m: Arithmetic) -> Any:
        return m.exp(-D / 2)

    def _pair(self, x: Any, y: Any, m: Arithmetic) -> tuple[Any]:
        """Squared distance on the circles; each chord is twice a sine."""
        p, s = m.real(self.period), m.real(self.sigma)
        # Whole periods are taken off each point first: subtracting large numbers would lose the phase.
        sines = [m.sin(m.pi * ((a % p) - (b % p)) / p) / s for a, b in zip(x, y, strict=True)]
        return (4 * m.fsum(t * t for t in sines),)

    def _pairs(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray]:
        return (scaled_squared_distances(X.parts[1], None if Y is None else Y.parts[1], self.sigma),)

    def _steps(self, b: Builder, X: Prepared, Y: Prepared | None) -> tuple[Value]:
        return (scaled_squared_values(b, X.parts[1], None if Y is None else Y.parts[1], self.sigma),)

    def _prepare(self, X: Data) -> Prepared:
        # Points (cos t - 1, sin t) of the circle through 0, so that zeros stay zeros.
        values = X.data if scipy.sparse.issparse(X) else X
        half = np.fmod(values.astype(np.float64), self.period) / self.period * math.pi
        sines = np.sin(half)
        parts = (-2 * sines * sines).astype(X.dtype), (2 * sines * np.cos(half)).astype(X.dtype)
        if not scipy.sparse.issparse(X):
            return Prepared((X, np.hstack(parts)))
        maps = [scipy.sparse.csr_array((part, X.indices, X.indptr), shape=X.shape) for part in parts]
        return Prepared((X, scipy.sparse.hstack(maps, format="csr")))

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return np.ones(len(X), dtype=X.parts[0].dtype)

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        [D] = self._pairs(X, Y)
        K = self._evaluate(D)
        by_period = np.zeros_like(K)
        for _, a, b in columns(X.parts[0], (X if Y is None else Y).parts[0]):
            turns = np.subtract.outer(a, b) / self.period
            by_period += 2 * math.pi * turns * np.sin(2 * math.pi * np.fmod(turns, 1.0))
        return K, {"period": K * by_period / self.sigma**2, "sigma": K * D}

    def _diagonal_gradient(self, X: Prepared) -> tuple[np.ndarray, Gradient]:
        return self._diagonal(X), {"period": np.zeros(len(X)), "sigma": np.zeros(len(X))}

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "pull-back", "2 sin^2(pi d/p) = |e(x) - e(y)|^2/2 on the circle e: a Gaussian kernel there"
        )

    def _infinitely_divisible(self) -> Claim:
        return _negative(self, "the squared distance |e(x) - e(y)|^2 is negative definite")

    bounds = Interval(0.0, 1.0)

    diagonal_bounds = Interval(1.0, 1.0)


# -- helpers ----------------------------------------------------------------------------------
def columns(X: Data, Y: Data) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Index and values of every feature; of sparse data, of those that occur in ``X`` or ``Y``."""
    if not (scipy.sparse.issparse(X) or scipy.sparse.issparse(Y)):
        yield from ((j, X[:, j], Y[:, j]) for j in range(X.shape[1]))
        return
    left, right = (scipy.sparse.csc_array(A) for A in (X, Y))
    occurring = np.flatnonzero(np.diff(left.indptr) + np.diff(right.indptr))
    for j in occurring.tolist():
        yield j, _column(left, j), _column(right, j)


def _column(A: Any, j: int) -> np.ndarray:
    values = np.zeros(A.shape[0], dtype=A.dtype)
    entries = slice(A.indptr[j], A.indptr[j + 1])
    values[A.indices[entries]] = A.data[entries]
    return values


def common_entries(X: Data, Y: Data) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Features that occur in both of two sparse matrices: index, and for each matrix its rows and entries."""
    left, right = (scipy.sparse.csc_array(A).astype(np.float64) for A in (X, Y))
    for j in np.flatnonzero(np.diff(left.indptr) * np.diff(right.indptr)).tolist():
        a, b = (slice(A.indptr[j], A.indptr[j + 1]) for A in (left, right))
        yield j, left.indices[a], left.data[a], right.indices[b], right.data[b]


def _triples(x: Any, y: Any, sigma: float | np.ndarray, m: Arithmetic) -> Iterator[tuple[Any, Any, Any]]:
    convert: Callable[[float], Any] = m.real
    return zip(x, y, map(convert, np.broadcast_to(sigma, len(x)).tolist()), strict=True)


def _negative(kernel: Kernel, reason: str) -> Claim:
    return Claim(Property.NEGATIVE, Status.PROVED, f"-log {kernel!r}", "Schoenberg", reason)
