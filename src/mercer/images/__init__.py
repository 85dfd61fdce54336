"""Images as data: reading, colour spaces, histograms, patches, regions, transformations.

===================  =====================================================================
``colors``           ``grey``, ``to_space``: colour spaces
``histograms``       ``Histogram``, a map for ``k.on(...)``: colours, also of cells
``patches``          ``patches``: squares of an image as rows
``segmentation``     ``segment``: regions of similar colours; images with given regions
``regions``          ``RegionGraph``, a map for ``k.on(...)``: which regions touch
``transformations``  ``tangent_vectors``; ``TransformedCopies``, for ``Jittered``
===================  =====================================================================

Arrays need nothing but NumPy; files need Pillow, and ``segment`` scikit-image (``pip install
mercer[images]``).
"""

from ..domains.images import read_image as read
from .colors import grey, to_space
from .histograms import Histogram
from .patches import patches
from .regions import RegionGraph
from .segmentation import SegmentedImages, segment
from .transformations import TransformedCopies, tangent_vectors

__all__ = [
    "Histogram",
    "RegionGraph",
    "SegmentedImages",
    "TransformedCopies",
    "grey",
    "patches",
    "read",
    "segment",
    "tangent_vectors",
    "to_space",
]
