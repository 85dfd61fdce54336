"""Cholesky factors in single precision, for steps that correct themselves (``native/cholesky.hpp``).

The bits are the same for every number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _native
from ...engine.threads import num_threads, single_threaded_blas

__all__ = ["Factor", "Single"]

BLOCK = _native.FACTOR_BLOCK

#: Multiplications and additions of one native call, so that Ctrl-C is seen.
CALL_OPERATIONS = 8e9

#: Fewer right-hand sides than this are taken one by one, so that the factor is read where it is.
SOME = 8

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
        >>> factor.solve(np.array([[8.0, 7.0]]))
        array([[1.625, 0.75 ]], dtype=float32)
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

    def solve(self, rows: NDArray[Any]) -> Single:
        """``rows A^-1``: every row is a right-hand side."""
        return self.backward(self.forward(rows))

    def forward(self, rows: NDArray[Any]) -> Single:
        """``rows L^-T``."""
        result = np.array(rows, dtype=np.float32, order="C")
        if len(result) < SOME:
            for row in result:
                self._forward(row)
            return result
        each = max(1, int(CALL_OPERATIONS / (len(self.lower) ** 2 / 2)))
        for first in range(0, len(result), each):
            _native.solve_rows(self.lower, self.inverses, result[first : first + each], num_threads())
        return result

    def backward(self, rows: NDArray[Any]) -> Single:
        """``rows L^-1``."""
        result = np.array(rows, dtype=np.float32, order="C")
        for row in result:
            self._backward(row)
        return result

    def _forward(self, row: Single) -> None:
        with single_threaded_blas():
            for here, inverse in self._blocks():
                rest = row[here] - self.lower[here, : here.start] @ row[: here.start]
                row[here] = rest @ inverse

    def _backward(self, row: Single) -> None:
        with single_threaded_blas():
            for here, inverse in reversed(list(self._blocks())):
                rest = row[here] - row[here.stop :] @ self.lower[here.stop :, here]
                row[here] = inverse @ rest

    def _blocks(self) -> Iterator[tuple[slice, Single]]:
        for block, inverse in enumerate(self.inverses):
            here = slice(block * BLOCK, min((block + 1) * BLOCK, len(self.lower)))
            size = here.stop - here.start
            yield here, inverse[:size, :size]
