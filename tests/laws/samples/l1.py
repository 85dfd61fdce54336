"""Products over the features, and white noise."""

from __future__ import annotations

import numpy as np

from mercer.kernels.l1 import Cauchy, Laplacian, Periodic
from mercer.kernels.noise import WhiteNoise

from ..cases import Case

__all__ = ["CASES"]

PLANE = np.array(
    [[0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [-1.0, 0.5], [1e-7, 0.0], [3.0, -4.0], [40.0, 1.0], [-0.2, 0.3]]
)
#: Whole and half periods among other numbers.
TURNS = np.array([[0.0, 0.0], [1.0, 2.0], [0.5, 0.0], [0.5, 0.0], [-1.0, 0.35], [1e-7, 0.7], [3.0, -1.5]])
OFFSET = PLANE + np.array([1e6, -3e5])
WIDTHS = np.array([0.5, 3.0])
OBJECTS = ["a", "", ("a",), 1, 1.0, None, frozenset({1, 2}), "a", 1j]
UNHASHABLE = [{"a": 1}, {"a": 1}, {}, [1, 2], [1, 2], {3}, frozenset({3})]

CASES = [
    *(Case(Laplacian(sigma), PLANE) for sigma in (1.0, 0.2, 20.0, WIDTHS, "median")),
    *(Case(Laplacian(sigma), OFFSET) for sigma in (1.3, WIDTHS)),
    *(Case(Cauchy(sigma), PLANE) for sigma in (1.0, 0.2, 20.0, WIDTHS)),
    Case(Cauchy(1.3), OFFSET),
    *(Case(Periodic(period), TURNS) for period in (1.0, 2.0, 0.7)),
    *(Case(Periodic(3.0, sigma), TURNS) for sigma in (0.3, 5.0)),
    *(Case(WhiteNoise(0.5), points) for points in (PLANE, OBJECTS, UNHASHABLE)),
    Case(WhiteNoise(), [np.array([1.0, 2.0]), np.array([[1.0, 2.0]]), np.ones(1), [1.0], (1.0,), [1.0]]),
]
