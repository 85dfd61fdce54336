r"""Mercer expansions :math:`k(x, y) = \sum_j \lambda_j \phi_j(x) \phi_j(y)`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from .. import memory
from ..domains import Data, check_numbers, size
from ..engine.factorizations import eigh
from ..errors import DefinitenessError, InputError, ParameterError
from ..gram import gram
from ..gram.spectrum import finite, fix_signs, rounding_level
from ..guarantees._validate import as_vector
from ..kernel import Kernel
from ..parameters import check_arguments, check_count
from .fitted import FittedMap

__all__ = ["MercerExpansion"]


class MercerExpansion(FittedMap):
    r"""Eigenvalues and eigenfunctions of a kernel with respect to a measure.

    .. math:: \int k(x, y)\, \phi_j(y)\, d\mu(y) = \lambda_j \phi_j(x), \qquad
              k(x, y) = \sum_j \lambda_j \phi_j(x) \phi_j(y), \qquad
              \int \phi_i \phi_j\, d\mu = [i = j]

    for a measure with finitely many nodes :math:`s_l` and weights :math:`w_l`, which is what the constructors
    make.  The symmetric matrix :math:`(\sqrt{w_l} k(s_l, s_m) \sqrt{w_m})` has the same eigenvalues, and
    its eigenvectors :math:`u_j` give :math:`\phi_j(s_l) = u_{lj} / \sqrt{w_l}`; elsewhere

    .. math:: \phi_j(x) = \frac{1}{\lambda_j} \sum_l w_l\, k(x, s_l)\, \phi_j(s_l)

    (Nystrom's extension).  Needs a kernel that is positive semidefinite on the nodes.  Cost: one
    eigendecomposition of size n_nodes; then a block with the nodes per evaluation.

    On given points, where :math:`K = U \Lambda U^\top`, the features :math:`\sqrt{\lambda_j} \phi_j(x_i)`
    have the squared norm :math:`k(x_i, x_i) = \sum_j \lambda_j U_{ij}^2`, and not :math:`\lambda_i`, as some
    lecture notes have it.  On the circle with the uniform measure the eigenfunctions are those of Fourier:
    the polynomial kernel :math:`(1 + \langle x, y \rangle)^d` has the finitely many eigenvalues :math:`2^{-d}
    \binom{2d}{d + k}`, :math:`|k| \le d`, instead of a polynomial decay, and the Gaussian kernel
    :math:`e^{-1/\sigma^2} I_k(1/\sigma^2)` with the modified Bessel function, for all integers k.

    ``fit(X)`` is :meth:`nystrom`; the constructors of other measures are class methods:

    ==================================================  ====================================================
    :meth:`MercerExpansion.finite`                      counting measure on given points: eigenvectors of K
    :meth:`MercerExpansion.nystrom`                     empirical measure of a sample
    :meth:`MercerExpansion.quadrature`                  interval or box, by Gauss-Legendre nodes
    :meth:`MercerExpansion.gaussian`                    normal distribution on R^d, by Gauss-Hermite nodes
    ==================================================  ====================================================

    Parameters
    ----------
    kernel : Kernel
        Its data-dependent parameters are resolved from the nodes.
    n_components : int, optional
        Number of eigenpairs to keep; by default all above rounding.

    Attributes
    ----------
    eigenvalues : ndarray of shape (r,)
        Descending, all above the cut-off ``max(n, 16) eps`` times the largest.
    n_nodes : int

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> expansion = MercerExpansion.quadrature(Gaussian(1.0), 0.0, 1.0, n_components=4)
    >>> expansion.eigenvalues.round(4)
    array([9.254e-01, 7.210e-02, 2.400e-03, 1.000e-04])
    """

    def __init__(self, kernel: Kernel, n_components: int | None = None) -> None:
        self.kernel = kernel
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Expand for the distribution that ``X`` is a sample of: a point has mass 1/n, or its weight."""
        check_arguments(self)
        n = size(self.kernel.domain.validate(X, "X"))
        name = type(self).__name__
        check_numbers(sample_weight, f"{name}: `sample_weight`", dense=True)
        w = np.ones(n) if sample_weight is None else as_vector(name, "sample_weight", sample_weight)
        return self._expand(X, w / w.sum() if n else w)

    def _expand(self, nodes: Any, weights: np.ndarray) -> Self:
        """Expand for the measure with the given nodes and weights."""
        check_arguments(self)
        K = gram(self.kernel, nodes)
        if weights.shape != (K.shape[0],) or not (np.isfinite(weights).all() and (weights > 0).all()):
            raise InputError(
                f"MercerExpansion: the weights must be {K.shape[0]} positive numbers, one per node."
            )
        self._weights = weights
        self._fitted(K, None)
        self._decompose(self.n_components)
        return self

    def _decompose(self, n_components: int | None) -> None:
        n = self.n_nodes
        memory.require(3 * 8 * n * n, f"the Mercer expansion on {n} nodes", "Use fewer nodes.")
        root = np.sqrt(self._weights)
        A = finite(self._gram.dense()) * root[:, None] * root
        # A proof that no eigenvalue is negative spares computing them all.
        least = 0 if n_components is None or not self.kernel_.certificate.is_psd else max(0, n - n_components)
        values, U = eigh(A, overwrite=True, subset=(least, n - 1) if least else None)
        values, U = values[::-1], fix_signs(U[:, ::-1])
        cutoff = rounding_level(n, self._gram._eps, float(np.abs(values).max(initial=0.0)))
        if values.size and values[-1] < -10 * cutoff:
            raise DefinitenessError(
                f"MercerExpansion: {self.kernel!r} has the eigenvalue {values[-1]:.6g} on these nodes: "
                "it is not positive definite, and Mercer's theorem does not apply."
            )
        rank = int(np.sum(values > cutoff))
        r = rank if n_components is None else min(rank, n_components)
        self.eigenvalues = values[:r].copy()
        # sqrt(lambda_j) phi_j(x) = k(x, nodes) M, and M = W^(1/2) U L^(-1/2)
        self._matrix = U[:, :r] * root[:, None] / np.sqrt(self.eigenvalues)

    # -- constructors -------------------------------------------------------------------------
    @classmethod
    def finite(cls, kernel: Kernel, X: Any, n_components: int | None = None) -> MercerExpansion:
        r"""Expansion on the points of ``X`` themselves: ``K = U L U'``, features :math:`L^{1/2} U' e_i`."""
        n = size(kernel.domain.validate(X, "X"))
        return cls(kernel, n_components)._expand(X, np.ones(n))

    @classmethod
    def nystrom(
        cls, kernel: Kernel, X: Any, n_components: int | None = None, *, sample_weight: Any = None
    ) -> MercerExpansion:
        """Expansion for the distribution that ``X`` is a sample of: a point has mass 1/n (or its weight)."""
        return cls(kernel, n_components).fit(X, sample_weight=sample_weight)

    @classmethod
    def quadrature(
        cls,
        kernel: Kernel,
        low: Any = 0.0,
        high: Any = 1.0,
        n_components: int | None = None,
        *,
        order: int = 64,
        density: Callable[[np.ndarray], Any] | None = None,
    ) -> MercerExpansion:
        """Expansion on an interval (``low``, ``high`` numbers) or a box (vectors), by Gauss-Legendre nodes.

        Parameters
        ----------
        kernel : Kernel
            On real numbers or vectors.
        low, high : float or array-like of shape (d,)
        n_components : int, optional
            Number of eigenpairs to keep; by default all above rounding.
        order : int, default=64
            Nodes per dimension; ``order ** d`` in all.  Convergence is exponential for smooth kernels and
            quadratic in 1/order for kernels with a kink on the diagonal, such as ``min(x, y)``.
        density : callable, optional
            Density of the measure: from nodes of shape (n, d) to n positive numbers.  Lebesgue by default.
        """
        a, b = (
            np.atleast_1d(np.asarray(low, dtype=np.float64)),
            np.atleast_1d(np.asarray(high, dtype=np.float64)),
        )
        if (
            a.ndim != 1
            or a.shape != b.shape
            or not (np.isfinite(a).all() and np.isfinite(b).all() and (a < b).all())
        ):
            raise ParameterError(
                f"MercerExpansion.quadrature: `low` < `high` must be finite numbers, or vectors. "
                f"Got {low!r} and {high!r}."
            )
        t, w = np.polynomial.legendre.leggauss(check_count("MercerExpansion", "order", order))
        axes = [(lo + (hi - lo) * (t + 1) / 2, (hi - lo) / 2 * w) for lo, hi in zip(a, b, strict=True)]
        nodes, weights = _tensor(axes)
        if density is not None:
            weights = weights * np.asarray(density(nodes), dtype=np.float64).reshape(len(nodes))
        return cls(kernel, n_components)._expand(nodes, weights)

    @classmethod
    def gaussian(
        cls,
        kernel: Kernel,
        mean: Any = 0.0,
        std: Any = 1.0,
        n_components: int | None = None,
        *,
        order: int = 64,
    ) -> MercerExpansion:
        """Expansion for a normal distribution with independent coordinates, by Gauss-Hermite nodes.

        ``mean`` and ``std`` > 0 are numbers (the line) or vectors; the other parameters are those of
        :meth:`quadrature`.  Nodes whose weight vanishes in double precision are left out.
        """
        m, s = np.broadcast_arrays(
            np.atleast_1d(np.asarray(mean, dtype=np.float64)),
            np.atleast_1d(np.asarray(std, dtype=np.float64)),
        )
        if m.ndim != 1 or not (np.isfinite(m).all() and np.isfinite(s).all() and (s > 0).all()):
            raise ParameterError("MercerExpansion.gaussian: `mean` must be finite and `std` positive.")
        t, w = np.polynomial.hermite_e.hermegauss(check_count("MercerExpansion", "order", order))
        nodes, weights = _tensor(
            [(mi + si * t, w / math.sqrt(2 * math.pi)) for mi, si in zip(m, s, strict=True)]
        )
        kept = weights > np.finfo(np.float64).tiny
        return cls(kernel, n_components)._expand(nodes[kept], weights[kept])

    # -- use ----------------------------------------------------------------------------------
    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self._gram.shape[0]

    @property
    def nodes(self) -> Data:
        """The nodes, as validated data."""
        return self._gram._X

    def eigenfunctions(self, X: Any) -> np.ndarray:
        """Values of the eigenfunctions at points, of shape (n, r)."""
        return np.asarray(self.transform(X) / np.sqrt(self.eigenvalues))

    def reconstruct(self, X: Any, Y: Any = None) -> np.ndarray:
        r"""The truncated sum :math:`\sum_j \lambda_j \phi_j(x) \phi_j(y)` for all pairs."""
        A = self.transform(X)
        B = A if Y is None else self.transform(Y)
        memory.require(8 * len(A) * len(B), f"the reconstructed {len(A)} x {len(B)} matrix")
        return np.asarray(A @ B.T)

    def coefficients(self, values: Any) -> np.ndarray:
        r"""Coefficients :math:`a_j = \int f \phi_j\, d\mu` of a function from its values at the nodes."""
        f = np.asarray(values, dtype=np.float64)
        if f.shape != (self.n_nodes,):
            raise InputError(f"MercerExpansion: `values` must be {self.n_nodes} numbers, one per node.")
        assert self._matrix is not None  # from kernel values with the nodes to features
        at_nodes = self._matrix * np.sqrt(self.eigenvalues) / self._weights[:, None]
        return np.asarray(at_nodes.T @ (self._weights * f))

    def rkhs_norm(self, coefficients: Any) -> float:
        r"""RKHS norm of :math:`\sum_j a_j \phi_j`: the root of :math:`\sum_j a_j^2 / \lambda_j`."""
        a = np.asarray(coefficients, dtype=np.float64)
        if a.ndim != 1 or len(a) > self.dim:
            raise InputError(
                f"MercerExpansion: `coefficients` must be at most {self.dim} numbers. Got shape {a.shape}."
            )
        return math.sqrt(float(np.sum(a**2 / self.eigenvalues[: len(a)])))


def _tensor(axes: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Nodes of shape (n, d) and weights of a product rule."""
    count = math.prod(len(t) for t, _ in axes)
    memory.require(8.0 * count * count, f"a product rule of {count} nodes", "Lower `order`.")
    nodes = np.stack([g.ravel() for g in np.meshgrid(*(t for t, _ in axes), indexing="ij")], axis=1)
    weights = np.prod([g.ravel() for g in np.meshgrid(*(w for _, w in axes), indexing="ij")], axis=0)
    return nodes, weights
