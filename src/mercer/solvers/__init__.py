"""Solvers: numbers in, :class:`Solution` out, no data types.

================  ===========================================================================
``svm``           ``solve_box``: the quadratic problem of support vector machines
``ridge``         ``solve_ridge``: least squares; smoothing splines
``smooth``        ``solve_smooth``, ``solve_sparse``: the logistic and other smooth losses
``representer``   ``solve_representer``: any convex loss, any increasing function of the norm
``spectral``      ``largest_eigenpairs``: eigenvalues, canonical correlations, discriminants
``laplacian``     ``harmonic``, ``consistent``: functions on weighted graphs
``clusters``      ``kernel_kmeans``: clusters around means in feature space
``mixture``       ``solve_mixture``, ``solve_alignment``: weights of many rank-one kernels
``permutations``  statistics of all permutations of a sample, and their p-value
================  ===========================================================================

They share:

===============  =============================================================
``solution``     ``Solution``: value, status, gap, statistics
``watch``        the clock and the callbacks of the SVM solvers: ``Progress``
``matrix``       a symmetric matrix as every solver sees it
``incomplete``   ``incomplete_cholesky``: a low-rank factor with its error
``conjugate``    conjugate gradients for several right sides
``snapshot``     ``Snapshot``: where an iteration has come to, in a file
``losses``       losses of predictions: values, slopes, curvatures, conjugates
``constraints``  losses that are infinite outside an interval
===============  =============================================================

Of the parts only ``representer`` (on ``svm`` and ``smooth``) uses others.
"""

from .clusters import FeatureMatrix, GraphMatrix, Partition, kernel_kmeans
from .incomplete import LowRank, incomplete_cholesky
from .matrix import HeldMatrix, LazyMatrix, Matrix, PackedMatrix, RepeatedMatrix, matrix_of
from .mixture import LargeMargin, LeastSquares, MixtureProblem, MixtureValue, solve_alignment, solve_mixture
from .permutations import (
    center,
    given_split,
    hsic_statistics,
    mmd_statistics,
    permutation_p_value,
    random_orders,
    random_splits,
)
from .ridge import (
    SOLVERS,
    FeatureRows,
    NormalEquations,
    RestrictedValue,
    RidgePath,
    RidgeSystem,
    RidgeValue,
    SplineErrors,
    SplineFit,
    UnpenalizedRidge,
    WeightedMatrix,
    fit_spline,
    loo_residuals,
    ridge_path,
    solve_normal,
    solve_restricted,
    solve_ridge,
    spline_errors,
)
from .smooth import SmoothProblem, SmoothValue, hold, leave_one_out, solve_smooth, solve_sparse
from .solution import Solution
from .spectral import (
    CenteredMatrix,
    DiscriminantValue,
    Eigenpairs,
    RayleighValue,
    SpectralRoot,
    Whitened,
    canonical_directions,
    centred_root,
    largest_correlation,
    largest_eigenpairs,
    signs,
    solve_discriminant,
    solve_rayleigh,
    spectral_root,
    whiten,
)
from .svm import BoxProblem, BoxValue, Optimality, PairSolver, solve_box, solve_boxes
from .watch import Progress

__all__ = [
    "SOLVERS",
    "BoxProblem",
    "BoxValue",
    "CenteredMatrix",
    "DiscriminantValue",
    "Eigenpairs",
    "FeatureMatrix",
    "FeatureRows",
    "GraphMatrix",
    "HeldMatrix",
    "LargeMargin",
    "LazyMatrix",
    "LeastSquares",
    "LowRank",
    "Matrix",
    "MixtureProblem",
    "MixtureValue",
    "NormalEquations",
    "Optimality",
    "PackedMatrix",
    "PairSolver",
    "Partition",
    "Progress",
    "RayleighValue",
    "RepeatedMatrix",
    "RestrictedValue",
    "RidgePath",
    "RidgeSystem",
    "RidgeValue",
    "SmoothProblem",
    "SmoothValue",
    "Solution",
    "SpectralRoot",
    "SplineErrors",
    "SplineFit",
    "UnpenalizedRidge",
    "WeightedMatrix",
    "Whitened",
    "canonical_directions",
    "center",
    "centred_root",
    "fit_spline",
    "given_split",
    "hold",
    "hsic_statistics",
    "incomplete_cholesky",
    "kernel_kmeans",
    "largest_correlation",
    "largest_eigenpairs",
    "leave_one_out",
    "loo_residuals",
    "matrix_of",
    "mmd_statistics",
    "permutation_p_value",
    "random_orders",
    "random_splits",
    "ridge_path",
    "signs",
    "solve_alignment",
    "solve_box",
    "solve_boxes",
    "solve_discriminant",
    "solve_mixture",
    "solve_normal",
    "solve_rayleigh",
    "solve_restricted",
    "solve_ridge",
    "solve_smooth",
    "solve_sparse",
    "spectral_root",
    "spline_errors",
    "whiten",
]
