"""Samples of the kernels on images."""

from __future__ import annotations

import numpy as np

from mercer.domains import Cloud
from mercer.kernels import (
    ChiSquare,
    ColorHistogram,
    Gaussian,
    Intersection,
    Jensen,
    Linear,
    NestedHistograms,
    Patches,
    ProbabilityProduct,
    PyramidMatch,
    SpatialPyramid,
    TangentDistance,
)

from ..cases import Case

__all__ = ["CASES"]

RNG = np.random.default_rng(0)
STRIPES = np.zeros((6, 6))
STRIPES[::2] = 1.0

#: One colour, equal images, the same colours elsewhere, grey among colours, sizes that are no powers of 2.
COLOURS = [
    np.zeros((4, 4, 3)),
    np.full((5, 7, 3), 128, dtype=np.uint8),
    RNG.random((8, 8, 3)),
    RNG.random((6, 5, 3)),
    STRIPES,
    STRIPES.T,
    STRIPES[::-1].copy(),
    np.ones((4, 9)),
]
GREYS = [STRIPES, STRIPES.T, STRIPES, np.zeros((4, 5)), np.ones((6, 4)), RNG.random((7, 5)), np.eye(6)]
#: Equal clouds, points on borders of cells and below zero, weights, clouds far apart.
CLOUDS = [
    [[0.0, 0.0]],
    [[0.0, 0.0], [0.0, 0.0]],
    [[0.5, 0.5], [1.0, -1.0], [-0.25, 3.0]],
    Cloud([[0.5, 0.5], [100.0, -7.0]], [3.0, 1.0]),
    [[1e6, 1e6]],
    [[2.0, 2.0], [0.5, 0.25]],
    np.random.default_rng(1).standard_normal((9, 2)),
]

#: One level, equal images, an image and its shifted copy, one that changes along an axis only.
DIGITS = np.stack([np.zeros((5, 4)), *RNG.random((2, 5, 4)), np.full((5, 4), 0.5), *np.zeros((4, 5, 4))])
DIGITS[4, 1:4, 1] = 1.0
DIGITS[5, 1:4, 2] = 1.0
DIGITS[6] = np.linspace(0.0, 1.0, 5)[:, None]
DIGITS[7] = DIGITS[2]

CASES: list[Case] = [
    Case(ColorHistogram(bins=4), COLOURS),
    Case(ColorHistogram("hsv", 3, Intersection(), joint=True), COLOURS),
    Case(ColorHistogram("lab", 4, Jensen().schoenberg(2.0)), COLOURS),
    Case(ColorHistogram("rgb", 2, ChiSquare()), COLOURS),
    Case(NestedHistograms(2, 0.3, bins=2), COLOURS),
    Case(NestedHistograms(1, 0.5, Intersection(), space="hsv", bins=3, joint=True), COLOURS),
    Case(NestedHistograms(2, 0.9, 3.0 * ProbabilityProduct(), bins=2), COLOURS),
    Case(SpatialPyramid(1, Intersection(), bins=2), COLOURS),
    Case(SpatialPyramid(2, ProbabilityProduct(), bins=2, joint=True), COLOURS),
    Case(TangentDistance(tangents=("shift_x", "shift_y", "rotation")), list(DIGITS)),
    Case(TangentDistance(sides=1), list(DIGITS)),
    Case(TangentDistance((5, 4), tangents=("scale", "thickness"), smoothing=0.0), DIGITS.reshape(8, -1)),
    Case(
        TangentDistance((5, 4), sides=1, tangents=("brightness", "axis")), 9.0 * DIGITS.reshape(8, -1) - 3.0
    ),
    Case(TangentDistance(tangents=("brightness",)), list(DIGITS)),
    Case(TangentDistance((5, 4), tangents=()), DIGITS.reshape(8, -1)),
    Case(TangentDistance((5, 4), tangents=("shift_x", "diagonal")).schoenberg(0.5), DIGITS.reshape(8, -1)),
    *(Case(PyramidMatch(levels, 0.5), CLOUDS) for levels in (0, 5)),
    Case(Patches(Gaussian(1.0), size=3, stride=1), GREYS),
    Case(Patches(Linear(), size=2, stride=2, mean=False), [np.stack([x] * 3, axis=2) for x in GREYS]),
]
