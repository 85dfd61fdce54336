"""The Matern family: kernels of a chosen smoothness, from the exponential to the Gaussian."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

from ..arithmetic import ARRAYS, Arithmetic
from ..certificate import Certificate, Claim
from ..parameters import parameter
from ..spectral_density import Student
from .radial import Decreasing, over
from .widths import width

__all__ = ["Matern"]


class Matern(Decreasing):
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

    def formula(self, D: Any, m: Arithmetic) -> Any:
        return _of_order(self.nu, m.sqrt(2 * m.real(self.nu)) * m.sqrt(D), m)

    def _slope(self, D: np.ndarray, K: np.ndarray) -> np.ndarray:
        # (z^nu K_nu(z))' = -z^nu K_{nu-1}(z), hence the kernel of order |nu - 1|.
        nu, z = self.nu, np.sqrt(D) * D.dtype.type(math.sqrt(2 * self.nu))
        if nu > 1:
            return np.asarray(nu / (nu - 1) * _of_order(nu - 1, z, ARRAYS))
        if nu == 0.5:
            return over(K, z)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            if nu == 1:
                singular = 2 * scipy.special.kv(0, z)
            else:
                factor = 2 ** (2 - 2 * nu) * nu * math.gamma(1 - nu) / math.gamma(nu)
                singular = factor * z ** (2 * nu - 2) * ARRAYS.matern(1 - nu, z)
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

    def _spectral_density(self) -> Student:
        return Student(self.sigma, nu=self.nu)


def _of_order(nu: float, z: Any, m: Arithmetic) -> Any:
    """Matern function of an order: an elementary one for 1/2, 3/2 and 5/2."""
    if nu not in (0.5, 1.5, 2.5):
        return m.matern(nu, z)
    z = m.bounded(z)
    series = (1.0, 1.0, m.real(1) / 3)[: int(nu + 0.5)]
    return m.exp(-z) if nu == 0.5 else m.polynomial(z, series) * m.exp(-z)
