"""The centred alignment of a kernel with targets, with its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...domains import Data
from ...errors import InputError
from .gradients import block_and_sums
from .hyperparameters import Hyperparameters
from .objectives import Weights

__all__ = ["AlignmentCriterion"]

Matrix: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class AlignmentCriterion:
    r"""The cosine between the centred Gram matrix and that of the targets.

    .. math:: A = \frac{\langle K_c, Z \rangle}{\|K_c\| \|Z\|}, \qquad
              dA = \Big\langle \frac{Z}{\|K_c\| \|Z\|} - \frac{A \, K_c}{\|K_c\|^2},\; dK \Big\rangle,
              \qquad K_c = H K H, \quad Z = H Y Y^\top H

    The weights of dK are centred as they are.  It does not depend on a factor of the kernel.  Source: Cortes,
    Mohri and Rostamizadeh 2012.

    Attributes
    ----------
    points : validated points
    Y : array of shape (n, c)
    """

    points: Data
    Y: Matrix

    def __call__(
        self, point: Hyperparameters, wanted: NDArray[np.bool_] | None = None
    ) -> tuple[float, Matrix]:
        """The alignment at some hyper-parameters, and its gradient in their logarithms."""
        K, sums = block_and_sums(point, self.points, wanted)
        Y = self.Y - self.Y.mean(axis=0)
        means = K.mean(axis=0)
        K -= means + means[:, None] - means.mean()
        size, scale = float(np.linalg.norm(K)), float(np.linalg.norm(Y.T @ Y))
        if not size > 0:
            raise InputError(f"tune: the alignment needs a kernel that differs on `X`. Got {point.kernel!r}.")
        value = float(np.vdot(K @ Y, Y)) / (size * scale)

        def tile(rows: slice, cols: slice) -> Matrix:
            return np.asarray(Y[rows] @ Y[cols].T / (size * scale) - value / size**2 * K[rows, cols])

        return value, sums(Weights(tile, len(K)))
