"""Functions in the reproducing kernel Hilbert space (RKHS) of a kernel.

The space of a positive definite kernel ``k`` is spanned by the functions ``K_x = k(x, .)``, with the inner
product ``<K_x, K_y> = k(x, y)``; every ``f`` in it has ``f(x) = <f, K_x>``, the reproducing property.  The
functions here are finite sums ``f = sum_i a_i k(x_i, .)`` on any domain.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .domains import Data, check_numbers, items, owned, size
from .errors import DefinitenessError, InputError, ParameterError
from .gram import PointGram, gram
from .gram.spectrum import full_eigenpairs, rounding_level
from .kernel import Kernel

__all__ = ["RKHSFunction", "interpolant", "representer"]


@dataclass(frozen=True, eq=False)
class _Term:
    """``sum_i a_i k(x_i, .)`` over one set of points."""

    data: Data
    coefficients: np.ndarray


class RKHSFunction:
    r"""A function :math:`f = \sum_i a_i k(x_i, \cdot)` in the RKHS of a kernel.

    ``f(x)`` is its value at a point, ``f.values(X)`` at many; ``f + g``, ``f - g``, ``-f``, ``2 * f`` and
    ``f / 2`` are functions again, ``f @ g`` is the inner product.  Cost: one kernel block per evaluation
    or inner product, in bands of rows.

    Parameters
    ----------
    kernel : Kernel
        Data-dependent parameters are resolved from ``points``.
    points : points of the kernel's domain
    coefficients : array-like of shape (n,)

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> f = RKHSFunction(Linear(), [[1.0, 0.0], [0.0, 1.0]], [2.0, -1.0])
    >>> f([3.0, 4.0])
    2.0
    >>> f.norm() ** 2
    5.000000000000001
    >>> f @ representer(Linear(), [3.0, 4.0])
    2.0
    """

    __array_ufunc__: ClassVar[None] = None  # np.float64(2) * f comes to us; an array times f is refused
    __slots__ = ("__dict__", "_terms", "kernel")

    kernel: Kernel
    _terms: tuple[_Term, ...]

    def __init__(self, kernel: Kernel, points: Any, coefficients: Any) -> None:
        if not isinstance(kernel, Kernel):
            raise ParameterError(f"RKHSFunction: `kernel` must be a Kernel. Got {type(kernel).__name__}.")
        kernel = kernel.resolve(points)
        data = owned(kernel.domain.validate(points, "points"), points)
        a = np.array(coefficients, dtype=np.float64)
        if a.shape != (size(data),) or not np.isfinite(a).all():
            raise InputError(
                f"RKHSFunction: `coefficients` must be {size(data)} finite numbers, one per point. "
                f"Got an array of shape {a.shape}."
            )
        self.kernel, self._terms = kernel, (_Term(data, a),)

    @classmethod
    def _make(cls, kernel: Kernel, terms: tuple[_Term, ...]) -> RKHSFunction:
        result = object.__new__(cls)
        result.kernel, result._terms = kernel, terms
        return result

    # -- reading ------------------------------------------------------------------------------
    @property
    def points(self) -> list[Any]:
        """The points ``x_i``."""
        return [x for term in self._terms for x in items(term.data)]

    @property
    def coefficients(self) -> np.ndarray:
        """The coefficients ``a_i``."""
        return np.concatenate([term.coefficients for term in self._terms])

    def __call__(self, x: Any) -> float:
        """Value at one point."""
        return float(self.values([self.kernel.domain.point(x)])[0])

    def values(self, X: Any) -> np.ndarray:
        """Values at many points."""
        X = self.kernel.domain.validate(X, "X")
        total = np.zeros(size(X))
        for term in self._terms:
            total += gram(self.kernel, X, term.data) @ term.coefficients
        return total

    # -- the vector space ---------------------------------------------------------------------
    def __add__(self, other: object) -> RKHSFunction:
        if not isinstance(other, RKHSFunction):
            return NotImplemented
        self._require_same(other)
        return self._make(self.kernel, tuple(self._merged(other)))

    def _merged(self, other: RKHSFunction) -> Iterator[_Term]:
        """Terms of the sum; those on the very same set of points are added up."""
        extra = list(other._terms)
        for term in self._terms:
            same = [t for t in extra if t.data is term.data]
            extra = [t for t in extra if t.data is not term.data]
            yield _Term(term.data, sum((t.coefficients for t in same), term.coefficients))
        yield from extra

    def __mul__(self, factor: object) -> RKHSFunction:
        if not isinstance(factor, numbers.Real):
            return NotImplemented
        c = float(factor)
        if not math.isfinite(c):
            raise ParameterError(f"RKHSFunction: a factor must be finite. Got {c!r}.")
        return self._make(self.kernel, tuple(_Term(t.data, c * t.coefficients) for t in self._terms))

    __rmul__ = __mul__

    def __truediv__(self, divisor: object) -> RKHSFunction:
        if not isinstance(divisor, numbers.Real):
            return NotImplemented
        if float(divisor) == 0.0:
            raise ParameterError("RKHSFunction: division by zero.")
        return self * (1.0 / float(divisor))

    def __neg__(self) -> RKHSFunction:
        return self * -1.0

    def __sub__(self, other: object) -> RKHSFunction:
        if not isinstance(other, RKHSFunction):
            return NotImplemented
        return self + (-other)

    # -- geometry -----------------------------------------------------------------------------
    def inner(self, other: RKHSFunction) -> float:
        r"""Inner product :math:`\langle f, g \rangle = \sum_{ij} a_i b_j k(x_i, y_j)`; also ``f @ g``."""
        self._require_same(other)
        if other is self:
            return self._square
        return float(sum(t.coefficients @ other.values(t.data) for t in self._terms))

    def __matmul__(self, other: object) -> float:
        if not isinstance(other, RKHSFunction):
            return NotImplemented
        return self.inner(other)

    @cached_property
    def _square(self) -> float:
        return float(sum(t.coefficients @ self.values(t.data) for t in self._terms))

    def norm(self) -> float:
        """Norm ``sqrt(<f, f>)``; an error if ``<f, f>`` is negative beyond rounding."""
        scale = 0.0
        for term in self._terms:
            diagonal = np.abs(self.kernel.diagonal(term.data)).astype(np.float64)
            scale += float(np.abs(term.coefficients) @ np.sqrt(diagonal))
        eps = np.finfo(np.float64).eps
        if self._square < -64 * eps * scale**2 * max(1, len(self.coefficients)):
            raise DefinitenessError(
                f"the squared norm of this function is {self._square:.6g}: {self.kernel!r} is not positive "
                "definite and has no reproducing kernel Hilbert space."
            )
        return math.sqrt(max(0.0, self._square))

    def distance(self, other: RKHSFunction) -> float:
        """Distance ``|f - g|``."""
        return (self - other).norm()

    def project(self, X: Any, tol: float | None = None) -> RKHSFunction:
        """Orthogonal projection onto the span of ``k(x, .)`` for the points of ``X``.

        It agrees with ``f`` on ``X``.  Eigenvalues of the Gram matrix up to ``tol`` times the largest
        count as zero (default: max(n, 16) eps).
        """
        X = self.kernel.domain.validate(X, "X")
        return interpolant(self.kernel, X, self.values(X), tol)

    def reproducing_gap(self, X: Any) -> float:
        """Largest ``|f(x) - <f, K_x>|`` over the points of ``X``: rounding, for a symmetric kernel."""
        X = self.kernel.domain.validate(X, "X")
        points = list(items(X))
        return max((abs(self(x) - representer(self.kernel, x).inner(self)) for x in points), default=0.0)

    def _require_same(self, other: RKHSFunction) -> None:
        if self.kernel != other.kernel:
            raise InputError(
                f"functions of two different spaces: one of {self.kernel!r}, one of {other.kernel!r}."
            )

    def __repr__(self) -> str:
        return f"<RKHSFunction of {len(self.coefficients)} points in the space of {self.kernel!r}>"


def representer(k: Kernel, x: Any) -> RKHSFunction:
    """The function ``K_x = k(x, .)``, which represents evaluation at ``x``: ``<f, K_x> = f(x)``."""
    return RKHSFunction(k, [k.domain.point(x)], [1.0])


def interpolant(k: Kernel, X: Any, y: Any, tol: float | None = None) -> RKHSFunction:
    """The function of least norm with the values ``y`` at the points ``X`` (in the least-squares sense).

    Coefficients ``K^+ y``: eigenvalues of the Gram matrix up to ``tol`` times the largest count as zero
    (default: max(n, 16) eps), so repeated points do no harm.  Holds the dense Gram matrix.
    """
    K: PointGram = gram(k, X)
    check_numbers(y, "interpolant: `y`", dense=True)
    y = np.asarray(y, dtype=np.float64)
    if y.shape != (K.shape[0],):
        raise InputError(
            f"interpolant: `y` must be {K.shape[0]} numbers, one per point. Got shape {y.shape}."
        )
    values, U = full_eigenpairs(K)
    largest = float(np.abs(values).max(initial=0.0))
    cut = rounding_level(len(values), K._eps, largest) if tol is None else tol * largest
    used = np.abs(values) > cut
    if (values < -cut).any():
        raise DefinitenessError(
            f"the Gram matrix has the eigenvalue {values[-1]:.6g}: {K.kernel!r} is not positive "
            "definite on these points."
        )
    a = U[:, used] @ ((U[:, used].T @ y) / values[used])
    return RKHSFunction(K.kernel, X, a)
