"""Samples of the kernels on fingerprints."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from mercer.kernels import DotTanimoto, MinMax, Tanimoto

from ..cases import Case

__all__ = ["CASES"]

#: An empty row twice, equal rows, a full row, disjoint rows; more columns than a word has bits.
FINGERPRINTS = np.zeros((9, 70))
FINGERPRINTS[2, [0, 3, 69]] = 1
FINGERPRINTS[3, [0, 3, 69]] = 1
FINGERPRINTS[4, [0, 3, 64]] = 1
FINGERPRINTS[5] = 1
FINGERPRINTS[6, 10:30] = 1
FINGERPRINTS[7, 20:50] = 1
FINGERPRINTS[8, 1] = 1

#: Counts, real amounts, amounts of very different size.
COUNTS = np.array(
    [
        [0.0, 0, 0],
        [0, 0, 0],
        [1, 2, 3],
        [2, 1, 3],
        [0, 5, 0],
        [1e-6, 0, 1e-3],
        [300, 20, 1e4],
        [0.25, 0.25, 0.5],
    ]
)
SIGNED = COUNTS * np.array([1.0, -1.0, 1.0]) - np.array([[0.0, 0, 0]] * 4 + [[1.0, 0, 0]] * 4)

CASES: list[Case] = [
    *(Case(Tanimoto(), X) for X in (FINGERPRINTS, scipy.sparse.csr_array(FINGERPRINTS))),
    *(Case(MinMax(), X) for X in (COUNTS, scipy.sparse.csr_array(COUNTS), FINGERPRINTS)),
    *(Case(DotTanimoto(), X) for X in (SIGNED, scipy.sparse.csr_array(COUNTS), FINGERPRINTS)),
]
