"""Small kernels that the tests of Gram matrices use: written out here, independent of the library's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.certificate import Certificate
from mercer.domains import Box, Domain, Reals, Vectors
from mercer.kernel import Kernel


class Brownian(Kernel):
    """min(x, y) on x >= 0."""

    @property
    def domain(self) -> Domain:
        return Reals(region=Box(0.0))

    def _define(self, x: Any, y: Any, m: Any) -> Any:
        return min(x[0], y[0])

    def _block(self, X: Any, Y: Any) -> np.ndarray:
        return np.minimum(X, (X if Y is None else Y).T)

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "integral", "min(x, y) is the integral of [t <= x][t <= y]")


class Bridge(Kernel):
    """min(x, y) - xy on [0, 1]."""

    @property
    def domain(self) -> Domain:
        return Reals(region=Box(0.0, 1.0))

    def _define(self, x: Any, y: Any, m: Any) -> Any:
        return min(x[0], y[0]) - x[0] * y[0]

    def _block(self, X: Any, Y: Any) -> np.ndarray:
        Y = X if Y is None else Y
        return np.minimum(X, Y.T) - X * Y.T


class Distance(Kernel):
    """|x - y|: negative definite."""

    @property
    def domain(self) -> Domain:
        return Vectors()

    def _define(self, x: Any, y: Any, m: Any) -> Any:
        return m.sqrt(m.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True)))

    def _block(self, X: Any, Y: Any) -> np.ndarray:
        Y = X if Y is None else Y
        return np.sqrt(((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2))

    def _certify(self) -> Certificate:
        return Certificate.nds(self, "power", "|x - y|^p is NDS for 0 < p <= 2")


class Tanh(Kernel):
    """tanh <x, y>: not positive definite, and nobody has said so."""

    @property
    def domain(self) -> Domain:
        return Vectors()

    def _define(self, x: Any, y: Any, m: Any) -> Any:
        return m.tanh(m.fsum(a * b for a, b in zip(x, y, strict=True)))

    def _block(self, X: Any, Y: Any) -> np.ndarray:
        return np.tanh(X @ (X if Y is None else Y).T)


class Letters(Kernel):
    """Number of common letters, with multiplicity, of two strings: positive definite, on any objects."""

    def __call__(self, x: str, y: str) -> float:
        return float(sum(min(x.count(c), y.count(c)) for c in set(x) & set(y)))


class Lopsided(Kernel):
    """len(x) - 2 len(y): not symmetric."""

    def __call__(self, x: str, y: str) -> float:
        return float(len(x) - 2 * len(y))
