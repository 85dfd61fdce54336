"""When a problem is solved by an interior point method: K has a low rank, and that is known or found out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy import linalg

from ... import memory
from ...engine.threads import single_threaded_blas
from ..incomplete import incomplete_cholesky
from ..matrices import SymmetricMatrix
from .interior import Matrix, interior_point, interior_seconds
from .precision import SMALL
from .problem import BoxProblem, Vector

__all__ = ["LowRank", "comes_first"]

#: Where the rank is known, the method comes first on larger problems if it takes at most so many seconds for
#: each variable; otherwise after steps that took this part of its time.
AT_ONCE, PATIENCE = 2e-4, 0.5

#: A rank that is not known may be so large at first, and so many times as large the next time.
FIRST_RANK, NEXT_RANK = 320, 4

#: Looking for it costs so many seconds for each multiplication, and is worth it after steps that took so many
#: times as long.
SEARCH_COST, SEARCH_PATIENCE = 1.5e-10, 4.0

#: The part of the trace that a factor may leave out: what it leads to is corrected by steps.  If this much is
#: left, more columns are not expected to help.
LEFT_OUT, HOPELESS = 1e-8, 0.5


def comes_first(n: int, rank: int) -> bool:
    """Whether problems of n variables with a K of this rank are solved without steps."""
    return n > SMALL and interior_seconds(n, rank) <= AT_ONCE * n and 2 * rank <= n


class LowRank:
    """A factor of K with few columns, if there is one, for all problems with this matrix."""

    def __init__(self, matrix: SymmetricMatrix) -> None:
        self._matrix = matrix
        self._found: Matrix | None = None
        self._next = FIRST_RANK  # rank to look for; zero: give up

    @property
    def is_known(self) -> bool:
        """Whether K is known to be the products of few features."""
        return self._known is not None

    def pays(self, seconds: float) -> bool:
        """Whether to use it now, after steps that took so many seconds."""
        n = self._matrix.size
        while self._factor is None:
            if not self._search(seconds):
                return False
        rank = self._factor.shape[1]
        at_once = self.is_known and comes_first(n, rank)
        return at_once or PATIENCE * interior_seconds(n, rank) <= seconds

    def point(
        self, problem: BoxProblem, b: Vector, tol: float, is_stopped: Callable[[], bool]
    ) -> tuple[Vector | None, int]:
        """A point near the solution, if there is a factor, and the steps to it (:func:`interior_point`)."""
        factor = self._factor
        if factor is None or not memory.allows(6.0 * factor.nbytes, 1 / 2):
            return None, 0
        return interior_point(problem, factor, b, tol, is_stopped)

    @property
    def _factor(self) -> Matrix | None:
        return self._found if self._known is None else self._known

    @cached_property
    def _known(self) -> Matrix | None:
        factor = self._matrix.factor(self._matrix.size // 2)
        return None if factor is None or not np.isfinite(factor).all() else factor

    def _search(self, seconds: float) -> bool:
        """Look for a factor, if that is worth it after so many seconds; whether it was."""
        matrix, most = self._matrix, min(self._next, self._matrix.size // 2)
        if not (matrix.is_held or np.isfinite(matrix.cost)):  # every value costs too much
            self._next = 0
            return False
        if most == 0 or seconds < SEARCH_PATIENCE * SEARCH_COST * matrix.size * most**2:
            return False
        self._next = NEXT_RANK * most if most == self._next else 0
        if not memory.allows(24.0 * matrix.size * most, 1 / 2):
            self._next = 0
            return False
        try:
            with single_threaded_blas():
                found = incomplete_cholesky(
                    lambda columns: matrix.block(columns, slice(None), np.float64).T,
                    matrix.diagonal(),
                    tol=LEFT_OUT,
                    max_rank=most,
                )
        except linalg.LinAlgError:  # K is indefinite
            self._next = 0
            return False
        if found.converged:
            self._found = found.value.factor
        elif found.gap > HOPELESS:
            self._next = 0
        return True
