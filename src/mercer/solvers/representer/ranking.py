"""Losses of the differences of pairs, with any increasing function of the norm."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...gram import Gram
from ..ranking import MARGINS, Pairs, RankingProblem, solve_ranking
from .norms import Penalty
from .path import Found
from .solver import AS_GOOD_AS_ZERO, Fitted, RepresenterValue, Slopes, mixture

__all__ = ["RankingLoss"]

Array: TypeAlias = NDArray[np.float64]


class RankingLoss:
    """A loss of the differences of ordered pairs, a weighted sum over pairs.

    An intercept would cancel; it is zero.
    """

    unit, degree, floor = 1.0, 0, 0.0

    def __init__(self, margin: str, pairs: Pairs, G: Gram, *, tol: float, max_iter: int) -> None:
        self.problem, self.size = RankingProblem(pairs, MARGINS[margin], G), pairs.size
        self.tol, self.max_iter = tol, max_iter
        diagonal = np.abs(self.problem.matrix.diagonal())
        sums = diagonal[pairs.first] + diagonal[pairs.second]
        self.scale = float(pairs.weight @ sums) or 1.0
        self.rounding = float(np.finfo(float).eps * pairs.weight.sum()) / tol

    def fit(self, lam: float, start: Fitted | None) -> Fitted:
        """The minimiser with the penalty ``lam / 2`` times the squared norm."""
        solution = solve_ranking(
            self.problem,
            lam,
            start=None if start is None else start.value.coefficients,
            tol=self.tol,
            max_iter=self.max_iter,
            name="RepresenterMachine",
        )
        a, F, s = solution.value
        value = RepresenterValue(a, 0.0, math.sqrt(max(float(a @ F), 0.0)))
        c = self.problem.pairs.adjoint(self.problem.pairs.weight * s)
        slopes = Slopes(s, math.sqrt(max(float(c @ self.problem.product(c)), 0.0)))
        return Fitted(value, self.loss_of(F), F, slopes, solution, solution.gap)

    def loss_of(self, F: Array, norm: float = 0.0) -> float:
        """The loss of predictions."""
        pairs = self.problem.pairs
        return float(pairs.weight @ self.problem.loss.value(pairs.differences(F)))

    def between(self, first: Fitted, second: Fitted, norm: float) -> Fitted:
        """The mixture of two functions that has a norm between theirs."""
        return mixture(first, second, norm, self.problem.product, self.loss_of)

    def zero(self) -> Fitted:
        """The function zero, with the slopes of one that is as good as zero."""
        last = self.fit(AS_GOOD_AS_ZERO * self.scale, None)
        F = np.zeros(self.size)
        return replace(last, value=RepresenterValue(F, 0.0, 0.0), loss=self.loss_of(F), predictions=F)

    def gap(self, found: Found[Fitted], alpha: float, penalty: Penalty) -> float:
        """The duality gap; slopes are scaled down to what the penalty's derivative allows."""
        trial = found.trial
        assert trial.slopes is not None
        t, allowed = trial.norm, alpha * penalty.slope(trial.norm)
        s, size = trial.slopes
        s = s * min(1.0, allowed / size) if size > 0 else s
        conjugate = float(self.problem.pairs.weight @ self.problem.loss.conjugate(s))
        return max(trial.loss + conjugate + t * allowed, 0.0)
