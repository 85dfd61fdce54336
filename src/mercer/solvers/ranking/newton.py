r"""Newton's method for ranking with a smooth loss.

With the residual :math:`r = a + D^\top (c \, \ell'(m))`, zero at the solution, a step is
:math:`-(I + H K)^{-1} r`, H the Laplacian of the pairs with the weights :math:`c \, \ell''(m)`; it is halved
until the objective falls.  The gap is :math:`\frac12 r^\top K r`.  (Chapelle and Keerthi 2010, for linear
functions.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .problem import RankingProblem, RankingValue, State, System

__all__ = ["newton_states"]

Array: TypeAlias = NDArray[np.float64]

#: Sufficient decrease, as a part of what the slope promises, and how often a step is halved.
DECREASE, HALVINGS = 1e-4, 60


def newton_states(problem: RankingProblem, c: Array, start: Array | None) -> Iterator[State]:
    """States of the iteration, with their gaps; it ends where no step lowers the objective."""
    pairs, loss = problem.pairs, problem.loss
    a = np.zeros(pairs.size) if start is None else start
    F = problem.product(a)
    while True:
        m = pairs.differences(F)
        s = loss.slope(m)
        objective = float(c @ loss.value(m)) + 0.5 * float(a @ F)
        r = a + pairs.adjoint(c * s)
        Kr = problem.product(r)
        yield State(RankingValue(a, F, s), objective, 0.5 * max(float(r @ Kr), 0.0))
        da = -System(problem, c * loss.curvature(m)).solve(r)
        dF = problem.product(da)
        slope = min(float(Kr @ da), 0.0)
        slack = 4 * np.finfo(float).eps * objective
        for halving in range(HALVINGS):
            t = 0.5**halving
            a_new, F_new = a + t * da, F + t * dF
            with np.errstate(over="ignore", invalid="ignore"):  # a trial that is not finite is no decrease
                trial = float(c @ loss.value(pairs.differences(F_new))) + 0.5 * float(a_new @ F_new)
            if trial <= objective + DECREASE * t * slope + slack:
                break
        else:
            return
        a, F = a_new, problem.product(a_new)
