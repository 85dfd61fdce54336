r"""Regularised canonical correlations of views that are given by factors.

A view is a matrix :math:`L_i` of n rows with :math:`K_i = L_i L_i^\top`; its functions have the values
:math:`L_i w` and the norm :math:`\|w\|`.  With rows of the shares :math:`p`, weighted means subtracted, and
covariances :math:`C_{ij} = L_i^\top \mathrm{diag}(p) L_j`, the directions solve, for each of m views,

.. math:: \sum_{j \ne i} C_{ij} w_j = (m - 1)\, \rho \, (C_{ii} + \lambda_i I) \, w_i ,

the stationary points of the sum of covariances over pairs of views when the sum of regularised variances is
fixed.  For two views :math:`\rho` is the regularised canonical correlation.  With
:math:`C_{ii} + \lambda_i I = G_i G_i^\top` and :math:`B_i = \mathrm{diag}(\sqrt p) L_i G_i^{-\top}` it is the
eigenproblem of the matrix with blocks :math:`B_i^\top B_j`, and zeros on the diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ...engine.factorizations import cholesky, eigh
from ..solution import Solution
from .eigen import largest_eigenpairs

__all__ = ["CanonicalValue", "Whitened", "canonical_directions", "largest_correlation", "whiten"]

#: Accuracy of eigenvectors, relative to the largest eigenvalue; that of eigenvalues is its square.
VECTOR_TOL, VALUE_TOL = 1e-10, 1e-6


class Whitened(NamedTuple):
    """A view in coordinates of unit regularised variance.

    ``features`` is B of shape (n, r), ``back`` takes coordinates u to directions w, and ``is_penalized`` says
    whether the penalty is more than rounding.
    """

    features: np.ndarray
    back: Callable[[np.ndarray], np.ndarray]
    is_penalized: bool


class CanonicalValue(NamedTuple):
    """The values rho, and directions w of each view, one column per component."""

    values: np.ndarray
    directions: list[np.ndarray]


def whiten(L: np.ndarray, share: np.ndarray, penalty: float, *, square: bool = False) -> Whitened:
    r"""Centre a factor by the shares of its rows, and scale its columns to regularised variance one.

    The regularised variance is that of :math:`C + \lambda I` or, with ``square``, that of
    :math:`C^{-1} (C + \frac\lambda2 I)^2`.  Without a penalty, or with ``square``, directions without
    variance (constant functions among them) are left out.
    """
    centered = np.sqrt(share)[:, None] * (L - share @ L)
    C = centered.T @ centered
    largest = float(np.diagonal(C).sum())
    rounding = max(len(L), 16) * float(np.finfo(np.float64).eps) * largest
    if penalty > rounding and not square:
        C[np.diag_indices(len(C))] += penalty
        G = cholesky(C)
        features = linalg.solve_triangular(G, centered.T, lower=True, check_finite=False).T
        back = partial(linalg.solve_triangular, G, lower=True, trans="T", check_finite=False)
        return Whitened(features, back, True)
    values, V = eigh(C)
    used = values > rounding
    c = values[used]
    M = V[:, used] * (np.sqrt(c) / (c + penalty / 2) if square else 1 / np.sqrt(c + penalty))
    return Whitened(centered @ M, partial(np.matmul, M), penalty > rounding)


class Coupling:
    """The matrix with blocks ``B_i' B_j``, and zeros on the diagonal, as products."""

    is_held = True

    def __init__(self, features: Sequence[np.ndarray]) -> None:
        self._features = features
        self._cuts = np.cumsum([0, *(B.shape[1] for B in features)])
        self.size = int(self._cuts[-1])

    def parts(self, V: np.ndarray) -> list[np.ndarray]:
        """The rows of ``V`` that belong to each view."""
        return [V[a:b] for a, b in zip(self._cuts[:-1], self._cuts[1:], strict=True)]

    def product(self, V: np.ndarray) -> np.ndarray:
        """Product with a block of vectors."""
        scores = [B @ part for B, part in zip(self._features, self.parts(V), strict=True)]
        total = sum(scores)
        return np.vstack([B.T @ (total - own) for B, own in zip(self._features, scores, strict=True)])

    def copy(self) -> np.ndarray:
        """All of it."""
        B = np.hstack(list(self._features))
        M = np.asarray(B.T @ B)
        for a, b in zip(self._cuts[:-1], self._cuts[1:], strict=True):
            M[a:b, a:b] = 0.0
        return M


def canonical_directions(views: Sequence[Whitened], k: int) -> Solution[CanonicalValue]:
    """The ``k`` first components, or as many as have a positive value; each of regularised variance one."""
    coupling = Coupling([view.features for view in views])
    if coupling.size == 0:
        empty = CanonicalValue(np.empty(0), [view.back(np.empty((0, 0))) for view in views])
        return Solution(empty, True, "no view has any variance", 0.0)
    solution = largest_eigenpairs(coupling, min(k, coupling.size), tol=VECTOR_TOL)
    values = solution.value.values / (len(views) - 1)
    kept = values > _rounding(coupling.size)
    directions = []
    for view, part in zip(views, coupling.parts(solution.value.vectors[:, kept]), strict=True):
        norms = np.linalg.norm(part, axis=0)
        directions.append(view.back(part / np.where(norms > 0, norms, 1.0)))
    value = CanonicalValue(values[kept], directions)
    return Solution(value, solution.converged, solution.status, solution.gap, solution.stats)


def largest_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """The first value for two whitened views: the largest singular value of ``B_1' B_2``."""
    coupling = Coupling([first, second])
    if coupling.size == 0:
        return 0.0
    value = float(largest_eigenpairs(coupling, 1, tol=VALUE_TOL).value.values[0])
    return value if value > _rounding(coupling.size) else 0.0


def _rounding(size: int) -> float:
    """Correlations up to this are none."""
    return max(size, 16) * float(np.finfo(np.float64).eps)
