r"""Pre-images: points of the input space for points of feature space.

A point of the space of components is :math:`P = \mu + \sum_j t_j v_j = \sum_i \gamma_i \phi(x_i)`.  Its
pre-image is the :math:`z` that minimises :math:`\|\phi(z) - P\|^2`.  Few points of feature space are images,
so that the minimum is rarely zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from ..domains import Data, Vectors
from ..errors import DomainError, ParameterError
from ..gram import gram
from ..kernel import Kernel
from ..kernels import Gaussian, Linear
from .ridge import KernelRidge

__all__ = ["METHODS", "Expansion", "Preimages"]

METHODS = ("auto", "combination", "fixed-point", "ridge")


class Expansion(NamedTuple):
    """Components as combinations of training points: ``gamma = coefficients @ t + share``."""

    kernel: Kernel
    points: Data
    coefficients: np.ndarray
    share: np.ndarray

    def gamma(self, T: np.ndarray) -> np.ndarray:
        """Coefficients of each point of feature space, one row each."""
        return np.asarray(T @ self.coefficients.T + self.share)


class Preimages:
    r"""A way from coordinates to points.

    ``"combination"``
        :math:`z = \sum_i \gamma_i x_i`: the exact answer for :class:`~mercer.kernels.Linear`.
    ``"fixed-point"``
        for :class:`~mercer.kernels.Gaussian`, where the minimiser satisfies
        :math:`z = \sum_i \gamma_i k(x_i, z)\, x_i \,/\, \sum_i \gamma_i k(x_i, z)` (Mika et al. 1999).  From
        the best training point on; a step that does not come nearer to :math:`P` is halved, so that the
        distance never grows and a vanishing denominator does no harm.
    ``"ridge"``
        for any kernel on vectors: kernel ridge regression, with the kernel ``Linear() + Gaussian("scale")``
        and a constant, of the training points on their coordinates.  It learns where pre-images lie from
        the data, and knows nothing of other places.  Each call solves an n-by-n system.
    ``"auto"``
        the first of these that holds for the kernel.
    """

    def __init__(self, expansion: Expansion, method: str, alpha: float) -> None:
        kernel = expansion.kernel
        if not isinstance(kernel.domain, Vectors):
            raise DomainError(
                f"inverse_transform needs points that can be combined: vectors. {kernel!r} compares "
                f"{type(kernel.domain).__name__.lower()}, for which there are no pre-images."
            )
        fits = {"combination": isinstance(kernel, Linear), "fixed-point": isinstance(kernel, Gaussian)}
        if not fits.get(method, True):
            raise ParameterError(
                f"preimage={method!r} does not hold for {kernel!r}: 'combination' is for Linear, "
                "'fixed-point' for Gaussian. Use preimage='ridge' or 'auto'."
            )
        if method == "auto":
            method = next((name for name, holds in fits.items() if holds), "ridge")
        self._expansion, self._method, self._alpha = expansion, method, alpha

    def __call__(self, T: np.ndarray, coordinates: Callable[[Any], np.ndarray]) -> np.ndarray:
        """Points for the rows of ``T``; ``coordinates`` are those of points."""
        if self._method == "ridge":
            return self._ridge(T, coordinates)
        gamma = self._expansion.gamma(T)
        if self._method == "combination":
            return np.asarray(gamma @ self._expansion.points, dtype=np.float64)
        return _fixed_point(self._expansion.kernel, self._expansion.points, gamma)

    def _ridge(self, T: np.ndarray, coordinates: Callable[[Any], np.ndarray]) -> np.ndarray:
        X = self._expansion.points
        targets = X.toarray() if scipy.sparse.issparse(X) else X
        model = KernelRidge(Linear() + Gaussian("scale"), alpha=self._alpha, fit_intercept=True)
        return np.asarray(model.fit(coordinates(X), targets).predict(T))


def _fixed_point(kernel: Kernel, X: Data, gamma: np.ndarray) -> np.ndarray:
    """Ascend ``<phi(z), P> = sum_i gamma_i k(x_i, z)``; with k(z, z) = 1 that is coming nearer."""
    K = gram(kernel, X)
    best = np.argmax((K @ gamma.T).T, axis=1)
    Z = X[best].toarray() if scipy.sparse.issparse(X) else np.array(X[best], dtype=np.float64)
    weights = gamma * K.cross(Z).dense()
    active = np.arange(len(Z))
    for _ in range(200):
        moved = _step(K, X, gamma[active], Z[active], weights[active])
        if moved is None:
            break
        better, new, new_weights = moved
        active = active[better]
        change = np.linalg.norm(new - Z[active], axis=1)
        size = np.linalg.norm(new, axis=1)
        Z[active], weights[active] = new, new_weights
        active = active[change > 1e-8 * (1 + size)]  # the others rest
        if not len(active):
            break
    return Z


def _step(
    K: Any, X: Data, gamma: np.ndarray, Z: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Points (which of them, where, with which weights) that a step of the iteration brings nearer."""
    value = weights.sum(axis=1)
    usable = np.flatnonzero(value > 0)  # elsewhere the step leads downhill, or nowhere
    if not len(usable):
        return None
    goal = np.asarray(weights[usable] @ X) / value[usable, None]
    result_points, result_weights = Z.copy(), weights.copy()
    better = np.zeros(len(Z), dtype=bool)
    waiting, length = np.arange(len(usable)), 1.0
    # times that a step is halved before a point is left where it is
    for _ in range(20):
        index = usable[waiting]
        tried = Z[index] + length * (goal[waiting] - Z[index])
        tried_weights = gamma[index] * K.cross(tried).dense()
        up = tried_weights.sum(axis=1) > value[index]
        better[index[up]] = True
        result_points[index[up]], result_weights[index[up]] = tried[up], tried_weights[up]
        waiting, length = waiting[~up], length / 2
        if not len(waiting):
            break
    chosen = np.flatnonzero(better)
    return (chosen, result_points[chosen], result_weights[chosen]) if len(chosen) else None
