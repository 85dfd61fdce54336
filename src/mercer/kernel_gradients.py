r"""Derivatives of kernel values in the logarithms of parameters, and weighted sums of them.

A search over parameters needs sums :math:`\sum_{ij} W_{ij} \, \partial K_{ij} / \partial \log \theta_l` for
weights W that the objective gives, never the derivatives of single values.  The map from W to all sums is
the *adjoint* of the derivative.  Nodes compose adjoints by the chain rule, and no array of shape (n, m, d)
is formed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .domains import Data, size, take
from .errors import GradientError

__all__ = ["Adjoint", "Gradient", "adjoint_of_gradient", "diagonal_of_gradients"]

Gradient: TypeAlias = dict[str, np.ndarray]
#: From weights of the shape of a block to a sum for each parameter, of the parameter's shape.
Adjoint: TypeAlias = Callable[[np.ndarray], Gradient]


def adjoint_of_gradient(kernel: Any, X: Data, Y: Data | None) -> tuple[np.ndarray, Adjoint]:
    """Block and adjoint by ``_gradient``; without parameters if that has no closed form."""
    try:
        K, gradient = kernel._gradient(X, Y)
    except GradientError:
        return kernel._block(X, Y), lambda W: {}
    return K, lambda W: {name: np.tensordot(W, g, axes=2) for name, g in gradient.items()}


def diagonal_of_gradients(kernel: Any, X: Data) -> tuple[np.ndarray, Gradient]:
    """Diagonal and its gradient, point by point."""
    pieces = [kernel._gradient(take(X, slice(i, i + 1)), None) for i in range(size(X))]
    diagonal = np.array([K[0, 0] for K, _ in pieces])
    names = pieces[0][1] if pieces else {}
    return diagonal, {name: np.array([g[name][0, 0] for _, g in pieces]) for name in names}
