"""Solvers: numbers in, :class:`Solution` out, no data types.

=================  ===========================================================``solution``       ``Solution``: value, status, gap, statistics
``ridge``          the regularised linear system of kernel ridge regression
``box``            ``BoxProblem``: the quadratic problem of support vector machines
``decomposition``  ``solve_box``: its solution by two-variable steps on working sets
``pairs``          ``PairSolver``: many of them, each on the points of two classes
``watch``          what is told meanwhile: ``Progress``
``polish``         its exact end: the optimality system of the free variables
``clusters``       ``kernel_kmeans``: clusters around means in feature space
``graphs``         affinities, degrees, Laplacians and components of graphs
``laplacian``      leading eigenvectors of a graph; harmonic functions and consistent labels on it
``warping``        norms with a penalty on values at given points
``rayleigh``       ``solve_rayleigh``: directions that maximise a penalised quotient
``discriminant``   the kernel Fisher discriminant
``permutations``   statistics of all permutations of a sample, and their p-value
``matrices``       a symmetric matrix as solvers see it
``centered``       ``CenteredMatrix``: a centred Gram matrix as products
``eigen``          ``largest_eigenpairs``: dense, block Lanczos or randomised, by cost
``canonical``      ``canonical_directions``: regularised canonical correlations of factors
``incomplete``     ``incomplete_cholesky``: a low-rank factor with its error
=================  ==================================================================
=======
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
from .canonical import Whitened, canonical_directions, largest_correlation, whiten
from .centered import CenteredMatrix
from .clusters import Geometry, Partition, kernel_kmeans
from .decomposition import BoxValue, solve_box
from .discriminant import DiscriminantValue, solve_discriminant
from .eigen import Eigenpairs, Operator, largest_eigenpairs, signs
from .graphs import affinity, graph_laplacian
from .incomplete import LowRank, incomplete_cholesky
from .matrices import DenseMatrix, GramMatrix, SymmetricMatrix
from .pairs import PairSolver
from .permutations import (
    center,
    given_split,
    hsic_statistics,
    mmd_statistics,
    permutation_p_value,
    random_orders,
    random_splits,
)
from .rayleigh import RayleighValue, SpectralRoot, centred_root, solve_rayleigh, spectral_root
from .ridge import SOLVERS, RidgeValue, solve_ridge
from .ridge_path import RidgePath, loo_residuals, ridge_path
from .ridge_system import RidgeSystem, WeightedMatrix
from .solution import Solution
from .spline import SplineFit, fit_spline, spline_errors
from .watch import Progress

__all__ = [
    "SOLVERS",
    "BoxProblem",
    "BoxValue",
    "CenteredMatrix",
    "DenseMatrix",
    "DiscriminantValue",
    "Eigenpairs",
    "Geometry",
    "GramMatrix",
    "LowRank",
    "Operator",
    "Optimality",
    "PairSolver",
    "Partition",
    "Progress",
    "RayleighValue",
    "RidgePath",
    "RidgeSystem",
    "RidgeValue",
    "Solution",
    "SpectralRoot",
    "SplineFit",
    "SymmetricMatrix",
    "WeightedMatrix",
    "Whitened",
    "affinity",
    "canonical_directions",
    "center",
    "centred_root",
    "fit_spline",
    "given_split",
    "graph_laplacian",
    "hsic_statistics",
    "incomplete_cholesky",
    "kernel_kmeans",
    "largest_correlation",
    "largest_eigenpairs",
    "loo_residuals",
    "mmd_statistics",
    "permutation_p_value",
    "random_orders",
    "random_splits",
    "ridge_path",
    "signs",
    "solve_box",
    "solve_discriminant",
    "solve_rayleigh",
    "solve_ridge",
    "spectral_root",
    "spline_errors",
    "whiten",
]
