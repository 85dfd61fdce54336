"""Samples of precomputed matrices: the numbers decide, the kernel knows nothing."""

from __future__ import annotations

import numpy as np

from mercer.kernels.precomputed import Precomputed

from ..cases import Case

__all__ = ["CASES"]

_ROWS = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [-3.0, 0.5], [10.0, 1.0], [0.1, 0.0]])
GRAM = _ROWS @ _ROWS.T
INDEFINITE = -np.abs(np.subtract.outer(_ROWS[:, 0], _ROWS[:, 0]))

CASES: list[Case] = [
    Case(Precomputed(), GRAM),
    Case(Precomputed(), INDEFINITE),
    Case(2 * Precomputed() + 1, GRAM),
    Case(Precomputed() * Precomputed(), GRAM),
]
