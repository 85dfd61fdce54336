r"""Weights of many kernels together with a machine: Newton's method on the weights.

.. math:: \min_{d \ge 0, \; \|d\|_p \le 1} J(d), \qquad
          J(d) = \max_A \; g(A) - \tfrac12 \sum_l d_l \operatorname{tr} A^\top K_l A

is the problem of SimpleMKL (Rakotomamonjy et al. 2008) for p = 1, and that of Kloft et al. (2011) for p > 1.
With :math:`\theta_l = d_l^p` the domain is the simplex for every p, and J is convex in theta, because J is
convex and falls in d, which is concave in theta.  Other sets of weights of this kind are a
:class:`~mercer.solvers.mixture.penalty.Penalty`, too.

Each step trains the machine, of :mod:`~mercer.solvers.mixture.inner`, for the present weights, which gives J
and its first two derivatives; minimises the quadratic model on the simplex; and goes there, or less far if J
has not fallen enough (Chapelle and Rakotomamonjy 2008).  Any coefficients A bound the minimum from below by

.. math:: g(A) - \tfrac12 \bigl\| (\operatorname{tr} A^\top K_l A)_l \bigr\|_q , \qquad 1/p + 1/q = 1 ,

and so do their multiples, so that every step has a duality gap.  With p = 1 and many kernels, or with a
hierarchy of them, the steps take place on a working set of kernels, which those that promise most join.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ...engine.runs import STOPPING
from ...engine.threads import few_threads
from ..matrix import Matrix
from ..solution import Solution
from ..watch import Watch
from .family import KernelFamily
from .inner import InnerMachine, Trained
from .penalty import Index, LpNorm, Penalty
from .problem import Array
from .simplex import simplex_minimum

__all__ = ["FamilyValue", "solve_weights", "train_weights"]

#: Up to this many points linear algebra runs on one thread.
SMALL = 2048

#: Steps shorten at most so often; a step is taken if J falls by this part of what its slope promises.
HALVINGS, ENOUGH = 12, 1e-4

#: The quadratic model has this part of its mean curvature added, and this factor more after a bad step.
DAMPING, MORE = 1e-9, 10.0

#: Weights that add up to one.
PLAIN = LpNorm(1.0)


class FamilyValue(NamedTuple):
    """Weights (m,) of the kernels, their point of the simplex, the machine and the combined kernel."""

    weights: Array
    theta: Array
    trained: Trained
    matrix: Matrix


def solve_weights(
    family: KernelFamily,
    machine: InnerMachine,
    watch: Watch,
    *,
    penalty: Penalty = PLAIN,
    tol: float = 1e-4,
    inner_tol: float = 1e-3,
    max_iter: int = 100,
) -> Solution[FamilyValue]:
    """Minimise over weights and machine.

    Parameters
    ----------
    family : KernelFamily
        Positive semidefinite matrices, none of them zero.
    machine : InnerMachine
    watch : Watch
        Receives the gap, and may stop the solver.
    penalty : Penalty
        The set of weights; by default they add up to one.
    tol : float
        The duality gap to stop at, relative to the objective.
    inner_tol : float
        The tolerance with which training begins; it is lowered where the gap asks for it.
    max_iter : int
        Newton steps at most.

    Returns
    -------
    Solution
        ``gap`` is the relative duality gap of all kernels, computed from the returned numbers alone.
    """
    with few_threads(family.size, SMALL):
        return _Run(family, machine, watch, penalty, tol, inner_tol, max_iter).solve()


def train_weights(
    family: KernelFamily,
    machine: InnerMachine,
    watch: Watch,
    weights: Array,
    *,
    p: float = 1.0,
    tol: float = 1e-4,
    inner_tol: float = 1e-3,
) -> Solution[FamilyValue]:
    """Train the machine with given weights of norm p; ``gap`` is that to the best weights.

    Converged is said of the machine alone: its own gap is then a tenth of ``tol`` at most.
    """
    with few_threads(family.size, SMALL):
        run = _Run(family, machine, watch, LpNorm(p), tol, inner_tol, 0)
        state = run._train(np.asarray(weights, dtype=np.float64) ** p, None)
        try:
            run._note(state)
        except STOPPING as error:
            watch.stop(error)
        return run.trained(state)


class _State(NamedTuple):
    """Weights theta on the simplex, and the machine that was trained with them."""

    theta: Array
    matrix: Matrix
    trained: Trained


class _Run:
    def __init__(
        self,
        family: KernelFamily,
        machine: InnerMachine,
        watch: Watch,
        penalty: Penalty,
        tol: float,
        inner_tol: float,
        max_iter: int,
    ) -> None:
        self.family, self.machine, self.watch, self.penalty = family, machine, watch, penalty
        self.tol, self.inner_tol, self.max_iter = tol, inner_tol, max_iter
        # The tolerance of training is lowered to this part of the first at most.
        self.least_tol = 1e-8 * inner_tol
        self.steps, self.damping, self.trainings = 0, DAMPING, 0
        self.gap = np.inf

    # -- the run ----------------------------------------------------------------------------------
    def solve(self) -> Solution[FamilyValue]:
        state = self.best = self._train(self.penalty.initial(len(self.family)), None)
        try:
            prices = self._note(state)
            working = self.penalty.first(prices)
            enough = self._enough(working)
            while not (self.gap <= self.tol or self.watch.reason or self.steps >= self.max_iter):
                state, known = self._descend(state, working, enough)
                prices = self._note(state, known)
                joining = self.penalty.joining(prices, state.theta, working)
                if not len(joining) and enough <= 0.5 * self.tol:
                    break
                working = np.union1d(working, joining)
                enough = self._enough(working) if len(joining) else 0.5 * self.tol
        except STOPPING as error:
            self.watch.stop(error)
        return self._solution()

    def _enough(self, working: Index) -> float:
        """The gap of a working set at which others are to join."""
        least = 0.5 * self.tol
        # Steps on a working set end at this part of the gap of all kernels: then others are to join.
        return least if len(working) == len(self.family) else max(least, 0.1 * self.gap)

    # -- the machine ------------------------------------------------------------------------------
    def _train(self, theta: Array, start: Trained | None) -> _State:
        """Train for weights, accurately enough for the gap that is asked for."""
        K = self.family.combine(self.penalty.weights(theta))
        self.trainings += 1
        while True:
            trained = self.machine.train(K, start, self.inner_tol)
            if self._is_enough(trained) or trained.reason or self.inner_tol <= self.least_tol:
                return _State(theta, K, trained)
            start, self.inner_tol = trained, 0.1 * self.inner_tol

    def _is_enough(self, trained: Trained) -> bool:
        lower = trained.lower(trained.quadratic)
        # The machine is trained until its own gap is below this part of the gap that is asked for.
        return trained.gap <= 0.1 * self.tol * max(abs(trained.upper), abs(lower))

    def _relative_gap(self, trained: Trained, prices: Array, theta: Array, penalty: Penalty) -> float:
        lower = trained.lower(penalty.dual(prices, theta))
        scale = max(abs(trained.upper), abs(lower))
        return max(trained.upper - lower, 0.0) / scale if scale > 0 else 0.0

    def _note(self, state: _State, prices: Array | None = None) -> Array:
        """Prices of all kernels; the state with the least gap of all kernels is stored."""
        if prices is None:
            prices = self.family.prices(state.trained.coefficients)
        gap = self._relative_gap(state.trained, prices, state.theta, self.penalty)
        if gap < self.gap:
            self.gap, self.best = gap, state
        if state.trained.reason and not self.watch.reason:
            self.watch.reason = state.trained.reason
        self.watch(self.steps, self.gap)
        return prices

    # -- steps ------------------------------------------------------------------------------------
    def _descend(self, state: _State, working: Index, enough: float) -> tuple[_State, Array | None]:
        """Newton steps on a working set, until its own gap is small; prices if those of all are known."""
        part, penalty, prices = self.family.select(working), self.penalty.select(working), None
        theta = self.penalty.restricted(state.theta, working)  # all weight on the working set
        if theta is not state.theta:
            state = self._train(theta, state.trained)
        while not self.watch.reason:
            images = part.images(state.trained.coefficients)
            prices = np.maximum(np.einsum("nc,lnc->l", state.trained.coefficients, images), 0.0)
            gap = self._relative_gap(state.trained, prices, state.theta[working], penalty)
            if part is self.family and gap < self.gap:
                self.gap, self.best = gap, state
            if gap <= enough or self.steps >= self.max_iter or self.watch(self.steps, gap):
                break
            self.steps += 1
            moved = self._step(state, working, penalty, images, prices, gap)
            if moved is None:
                break
            state, prices = moved, None
        return state, prices if part is self.family else None

    def _step(
        self, state: _State, working: Index, penalty: Penalty, images: Array, prices: Array, gap: float
    ) -> _State | None:
        """One Newton step with a line search; None where no step lowers J."""
        x = state.theta[working]
        H = self.machine.curvature(state.matrix, state.trained, images)
        slopes, H = penalty.model(x, -0.5 * prices, H)
        goal = self._goal(H, slopes, x, penalty.low(x))
        direction = goal - x
        # Weights keep their sum, so that what all slopes have in common counts for nothing but rounding.
        slope = float((slopes - slopes @ x) @ direction)
        if slope >= 0.0:
            return None
        length, before = 1.0, state.trained.upper
        for attempt in range(HALVINGS):
            theta = state.theta.copy()
            theta[working] = np.maximum(x + length * direction, 0.0)
            theta /= theta.sum()
            trial = self._train(theta, state.trained)
            fall = before - trial.trained.upper
            if trial.trained.reason:
                self.watch.reason = self.watch.reason or trial.trained.reason
                return trial if fall > 0 else None
            falls_enough = fall >= -ENOUGH * length * slope
            # Promises below this part of J are lost in its rounding: then the gap of the set has to fall.
            if not falls_enough and -slope <= 1e-8 * abs(before):
                prices = self.family.select(working).prices(trial.trained.coefficients)
                falls_enough = self._relative_gap(trial.trained, prices, theta[working], penalty) < gap
            if falls_enough:
                self.damping = max(self.damping / MORE, DAMPING) if attempt == 0 else self.damping * MORE
                return trial
            # The parabola through J, its slope and J at the trial has its minimum there.
            curve = 2.0 * (-fall - length * slope) / length**2
            length *= min(max(-slope / (curve * length) if curve > 0 else 0.5, 0.1), 0.5)
        return None

    def _goal(self, H: Array, slopes: Array, x: Array, low: Array) -> Array:
        """The minimum of the damped quadratic model."""
        steepest, curvature = float(np.abs(slopes).max()), float(np.trace(H)) / len(x)
        # A mean curvature below this part of the largest slope is rounding, and may be negative: J is linear
        # then.
        size = curvature if curvature > 1e-10 * steepest else steepest or 1.0
        while True:
            M = H + self.damping * size * np.eye(len(x))
            try:
                return simplex_minimum(M, slopes - M @ x, x, low)
            except linalg.LinAlgError:
                self.damping *= MORE

    # -- the result -------------------------------------------------------------------------------
    def trained(self, state: _State) -> Solution[FamilyValue]:
        """The machine of given weights."""
        is_enough, reason = self._is_enough(state.trained), self.watch.reason
        if is_enough:
            status = f"converged: the machine was trained; better weights gain {self.gap:.2g} at most"
        else:
            why = reason or "rounding leaves no better coefficients"
            status = f"stopped because {why}; the machine is trained to a gap of {state.trained.gap:.2g}"
        return self._stated(state, self.gap, is_enough, status)

    def _solution(self) -> Solution[FamilyValue]:
        state, gap = self._sparse() if self.gap <= self.tol else (self.best, self.gap)
        return self._stated(state, gap, gap <= self.tol, self._status(gap))

    def _stated(self, state: _State, gap: float, converged: bool, status: str) -> Solution[FamilyValue]:
        trained = state.trained
        lower = trained.upper - gap * abs(trained.upper)
        stats = {
            "objective": trained.upper,
            "bound": lower,
            "iterations": self.steps,
            "trainings": self.trainings,
            "stopped": bool(self.watch.reason),
            "reason": self.watch.reason,
            "seconds": self.watch.elapsed,
        }
        value = FamilyValue(self.penalty.weights(state.theta), state.theta, trained, state.matrix)
        return Solution(value, converged, status, gap, stats)

    def _sparse(self) -> tuple[_State, float]:
        """The best state, with weights below a share of the largest at zero if the gap allows it."""
        for share in (1e-2, 1e-3, 1e-4, 1e-6, 1e-9):
            theta = self.penalty.pruned(self.best.theta, share)
            if theta is self.best.theta or self.watch.reason:
                continue
            state = self._train(theta, self.best.trained)
            prices = self.family.prices(state.trained.coefficients)
            gap = self._relative_gap(state.trained, prices, theta, self.penalty)
            if gap <= self.tol and not state.trained.reason:
                return state, gap
        return self.best, self.gap

    def _status(self, gap: float) -> str:
        if gap <= self.tol:
            return f"converged: the duality gap is {gap:.2g} of the objective"
        why = self.watch.reason or "rounding leaves no better weights"
        if not self.watch.reason and self.steps >= self.max_iter:
            why = f"{self.steps} Newton steps are the limit (max_iter)"
        return f"stopped because {why}; the duality gap is {gap:.2g} of the objective, asked was {self.tol:g}"
