"""Which method solves a :class:`BoxProblem`, and in which precision: all tuning constants of the solver.

Costs are counted in *visits*: one variable that one iteration of SMO reads.  They were fitted on two cores
to the times of SMO (working sets of 2,048 variables), of LAPACK's Cholesky factorization in single
precision and of the interior point method, on Gaussian kernels of 8,000 to 24,000 points with 10 to 50
features and on linear kernels of 2,000 to 20,000 points with 8 to 300 features; only their ratios matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import _native
from .problem import SINGLE_ROUNDING, BoxProblem, Vector

__all__ = [
    "DOUBLE_TOLERANCE",
    "SHARED_BYTES",
    "Costs",
    "are_batched",
    "are_refined",
    "exceeds_single",
    "interior_comes_first",
    "iteration_limit",
    "pair_iterations",
    "shared_dtype",
]

# -- precision ----------------------------------------------------------------------------------
#: Problems up to this size hold all of K, in double precision: 8 MiB, which one second-level cache holds.
SMALL = 1024

#: Tolerances below this ask for rows in double precision: rows in single precision change the gradient by
#: about 1e-6 for C = 1 and 8,000 points, and every check in double precision that fails costs another one.
DOUBLE_TOLERANCE = 1e-5

#: Fraction of ``tol`` at which iterations on rows in single precision stop; rounding may use the rest.  With
#: 0.9, one in five checks in double precision failed on magic04; with 0.8, none.
SINGLE_SHARE = 0.8

# -- iterations ---------------------------------------------------------------------------------
#: Without ``max_iter``, the most iterations of SMO, and the most per variable.  Scaled data need far fewer:
#: a9a takes 14,000, letter 190,000 for its 325 problems.
MAX_ITER, MAX_ITER_EACH = 10_000_000, 1000

#: How often the gradient is computed anew in double precision before the rest counts as rounding.
MAX_CHECKS = 6

#: Iterations of SMO between two checks whether another method pays.
ITERATIONS_BETWEEN = 16_384

# -- the active set method ----------------------------------------------------------------------
#: Values of K up to which the result is refined to rounding: a few hundredths of a second.
REFINED_VALUES = 1 << 21

# -- the interior point method ------------------------------------------------------------------
#: Where the rank is known, the method comes first up to this rank: with 300 features it was 4 times as fast
#: as SMO for C = 100 and half as fast for C = 0.01.  A rank that is not known is searched for up to here,
#: and up to four times as far the next time.
LOW_RANK = 320

# -- coordinate descent -------------------------------------------------------------------------
#: Points from which known features go to coordinate descent, unless they are few enough for the interior
#: point method.  On n-grams of surnames it took 4 to 40 times less time than SMO with 3,000 to 12,000 points.
LINEAR_SIZE = 2000

# -- several classes ----------------------------------------------------------------------------
#: Bytes of a Gram matrix that several problems share in double precision, of the blocks of one batch of pairs
#: of classes, and of K for one pair.  The pairs of letter took the same time with 2^24 to 2^28, and ten times
#: as long one by one, without batches.
SHARED_BYTES = 1 << 26


class Costs:
    """Estimates of work, in visits."""

    @staticmethod
    def smo(iterations: float, n: int) -> float:
        """Iterations of SMO."""
        return iterations * min(n, _native.SET_SIZE)

    @staticmethod
    def active_set(free: float, n: int) -> float:
        """The active set method with this number of free variables.

        A value of K costs 2 visits, and 25 multiplications of a Cholesky factorization cost as much as one,
        if three rounds are to be expected: there were 2 to 4 on 8,000 x 20 and magic04 with C from 10 to 100.
        Ten values of C on 8,000 x 20 took 1.3 times as long with half of these costs, and as long with twice
        of them (AVX2, processor time).
        """
        return free**3 / 3 / 25.0 + 2.0 * free * (free + 2 * n)

    @staticmethod
    def interior_point(n: int, rank: int) -> float:
        """The interior point method: visits that 25 iterations (there were 13 to 40) cost per variable."""
        return n * (3000.0 + 0.6 * rank**2)

    @staticmethod
    def low_rank(n: int, rank: int) -> float:
        """A pivoted Cholesky factor with this number of columns, after which SMO is known to be slow."""
        return n * rank**2 / 3


# -- choices ------------------------------------------------------------------------------------
def iteration_limit(max_iter: int, n: int) -> int:
    """The number of iterations that ``max_iter`` stands for."""
    return max(MAX_ITER, MAX_ITER_EACH * n) if max_iter < 0 else max_iter


def exceeds_single(problem: BoxProblem, diagonal: Vector) -> bool:
    """Whether products of values of K leave the range of floats, or their rounding hides ``linear``."""
    largest = float(np.abs(diagonal).max(initial=0.0))
    if largest > 0 and not 1e-25 < largest < 1e25:
        return True
    capacity = np.maximum(problem.high, -problem.low)
    with np.errstate(over="ignore"):
        added = np.abs(diagonal) * np.where(np.isfinite(capacity), capacity, 0.0)
    scale = float(np.abs(problem.linear).max(initial=0.0))
    return scale > 0 and SINGLE_ROUNDING * float(added.max(initial=0.0)) > scale


def interior_comes_first(n: int, rank: int) -> bool:
    """Whether problems of n variables whose K has a known rank go to the interior point method at once."""
    return n > SMALL and rank <= LOW_RANK and 2 * rank <= n


def pair_iterations(rank: int) -> int:
    """Iterations of SMO after which the interior point method takes over one of many small problems."""
    return int(4 * Costs.interior_point(1, rank))


def shared_dtype(n: int, tol: float) -> np.dtype[Any]:
    """The precision of a matrix of n points that several problems share."""
    double = 8 * n * n <= SHARED_BYTES or tol < DOUBLE_TOLERANCE
    return np.dtype(np.float64 if double else np.float32)


def are_refined(sizes: Sequence[int]) -> bool:
    """Whether several problems with these numbers of points are refined: as if an eighth were free."""
    return sum(sizes) ** 2 <= 8 * REFINED_VALUES


def are_batched(sizes: Sequence[int]) -> bool:
    """Whether problems of pairs of classes are solved in batches: many points in all, few in each."""
    return not are_refined(sizes) and 4 * max(sizes) ** 2 <= SHARED_BYTES
