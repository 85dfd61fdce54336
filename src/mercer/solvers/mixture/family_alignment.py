r"""Weights of general kernels by the alignment of their sum with targets.

With matrices centred, the cosine between :math:`\sum_l d_l K_l`, d >= 0, and :math:`Y Y^\top` is largest for
the multiples of the minimum of

.. math:: \tfrac12 d^\top M d - a^\top d, \quad d \ge 0, \qquad
          M_{lk} = \langle K_l, K_k \rangle, \quad a_l = \operatorname{tr} Y^\top K_l Y

(Cortes, Mohri and Rostamizadeh 2012).  Weights w of points count as repetition: the inner product is then
:math:`\sum_{ij} w_i w_j A_{ij} B_{ij}`, and means are weighted.
"""

from __future__ import annotations

import numpy as np

from ...engine.runs import checkpoint
from .alignment import nonnegative_minimum
from .family import KernelFamily
from .problem import Array

__all__ = ["align_family", "inner_products"]


def inner_products(family: KernelFamily, weight: Array) -> Array:
    """M: inner products of the centred matrices, from one pass over their values."""
    n, m, total = family.size, len(family), float(weight.sum())
    root = np.sqrt(weight)
    M, sums = np.zeros((m, m)), np.empty((m, n))
    # Values of all kernels that are held at a time: 64 MiB.
    step = max(1, (1 << 23) // (m * n))
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        values = np.empty((m, len(rows), n))
        for i, (matrix, factor) in enumerate(zip(family.matrices, family.factors, strict=True)):
            checkpoint()
            values[i] = factor * matrix.block(rows, slice(None))
        sums[:, rows] = values @ weight
        values *= root[rows][None, :, None] * root
        flat = values.reshape(m, -1)
        M += flat @ flat.T
    means = sums @ weight
    return np.asarray(M - (2.0 / total) * (sums * weight) @ sums.T + np.outer(means, means) / total**2)


def align_family(family: KernelFamily, Y: Array, weight: Array) -> Array:
    """Weights that align best, the largest one; all zero if no kernel goes with the targets."""
    centred = Y - (weight @ Y) / float(weight.sum())
    gains = family.prices(weight[:, None] * centred)
    M = inner_products(family, weight)
    scale = np.sqrt(np.maximum(np.diag(M), 0.0))
    used = scale > 1e-12 * float(scale.max(initial=0.0))
    weights = np.zeros(len(family))
    if used.any() and gains[used].max() > 0:
        unit = scale[used]
        found = nonnegative_minimum(
            M[np.ix_(used, used)] / np.outer(unit, unit), gains[used] / unit, 0.0 * unit
        )
        weights[used] = found / unit
    top = float(weights.max(initial=0.0))
    return weights / top if top > 0 else weights
