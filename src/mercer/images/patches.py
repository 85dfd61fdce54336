"""Square patches of an image."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..domains import Images
from ..errors import ParameterError

__all__ = ["corners", "patches", "patches_of"]


def patches(x: Any, size: int, stride: int = 1) -> np.ndarray:
    """Square patches of an image as rows, from left to right and from top to bottom.

    Parameters
    ----------
    x : image
        Anything that :class:`~mercer.domains.Images` accepts, at least ``size`` pixels wide and high.
    size : int
        Side of a patch in pixels.
    stride : int, default=1
        Pixels from one patch to the next.  What the last one does not reach belongs to none.

    Returns
    -------
    array of shape (patches, size * size) or, of colours, (patches, size * size * 3)

    Examples
    --------
    >>> import numpy as np
    >>> patches(np.arange(9).reshape(3, 3) / 8, 2).shape
    (4, 4)
    """
    for name, value in (("size", size), ("stride", stride)):
        if type(value) is not int or value < 1:
            raise ParameterError(f"patches: `{name}` must be an integer >= 1. Got {value!r}.")
    return patches_of(Images(least=size).point(x), size, stride)


def patches_of(image: np.ndarray, size: int, stride: int) -> np.ndarray:
    """The same of a validated image."""
    windows = np.lib.stride_tricks.sliding_window_view(image, (size, size), axis=(0, 1))[::stride, ::stride]
    if image.ndim == 3:
        windows = np.moveaxis(windows, 2, -1)
    return windows.reshape(windows.shape[0] * windows.shape[1], -1)


def corners(image: np.ndarray, size: int, stride: int) -> np.ndarray:
    """Row and column of the upper left pixel of each patch."""
    rows, columns = (np.arange(0, length - size + 1, stride) for length in image.shape[:2])
    return np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)
