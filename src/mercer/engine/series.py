"""Sums and minima over the alignments of series, on the native core.

An alignment of x and y is a path through the grid of their steps, from the pair of the first two to the pair
of the last two, that moves on in x, in y or in both.  Each function takes the steps of all series one after
the other, shape (steps, channels), and where each series starts.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mercer import _native
from mercer.engine.runs import checkpoint
from mercer.engine.threads import num_threads

__all__ = ["Steps", "gauge", "log_sums", "scaled_sums", "squared_warping_distances"]

Array: TypeAlias = npt.NDArray[np.float64]

_NO_GAUGE = np.empty(0)
_SUM = {"divisible": _native.DIVISIBLE, "gaussian": _native.GAUSSIAN}
_LOG_SUM = {"divisible": _native.LOG_DIVISIBLE, "gaussian": _native.LOG_GAUSSIAN}


class Steps(NamedTuple):
    """Series ``values[starts[i]:starts[i + 1]]``, and the ratio of each step that :func:`gauge` gives."""

    values: Array
    starts: npt.NDArray[np.int64]
    ratios: Array = _NO_GAUGE


def squared_warping_distances(X: Steps, Y: Steps | None, band: int | None = None) -> Array:
    """Least sums of squared distances along an alignment: infinite if just one series is empty.

    Only pairs of steps with ``|i - j|`` at most ``band``, or the difference of the lengths where that is
    more, are aligned.
    """
    return _align(_native.DTW, X, Y, 0.0, band)


def gauge(X: Steps, local: str, scale: float, band: int | None = None) -> tuple[Array, Array]:
    r"""Scale of the sums over alignments of each series with itself.

    With :math:`a_i^2` the sum for the first i steps, rounded so that :math:`a_i` is a power of two, the
    first result has the ratios :math:`a_{i-1} / a_i` of all steps, the second the sum for each whole series,
    divided by its :math:`a_n^2`.
    """
    ratios, norms = np.ones(len(X.values)), np.ones(len(X.starts) - 1)
    _native.gauge_series(
        _SUM[local], X.values, X.starts, scale, _band(band), ratios, norms, num_threads(), checkpoint
    )
    return ratios, norms


def scaled_sums(X: Steps, Y: Steps | None, local: str, scale: float, band: int | None = None) -> Array:
    r"""Sums over alignments of products of similarities, divided by the scales :math:`a_n` of x and y.

    The similarity of two steps at squared distance D is G / (2 - G) (``local="divisible"``) or G
    (``"gaussian"``), with :math:`G = e^{-s D}`, times :math:`(1 - |i - j| / band)_+` if there is a band.
    The series carry the ratios that :func:`gauge` gives.  The sums themselves are never formed: nothing
    overflows.
    """
    return _align(_SUM[local], X, Y, scale, band)


def log_sums(X: Steps, Y: Steps | None, local: str, scale: float, band: int | None = None) -> Array:
    """Logarithms of those sums, not divided by anything."""
    return _align(_LOG_SUM[local], X, Y, scale, band)


def _align(op: int, X: Steps, Y: Steps | None, scale: float, band: int | None) -> Array:
    n, m = len(X.starts) - 1, len((X if Y is None else Y).starts) - 1
    if Y is not None and m < n and m < _LANES:  # few series would leave most lanes empty: let X fill them
        return np.ascontiguousarray(_align(op, Y, X, scale, band).T)
    out = np.empty((n, m))
    other = X if Y is None else Y
    _native.align_series(op, *X, *other, scale, _band(band), Y is None, out, num_threads(), checkpoint)
    return out


# Series that the widest vectors take side by side.
_LANES = 8


def _band(band: int | None) -> int:
    return -1 if band is None else band
