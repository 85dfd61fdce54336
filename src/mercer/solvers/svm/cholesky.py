"""Cholesky factors in single precision, for steps that correct themselves (``native/cholesky.hpp``).

The bits are the same for every number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _native
from ...engine.threads import num_threads

__all__ = ["Factor", "Single"]

BLOCK = _native.FACTOR_BLOCK

#: Rows that are solved one by one: packing the factor takes longer than reading it so often.
FEW_ROWS = 16

#: Multiplications and additions of one native call, so that Ctrl-C is seen, and threads that are free join.
CALL_OPERATIONS = 1e9

Single = NDArray[np.float32]


class Factor(NamedTuple):
    """A lower triangle ``L`` with ``L L' = A``; what is above the diagonal has no meaning."""

    lower: Single
    inverses: Single  # of the blocks on the diagonal, transposed

    @staticmethod
    def of(A: Single, shift: float) -> Factor | None:
        """Factor ``A + shift I``, in place; None if that is not positive definite.

        Examples
        --------
        >>> import numpy as np
        >>> factor = Factor.of(np.array([[4.0, 0.0], [2.0, 5.0]], dtype=np.float32), 0.0)
        >>> factor.backward(factor.forward(np.array([8.0, 7.0])))
        array([1.625, 0.75 ], dtype=float32)
        """
        n = len(A)
        A[np.arange(n), np.arange(n)] += np.float32(shift)
        inverses = np.empty((-(-n // BLOCK), BLOCK, BLOCK), dtype=np.float32)
        each = max(1, int(CALL_OPERATIONS / (BLOCK * n * n / 4)))
        for first in range(0, len(inverses), each):
            last = min(first + each, len(inverses))
            if not _native.eliminate(A, first, last, inverses, num_threads()):
                return None
        return Factor(A, inverses)

    def forward(self, x: NDArray[Any]) -> Single:
        """``L^-1 x``."""
        result = np.array(x, dtype=np.float32)
        self.solve_rows(result[np.newaxis])
        return result

    def backward(self, x: NDArray[Any]) -> Single:
        """``L^-T x``."""
        result = np.array(x, dtype=np.float32)
        _native.solve_backward(self.lower, self.inverses, result, num_threads())
        return result

    def solve_rows(self, rows: Single) -> None:
        """``rows L^-T``, in their place: ``L^-1 x`` for every row."""
        if len(rows) <= FEW_ROWS:
            _native.solve_forward(self.lower, self.inverses, rows, num_threads())
            return
        each = max(1, int(CALL_OPERATIONS / (len(self.lower) ** 2 / 2)))
        for first in range(0, len(rows), each):
            _native.solve_rows(self.lower, self.inverses, rows[first : first + each], num_threads())
