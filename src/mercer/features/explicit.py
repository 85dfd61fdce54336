"""Feature maps written out in full: polynomial, all-subsets, ANOVA, and the Gaussian's Taylor series."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, Self

import numpy as np
import scipy.special
from sklearn.utils.validation import check_is_fitted

from .. import memory
from ..domains import Data
from ..errors import InputError, ParameterError, brief
from ..kernels.anova import AllSubsets, Anova
from ..kernels.dot import Polynomial
from ..kernels.inner import squared_norms
from ..kernels.monomials import children, count_polynomial_features, monomials, polynomial_features
from ..kernels.radial import Gaussian, dense
from ..parameters import canonical, check_count, check_number, show
from .base import FeatureMap

__all__ = ["AllSubsetsMap", "AnovaMap", "GaussianTaylorMap", "PolynomialMap"]


#: No map has more features than this: the kernel itself is the better choice long before.
MAX_DIM = 1 << 24


class ExplicitMap(FeatureMap):
    """A map that depends on its parameters alone; subclasses define ``_dimension`` and ``_map``."""

    def _dimension(self, n: int) -> int:
        """Number of features of points with ``n`` coordinates."""
        raise TypeError(f"{type(self).__name__} must define _dimension")

    def _map(self, X: Data) -> np.ndarray:
        """Features of validated points, of shape (n, dim)."""
        raise TypeError(f"{type(self).__name__} must define _map")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and note the number of columns; ``y`` is ignored."""
        X = self.domain.validate(X, "X")
        self._check(X.shape[1])
        self.n_features_in_ = int(X.shape[1])
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of ``X``, of shape (n, dim)."""
        check_is_fitted(self, "n_features_in_")
        X = self.domain.validate(X, "X")
        if X.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )
        return self._map(X)

    @property
    def dim(self) -> int:
        """Number of features."""
        check_is_fitted(self, "n_features_in_")
        return self._dimension(self.n_features_in_)

    def error_bound(self) -> float:
        """Zero: inner products of features are the kernel, to rounding."""
        return 0.0

    def _features(self, X: Data) -> np.ndarray:
        self._check(X.shape[1])
        return self._map(X)

    def _check(self, n: int) -> None:
        target, dim = self.target, self._dimension(n)
        if dim > MAX_DIM:
            # more digits than Python writes, perhaps
            many = f"{dim:,}" if dim < 10**15 else f"10^{math.log10(dim):.0f}"
            need = memory.format_bytes(8 * dim) if dim < 10**15 else "more memory than there is"
            raise ParameterError(
                f"{type(self).__name__}: {n} columns would give {many} features, more than {MAX_DIM:,}: a "
                f"point would take {need}. Use the kernel itself: {brief(target)}."
            )

    def _identity(self) -> Hashable:
        return self.target, self.get_params().get("degree")

    def __repr__(self) -> str:
        params = ", ".join(f"{name}={show(canonical(value))}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({params})"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class PolynomialMap(ExplicitMap):
    r"""Features of the polynomial kernel :math:`(\langle x, y \rangle + c)^d`: all monomials up to degree d.

    .. math:: \phi_i(x) = \sqrt{\frac{d! \, c^{d - |i|}}{i_1! \cdots i_N! \, (d - |i|)!}} \;
              x_1^{i_1} \cdots x_N^{i_N}, \qquad |i| \le d

    There are :math:`\binom{N+d}{d}` of them (:math:`\binom{N+d-1}{d}`, those of degree d alone, if
    :math:`c = 0`), in order of degree.  Inner products equal the kernel to rounding.  Cost: O(n dim).

    For :math:`d = 2` the linear features are :math:`\sqrt{2c}\, x_i`.  (Baros's lecture notes on kernel
    methods print :math:`\sqrt2\, c\, x_i`, which gives another kernel unless :math:`c = 1`; and in their
    first example, the points of the line with :math:`|x| < 2` against the others, it is the sign of
    :math:`x^2 - 4` that separates, not of :math:`x^2 - 5`.)

    Parameters
    ----------
    degree : int, default=2
        Degree :math:`d`, >= 1.
    offset : float, default=1.0
        The constant :math:`c`, >= 0.

    Examples
    --------
    >>> PolynomialMap(2).fit_transform([[3.0]]).round(4).tolist()
    [[1.0, 4.2426, 9.0]]
    """

    def __init__(self, degree: int = 2, offset: float = 1.0) -> None:
        self.degree = degree
        self.offset = offset

    @property
    def target(self) -> Polynomial:
        """The polynomial kernel."""
        kernel = Polynomial(self.degree, self.offset)
        if kernel.offset < 0:
            raise ParameterError(
                f"PolynomialMap: `offset` must be >= 0. Got {brief(self.offset)}, a kernel that is refuted."
            )
        return kernel

    def _dimension(self, n: int) -> int:
        return count_polynomial_features(self, n)

    def _map(self, X: Data) -> np.ndarray:
        return polynomial_features(dense(X), self.target).astype(X.dtype, copy=False)


class AllSubsetsMap(ExplicitMap):
    r"""Features of the all-subsets kernel :math:`\prod_i (1 + a_i x_i y_i)`: one for each set of coordinates.

    .. math:: \phi_A(x) = \prod_{i \in A} \sqrt{a_i} \, x_i, \qquad A \subseteq \{1..n\}

    There are :math:`2^n` of them; feature number :math:`\sum_{i \in A} 2^{i-1}` belongs to the set A.

    Parameters
    ----------
    weights : array of shape (n,), optional
        Weights :math:`a_i \ge 0`; 1 by default.

    Examples
    --------
    >>> AllSubsetsMap().fit_transform([[2.0, 3.0]]).tolist()
    [[1.0, 2.0, 3.0, 6.0]]
    """

    def __init__(self, weights: Any = None) -> None:
        self.weights = weights

    @property
    def target(self) -> AllSubsets:
        """The all-subsets kernel."""
        return AllSubsets(self.weights)

    def _dimension(self, n: int) -> int:
        return int(1 << n)

    def _map(self, X: Data) -> np.ndarray:
        Z = _weighted(X, self.target.weights)
        features = np.ones((len(Z), 1 << Z.shape[1]), dtype=Z.dtype)
        for j in range(Z.shape[1]):
            features[:, 1 << j : 2 << j] = features[:, : 1 << j] * Z[:, [j]]
        return features


class AnovaMap(ExplicitMap):
    r"""Features of the ANOVA kernel of degree d: one for each set of d coordinates.

    .. math:: \phi_A(x) = \prod_{i \in A} \sqrt{a_i} \, x_i, \qquad |A| = d

    There are :math:`\binom{n}{d}` of them, in lexicographic order of the sets.

    Parameters
    ----------
    degree : int, default=2
        Degree :math:`d`, >= 0.
    weights : array of shape (n,), optional
        Weights :math:`a_i \ge 0`; 1 by default.

    Examples
    --------
    >>> AnovaMap(2).fit_transform([[2.0, 3.0, 5.0]]).tolist()
    [[6.0, 10.0, 15.0]]
    """

    def __init__(self, degree: int = 2, weights: Any = None) -> None:
        self.degree = degree
        self.weights = weights

    @property
    def target(self) -> Anova:
        """The ANOVA kernel."""
        return Anova(self.degree, self.weights)

    def _dimension(self, n: int) -> int:
        return math.comb(n, self.target.degree)

    def _map(self, X: Data) -> np.ndarray:
        target = self.target
        Z = _weighted(X, target.weights)
        features = np.ones((len(Z), 1), dtype=Z.dtype)
        last = np.array([-1])
        for _ in range(target.degree):
            parents, variables = children(last + 1, Z.shape[1])
            features = features[:, parents] * Z[:, variables]
            last = variables
        return features


class GaussianTaylorMap(ExplicitMap):
    r"""Truncated Taylor features of the Gaussian kernel.

    .. math:: \phi_i(x) = e^{-\|x\|^2 / 2\sigma^2} \;
              \frac{x_1^{i_1} \cdots x_N^{i_N}}{\sigma^{|i|} \sqrt{i_1! \cdots i_N!}}, \qquad |i| \le d

    All of them would give :math:`\exp(-\|x-y\|^2/2\sigma^2)` exactly; those up to degree d, of which there
    are :math:`\binom{N+d}{d}`, give it with an error of at most :meth:`error_bound`.  They are good near the
    origin: centre the data first.

    Parameters
    ----------
    sigma : float, default=1.0
        Width of the Gaussian kernel, > 0.
    degree : int, default=4
        Largest degree :math:`d`, >= 0.

    Notes
    -----
    One source leaves out the powers of :math:`\sigma`, another writes :math:`e^{-\|x-y\|^2}` for what is
    :math:`e^{-\|x-y\|^2/2}`.

    Examples
    --------
    >>> GaussianTaylorMap(degree=2).fit_transform([[0.0], [1.0]]).round(4).tolist()
    [[1.0, 0.0, 0.0], [0.6065, 0.6065, 0.4289]]
    """

    def __init__(self, sigma: float = 1.0, degree: int = 4) -> None:
        self.sigma = sigma
        self.degree = degree

    @property
    def target(self) -> Gaussian:
        """The Gaussian kernel, which the features approximate."""
        kernel = Gaussian(self.sigma)
        if isinstance(kernel.sigma, np.ndarray) or not kernel.is_resolved:
            raise ParameterError(f"GaussianTaylorMap: `sigma` must be a number > 0. Got {brief(self.sigma)}.")
        check_count("GaussianTaylorMap", "degree", self.degree, low=0)
        return kernel

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters, and note the number of columns and the largest norm; ``y`` is ignored."""
        super().fit(X)
        norms = squared_norms(self.domain.validate(X, "X").astype(np.float64))
        self.radius_ = float(np.sqrt(norms.max(initial=0.0)))
        return self

    def error_bound(self, radius: float | None = None) -> float:
        r"""Largest error of an inner product of features of two points of norm at most ``radius``.

        .. math:: e^{-t} \sum_{s > d} \frac{t^s}{s!}, \qquad t = \mathrm{radius}^2 / \sigma^2

        the probability that a Poisson variable of mean t exceeds the degree.  The radius is by default the
        largest norm of a training point.
        """
        if radius is None:
            check_is_fitted(self, "radius_")
            radius = self.radius_
        radius = check_number(
            "GaussianTaylorMap.error_bound", "radius", radius, ">= 0", least=0.0, infinite=True
        )
        return float(scipy.special.gammainc(self.degree + 1, (radius / self.target.sigma) ** 2))

    def _dimension(self, n: int) -> int:
        return math.comb(n + self.degree, self.degree)

    def _map(self, X: Data) -> np.ndarray:
        Z = dense(X) / X.dtype.type(self.target.sigma)
        features, _ = monomials(Z, self.degree, np.exp(-squared_norms(Z) / 2))
        return features.astype(X.dtype)


def _weighted(X: Data, weights: np.ndarray | None) -> np.ndarray:
    Z = dense(X)
    return Z if weights is None else np.asarray(Z * np.sqrt(weights).astype(Z.dtype))
