"""Large arrays in memory that was used before (``native/room.hpp``)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mercer import _native

__all__ = ["reused"]


def reused(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array of any numbers, as :func:`numpy.empty`, without the cost of new memory if possible.

    What nobody refers to any more is kept for the next one, up to half a gigabyte, where the system can take
    it back as soon as anybody needs it (Linux, macOS).

    Examples
    --------
    >>> reused((2, 3), np.float32).shape
    (2, 3)
    """
    kind = np.dtype(dtype)
    return _native.reused(kind.itemsize * math.prod(shape)).view(kind).reshape(shape)
