"""Samples of the trigonometric kernels."""

from __future__ import annotations

import math

from mercer.kernels.trig import CosineDifference, CosineOfSquares, Sinc, SinSquared

from ..cases import Case
from .reals import VECTORS

__all__ = ["CASES"]

#: Half turns of every frequency below, among other numbers.
ANGLES = [0.0, 0.0, math.pi / 2, math.pi, -math.pi, 1e-9, 0.3, 7.0]
#: The same far from the origin.
FAR = [1e6 + t for t in ANGLES]

CASES: list[Case] = [
    *(Case(CosineDifference(w), points) for w in (0.5, 1.0, 3.0) for points in (ANGLES, FAR)),
    *(Case(CosineOfSquares(n), VECTORS) for n in (1, 2, 5)),
    Case(SinSquared(), ANGLES),
    *(Case(Sinc(a), points) for a in (0.5, 1.0, 3.0) for points in (ANGLES, FAR)),
]
