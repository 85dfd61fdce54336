"""All-subsets and ANOVA kernels: inner products of monomials in distinct features.

The degree-s kernel is the elementary symmetric polynomial :math:`e_s` of the products
:math:`u_i = a_i x_i y_i`; a dynamic program over the features gives all degrees at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse

from ..algebra.nodes import Node, times
from ..algebra.simple import checked, checked_value
from ..arithmetic import Arithmetic
from ..certificate import Certificate
from ..domains import Data, Domain, Vectors, size
from ..engine import pairwise
from ..engine.program import Builder, Value
from ..errors import ParameterError, brief
from ..intervals import REAL_LINE, Interval
from ..kernel import Gradient, Kernel, Prepared
from ..parameters import parameter
from .l1 import columns, common_entries

__all__ = ["AllSubsets", "Anova", "AnovaOf"]


class AllSubsets(Kernel):
    r"""All-subsets kernel: one feature for every set of coordinates.

    .. math:: k(x, y) = \prod_i (1 + a_i x_i y_i)
              = \sum_{A \subseteq \{1..n\}} \prod_{i \in A} a_i x_i y_i

    Positive definite on :math:`\mathbb{R}^n` as the inner product of the :math:`2^n` features
    :math:`\prod_{i \in A} \sqrt{a_i} x_i`; not strictly, for they are finitely many.
    Block cost: O(n_x n_y n).

    Parameters
    ----------
    weights : array of shape (n,), optional
        Weights :math:`a_i \ge 0`; 1 by default.  A value that overflows is an error naming ``weights``.

    Examples
    --------
    >>> AllSubsets()([1.0, 2.0], [3.0, 4.0])
    36.0
    """

    weights: Any = None

    def _validate(self) -> None:
        _set_nonnegative(self, "weights")

    @property
    def domain(self) -> Domain:
        return Vectors(dim=None if self.weights is None else len(self.weights))

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        product = m.real(1)
        for u in _products(x, y, self.weights, m):
            product = product * (1 + u)
        return checked_value(product, self, "weights", m)

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            K = pairwise.all_subsets(X, Y, _weights(self.weights, X))
        return checked(K, self, "weights")

    def _compile(self, b: Builder, X: Data, Y: Data | None) -> Value:
        return b.finite(b.all_subsets(X, Y, _weights(self.weights, X)))

    def _diagonal(self, X: Data) -> np.ndarray:
        K = np.ones(size(X), dtype=np.float64)
        weights = _weights(self.weights, X)
        with np.errstate(over="ignore"):
            for j, column, _ in columns(X, X):
                K *= 1 + weights[j] * column.astype(np.float64) ** 2
            return checked(K.astype(X.dtype), self, "weights")

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        return self._block(X, Y), {}

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "inner product", "of the 2^n features prod_{i in A} sqrt(a_i) x_i, one for each set A"
        )

    diagonal_bounds = Interval(1.0, math.inf)


class Anova(Kernel):
    r"""ANOVA kernel: one feature for every set of ``degree`` coordinates.

    .. math:: k(x, y) = \sum_{i_1 < \dots < i_d} \prod_{j=1}^d a_{i_j} x_{i_j} y_{i_j}

    With ``coefficients`` :math:`c_0 .. c_d` it is :math:`\sum_s c_s k_s(x, y)` over all degrees up to
    :math:`d`, at the same cost.  With ``decay`` :math:`\lambda` each monomial is multiplied by
    :math:`\lambda^g`, where :math:`g = i_s - i_1 + 1 - s` counts the indices that it skips.

    Positive definite on :math:`\mathbb{R}^n`: an inner product of monomials with nonnegative weights; not
    strictly, for they are finitely many.  Block cost: O(n_x n_y n d), :func:`anova_operations` per pair.

    Parameters
    ----------
    degree : int
        Degree :math:`d`, from 0 to 1000.  A value that overflows is an error naming ``degree``.
    weights : array of shape (n,), optional
        Weights :math:`a_i \ge 0`; 1 by default.
    coefficients : array of shape (degree + 1,), optional
        Weights :math:`c_s \ge 0` of the degrees; by default only ``degree`` counts, with weight 1.
    decay : float, default=1.0
        Factor :math:`\lambda` in [0, 1] for each skipped index; 1 treats all sets alike, 0 keeps runs of
        consecutive indices only.

    Notes
    -----
    Against the polynomial kernel the monomials with repeated indices are missing; there they weigh less, not
    more, than those of distinct indices.

    Examples
    --------
    >>> Anova(2)([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    11.0
    >>> Anova(2, decay=0.0)([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    8.0
    """

    degree: int = parameter(low=0, high=1000, integer=True)
    weights: Any = None
    coefficients: Any = None
    decay: float = parameter(default=1.0, low=0.0, high=1.0)

    def _validate(self) -> None:
        _set_nonnegative(self, "weights")
        _set_nonnegative(self, "coefficients", self.degree + 1)

    @property
    def domain(self) -> Domain:
        return Vectors(dim=None if self.weights is None else len(self.weights))

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        decay = m.real(self.decay)
        kappa = [m.real(1)] + [m.real(0)] * self.degree  # monomials of each degree
        ended = [m.real(0)] * (self.degree + 1)  # the same, damped by the distance to their last index
        for u in _products(x, y, self.weights, m):
            for s in range(self.degree, 0, -1):
                new = u if s == 1 else u * ended[s - 1]
                kappa[s] = kappa[s] + new
                ended[s] = decay * ended[s] + new
        coefficients = _coefficients(self.coefficients, self.degree)
        value = m.fsum(m.real(c) * k for c, k in zip(coefficients.tolist(), kappa, strict=True) if c)
        return checked_value(value, self, "degree", m)

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        weights, coefficients = _weights(self.weights, X), _coefficients(self.coefficients, self.degree)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.decay == 1.0:
                return checked(pairwise.anova(X, Y, weights, coefficients), self, "degree")
            other = X if Y is None else Y
            dtype = np.result_type(X.dtype, other.dtype)
            shape = (size(X), size(other))
            if scipy.sparse.issparse(X) and scipy.sparse.issparse(other):
                K = sparse_damped_anova(X, other, weights, coefficients, self.decay)
            else:
                terms = (
                    (j, np.multiply.outer(weights[j] * a.astype(np.float64), b.astype(np.float64)))
                    for j, a, b in columns(X, other)
                )
                K = damped_anova(terms, shape, coefficients, self.decay)
            return checked(K.astype(dtype), self, "degree")

    def _compile(self, b: Builder, X: Data, Y: Data | None) -> Value | None:
        if self.decay != 1.0:
            return None
        coefficients = _coefficients(self.coefficients, self.degree)
        return b.finite(b.anova(X, Y, _weights(self.weights, X), coefficients))

    def _diagonal(self, X: Data) -> np.ndarray:
        weights, coefficients = _weights(self.weights, X), _coefficients(self.coefficients, self.degree)
        terms = ((j, weights[j] * a.astype(np.float64) ** 2) for j, a, _ in columns(X, X))
        with np.errstate(over="ignore", invalid="ignore"):
            K = damped_anova(terms, (size(X),), coefficients, self.decay)
            return checked(K.astype(X.dtype), self, "degree")

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        return self._block(X, Y), {}

    def _certify(self) -> Certificate:
        reason = "of the monomials prod_{i in A} x_i over sets A of indices, each with a nonnegative weight"
        return Certificate.psd(self, "inner product", reason)

    @property
    def diagonal_bounds(self) -> Interval:
        return Interval(float(_coefficients(self.coefficients, self.degree)[0]), math.inf)


class AnovaOf(Node):
    r"""ANOVA kernel over any base kernels.

    .. math:: k(x, y) = \sum_{i_1 < \dots < i_d} \prod_{j=1}^d k_{i_j}(x, y)

    With ``coefficients`` the degrees 0..d are added with those weights.  Positive definite if every base
    kernel is, by sums and Schur products; strictly, if some product holds a strict kernel and otherwise
    kernels of positive diagonal.  Block cost: that of the base kernels and O(n m N d) for N of them.

    Parameters
    ----------
    kernels : sequence of Kernel
        The base kernels; each may look at any part of the points.
    degree : int
        Degree :math:`d`, from 0 to 1000.
    coefficients : array of shape (degree + 1,), optional
        Weights :math:`c_s \ge 0` of the degrees; by default only ``degree`` counts, with weight 1.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> AnovaOf((Linear(), Linear(), Linear()), 2)([2.0], [1.0])
    12.0
    """

    kernels: tuple[Kernel, ...]
    degree: int = parameter(low=0, high=1000, integer=True)
    coefficients: Any = None

    def _validate(self) -> None:
        kernels: Any = self.kernels
        if not (isinstance(kernels, tuple) and kernels and all(isinstance(k, Kernel) for k in kernels)):
            raise ParameterError(
                f"AnovaOf: `kernels` must be a nonempty sequence of kernels. Got {self.kernels!r}."
            )
        _set_nonnegative(self, "coefficients", self.degree + 1)
        _ = self.domain  # base kernels without common points are refused here

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return self._sum([k._define(x, y, m) for k in self.kernels], m.real(1))

    def _sum(self, values: Sequence[Any], one: Any) -> Any:
        """Weighted elementary symmetric polynomials of numbers, matrices or intervals."""
        kappa = symmetric_polynomials(values, self.degree, one)
        coefficients = _coefficients(self.coefficients, self.degree).tolist()
        terms = [one * 0.0] + [k * c for k, c in zip(kappa, coefficients, strict=True) if c]
        return reduce(lambda a, b: a + b, terms)

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        blocks = self._blocks(X, Y)
        return np.asarray(self._sum(blocks, np.ones_like(blocks[0])))

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value | None:
        if self.degree == 0:
            return None
        kappa: list[Value | None] = [None] * self.degree  # of degrees 1, 2, ...; None stands for zero
        for u in self._compiled(b, X, Y):
            for s in range(self.degree - 1, 0, -1):
                if (below := kappa[s - 1]) is not None:
                    kappa[s] = _plus(b, kappa[s], b.multiply((u, below)))
            kappa[0] = _plus(b, kappa[0], u)
        constant, *coefficients = _coefficients(self.coefficients, self.degree).tolist()
        terms = [b.scale(k, c) for k, c in zip(kappa, coefficients, strict=True) if k is not None and c]
        return b.shift(b.add(terms), constant) if terms else None

    def _diagonal(self, X: Prepared) -> np.ndarray:
        diagonals = self._diagonals(X)
        return np.asarray(self._sum(diagonals, np.ones_like(diagonals[0])))

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        pieces = self._gradients(X, Y)
        blocks = [K for _, K, _ in pieces]
        one = np.ones_like(blocks[0])
        coefficients = _coefficients(self.coefficients, self.degree)
        gradient: Gradient = {}
        for i, (name, _, inner) in enumerate(pieces):
            if not inner:
                continue
            # The derivative of e_s in its i-th argument is e_{s-1} of the others.
            others = symmetric_polynomials([K for j, K in enumerate(blocks) if j != i], self.degree, one)
            slope = sum((c * K for c, K in zip(coefficients[1:], others, strict=False)), 0 * one)
            gradient.update({f"{name}__{key}": times(slope, g) for key, g in inner.items()})
        return np.asarray(self._sum(blocks, one)), gradient

    def _certify(self) -> Certificate:
        premises = [k.certificate.positive for k in self.kernels]
        if not all(p.proved for p in premises):
            return Certificate.unknown(
                self, "not every base kernel is known to be positive definite", premises
            )
        positive = sum(
            p.strict or k.diagonal_bounds.is_positive for p, k in zip(premises, self.kernels, strict=True)
        )
        degrees = np.flatnonzero(_coefficients(self.coefficients, self.degree))
        domains = [k.domain for p, k in zip(premises, self.kernels, strict=True) if p.strict]
        strict = any(self.domain.separated_by([domain]) for domain in domains)
        strict = strict and any(1 <= s <= positive for s in degrees)
        return Certificate.psd(
            self,
            "sums and Schur products",
            "a sum of products of positive definite kernels, with nonnegative weights",
            strict=strict,
            premises=premises,
        )

    @property
    def bounds(self) -> Interval:
        return self._interval([k.bounds for k in self.kernels])

    @property
    def diagonal_bounds(self) -> Interval:
        return self._interval([k.diagonal_bounds for k in self.kernels])

    def _interval(self, values: list[Interval]) -> Interval:
        kappa = symmetric_polynomials(values, self.degree, Interval(1.0, 1.0), Interval(0.0, 0.0))
        terms = [
            k.scale(c)
            for k, c in zip(kappa, _coefficients(self.coefficients, self.degree).tolist(), strict=True)
        ]
        total = reduce(lambda a, b: a + b, terms)
        return REAL_LINE if math.isnan(total.low) or math.isnan(total.high) else total


# -- the dynamic programs ---------------------------------------------------------------------
def symmetric_polynomials(values: Iterable[Any], degree: int, one: Any, zero: Any = None) -> list[Any]:
    """Elementary symmetric polynomials of degrees 0..degree, of numbers, matrices or intervals."""
    zero = one * 0 if zero is None else zero
    kappa = [one] + [zero] * degree
    for u in values:
        for s in range(degree, 0, -1):
            kappa[s] = kappa[s] + u * kappa[s - 1]
    return kappa


def damped_anova(
    terms: Iterable[tuple[int, np.ndarray]], shape: tuple[int, ...], coefficients: np.ndarray, decay: float
) -> np.ndarray:
    """Weighted sum over degrees of the gap-weighted ANOVA kernel, from the products of each feature.

    ``ended[s]`` sums the monomials of degree s, each damped once for every index passed since its last one.
    Features that are missing from ``terms`` count as zero.
    """
    degree = len(coefficients) - 1
    kappa = [np.zeros(shape) for _ in range(degree + 1)]
    kappa[0] += 1.0
    ended = [np.zeros(shape) for _ in range(degree + 1)]
    before = 0
    for j, u in terms:
        passed = decay ** (j - before - 1) if j > before else 1.0
        for s in range(degree, 0, -1):
            new = u if s == 1 else u * (passed * ended[s - 1])
            kappa[s] += new
            ended[s] *= passed * decay
            ended[s] += new
        before = j
    return np.asarray(sum(c * k for c, k in zip(coefficients, kappa, strict=True)))


def sparse_damped_anova(
    X: Data, Y: Data, weights: np.ndarray, coefficients: np.ndarray, decay: float
) -> np.ndarray:
    """Like :func:`damped_anova`, touching only the pairs of rows that have a feature in common."""
    degree, shape = len(coefficients) - 1, (X.shape[0], Y.shape[0])
    powers = decay ** np.arange(X.shape[1] + 1.0)
    kappa = np.zeros((degree + 1, *shape))
    kappa[0] = 1.0
    ended = np.zeros((degree + 1, *shape))
    before = np.zeros(shape, dtype=np.intp)  # the last feature in common
    for j, rows, a, others, b in common_entries(X, Y):
        pairs = np.ix_(rows, others)
        u = np.multiply.outer(weights[j] * a, b)
        gaps = j - before[pairs]
        passed, aged = powers[np.maximum(gaps - 1, 0)], powers[gaps]
        for s in range(degree, 0, -1):
            new = u if s == 1 else u * (passed * ended[s - 1][pairs])
            kappa[s][pairs] += new
            ended[s][pairs] = aged * ended[s][pairs] + new
        before[pairs] = j
    return np.asarray(np.einsum("s,sij->ij", coefficients, kappa))


# -- helpers ----------------------------------------------------------------------------------
def _set_nonnegative(kernel: Kernel, name: str, length: int | None = None) -> None:
    """Store an optional vector of nonnegative numbers as a read-only array, or raise."""
    value = getattr(kernel, name)
    if value is None:
        return
    owner = type(kernel).__name__
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.empty((0, 0))
    if array.ndim != 1 or not (np.isfinite(array) & (array >= 0)).all():
        raise ParameterError(
            f"{owner}: `{name}` must be a vector of finite numbers >= 0, or None. Got {brief(value)}."
        )
    if length is not None and len(array) != length:
        raise ParameterError(
            f"{owner}: `{name}` must have degree + 1 = {length} entries, one per degree. Got {len(array)}."
        )
    array.flags.writeable = False
    object.__setattr__(kernel, name, array)


def _plus(b: Builder, total: Value | None, term: Value) -> Value:
    return term if total is None else b.add((total, term))


def _weights(weights: np.ndarray | None, X: Data) -> np.ndarray:
    return np.ones(X.shape[1]) if weights is None else weights


def _coefficients(coefficients: np.ndarray | None, degree: int) -> np.ndarray:
    return np.array([0.0] * degree + [1.0]) if coefficients is None else coefficients


def _products(x: Any, y: Any, weights: np.ndarray | None, m: Arithmetic) -> list[Any]:
    if weights is None:
        return [a * b for a, b in zip(x, y, strict=True)]
    return [m.real(w) * a * b for w, a, b in zip(weights.tolist(), x, y, strict=True)]
