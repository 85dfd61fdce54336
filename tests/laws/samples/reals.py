"""Samples of the kernels on real numbers, and of intersections of vectors."""

from __future__ import annotations

import numpy as np

from mercer.kernels.comparisons import GaussianComparison, SoftComparison, Triangular
from mercer.kernels.intersections import Intersection, MinExponential
from mercer.kernels.reals import BrownianBridge, CapMinusMax, InverseMax, MaxRatio, Min, MinOverMax

from ..cases import Case

__all__ = ["CASES"]


def bump(distances: np.ndarray) -> np.ndarray:
    """A profile with a kink and a sign change."""
    return np.asarray(1.0 - distances + np.maximum(distances - 2.0, 0.0))


def weight(t: np.ndarray) -> np.ndarray:
    """A density that vanishes somewhere."""
    return np.asarray(t**2)


#: Zero, repeats, neighbours far from zero, tiny and large numbers.
NONNEGATIVE = [0.0, 1e-150, 0.5, 0.5, 1.0, 3.0, 1e6, 1e6 + 1e-6, 1e30]
POSITIVE = [1e-12, 0.25, 0.25, 1.0, np.nextafter(1.0, 2.0), 3.0, 1e4, 1e8]
LINE = [-1e5, -2.0, -0.5, 0.0, 0.0, 0.75, 1.0, 2.0, 1e5, 1e5 + 0.125]
UNIT = [0.0, 1e-9, 0.25, 0.25, 0.5, 0.875, 1.0 - 1e-9, 1.0]
VECTORS = np.array(
    [
        [0.0, 0.0, 0.0],
        [1.0, -2.0, 0.0],
        [-1.0, 2.0, 0.0],
        [1.0, -2.0, 0.0],
        [0.5, 0.0, 3.0],
        [1e-8, 1.5, -0.25],
        [2.0, 2.0, 2.0],
    ]
)

CASES: list[Case] = [
    Case(Min(), NONNEGATIVE),
    *(Case(Intersection(a), VECTORS) for a in (0.0, 0.5, 1.0, 2.5)),
    *(Case(MinExponential(s), VECTORS) for s in (0.7, 1.0, 3.0)),
    *(Case(InverseMax(p), POSITIVE) for p in (0.5, 1.0, 3.0)),
    *(Case(MaxRatio(p), POSITIVE) for p in (0.5, 1.0, 3.0)),
    Case(MaxRatio(0.1), [1e-35, 1e-20, 1e-10, 1.0, 1e10, 1e30]),
    Case(MinOverMax(), POSITIVE),
    *(Case(CapMinusMax(c), [-1e3, -2.0, -2.0, 0.0, 0.5, 1.0, c]) for c in (1.0, 4.5)),
    Case(CapMinusMax(-3.0), [-1e6, -7.0, -5.0, -5.0, -3.5, -3.0]),
    Case(BrownianBridge(), UNIT),
    *(Case(Triangular(c), LINE) for c in (0.3, 1.1, 50.0)),
    *(Case(GaussianComparison(s), LINE) for s in (0.3, 1.0, 50.0)),
    Case(SoftComparison(bump, -3.0, 5.0, 200), LINE[1:-2]),
    Case(SoftComparison(bump, 0.0, 1.0, nodes=7, density=weight), LINE[1:-2]),
]
