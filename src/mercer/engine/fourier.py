"""Random Fourier features of many rows, on the native core."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer import _native
from mercer.engine.pairwise import _gemm_is_set
from mercer.engine.runs import checkpoint
from mercer.engine.threads import num_threads, single_threaded_blas
from mercer.errors import InputError

__all__ = ["fourier_features"]

#: Numbers of one native call, a tenth of a second of work, so that Ctrl-C is seen.
STEP = 1 << 24


def fourier_features(
    X: Any,
    frequencies: NDArray[np.float64],
    offsets: NDArray[np.float64] | None,
    scale: float,
    out: NDArray[Any],
) -> None:
    r"""Write :math:`s \cos(\langle w_j, x_i \rangle + b_j)`; without offsets, cosines and then sines.

    Phases are computed in double precision whatever the type of ``X`` and ``out``, and cosines are within
    2^-52 of those of the computed phase.

    Parameters
    ----------
    X : array or CSR array of shape (n, d)
    frequencies : array of shape (D, d)
    offsets : array of shape (D,) or None
    scale : float
        The factor s.
    out : array of shape (n, D) or (n, 2 D), float32 or float64, with contiguous rows
    """
    reach = float(np.abs(frequencies).sum(axis=1).max(initial=0.0))
    by_blas = _gemm_is_set() and not sparse.issparse(X)
    height = max(1, STEP // max(1, out.shape[1]))
    for first in range(0, X.shape[0], height):
        rows = X[first : first + height].astype(np.float64, copy=False)
        entries = rows.data if sparse.issparse(rows) else rows
        largest = float(np.abs(entries).max(initial=0.0))
        if not largest * reach < np.finfo(np.float64).max:
            raise InputError(
                f"X is too large for the frequencies of this kernel: an entry of size {largest:.3g} times "
                f"frequencies of size {reach:.3g} overflows. Scale the data."
            )
        points, W = (np.ascontiguousarray(rows), frequencies) if by_blas else (rows @ frequencies.T, None)
        with single_threaded_blas():  # the threads are ours, over tiles of fixed shape
            _native.fourier_features(
                np.ascontiguousarray(points), W, offsets, scale, out[first : first + height], num_threads()
            )
        checkpoint()
