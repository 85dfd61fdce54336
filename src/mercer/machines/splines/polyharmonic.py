r"""Splines of any order in any dimension, as kernel functions and free polynomials.

The minimiser of :math:`\sum_i w_i (y_i - f(x_i))^2 + \alpha J(f)` with the energy

.. math:: J(f) = \sum_{|\nu| = m} \frac{m!}{\nu!} \int (D^\nu f)^2 \, dx, \qquad 2m > d,

is :math:`f = \theta \sum_i a_i k(x_i, \cdot) + q` with the kernel :class:`~mercer.kernels.ThinPlate`, a
polynomial :math:`q` of degree below :math:`m`, coefficients that annihilate these polynomials, and
:math:`J(f) = \theta \, a^\top K a` (Duchon 1977).  The factor makes :math:`\theta k` the fundamental solution
of :math:`(-\Delta)^m` (Wahba 1990, section 2.4),

.. math:: \theta = \begin{cases}
            |\Gamma(d/2 - m)| \, / \, \big( 2^{2m} \pi^{d/2} (m - 1)! \big) & d \text{ odd} \\
            1 \, / \, \big( 2^{2m-1} \pi^{d/2} (m - 1)! \, (m - d/2)! \big) & d \text{ even.}
          \end{cases}
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from ... import memory
from ...errors import InputError, ParameterError
from ...kernels import ThinPlate
from ...solvers import SplineErrors, UnpenalizedRidge

__all__ = ["Polyharmonic", "PolyharmonicFit", "count_polynomials", "energy_factor"]

Matrix: TypeAlias = NDArray[np.float64]


def energy_factor(order: int, dim: int) -> float:
    r"""The factor :math:`\theta` between the kernel and the fundamental solution."""
    below: float = 2 ** (2 * order) * math.pi ** (dim / 2) * math.factorial(order - 1)
    if dim % 2:
        return abs(math.gamma(dim / 2 - order)) / below
    return 2 / (below * math.factorial(order - dim // 2))


def count_polynomials(order: int, dim: int) -> int:
    """Dimension of the polynomials of degree below ``order``."""
    return math.comb(order - 1 + dim, dim)


class Space(NamedTuple):
    """The functions of a spline, in coordinates that are scaled to [-1, 1]."""

    order: int
    centre: Matrix
    scale: float

    @property
    def kernel(self) -> ThinPlate:
        return ThinPlate(order=self.order, dim=len(self.centre))

    def scaled(self, points: Matrix) -> Matrix:
        return np.asarray((points - self.centre) / self.scale)

    def polynomials(self, scaled: Matrix) -> Matrix:
        """Products of Chebyshev polynomials of total degree below the order, of shape (n, M)."""
        each = [chebyshev.chebvander(column, self.order - 1) for column in scaled.T]
        columns = []
        for degree in range(self.order):
            for features in itertools.combinations_with_replacement(range(len(each)), degree):
                parts = (each[j][:, features.count(j)] for j in set(features))
                columns.append(math.prod(parts, start=np.ones(len(scaled))))
        return np.column_stack(columns)


class PolyharmonicFit(NamedTuple):
    """A fitted spline: scaled knots, coefficients of kernel functions and of polynomials."""

    space: Space
    knots: Matrix
    coefficients: Matrix
    polynomial: Matrix

    def predict(self, points: Matrix) -> Matrix:
        scaled = self.space.scaled(points)
        functions = self.space.kernel.block(scaled, self.knots)
        return np.asarray(functions @ self.coefficients + self.space.polynomials(scaled) @ self.polynomial)


class Polyharmonic:
    """Splines with knots at distinct points, decomposed for all penalties.

    Parameters
    ----------
    points : array of shape (n, d)
        Distinct.
    weight : array of shape (n,)
    order : int
    caller : str
        The machine, for messages.
    """

    def __init__(self, points: Matrix, weight: Matrix, order: int, caller: str) -> None:
        n, dim = points.shape
        self.order, self.dim, self.caller = order, dim, caller
        count = count_polynomials(order, dim)
        if n < count:
            raise InputError(self._undetermined(count, f"Got {n} of positive weight (n_samples = {n})"))
        memory.require(6 * 8 * n * n, f"{caller} on {n} points", "Fit a subset of the points.")
        low, high = points.min(axis=0), points.max(axis=0)
        self.space = Space(order, low + (high - low) / 2, float((high - low).max()) / 2 or 1.0)
        self.knots = self.space.scaled(points)
        K, P = self.space.kernel.block(self.knots), self.space.polynomials(self.knots)
        self.ridge = UnpenalizedRidge(K, P, weight)
        if self.ridge.rank < count:
            found = f"Got {n} points that determine {self.ridge.rank} of them only"
            raise InputError(self._undetermined(count, found))

    def _undetermined(self, count: int, found: str) -> str:
        return (
            f"{self.caller}: `X` must determine the {count} polynomials of degree < {self.order} (order), "
            f"which are free: at least {count} distinct points, not all zeros of one of them. {found}. "
            "Use a lower order or more points."
        )

    # -- penalties --------------------------------------------------------------------------------
    def _in_units(self, alpha: Any) -> Any:
        """The penalty of scaled coordinates and of the kernel without its factor."""
        return alpha * (self.space.scale ** (self.dim - 2 * self.order) / energy_factor(self.order, self.dim))

    def grid(self) -> Matrix:
        """Penalties from near interpolation to near a polynomial."""
        s = self.ridge.eigenvalues
        low, high = max(1e-2 * float(s[0]), self.ridge.least), 1e2 * float(s[-1])
        # number of penalties on the first grid
        return np.geomspace(low, high, 40) / float(self._in_units(1.0))

    def errors(self, y: Matrix, alpha: Any) -> SplineErrors:
        return self.ridge.errors(y, self._in_units(alpha))

    def degrees_of_freedom(self, alpha: float) -> float:
        s, free = self.ridge.eigenvalues, float(self.ridge.rank)
        return free + (0.0 if alpha == np.inf else float((s / (s + self._in_units(alpha))).sum()))

    def fit(self, Y: Matrix, alpha: float) -> PolyharmonicFit:
        """The spline of data of shape (n, t), with a penalty from 0 to infinity."""
        if self._in_units(alpha) < (1 - 1e-9) * self.ridge.least:  # the end of the grid, rounded, is above
            least = self.ridge.least / float(self._in_units(1.0))
            raise ParameterError(
                f"{self.caller}: `alpha` must be at least {least:.3g} for these points and order "
                f"{self.order}. Got {alpha:.3g}. Smaller penalties are below the rounding errors of double "
                "precision; use a lower order."
            )
        return PolyharmonicFit(self.space, self.knots, *self.ridge.solve(Y, self._in_units(alpha)))
