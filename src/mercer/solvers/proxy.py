r"""A support vector machine together with a positive semidefinite proxy of an indefinite matrix.

.. math::

    \max_\beta \; \min_{K \succeq 0} \; y^\top \beta - \tfrac12 \beta^\top K \beta
    + \rho \sum_{ij} w_i w_j (K_{ij} - S_{ij})^2

over the box and, with an intercept, the sum of support vector machines (Luss and d'Aspremont 2008).  With
:math:`\tilde S = W^{1/2} S W^{1/2}` and :math:`\tilde\beta = W^{-1/2} \beta` the weights are gone, and the
inner minimum is attained by the positive part of a matrix,

.. math:: \tilde K = A_+, \qquad A = \tilde S + \tfrac{1}{4\rho} \tilde\beta \tilde\beta^\top .

What is left is a concave function of :math:`\beta` with the gradient :math:`y - K \beta` and, in the
eigenvectors U of A with eigenvalues :math:`\lambda` and :math:`b = U^\top \tilde\beta`, the Hessian

.. math::

    -U \Big( \mathrm{diag}(\lambda_+) + \tfrac{1}{4\rho} \big( \mathrm{diag}(\Gamma b^2)
    + (b b^\top) \circ \Gamma \big) \Big) U^\top, \qquad
    \Gamma_{ij} = \frac{\lambda_{i+} - \lambda_{j+}}{\lambda_i - \lambda_j} .

Each step maximises the quadratic model, which is the problem of a support vector machine with the Hessian for
its matrix, and is halved until the function rises.  The duality gap of the support vector machine with the
proxy of :math:`\beta` is the gap of the whole: the proxy bounds the minimum over K from above.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..engine.factorizations import eigh
from ..engine.runs import STOPPING, Convergence, conclude, stop_reason
from ..engine.threads import few_threads
from .matrix import HeldMatrix
from .solution import Solution
from .svm import BoxProblem, Optimality, solve_box

__all__ = ["ProxyProblem", "ProxyValue", "Similarities", "solve_proxy"]

Array: TypeAlias = NDArray[np.float64]


class Similarities:
    """Similarities S of points with weights, and the eigenvectors of the weighted matrix."""

    def __init__(self, S: Array, weight: Array) -> None:
        self.root = np.sqrt(weight)
        self.scaled = S * np.outer(self.root, self.root)
        self.eigenpairs: tuple[Array, Array] = eigh(self.scaled)

    def moved(self, inner: Array, rho: float) -> tuple[Array, Array]:
        """Eigenvalues and eigenvectors of A."""
        if not inner.any():
            return self.eigenpairs
        values, vectors = eigh(self.scaled + np.outer(inner, inner) / (4.0 * rho))
        return values, vectors

    def proxy(self, beta: Array, rho: float) -> Array:
        """The matrix K that belongs to beta."""
        values, vectors = self.moved(beta / self.root, rho)
        V = vectors / self.root[:, None]
        return np.asarray((V * np.maximum(values, 0.0)) @ V.T)


class ProxyProblem(NamedTuple):
    """Similarities, signs y, upper bounds of the dual variables, and the penalty."""

    similarities: Similarities
    signs: Array
    bounds: Array
    rho: float
    intercept: bool

    @property
    def box(self) -> BoxProblem:
        """The problem of the support vector machine; its matrix is the proxy."""
        low, high = np.minimum(self.signs, 0.0) * self.bounds, np.maximum(self.signs, 0.0) * self.bounds
        return BoxProblem(-self.signs, low, high, 0.0, "sum" if self.intercept else "free")


class ProxyValue(NamedTuple):
    """What the solver finds.

    Attributes
    ----------
    beta : array of shape (n,)
        Signed dual variables.
    intercept : float
    coefficients : array of shape (n,)
        Those of a new point's similarities: its part of the proxy is the projection of its similarities on
        the eigenvectors of A with positive eigenvalues.
    """

    beta: Array
    intercept: float
    coefficients: Array


class _Point:
    """A value of beta, with the eigenvectors of A."""

    def __init__(self, problem: ProxyProblem, beta: Array) -> None:
        self.root, self.rho = problem.similarities.root, problem.rho
        self.beta, self.inner = beta, beta / self.root
        self.values, self.vectors = problem.similarities.moved(self.inner, self.rho)
        self.b = self.vectors.T @ self.inner
        self.positive = np.maximum(self.values, 0.0)
        negative = self.positive - self.values
        self.f = (self.vectors @ (self.positive * self.b)) / self.root  # K beta
        length = float(self.inner @ self.inner)
        self.left_out = self.rho * float(negative @ negative)
        self.distance = length**2 / (16.0 * self.rho) + 0.5 * float(negative @ self.b**2) + self.left_out
        self.height = float(problem.signs @ beta) - 0.5 * float(beta @ self.f) + self.distance

    def hessian(self) -> Array:
        """Minus the second derivatives of the function of beta."""
        p, negative = self.positive, self.positive - self.values
        up, down = self.values > 0, self.values <= 0
        gamma = np.zeros((len(p), len(p)))
        gamma[np.ix_(up, up)] = 1.0
        mixed = p[up, None] / (p[up, None] + negative[None, down])
        gamma[np.ix_(up, down)], gamma[np.ix_(down, up)] = mixed, mixed.T
        M = np.outer(self.b, self.b) * gamma
        M[np.diag_indices_from(M)] += gamma @ self.b**2
        M /= 4.0 * self.rho
        M[np.diag_indices_from(M)] += p
        H = self.vectors @ M @ self.vectors.T / np.outer(self.root, self.root)
        return np.asarray(0.5 * (H + H.T))

    def coefficients(self) -> Array:
        """W^(1/2) P W^(-1/2) beta, where P projects on the eigenvectors with positive eigenvalues."""
        return np.asarray(self.root * (self.vectors @ np.where(self.values > 0, self.b, 0.0)))


def solve_proxy(
    problem: ProxyProblem, *, tol: float = 1e-6, max_iter: int = 100, name: str = "proxy"
) -> Solution[ProxyValue]:
    """Solve for beta and the proxy.

    Returns
    -------
    Solution
        ``gap`` is the duality gap; ``converged`` says that it is at most ``tol`` times the objective of the
        support vector machine.
    """
    box, n = problem.box, len(problem.signs)
    steps, why = 0, ""
    with Convergence(name, tol) as progress, few_threads(n):
        point = _Point(problem, np.zeros(n))
        state = box.optimality(point.beta, point.f - problem.signs)
        try:
            while not _is_enough(state, tol):
                if stop_reason():  # the quadratic problem has stopped at its best state
                    why = _stopped(stop_reason())
                    break
                if steps >= max_iter:
                    why = f"stopped after max_iter={steps} steps; raise max_iter, rho or tol"
                    break
                # The quadratic problems are solved to a violation relative to that of the whole problem.
                inner = max(1e-10, 1e-3 * min(1.0, state.violation))
                moved = _step(problem, point, inner, name)
                if moved is None:
                    why = "no step raises the objective: this is rounding; raise rho or tol, or lower C"
                    break
                point, steps = moved, steps + 1
                state = box.optimality(point.beta, point.f - problem.signs)
                progress.update(steps, state.gap / _scale(state))
        except STOPPING as error:
            why = _stopped(conclude(error))
    converged = _is_enough(state, tol)
    stats = {
        "iterations": steps,
        "objective": point.height,
        "distance": float(np.sqrt(point.distance / point.rho)),
        "negative_eigenvalues": int((point.values < 0).sum()),
    }
    intercept = state.multipliers[0] if state.multipliers else 0.0
    value = ProxyValue(point.beta, intercept, point.coefficients())
    return Solution(value, converged, "converged" if converged else why, state.gap, stats)


def _stopped(reason: str) -> str:
    return f"stopped because {reason}; raise time_budget or tol"


def _scale(state: Optimality) -> float:
    """The size of the objective of the support vector machine; at the start its dual objective is zero."""
    return abs(state.objective) + state.gap


def _is_enough(state: Optimality, tol: float) -> bool:
    return bool(state.gap <= tol * _scale(state))


def _step(problem: ProxyProblem, point: _Point, tol: float, name: str) -> _Point | None:
    """The maximum of the quadratic model, or as much of the way as raises the function."""
    H = point.hessian()
    slope = problem.signs - point.f
    model = problem.box
    model = BoxProblem(-(slope + H @ point.beta), model.low, model.high, 0.0, model.constraint)
    found = solve_box(model, HeldMatrix(H), start=point.beta, tol=tol, progress=False, name=name)
    step = found.value.coefficients - point.beta
    rise = float(slope @ step)
    slack = 1e-14 * (abs(point.height) + point.left_out)
    # Sufficient increase, as a part of what the slope promises, and how often a step is halved.
    increase, halvings = 1e-4, 40
    for halving in range(halvings):
        t = 0.5**halving
        trial = _Point(problem, point.beta + t * step)
        if trial.height >= point.height + increase * t * rise - slack:
            return trial
    return None
