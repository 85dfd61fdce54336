"""Kernels on images.

==============  ======================================================================
``histograms``  ``ColorHistogram``, ``SpatialPyramid``: colours, of cells of grids
``nested``      ``NestedHistograms``: colours at all resolutions
``patches``     ``Patches``: images as sets of patches
``regions``     ``SegmentationGraph``: images as graphs of regions
``pyramids``    ``PyramidMatch``: sets of points in grids of growing cells
``tangent``     ``TangentDistance``: images that may be moved a little
``cells``       what kernels on histograms share
==============  ======================================================================
"""

from .histograms import ColorHistogram, SpatialPyramid
from .nested import NestedHistograms
from .patches import Patches
from .pyramids import PyramidMatch
from .regions import SegmentationGraph
from .tangent import TangentDistance, tangent_distances

__all__ = [
    "ColorHistogram",
    "NestedHistograms",
    "Patches",
    "PyramidMatch",
    "SegmentationGraph",
    "SpatialPyramid",
    "TangentDistance",
    "tangent_distances",
]
