"""Smooth losses, such as the logistic one.

=============  ==================================================================
``newton``     ``solve_smooth``: with a squared norm, and the duality gap
``curvature``  the linear system of its steps, and approximate inverses of it
``influence``  ``leave_one_out``: what its solution would be without a point
``sparse``     ``solve_sparse``: with absolute values of the coefficients instead
``passes``     ``solve_by_passes``: on features of rows that are not held, one pass per step
=============  ==================================================================
"""

from .influence import leave_one_out
from .newton import SmoothProblem, SmoothValue, best_intercept, hold, solve_smooth
from .passes import PassesProblem, PassesValue, solve_by_passes
from .sparse import solve_sparse

__all__ = [
    "PassesProblem",
    "PassesValue",
    "SmoothProblem",
    "SmoothValue",
    "best_intercept",
    "hold",
    "leave_one_out",
    "solve_by_passes",
    "solve_smooth",
    "solve_sparse",
]
