r"""The linear system of kernel ridge regression.

Minimise over :math:`a \in \mathbb{R}^n` and, with an intercept, :math:`b \in \mathbb{R}`

.. math:: \sum_i w_i (y_i - (K a)_i - b)^2 + \alpha \, a^\top K a .

For :math:`\alpha = 0` the limit :math:`\alpha \to 0` is taken: of all minimisers of the squared error, the
one of least norm.  See :mod:`~mercer.solvers.ridge.system` for the system that results, and
:func:`solve_ridge` for the ways to solve it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ... import memory
from ...engine.factorizations import eigh
from ...gram import Gram
from ..matrix import few_features, sparse_features
from ..snapshot import Snapshot, fingerprint
from ..solution import Solution
from .blocks import solve_by_blocks
from .inverses import DoubleCholesky, FewFeatures, SingleCholesky
from .iterative import MOST_RESTARTS, constrained, iterate_until, solve_iteratively
from .reduction import BandReduction
from .system import Found, RidgeSystem, WeightedMatrix

__all__ = ["SOLVERS", "RidgeValue", "solve_ridge"]

Array: TypeAlias = NDArray[np.float64]
Method: TypeAlias = Literal["auto", "cholesky", "eigen", "cg", "askotch"]

SOLVERS = ("auto", "cholesky", "eigen", "cg", "askotch")

ITERATIVE = {"cg": solve_iteratively, "askotch": solve_by_blocks}

#: From this size on the factor is made in single precision first.
MIXED_SIZE = 1500

#: Relative residual that refinement in mixed precision aims at, and that it must reach.
EXACT, NEARLY_EXACT = 1e-12, 1e-10


class RidgeValue(NamedTuple):
    """Coefficients of shape (n, t) and intercepts of shape (t,)."""

    coefficients: np.ndarray
    intercepts: np.ndarray


def solve_ridge(
    K: np.ndarray | Gram,
    Y: np.ndarray,
    alpha: float | Sequence[float] | np.ndarray,
    weight: np.ndarray | None = None,
    intercept: bool = False,
    *,
    solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 500,
    progress: bool = False,
    start: np.ndarray | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Solution[RidgeValue]:
    """Solve the ridge system.

    Parameters
    ----------
    K : array or Gram matrix of shape (n, n)
        Symmetric; :math:`S K S + alpha I` must be positive semidefinite.  Not modified.
    Y : array of shape (n, t)
    alpha : float, or array of shape (t,)
        Penalty, >= 0, for all targets or one for each.
    weight : array of shape (n,), optional
        Positive weights.
    intercept : bool
        Whether to fit ``b``; otherwise it is zero.
    solver : {"auto", "cholesky", "eigen", "cg", "askotch"}
        ``"cholesky"``: a factor, from some size on in single precision with refinement by products in
        double, in double from the start if that does not converge (the status says so).  ``"eigen"``: all
        eigenvalues, which decide the rank.  ``"cg"``: conjugate gradients on products with K, which is
        never formed, preconditioned by randomly pivoted Cholesky.  ``"askotch"``: accelerated descent on
        blocks of n / 100 unknowns, usable after a fraction of a pass, for one penalty and without intercept:
        for a time budget that ends before conjugate gradients have begun.  ``"auto"``: the normal equations
        of the features where K holds inner products of few known ones, which the status says; else a factor
        while it fits into 2 GiB (and half of the memory limit), one orthogonal reduction for many different
        penalties, else conjugate gradients, and then the status says why.
    tol : float
        Relative residual at which conjugate gradients stop, and at most which a solution counts as converged;
        that of a factor in double precision may also be as small as rounding in the product with M allows.
    max_iter : int
        Most products of conjugate gradients.
    progress : bool
        Whether to show a bar while conjugate gradients run.
    start : array of shape (n, t), optional
        Coefficients from which conjugate gradients begin.
    checkpoint : path, optional
        A file in which conjugate gradients store the coefficients every ten seconds and at the end, if they
        stop early.  If it is there, they begin from it; once they have converged it is removed.

    Returns
    -------
    Solution
        ``gap`` is the largest relative residual of the linear system, recomputed in double precision.  Raises
        ``LinAlgError`` if the system is not positive semidefinite.
    """
    began = time.perf_counter()
    system = RidgeSystem(WeightedMatrix(K, weight), Y, alpha, intercept)
    found = _by_features(system) if solver == "auto" else None
    method = _choose(system) if solver == "auto" else solver
    if found is None and method in ITERATIVE:
        found = _resumed(ITERATIVE[method], system, tol, max_iter, progress, start, checkpoint)
        if solver == "auto":
            why = f"a factor would take {memory.format_bytes(4 * system.size**2)}"
            if sparse_features(system.matrix) is not None:
                why = "products with sparse features are cheap"
            found = found._replace(status=f"{found.status}; chosen because {why}")
    elif found is None:
        found = _reduce(system) if method == "reduction" else _by_penalty(system, method)
    C, gap = found.C, found.gap
    b = system.intercepts(C) if found.intercepts is None else found.intercepts
    stats = {**found.stats, "residual": gap, "seconds": time.perf_counter() - began}
    value = RidgeValue(system.root[:, None] * C, b)
    converged = gap <= tol or found.is_rounding
    return Solution(value, converged=converged, status=found.status, gap=gap, stats=stats)


def _choose(system: RidgeSystem) -> str:
    n, penalties = system.size, np.unique(system.alpha)
    large = not memory.can_hold(4 * n * n) or sparse_features(system.matrix) is not None
    if large and penalties.min(initial=np.inf) > 0:
        return "cg"
    # With more different penalties than this, one reduction of the matrix is cheaper than a factor for each.
    if len(penalties) > 6 and penalties[0] > 0:
        return "reduction"
    return "cholesky"


def _resumed(
    solve: Callable[..., Found],
    system: RidgeSystem,
    tol: float,
    max_iter: int,
    progress: bool,
    start: np.ndarray | None,
    checkpoint: str | PathLike[str] | None,
) -> Found:
    """An iteration from a start or a checkpoint."""
    C = None if start is None else np.asarray(start, dtype=np.float64) / system.root[:, None]
    if checkpoint is None:
        return solve(system, tol, max_iter, progress, C)
    few = np.linspace(0, system.size - 1, min(system.size, 16)).astype(np.intp)
    values = system.matrix.block(few, few)  # stand for the points and the kernel
    problem = fingerprint(values, system.right, system.root, system.alpha, str(system.intercept))
    snapshot = Snapshot(checkpoint, problem)
    stored = snapshot.load()
    found = solve(system, tol, max_iter, progress, C if stored is None else stored, snapshot)
    if found.gap <= tol:
        snapshot.remove()
    else:
        snapshot.save(found.C, now=True)
    resumed = {"resumed": stored is not None}
    return found._replace(stats={**found.stats, **resumed})


# -- direct ---------------------------------------------------------------------------------------
def _by_features(system: RidgeSystem) -> Found | None:
    """The normal equations of few known features; None where there are none, or rounding spoils them."""
    features = few_features(system.matrix) if system.alpha.min(initial=np.inf) > 0 else None
    if features is None:
        return None
    C, gaps, rounded, condition = np.empty((system.size, system.count)), [0.0], True, 1.0
    for penalty in np.unique(system.alpha):
        columns = np.flatnonzero(system.alpha == penalty)
        part = system.select(columns)
        try:
            inverse = FewFeatures(features, float(penalty))
        except (linalg.LinAlgError, ValueError):  # singular to rounding, or overflown
            return None
        C[:, columns], gap = _refined(part, inverse)
        is_rounding = _is_rounding(part, C[:, columns], gap, inverse.norm)
        if not (gap <= NEARLY_EXACT or is_rounding):
            return None
        gaps.append(gap)
        rounded, condition = rounded and is_rounding, max(condition, inverse.condition)
    r = features.shape[1]
    stats = {"method": "normal equations", "rank": r, "features": r, "condition": condition}
    status = f"solved by the normal equations of {r} known features"
    return Found(C, status, stats, max(gaps), is_rounding=rounded)


def _by_penalty(system: RidgeSystem, method: str) -> Found:
    """One factor (or none, where there is no penalty) for each different penalty."""
    C, b = np.empty((system.size, system.count)), np.empty(system.count)
    parts: list[Found] = []
    for penalty in np.unique(system.alpha):
        columns = np.flatnonzero(system.alpha == penalty)
        part = system.select(columns)
        found = _factor(part, float(penalty)) if penalty > 0 and method == "cholesky" else _least_norm(part)
        C[:, columns] = found.C
        b[columns] = part.intercepts(found.C) if found.intercepts is None else found.intercepts
        parts.append(found)
    worst = max(parts, key=lambda part: part.stats["condition"])
    status = "; ".join(dict.fromkeys(part.status for part in parts))
    gap = max(part.gap for part in parts)
    return Found(C, status, worst.stats, gap, b, all(part.is_rounding for part in parts))


def _factor(system: RidgeSystem, alpha: float) -> Found:
    """Cholesky: in single precision with refinement where that pays, else in double, else by eigenvalues."""
    note = ""
    if system.size >= MIXED_SIZE:
        found = _mixed(system, alpha)
        if found is not None:
            return found
        note = "; refinement in mixed precision did not converge"
    memory.require(
        8 * system.size**2, f"the Cholesky factor of {system.size} points", "Use solver='cg', which has none."
    )
    try:
        inverse = DoubleCholesky(system.matrix, alpha)
    except linalg.LinAlgError:
        found = _least_norm(system)
        return found._replace(status=f"{found.status}; the Cholesky factorisation broke down")
    C, gap = _refined(system, inverse)
    stats = {"method": "Cholesky", "rank": system.size, "condition": inverse.condition}
    status = f"solved by Cholesky factorisation in double precision{note}"
    return Found(C, status, stats, gap, is_rounding=_is_rounding(system, C, gap, inverse.norm))


def _is_rounding(system: RidgeSystem, C: Array, gap: float, norm: float) -> bool:
    """Whether a residual is what rounding leaves of a product with a matrix of this norm."""
    terms = norm * np.linalg.norm(C, axis=0) + system.scale
    # A residual of this size, relative to the numbers that it is a difference of, is rounding.
    return bool((gap * system.scale <= 1e-12 * terms).all())


def _mixed(system: RidgeSystem, alpha: float) -> Found | None:
    """A factor in single precision and conjugate gradients around it; None if that fails."""
    # Steps of refinement in mixed precision between two checks of the true residual.
    refinements = 8
    try:
        inverse = SingleCholesky(system.matrix, alpha)
        C, reason, gap, count = iterate_until(
            system, inverse, EXACT, MOST_RESTARTS * refinements, enough=NEARLY_EXACT, each=refinements
        )
    except linalg.LinAlgError:
        return None
    is_stopped = reason not in ("tol", "max_iter")
    if not gap <= NEARLY_EXACT and not is_stopped:
        return None
    stats = {
        "method": "Cholesky, mixed precision",
        "rank": system.size,
        "condition": inverse.condition,
        "refinements": count,
    }
    status = "solved by Cholesky factorisation in single precision, refined by products in double"
    if is_stopped:
        status = f"stopped because {reason}, after the factorisation in single precision"
    return Found(C, status, stats, gap)


def _refined(system: RidgeSystem, inverse: Any) -> tuple[Array, float]:
    """Solve with a factor in double precision, and once more for the residual if that helps."""
    solve = constrained(system, inverse)
    every = np.arange(system.count)
    C = solve(system.right, every)
    residual = system.residual(C)
    better = C + solve(residual, every)
    before, after = system.relative(residual).max(), system.relative(system.residual(better)).max()
    return (better, float(after)) if after < before else (C, float(before))


def _reduce(system: RidgeSystem) -> Found:
    """All penalties from one orthogonal reduction of the matrix."""
    memory.require(16 * system.size**2, f"the orthogonal reduction of {system.size} points")
    A = system.matrix.copy()
    reduction = BandReduction(A, system.root if system.intercept else None)
    coordinates = reduction.transposed @ system.right
    X = np.empty_like(coordinates)
    for penalty in np.unique(system.alpha):
        columns = np.flatnonzero(system.alpha == penalty)
        X[:, columns] = reduction.shifted(float(penalty)).solve(coordinates[:, columns])
    C = reduction.transposed.T @ X
    norm, least = reduction.norm, float(system.alpha.min())
    stats = {"method": "orthogonal reduction", "rank": system.size, "condition": (norm + least) / least}
    gap = float(system.relative(system.residual(C)).max(initial=0.0))
    status = "solved by one orthogonal reduction for all penalties"
    return Found(C, status, stats, gap, is_rounding=_is_rounding(system, C, gap, norm))


def _least_norm(system: RidgeSystem) -> Found:
    """Pseudo-inverse solution: the limit of vanishing penalty where the matrix is singular."""
    n, s = system.size, system.root
    memory.require(
        24 * n * n, f"the eigenvectors of {n} points", "Use solver='cholesky' or 'cg', and alpha > 0."
    )
    A = system.matrix.copy()
    alpha = float(system.alpha[0]) if system.count else 0.0
    A[np.diag_indices(n)] += alpha
    values, vectors = eigh(A, overwrite=True)
    cutoff = max(n, 16) * np.finfo(float).eps * float(np.abs(values).max(initial=0.0))
    if values.size and values[0] < -cutoff:
        raise linalg.LinAlgError(f"the system is indefinite: least eigenvalue {values[0] - alpha:.6g}")
    keep = values > cutoff
    right = np.column_stack([system.right, s])
    coordinates = vectors.T @ right
    solved = vectors[:, keep] @ (coordinates[keep] / values[keep, None])
    C, b = solved[:, :-1], np.zeros(system.count)
    if system.intercept:
        # where s has a component in the null space, that component alone decides b as alpha -> 0
        null = vectors[:, ~keep] @ coordinates[~keep]
        use = null if float(s @ null[:, -1]) > 1e-10 * float(s @ s) else solved
        shift = (s @ use[:, :-1]) / float(s @ use[:, -1])
        C, b = C - solved[:, -1:] * shift, system.means + shift
    rank = int(keep.sum())
    condition = float(values[keep].max() / values[keep].min()) if rank else 1.0
    stats = {"method": "eigenvalues", "rank": rank, "condition": condition}
    if rank == n:
        gap = float(system.relative(system.residual(C)).max(initial=0.0))
        rounding = _is_rounding(system, C, gap, float(values[-1]))
        return Found(C, "solved by eigenvalues", stats, gap, b, rounding)
    status = (
        f"the system is singular (rank {rank} of {n}): the least-norm solution is returned; "
        "give alpha > 0 for a unique one"
    )
    return Found(C, status, stats, _normal_residual(system, C, b, float(values[-1])), b)


def _normal_residual(system: RidgeSystem, C: Array, b: Array, largest: float) -> float:
    """How far least squares are from their optimum: the residual after another product with the matrix."""
    errors = system.root[:, None] * (system.targets - b) - system.matrix.product(C) - system.alpha * C
    size = np.linalg.norm(system.root[:, None] * system.targets, axis=0)
    length = np.linalg.norm(errors, axis=0)
    unit = np.divide(errors, length, out=np.zeros_like(errors), where=length > 0)  # products may overflow
    gradient = np.linalg.norm(system.matrix.product(unit) / max(largest, 1e-300), axis=0)
    shares = np.divide(length, size, out=np.zeros_like(size), where=size > 0)
    return float((gradient * shares).max(initial=0.0))
