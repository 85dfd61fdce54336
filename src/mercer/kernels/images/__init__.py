"""Kernels on images.

==============  ======================================================================
``histograms``  ``ColorHistogram``, ``SpatialPyramid``: colours, of cells of grids
``nested``      ``NestedHistograms``: colours at all resolutions
``patches``     ``Patches``: images as sets of patches
``cells``       what kernels on histograms share
==============  ======================================================================
"""

from .histograms import ColorHistogram, SpatialPyramid
from .nested import NestedHistograms
from .patches import Patches

__all__ = ["ColorHistogram", "NestedHistograms", "Patches", "SpatialPyramid"]
