"""Samples of the Sobolev, spline and thin-plate kernels."""

from __future__ import annotations

import numpy as np

from mercer.kernels.splines import Sobolev1, Sobolev1HalfLine, Sobolev2, Spline, SplineRemainder
from mercer.kernels.thinplate import ThinPlate

from ..cases import Case
from .reals import POSITIVE, UNIT

__all__ = ["CASES"]

#: Fractions of an interval, its end included.
PARTS = np.array([1e-6, 0.1, 0.1, 0.3, 0.5, 0.9, 1.0])


def grid(dim: int) -> np.ndarray:
    """Points of R^dim with zeros and a repeat; some at distance one, where the logarithm vanishes."""
    rows = np.array([np.zeros(dim), np.eye(dim)[0], np.ones(dim), -2.0 * np.ones(dim), np.arange(dim) / 2])
    return np.vstack([rows, rows[1], 1e3 + rows[1]])


CASES: list[Case] = [
    *(Case(Sobolev1(b), (b * PARTS).tolist()) for b in (1e-3, 0.5, 1.0, 2.0, 30.0)),
    Case(Sobolev1(800.0), [1e-3, 1.0, 1.0, 5.0, 400.0, 799.0, 800.0]),
    Case(Sobolev1HalfLine(), POSITIVE),
    Case(Sobolev2(), UNIT),
    *(Case(Spline(m), UNIT) for m in (1, 2, 3, 6)),
    *(Case(SplineRemainder(m), UNIT) for m in (1, 2, 3, 6)),
    *(Case(ThinPlate(m, d), grid(d)) for m, d in ((1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (2, 3), (3, 4))),
]
