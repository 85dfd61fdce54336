"""Images as data: reading, colour spaces, histograms, patches.

==============  =======================================================================
``colors``      ``grey``, ``to_space``: colour spaces
``histograms``  ``Histogram``, a map for ``k.on(...)``: colours, also of cells
``patches``     ``patches``: squares of an image as rows
==============  =======================================================================

Arrays need nothing but NumPy; files need Pillow (``pip install mercer[images]``).
"""

from ..domains.images import read_image as read
from .colors import grey, to_space
from .histograms import Histogram
from .patches import patches

__all__ = ["Histogram", "grey", "patches", "read", "to_space"]
