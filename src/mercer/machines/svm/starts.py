"""Feasible starting points: dual variables between their bounds with a given sum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["balanced", "fill_up", "grown", "scaled"]

Vector = NDArray[np.float64]


#: Variables within this fraction of their bound are at the bound: scaling them has rounded.
FULL = 1e-12


def fill_up(total: float, capacity: Vector) -> Vector:
    """Numbers between 0 and their capacities with a given sum, the first ones full."""
    before = np.concatenate([[0.0], np.cumsum(capacity)[:-1]])
    return np.asarray(np.clip(total - before, 0.0, capacity))


def scaled(alpha: Vector, total: float, capacity: Vector) -> Vector:
    """Numbers between 0 and their capacities with a given sum, about proportional to ``alpha >= 0``.

    What the capacities cut off goes to the other positive numbers; once these are full, to the zeros.
    """
    if not alpha.any():
        return fill_up(total, capacity)
    share = alpha / alpha.max()  # sums and quotients of tiny numbers would be inexact
    result = share * (total / float(share.sum()))
    result = np.where(result >= (1 - FULL) * capacity, capacity, result)
    slack = np.where(alpha > 0, capacity - result, 0.0)
    missing = total - float(result.sum())
    if missing > 0 and slack.any():
        result = result + slack * min(missing / float(slack.sum()), 1.0)
        missing = total - float(result.sum())
    return np.asarray(result + fill_up(max(missing, 0.0), np.where(alpha > 0, 0.0, capacity)))


def grown(beta: Vector, C: Vector) -> Vector:
    """A start for the bounds ``C`` from the solution for smaller bounds: variables at a bound stay there.

    These are the variables with the largest ``|beta_i| / C_i``, if there are several.  The free variables
    change in proportion to their distance from their bounds, so that the sum is zero.
    """
    if np.isinf(C).any():
        return balanced(beta)
    share = np.abs(beta) / C
    full = share >= (1 - FULL) * share.max(initial=0.0)
    result = np.where(full, np.sign(beta) * C, beta)
    excess = float(result.sum())
    free = ~full & (beta != 0)
    slack = np.where(free, np.where(beta * excess > 0, np.abs(beta), C - np.abs(beta)), 0.0)
    # free variables may move by this fraction of the distance to their bounds to keep the sum at zero
    if full.sum() < 2 or abs(excess) > 0.9 * float(slack.sum()):
        return balanced(beta)
    return balanced(result - excess * slack / max(float(slack.sum()), 1e-300))


def balanced(beta: Vector) -> Vector:
    """A point whose sum is zero, from one nearby: the side with the larger sum is scaled down.

    If the sum is zero up to rounding the point stays as it is, so that variables at a bound stay there.
    """
    up, down = float(beta[beta > 0].sum()), -float(beta[beta < 0].sum())
    least = min(up, down)
    if least == 0:
        return np.zeros_like(beta)
    if abs(up - down) <= len(beta) * np.finfo(float).eps * least:
        return beta
    return np.where(beta > 0, beta * (least / up), beta * (least / down))
