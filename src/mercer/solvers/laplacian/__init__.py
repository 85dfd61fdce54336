"""Functions on weighted graphs.

=============  ===============================================
``laplacian``  harmonic functions and consistent labels on it
=============  ===============================================
"""

from .laplacian import consistent, harmonic

__all__ = ["consistent", "harmonic"]
