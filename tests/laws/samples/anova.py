"""All-subsets and ANOVA kernels."""

from __future__ import annotations

import numpy as np

from mercer.kernels.anova import AllSubsets, Anova, AnovaOf
from mercer.kernels.dot import Linear, Polynomial
from mercer.kernels.radial import Exponential, Gaussian

from ..cases import Case

__all__ = ["CASES"]

SPACE = np.array(
    [
        [0.0, 0.0, 0.0, 0.0],
        [1.0, 2.0, -1.0, 0.5],
        [1.0, 2.0, -1.0, 0.5],
        [0.0, 0.0, 3.0, 0.0],
        [-1.0, -2.0, 1.0, -0.5],
        [1e-6, 0.0, 0.0, 1.0],
        [2.0, 0.0, 0.0, 2.0],
    ]
)
WEIGHTS = np.array([1.0, 0.5, 0.0, 2.0])

CASES = [
    *(Case(AllSubsets(weights), SPACE) for weights in (None, WEIGHTS)),
    *(Case(Anova(degree), SPACE) for degree in (0, 1, 2, 4, 6)),
    *(Case(Anova(3, WEIGHTS, decay=decay), SPACE) for decay in (1.0, 0.5, 0.0)),
    *(Case(Anova(2, None, [1.0, 0.5, 0.25], decay), SPACE) for decay in (1.0, 0.3)),
    *(Case(AnovaOf((Gaussian(2.0), Linear(), Polynomial(2)), degree), SPACE) for degree in (0, 1, 2, 3, 5)),
    Case(AnovaOf((Gaussian(2.0), Exponential(3.0)), 2, [0.5, 0.0, 2.0]), SPACE),
]
