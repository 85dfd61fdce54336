"""Cholesky factors in single precision, for steps that correct themselves.

The factorisation is cut into blocks whose products run side by side, in a way that depends on the size alone:
the bits are the same for every number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...engine.threads import num_threads, single_threaded_blas

__all__ = ["Factor"]

#: Rows and columns of a block.
BLOCK = 192


class Factor(NamedTuple):
    """A lower triangle ``L`` with ``L L' = A``; what is above the diagonal has no meaning."""

    lower: NDArray[np.float32]

    @staticmethod
    def of(A: NDArray[np.float32], shift: float) -> Factor | None:
        """Factor ``A + shift I``, in place; None if that is not positive definite.

        Examples
        --------
        >>> import numpy as np
        >>> factor = Factor.of(np.array([[4.0, 0.0], [2.0, 5.0]], dtype=np.float32), 0.0)
        >>> factor.solve(np.array([8.0, 7.0]))
        array([1.625, 0.75 ])
        """
        n = len(A)
        A[np.arange(n), np.arange(n)] += np.float32(shift)
        with single_threaded_blas(), ThreadPoolExecutor(num_threads()) as pool:
            for start in range(0, n, BLOCK):
                if not _eliminate(A, start, pool):
                    return None
        return Factor(A)

    def solve(self, right: NDArray[Any]) -> NDArray[np.float64]:
        """``A^-1 right``, to single precision."""
        with single_threaded_blas():
            half = linalg.solve_triangular(
                self.lower, right.astype(np.float32), lower=True, check_finite=False
            )
            whole = linalg.solve_triangular(self.lower, half, lower=True, trans=1, check_finite=False)
        return np.asarray(whole, dtype=np.float64)


def _eliminate(A: NDArray[np.float32], start: int, pool: ThreadPoolExecutor) -> bool:
    """The columns of ``L`` from ``start`` on, as many as a block has, given those before."""
    n, here = len(A), slice(start, start + BLOCK)

    def subtract(first: int) -> None:
        rows = slice(first, first + BLOCK)
        A[rows, here] -= A[rows, :start] @ A[here, :start].T

    if start:
        list(pool.map(subtract, range(start, n, BLOCK)))
    try:
        corner = np.linalg.cholesky(A[here, here])
    except np.linalg.LinAlgError:
        return False
    A[here, here] = corner
    inverse = linalg.lapack.strtri(corner, lower=1)[0].T

    def divide(first: int) -> None:
        rows = slice(first, first + BLOCK)
        A[rows, here] = A[rows, here] @ inverse

    list(pool.map(divide, range(start + BLOCK, n, BLOCK)))
    return True
