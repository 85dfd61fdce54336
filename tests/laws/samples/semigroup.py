"""Samples of the kernels of sums and differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels.mixtures import LaplaceMixture, SpectralMixture
from mercer.kernels.semigroup import ExponentialSum, InverseSum, LogSum, Semigroup

from ..cases import Case
from .reals import POSITIVE, VECTORS

__all__ = ["CASES"]


def inverse_square(s: np.ndarray) -> Any:
    """An even function of one vector or of many."""
    return 1.0 / (1.0 + np.sum(s * s, axis=-1))


SUMS = [0.0, 1e-8, 0.25, 0.25, 1.0, 2.0, 40.0, 1e30]
NEAR = [0.0, 1e-8, 0.1, 0.25, 0.25, 0.5, 0.6]
ORTHANT = np.abs(VECTORS)
FAR = np.array([[0.0], [0.0], [-4.0], [1e3], [1e5], [1e5 + 0.5]])

CASES: list[Case] = [
    Case(InverseSum(), POSITIVE),
    Case(LogSum(), POSITIVE),
    *(Case(ExponentialSum(p), SUMS) for p in (0.2, 0.5, 1.0)),
    *(Case(ExponentialSum(p), NEAR) for p in (1.5, 2.0, 7.0)),
    *(Case(ExponentialSum(p), SUMS[1:]) for p in (0.0, -0.5, -1.0, -3.0)),
    Case(SpectralMixture([[1.0, 0.0, -2.0], [0.0, 0.0, 0.0], [0.5, 3.0, 1.0]], [0.5, 1.0, 0.0]), VECTORS),
    Case(SpectralMixture([[1.0, 0.0, -2.0]], 1.0), VECTORS),
    Case(SpectralMixture([[2.0], [0.3]], 0.5), FAR),
    Case(LaplaceMixture([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.5, 3.0, 1.0]], [0.5, 1.0, 0.0]), ORTHANT),
    Case(LaplaceMixture([[1.0, 0.5, 2.0]], 2.0), ORTHANT),
    Case(Semigroup(inverse_square, "identity"), VECTORS),
    Case(Semigroup(inverse_square, "negation", vectorized=True), VECTORS),
    Case(Semigroup(inverse_square, "identity", nonnegative=True, vectorized=True), ORTHANT),
]
