"""Region adjacency graphs: the regions of an image, and which of them touch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import memory
from ..domains import Domain, Graph
from ..errors import ParameterError
from .colors import check_space, coordinates
from .histograms import MOST_BINS
from .segmentation import SegmentedImages, check_method, compact, segment

__all__ = ["ATTRIBUTES", "RegionGraph"]

ATTRIBUTES = ("histogram", "mean")


@dataclass(frozen=True)
class RegionGraph:
    """The region adjacency graph of an image: a node for each region, an edge where two regions touch.

    Regions touch if a pixel of one stands beside or above a pixel of the other.  A node has attributes that
    describe the colours of its region, and as its label the bins of the mean colour, three numbers: kernels
    between graphs can compare either.  It is a map for ``k.on(...)``, from anything that
    :class:`SegmentedImages` accepts: an image, which is segmented, or a pair (image, labels).

    Parameters
    ----------
    method : {"slic", "watershed"}, default="slic"
        How images without labels are divided; see :func:`segment`.
    segments : int, default=50
        About how many regions they get, 1 to 10,000.
    attributes : {"histogram", "mean"}, default="histogram"
        ``"histogram"``: for each coordinate of the colour space the shares of the pixels of the region in
        bins of equal width, divided by 3: ``3 * bins`` numbers that add up to 1.  ``"mean"``: the mean colour
        and the share of the pixels of the image, four numbers between 0 and 1.
    space : {"rgb", "hsv", "lab"}, default="rgb"
        The colour space, as :func:`to_space` scales it.
    bins : int, default=8
        Bins of each coordinate, 1 to 256.

    Examples
    --------
    >>> import numpy as np
    >>> flag = np.zeros((2, 6, 3))
    >>> flag[:, :2, 2] = flag[:, 2:4] = flag[:, 4:, 0] = 1.0
    >>> g = RegionGraph(attributes="mean", bins=2)((flag, [[1, 1, 2, 2, 3, 3]] * 2))
    >>> g
    <Graph with 3 nodes and 2 edges, node labels (0, 0, 1) (1, 1, 1) (1, 0, 0), node vectors of length 4>
    >>> g.attributes[1].round(2).tolist()
    [1.0, 1.0, 1.0, 0.33]
    """

    method: str = "slic"
    segments: int = 50
    attributes: str = "histogram"
    space: str = "rgb"
    bins: int = 8

    #: The points that the map accepts.
    domain: ClassVar[Domain] = SegmentedImages()

    def __post_init__(self) -> None:
        check_method("RegionGraph", self.method, self.segments)
        check_space(self.space, "RegionGraph")
        if self.attributes not in ATTRIBUTES:
            raise ParameterError(
                f'RegionGraph: `attributes` must be "histogram" or "mean". Got {self.attributes!r}.'
            )
        if type(self.bins) is not int or not 1 <= self.bins <= MOST_BINS:
            raise ParameterError(
                f"RegionGraph: `bins` must be an integer from 1 to {MOST_BINS}. Got {self.bins!r}."
            )

    def regions(self, x: Any) -> np.ndarray:
        """The number of the region, 0, 1, ..., of each pixel: nodes of the graph have these numbers."""
        image, labels = self.domain.point(x)
        return segment(image, self.method, self.segments) if labels is None else compact(labels)

    def __call__(self, x: Any) -> Graph:
        """The graph of one image."""
        image, _ = x = self.domain.point(x)
        regions = self.regions(x)
        n, flat = int(regions.max()) + 1, regions.ravel()
        wide = 3 * self.bins if self.attributes == "histogram" else 4
        memory.require(
            8 * n * wide, f"{wide} attributes of {n:,} regions", "Take fewer `segments` or fewer `bins`."
        )
        colours = coordinates(image, self.space).reshape(-1, 3)
        areas = np.bincount(flat, minlength=n)
        sums = [np.bincount(flat, colour, n) for colour in colours.T]
        means = np.clip(np.stack(sums, axis=1) / areas[:, None], 0.0, 1.0)
        if self.attributes == "histogram":
            places = flat[:, None] * wide + np.arange(3) * self.bins + self._bins_of(colours)
            counts = np.bincount(places.ravel(), minlength=n * wide).reshape(n, wide)
            attributes = counts / (3.0 * areas[:, None])
        else:
            attributes = np.column_stack([means, areas / len(flat)])
        labels = [tuple(row) for row in self._bins_of(means).tolist()]
        across = np.stack([regions[:, :-1].ravel(), regions[:, 1:].ravel()], axis=1)
        down = np.stack([regions[:-1].ravel(), regions[1:].ravel()], axis=1)
        pairs = np.sort(np.concatenate([across, down]), axis=1)
        touching = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
        return Graph(n, touching, labels=labels, attributes=attributes)

    def _bins_of(self, colours: np.ndarray) -> np.ndarray:
        return np.minimum((colours * self.bins).astype(np.intp), self.bins - 1)
