"""When a problem is solved by an interior point method: K has a low rank, and that is known or found out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg, sparse

from ... import memory
from ...engine.threads import single_threaded_blas
from ..incomplete import incomplete_cholesky
from ..matrix import Matrix
from .interior import Matrix as Array
from .interior import interior_point, interior_seconds
from .precision import SMALL
from .problem import BoxProblem, Vector

__all__ = ["LowRank", "comes_first", "patient_steps"]

#: Where the rank is known, the method comes first on larger problems if it takes at most so many seconds for
#: each variable; otherwise after steps that took this part of its time.
AT_ONCE, PATIENCE = 2e-4, 0.5

#: Many small problems take steps for so many times as long at first; seconds of a step for each variable.
PATIENT, STEP_COST = 4.0, 2e-9

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


def patient_steps(rank: int) -> int:
    """Two-variable steps that take a few times as long as an interior point method, however many points."""
    return int(PATIENT * interior_seconds(1, rank) / STEP_COST)


class LowRank:
    """A factor of K with few columns, if there is one, for all problems with this matrix."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix
        self._found: Array | None = None
        self._next = FIRST_RANK  # rank to look for; zero: give up

    @property
    def is_known(self) -> bool:
        """Whether K is known to be the products of few features."""
        return self._features is not None

    def pays(self, seconds: float) -> bool:
        """Whether to use it now, after steps that took so many seconds."""
        n = self._matrix.size
        while self._rank is None:
            if not self._search(seconds):
                return False
        at_once = self.is_known and comes_first(n, self._rank)
        return at_once or PATIENCE * interior_seconds(n, self._rank) <= seconds

    def point(
        self, problem: BoxProblem, b: Vector, tol: float, is_stopped: Callable[[], bool]
    ) -> tuple[Vector | None, int]:
        """A point near the solution, if there is a factor, and the steps to it (:func:`interior_point`)."""
        factor = self._factor
        return (None, 0) if factor is None else interior_point(problem, factor, b, tol, is_stopped)

    @cached_property
    def _features(self) -> Any:
        """Those that are known, dense or sparse, if they are few."""
        features = self._matrix.features()
        return None if features is None or 2 * features.shape[1] > self._matrix.size else features

    @property
    def rank(self) -> int:
        """Columns of the factor, if there is one."""
        return self._rank or 0

    @property
    def _rank(self) -> int | None:
        known = self._found if self._features is None else self._features
        return None if known is None else int(known.shape[1])

    @property
    def _factor(self) -> Array | None:
        """If there is memory to work with it."""
        if self._rank is None or not memory.allows(48.0 * self._matrix.size * self._rank, 1 / 2):
            return None
        return self._found if self._features is None else self._known

    @cached_property
    def _known(self) -> Array | None:
        """The features that are known, in full."""
        features = self._features.toarray() if sparse.issparse(self._features) else self._features
        factor = np.ascontiguousarray(features, dtype=np.float64)
        return factor if np.isfinite(factor).all() else None

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
