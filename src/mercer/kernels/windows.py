"""Windows that look like kernels and are not positive definite."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Witness
from ..domains import Data, Domain, Vectors, size
from ..engine.program import Builder, Value
from ..intervals import Interval
from ..kernel import Gradient, Kernel
from ..parameters import parameter
from .radial import scaled_square
from .widths import scaled_squared_distances, scaled_squared_values

__all__ = ["BoxWindow", "Epanechnikov"]


class Window(Kernel):
    """Windows ``w(|x - y|^2 / h^2)`` with the half-width ``h``."""

    h: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")

    @property
    def domain(self) -> Domain:
        return Vectors()

    def _profile(self, D: np.ndarray) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define _profile")

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        return self._profile(scaled_squared_distances(X, Y, self.h))

    def _steps(self, b: Builder, D: Value) -> Value | None:
        return None

    def _compile(self, b: Builder, X: Data, Y: Data | None) -> Value | None:
        return self._steps(b, scaled_squared_values(b, X, Y, self.h))

    def _diagonal(self, X: Data) -> np.ndarray:
        return self._profile(np.zeros(size(X), dtype=X.dtype))


class Epanechnikov(Window):
    r"""Epanechnikov window: **not** positive definite.

    .. math:: k(x, y) = \tfrac34 \max(0, 1 - \|x - y\|^2 / h^2)

    Refuted: at the points 0, h/2, h of the line the least eigenvalue is
    :math:`\tfrac34 (1 - \tfrac34 \sqrt2) = -0.0455`.  Block cost: O(n m d).

    Parameters
    ----------
    h : float, default=1.0
        Half-width, > 0.

    Examples
    --------
    >>> Epanechnikov(2.0)([0.0], [1.0])
    0.5625
    >>> print(Epanechnikov(2.0).certificate.verdict)
    REFUTED
    """

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return m.real(0.75) * max(m.real(0), 1 - scaled_square(x, y, self.h, m))

    def _profile(self, D: np.ndarray) -> np.ndarray:
        np.subtract(1, D, out=D)
        np.maximum(D, 0, out=D)
        D *= 0.75
        return D

    def _steps(self, b: Builder, D: Value) -> Value:
        return b.scale(b.clip(b.shift(b.scale(D, -1.0), 1.0), 0.0, 1.0), 0.75)

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        D = scaled_squared_distances(X, Y, self.h)
        slope = np.where(D < 1, 1.5 * np.minimum(D, 1), 0).astype(D.dtype)
        return self._profile(D), {"h": slope}

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        return self._diagonal(X), {"h": np.zeros(size(X))}

    def _certify(self) -> Certificate:
        points = [(0.0,), (self.h / 2,), (self.h,)]
        return Certificate.refuted(
            self,
            "witness",
            "the Fourier transform of a clipped parabola takes negative values",
            witness=Witness.of(self, points, [0.5, -math.sqrt(0.5), 0.5]),
        )

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, 0.75)

    @property
    def diagonal_bounds(self) -> Interval:
        return Interval(0.75, 0.75)


class BoxWindow(Window):
    r"""Box window, 1 within the half-width and 0 beyond: **not** positive definite.

    .. math:: k(x, y) = [\|x - y\| \le h]

    Refuted: nearness within :math:`h` is not transitive.  Block cost: O(n m d).  It has no gradient.

    Parameters
    ----------
    h : float, default=1.0
        Half-width, > 0.

    Examples
    --------
    >>> BoxWindow(1.0)([0.0], [1.0])
    1.0
    """

    h: float = parameter(default=1.0, low=0.0, open_low=True)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return m.real(1 if scaled_square(x, y, self.h, m) <= 1 else 0)

    def _profile(self, D: np.ndarray) -> np.ndarray:
        return np.asarray((D <= 1).astype(D.dtype))

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        return self._block(X, Y), {}

    def _certify(self) -> Certificate:
        points = [(0.0,), (0.75 * self.h,), (1.5 * self.h,)]
        return Certificate.refuted(
            self,
            "witness",
            "the middle of three points is near both others, which are not near each other",
            witness=Witness.of(self, points, [0.5, -math.sqrt(0.5), 0.5]),
        )

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, 1.0)

    @property
    def diagonal_bounds(self) -> Interval:
        return Interval(1.0, 1.0)
