"""Spectral densities of kernels on vectors: a difference whose density is negative somewhere is refuted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ..certificate import Witness
from ..domains import EVERYWHERE, Vectors
from ..errors import DomainError
from ..kernel import Kernel
from ..spectral_density import Independent, ScaleMixture

__all__ = ["Terms", "least_eigenvector", "spectral_witness"]

#: Kernels with their coefficients in a sum.
Terms = list[tuple[Kernel, Fraction]]

#: Points per axis of the lattices on which witnesses are sought, the smallest first, by their number of axes.
#: At most 64 points in all: a witness is read by people, and checked with fifty digits.
SIDES = {1: (4, 8, 14), 2: (3, 4, 6), 3: (2, 3, 4)}

#: Number of frequencies on each ray beside 0, in geometric progression, and how far they go: from the inverse
#: of the largest width over this factor to that of the smallest width times this factor.  Of 3,000 random
#: sums of two or three Gaussian and Matern kernels with one negative coefficient, 1,000 frequencies within a
#: factor of 10^4 showed 2,360 to have negative densities; 64 within 30 missed 54 of these, 16 missed 57, and
#: 64 within a factor of 10 missed 97.
FREQUENCIES, BEYOND = 64, 30.0

#: A density, or an eigenvalue, below minus this fraction of the sizes of its terms is not rounding, which is
#: 2^-53 of them times the number of terms, or of points.  Densities of the sums above had the same signs with
#: any fraction from 0 to 1e-6.
ROUNDING = 1e-11


def spectral_witness(kernel: Kernel, terms: Terms) -> Witness | None:
    r"""A witness against ``sum_i a_i k_i``, if its spectral density takes negative values and one is found.

    A continuous kernel :math:`\kappa(x - y)` is positive definite iff its spectral density is nonnegative
    (Bochner).  The density only says where to search; what refutes is the witness, checked with fifty digits.
    It stands on a lattice of one, two or three axes, with the least eigenvector of its Gram matrix as
    coefficients.
    """
    domain = kernel.domain
    coefficients = [a for _, a in terms]
    # Coefficients beyond this are not considered: their products with densities must be floats.
    largest = 1e100
    if not -largest < min(coefficients) < 0 or max(coefficients) > largest:
        return None
    if not (kernel.is_resolved and isinstance(domain, Vectors) and domain.region == EVERYWHERE):
        return None
    dim = domain.dim
    subspaces = [list(range(d)) for d in SIDES]
    if dim is not None:  # of many axes, 16 one by one, each at the cost of some twenty eigenvalue problems
        subspaces = [[i] for i in range(min(dim, 16))]
        subspaces += [list(range(dim))] if 1 < dim <= max(SIDES) else []
    for axes in subspaces:
        for side, step in itertools.product(SIDES[len(axes)], _spacings(terms, axes)):
            points = np.zeros((side ** len(axes), dim or len(axes)))
            points[:, axes] = list(itertools.product(step * np.arange(side), repeat=len(axes)))
            witness = least_eigenvector(kernel, points)
            if witness is not None:
                return witness
    return None


def _spacings(terms: Terms, axes: list[int]) -> Iterator[float]:
    """Spacings of lattices that see a frequency of negative density; none if there is no such frequency."""
    densities = [_density_along(k, axes) for k, _ in terms]
    known = [p for p in densities if p is not None]
    if len(known) < len(terms):
        return
    widths = np.concatenate([p.widths for p in known])
    low, high = float(widths.min()), float(widths.max())
    # Widths below this, and above its inverse, are not considered: squares of frequencies would overflow.
    least_width = 1e-100
    if low < least_width or high > 1 / least_width:
        return
    t = np.concatenate([[0.0], np.geomspace(1 / (BEYOND * high), BEYOND / low, FREQUENCIES)])
    rays = np.eye(len(axes))[0], np.full(len(axes), 1 / math.sqrt(len(axes)))
    frequencies = np.concatenate([np.outer(t, ray) for ray in rays])
    with np.errstate(under="ignore", over="ignore"):
        values = [p.value(frequencies) for p in known]
        parts = np.array([float(a) * v for v, (_, a) in zip(values, terms, strict=True)])
    if not np.isfinite(parts).all() or not (parts.sum(axis=0) < -ROUNDING * np.abs(parts).sum(axis=0)).any():
        return
    worst = float(np.tile(t, 2)[int(np.argmin(parts.sum(axis=0)))])
    yield from (math.pi / worst, math.pi / (2 * worst)) if worst else ()
    yield from dict.fromkeys(factor * s for factor in (1.0, 0.5, 2.0, 0.25) for s in (low, high))


def _density_along(kernel: Kernel, axes: list[int]) -> ScaleMixture | Independent | None:
    """The density on vectors that differ along some axes, if it has widths and a closed form."""
    try:
        density = kernel.spectral_density
        if not isinstance(density, ScaleMixture | Independent):
            return None
        along = density.along(axes)
        along.log_value(np.ones((1, len(axes))))
        return along
    except DomainError:
        return None


def least_eigenvector(kernel: Kernel, points: np.ndarray) -> Witness | None:
    """The witness of the least eigenvalue of a Gram matrix, if it is negative."""
    K = np.asarray(kernel.block(points), dtype=np.float64)
    values, vectors = np.linalg.eigh(K)
    if values[0] >= -ROUNDING * len(K) * float(np.abs(K).max()):
        return None
    c = np.round(vectors[:, 0] / np.abs(vectors[:, 0]).max(), 3)
    used = np.flatnonzero(c)
    if float(c @ K @ c) >= 0:
        c, used = vectors[:, 0], np.arange(len(K))
    witness = Witness.of(kernel, [tuple(row) for row in points[used].tolist()], c[used].tolist())
    return witness if witness.value < -witness.error else None
