"""Splines: penalised derivatives, free polynomials.

================ ==================================================================
``base``         what both machines share: rows, the choice of the penalty
``smoothing``    ``SmoothingSpline`` on the line
``thinplate``    ``ThinPlateSpline`` in several dimensions
``polyharmonic`` splines of any order as kernel functions and free polynomials
================ ==================================================================
"""

from .smoothing import SmoothingSpline
from .thinplate import ThinPlateSpline

__all__ = ["SmoothingSpline", "ThinPlateSpline"]
