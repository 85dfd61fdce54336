r"""The kernel Fisher discriminant.

Points with weights :math:`w_i` are in classes :math:`c(i)`.  For :math:`f = \sum_i a_i k(x_i, \cdot)` with
the weighted class means :math:`f_c` and the mean :math:`\bar f`, maximise one after the other

.. math:: \frac{\sum_c w_c (f_c - \bar f)^2}{\sum_i w_i (f(x_i) - f_{c(i)})^2 + \lambda\, P(f)},
          \qquad P(f) = |f|^2 = a' K a \quad\text{or}\quad P(f) = \sum_i a_i^2 / w_i .

The second penalty is the one of the sources: :math:`S_0 + S_1 + \lambda I` for unit weights.  Divided by the
weights it makes an integer weight a repeated point, whose copies share the coefficient.

With :math:`a = D^{1/2} b` and :math:`\tilde K = D^{1/2} K D^{1/2} = U \Lambda U'` both are the same problem
in :math:`z`: :math:`b = U \Lambda^{-p} z`, weighted values :math:`U \Lambda^{1-p} z`, penalty
:math:`\lambda |z|^2`, with :math:`p = 1/2` for the norm and :math:`p = 0` for the coefficients.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ..solution import Solution
from .rayleigh import scaled, solve_rayleigh, spectral_root

__all__ = ["DiscriminantValue", "solve_discriminant"]


class DiscriminantValue(NamedTuple):
    """Coefficients of shape (n, p) and quotients of shape (p,).

    The functions have the penalised within-class variance 1, and covariance 0 with each other.
    """

    coefficients: np.ndarray
    quotients: np.ndarray


def solve_discriminant(
    K: np.ndarray,
    codes: np.ndarray,
    penalty: float,
    weight: np.ndarray,
    *,
    norm: bool = True,
    eps: float = 0.0,
) -> Solution[DiscriminantValue]:
    """Find the discriminants.

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric; positive semidefinite for ``norm=True``.
    codes : array of shape (n,)
        Classes 0, 1, ..., each with a point.
    penalty : float
        At least 0.
    weight : array of shape (n,)
        Positive weights.
    norm : bool
        Whether the penalty is on the norm of the function, else on the coefficients.
    eps : float
        Relative accuracy of the values in ``K``, if worse than double precision.

    Returns
    -------
    Solution
        At most one function less than there are classes.  ``stats["rank"]`` is the dimension of the span of
        the points.  Raises ``DefinitenessError`` if ``K`` is indefinite (with ``norm``), and ``LinAlgError``
        if some function does not vary within the classes and there is no penalty.
    """
    root = np.sqrt(weight)
    span = spectral_root(scaled(K, root), eps, signed=not norm)
    features = span.features if norm else span.vectors * span.values

    # Orthonormal columns: products with them are class means, times the root of the weight of the class.
    classes = np.zeros((len(codes), int(codes.max()) + 1))
    classes[np.arange(len(codes)), codes] = root
    classes /= np.linalg.norm(classes, axis=0)
    contrasts = linalg.qr((classes.T @ root)[:, None])[0][:, 1:]  # orthogonal to the mean of all
    between = classes @ contrasts
    within = features - classes @ (classes.T @ features)
    scale = float(np.linalg.norm(features, axis=0).max(initial=0.0))
    solution = solve_rayleigh(between.T @ features, within, penalty, scale)
    z = solution.value.directions * np.sqrt(weight.sum())
    b = span.coefficients(z) if norm else span.vectors @ z
    return Solution(
        DiscriminantValue(root[:, None] * b, solution.value.quotients),
        solution.converged,
        solution.status,
        solution.gap,
        {**solution.stats, "rank": len(span.values)},
    )
