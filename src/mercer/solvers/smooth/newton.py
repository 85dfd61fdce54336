r"""Smooth losses with a squared-norm penalty, by Newton's method on coefficients.

Minimise over functions :math:`f_1, \dots, f_m` of a reproducing kernel Hilbert space and, with an intercept,
:math:`b \in \mathbb{R}^m`

.. math:: P = \sum_i w_i \, \ell(y_i, f(x_i) + b) + \tfrac\alpha2 \sum_c \|f_c\|^2 .

With :math:`f = K A` and the slopes :math:`G` of the loss, a solution has :math:`\alpha A + w G = 0`.  The
intercept is always the best one for :math:`f`, so that :math:`\sum_i w_i G_i = 0`.  Then
:math:`\bar A = -w G / \alpha` is feasible for the dual problem and, with the residual :math:`R = \alpha A + w
G`, the duality gap is

.. math:: P(A) - D(\bar A) = \tfrac{1}{2 \alpha} \mathrm{tr}(R^\top K R)
          = \tfrac\alpha2 \sum_c \| f_c - \bar f_c \|^2 :

no difference of large numbers, so that it says how good a solution is down to rounding.  It is at least
:math:`\frac\alpha2 \|f - f^*\|^2`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ... import memory
from ...engine.runs import STOPPING, Convergence, checkpoint, conclude
from ...engine.threads import few_threads
from ...gram import Gram
from ..losses import Root, SmoothLoss
from ..matrix import LazyMatrix, few_features, preconditioner_rank, sparse_features
from ..solution import Solution
from .curvature import Factors, Nystrom, Preconditioner, solve_step

__all__ = [
    "SmoothProblem",
    "SmoothValue",
    "best_intercept",
    "hold",
    "solve_smooth",
]

Array: TypeAlias = NDArray[np.float64]

#: Up to this many points the Newton system is solved by factoring it.
FACTORED = 256

#: Columns of K for the preconditioner: this many, or this part of the points.
LANDMARKS, LANDMARK_SHARE = 600, 0.25

#: Sufficient decrease, as a part of what the slope promises, and how often a step is halved.
DECREASE, HALVINGS = 1e-4, 60

#: So many steps that neither halve the gap nor lower the objective by this part are rounding.
PATIENCE, PROGRESS = 3, 1e-10


#: How the status of a stopped run begins.
STOPPED = "stopped because"

#: What there is to say where a solution is as good as numbers of this precision can make it.
ROUNDED = "this is rounding; scale the data, raise alpha or tol"


class SmoothProblem(NamedTuple):
    """What is minimised: targets and predictions are of shape (n, m), weights of shape (n,)."""

    loss: SmoothLoss
    targets: Array
    weight: Array
    intercept: bool

    def value(self, F: Array) -> float:
        """The weighted sum of losses; infinite where it overflows."""
        total = float(self.weight @ self.loss.value(self.targets, F))
        return total if np.isfinite(total) else np.inf

    def slopes(self, F: Array) -> Array:
        """Weighted slopes of the loss."""
        return self.weight[:, None] * self.loss.gradient(self.targets, F)

    def root(self, F: Array) -> Root:
        """A root of the weighted curvature."""
        return self.loss.root(self.targets, F).weighted(self.weight)


class SmoothValue(NamedTuple):
    """Coefficients (n, m), intercepts (m,), and the predictions (n, m) of the points."""

    coefficients: Array
    intercepts: Array
    predictions: Array


def _stopped_by(error: BaseException) -> str:
    return f"{STOPPED} {conclude(error)}; raise time_budget, alpha or tol"


def hold(G: Gram) -> Array | None:
    """The matrix in double precision, if it may be held and pays; not to be written to."""
    lazy = LazyMatrix(G)
    if not memory.can_hold(8 * len(G) ** 2) or sparse_features(lazy) is not None:
        return None
    if few_features(lazy) is not None:
        return None
    return lazy.dense()


def solve_smooth(
    problem: SmoothProblem,
    G: Gram,
    alpha: float,
    *,
    held: Array | None = None,
    start: SmoothValue | None = None,
    tol: float = 1e-12,
    max_iter: int = 100,
    name: str = "Newton",
) -> Solution[SmoothValue]:
    """Minimise by Newton's method with a line search.

    Parameters
    ----------
    problem : SmoothProblem
    G : Gram
        Positive semidefinite.
    alpha : float
        Penalty, > 0.
    held : array of shape (n, n), optional
        The values of ``G`` where memory allows (:func:`hold`); otherwise only products are taken.
    start : SmoothValue, optional
        Coefficients and intercepts to start from.
    tol : float
        The duality gap to stop at, relative to the objective.
    max_iter : int
        Newton steps at most.

    Returns
    -------
    Solution
        ``gap`` is the duality gap, computed anew from the coefficients alone; ``converged`` says whether it
        is at most ``tol`` times the objective.
    """
    with Convergence(name, tol) as progress, few_threads(len(G)):
        return _Run(problem, G, alpha, held).solve(start, tol, max_iter, progress)


class _State(NamedTuple):
    """A point of the iteration: coefficients, K @ coefficients, intercepts, slopes, the objective."""

    A: Array
    KA: Array
    b: Array
    slopes: Array
    objective: float


class _Run:
    def __init__(self, problem: SmoothProblem, G: Gram, alpha: float, held: Array | None) -> None:
        self.problem, self.alpha, self.held = problem, alpha, held
        self.n, self.gram = len(G), G._in_double()
        self.products = 0
        self.features = self.gram._embedding() if held is None else None
        self.preconditioner = self._first_preconditioner()

    def product(self, V: Array) -> Array:
        self.products += 1
        checkpoint()
        return np.asarray(self.gram @ V if self.held is None else self.held @ V, dtype=np.float64)

    # -- preconditioners ------------------------------------------------------------------------
    def _first_preconditioner(self) -> Preconditioner:
        if self.held is not None and self.n <= FACTORED:
            return Factors(self.held)
        if isinstance(self.features, np.ndarray) and self.features.shape[1] <= LANDMARKS:
            return Nystrom(np.asarray(self.features, dtype=np.float64))
        count = min(self.n, LANDMARKS, max(FACTORED // 2, int(LANDMARK_SHARE * self.n)))
        features = sparse_features(LazyMatrix(self.gram))
        if features is not None:
            count = min(count, preconditioner_rank(features))
        chosen = np.sort(np.random.default_rng(0).choice(self.n, count, replace=False))
        everything = slice(0, self.n)
        columns = self.gram._values(everything, chosen) if self.held is None else self.held[:, chosen]
        return Nystrom.of_columns(np.asarray(columns, dtype=np.float64), chosen)

    # -- the iteration --------------------------------------------------------------------------
    def solve(
        self, start: SmoothValue | None, tol: float, max_iter: int, progress: Convergence
    ) -> Solution[SmoothValue]:
        """Iterate; judge the coefficients by what follows from them alone; if that is not enough, go on."""
        state, steps, gap = self._start(start), 0, np.inf
        while True:
            moved, taken, why, reached = self._iterate(state, tol, max_iter - steps, progress)
            steps += taken
            if why.startswith(STOPPED):
                return self._solution(moved, reached, steps, False, why)
            try:
                before, state = gap, self._at(moved.A, self.product(moved.A), moved.b)
                R = self.alpha * state.A + state.slopes
                gap = 0.5 / self.alpha * abs(float(np.vdot(R, self.product(R))))
            except STOPPING as error:
                return self._solution(moved, reached, steps, False, _stopped_by(error))
            if np.isfinite(state.objective) and gap <= tol * self._reference(state):
                return self._solution(state, gap, steps, True, "converged")
            if steps >= max_iter:
                why = f"stopped after max_iter={steps} Newton steps; raise max_iter or alpha"
            if why or not gap < 0.5 * before:
                why = why or f"the gap does not fall any further: {ROUNDED}"
                return self._solution(state, gap, steps, False, why)

    def _iterate(
        self, state: _State, tol: float, most: int, progress: Convergence
    ) -> tuple[_State, int, str, float]:
        """Newton steps until the gap is small.

        Returns the best state, the steps taken, why there are no more, and the gap that the steps have seen.
        """
        best, best_gap, step = state, np.inf, 0
        try:
            for best, best_gap, step, why in self._steps(state, tol, most):
                if why:
                    return best, step, why, best_gap
                progress.update(step, best_gap / self._reference(best))
        except STOPPING as error:
            return best, step, _stopped_by(error), best_gap
        return best, step, "", best_gap

    def _steps(self, state: _State, tol: float, most: int) -> Iterator[tuple[_State, float, int, str]]:
        """After each Newton step, the best state so far, its gap, and why there are no more steps, if so."""
        best, best_gap, lowest, stalled = state, np.inf, np.inf, 0
        # Residuals that Newton steps leave, relative to those before: the closer to the solution, the
        # smaller.
        loose, tight = 0.1, 1e-8
        for step in range(most + 1):
            residual = -(state.A + state.slopes / self.alpha)
            Kr = self.product(residual)
            gap = 0.5 * self.alpha * abs(float(np.vdot(residual, Kr)))
            falls = gap < 0.5 * best_gap or state.objective < lowest * (1 - PROGRESS)
            stalled, lowest = 0 if falls else stalled + 1, min(lowest, state.objective)
            if gap < best_gap:
                best, best_gap = state, gap
            yield best, best_gap, step, ""
            if gap <= tol * self._reference(state) or stalled > PATIENCE or step == most:
                return
            share = float(np.clip((gap / self._reference(state)) ** 0.5, tight, loose))
            moved = self._step(state, residual, Kr, share * (2 * self.alpha * gap) ** 0.5)
            if moved is None:
                yield best, best_gap, step, f"no step lowers the objective: {ROUNDED}"
                return
            state = moved

    def _reference(self, state: _State) -> float:
        """What the gap is measured by: the objective, unless that is itself rounding."""
        return max(state.objective, np.finfo(float).eps * float(self.problem.weight.sum()))

    def _start(self, start: SmoothValue | None) -> _State:
        m = self.problem.targets.shape[1]
        if start is None:
            zero = np.zeros((self.n, m))
            return self._at(zero, zero, np.zeros(m))
        A = start.coefficients.copy()
        return self._at(A, self.product(A), start.intercepts)

    def _at(self, A: Array, KA: Array, b: Array) -> _State:
        """The state at these coefficients, with the best intercepts."""
        b = best_intercept(self.problem, KA, b)
        F = KA + b
        objective = self.problem.value(F) + 0.5 * self.alpha * float(np.vdot(A, KA))
        return _State(A, KA, b, self.problem.slopes(F), objective)

    def _step(self, state: _State, residual: Array, Kr: Array, allowed: float) -> _State | None:
        """One Newton step; None if it does not lower the objective."""
        dA = self._direction(state, residual, Kr, allowed)
        KdA = self.product(dA)  # known from the parts of dA too, but these cancel where alpha is small
        slope = -self.alpha * float(np.vdot(Kr, dA))
        slack = 4 * np.finfo(float).eps * abs(state.objective)
        length = 1.0
        for _ in range(HALVINGS):
            trial = self._at(state.A + length * dA, state.KA + length * KdA, state.b)
            if trial.objective <= state.objective + DECREASE * length * min(slope, 0.0) + slack:
                return trial
            length *= 0.5
        return None

    def _direction(self, state: _State, residual: Array, Kr: Array, allowed: float) -> Array:
        """The Newton direction of the coefficients.

        The step has ``dA = residual - S u / alpha`` where ``M u = alpha S' (K residual + 1 db)``.
        """
        root = self.problem.root(state.KA + state.b)
        right = self.alpha * root.transposed_times(Kr)
        while True:
            # With a better preconditioner, and memory for it (a few matrices, one per function), a step takes
            # no more products than cost as much as a factor.
            need = (self.problem.targets.shape[1] + 3) * 8 * self.n**2
            can_factor = self.held is not None and not isinstance(self.preconditioner, Factors)
            can_factor = can_factor and need <= memory.memory_limit()
            solved = solve_step(
                self.product,
                root,
                self.alpha,
                right,
                self.preconditioner.at(root, self.alpha),
                constrained=self.problem.intercept,
                allowed=self.alpha * allowed,
                most=500 if not can_factor else max(60, int(0.05 * self.n)),
            )
            if solved.is_accurate or self.held is None or not can_factor:
                break
            self.preconditioner = Factors(self.held)
        return np.asarray(residual - root.times(solved.u) / self.alpha)

    def _solution(
        self, state: _State, gap: float, steps: int, converged: bool, status: str
    ) -> Solution[SmoothValue]:
        kind = "Cholesky" if isinstance(self.preconditioner, Factors) else "conjugate gradients"
        if self.features is not None:
            kind += f" on {self.features.shape[1]} known features"
        stats = {
            "iterations": steps,
            "products": self.products,
            "objective": state.objective,
            "method": f"Newton steps by {kind}",
        }
        value = SmoothValue(state.A, state.b, state.KA + state.b)
        return Solution(value, converged, status, gap, stats)


def best_intercept(problem: SmoothProblem, F: Array, b: Array, most: int = 100) -> Array:
    """The constants that are best added to predictions; zeros without an intercept.

    Newton's method with a multiple of the identity added to the curvature wherever a step does not bring the
    slope down, as where the loss is flat or linear.
    """
    if not problem.intercept:
        return np.zeros(F.shape[1])
    slope = problem.slopes(F + b).sum(axis=0)
    rounding = np.finfo(float).eps * float(np.abs(problem.slopes(F + b)).sum())
    damping = 0.0
    for _ in range(most):
        size = float(np.linalg.norm(slope))
        if size <= rounding:
            break
        S = problem.root(F + b).dense()
        H = np.einsum("icd,ied->ce", S, S)
        scale = float(np.trace(H)) or 1.0
        change = linalg.lstsq(H + damping * scale * np.eye(len(b)), slope, cond=1e-12, check_finite=False)[0]
        trial = b - change
        with np.errstate(over="ignore", invalid="ignore"):
            new = problem.slopes(F + trial).sum(axis=0)
        if float(np.linalg.norm(new)) < size:
            b, slope, damping = trial, new, damping / 10 if damping > 1e-6 else 0.0
        elif size <= 1e3 * rounding or damping > 1e12:
            break
        else:
            damping = max(10 * damping, 1e-4)
    return b - b.mean() if len(b) > 1 else b
