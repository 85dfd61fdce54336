"""Histograms of the colours of an image, and of the cells that it is divided into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from ..domains import Data, Domain, Images
from ..errors import ParameterError
from .colors import check_space, coordinates

__all__ = ["MOST_BINS", "Histogram"]

#: Levels of a channel of eight bits.
MOST_BINS = 256


@dataclass(frozen=True)
class Histogram:
    """Shares of the pixels of an image in bins of colours: a probability vector.

    Each coordinate of the colour space is divided into bins of equal width.  It is a map for ``k.on(...)``,
    from anything that :class:`~mercer.domains.Images` accepts; grey is a colour.

    Parameters
    ----------
    space : {"rgb", "hsv", "lab"}, default="rgb"
        The colour space, as :func:`~mercer.images.to_space` scales it.
    bins : int, default=8
        Bins of each coordinate, 1 to 256.
    joint : bool, default=False
        Whether bins are boxes of all three coordinates, ``bins ** 3`` of them, first coordinate slowest; else
        the three histograms of the coordinates follow each other, ``3 * bins`` numbers, each divided by 3.

    Examples
    --------
    >>> import numpy as np
    >>> red = np.zeros((4, 4, 3)) + [1, 0, 0]
    >>> Histogram(bins=2)(red).round(3).tolist()
    [0.0, 0.333, 0.333, 0.0, 0.333, 0.0]
    >>> int(Histogram(bins=2, joint=True)(red).argmax())      # the box (1, 0, 0)
    4
    """

    space: str = "rgb"
    bins: int = 8
    joint: bool = False

    #: The points that the map accepts.
    domain: ClassVar[Domain] = Images(channels=3)

    def __post_init__(self) -> None:
        check_space(self.space, "Histogram")
        if type(self.bins) is not int or not 1 <= self.bins <= MOST_BINS:
            raise ParameterError(
                f"Histogram: `bins` must be an integer from 1 to {MOST_BINS}. Got {self.bins!r}."
            )

    @property
    def size(self) -> int:
        """Length of the vector."""
        return int(self.bins**3 if self.joint else 3 * self.bins)

    def __call__(self, x: Any) -> np.ndarray:
        """The histogram of one image."""
        return np.asarray(self.cells(self.domain.point(x), 0)[0])

    def cells(self, image: np.ndarray, depth: int) -> np.ndarray:
        """Histograms of the cells of a quadtree, of a validated colour image: shape (cells, size).

        The image comes first, then its four quarters row by row, then the 16 cells of the next level row by
        row, and so on: 4^0 + 4^1 + ... + 4^depth rows.  Where a side has no middle, one half has a pixel
        more.
        """
        side = 1 << depth
        if side**2 * self.size > 1 << 24:  # 128 MiB
            raise ParameterError(
                f"Histogram: `bins={self.bins}` has too many bins for {side**2} cells, {self.size} each. "
                "Take fewer, or joint=False."
            )
        bins = np.minimum((coordinates(image, self.space) * self.bins).astype(np.intp), self.bins - 1)
        height, width = image.shape[:2]
        rows, columns = np.arange(height) * side // height, np.arange(width) * side // width
        cell = (rows[:, None] * side + columns) * self.size
        if self.joint:
            codes = cell + (bins[:, :, 0] * self.bins + bins[:, :, 1]) * self.bins + bins[:, :, 2]
        else:
            codes = cell[:, :, None] + np.arange(3) * self.bins + bins
        counts = np.bincount(codes.ravel(), minlength=side**2 * self.size).astype(np.float64)
        levels = [counts.reshape(side, side, self.size)]
        for _ in range(depth):
            finer = levels[0].reshape(len(levels[0]) // 2, 2, len(levels[0]) // 2, 2, self.size)
            levels.insert(0, finer.sum(axis=(1, 3)))
        stacked = np.concatenate([level.reshape(-1, self.size) for level in levels])
        return np.asarray(stacked / stacked.sum(axis=1, keepdims=True))

    def of_cells(self, images: list[np.ndarray], depth: int) -> list[Data]:
        """For each cell the histograms of many images: dense rows, or sparse ones of a joint histogram."""
        count = (4 ** (depth + 1) - 1) // 3
        if not self.joint:
            stacked = np.empty((count, len(images), self.size))
            for i, image in enumerate(images):
                stacked[:, i] = self.cells(image, depth)
            return list(stacked)
        empty = scipy.sparse.csr_array((0, self.size))
        rows = [scipy.sparse.csr_array(self.cells(image, depth)) for image in images]
        joined = scipy.sparse.vstack([empty, *rows], format="csr")
        return [joined[np.arange(cell, joined.shape[0], count)] for cell in range(count)]
