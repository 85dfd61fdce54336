"""Pictures of images: the patches that spoke, and nested histograms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..contributions import Contributions
from ..domains import Images
from ..errors import InputError
from ..images import grey
from ..kernels.images import NestedHistograms
from .canvas import COLOURS, GUIDE, INK, canvas, drawing, matplotlib
from .patterns import AGAINST, FOR, SMALL, check, explained_colours

__all__ = ["image", "nested_histogram"]


def image(x: Any, contributions: Contributions | None = None, ax: Any = None) -> Any:
    """Draw an image; patches that add to a value are blue, those that take away vermilion.

    With contributions the image is grey.  The weight of a patch is divided evenly among its pixels, and those
    of patches that overlap add up; the strongest colour is that of the pixel with the largest weight.  What
    belongs to no patch, such as an intercept, is said under the picture.

    Parameters
    ----------
    x : image
        Anything that :class:`~mercer.domains.Images` accepts.
    contributions : Contributions, optional
        Of ``Patches(...).contributions(x, y)``, or of ``machine.explain(x)``: boxes (top, left, bottom,
        right) with their weights.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> ax = image(np.eye(8))
    >>> len(ax.images)
    1
    """
    pixels = Images().point(x)
    height, width = pixels.shape[:2]
    if contributions is None:
        weights, note = np.zeros((height, width)), ""
    else:
        check("image", contributions)
        weights, note = _pixel_weights(contributions, (height, width))
    if ax is None:
        scale = 3.4 / max(height, width)  # inches of the longer side
        _, ax = canvas(max(width * scale, 1.5), height * scale + (0.0 if contributions is None else 0.6))
    with drawing(ax) as ax:
        # under colours an image has this part of its contrast
        shown = pixels if contributions is None else 1 - 0.6 * (1 - grey(pixels))
        ax.imshow(shown, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        ax.set_axis_off()
        if contributions is not None:
            to_rgb = matplotlib("matplotlib.colors").to_rgb
            colours = np.where((weights > 0)[:, :, None], to_rgb(FOR), to_rgb(AGAINST))
            largest = np.abs(weights).max()
            opacity = 0.85 * np.abs(weights) / (largest if largest else 1.0)
            ax.imshow(np.dstack([colours, opacity]), interpolation="nearest")
            _legend(ax, explained_colours(contributions, weights, "pixel"), note)
    return ax


def _pixel_weights(contributions: Contributions, shape: tuple[int, int]) -> tuple[np.ndarray, str]:
    """What each pixel adds, and a note on what belongs to no patch."""
    weights, elsewhere = np.zeros(shape), []
    for c in contributions:
        if not (isinstance(c.pattern, tuple) and len(c.pattern) == 4):
            elsewhere.append(c.weight)
            continue
        top, left, bottom, right = c.pattern
        if not (0 <= top < bottom <= shape[0] and 0 <= left < right <= shape[1]):
            raise InputError(
                f"image: `contributions` must be those of `x`. The patch {c.pattern!r} is no part of an "
                f"image of {shape[0]} x {shape[1]} pixels."
            )
        weights[top:bottom, left:right] += c.weight / ((bottom - top) * (right - left))
    return weights, f"{math.fsum(elsewhere):+.3g} belongs to no patch" if elsewhere else ""


def _legend(ax: Any, colours: dict[str, Any], note: str) -> None:
    patch = matplotlib("matplotlib.patches").Patch
    entries = colours | ({note: "none"} if note else {})
    handles = [patch(facecolor=colour, linewidth=0, label=text) for text, colour in entries.items()]
    if handles:
        legend = ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, 0), fontsize=SMALL)
        for text in legend.get_texts():
            text.set_parse_math(False)


def nested_histogram(x: Any, kernel: NestedHistograms | None = None, ax: Any = None) -> Any:
    """Draw an image and the colour histograms of its cells, level by level.

    In each cell the bars of the three coordinates of the colour space stand side by side, in red, green and
    blue for RGB; of a joint histogram, bars are the bins.  The highest bar of a cell fills it.

    Parameters
    ----------
    x : image
        Anything that :class:`~mercer.domains.Images` accepts.
    kernel : NestedHistograms, optional
        Says how deep, and which histograms; by default ``NestedHistograms()``.  Levels beyond the fourth are
        not drawn.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> ax = nested_histogram(np.eye(8), NestedHistograms(2, bins=2))
    >>> [text.get_text() for text in ax.texts]
    ['image', '1 cell', '4 cells', '16 cells']
    """
    kernel = NestedHistograms() if kernel is None else kernel
    if not isinstance(kernel, NestedHistograms):
        raise InputError(f"nested_histogram: `kernel` must be a NestedHistograms. Got {kernel!r}.")
    pixels = kernel.domain.point(x)
    # Most levels with histograms: the cells of further ones are too small to be seen.
    depth = min(kernel.depth, 4)
    cells = kernel.histogram.cells(pixels, depth)
    ratio = pixels.shape[0] / pixels.shape[1]
    panels = depth + 2
    gap = 0.12  # between two panels, in parts of an image
    if ax is None:
        inches = 1.7  # of a panel
        _, ax = canvas(panels * inches * (1 + gap), inches * ratio + 0.35)
    with drawing(ax) as ax:
        ax.imshow(pixels, extent=(0, 1, 0, ratio), interpolation="nearest")
        for level in range(depth + 1):
            first = (4**level - 1) // 3
            left = (level + 1) * (1 + gap)
            _draw_level(ax, cells[first : first + 4**level], level, left, ratio, kernel)
        titles = ["image", *(f"{4**level} cell{'s' if level else ''}" for level in range(depth + 1))]
        for panel, title in enumerate(titles):
            ax.text(panel * (1 + gap), -0.03, title, va="top", fontsize=SMALL, color=INK)
        ax.set(xlim=(-0.01, panels * (1 + gap) - gap + 0.01), ylim=(-0.12 * max(ratio, 1.0), ratio + 0.01))
        ax.set_aspect("equal")
        ax.set_axis_off()
    return ax


def _draw_level(
    ax: Any, cells: np.ndarray, level: int, left: float, ratio: float, kernel: NestedHistograms
) -> None:
    """Bars in each cell of a grid, and the lines of the grid."""
    side, bins = 2**level, cells.shape[1]
    rows, columns = np.divmod(np.arange(len(cells)), side)
    heights = cells / cells.max(axis=1, keepdims=True)
    wide, high = 1 / side, ratio / side
    x = left + (columns[:, None] + 0.06 + 0.88 * np.arange(bins) / bins) * wide
    y = np.broadcast_to(ratio - (rows[:, None] + 1) * high, x.shape)
    right, top = x + 0.88 * wide / bins, y + 0.9 * high * heights
    bars = np.stack([x, y, x, top, right, top, right, y], axis=-1).reshape(len(cells), bins, 4, 2)
    polygons = matplotlib("matplotlib.collections").PolyCollection
    names: tuple[str, ...] = ("blue",)
    if not kernel.joint:
        names = ("vermilion", "green", "blue") if kernel.space == "rgb" else ("purple", "green", "vermilion")
    own = bins if kernel.joint else kernel.bins
    for c, name in enumerate(names):
        corners = bars[:, c * own : (c + 1) * own].reshape(-1, 4, 2)
        ax.add_collection(polygons(corners, facecolors=COLOURS[name], linewidths=0))
    lines = np.linspace(0, 1, side + 1)
    width = 0.8 if side <= 4 else 0.4
    ax.vlines(left + lines, 0, ratio, color=GUIDE, linewidth=width)
    ax.hlines(lines * ratio, left, left + 1, color=GUIDE, linewidth=width)
