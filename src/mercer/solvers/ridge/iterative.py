"""The ridge system by iteration: conjugate gradients on products with K."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ... import memory
from ...engine.runs import Convergence
from ..conjugate import conjugate_gradients
from ..matrix import preconditioner_rank, sparse_features
from ..snapshot import Snapshot
from .inverses import Nystrom
from .system import Found, RidgeSystem

__all__ = ["MOST_RESTARTS", "constrained", "iterate_until", "solve_iteratively"]

Array: TypeAlias = NDArray[np.float64]

#: How often conjugate gradients start anew because the residual, computed independently, disagrees.
MOST_RESTARTS = 3


def solve_iteratively(
    system: RidgeSystem,
    tol: float,
    max_iter: int,
    progress: bool,
    start: Array | None = None,
    snapshot: Snapshot | None = None,
) -> Found:
    """Conjugate gradients with a Nystrom preconditioner; K is never formed."""
    if not (system.alpha > 0).all():
        raise linalg.LinAlgError("conjugate gradients need alpha > 0: without a penalty they may never end")
    n, features = system.size, sparse_features(system.matrix)
    fits = memory.memory_limit() // (8 * n)
    rank = 8 * n**0.5  # a preconditioner that costs about as much as a few products with K
    if features is not None:
        rank = min(rank, preconditioner_rank(features))
    inverse = Nystrom(system.matrix, int(max(1, min(n, rank, fits))))
    with Convergence("conjugate gradients", tol, show=progress) as bar:
        C, reason, gap, count = iterate_until(
            system, inverse, tol, max_iter, bar.update, start=start, snapshot=snapshot
        )
    stats = {
        "method": "conjugate gradients",
        "iterations": count,
        "preconditioner_rank": inverse.rank,
        "condition": inverse.condition(system.alpha),
    }
    if gap <= tol:
        status = f"converged in {count} products to a relative residual of {gap:.2g}"
    else:
        why = {
            "max_iter": f"stopped after max_iter={max_iter} products",
            "tol": "rounding stopped the progress",
        }.get(reason, f"stopped because {reason},")
        status = (
            f"{why} at a relative residual of {gap:.2g} instead of tol={tol:g}. "
            "Raise alpha, max_iter or tol, or scale the data"
        )
    return Found(C, status, stats, gap)


def iterate_until(
    system: RidgeSystem,
    inverse: Any,
    tol: float,
    max_iter: int,
    progress: Any = None,
    *,
    enough: float | None = None,
    each: int | None = None,
    start: Array | None = None,
    snapshot: Snapshot | None = None,
) -> tuple[Array, str, float, int]:
    """Conjugate gradients until the residual, recomputed, is small: solution, reason, residual, products.

    The residual that the iteration carries along drifts away from the true one by rounding: it is aimed at
    ``tol``, the true one has to be at most ``enough``, and it is computed after ``each`` steps at the latest.
    ``start`` is where to begin, instead of the preconditioner's solution.
    """
    enough, each = enough or tol, each or max_iter
    solve = constrained(system, inverse)
    C = solve(system.right, np.arange(system.count)) if start is None else system.project(start)
    residual = system.residual(C)
    gap, count, reason = float(system.relative(residual).max(initial=0.0)), 1, "tol"
    if gap > 1.0:  # zero is a better start
        C, residual, gap = np.zeros_like(C), system.residual(np.zeros_like(C)), 1.0
    for _ in range(MOST_RESTARTS):
        if gap <= enough or count >= max_iter:
            break
        run = conjugate_gradients(
            system.operator,
            residual,
            solve,
            scale=np.where(system.scale > 0, system.scale, 1.0),
            tol=tol,
            max_iter=min(each, max_iter - count),
            progress=progress,
            keep=None if snapshot is None else partial(_keep, snapshot, C),
        )
        better = C + run.value
        if run.is_stopped:  # the residual that the iteration carries along takes no further time
            gap = float(system.relative(run.residual).max(initial=0.0))
            return better, run.reason, gap, count + run.products
        residual = system.residual(better)
        count, reason = count + run.products + 1, run.reason
        new = float(system.relative(residual).max(initial=0.0))
        if not new < gap:
            break
        C, gap, stalled = better, new, new > gap / 2
        if stalled:
            break
    return C, "max_iter" if count >= max_iter and gap > enough else reason, gap, count


def _keep(snapshot: Snapshot, start: Array, step: Array) -> None:
    snapshot.save(start + step)


def constrained(system: RidgeSystem, inverse: Any) -> Any:
    """The inverse on the space that an intercept leaves: ``M z + s v = r`` with ``s'z = 0``."""
    if not system.intercept:
        return lambda R, columns: inverse(R, system.alpha[columns])
    spread = np.repeat(system.unit[:, None], system.count, axis=1)
    along = inverse(spread, system.alpha)
    weight = system.unit @ along

    def solve(R: Array, columns: Any) -> Array:
        Z = inverse(R, system.alpha[columns])
        return np.asarray(system.project(Z - along[:, columns] * ((system.unit @ Z) / weight[columns])))

    return solve
