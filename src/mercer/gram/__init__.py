"""Gram matrices that are computed when asked for.

=================  =====================================================================================
``base``           ``Gram``: blocks, products, diagonal, dense, and what follows from them
``point_gram``     ``PointGram``: the matrix of a kernel between two sets of points
``kernel_gram``    ``gram(k, X, Y)`` and ``KernelGram``: its values are computed
``kept``           ``KeptValues``: values of Python functions, each pair computed once
``stored``         ``StoredGram``: its values are looked up in a ``store``
``indexing``       rows and columns that a user selects
``request``        one block of it, looked up or computed
``store``          ``GramStore``: kernel values on disk, for the next run
``derived``        ``CenteredGram`` and ``NormalizedGram``: transformed, extending to new points
``repair``         ``RepairedGram``: an indefinite matrix clipped, flipped or shifted, and what that changed
``spectrum``       eigenvalues: all of them, or the largest by Lanczos with a dense fallback
``negative``       ``negative_eigenvalue``: is there one?  Without the spectrum
``pivoted``        ``pivoted_cholesky``: low-rank factors with random or greedy pivots
``alignment``      kernel-target alignment
``check``          ``Check``: is the matrix of these points what its kernel claims?
``witnesses``      confirms a witness in higher precision and makes it short
=================  =====================================================================================

Nothing here holds an n-by-n matrix unless it says so, and then it states the need in GiB first.
"""

from .base import Gram
from .check import Check
from .derived import CenteredGram, NormalizedGram
from .kernel_gram import KernelGram, gram
from .point_gram import PointGram
from .repair import RepairedGram
from .store import GramStore
from .stored import StoredGram

__all__ = [
    "CenteredGram",
    "Check",
    "Gram",
    "GramStore",
    "KernelGram",
    "NormalizedGram",
    "PointGram",
    "RepairedGram",
    "StoredGram",
    "gram",
]
