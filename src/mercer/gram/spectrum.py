"""Eigenvalues of symmetric Gram matrices."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import memory
from ..engine.factorizations import eigh
from ..engine.runs import Task, checkpoint
from ..errors import DefinitenessError, InputError, ParameterError
from .base import Gram

__all__ = [
    "effective_dimension",
    "eigenpairs",
    "fix_signs",
    "full_eigenpairs",
    "rounding_level",
]

#: Up to this size Lanczos iteration has no advantage over the dense solver.
DENSE_SIZE = 500


def eigenpairs(K: Gram, k: int | None, vectors: bool) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` largest eigenvalues (all, if None), descending, and their eigenvectors as columns."""
    n = K.shape[0]
    if k is None:
        return full_eigenpairs(K, vectors)
    whole: Any = k
    if isinstance(whole, bool) or not isinstance(whole, int | np.integer) or not 1 <= whole <= n:
        raise ParameterError(
            f"spectrum: `k` must be an integer from 1 to {n}, the number of points. Got {k!r}."
        )
    if n > DENSE_SIZE and 4 * k < n:
        found = _lanczos(K, int(k))
        if found is not None:
            return found
    values, columns = full_eigenpairs(K, vectors)
    return values[:k], columns[:, :k]


def full_eigenpairs(K: Gram, vectors: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvalues, descending, by the dense solver; eigenvectors with fixed signs (else no columns)."""
    n = K.shape[0]
    memory.require(
        (3 if vectors else 1) * 8 * n * n,
        f"the full spectrum of the {n} x {n} Gram matrix",
        "Ask for the k largest eigenvalues, spectrum(k), with a small k.",
    )
    A = finite(K.dense())
    if not vectors:
        return eigh(A, overwrite=True, vectors=False)[0][::-1], np.empty((n, 0))
    values, columns = eigh(A, overwrite=True)
    return values[::-1], fix_signs(columns[:, ::-1])


def _lanczos(K: Gram, k: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Implicitly restarted Lanczos from a fixed start; None if it fails or its answer is not one.

    ARPACK breaks down on matrices with few distinct eigenvalues (the identity), sometimes in silence:
    what it returns is believed only if the residuals and the orthogonality of the vectors are right.
    """
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    n = K.shape[0]
    held = finite(K.dense()) if memory.can_hold(8 * n * n) else None
    start = np.random.default_rng(0).standard_normal(n)
    with (
        Task("Lanczos", None, "product") as task,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")

        def product(v: np.ndarray) -> np.ndarray:
            task.update()
            checkpoint()
            return np.asarray(K._product(v) if held is None else held @ v)

        operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
        try:
            values, columns = eigsh(operator, k=k, which="LA", v0=start, ncv=min(n, max(2 * k + 1, 40)))
        except (ArpackError, np.linalg.LinAlgError):
            return None
    values, columns = values[::-1].astype(np.float64), columns[:, ::-1].astype(np.float64)
    residual = np.abs((K._product(columns) if held is None else held @ columns) - columns * values).max()
    overlap = np.abs(columns.T @ columns - np.eye(k)).max()
    eps = K._eps
    scale = float(np.abs(values).max(initial=0.0))
    if not (residual <= 1e3 * eps * scale and overlap <= 1e4 * eps):
        return None
    return values, fix_signs(columns)


def fix_signs(columns: np.ndarray) -> np.ndarray:
    """Turn each column so that its largest entry (the first of nearly equal ones) is positive."""
    if columns.size == 0:
        return columns
    size = np.abs(columns)
    lead = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
    return np.asarray(columns * np.where(columns[lead, np.arange(columns.shape[1])] < 0, -1.0, 1.0))


def rounding_level(n: int, eps: float, scale: float) -> float:
    """Size of eigenvalues that rounding alone can produce in an n-by-n matrix of norm ``scale``."""
    return max(n, 16) * eps * scale


def effective_dimension(K: Gram, alpha: float) -> float:
    """``trace(K (K + alpha I)^-1)``."""
    if not (np.isfinite(alpha) and alpha > 0):
        raise ParameterError(f"effective_dimension: `alpha` must be a positive number. Got {alpha!r}.")
    values, _ = full_eigenpairs(K, vectors=False)
    level = rounding_level(len(values), K._eps, float(np.abs(values).max(initial=0.0)))
    if values.size and values[-1] < -level:
        raise DefinitenessError(
            f"effective_dimension needs a positive semidefinite matrix. The least eigenvalue is "
            f"{values[-1]:.6g}. Repair the matrix first: K.repair('clip')."
        )
    values = np.maximum(values, 0.0)  # what is left below zero is rounding
    return float(np.sum(values / (values + alpha)))


def finite(A: np.ndarray) -> np.ndarray:
    """Return ``A`` as float64, or raise naming the first entry that is not finite."""
    if not np.isfinite(A).all():
        i, j = (int(v) for v in np.argwhere(~np.isfinite(A))[0])
        raise InputError(
            f"the Gram matrix must be finite. Got {A[i, j]} in row {i}, column {j}. Scale the data."
        )
    return A.astype(np.float64, copy=False)
