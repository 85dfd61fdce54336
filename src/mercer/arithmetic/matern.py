"""The function of the Matern kernels on machine numbers: a Bessel function without overflow on the way."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import scipy.special

from .multiprecision import multiprecision

__all__ = ["matern", "matern_float"]

#: From this order on the expansion for large orders is exact to rounding.
LARGE_ORDER = 50.0


def matern_float(nu: float, z: float) -> float:
    """The function at one number, correct to rounding below ``LARGE_ORDER``."""
    if nu >= LARGE_ORDER or math.isinf(z):
        return float(matern(nu, np.array([z]))[0])
    m = multiprecision(30)
    return float(m.matern(nu, m.real(z)))


def matern(nu: float, z: np.ndarray) -> np.ndarray:
    r"""Values of :math:`2^{1-\nu} z^\nu K_\nu(z) / \Gamma(\nu)` for z >= 0, without overflow on the way.

    Examples
    --------
    >>> matern(0.5, np.array([0.0, 1.0])).round(6).tolist()
    [1.0, 0.367879]
    """
    z = np.minimum(z, float(np.finfo(z.dtype).max ** 0.25))  # the function is zero long before
    return (_large_order if nu >= LARGE_ORDER else _bessel)(nu, z.astype(np.float64)).astype(z.dtype)


def _bessel(nu: float, z: np.ndarray) -> np.ndarray:
    # Beyond this argument the function of an order below ``LARGE_ORDER`` is zero in double precision.
    z = np.minimum(z, 2000.0)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = scipy.special.kve(nu, z)
        K = np.asarray(2 ** (1 - nu) / math.gamma(nu) * z**nu * scaled * np.exp(-z))
    # Where the Bessel function overflows, z is near 0: the start of the series in z^2 / 4.  The terms left
    # out are below rounding there.
    tiny = ~np.isfinite(scaled)
    near = z[tiny]
    total, term = np.ones_like(near), np.ones_like(near)
    for k in range(1, math.ceil(nu)):
        term = term * (-(near * near) / 4 / (k * (nu - k)))
        total += term
    K[tiny] = total
    # Rounding may end just above the value at zero, which is the largest.
    np.minimum(K, 1.0, out=K)
    return K


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
    for _ in range(10):  # terms of the expansion
        rows.append(u)
        # u_{k+1}(p) = p^2 (1 - p^2) u_k'(p) / 2 + (1/8) int_0^p (1 - 5 t^2) u_k(t) dt
        after = [Fraction(0)] * (len(u) + 3)
        for i, c in enumerate(u):
            after[i + 1] += c * Fraction(i, 2) + c / (8 * (i + 1))
            after[i + 3] -= c * Fraction(i, 2) + 5 * c / (8 * (i + 3))
        u = after
    length = max(map(len, rows))
    return tuple(tuple(float(c) for c in row) + (0.0,) * (length - len(row)) for row in rows)
