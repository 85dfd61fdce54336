"""An image with the graph of its regions drawn over it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contributions import Contributions
from ..errors import ParameterError
from ..images import RegionGraph
from .canvas import INK, canvas, drawing, matplotlib
from .graphs import legend
from .patterns import AGAINST, FOR, STRONGEST, check, explained_colours, spread, unplaced_note

__all__ = ["regions"]


def regions(
    x: Any,
    contributions: Contributions | None = None,
    ax: Any = None,
    *,
    graph: RegionGraph | None = None,
    side: str = "x",
) -> Any:
    """Draw an image, the borders of its regions, and the graph of regions that touch.

    A node has the mean colour of its region and stands at the pixel of the region nearest to its centre;
    large nodes are large regions.  With contributions the image is grey, and regions are blue where they add
    to a value and vermilion where they take away, the strongest colour for the largest weight.

    Parameters
    ----------
    x : image, or pair (image, labels)
    contributions : Contributions, optional
        Of ``kernel.contributions(x, y)`` or of ``machine.explain(x)``, with a
        :class:`~mercer.kernels.SegmentationGraph`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    graph : RegionGraph, optional
        The map that the kernel was made with, ``k.graph``; its default parameters without it.
    side : {"x", "y"}, default="x"
        Which of the two images of ``kernel.contributions(x, y)`` is given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> ax = regions((np.eye(4), np.arange(16).reshape(4, 4) // 8))
    >>> len(ax.collections[-1].get_offsets())      # two nodes
    2
    """
    if side not in ("x", "y"):
        raise ParameterError(f'regions: `side` must be "x" or "y". Got {side!r}.')
    graph = graph or RegionGraph()
    image, _ = x = graph.domain.point(x)
    labels, found = graph.regions(x), graph(x)
    weights = np.zeros(found.n)
    if contributions is not None:
        check("regions", contributions)
        weights = spread(found.n, contributions, side, "regions", "the image given has {} regions")
    height, width = labels.shape
    if ax is None:
        scale = 6.0 / max(height, width)  # inches; the lines of a legend take 0.6
        _, ax = canvas(scale * width, scale * height + (0.6 if contributions is not None else 0.0))
    with drawing(ax) as ax:
        shown = image if contributions is None else np.repeat(image.mean(axis=2, keepdims=True), 3, axis=2)
        ax.imshow(shown, interpolation="nearest")
        if contributions is not None:
            to_rgb = matplotlib("matplotlib.colors").to_rgb
            colours = np.where((weights > 0)[:, None], to_rgb(FOR), to_rgb(AGAINST))
            largest = np.abs(weights).max(initial=0.0)
            tint = np.column_stack([colours, STRONGEST * np.abs(weights) / (largest or 1.0)])
            ax.imshow(tint[labels], interpolation="nearest")
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        # A line between each two neighbouring pixels of different regions; two colours are seen on any image
        i, j = np.nonzero(labels[:, 1:] != labels[:, :-1])
        upright = np.stack([np.column_stack([j + 0.5, i - 0.5]), np.column_stack([j + 0.5, i + 0.5])], axis=1)
        i, j = np.nonzero(labels[1:] != labels[:-1])
        level = np.stack([np.column_stack([j - 0.5, i + 0.5]), np.column_stack([j + 0.5, i + 0.5])], axis=1)
        lines = matplotlib("matplotlib.collections").LineCollection
        for colour, points in (("white", 1.4), (INK, 0.6)):
            ax.add_collection(
                lines(np.concatenate([upright, level]), colors=colour, linewidths=points, alpha=0.6)
            )
        _draw_graph(ax, image, labels, found)
        if contributions is not None:
            note = unplaced_note(contributions, side)
            entries = explained_colours(contributions, weights, "region")
            legend(ax, entries | ({note: "none"} if note else {}))
    return ax


def _draw_graph(ax: Any, image: np.ndarray, labels: np.ndarray, graph: Any) -> None:
    at, areas = _places(labels, graph.n), np.bincount(labels.ravel(), minlength=graph.n)
    once = graph.sources < graph.targets
    ends = np.stack([at[graph.sources[once]], at[graph.targets[once]]], axis=1)
    lines = matplotlib("matplotlib.collections").LineCollection
    for colour, width in ((INK, 2.1), ("white", 1.1)):
        ax.add_collection(lines(ends, colors=colour, linewidths=width, zorder=2))
    sums = [np.bincount(labels.ravel(), channel.ravel(), graph.n) for channel in np.moveaxis(image, 2, 0)]
    sizes = 8.0 + 82.0 * areas / areas.max()  # square points, up to 90
    means = np.clip(np.stack(sums, axis=1) / areas[:, None], 0.0, 1.0)
    ax.scatter(*at.T, s=sizes, c=INK, linewidths=2.7, edgecolors=INK, zorder=3)
    ax.scatter(*at.T, s=sizes, c=means, linewidths=1.2, edgecolors="white", zorder=4)


def _places(labels: np.ndarray, n: int) -> np.ndarray:
    """Column and row of the pixel of each region that is nearest to its centre."""
    rows, columns = np.indices(labels.shape).reshape(2, -1)
    flat = labels.ravel()
    areas = np.bincount(flat, minlength=n)
    centres = np.stack([np.bincount(flat, place, n) / areas for place in (columns, rows)], axis=1)
    apart = (columns - centres[flat, 0]) ** 2 + (rows - centres[flat, 1]) ** 2
    order = np.lexsort((apart, flat))
    nearest = order[np.concatenate([[0], np.cumsum(areas)[:-1]])]
    return np.column_stack([columns[nearest], rows[nearest]])
