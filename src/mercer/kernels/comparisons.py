"""Kernels that compare two real numbers by the overlap of functions placed around them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim
from ..domains import Data, Domain, Reals
from ..errors import ParameterError
from ..intervals import Interval
from ..kernel import Gradient
from ..parameters import parameter
from .scalar import Featured, Scalar, dense, divisible

__all__ = ["GaussianComparison", "SoftComparison", "Triangular"]

Function = Callable[[np.ndarray], Any]


class Triangular(Scalar):
    r"""Triangular kernel on the line: the overlap of two windows.

    .. math:: k(x, y) = \max(0, 2C - |x - y|)

    Strictly positive definite on :math:`\mathbb{R}`: the length of
    :math:`[x-C, x+C] \cap [y-C, y+C]`, whose spectral density, a squared sinc, is positive almost
    everywhere.  Not so for the norm of vectors in higher dimension.  Block cost: O(n m).

    Parameters
    ----------
    half_width : float, default=1.0
        Half the width :math:`C` of a window, > 0.

    Examples
    --------
    >>> Triangular(1.0)(0.0, 0.5)
    1.5
    """

    half_width: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return m.maximum(low - high + 2 * m.real(self.half_width), 0.0)

    def _slopes(self, low: np.ndarray, high: np.ndarray, K: np.ndarray) -> Gradient:
        return {"half_width": np.where(K > 0, 2 * self.half_width, 0.0)}

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "Bochner",
            "the Fourier transform of a triangle, a squared sinc, is positive almost everywhere",
            strict=True,
        )

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, self.half_width).scale(2.0)

    @property
    def diagonal_bounds(self) -> Interval:
        return Interval(self.half_width, self.half_width).scale(2.0)


class GaussianComparison(Scalar):
    r"""Soft comparison of two numbers through Gaussian bumps.

    .. math::
        k(x, y) = \int_{-\infty}^{\infty} g(|t - x|) \, g(|t - y|) \, dt
                = s \sqrt{\pi} \, \exp\left(-\frac{(x - y)^2}{4 s^2}\right),
        \qquad g(r) = \exp\left(-\frac{r^2}{2 s^2}\right)

    Strictly positive definite on :math:`\mathbb{R}` and infinitely divisible: a multiple of the Gaussian
    kernel of width :math:`s \sqrt 2`.  Block cost: O(n m).

    Parameters
    ----------
    width : float, default=1.0
        Width :math:`s` of the bumps, > 0.

    Examples
    --------
    >>> GaussianComparison(1.0)(0.0, 0.0)
    1.7724538509055159
    """

    width: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        s = m.real(self.width)
        return s * m.sqrt(m.pi) * m.exp(-m.power((high - low) / s, 2) / 4)

    def _slopes(self, low: np.ndarray, high: np.ndarray, K: np.ndarray) -> Gradient:
        exponent = np.minimum(((high - low) / self.width) ** 2 / 2, 1e6)  # K is 0 beyond
        return {"width": K * (1 + exponent)}

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "Bochner", "the Fourier transform of a Gaussian is a positive density", strict=True
        )

    def _infinitely_divisible(self) -> Claim:
        return divisible(self, "squared distance", "(x - y)^2 is negative definite")

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, self.diagonal_bounds.high)

    @property
    def diagonal_bounds(self) -> Interval:
        return Interval.about(math.sqrt(math.pi)).scale(self.width)


class SoftComparison(Featured):
    r"""Soft comparison of two numbers through any profile, by quadrature.

    .. math::
        k(x, y) = \int_{low}^{high} g(|t - x|) \, g(|t - y|) \, \rho(t) \, dt
                \approx \sum_j w_j \, \rho(t_j) \, g(|t_j - x|) \, g(|t_j - y|)

    The sum over Gauss-Legendre nodes :math:`t_j` *is* the kernel: its weights are positive, so that it is
    positive definite exactly, whatever the error of the quadrature.  Block cost: O(n m nodes), one matrix
    product, after O((n + m) nodes) evaluations of the profile.

    Parameters
    ----------
    g : callable
        The profile: takes an array of distances :math:`\ge 0` and returns an array of the same shape.
    low, high : float
        Ends of the interval of integration, low < high.
    nodes : int, default=200
        Number of nodes, from 1 to 2000.
    density : callable, optional
        The density :math:`\rho \ge 0` of the measure, on an array of numbers; by default 1.

    Examples
    --------
    >>> import numpy as np
    >>> k = SoftComparison(np.exp, low=0.0, high=1.0)
    >>> bool(np.isclose(k(0.0, 0.0), (np.exp(2.0) - 1.0) / 2.0))
    True
    """

    g: Function
    low: float = parameter()
    high: float = parameter()
    nodes: int = parameter(default=200, low=1, high=2000, integer=True)
    density: Function | None = None

    def _validate(self) -> None:
        if not self.low < self.high:
            raise ParameterError(
                f"SoftComparison: `low` must be below `high`. Got low={self.low!r} and high={self.high!r}."
            )
        for name, function in (("g", self.g), ("density", self.density)):
            if not callable(function) and not (name == "density" and function is None):
                raise ParameterError(f"SoftComparison: `{name}` must be a function. Got {function!r}.")

    @property
    def domain(self) -> Domain:
        return Reals()

    is_precise = False  # the profile is a function of floats

    def _features(self, X: Data) -> np.ndarray:
        t, w = _legendre(self.nodes)
        t = self.low + (self.high - self.low) * t
        w = (self.high - self.low) * w
        if self.density is not None:
            rho = self._applied("density", self.density, t)
            if (rho < 0).any():
                raise ParameterError(
                    f"SoftComparison: `density` must be >= 0. Got {rho.min():g} at {t[rho.argmin()]:g}."
                )
            w = w * rho
        distances = np.abs(dense(X).astype(np.float64, copy=False) - t)
        return self._applied("g", self.g, distances) * np.sqrt(w)

    @staticmethod
    def _applied(name: str, function: Function, values: np.ndarray) -> np.ndarray:
        """Values of a user's function, checked."""
        result = np.asarray(function(values), dtype=np.float64)
        if result.shape != values.shape or not np.isfinite(result).all():
            raise ParameterError(
                f"SoftComparison: `{name}` must return one finite number per entry of its argument, of shape "
                f"{values.shape}. Got shape {result.shape}, {np.isfinite(result).sum()} entries finite."
            )
        return result

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        u, v = self._features(np.array([[float(x[0])], [float(y[0])]])).tolist()
        return m.fsum(m.real(a) * m.real(b) for a, b in zip(u, v, strict=True))

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "explicit features", "k(x, y) = <F(x), F(y)> with F_j(x) = sqrt(w_j) g(|t_j - x|)"
        )


@lru_cache(maxsize=32)
def _legendre(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on [0, 1]."""
    t, w = np.polynomial.legendre.leggauss(nodes)
    return (t + 1) / 2, w / 2
