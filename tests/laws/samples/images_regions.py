"""Samples of the kernels between region graphs: given regions, and those of scikit-image."""

from __future__ import annotations

import numpy as np

from mercer.kernels import ChiSquare, Intersection, RandomWalk, SegmentationGraph, TreeWalk, WeisfeilerLehman

from ..cases import Case

__all__ = ["CASES"]

rng = np.random.default_rng(0)
STRIPED = np.zeros((8, 9, 3))
STRIPED[:, 3:6], STRIPED[:, 6:, 0] = 1.0, 1.0

#: One pixel, one colour, several parts of one region, a region for each pixel, repeats.
GIVEN = [
    (np.zeros((1, 1)), [[3]]),
    (np.full((4, 5), 0.5), np.zeros((4, 5), dtype=int)),
    (rng.random((6, 5, 3)), rng.integers(-2, 3, (6, 5))),
    (rng.random((3, 3, 3)), np.arange(9).reshape(3, 3)),
    (STRIPED, np.repeat([[0, 1, 2]], 8, axis=0).repeat(3, axis=1)),
    (STRIPED, np.repeat([[0, 1, 2]], 8, axis=0).repeat(3, axis=1)),
]
IMAGES = [
    np.zeros((5, 5)),
    np.ones((1, 1)),
    STRIPED,
    STRIPED[:, ::-1],
    rng.random((6, 7, 3)),
    rng.random((9, 4)),
]

CASES: list[Case] = [
    Case(SegmentationGraph(TreeWalk(3, node=Intersection())), GIVEN),
    Case(SegmentationGraph(RandomWalk(0.02, length=3, node=ChiSquare().schoenberg(1.0)), bins=4), GIVEN),
    Case(SegmentationGraph(WeisfeilerLehman(2), bins=2, space="lab"), GIVEN),
    Case(SegmentationGraph(TreeWalk(2, node=Intersection()), segments=4, attributes="mean"), IMAGES),
    Case(SegmentationGraph(TreeWalk(2, node=Intersection()), segments=4, method="watershed"), IMAGES),
]
