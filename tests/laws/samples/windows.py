"""Windows, most of them not positive definite."""

from __future__ import annotations

import numpy as np

from mercer.kernels.wendland import Wendland
from mercer.kernels.windows import BoxWindow, Epanechnikov

from ..cases import Case

__all__ = ["CASES"]

PLANE = np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 0.0], [1.3, 0.0], [-0.25, 0.5], [1e-9, 0.0], [30.0, -4.0]])

CASES = [
    *(Case(Epanechnikov(h), PLANE) for h in (1.0, 0.1, 7.0)),
    *(Case(BoxWindow(h), PLANE) for h in (1.0, 0.1, 7.0)),
    *(Case(Wendland(d, s, 1.5, n_features=2), PLANE) for d in (2, 3, 8) for s in range(4)),
    *(Case(Wendland(1, s, n_features=2), PLANE) for s in range(4)),
    Case(Wendland(2, 1, [0.5, 2.0]), PLANE),
    Case(Wendland(2, 1, "median"), PLANE),
]
