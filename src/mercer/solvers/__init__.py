"""Solvers: numbers in, :class:`Solution` out, no data types.

=================  ==================================================================
``solution``       ``Solution``: value, status, gap, statistics
``ridge``          the regularised linear system of kernel ridge regression
=================  ==================================================================
"""

from .ridge import solve_ridge
from .solution import Solution

__all__ = ["Solution", "solve_ridge"]
