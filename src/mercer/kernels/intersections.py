"""Sums of minima over the entries of vectors: the intersection kernel and its exponential."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra.simple import finite
from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim
from ..domains import Data, Domain, Vectors
from ..intervals import NONNEGATIVE, Interval
from ..kernel import Gradient
from ..parameters import parameter
from .scalar import dense, divisible
from .sums import Summed

__all__ = ["Intersection", "MinExponential"]


class Intersection(Summed):
    r"""Generalised intersection kernel on vectors.

    .. math:: k(x, y) = \sum_i \min(|x_i|^a, |y_i|^a)

    Positive definite on :math:`\mathbb{R}^d` for every :math:`a \ge 0`: each term is the length of
    :math:`[0, |x_i|^a] \cap [0, |y_i|^a]`.  Not strictly, for :math:`x` and :math:`-x` look alike.
    With :math:`a = 0` it is the constant :math:`d` (:math:`0^0 = 1`).  Block cost: O(n m d).

    Parameters
    ----------
    power : float, default=1.0
        The exponent :math:`a \ge 0`.

    Examples
    --------
    >>> Intersection()([1.0, -4.0], [3.0, 2.0])
    3.0
    >>> Intersection(power=0.5)([1.0, -4.0], [3.0, 4.0])
    3.0
    """

    power: float = parameter(default=1.0, low=0.0, scale="log")
    _sum = "min_sums"

    @property
    def domain(self) -> Domain:
        return Vectors()

    def _term(self, a: Any, b: Any, m: Arithmetic) -> Any:
        return m.power(m.minimum(abs(a), abs(b)), self.power)

    def _prepare(self, X: Data) -> Data:
        """Take powers once; a = 0 fills in the zeros of a sparse matrix, as 0^0 = 1."""
        if self.power == 0.0:
            return np.ones(X.shape, dtype=X.dtype)
        magnitudes = abs(X)
        if self.power == 1.0:
            return magnitudes
        values = magnitudes if isinstance(X, np.ndarray) else magnitudes.data
        with np.errstate(over="ignore", under="ignore"):
            values = finite(values ** X.dtype.type(self.power), self)
        if isinstance(X, np.ndarray):
            return values
        magnitudes.data = values
        return magnitudes

    def _diagonal(self, X: Data) -> np.ndarray:
        return finite(np.asarray(X.sum(axis=1)).ravel(), self)

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        # prepared data are already powers w = min^a, and d(w) / d(log a) = w log(w)
        A, B = dense(X), dense(X if Y is None else Y)
        slope = np.zeros((len(A), len(B)), dtype=np.result_type(A, B))
        for u, v in zip(A.T, B.T, strict=True):
            slope += _w_log_w(np.minimum(u[:, None], v[None, :]))
        return self._block(X, Y), {"power": slope}

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        return self._diagonal(X), {"power": np.asarray(_w_log_w(dense(X)).sum(axis=1))}

    def _certify(self) -> Certificate:
        if self.power == 0.0:
            reason = "min(|x_i|^0, |y_i|^0) = 1, so k is the number of features"
            constant = Certificate.nds(self, "constant", reason)
            return Certificate(Certificate.psd(self, "constant", reason).positive, constant.negative)
        return Certificate.psd(
            self,
            "intersection of intervals",
            "each term is the length of the intersection of [0, |x_i|^a] and [0, |y_i|^a]",
        )

    bounds = NONNEGATIVE


class MinExponential(Summed):
    r"""Exponential of the intersection kernel.

    .. math:: k(x, y) = \exp\left(\frac{1}{\sigma^2} \sum_i \min(|x_i|, |y_i|)\right)

    Positive definite on :math:`\mathbb{R}^d`, the exponential of a positive definite kernel, and
    infinitely divisible.  Not strictly, for :math:`x` and :math:`-x` look alike.  Block cost: O(n m d).

    Parameters
    ----------
    sigma : float, default=1.0
        Width, > 0.

    Examples
    --------
    >>> MinExponential(1.0)([0.0, -1.0], [5.0, 2.0])
    2.718281828459045
    """

    sigma: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")
    _sum = "min_sums"

    @property
    def domain(self) -> Domain:
        return Vectors()

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return m.exp(t / m.real(self.sigma) ** 2)

    def _term(self, a: Any, b: Any, m: Arithmetic) -> Any:
        return m.minimum(abs(a), abs(b))

    def _prepare(self, X: Data) -> Data:
        return abs(X)

    def _diagonal(self, X: Data) -> np.ndarray:
        return self._diagonal_gradient(X)[0]

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        return self._with_slopes(*self._pairs(X, Y))

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        return self._with_slopes(np.asarray(X.sum(axis=1)).ravel())

    def _with_slopes(self, S: np.ndarray) -> tuple[np.ndarray, Gradient]:
        K = self._checked(self._evaluate(S))
        return K, {"sigma": -2 * (S / S.dtype.type(self.sigma) ** 2) * K}

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "exponential",
            "exp of the intersection kernel sum_i min(|x_i|, |y_i|) / sigma^2, which is positive definite",
            premises=[Intersection(1.0).certificate.positive],
        )

    def _infinitely_divisible(self) -> Claim:
        return divisible(self, "negation", "-log k is minus a positive definite kernel")

    bounds = Interval(1.0, math.inf)


def _w_log_w(w: np.ndarray) -> np.ndarray:
    """``w log w`` with value 0 at 0."""
    return np.asarray(w * np.log(w, out=np.zeros_like(w), where=w > 0))
