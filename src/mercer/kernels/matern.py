"""The Matern family: kernels of a chosen smoothness, from the exponential to the Gaussian."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import scipy.special

from ..arithmetic import FLOAT, Arithmetic, multiprecision
from ..certificate import Certificate, Claim
from ..engine.program import Builder, Value
from ..parameters import parameter
from .radial import Radial, over, scaled_square
from .widths import width

__all__ = ["Matern"]

#: From this order on the expansion for large orders is exact to rounding.
LARGE_ORDER = 50.0

#: Terms of that expansion.
TERMS = 10

#: Beyond this argument the kernel of an order below ``LARGE_ORDER`` is zero in double precision.
FAR = 2000.0


class Matern(Radial):
    r"""Matern kernel on vectors.

    .. math:: k(x, y) = \frac{2^{1-\nu}}{\Gamma(\nu)} z^\nu K_\nu(z), \qquad
              z = \sqrt{2\nu}\, \|x - y\| / \sigma

    with the modified Bessel function :math:`K_\nu`; :math:`e^{-z}` for :math:`\nu = 1/2`,
    :math:`(1 + z) e^{-z}` for 3/2, :math:`(1 + z + z^2/3) e^{-z}` for 5/2, and the Gaussian kernel in the
    limit of large :math:`\nu`.  Its functions are :math:`\lceil \nu \rceil - 1` times differentiable.

    Strictly positive definite on :math:`\mathbb{R}^d` (Bochner: its spectral density is a multivariate
    Student density) and infinitely divisible.  Block cost: O(n m d), and a Bessel function per pair for
    orders other than the three above.

    Parameters
    ----------
    nu : float, default=1.5
        Order, > 0.
    sigma : float, array of shape (d,), "median" or "scale", default=1.0
        Width, > 0; scikit-learn calls it ``length_scale``.  A vector scales each feature.

    Examples
    --------
    >>> round(Matern(0.5, 2.0)([0.0], [2.0]), 6)
    0.367879
    """

    nu: float = parameter(default=1.5, low=0.0, open_low=True)
    sigma: Any = width("median", "scale")

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        if m is FLOAT and self.nu not in (0.5, 1.5, 2.5):
            # Machine numbers overflow on the way to a value in [0, 1].
            if self.nu >= LARGE_ORDER:
                z = np.array([math.sqrt(2 * self.nu * scaled_square(x, y, self.sigma, m))])
                return float(bessel_profile(self.nu, z)[0])
            m = multiprecision(30)
            x, y = [m.real(a) for a in x], [m.real(b) for b in y]
        nu = m.real(self.nu)
        z = m.sqrt(2 * nu * scaled_square(x, y, self.sigma, m))
        if self.nu == 0.5:
            return m.exp(-z)
        if self.nu == 1.5:
            return _vanishing(1 + z, z, m)
        if self.nu == 2.5:
            return _vanishing(1 + z + z * z / 3, z, m)
        if z == 0:
            return m.real(1)
        return 2 ** (1 - nu) / m.gamma(nu) * z**nu * _bessel_upwards(self.nu, z, m)

    def _profile(self, D: np.ndarray) -> np.ndarray:
        return bessel_profile(self.nu, self._argument(D))

    def _steps(self, b: Builder, D: Value) -> Value | None:
        if self.nu not in (0.5, 1.5, 2.5):
            return None
        z = b.clip(b.scale(b.sqrt(D), math.sqrt(2 * self.nu)), 0.0, np.finfo(np.float64).max ** 0.25)
        decay = b.exp(b.scale(z, -1.0))
        if self.nu == 0.5:
            return decay
        return b.multiply((b.polynomial(z, [1.0, 1.0, 1 / 3][: int(self.nu + 0.5)]), decay))

    def _argument(self, D: np.ndarray) -> np.ndarray:
        """Values of z."""
        return np.asarray(np.sqrt(D) * D.dtype.type(math.sqrt(2 * self.nu)))

    def _slope(self, D: np.ndarray, K: np.ndarray) -> np.ndarray:
        # (z^nu K_nu(z))' = -z^nu K_{nu-1}(z), hence the kernel of order |nu - 1|.
        nu, z = self.nu, self._argument(D)
        if nu > 1:
            return nu / (nu - 1) * bessel_profile(nu - 1, z)
        if nu == 0.5:
            return over(K, z)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            if nu == 1:
                singular = 2 * scipy.special.kv(0, z)
            else:
                factor = 2 ** (2 - 2 * nu) * nu * math.gamma(1 - nu) / math.gamma(nu)
                singular = factor * z ** (2 * nu - 2) * bessel_profile(1 - nu, z)
        return np.where(D > 0, singular, 0).astype(D.dtype)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "Bochner",
            "the Fourier transform is a positive multiple of (2 nu/sigma^2 + |w|^2)^(-nu - d/2)",
            strict=True,
        )

    def _infinitely_divisible(self) -> Claim:
        return self._log_is_negative(
            "k is the Laplace transform of an inverse gamma law at |x - y|^2, and that law is infinitely "
            "divisible (Grosswald)"
        )


def _bessel_upwards(nu: float, z: Any, m: Arithmetic) -> Any:
    """K_nu(z) from orders below two, by the stable recursion; mpmath's own values fail at large orders."""
    steps = math.floor(nu)
    order = m.real(nu) - steps
    lower, upper = m.besselk(order, z), m.besselk(order + 1, z)
    for _ in range(steps):
        order = order + 1
        lower, upper = upper, lower + 2 * order / z * upper
    return lower


