"""Samples of the kernels between clouds of points."""

from __future__ import annotations

import numpy as np

from mercer.domains import Cloud
from mercer.kernels import (
    CloudVariance,
    EarthMover,
    Gaussian,
    Jaccard,
    Linear,
    MeanMap,
    NGram,
    PowerDistance,
    SlicedWasserstein,
)

from ..cases import Case

__all__ = ["CASES"]

_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])

#: One point, repeated points, another order, weights of zero, and clouds far away.
PLANE = [
    _CORNERS[:1],
    _CORNERS,
    _CORNERS[::-1],
    Cloud(_CORNERS, [1.0, 2.0, 0.0, 5.0]),
    Cloud(_CORNERS, [1e300, 1e300, 0.0, 0.0]),
    np.repeat(_CORNERS[:2], 3, axis=0),
    _CORNERS + 20.0,
    [[0.5, -1.0], [0.5, 1.0]],
]

#: Clouds of words and of sets.
WORDS = [["ab"], ["ab", "ba"], ["ba", "ab"], ["", "abab"], Cloud(["ab", "b"], [3, 1]), ["bbb"]]
SETS = [[{1}], [{1}, {2, 3}], [set()], Cloud([{1}, {2}], [0.25, 0.75]), [{1, 2, 3}], [{2}, {2}]]

LINE = [[0.0], [0.0, 0.0], [1.0, -2.0, 1e-9], Cloud([3.0, 1.0, 2.0], [0.0, 1.0, 2.0]), [1e6], [0.5, 0.25]]

#: Pairs of points, for which earth is moved by assignments, and one cloud with weights.
PAIRS = [_CORNERS[[0, 1]], _CORNERS[[1, 0]], _CORNERS[[2, 2]], _CORNERS[[0, 3]], _CORNERS[[1, 2]]]
PAIRS = [*PAIRS, Cloud(_CORNERS[:3], [1, 2, 0])]

CASES: list[Case] = [
    *(Case(MeanMap(k), PLANE) for k in (Linear(), Gaussian(2.0), Gaussian("median"), Gaussian([1.0, 5.0]))),
    Case(MeanMap(NGram(2)), WORDS),
    Case(MeanMap(Jaccard()), SETS),
    Case(MeanMap(Gaussian(2.0)).gaussian(0.5), PLANE),
    *(Case(CloudVariance(k, eta), PLANE) for k in (Linear(), Gaussian("median")) for eta in (0.01, 2.0)),
    Case(CloudVariance(NGram(1), 0.5), WORDS),
    Case(CloudVariance(Jaccard(), 0.1), SETS),
    *(Case(SlicedWasserstein(power=p), LINE) for p in (1, 2)),
    *(Case(SlicedWasserstein([[1.0, 0.0], [-3.0, 4.0]], p), PLANE) for p in (1, 2)),
    Case(SlicedWasserstein.random(2, 3, random_state=0).schoenberg(0.5), PLANE),
    Case(EarthMover(PowerDistance(1.0)), PAIRS),
]
