"""Kernels on images.

==============  ======================================================================
``histograms``  ``ColorHistogram``, ``SpatialPyramid``: colours, of cells of grids
``nested``      ``NestedHistograms``: colours at all resolutions
``patches``     ``Patches``: images as sets of patches
``regions``     ``SegmentationGraph``: images as graphs of regions
``cells``       what kernels on histograms share
==============  ======================================================================
"""

from .histograms import ColorHistogram, SpatialPyramid
from .nested import NestedHistograms
from .patches import Patches
from .regions import SegmentationGraph

__all__ = ["ColorHistogram", "NestedHistograms", "Patches", "SegmentationGraph", "SpatialPyramid"]
