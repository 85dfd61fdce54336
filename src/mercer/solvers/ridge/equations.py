r"""Normal equations of features that are added up, a batch of rows at a time.

.. math:: S = \sum_i w_i\, z_i z_i^\top, \qquad z_i = (\phi(x_i), 1, y_i)

holds all that ridge regression needs of the rows: the matrix of the normal equations, their right side and
the sum of squares of the targets.  Sums of batches are those of all rows, in any order, up to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ... import memory
from ...domains import Data, size, take
from ...engine.runs import checkpoint
from ...errors import InputError
from ...features import FeatureMap
from ..solution import Solution
from .restricted import BAND, RestrictedValue, solve_normal

__all__ = ["NormalEquations"]

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class NormalEquations:
    """Moments of features, a constant and targets.  Immutable: an interruption finds whole batches.

    Attributes
    ----------
    moments : array of shape (r + 1 + t, r + 1 + t)
        The matrix S.
    targets : int
        The number t of targets.
    rows, batches : int
        What was added up.
    """

    moments: Array
    targets: int
    rows: int = 0
    batches: int = 0

    @classmethod
    def zero(cls, map: FeatureMap, targets: int) -> Self:
        """The equations of no rows."""
        r = map.dim
        memory.require(4 * 8 * (r + 1) ** 2, f"the normal equations of {r} features", "Use fewer features.")
        return cls(np.zeros((r + 1 + targets,) * 2), targets)

    def plus(self, map: FeatureMap, points: Data, Y: Array, weight: Array | None) -> Self:
        """The equations with one more batch; features of a band of its rows are held at a time."""
        n, width = size(points), len(self.moments)
        r, total = width - 1 - self.targets, np.zeros_like(self.moments)
        height = max(1, BAND // width)
        band = np.empty((min(n, height), width))
        for start in range(0, n, height):
            checkpoint()
            rows = slice(start, min(start + height, n))
            Z = band[: rows.stop - start]
            features = map.transform(take(points, rows))
            Z[:, :r] = features.toarray() if hasattr(features, "toarray") else features
            Z[:, r], Z[:, r + 1 :] = 1.0, Y[rows]
            if weight is not None:
                Z *= np.sqrt(weight[rows, None])
            total += Z.T @ Z
        total += self.moments
        return type(self)(total, self.targets, self.rows + n, self.batches + 1)

    def solve(self, alpha: float, intercept: bool, tol: float) -> Solution[RestrictedValue]:
        """Weights and intercepts of ridge regression on the rows so far."""
        return solve_normal(_System(self, intercept), alpha, tol=tol)

    def packed(self) -> Array:
        """All numbers in one array."""
        return np.concatenate([[self.targets, self.rows, self.batches], self.moments.ravel()])

    def unpacked(self, values: Array) -> Self:
        """The equations from :meth:`packed`, of the same shape as these."""
        if len(values) != 3 + self.moments.size or values[0] != self.targets:
            raise InputError("checkpoint: the file belongs to equations of another size. Remove it.")
        return type(self)(
            values[3:].reshape(self.moments.shape), self.targets, int(values[1]), int(values[2])
        )


class _System:
    """A view of the moments as a linear system."""

    def __init__(self, equations: NormalEquations, intercept: bool) -> None:
        S, t = equations.moments, equations.targets
        self.dim, self.intercept = len(S) - 1 - t, intercept
        count = self.dim + intercept
        self._matrix, self.right = S[:count, :count], S[:count, len(S) - t :]

    def product(self, T: Array) -> Array:
        return self._matrix @ T

    def estimate(self) -> Array:
        return self._matrix.copy()
