"""Images as data: reading, colour spaces.

===========  =================================================================
``colors``   ``grey``, ``to_space``: colour spaces in NumPy
===========  =================================================================

Arrays need nothing but NumPy; files need Pillow (``pip install mercer[images]``).
"""

from ..domains.images import read_image as read
from .colors import SPACES, grey, to_space

__all__ = ["SPACES", "grey", "read", "to_space"]
