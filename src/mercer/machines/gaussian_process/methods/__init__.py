"""Exact methods of Gaussian-process regression, one for each structure of the covariance matrix.

===================  ==========================================================================
``base``             ``Method``: likelihood, gradient, predictions
``state_space``      semiseparable kernels on the line, in linear time
``finite_features``  kernels with fewer features than points, in the primal
``kronecker``        products over the coordinates of a grid
``grid``             which points are grids, and which kernels products on them
``cholesky``         any kernel on any points
===================  ==========================================================================

:func:`choose` takes the first whose structure a kernel and its points have.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ....domains import Data
from ....kernel import Kernel
from .base import Method, Slopes
from .cholesky import Cholesky
from .finite_features import FiniteFeatures
from .kronecker import Kronecker
from .state_space import StateSpace

__all__ = ["Cholesky", "FiniteFeatures", "Kronecker", "Method", "Slopes", "StateSpace", "choose"]

Array: TypeAlias = NDArray[np.float64]


def choose(kernel: Kernel, points: Data, noise: Array) -> Method:
    """The method for a kernel, points and variances of the noise.

    Raises ``LinAlgError`` if the covariance matrix is not positive definite to working precision.
    """
    for structured in (StateSpace, FiniteFeatures, Kronecker):
        found = structured.of(kernel, points, noise)
        if found is not None:
            return found
    return Cholesky(kernel, points, noise)
