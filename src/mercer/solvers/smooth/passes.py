r"""Smooth losses of a function of few features, by Newton's method with one pass over the rows per step.

.. math:: P(W, b) = \sum_i w_i \, \ell(y_i, W^\top z_i + b) + \tfrac\alpha2 \|W\|^2

A pass adds up the value, the gradient and the matrix of second derivatives at one point; nothing is held of
the rows.  A step that does not lower P enough is halved, which costs one more pass.  With the Newton
direction d and the gradient g, half of :math:`-g^\top d` estimates how far P is above its least value.

Cost of a pass: O(n p^2) for p = (features + 1) times functions; memory O(p^2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ... import memory
from ...engine.runs import STOPPING, checkpoint, conclude
from ..losses import SmoothLoss
from ..solution import Solution
from .newton import DECREASE, HALVINGS, PROGRESS, ROUNDED

__all__ = ["PassesProblem", "PassesValue", "Rows", "solve_by_passes"]

Array: TypeAlias = NDArray[np.float64]

#: A band of rows: features (m, r), targets (m, q), weights (m,).
Rows: TypeAlias = tuple[Array, Array, Array]


class PassesProblem(NamedTuple):
    """What is minimised; ``read(task)`` starts a pass over the rows."""

    read: Callable[[str], Iterator[Rows]]
    loss: SmoothLoss
    features: int
    functions: int
    alpha: float
    intercept: bool


class PassesValue(NamedTuple):
    """Weights of the features (r, q) and intercepts (q,)."""

    weights: Array
    intercepts: Array


class _Point(NamedTuple):
    """What a pass has found at the parameters (r + 1, q)."""

    theta: Array
    value: float
    gradient: Array
    curvature: Array  # (q p, q p), the parameters of one function after those of the other


def solve_by_passes(
    problem: PassesProblem,
    *,
    tol: float,
    max_iter: int,
    start: Array | None = None,
    after: Callable[[Array], None] | None = None,
) -> Solution[PassesValue]:
    """Minimise; the gap, relative to the objective, is at most ``tol``.

    ``start`` are parameters of shape (r + 1, q), the intercepts last; ``after`` is called with those that
    every step has reached.
    """
    size = (problem.features + 1) * problem.functions
    memory.require(
        3 * 8 * size**2, f"second derivatives in {size} parameters", "Use fewer features, or group classes."
    )
    theta = np.zeros((problem.features + 1, problem.functions)) if start is None else start
    best: _Point | None = None
    direction, slope, length, gap, last = theta, 0.0, 1.0, np.inf, np.inf
    passes, status = 0, f"stopped after {max_iter} passes; raise max_iter"
    try:
        while passes < max_iter:
            found = _pass(problem, theta, f"pass {passes + 1}, gap {gap:.1e}")
            passes += 1
            if best is not None:
                most = best.value + DECREASE * length * slope + PROGRESS * abs(best.value)
                if not found.value <= most and length > 0.5**HALVINGS:
                    length /= 2
                    theta = best.theta + length * direction
                    continue
            best, length = found, 1.0
            direction = _newton_direction(problem, best)
            slope = float((best.gradient * direction).sum())
            gap = -0.5 * slope / max(best.value, np.finfo(float).tiny)
            if after is not None:
                after(best.theta)
            if gap <= tol:
                status = "converged"
                break
            if gap <= PROGRESS and gap >= last / 2:
                status = ROUNDED
                break
            last = gap
            theta = best.theta + direction
    except STOPPING as error:
        if best is None:
            raise
        status = f"stopped because {conclude(error)}; raise time_budget, alpha or tol"
    assert best is not None
    converged = status == "converged"
    said = f"{status} in {passes} pass(es) to a relative gap of {gap:.1e}"
    return Solution(
        PassesValue(best.theta[:-1].copy(), best.theta[-1].copy()),
        converged,
        said,
        gap,
        {"iterations": passes, "method": "Newton steps on batches"},
    )


def _pass(problem: PassesProblem, theta: Array, task: str) -> _Point:
    p, q = theta.shape
    value, gradient = 0.5 * problem.alpha * float((theta[:-1] ** 2).sum()), np.zeros((p, q))
    gradient[:-1] = problem.alpha * theta[:-1]
    curvature = np.zeros((q, p, q, p))
    for F, targets, weight in problem.read(task):
        checkpoint()
        Z = np.hstack([F, np.full((len(F), 1), float(problem.intercept))])
        predictions = Z @ theta
        value += float(weight @ problem.loss.value(targets, predictions))
        gradient += Z.T @ (weight[:, None] * problem.loss.gradient(targets, predictions))
        root = problem.loss.root(targets, predictions).weighted(weight).dense()
        each = root @ root.transpose(0, 2, 1)  # (m, q, q)
        for c in range(q):
            for d in range(c, q):
                curvature[c, :, d] += Z.T @ (each[:, c, d, None] * Z)
    for c in range(q):
        for d in range(c):
            curvature[c, :, d] = curvature[d, :, c].T
    if not np.isfinite(value):
        value = np.inf
    return _Point(theta, value, gradient, curvature.reshape(q * p, q * p))


def _newton_direction(problem: PassesProblem, point: _Point) -> Array:
    p, q = point.theta.shape
    H = point.curvature.copy()
    own = np.arange(q * p)
    is_intercept = own % p == p - 1
    H[own, own] += np.where(is_intercept, 0.0, problem.alpha)
    # Without an intercept its parameters stay 0.  With one, a constant added to the scores of all classes
    # changes nothing: any positive number makes that direction regular, and the solution does not move in it.
    unit = max(float(np.trace(H)) / len(H), np.finfo(float).tiny)
    last = own[is_intercept]
    if not problem.intercept:
        H[last, last] = unit
    elif q > 1:
        H[np.ix_(last, last)] += unit
    H[own, own] += 4 * len(H) * np.finfo(float).eps * unit  # rounding of the sums
    factor = linalg.cho_factor(H, lower=True, overwrite_a=True)
    flat = linalg.cho_solve(factor, -point.gradient.T.ravel())
    return np.asarray(flat).reshape(q, p).T
