"""Windows that look like kernels and are not positive definite."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Witness
from ..domains import Data, size
from ..intervals import Interval
from ..kernel import Gradient
from ..parameters import parameter
from .radial import Radial

__all__ = ["BoxWindow", "Epanechnikov"]


class Window(Radial):
    """Windows ``w(|x - y|^2 / h^2)`` with the half-width ``h``."""

    h: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")
    _overflow: ClassVar[str | None] = None

    @property
    def _width(self) -> float:
        return self.h


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

    def formula(self, D: Any, m: Arithmetic) -> Any:
        return m.maximum(1 - D, 0.0) * 0.75

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        [D] = self._pairs(X, Y)
        slope = np.where(D < 1, 1.5 * np.minimum(D, 1), 0).astype(D.dtype)
        return self._evaluate(D), {"h": slope}

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

    bounds = Interval(0.0, 0.75)

    diagonal_bounds = Interval(0.75, 0.75)


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

    def formula(self, D: Any, m: Arithmetic) -> Any:
        return m.where(D <= 1, 1.0, 0.0)

    def _certify(self) -> Certificate:
        points = [(0.0,), (0.75 * self.h,), (1.5 * self.h,)]
        return Certificate.refuted(
            self,
            "witness",
            "the middle of three points is near both others, which are not near each other",
            witness=Witness.of(self, points, [0.5, -math.sqrt(0.5), 0.5]),
        )

    bounds = Interval(0.0, 1.0)

    diagonal_bounds = Interval(1.0, 1.0)
