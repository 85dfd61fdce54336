r"""Quadratic functions on a simplex, by a primal active-set method."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from .problem import Array

__all__ = ["simplex_minimum"]


def simplex_minimum(H: Array, g: Array, start: Array, low: Array) -> Array:
    r"""Minimise :math:`g^\top x + \frac12 x^\top H x` over :math:`\sum_i x_i = \sum_i s_i`, :math:`x \ge l`.

    From the feasible start s go to the minimum over the free variables (those above their bounds); variables
    that meet their bound on the way become fixed.  At such a minimum, the bound with the most negative
    multiplier becomes free, until there is none (Nocedal and Wright, algorithm 16.3).

    Parameters
    ----------
    H : array of shape (m, m)
        Positive definite on vectors that add up to zero.
    g, start, low : arrays of shape (m,)
    """
    x, free = np.maximum(start, low), start > low
    free[np.argmin(g + H @ x)] = True
    for _ in range(20 * len(g) + 20):
        step = _equality_step(H, g + H @ x, free)
        falls = step < 0
        reach = np.full(len(x), np.inf)
        reach[falls] = (low[falls] - x[falls]) / step[falls]
        length = min(1.0, float(reach.min(initial=np.inf)))
        x = np.maximum(x + length * step, low)
        if length < 1.0:
            blocked = reach <= length
            x[blocked], free = low[blocked], free & ~blocked
            if free.any():
                continue
        slopes = g + H @ x
        bias = float(slopes[free].mean()) if free.any() else float(slopes.max())
        excess = np.where(free, 0.0, slopes - bias)
        worst = int(np.argmin(excess))
        # Multipliers above minus this part of the largest slope are zero up to rounding.
        if excess[worst] >= -1e-12 * float(np.abs(slopes).max(initial=1e-300)):
            break
        free[worst] = True
    return x


def _equality_step(H: Array, slopes: Array, free: np.ndarray) -> Array:
    """To the minimum over the free variables whose sum does not change."""
    index = np.flatnonzero(free)
    step = np.zeros(len(slopes))
    if len(index) < 2:
        return step
    M = H[np.ix_(index, index)]
    # Where sums do not change, a multiple of the matrix of ones changes nothing; H may be singular along x.
    factor = linalg.cho_factor(M + float(np.trace(M)) / len(M), overwrite_a=True, check_finite=False)
    both = linalg.cho_solve(factor, np.column_stack([slopes[index], np.ones(len(index))]), check_finite=False)
    step[index] = -both[:, 0] + both[:, 1] * (both[:, 0].sum() / both[:, 1].sum())
    return step
