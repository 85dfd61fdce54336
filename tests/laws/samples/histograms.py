"""Samples of the kernels on histograms and on the simplex."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from mercer.kernels import ProbabilityProduct
from mercer.kernels.histograms import ChiSquare, Hellinger, Jensen, TotalVariation
from mercer.kernels.simplex import Geodesic, InformationDiffusion, SquaredGeodesic

from ..cases import Case

__all__ = ["CASES", "HISTOGRAMS", "PROBABILITIES"]

#: A zero row, a repeated row, rows of very different totals, two that nearly agree.
HISTOGRAMS = np.array(
    [
        [0.0, 0.0, 0.0],
        [1.0, 2.0, 3.0],
        [1.0, 2.0, 3.0],
        [0.0, 5.0, 0.0],
        [1e-6, 0.0, 1e-3],
        [300.0, 20.0, 1e4],
        [0.25, 0.25, 0.5],
        [0.25 + 1e-9, 0.25, 0.5],
    ]
)

#: Corners, an edge, a repeated point, two that nearly agree, one close to a corner.
PROBABILITIES = np.array(
    [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.5, 0.5],
        [0.25, 0.25, 0.5],
        [0.25, 0.25, 0.5],
        [0.25 + 1e-9, 0.25 - 1e-9, 0.5],
        [1.0 - 3e-12, 1e-12, 2e-12],
    ]
)

COINS = np.array([[p, 1.0 - p] for p in (0.0, 1.0, 0.5, 0.5, 0.5 + 1e-8, 0.25, 0.9)])
SPARSE = scipy.sparse.csr_array(HISTOGRAMS)

CASES: list[Case] = [
    *(Case(k, X) for k in (ChiSquare(), Jensen(), TotalVariation()) for X in (HISTOGRAMS, SPARSE)),
    *(Case(Hellinger(power), X) for power in (2, 1) for X in (HISTOGRAMS, SPARSE)),
    *(Case(k.schoenberg(0.3), HISTOGRAMS) for k in (ChiSquare(), Jensen(), TotalVariation(), Hellinger(1))),
    *(Case(ProbabilityProduct(power), X) for power in (0.3, 0.5, 1.0) for X in (HISTOGRAMS, SPARSE)),
    Case(Geodesic(), PROBABILITIES),
    Case(Geodesic(), scipy.sparse.csr_array(PROBABILITIES)),
    Case(Geodesic().schoenberg(2.0), PROBABILITIES),
    *(Case(SquaredGeodesic(d), PROBABILITIES) for d in (None, 3)),
    Case(SquaredGeodesic(2), COINS),
    *(Case(InformationDiffusion(t), PROBABILITIES) for t in (0.1, 1.0, 3.0, 10.0, 20.0)),
    *(Case(InformationDiffusion(t, categories=2), COINS) for t in (0.1, 1.0, 20.0)),
]
