"""Other layouts of the same numbers.

Rows of zeros and ones (one-hot codes, sets as indicators, fingerprints) are packed into words of 64 features:
their dot products and squared distances are counts of bits, exactly, at a fraction of the time.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mercer.domains import Data

__all__ = ["pack"]

Array: TypeAlias = npt.NDArray[Any]

#: Fewer features are as fast without packing.
FEWEST_FEATURES = 16

#: Words of a row at most, and of a sparse row for each of its entries: beyond that sums over entries win.
MOST_WORDS = 64
WORDS_PER_ENTRY = 0.25

#: Rows that are looked at first, to turn down other numbers at once, and that are packed at a time.
FIRST_ROWS, ROWS_AT_A_TIME = 8, 4096


def pack(A: Data) -> Array | None:
    """Rows of zeros and ones as words of 64 features each; None if there are other numbers, or no gain.

    Examples
    --------
    >>> import numpy as np
    >>> pack(np.eye(70)[[0, 63, 64]])
    array([[                  1,                   0],
           [9223372036854775808,                   0],
           [                  0,                   1]], dtype=uint64)
    >>> pack(2 * np.eye(70)) is None
    True
    """
    n, d = A.shape
    words = -(-d // 64)
    if not FEWEST_FEATURES <= d <= 64 * MOST_WORDS:
        return None
    if sparse.issparse(A) and (words > 1 + WORDS_PER_ENTRY * A.nnz / max(n, 1) or (A.data != 1).any()):
        return None
    packed = np.zeros((n, 8 * words), dtype=np.uint8)
    cuts = [0, *range(min(FIRST_ROWS, n), n, ROWS_AT_A_TIME), n]
    for first, last in pairwise(cuts):
        part = A[first:last]
        ones = part.toarray() != 0 if sparse.issparse(A) else part != 0
        if not sparse.issparse(A) and (part != ones).any():
            return None
        packed[first:last, : -(-d // 8)] = np.packbits(ones, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)
