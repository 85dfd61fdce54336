r"""Ridge regression on features: a function :math:`f(x) = \langle \theta, \phi(x) \rangle + b` of r features.

.. math:: \min_{\theta, b} \; \sum_i w_i (y_i - \langle \theta, \phi(x_i) \rangle - b)^2 + \alpha |\theta|^2 ,
          \qquad (\Phi^\top W \Phi + \alpha I)\, \theta = \Phi^\top W y

(b is one more feature, without a penalty).  Conjugate gradients (Rudi, Carratino and Rosasco: Falkon) need
products with the matrix of features :math:`\Phi`, of which a band of rows is computed at a time, in double
precision; it is held only where it fits.  The matrix on the left, of the rows of a sample, is the
preconditioner: of all rows where features are few, so that one step solves the system.  Memory: O(r^2).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ... import memory
from ...domains import Data, size, take
from ...engine.runs import Convergence, tracked
from ...features import FeatureMap
from ...features.nystrom import LandmarkMap
from ..conjugate import conjugate_gradients
from ..snapshot import Snapshot, fingerprint
from ..solution import Solution

__all__ = ["FeatureRows", "NormalSystem", "RestrictedValue", "solve_normal", "solve_restricted"]

Array: TypeAlias = NDArray[np.float64]

#: Numbers of a band of features: 32 MiB.
BAND = 1 << 22

#: Up to this number of features the preconditioner is the matrix of all rows: n r^2 operations cost less than
#: the kernel values of some twenty iterations, of about 100 operations each.
FEW_FEATURES = 2000


class RestrictedValue(NamedTuple):
    """Weights of the features, of shape (r, t), and intercepts of shape (t,)."""

    weights: Array
    intercepts: Array


class FeatureRows:
    r"""The matrix :math:`\Phi = V L^{-\top}` of the features of some points, by bands of rows of V.

    Of landmarks, V holds kernel values and L is the factor of their own matrix; of other maps, V is
    :math:`\Phi` and there is no L.
    """

    def __init__(self, map: FeatureMap, points: Data) -> None:
        self.size, self.dim = size(points), map.dim
        self._map, self._points = map, points
        self._landmarks = map if isinstance(map, LandmarkMap) else None
        self._cross = None if self._landmarks is None else self._landmarks._gram._cross(points)
        self._held: Array | None = None
        if memory.can_hold(8 * self.size * self.dim):
            self._held = self._compute(slice(0, self.size))

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        height = max(1, BAND // max(1, self.dim))
        for start in tracked(range(0, self.size, height), "features", "band"):
            rows = slice(start, min(start + height, self.size))
            yield rows, self.values(rows)

    def values(self, rows: Any) -> Array:
        """Some rows of V."""
        return self._compute(rows) if self._held is None else self._held[rows]

    def _compute(self, rows: Any) -> Array:
        if self._cross is None:
            found = self._map.transform(take(self._points, rows))
            return np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=np.float64)
        count = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
        out = np.empty((count, self.dim))
        self._cross._fill(rows, out)
        return out

    def features(self, V: Array) -> Array:
        """Rows of the features from rows of V."""
        return self.pushed(V.T).T

    def pulled(self, weights: Array) -> Array:
        r""":math:`L^{-\top}` times columns: V times the result is :math:`\Phi` times the weights."""
        return self._solve(weights, 1)

    def pushed(self, columns: Array) -> Array:
        r""":math:`L^{-1}` times columns: from :math:`V^\top p` to :math:`\Phi^\top p`."""
        return self._solve(columns, 0)

    def _solve(self, columns: Array, trans: int) -> Array:
        if self._landmarks is None:
            return columns
        L = self._landmarks._matrix
        return np.asarray(linalg.solve_triangular(L, columns, lower=True, trans=trans, check_finite=False))


class NormalSystem(Protocol):
    """The normal equations of r features, with one more unknown for the intercept, without the penalty."""

    dim: int
    intercept: bool
    right: Array

    def product(self, T: Array) -> Array:
        """The matrix times columns."""

    def estimate(self) -> Array:
        """The matrix, from all rows or from a sample; the caller's own."""


