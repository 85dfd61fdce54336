"""Solvers: numbers in, :class:`Solution` out, no data types.

=================  ==================================================================
``solution``       ``Solution``: value, status, gap, statistics
``ridge``          the regularised linear system of kernel ridge regression
``box``            ``BoxProblem``: the quadratic problem of support vector machines
``decomposition``  ``solve_box``: its solution by two-variable steps on working sets
``pairs``          ``PairSolver``: many of them, each on the points of two classes
``watch``          what is told meanwhile: ``Progress``
``polish``         its exact end: the optimality system of the free variables
``matrices``       a symmetric matrix as solvers see it
=================  ==================================================================
"""

from .box import BoxProblem, Optimality
from .decomposition import BoxValue, solve_box
from .matrices import DenseMatrix, GramMatrix, SymmetricMatrix
from .pairs import PairSolver
from .ridge import solve_ridge
from .solution import Solution
from .watch import Progress

__all__ = [
    "BoxProblem",
    "BoxValue",
    "DenseMatrix",
    "GramMatrix",
    "Optimality",
    "PairSolver",
    "Progress",
    "Solution",
    "SymmetricMatrix",
    "solve_box",
    "solve_ridge",
]
