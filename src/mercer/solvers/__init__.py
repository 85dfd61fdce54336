"""Solvers: numbers in, :class:`Solution` out, no data types.

===================  ==================================================================
``solution``         ``Solution``: value, status, gap, statistics
``ridge``            ``solve_ridge``: kernel ridge regression, by a factor or by iteration
``ridge_system``     its linear system, with weights and intercept
``ridge_iterative``  by conjugate gradients
``ridge_path``       leave-one-out errors for many penalties
``inverses``         factors and preconditioners
``reduction``        a symmetric matrix turned into a band
``conjugate``        conjugate gradients for several right sides
``spline``           cubic smoothing splines in linear time
``box``              ``BoxProblem``: the quadratic problem of support vector machines
``decomposition``    ``solve_box``: its solution by two-variable steps on working sets
``polish``           its exact end: the optimality system of the free variables
``matrices``         a symmetric matrix as solvers see it
===================  ==================================================================
"""

from .box import BoxProblem, Optimality
from .decomposition import BoxValue, Progress, solve_box
from .matrices import DenseMatrix, GramMatrix, SymmetricMatrix
from .ridge import SOLVERS, RidgeValue, solve_ridge
from .ridge_path import RidgePath, loo_residuals, ridge_path
from .ridge_system import RidgeSystem, WeightedMatrix
from .solution import Solution
from .spline import SplineFit, fit_spline, spline_errors

__all__ = [
    "SOLVERS",
    "BoxProblem",
    "BoxValue",
    "DenseMatrix",
    "GramMatrix",
    "Optimality",
    "Progress",
    "RidgePath",
    "RidgeSystem",
    "RidgeValue",
    "Solution",
    "SplineFit",
    "SymmetricMatrix",
    "WeightedMatrix",
    "fit_spline",
    "loo_residuals",
    "ridge_path",
    "solve_box",
    "solve_ridge",
    "spline_errors",
]
