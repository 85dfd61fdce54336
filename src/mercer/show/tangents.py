"""An image, its tangents, and what small motions make of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..domains import Images
from ..errors import ParameterError
from ..images.transformations import NAMES, tangent_vectors
from .canvas import canvas

__all__ = ["tangents"]


def tangents(
    image: Any, names: Sequence[str] = NAMES[:-1], *, smoothing: float = 0.9, step: float = 0.3
) -> np.ndarray:
    """Draw an image with its tangents, a column for each.

    The first row has the image, then the tangents; below them is the image moved along each tangent, against
    it first, then with it.  Tangents are red where the image grows brighter and blue where it grows darker.

    Parameters
    ----------
    image : image
        Grey; see :class:`~mercer.domains.Images`.
    names : sequence of str
        Which tangents; see :func:`mercer.images.tangent_vectors`.
    smoothing : float, default=0.9
        As of :class:`~mercer.kernels.TangentDistance`.
    step : float, default=0.3
        How far to move: the largest change of a pixel, as a part of the range of the image.

    Returns
    -------
    array of axes of shape (3, 1 + len(names))
    """
    unknown = [name for name in names if name not in NAMES]
    if unknown or isinstance(names, str) or not len(names):
        raise ParameterError(f"tangents: `names` must be among {', '.join(map(repr, NAMES))}. Got {names!r}.")
    x = Images(channels=1, least=3).point(image, "image")
    found = tangent_vectors(x[None], names, smoothing)[0]
    _, axes = canvas(1.5 * (1 + len(names)), 4.8, columns=1 + len(names), rows=3)
    low, high = float(x.min()), float(x.max())
    for ax in axes.ravel():
        ax.set_axis_off()
    axes[0, 0].imshow(x, cmap="gray", vmin=low, vmax=high)
    axes[0, 0].set_title("image", fontsize=9)
    for k, (name, tangent) in enumerate(zip(names, found, strict=True), start=1):
        largest = float(np.abs(tangent).max()) or 1.0
        axes[0, k].imshow(tangent, cmap="RdBu_r", vmin=-largest, vmax=largest)
        axes[0, k].set_title(name.replace("_", " "), fontsize=9)
        for row, sign in ((1, -1.0), (2, 1.0)):
            moved = x + sign * step * (high - low) / largest * tangent
            axes[row, k].imshow(moved, cmap="gray", vmin=low, vmax=high)
    for row, text in ((1, "-"), (2, "+")):
        axes[row, 0].text(0.95, 0.5, f"moved by {text}{step:g}", ha="right", va="center", fontsize=9)
    return np.asarray(axes)
