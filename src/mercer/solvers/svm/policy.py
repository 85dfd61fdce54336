"""Which method solves a :class:`BoxProblem`, and in which precision: all tuning constants of the solver.

Costs are counted in *visits*: one variable that one iteration of SMO reads.  They were fitted on two cores
to the times of SMO (working sets of 2,048 variables), of LAPACK's Cholesky factorization in single
precision and of the interior point method, on Gaussian kernels of 8,000 to 24,000 points with 10 to 50
features and on linear kernels of 2,000 to 20,000 points with 8 to 300 features; only their ratios matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ... import _native, memory
from ...engine.buffers import MOST_BYTES
from ..matrix import HeldMatrix, Matrix
from .problem import SINGLE_ROUNDING, BoxProblem, Vector

__all__ = [
    "DOUBLE_TOLERANCE",
    "SHARED_BYTES",
    "Costs",
    "are_batched",
    "are_refined",
    "cache_rows",
    "checks_left",
    "interior_comes_first",
    "is_cheap_to_refine",
    "iteration_limit",
    "pair_iterations",
    "row_dtype",
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

#: Iterations of SMO between two checks whether another method pays, and checks without progress before the
#: run counts as stalled: linear kernels on columns of scales 1e-4 to 1e4 had up to six of them on their
#: way.
ITERATIONS_BETWEEN, PATIENCE = 16_384, 10

# -- the cache of rows --------------------------------------------------------------------------
#: Rows of K in the cache, two working sets: with more of them, writing to new memory takes as long as
#: computing values again that cost at most this many operations (8,000 x 20 and 24,000 x 50).  For values
#: that cost more (sparse a9a, strings) the cache may be as large as the buffers that are kept for the next
#: fit.
CACHE_ROWS, CHEAP_VALUE = 4096, 160.0

#: Rows that a cache must hold at least.
LEAST_ROWS = 64

# -- the active set method ----------------------------------------------------------------------
#: Visits that a value of K costs, and multiplications of a Cholesky factorization that cost as much as a
#: visit, if three rounds are to be expected: there were 2 to 4 on 8,000 x 20 and magic04 with C from 10 to
#: 100.  Ten values of C on 8,000 x 20 took 1.3 times as long with half of these costs, and as long with twice
#: of them (AVX2, processor time).
VALUE_COST, FACTOR_RATE = 2.0, 25.0

#: Rounds before giving up, and the factor by which wrong variables must become fewer within two rounds.
MAX_ROUNDS, PROGRESS = 20, 0.75

#: Values of K up to which the result is refined to rounding: a few hundredths of a second.
REFINED_VALUES = 1 << 21

# -- the interior point method ------------------------------------------------------------------
#: Visits that 25 iterations (there were 13 to 40) cost per variable, and per variable and square of the rank.
INTERIOR_VARIABLE, INTERIOR_PRODUCT = 3000.0, 0.6

#: Where the rank is known, the method comes first up to this rank: with 300 features it was 4 times as fast
#: as SMO for C = 100 and half as fast for C = 0.01.  A rank that is not known is searched for up to here,
#: and up to four times as far the next time.
LOW_RANK = 320

#: Iterations before giving up, and the part of the way to the nearest bound that one goes at most (the usual
#: choice of textbooks).
INTERIOR_MAX_ITER, INTERIOR_STEP = 100, 0.995

#: The part of the trace of K that a factor of low rank may leave out: SMO corrects what that changes.
TRACE_LEFT_OUT = 1e-8


# -- coordinate descent -------------------------------------------------------------------------
#: Points from which known features, sparse and dense ones, go to coordinate descent, unless they are few
#: enough for the interior point method.  On n-grams of surnames it took 4 to 40 times less time than SMO
#: with 3,000 to 12,000 points.  Dense rows of unscaled columns are what it is slow on.
LINEAR_SIZE, LINEAR_SIZE_DENSE = 2000, 20_000

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
        """The active set method with this number of free variables."""
        return free**3 / 3 / FACTOR_RATE + VALUE_COST * free * (free + 2 * n)

    @staticmethod
    def interior_point(n: int, rank: int) -> float:
        """The interior point method."""
        return n * (INTERIOR_VARIABLE + INTERIOR_PRODUCT * rank**2)

    @staticmethod
    def low_rank(n: int, rank: int) -> float:
        """A pivoted Cholesky factor with this number of columns, after which SMO is known to be slow."""
        return n * rank**2 / 3


# -- choices ------------------------------------------------------------------------------------
def iteration_limit(max_iter: int, n: int) -> int:
    """The number of iterations that ``max_iter`` stands for."""
    return max(MAX_ITER, MAX_ITER_EACH * n) if max_iter < 0 else max_iter


def row_dtype(problem: BoxProblem, matrix: Matrix, diagonal: Vector, tol: float) -> np.dtype[Any]:
    """The precision of the rows of K: that of a matrix that is held, else single where ``tol`` allows it."""
    if isinstance(matrix, HeldMatrix):
        return matrix.whole.dtype
    single = matrix.size > SMALL and tol >= DOUBLE_TOLERANCE and not exceeds_single(problem, diagonal)
    return np.dtype(np.float32 if single else np.float64)


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


def cache_rows(matrix: Matrix, dtype: np.dtype[Any], cache_bytes: float | None) -> int:
    """Rows of K that the cache holds."""
    n, each = matrix.size, dtype.itemsize * matrix.size
    if cache_bytes is None:
        least = 0 if matrix.cost <= CHEAP_VALUE else MOST_BYTES
        cache_bytes = float(min(max(least, CACHE_ROWS * each), n * each))
        if not memory.allows(cache_bytes, 1 / 2):
            cache_bytes = memory.memory_limit() / 2
    return int(min(n, max(cache_bytes // each, LEAST_ROWS)))


def is_cheap_to_refine(problem: BoxProblem, beta: Vector) -> bool:
    """Whether the optimality system of the free variables costs little."""
    free = int(problem.is_free(beta).sum())
    return (free + 2) * problem.size <= REFINED_VALUES


def checks_left(before: float, now: float, tol: float) -> float:
    """How often the violation has to fall as it did between two checks until it is at most ``tol``."""
    if before == np.inf:
        return 0.0
    most = 64.0  # nothing is known that far ahead
    if not now < before:
        return most
    return min(math.log(max(now / tol, 1.0)) / math.log(before / now), most)


def interior_comes_first(n: int, rank: int) -> bool:
    """Whether problems of n variables whose K has a known rank go to the interior point method at once."""
    return n > SMALL and rank <= LOW_RANK and 2 * rank <= n


def linear_features(problem: BoxProblem, matrix: Matrix) -> Any:
    """The features for coordinate descent; None if they are not known or another method comes first."""
    n = problem.size
    if problem.constraint == "signed" or n < LINEAR_SIZE or matrix.is_held:
        return None
    features = matrix.features()
    if features is None or interior_comes_first(n, features.shape[1]):
        return None
    return features if sparse.issparse(features) or n >= LINEAR_SIZE_DENSE else None


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
