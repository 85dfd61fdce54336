"""Solvers: numbers in, :class:`Solution` out, no data types.

=================  ==================================================================
``solution``       ``Solution``: value, status, gap, statistics
``ridge``          the regularised linear system of kernel ridge regression
``box``            ``BoxProblem``: the quadratic problem of support vector machines
``decomposition``  ``solve_box``: its solution by two-variable steps on working sets
``polish``         its exact end: the optimality system of the free variables
``matrices``       a symmetric matrix as solvers see it
``centered``       ``CenteredMatrix``: a centred Gram matrix as products
``eigen``          ``largest_eigenpairs``: dense, block Lanczos or randomised, by cost
``canonical``      ``canonical_directions``: regularised canonical correlations of factors
``incomplete``     ``incomplete_cholesky``: a low-rank factor with its error
=================  ==================================================================
"""

from .box import BoxProblem, Optimality
from .canonical import Whitened, canonical_directions, largest_correlation, whiten
from .centered import CenteredMatrix
from .decomposition import BoxValue, Progress, solve_box
from .eigen import Eigenpairs, Operator, largest_eigenpairs, signs
from .incomplete import LowRank, incomplete_cholesky
from .matrices import DenseMatrix, GramMatrix, SymmetricMatrix
from .ridge import solve_ridge
from .solution import Solution

__all__ = [
    "BoxProblem",
    "BoxValue",
    "CenteredMatrix",
    "DenseMatrix",
    "Eigenpairs",
    "GramMatrix",
    "LowRank",
    "Operator",
    "Optimality",
    "Progress",
    "Solution",
    "SymmetricMatrix",
    "Whitened",
    "canonical_directions",
    "incomplete_cholesky",
    "largest_correlation",
    "largest_eigenpairs",
    "signs",
    "solve_box",
    "solve_ridge",
    "whiten",
]
