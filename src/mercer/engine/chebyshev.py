r"""Functions of a large sparse symmetric matrix, times columns, without forming them.

With the spectrum of :math:`M` inside of :math:`[a, b]` and :math:`A = (2M - (a + b) I) / (b - a)`,

.. math:: r(M) V \approx \sum_{k < K} c_k \, T_k(A) V ,

where :math:`c_k` are the Chebyshev coefficients of r on that interval.  The error is at most
:math:`\sum_{k \ge K} |c_k| \cdot \|v\|` for every column v, which is known before the first product.  For
:math:`\exp(-tM)` and :math:`z = t (b - a) / 2` about :math:`\sqrt{2 z \ln(1/\epsilon)}` terms are enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from mercer import _native
from mercer.engine.runs import checkpoint
from mercer.engine.threads import num_threads

__all__ = ["Expansion", "act", "expand"]

#: Points at which a function is sampled, at first and at most: 0.05 s.  To ten digits on [0, 2], exp(-1e6 x)
#: has 6,859 coefficients and 1 / (x + 1e-4) has 1,679.
FEWEST, MOST = 32, 1 << 17


class Expansion(NamedTuple):
    """A function on an interval by its Chebyshev coefficients.

    Attributes
    ----------
    coefficients : array
    low, high : float
        The interval.
    error : float
        Bound on the distance from the function, anywhere in the interval.
    """

    coefficients: NDArray[np.float64]
    low: float
    high: float
    error: float


def expand(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]], low: float, high: float, tol: float
) -> Expansion | None:
    """Expand a function on an interval, to an error of ``tol`` times its largest value.

    The coefficients come from a cosine transform of values at Chebyshev points; their number is doubled until
    the upper half of them is no larger than half the error, so that aliasing stays below it too.  The ends of
    the interval are not among these points: there the expansion is compared with the function, which may be
    zero everywhere else, as exp(-t x) is for large t.

    Returns
    -------
    Expansion, or None if ``MOST`` points are not enough: the function jumps, or has a pole nearby

    Examples
    --------
    >>> import numpy as np
    >>> found = expand(lambda x: np.exp(-10 * x), 0.0, 1.0, 1e-10)
    >>> len(found.coefficients), bool(found.error <= 1e-10)
    (18, True)
    """
    center, radius = (low + high) / 2, (high - low) / 2
    ends = np.asarray(function(np.array([high, low])), dtype=np.float64)
    count = FEWEST
    while count <= MOST:
        points = center + radius * np.cos(np.pi * (np.arange(count) + 0.5) / count)
        values = np.asarray(function(points), dtype=np.float64)
        if not (np.isfinite(values).all() and np.isfinite(ends).all()):
            return None
        coefficients = scipy.fft.dct(values, type=2) / count
        coefficients[0] /= 2
        allowed = tol * max(np.abs(values).max(), np.abs(ends).max())
        tails = np.cumsum(np.abs(coefficients[::-1]))[::-1]  # of k = 0, 1, ...
        aliased = float(tails[count // 2])
        found = coefficients.sum(), coefficients[::2].sum() - coefficients[1::2].sum()
        if aliased <= allowed / 2 and np.abs(ends - found).max() <= allowed:
            terms = max(1, int(np.count_nonzero(tails > allowed / 2)))
            error = float(tails[terms]) + aliased if terms < count else aliased
            return Expansion(coefficients[:terms].copy(), center - radius, center + radius, error)
        count *= 2
    return None


def act(matrix: Any, expansion: Expansion, V: NDArray[np.float64]) -> NDArray[np.float64]:
    """The expanded function of a matrix, times columns.

    Cost: a pass over the matrix for each term and each sixteen columns, and three blocks of them.  The number
    of threads changes no bit.

    Parameters
    ----------
    matrix : sparse array in compressed rows, of shape (n, n)
        Symmetric, with its spectrum inside of the interval of the expansion.
    expansion : Expansion
    V : array of shape (n, c)

    Returns
    -------
    array of shape (n, c)
    """
    starts = np.ascontiguousarray(matrix.indptr, dtype=np.int64)
    columns = np.ascontiguousarray(matrix.indices, dtype=np.int32)
    center, radius = (expansion.low + expansion.high) / 2, (expansion.high - expansion.low) / 2
    result = np.empty(V.shape)
    for first in range(0, V.shape[1], _native.CHEBYSHEV_COLUMNS):
        some = slice(first, first + _native.CHEBYSHEV_COLUMNS)
        current = np.array(V[:, some], dtype=np.float64, order="C")
        previous, total = np.empty_like(current), np.empty_like(current)
        _native.chebyshev(
            starts,
            columns,
            matrix.data,
            expansion.coefficients,
            center,
            radius,
            current,
            previous,
            total,
            num_threads(),
            checkpoint,
        )
        result[:, some] = total
        checkpoint()
    return result
