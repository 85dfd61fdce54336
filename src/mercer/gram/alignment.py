"""Kernel-target alignment."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..domains import check_numbers
from ..errors import InputError
from .base import Gram
from .indexing import all_of

__all__ = ["alignment"]


def alignment(K: Gram, y: Any, centered: bool) -> float:
    """Cosine of the matrices ``K`` and ``YY'``; one pass over bands of rows (two when centred)."""
    Y = targets(y, K.shape[0])
    if centered and len(Y):
        K, Y = K.center(), Y - Y.mean(axis=0)
    inner = squares = 0.0
    for rows in K._bands(progress=True):
        values = K._values(rows, all_of(K.shape[1])).astype(np.float64, copy=False)
        inner += float(np.vdot(values @ Y, Y[rows]))
        squares += float(np.vdot(values, values))
    norm = np.sqrt(squares) * float(np.linalg.norm(Y.T @ Y))  # |YY'|_F = |Y'Y|_F
    return inner / norm if norm > 0 else 0.0


def targets(y: Any, n: int, caller: str = "alignment") -> np.ndarray:
    """The columns ``Y`` of the target matrix ``YY'``; two classes are -1 and 1, more have a column each."""
    check_numbers(y, f"{caller}: `y`", dense=True)
    y = np.asarray(y)
    if y.ndim not in (1, 2) or len(y) != n:
        raise InputError(
            f"{caller}: `y` must have one entry or one row per point ({n}). Got shape {y.shape}."
        )
    numeric = y.dtype.kind in "biuf"
    if numeric and not np.isfinite(y).all():
        raise InputError(f"{caller}: `y` must be finite.")
    if y.ndim == 2:
        if not numeric:
            raise InputError(f"{caller}: a matrix `y` must hold numbers. Got type {y.dtype}.")
        return np.asarray(y, dtype=np.float64)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    if numeric:
        return np.asarray(y, dtype=np.float64)[:, None]
    return np.asarray(np.eye(len(classes))[codes])
