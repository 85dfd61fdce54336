r"""Functions on a graph: its slowest waves, and labels that spread along its edges.

With weights :math:`A`, degrees :math:`D` and :math:`S = D^{-1/2} A D^{-1/2}`:

- the **slowest waves** are the eigenvectors of :math:`I - S` of least eigenvalue;
- the **harmonic function** has given values at some points and at every other the weighted mean of its
  neighbours' values: :math:`(D_{uu} - A_{uu}) f_u = A_{ul} \, y_l`, the minimiser of
  :math:`\tfrac12 \sum_{ij} A_{ij} (f_i - f_j)^2`;
- **local and global consistency** weighs smoothness against given values :math:`y` (0 where unknown):
  :math:`f = (1 - \alpha) (I - \alpha S)^{-1} y`, the minimiser of
  :math:`\alpha f^\top (I - S) f + (1 - \alpha) \|f - y\|^2`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy import linalg

from ... import memory
from ...engine.factorizations import cholesky, eigh
from ...engine.runs import tracked
from ...gram.spectrum import fix_signs
from ..solution import Solution
from .affinities import Affinity, Vector, components, degrees, inverse_roots

__all__ = ["Waves", "consistent", "harmonic", "slow_waves"]

#: Up to this size Lanczos iteration has no advantage over the dense solver.
DENSE_SIZE = 500

#: Conjugate gradients that take longer than this are left to the dense solver.
MOST_STEPS = 500

#: Largest bound on the relative error of a linear system that counts as solved.
SOLVED = 1e-6


class Waves(NamedTuple):
    """Eigenvectors of the normalised Laplacian.

    Attributes
    ----------
    values : array of shape (k,)
        Eigenvalues between 0 and 2, ascending.
    vectors : array of shape (n, k)
        Orthonormal columns, each with its largest entry positive.
    n_components : int
        Connected components of the graph: the multiplicity of the eigenvalue zero.
    component : array of shape (n,)
        The component of each point.
    """

    values: Vector
    vectors: NDArray[np.float64]
    n_components: int
    component: NDArray[np.intp]


def slow_waves(A: Affinity, k: int) -> Waves:
    """The ``k`` eigenvectors of the normalised Laplacian with the least eigenvalues.

    Each component is solved for itself, so that an eigenvalue that several share cannot be missed; the
    vector of eigenvalue 0 is known, the roots of the degrees.  A point without edges is a component.
    """
    count, component = components(A)
    n = A.shape[0]
    values, vectors = [], []
    for c in range(count):
        members = np.flatnonzero(component == c)
        own = A if count == 1 else A[members][:, members]
        part_values, part = _component_waves(own, min(k, len(members)))
        values.append(part_values)
        padded = np.zeros((n, part.shape[1])) if count > 1 else part
        if count > 1:
            padded[members] = part
        vectors.append(padded)
        if len(values) > 1:  # keep no more than are needed
            merged = np.concatenate(values)
            order = np.argsort(merged, kind="stable")[:k]
            values, vectors = [merged[order]], [np.hstack(vectors)[:, order]]
    return Waves(values[0], fix_signs(vectors[0]), count, component)


def _component_waves(A: Affinity, k: int) -> tuple[Vector, NDArray[np.float64]]:
    """Eigenpairs of one component, the known one first."""
    d = degrees(A)
    n = len(d)
    root = np.sqrt(d) if d.any() else np.ones(n)  # a single point may be without edges
    first = root / np.linalg.norm(root)
    if k == 1:
        return np.zeros(1), first[:, None]
    s = inverse_roots(d)
    by_root = scipy.sparse.diags_array(s)
    S = by_root @ A @ by_root if scipy.sparse.issparse(A) else _scaled(A, s)
    found = _lanczos(S, first, k - 1) if n > DENSE_SIZE and 4 * k < n else None
    if found is None:
        memory.require(3 * 8 * n * n, f"the eigenvectors of a graph of {n} points")
        dense = S.toarray() if scipy.sparse.issparse(S) else S
        dense = dense - 3.0 * np.outer(first, first)  # out of the way: eigenvalue 1 becomes -2
        found = eigh(dense, overwrite=True, subset=(n - k + 1, n - 1))
    order = np.argsort(-found[0], kind="stable")
    values = np.clip(1.0 - found[0][order], 0.0, 2.0)
    return np.concatenate([[0.0], values]), np.column_stack([first, found[1][:, order]])


def _scaled(A: Affinity, s: Vector) -> Any:
    S = A * s[:, None]
    S *= s
    return S


def _lanczos(S: Affinity, first: Vector, k: int) -> tuple[Vector, NDArray[np.float64]] | None:
    """Largest eigenpairs besides the known one, from a fixed start; None if they are not good enough."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    n = len(first)

    def product(v: Vector) -> Vector:
        v = v.reshape(n, -1)
        return np.asarray(S @ v - first[:, None] * (3.0 * (first @ v)))

    operator = LinearOperator((n, n), matvec=product, matmat=product, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    try:
        values, vectors = eigsh(operator, k=k, which="LA", v0=start, ncv=min(n, max(4 * k, 60)))
    except (ArpackError, np.linalg.LinAlgError):
        return None
    residual = np.abs(product(vectors) - vectors * values).max()
    overlap = np.abs(vectors.T @ vectors - np.eye(k)).max()
    return (values, vectors) if max(residual, overlap) <= 1e-10 else None


def harmonic(A: Affinity, known: NDArray[np.bool_], Y: NDArray[np.float64]) -> Solution[NDArray[np.float64]]:
    """The function with values ``Y`` at known points that is the mean of its neighbours elsewhere.

    Parameters
    ----------
    A : array or sparse matrix of shape (n, n)
        Symmetric weights >= 0.
    known : boolean array of shape (n,)
    Y : array of shape (n, t)
        Rows of unknown points are not used.

    Returns
    -------
    Solution
        Rows of points that no path links with a known one are NaN.  ``gap`` bounds the relative error.
    """
    _, component = components(A)
    reached = np.isin(component, np.unique(component[known])) & ~known
    F = np.where(known[:, None], Y, np.nan)
    if not reached.any():
        return Solution(F, True, "there is nothing to find", 0.0, {"reached": 0})
    rows = A[reached]
    s = inverse_roots(degrees(rows[:, known | reached]))
    inner = rows[:, reached]
    dense = (inner.toarray() if scipy.sparse.issparse(inner) else inner) * -s[:, None] * s
    dense[np.diag_indices_from(dense)] += 1.0
    right = s[:, None] * np.asarray(rows[:, known] @ Y[known])
    solution = _solve(dense, right, {"reached": int(reached.sum())})
    F[reached] = s[:, None] * solution.value
    return replace(solution, value=F)


def consistent(A: Affinity, Y: NDArray[np.float64], alpha: float) -> Solution[NDArray[np.float64]]:
    """The function ``(1 - alpha) (I - alpha S)^-1 Y`` with ``S`` the normalised weights.

    Parameters
    ----------
    A : array or sparse matrix of shape (n, n)
        Symmetric weights >= 0.
    Y : array of shape (n, t)
    alpha : float
        In [0, 1).

    Returns
    -------
    Solution
        ``gap`` bounds the relative error.
    """
    s = inverse_roots(degrees(A))[:, None]

    def product(F: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(F - alpha * (s * (A @ (s * F))))

    right = (1 - alpha) * Y
    F, steps = _conjugate_gradients(product, right)
    # The least eigenvalue of I - alpha S is at least 1 - alpha, its largest at most 1 + alpha.
    size = np.linalg.norm(F, axis=0)
    residual = np.linalg.norm(product(F) - right, axis=0) / np.where(size > 0, size, 1.0)
    error = float(residual.max(initial=0.0)) / (1 - alpha)
    if error > SOLVED:
        dense = (A.toarray() if scipy.sparse.issparse(A) else A) * (-alpha * s) * s.T
        dense[np.diag_indices_from(dense)] += 1.0
        return _solve(dense, right, {"iterations": steps})
    return Solution(F, True, "solved by conjugate gradients", error, {"iterations": steps})


def _conjugate_gradients(
    product: Callable[[NDArray[np.float64]], NDArray[np.float64]], right: NDArray[np.float64]
) -> tuple[NDArray[np.float64], int]:
    """Solve a positive definite system for all columns at once, until rounding is reached."""
    F, rest = np.zeros_like(right), right.copy()
    direction, power = rest.copy(), (rest**2).sum(axis=0)
    enough = (4 * np.finfo(np.float64).eps) ** 2 * power
    for step in tracked(range(MOST_STEPS), "conjugate gradients", "step"):
        active = power > enough
        if not active.any():
            return F, step
        moved = product(direction)
        length = np.where(active, power, 0.0) / np.where(active, (direction * moved).sum(axis=0), 1.0)
        F += length * direction
        rest -= length * moved
        new = (rest**2).sum(axis=0)
        direction = rest + np.where(active, new, 0.0) / np.where(active, power, 1.0) * direction
        power = np.where(active, new, power)
    return F, MOST_STEPS


def _solve(
    M: NDArray[np.float64], right: NDArray[np.float64], stats: dict[str, Any]
) -> Solution[NDArray[np.float64]]:
    """Solve a positive definite system with a unit diagonal.

    ``gap`` bounds the relative error: the residual, and no less than one rounding, times the condition.
    """
    norm = float(np.abs(M).sum(axis=0).max())
    try:
        factor = (cholesky(M.copy()), True)
    except linalg.LinAlgError:  # rounding has made it singular
        solved, rcond = linalg.lstsq(M, right, check_finite=False)[0], 0.0
    else:
        solved = linalg.cho_solve(factor, right, check_finite=False)
        solved += linalg.cho_solve(factor, right - M @ solved, check_finite=False)
        rcond = float(linalg.lapack.dpocon(factor[0], norm, uplo="L")[0])
    scale = norm * float(np.abs(solved).max(initial=0.0)) or 1.0
    residual = float(np.abs(M @ solved - right).max(initial=0.0)) / scale
    error = max(residual, float(np.finfo(np.float64).eps)) / max(rcond, 1e-300)
    status = "solved by Cholesky factorisation"
    if error > SOLVED:
        status = (
            f"the system is close to singular (error up to {error:.3g}): some points hold to the labelled "
            "ones by hardly measurable weights. Take a wider kernel"
        )
    stats = {**stats, "condition": 1 / max(rcond, 1e-300), "residual": residual}
    return Solution(np.asarray(solved), error <= SOLVED, status, error, stats)
