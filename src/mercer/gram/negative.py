"""Has a symmetric matrix a negative eigenvalue?  Answered without its spectrum.

If ``A + s I`` has a Cholesky factor then ``A`` has no eigenvalue below ``-s`` (up to rounding); this costs a
tenth of the eigenvalues.  Where the factor breaks down, the rows before give a vector

    x = (-A_11^-1 a, 1),        x' (A + s I) x = the pivot <= 0,

whose Rayleigh quotient is a bound of the least eigenvalue, and Lanczos iteration looks for that itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg

from .. import memory
from ..engine.factorizations import cholesky_in_place
from ..engine.runs import tracked
from .base import Gram
from .spectrum import finite, rounding_level

__all__ = ["Negative", "breakdown", "negative_eigenvalue"]

#: Larger matrices are not factored, but a part of this size of them: below a second, so that Ctrl-C is seen.
MOST_FACTORED = 6144

#: Products of the iteration if the matrix is held; and if every product computes its values again.  Those
#: are left out where so many values allow less than some.
MOST_PRODUCTS, FEW_PRODUCTS, LEAST_PRODUCTS = 300, 30, 8
MOST_VALUES = 1e10

Product = Callable[[np.ndarray], np.ndarray]


class Negative(NamedTuple):
    """A Rayleigh quotient below zero: the least eigenvalue, or if not converged an upper bound of it."""

    value: float
    converged: bool


def negative_eigenvalue(K: Gram) -> Negative | None:
    """The least eigenvalue of a symmetric matrix if it is negative beyond rounding, else None.

    Up to 6,144 points (if memory allows) the answer is certain.  Larger matrices have a random part of that
    size factored: what is negative on a part is at most that on the whole.  If that finds nothing, the
    iteration takes 30 products with the whole matrix (less for more than 18,000 points, none for more than
    35,000), unless its values come from Python code.
    """
    n = K.shape[0]
    if n <= MOST_FACTORED and 16 * n * n <= memory.memory_limit():
        return _of_array(finite(K.dense()), K._eps)
    size = min(n, MOST_FACTORED, int(np.sqrt(memory.memory_limit() / 16)))
    part = np.sort(np.random.default_rng(0).choice(n, size, replace=False))
    given = K._given()
    found = _of_array(finite(K.block(part, part) if given is None else given[np.ix_(part, part)]), K._eps)
    if found is not None:
        return Negative(found.value, False)
    products = min(FEW_PRODUCTS, int(MOST_VALUES / n**2))
    if products < LEAST_PRODUCTS or not (K._is_compiled or given is not None):
        return None
    return _lowest(lambda v: K._product(v), n, K._eps, products)


def _of_array(A: np.ndarray, eps: float) -> Negative | None:
    """The same of an array, whose memory is used."""
    diagonal = A.diagonal().copy()
    bands = (np.abs(A[first : first + 256]) for first in range(0, len(A), 256))
    norm = max((float(rows.sum(axis=1).max()) for rows in bands), default=0.0)  # bounds the eigenvalues
    direction = breakdown(A, rounding_level(len(A), eps, norm))
    if direction is None:
        return None
    A[np.diag_indices(len(A))] = diagonal

    def product(v: np.ndarray) -> np.ndarray:
        return np.asarray(scipy.linalg.blas.dsymv(1.0, A.T, v))

    bound = float(direction @ product(direction)) / float(direction @ direction)
    return _lowest(product, len(A), eps, MOST_PRODUCTS, bound)


def breakdown(A: np.ndarray, shift: float) -> np.ndarray | None:
    """None if ``A + shift I`` has a Cholesky factor; else a vector where its quadratic form is not positive.

    The upper half of the array, with the diagonal, is overwritten; what is below is left as it is.

    Examples
    --------
    >>> import numpy as np
    >>> breakdown(np.array([[2.0, 1.0], [1.0, 2.0]]), 0.0)
    >>> x = breakdown(np.array([[1.0, 2.0], [2.0, 1.0]]), 0.5)
    >>> float(x @ np.array([[1.5, 2.0], [2.0, 1.5]]) @ x) < 0
    True
    """
    if not len(A):
        return None
    diagonal = A.diagonal() + shift
    A[np.diag_indices(len(A))] = diagonal
    _, failed = cholesky_in_place(A.T)  # by columns, the lower half is the upper one here
    if not failed:
        return None
    m = failed - 1
    x = np.zeros(len(A))
    x[m] = 1.0
    if m:
        leading = np.tril(A[:m, :m], -1)
        leading[np.diag_indices(m)] = diagonal[:m]
        x[:m] = -scipy.linalg.solve(leading, A[m, :m], assume_a="pos", lower=True, check_finite=False)
    return x


def _lowest(product: Product, n: int, eps: float, most: int, bound: float = np.inf) -> Negative | None:
    """The bound, or what Lanczos iteration with full orthogonalisation finds below it."""
    most = min(most, n)
    Q = np.empty((most, n))
    diagonal, beside = np.empty(most), np.empty(most)
    v = np.random.default_rng(0).standard_normal(n)
    v /= np.linalg.norm(v)
    least, largest, converged = 0.0, 0.0, False
    for j in tracked(range(most), "Lanczos", "product"):
        Q[j] = v
        w = np.asarray(product(v), dtype=np.float64)
        diagonal[j] = v @ w
        for _ in range(2):
            w -= Q[: j + 1].T @ (Q[: j + 1] @ w)
        beside[j] = np.linalg.norm(w)
        last = j + 1 == most or beside[j] <= 8 * eps * np.abs(diagonal[: j + 1]).max()
        if last or j % 10 == 9:
            values, vectors = scipy.linalg.eigh_tridiagonal(diagonal[: j + 1], beside[:j])
            least, largest = float(values[0]), float(np.abs(values).max())
            # Relative residual at which a Ritz value counts as the eigenvalue.
            converged = beside[j] * abs(vectors[-1, 0]) <= 1e-6 * -min(least, bound)
            if last or (converged and least <= bound):
                break
        v = w / beside[j]
    level = rounding_level(n, eps, largest)
    converged = bool(converged and least <= bound + level)
    least = min(least, bound)
    return Negative(least, converged) if least < -level else None
