"""Solve a ranking problem: iterate to rounding, return the best state with its gap."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...engine.runs import STOPPING, Convergence, conclude
from ...engine.threads import few_threads
from ..solution import Solution
from .interior_point import interior_point_states
from .newton import newton_states
from .problem import RankingProblem, RankingValue

__all__ = ["solve_ranking"]

Array: TypeAlias = NDArray[np.float64]

#: So many steps in a row that lower the gap and the objective by less than these parts are rounding.
PATIENCE, GAP_PROGRESS, PROGRESS = 3, 0.05, 1e-10


def solve_ranking(
    problem: RankingProblem,
    alpha: float,
    *,
    start: Array | None = None,
    tol: float = 1e-8,
    max_iter: int = 100,
    name: str = "ranking",
) -> Solution[RankingValue]:
    r"""Minimise :math:`\sum_p w_p \ell(f(x_i) - f(x_j)) + \frac\alpha2 \|f\|^2`.

    Parameters
    ----------
    problem : RankingProblem
    alpha : float
        Penalty, > 0.
    start : array of shape (n,), optional
        Coefficients to begin with, for smooth losses.
    tol : float
        The duality gap to reach, relative to the objective; steps that still lower it are taken.
    max_iter : int
        Steps at most.

    Returns
    -------
    Solution
        ``gap`` is the duality gap, computed from the coefficients with the values of the kernel.
    """
    c = problem.pairs.weight / alpha
    # Parts of ``tol`` at which iterations end, of Newton's method and of the interior-point method:
    # predictions feel the root of the gap, and Newton's method squares it in a step.
    newton_inner, interior_inner = 1e-12, 1e-8
    is_smooth = problem.loss.is_smooth
    enough = tol * (newton_inner if is_smooth else interior_inner)
    best, lowest, steps, stalled, why = None, np.inf, 0, 0, ""
    states = newton_states(problem, c, start) if is_smooth else interior_point_states(problem, c)
    with Convergence(name, tol) as progress, few_threads(problem.pairs.size):
        _ = problem.factor  # an error here says that K is not positive semidefinite
        try:
            for steps, state in enumerate(states):
                falls = best is None or state.gap < (1.0 - GAP_PROGRESS) * best.gap
                stalled = 0 if falls or state.objective < (1.0 - PROGRESS) * lowest else stalled + 1
                lowest = min(lowest, state.objective)
                best = state if best is None or state.gap < best.gap else best
                progress.update(steps, best.gap / best.objective)
                if best.gap <= enough * best.objective or stalled >= PATIENCE:
                    break
                if steps >= max_iter:
                    why = f"stopped after max_iter={steps} steps; raise max_iter or alpha"
                    break
        except STOPPING as error:
            if best is None:
                raise
            why = f"stopped because {conclude(error)}; raise time_budget, alpha or tol"
        except linalg.LinAlgError:  # the numbers of an interior point have become too large and too small
            stalled = PATIENCE
    assert best is not None
    converged = bool(best.gap <= tol * best.objective)
    rounding = "the gap does not fall any further: this is rounding; scale the data, raise alpha or tol"
    stats = {
        "objective": alpha * best.objective,
        "iterations": steps,
        "pairs": len(problem.pairs.first),
        "method": "Newton steps" if is_smooth else "interior point",
    }
    status = "converged" if converged else why or rounding
    return Solution(best.value, converged, status, alpha * best.gap, stats)
