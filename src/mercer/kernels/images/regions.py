"""Images as graphs of regions, compared by kernels between graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...algebra.nodes import Node
from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...contributions import Contribution
from ...domains import Data, Domain, Graphs
from ...engine.program import Builder, Value
from ...errors import ParameterError
from ...images import RegionGraph
from ...images.colors import SPACES
from ...images.histograms import MOST_BINS
from ...images.regions import ATTRIBUTES
from ...images.segmentation import METHODS, MOST_SEGMENTS
from ...intervals import Interval
from ...kernel import Kernel
from ...parameters import parameter

__all__ = ["SegmentationGraph"]


class SegmentationGraph(Node):
    r"""A kernel between the region adjacency graphs of images.

    .. math:: k(x, y) = k_0(g(x), g(y))

    where g(x) is the graph of the regions of x (:class:`~mercer.images.RegionGraph`): regions that touch are
    joined, nodes have the colour histograms of their regions as attributes and bins of their mean colours
    as labels.  With :class:`TreeWalk` or :class:`RandomWalk` and a kernel on histograms as ``node`` it is the
    kernel of Harchaoui and Bach (2007), but for the order of neighbours around a region, which is not used.

    It is ``kernel.on(RegionGraph(...))``, and positive (negative) definite if ``kernel`` is.  Points are
    images, which are segmented, or pairs (image, labels): pixels with the same label are a region.  Block
    cost: a segmentation for each image, and a block of ``kernel``.

    Parameters
    ----------
    kernel : Kernel
        Any kernel between graphs; a parameter such as ``"median"`` is resolved on the regions of the data.
    method : {"slic", "watershed"}, default="slic"
        How images without labels are divided; see :func:`mercer.images.segment`.  Needs scikit-image.
    segments : int, default=50
        About how many regions they get, 1 to 10,000; an image of one colour is one region.
    attributes : {"histogram", "mean"}, default="histogram"
        Attributes of regions: the histogram of their colours, or the mean colour and the share of the area.
    space : {"rgb", "hsv", "lab"}, default="rgb"
        The colour space.
    bins : int, default=8
        Bins of each coordinate, 1 to 256.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Intersection, TreeWalk
    >>> flag, stripes = np.zeros((2, 6, 3)), [[1, 1, 2, 2, 3, 3]] * 2
    >>> flag[:, :2, 2] = flag[:, 2:4] = flag[:, 4:, 0] = 1.0      # blue, white, red
    >>> k = SegmentationGraph(TreeWalk(2, node=Intersection())).normalized()
    >>> round(k((flag, stripes), (flag[:, ::-1], stripes)), 4)  # mirrored: the same regions touch
    1.0
    >>> k((flag, stripes), (flag[:, [2, 3, 0, 1, 4, 5]], stripes)) < 1
    True
    """

    kernel: Kernel
    method: str = parameter(default="slic", choices=METHODS, kw_only=True)
    segments: int = parameter(default=50, low=1, high=MOST_SEGMENTS, integer=True, kw_only=True)
    attributes: str = parameter(default="histogram", choices=ATTRIBUTES, kw_only=True)
    space: str = parameter(default="rgb", choices=tuple(SPACES), kw_only=True)
    bins: int = parameter(default=8, low=1, high=MOST_BINS, integer=True, kw_only=True)

    def _validate(self) -> None:
        kernel: Any = self.kernel
        if not isinstance(kernel, Kernel) or not isinstance(kernel.domain, Graphs):
            raise ParameterError(
                "SegmentationGraph: `kernel` must be a kernel between graphs, such as "
                f"TreeWalk(3, node=Intersection()). Got {self.kernel!r}."
            )

    @property
    def graph(self) -> RegionGraph:
        """The map from an image to its graph."""
        return RegionGraph(self.method, self.segments, self.attributes, self.space, self.bins)

    @property
    def domain(self) -> Domain:
        return RegionGraph.domain

    is_precise = False  # histograms are floats

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        domain = self.kernel.domain
        a, b = (domain.to_arithmetic(self.graph(image), m) for image in (x, y))
        return self.kernel._define(a, b, m)

    def _child_data(self, X: Data) -> Data:
        return self.kernel.domain.validate([self.graph(x) for x in X])

    def _prepare(self, X: Data) -> Any:
        return self.kernel._prepare(self._child_data(X))

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        return self.kernel._block(X, Y)

    def _diagonal(self, X: Data) -> np.ndarray:
        return self.kernel._diagonal(X)

    def _embedding(self, X: Data, like: Data | None = None) -> Any:
        return self.kernel._embedding(X, like)

    def _feature_names(self, X: Data) -> Sequence[str]:
        return self.kernel._feature_names(X)

    def _compile(self, b: Builder, X: Data, Y: Data | None) -> Value:
        return b.kernel(self.kernel, X, Y)

    def _contributions(self, x: Any, y: Any) -> Iterable[Contribution]:
        """Patterns of the graphs; their places are numbers of regions."""
        return self.kernel._contributions(self.graph(x), self.graph(y))

    def _weighted_contributions(
        self, points: Sequence[Any], coefficients: np.ndarray, x: Any
    ) -> Iterable[Contribution]:
        graphs = [self.graph(point) for point in points]
        return self.kernel._weighted_contributions(graphs, coefficients, self.graph(x))

    def _simpler(self) -> tuple[Kernel, str]:
        return self.kernel.on(self.graph), "the kernel of the region graphs"

    def _certify(self) -> Certificate:
        found = self._as_simpler()
        assert found is not None
        return found

    @property
    def bounds(self) -> Interval:
        return self.kernel.bounds

    @property
    def diagonal_bounds(self) -> Interval:
        return self.kernel.diagonal_bounds
