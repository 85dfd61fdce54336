"""Solvers: numbers in, :class:`Solution` out, no data types.

=================  ==================================================================
``solution``       ``Solution``: value, status, gap, statistics
``ridge``          the regularised linear system of kernel ridge regression
``box``            ``BoxProblem``: the quadratic problem of support vector machines
``decomposition``  ``solve_box``: its solution by two-variable steps on working sets
``polish``         its exact end: the optimality system of the free variables
``matrices``       a symmetric matrix as solvers see it
``losses``         losses of predictions: values, slopes, curvatures, conjugates
``newton``         ``solve_smooth``: smooth losses and a squared norm, with the duality gap
``curvature``      the linear system of its steps, and approximate inverses of it
``influence``      ``leave_one_out``: what its solution would be without a point
``sparse``         ``solve_sparse``: smooth losses and absolute values of the coefficients
``generic``        any convex loss from values and slopes, with a squared norm
``norms``          other functions of the norm, along the path of the squared norm
``representer``    ``solve_representer``: any of these losses and functions, with a bound on the gap
=================  ==================================================================
"""

from .box import BoxProblem, Optimality
from .decomposition import BoxValue, Progress, solve_box
from .influence import leave_one_out
from .matrices import DenseMatrix, GramMatrix, SymmetricMatrix
from .newton import SmoothProblem, SmoothValue, hold, solve_smooth
from .ridge import solve_ridge
from .solution import Solution
from .sparse import solve_sparse

__all__ = [
    "BoxProblem",
    "BoxValue",
    "DenseMatrix",
    "GramMatrix",
    "Optimality",
    "Progress",
    "SmoothProblem",
    "SmoothValue",
    "Solution",
    "SymmetricMatrix",
    "hold",
    "leave_one_out",
    "solve_box",
    "solve_ridge",
    "solve_smooth",
    "solve_sparse",
]
