"""Single rows of Gaussian Gram matrices, for solvers that need a few of them, one after the other.

Values are sums in double precision, rounded once: about as exact as those of a block in single precision.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mercer import _native
from mercer.engine.program import Program
from mercer.engine.rough import MOST_SPREAD, Cloud

__all__ = ["SingleRows"]

Array: TypeAlias = npt.NDArray[Any]

#: Features up to which the rows that are needed are as quick as whole blocks, also if these are most of them:
#: with more, points do not stay in cache.
MOST_FEATURES = 32


class SingleRows:
    """Rows of ``exp(-c |x - y|^2)`` on dense points of few features."""

    def __init__(self, scaled: Array) -> None:
        """Of points that are scaled so that the kernel is ``exp(-|x - y|^2 / 2)``."""
        self.native = _native.SingleRows(scaled)

    @staticmethod
    def of(program: Program | None) -> SingleRows | None:
        r"""Those of a program, if it is a Gaussian kernel on points that are not too far from each other.

        Of scaled points less their mean, :math:`|x|^2 + |y|^2` is at most 4 times the spread, and
        :math:`t = \langle x, y\rangle - |x|^2/2 - |y|^2/2` is off by at most :math:`(d + 4) 2^{-53}` of it:
        for d = 32, by less than :math:`2^{-33}`.  So is exp(t), relative to itself.
        """
        cloud = Cloud.of(program)
        if cloud is None or cloud.points.shape[1] > MOST_FEATURES or cloud.spread > MOST_SPREAD:
            return None
        return SingleRows(cloud.scaled((2 * cloud.c) ** 0.5, np.float64))