def _vanishing(factor: Any, z: Any, m: Arithmetic) -> Any:
    """Product of a polynomial in ``z`` and ``exp(-z)``, zero at infinity."""
    decay = m.exp(-z)
    return decay * factor if decay else decay


def bessel_profile(nu: float, z: np.ndarray) -> np.ndarray:
    r"""Values of :math:`2^{1-\nu} z^\nu K_\nu(z) / \Gamma(\nu)` for z >= 0, without overflow on the way.

    Examples
    --------
    >>> bessel_profile(0.5, np.array([0.0, 1.0])).round(6).tolist()
    [1.0, 0.367879]
    """
    if nu == 0.5:
        return np.asarray(np.exp(-z))
    z = np.minimum(z, np.finfo(z.dtype).max ** 0.25)  # the kernel is zero long before
    if nu == 1.5:
        return np.asarray((1 + z) * np.exp(-z))
    if nu == 2.5:
        return np.asarray((1 + z * (1 + z / 3)) * np.exp(-z))
    return (_large_order if nu >= LARGE_ORDER else _bessel)(nu, z.astype(np.float64)).astype(z.dtype)


def _bessel(nu: float, z: np.ndarray) -> np.ndarray:
    z = np.minimum(z, FAR)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = scipy.special.kve(nu, z)
        K = np.asarray(2 ** (1 - nu) / math.gamma(nu) * z**nu * scaled * np.exp(-z))
    tiny = ~np.isfinite(scaled)  # the Bessel function overflows: z is near 0
    K[tiny] = _near_zero(nu, z[tiny])
    # Rounding may end just above the value at zero, which is the largest.
    np.minimum(K, 1.0, out=K)
    return K


def _near_zero(nu: float, z: np.ndarray) -> np.ndarray:
    """Start of the series in ``z^2 / 4``; the terms left out are below rounding where it is used."""
    total = np.ones_like(z)
    term = np.ones_like(z)
    for k in range(1, math.ceil(nu)):
        term = term * (-(z * z) / 4 / (k * (nu - k)))
        total += term
    return total


def _large_order(nu: float, z: np.ndarray) -> np.ndarray:
    r"""Debye's expansion with the large terms of the Bessel and gamma functions cancelled by hand.

    With :math:`w = \sqrt{1 + (z/\nu)^2}` the value is
    :math:`\exp(-\nu (w - 1) + \nu \log((1 + w)/2)) w^{-1/2} S(1/w) / S(1)`,
    :math:`S(p) = \sum_k (-1)^k u_k(p) / \nu^k`.
    """
    ratio = z / nu
    w = np.hypot(1.0, ratio)
    excess = ratio * (ratio / (1 + w))  # w - 1 without cancellation
    exponent = nu * (np.log1p(excess / 2) - excess)
    series = np.zeros(len(_debye()[0]))
    for k, u in enumerate(_debye()):
        series += np.asarray(u) * (-1.0 / nu) ** k
    S, S1 = (np.polynomial.polynomial.polyval(p, series) for p in (1 / w, 1.0))
    return np.asarray(np.exp(exponent) / np.sqrt(w) * (S / S1))


@cache
def _debye() -> tuple[tuple[float, ...], ...]:
    """Coefficients of Debye's polynomials u_0, u_1, ..., each padded to the same length."""
    u = [Fraction(1)]
    rows = []
    for _ in range(TERMS):
        rows.append(u)
        # u_{k+1}(p) = p^2 (1 - p^2) u_k'(p) / 2 + (1/8) int_0^p (1 - 5 t^2) u_k(t) dt
        after = [Fraction(0)] * (len(u) + 3)
        for i, c in enumerate(u):
            after[i + 1] += c * Fraction(i, 2) + c / (8 * (i + 1))
            after[i + 3] -= c * Fraction(i, 2) + 5 * c / (8 * (i + 3))
        u = after
    length = max(map(len, rows))
    return tuple(tuple(float(c) for c in row) + (0.0,) * (length - len(row)) for row in rows)
