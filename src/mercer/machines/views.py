"""Views of paired points, as kernel canonical correlation analysis uses them."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ..domains import Data, Vectors, owned
from ..errors import InputError, ParameterError
from ..gram import Gram
from ..kernel import Kernel
from ..solvers import LowRank, Solution, Whitened
from .base import len_of

__all__ = [
    "View",
    "expansion",
    "pairwise_correlations",
    "refuse_interpolation",
    "require_equal_lengths",
    "validated",
]


class View(NamedTuple):
    """A view as it is trained on."""

    gram: Gram
    low_rank: Solution[LowRank]
    whitened: Whitened


def validated(kernel: Kernel, view: Any, name: str) -> Data:
    """Points of a view; one number per point is a vector of one feature."""
    if isinstance(kernel.domain, Vectors):
        if hasattr(view, "__array__"):
            view = np.asarray(view)
        elif isinstance(view, list | tuple) and all(isinstance(x, numbers.Real) for x in view):
            view = np.asarray(view, dtype=np.float64)
        if getattr(view, "ndim", None) == 1:
            view = view[:, None]
    return owned(kernel.domain.validate(view, name), view)


def require_equal_lengths(data: Sequence[Data]) -> None:
    """Raise unless all views have the same number of points."""
    lengths = [len_of(points) for points in data]
    if len(set(lengths)) > 1:
        raise InputError(
            "KernelCCA: views must have the same number of points, for they come in pairs. Found input "
            f"variables with inconsistent numbers of samples: {lengths}."
        )


def refuse_interpolation(views: Sequence[Whitened], n: int) -> None:
    """Raise if views without a penalty can fit anything on n points, so that correlations mean nothing."""
    free = [view.features.shape[1] for view in views if not view.is_penalized]
    if free and n > 1 and (max(free) >= n - 1 or sum(free) > n - 1):
        raise ParameterError(
            f"KernelCCA: with `alpha` zero, or next to zero, the functions of the views (ranks {free}) "
            f"correlate perfectly on {n} points, whatever the data. Give alpha > 0, such as 0.02, or fewer "
            "features."
        )


def expansion(low_rank: LowRank, W: np.ndarray) -> np.ndarray:
    """Coefficients of the pivots: a new point has the features ``k(z, pivots) L_P^-T``."""
    triangle = low_rank.factor[low_rank.pivots]
    return np.asarray(linalg.solve_triangular(triangle, W, lower=True, trans="T", check_finite=False))


def pairwise_correlations(centered: Sequence[np.ndarray], share: np.ndarray) -> np.ndarray:
    """Correlation of each component, its mean over pairs of views."""
    lengths = [np.sqrt(share @ S**2) for S in centered]
    units = [S / np.where(length > 0, length, 1.0) for S, length in zip(centered, lengths, strict=True)]
    pairs = [share @ (a * b) for i, a in enumerate(units) for b in units[:i]]
    return np.asarray(np.clip(np.mean(pairs, axis=0), -1.0, 1.0))
