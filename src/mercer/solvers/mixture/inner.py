r"""The machine of a fixed kernel, inside the search for the weights of many.

A machine minimises :math:`\frac12 \|f\|^2 + \text{loss}` for the kernel :math:`K = \sum_l d_l K_l`.  Its dual
is :math:`\max_A g(A) - \frac12 \operatorname{tr} A^\top K A` with coefficients A of shape (n, c), a column
for each function.  The value J(d) of both is convex in d, with the derivatives

.. math:: \frac{\partial J}{\partial d_l} = -\tfrac12 \operatorname{tr} A^\top K_l A, \qquad
          \frac{\partial^2 J}{\partial d_l \partial d_k} = \sum_c (K_l a_c)^\top P_c \, (K_k a_c) ,

where :math:`P_c` is the inverse of K plus the curvature of the loss, on the coefficients that are not at a
bound and under the constraint of the intercept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ... import memory
from ...engine.lapack import interruptible
from ..matrix import Matrix
from ..solution import Solution
from ..svm import BoxProblem, BoxValue, solve_box
from .problem import Array

__all__ = ["BoxMachine", "BoxTask", "InnerMachine", "RidgeMachine", "Trained"]


class Trained(NamedTuple):
    """A machine that has been trained on one kernel.

    Attributes
    ----------
    coefficients : array of shape (n, c)
    upper : float
        An upper bound of J, the primal objective.
    rise, bend : float
        g along multiples of the coefficients is ``rise * t - bend / 2 * t^2``.
    quadratic : float
        tr(A' K A).
    most : float
        Multiples t of the coefficients up to this one are feasible; 0 if t = 1 alone is.
    reason : str
        Why training stopped early, if it did.
    detail : Any
        What the machine itself needs: solutions of its problems, intercepts.
    """

    coefficients: Array
    upper: float
    rise: float
    bend: float
    quadratic: float
    most: float
    reason: str
    detail: Any

    def lower(self, quadratic: float) -> float:
        """The dual objective at the best multiple of the coefficients, with this value of tr(A' K A)."""
        bend = self.bend + quadratic
        t = min(self.most, self.rise / bend) if self.most and bend > 0 else 1.0
        return t * (self.rise - 0.5 * t * bend)

    @property
    def gap(self) -> float:
        """Of the machine alone, for its kernel."""
        return max(self.upper - self.lower(self.quadratic), 0.0)


class InnerMachine(Protocol):
    """What the search for weights asks of a machine."""

    def train(self, K: Matrix, start: Trained | None, tol: float) -> Trained:
        """Train on a kernel, from an earlier solution; ``tol`` is the accuracy in the unit of the machine."""

    def curvature(self, K: Matrix, trained: Trained, images: Array) -> Array:
        """Second derivatives of J, of shape (m, m), from the images K_l A, of shape (m, n, c)."""


@dataclass(frozen=True, eq=False)
class BoxTask:
    """A problem of a support vector machine on some of the points, and a start if zero is not feasible."""

    index: NDArray[np.intp]
    problem: BoxProblem
    start: Array | None = None


@dataclass(frozen=True, eq=False)
class BoxMachine:
    """Support vector machines that share their kernel; J is the sum of their objectives."""

    tasks: Sequence[BoxTask]
    size: int
    name: str = "solver"
    options: dict[str, Any] = field(default_factory=dict)

    def train(self, K: Matrix, start: Trained | None, tol: float) -> Trained:
        """Solve each problem from its earlier solution."""
        A = np.zeros((self.size, len(self.tasks)))
        found: list[Solution[BoxValue]] = []
        upper = rise = quadratic = 0.0
        reason = ""
        for t, task in enumerate(self.tasks):
            part = K if len(task.index) == self.size else K.select(task.index)
            begin = task.start if start is None else start.detail[t].value.coefficients
            solution = solve_box(
                task.problem, part, start=begin, tol=tol, name=self.name, progress=False, **self.options
            )
            beta, grad, _ = solution.value
            square, objective = float(beta @ (grad - task.problem.linear)), solution.stats["objective"]
            upper, rise = upper - objective + solution.gap, rise - objective + 0.5 * square
            quadratic += square
            reason = reason or solution.stats["reason"]
            A[task.index, t] = beta
            found.append(solution)
        most = 0.0 if any(task.start is not None for task in self.tasks) else 1.0
        return Trained(A, upper, rise, 0.0, quadratic, most, reason, tuple(found))

    def curvature(self, K: Matrix, trained: Trained, images: Array) -> Array:
        """Sum over the problems, on their free variables."""
        H = np.zeros((len(images), len(images)))
        for t, task in enumerate(self.tasks):
            beta = trained.detail[t].value.coefficients
            free = np.flatnonzero(task.problem.is_free(beta))
            if len(free):
                points, kind = task.index[free], task.problem.constraint
                border = np.ones((len(free), int(kind == "sum")))  # gradients of the constraints
                if kind == "signed":
                    signs = np.column_stack([beta[free] > 0, beta[free] < 0]).astype(np.float64)
                    border = signs[:, signs.any(axis=0)]
                H += _reduced(K.block(points, points), images[:, points, t].T, border)
        return H


@dataclass(frozen=True, eq=False)
class RidgeMachine:
    r"""Least squares: :math:`\frac12 \|f\|^2 + \frac{1}{2\alpha} \sum_i w_i |y_i - f(x_i) - b|^2`."""

    targets: Array  # (n, c)
    alpha: float
    weight: Array  # (n,), positive
    intercept: bool = True

    def train(self, K: Matrix, start: Trained | None, tol: float) -> Trained:
        """Solve (K + alpha / w) A + b = Y by a Cholesky factor; the sums of A are zero with an intercept."""
        del start, tol
        Y, noise = self.targets, self.alpha / self.weight
        memory.require(16.0 * len(Y) ** 2, "the system of the ridge regression", "Take fewer points")
        values = K.copy()
        values[np.diag_indices(len(Y))] += noise
        factor = interruptible(linalg.cho_factor, values, overwrite_a=True, check_finite=False)
        border = np.ones((len(Y), int(self.intercept)))
        A, b = _bordered_solve(factor, Y, border)
        KA = K.product(A)
        errors = Y - KA - b
        quadratic = float((A * KA).sum())
        upper = 0.5 * quadratic + 0.5 * float((errors**2 / noise[:, None]).sum())
        rise, bend = float((Y * A).sum()), float((A**2 * noise[:, None]).sum())
        return Trained(A, upper, rise, bend, quadratic, np.inf, "", (factor, border, b))

    def curvature(self, K: Matrix, trained: Trained, images: Array) -> Array:
        """With the factor of the solution."""
        factor, border, _ = trained.detail
        right = images.transpose(1, 0, 2).reshape(len(self.targets), -1)
        solved, _ = _bordered_solve(factor, right, border)
        c = images.shape[2]
        solved = solved.reshape(len(self.targets), -1, c)
        return np.asarray(np.einsum("lnc,nkc->lk", images, solved, optimize=True))


def _bordered_solve(factor: Any, right: Array, border: Array) -> tuple[Array, Array]:
    """Solve ``M x + border b = right`` with ``border' x = 0``; of shape (n, c) and (c,)."""
    both = linalg.cho_solve(factor, np.hstack([right, border]), check_finite=False)
    x, response = both[:, : right.shape[1]], both[:, right.shape[1] :]
    if not border.shape[1]:
        return x, np.zeros(right.shape[1])
    b = np.linalg.solve(border.T @ response, border.T @ x)
    return x - response @ b, b.sum(axis=0)


def _reduced(K: Array, G: Array, border: Array) -> Array:
    """``G' P G`` with P the inverse of K on vectors that are orthogonal to the border."""
    M = np.array(K)
    # The system of the second derivatives has this part of its mean diagonal added: directions need few
    # digits.
    M[np.diag_indices(len(M))] += 1e-10 * float(np.trace(M)) / len(M) + 1e-300
    try:
        factor = linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:  # rounding: more points than dimensions
        M = np.array(K)
        M[np.diag_indices(len(M))] += 1e-6 * float(np.trace(M)) / len(M) + 1e-300
        factor = linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
    half = linalg.solve_triangular(factor[0], np.hstack([G, border]), lower=True, check_finite=False)
    inner, outer = half[:, : G.shape[1]], half[:, G.shape[1] :]
    if outer.shape[1]:
        basis = np.linalg.qr(outer)[0]
        inner = inner - basis @ (basis.T @ inner)
    return np.asarray(inner.T @ inner)
