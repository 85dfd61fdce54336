r"""Losses of the difference :math:`m = f(x_i) - f(x_j)` of a pair in which i ranks above j.

==================  ==================================  ================================================
``Hinge()``         :math:`\max(0, 1 - m)`              conjugate :math:`s` on :math:`[-1, 0]`
``SquaredHinge()``  :math:`\max(0, 1 - m)^2`            conjugate :math:`s + s^2 / 4` for :math:`s \le 0`
``Logistic()``      :math:`\log(1 + e^{-m})`            conjugate :math:`p \log p + (1-p) \log (1-p)`,
                                                        :math:`p = -s`
==================  ==================================  ================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

__all__ = ["MARGINS", "Hinge", "Logistic", "MarginLoss", "SquaredHinge"]

Array: TypeAlias = NDArray[np.float64]


class MarginLoss(ABC):
    """A convex decreasing loss of a difference of predictions."""

    is_smooth = True

    @abstractmethod
    def value(self, m: Array) -> Array:
        """Losses."""

    @abstractmethod
    def slope(self, m: Array) -> Array:
        """Derivatives, or a subgradient; all of them are <= 0."""

    @abstractmethod
    def curvature(self, m: Array) -> Array:
        """Second derivatives."""

    @abstractmethod
    def conjugate(self, s: Array) -> Array:
        """Conjugates at slopes of the loss."""


class Hinge(MarginLoss):
    """What is missing to a difference of one."""

    is_smooth = False

    def value(self, m: Array) -> Array:
        return np.maximum(0.0, 1.0 - m)

    def slope(self, m: Array) -> Array:
        return np.where(m < 1.0, -1.0, 0.0)

    def curvature(self, m: Array) -> Array:
        return np.zeros_like(m)

    def conjugate(self, s: Array) -> Array:
        return s


class SquaredHinge(MarginLoss):
    """The square of what is missing to a difference of one."""

    def value(self, m: Array) -> Array:
        return np.asarray(np.maximum(0.0, 1.0 - m) ** 2)

    def slope(self, m: Array) -> Array:
        return np.asarray(-2.0 * np.maximum(0.0, 1.0 - m))

    def curvature(self, m: Array) -> Array:
        return np.where(m < 1.0, 2.0, 0.0)

    def conjugate(self, s: Array) -> Array:
        return np.asarray(s * (1.0 + 0.25 * s))


class Logistic(MarginLoss):
    """Negative log-likelihood of a pair whose order has the log-odds m."""

    def value(self, m: Array) -> Array:
        return np.logaddexp(0.0, -m)

    def slope(self, m: Array) -> Array:
        return np.asarray(-expit(-m))

    def curvature(self, m: Array) -> Array:
        return np.asarray(expit(m) * expit(-m))

    def conjugate(self, s: Array) -> Array:
        p = np.clip(-s, 0.0, 1.0)
        return np.asarray(xlogy(p, p) + xlogy(1.0 - p, 1.0 - p))


MARGINS: dict[str, MarginLoss] = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
}