class _Normal:
    """The normal equations by passes over the rows of features."""

    def __init__(self, rows: FeatureRows, Y: Array, weight: Array | None, intercept: bool) -> None:
        self.rows, self.Y, self.intercept = rows, Y, intercept
        self.weight = np.ones(rows.size) if weight is None else weight
        self.dim, self.count = rows.dim, rows.dim + intercept
        self.right = self._collect(lambda rows, V: self.Y[rows], Y.shape[1])

    def product(self, T: Array) -> Array:
        """The matrix without its penalty times columns."""
        U, b = self.rows.pulled(T[: self.rows.dim]), T[self.rows.dim :].sum(axis=0)
        return self._collect(lambda rows, V: V @ U + b, T.shape[1])

    def _collect(self, values: Any, columns: int) -> Array:
        """``Phi' W values``, and the sum of the weighted values for the intercept."""
        total, last = np.zeros((self.rows.dim, columns)), np.zeros((1, columns))
        for rows, V in self.rows:
            P = self.weight[rows, None] * values(rows, V)
            total += V.T @ P
            last += P.sum(axis=0)
        total = self.rows.pushed(total)
        return np.vstack([total, last]) if self.intercept else total

    def estimate(self, seed: int = 0) -> Array:
        """The matrix without its penalty, from all rows or from a sample."""
        n, r = self.rows.size, self.rows.dim
        wanted = n if r <= FEW_FEATURES else min(n, 4 * r)
        order = np.arange(n)
        if wanted < n:
            order = np.sort(np.random.RandomState(seed).permutation(n)[:wanted])
        A = np.zeros((self.count, self.count))
        height = max(1, BAND // max(1, r))
        for start in tracked(range(0, wanted, height), "preconditioner", "band"):
            some = order[start : start + height]
            root = np.sqrt(self.weight[some, None])
            F = root * self.rows.features(self.rows.values(some))
            F = np.hstack([F, root]) if self.intercept else F
            A += F.T @ F
        return A * (n / wanted)


def solve_restricted(
    rows: FeatureRows,
    Y: Array,
    alpha: float,
    weight: Array | None = None,
    intercept: bool = False,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    progress: bool = False,
    checkpoint: str | PathLike[str] | None = None,
) -> Solution[RestrictedValue]:
    """Solve ridge regression on features.

    Parameters
    ----------
    rows : FeatureRows
    Y : array of shape (n, t)
    alpha : float
        Penalty, > 0.
    weight : array of shape (n,), optional
    intercept : bool
    tol : float
        Relative residual of the preconditioned normal equations.
    max_iter : int
        Most passes over the features.
    progress : bool
    checkpoint : path, optional
        As of :func:`solve_ridge`.

    Returns
    -------
    Solution
        ``gap`` is the residual, computed anew.
    """
    r = rows.dim
    memory.require(3 * 8 * (r + 1) ** 2, f"the normal equations of {r} features", "Use fewer features.")
    began = time.perf_counter()
    system = _Normal(rows, Y, weight, intercept)
    found = solve_normal(system, alpha, tol=tol, max_iter=max_iter, progress=progress, checkpoint=checkpoint)
    more = {"held": rows._held is not None, "seconds": time.perf_counter() - began}
    return replace(found, stats={**found.stats, **more})


def solve_normal(
    system: NormalSystem,
    alpha: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    progress: bool = False,
    checkpoint: str | PathLike[str] | None = None,
) -> Solution[RestrictedValue]:
    """Solve normal equations by conjugate gradients, preconditioned by an estimate of their matrix.

    Parameters and result are those of :func:`solve_restricted`.
    """
    began = time.perf_counter()
    r, intercept = system.dim, system.intercept
    penalty = np.full((r + intercept, 1), alpha)
    penalty[r:] = 0.0
    A = system.estimate()
    A[np.diag_indices(len(A))] += penalty[:, 0] + 16 * np.finfo(np.float64).eps * np.diagonal(A).max()
    R = linalg.cholesky(A, overwrite_a=True, check_finite=False)

    def solved(T: Array, trans: int = 0) -> Array:
        return np.asarray(linalg.solve_triangular(R, T, trans=trans, check_finite=False))

    def operator(T: Array, columns: Any = None) -> Array:
        theta = solved(T)
        return solved(system.product(theta) + penalty * theta, 1)

    right = solved(system.right, 1)
    scale = np.linalg.norm(right, axis=0)
    scale[scale == 0] = 1.0
    snapshot, T = None, np.zeros_like(right)
    if checkpoint is not None:
        snapshot = Snapshot(checkpoint, fingerprint(np.diagonal(R), system.right, f"{alpha!r} {intercept}"))
        stored = snapshot.load()
        T = T if stored is None else stored
    count, reason = 0, "tol"

    def keep(step: Array) -> None:
        if snapshot is not None:
            snapshot.save(T + step)

    residual = right - operator(T) if T.any() else right
    with Convergence("ridge regression on features", tol, show=progress) as bar:
        while count < max_iter:
            run = conjugate_gradients(
                operator,
                residual,
                lambda V, columns: V,
                scale=scale,
                tol=tol / 2,  # the other half is left to rounding in the residual that is carried along
                max_iter=max_iter - count,
                progress=bar.update,
                keep=keep,
            )
            T, before = T + run.value, float((np.linalg.norm(residual, axis=0) / scale).max())
            count, reason = count + run.products, run.reason
            residual = run.residual if run.is_stopped else right - operator(T)
            gap = float((np.linalg.norm(residual, axis=0) / scale).max())
            if gap <= tol or run.is_stopped or gap > before / 2:
                break
    if snapshot is not None:
        if gap <= tol:
            snapshot.remove()
        else:
            snapshot.save(T, now=True)
    theta = solved(T)
    b = theta[r:].sum(axis=0)
    status = f"converged in {count} pass(es) to a relative residual of {gap:.2g}"
    if gap > tol:
        why = {"max_iter": f"max_iter={max_iter} was reached", "tol": "of rounding"}.get(reason, reason)
        status = f"stopped because {why}, at a relative residual of {gap:.2g} instead of tol={tol:g}"
    stats = {
        "method": "conjugate gradients on features",
        "iterations": count,
        "features": r,
        "residual": gap,
        "seconds": time.perf_counter() - began,
    }
    return Solution(RestrictedValue(theta[:r], b), gap <= tol, status, gap, stats)
