"""Solvers: numbers in, :class:`Solution` out, no data types.

===================  ======================================================================================
``solution``         ``Solution``: value, status, gap, statistics
``watch``            what is told meanwhile: ``Progress``
``matrices``         a symmetric matrix as solvers see it
``box``              ``BoxProblem``: the quadratic problem of support vector machines
``decomposition``    ``solve_box``: its solution by two-variable steps on working sets
``active``           its solution by guessing the free variables, and guessing again
``bordered``         linear systems on one set of variables after the other
``cholesky``         factors in single precision
``pairs``            ``PairSolver``: many of them, each on the points of two classes
``polish``           its exact end: the optimality system of the free variables
``ridge``            ``solve_ridge``: kernel ridge regression, by a factor or by iteration
``ridge_system``     its linear system, with weights and intercept
``ridge_iterative``  by conjugate gradients
``ridge_path``       leave-one-out errors for many penalties
``inverses``         factors and preconditioners
``reduction``        a symmetric matrix turned into a band
``conjugate``        conjugate gradients for several right sides
``spline``           cubic smoothing splines in linear time
``losses``           losses of predictions: values, slopes, curvatures, conjugates
``newton``           ``solve_smooth``: smooth losses and a squared norm, with the duality gap
``curvature``        the linear system of its steps, and approximate inverses of it
``influence``        ``leave_one_out``: what its solution would be without a point
``sparse``           ``solve_sparse``: smooth losses and absolute values of the coefficients
``generic``          any convex loss from values and slopes, with a squared norm
``norms``            other functions of the norm, along the path of the squared norm
``representer``      ``solve_representer``: any of these losses and functions, with a bound on the gap
``centered``         ``CenteredMatrix``: a centred Gram matrix as products
``eigen``            ``largest_eigenpairs``: dense, block Lanczos or randomised, by cost
``incomplete``       ``incomplete_cholesky``: a low-rank factor with its error
``canonical``        ``canonical_directions``: regularised canonical correlations of factors
``rayleigh``         ``solve_rayleigh``: directions that maximise a penalised quotient
``discriminant``     the kernel Fisher discriminant
``permutations``     statistics of all permutations of a sample, and their p-value
``clusters``         ``kernel_kmeans``: clusters around means in feature space
``graphs``           affinities, degrees, Laplacians and components of graphs
``laplacian``        leading eigenvectors of a graph; harmonic functions and consistent labels on it
``mixture``          ``MixtureProblem``: weights of rank-one kernels and a machine, with bounds of the minimum
``mixture_barrier``  ``solve_mixture``: both at once, by an interior-point method
``mixture_steps``    the linear systems of its steps
``alignment``        ``solve_alignment``: weights of rank-one kernels by their alignment with targets
``warping``          norms with a penalty on values at given points
===================  ======================================================================================
"""

from .alignment import solve_alignment
from .box import BoxProblem, Optimality
from .canonical import Whitened, canonical_directions, largest_correlation, whiten
from .centered import CenteredMatrix
from .clusters import Geometry, Partition, kernel_kmeans
from .decomposition import BoxValue, solve_box
from .discriminant import DiscriminantValue, solve_discriminant
from .eigen import Eigenpairs, Operator, largest_eigenpairs, signs
from .graphs import affinity, graph_laplacian
from .incomplete import LowRank, incomplete_cholesky
from .influence import leave_one_out
from .matrices import DenseMatrix, GramMatrix, SymmetricMatrix
from .mixture import LargeMargin, LeastSquares, MixtureProblem, MixtureValue
from .mixture_barrier import solve_mixture
from .newton import SmoothProblem, SmoothValue, hold, solve_smooth
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
from .sparse import solve_sparse
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
    "LargeMargin",
    "LeastSquares",
    "LowRank",
    "MixtureProblem",
    "MixtureValue",
    "Operator",
    "Optimality",
    "PairSolver",
    "Partition",
    "Progress",
    "RayleighValue",
    "RidgePath",
    "RidgeSystem",
    "RidgeValue",
    "SmoothProblem",
    "SmoothValue",
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
    "hold",
    "hsic_statistics",
    "incomplete_cholesky",
    "kernel_kmeans",
    "largest_correlation",
    "largest_eigenpairs",
    "leave_one_out",
    "loo_residuals",
    "mmd_statistics",
    "permutation_p_value",
    "random_orders",
    "random_splits",
    "ridge_path",
    "signs",
    "solve_alignment",
    "solve_box",
    "solve_discriminant",
    "solve_mixture",
    "solve_rayleigh",
    "solve_ridge",
    "solve_smooth",
    "solve_sparse",
    "spectral_root",
    "spline_errors",
    "whiten",
]
