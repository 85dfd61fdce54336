"""Solvers: numbers in, :class:`Solution` out, no data types.

================  ===========================================================================
``svm``           ``solve_box``: the quadratic problem of support vector machines
``ridge``         ``solve_ridge``: least squares; smoothing splines
``smooth``        ``solve_smooth``, ``solve_by_passes``, ``solve_sparse``: logistic and smooth losses
``representer``   ``solve_representer``: any convex loss, any increasing function of the norm
``ranking``       ``solve_ranking``: losses of the differences of pairs
``proxy``         ``solve_proxy``: a support vector machine and a proxy of its matrix
``spectral``      ``largest_eigenpairs``: eigenvalues, canonical correlations, discriminants
``laplacian``     ``harmonic``, ``consistent``: functions on weighted graphs
``clusters``      ``kernel_kmeans``: clusters around means in feature space
``mixture``       ``solve_weights``, ``solve_mixture``: weights of many kernels, with a machine
``processes``     ``condition``: Gaussian processes with structured covariances
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

Of the parts only ``representer`` (on ``svm``, ``smooth`` and ``ranking``), ``proxy`` and ``mixture`` (on
``svm``) use others.
"""

from .clusters import FeatureMatrix, GraphMatrix, Partition, kernel_kmeans
from .incomplete import LowRank, incomplete_cholesky
from .matrix import HeldMatrix, LazyMatrix, Matrix, PackedMatrix, RepeatedMatrix, matrix_of
from .mixture import (
    BoxMachine,
    BoxTask,
    FamilyValue,
    Hierarchical,
    InnerMachine,
    KernelFamily,
    LargeMargin,
    LeastSquares,
    LpNorm,
    MixtureProblem,
    MixtureValue,
    Penalty,
    RidgeMachine,
    align_family,
    align_spectrum,
    solve_alignment,
    solve_mixture,
    solve_weights,
    train_weights,
)
from .permutations import (
    center,
    given_split,
    hsic_statistics,
    mmd_statistics,
    permutation_p_value,
    random_orders,
    random_splits,
)
from .processes import (
    Conditioned,
    Covariance,
    DenseCovariance,
    FeatureCovariance,
    KroneckerCovariance,
    LaplaceApproximation,
    LineComponent,
    LineCovariance,
    condition,
    expected_logistic,
    loo_predictions,
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
from .smooth import (
    PassesProblem,
    PassesValue,
    SmoothProblem,
    SmoothValue,
    hold,
    leave_one_out,
    solve_by_passes,
    solve_smooth,
    solve_sparse,
)
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
    "BoxMachine",
    "BoxProblem",
    "BoxTask",
    "BoxValue",
    "CenteredMatrix",
    "Conditioned",
    "Covariance",
    "DenseCovariance",
    "DiscriminantValue",
    "Eigenpairs",
    "FamilyValue",
    "FeatureCovariance",
    "FeatureMatrix",
    "FeatureRows",
    "GraphMatrix",
    "HeldMatrix",
    "Hierarchical",
    "InnerMachine",
    "KernelFamily",
    "KroneckerCovariance",
    "LaplaceApproximation",
    "LargeMargin",
    "LazyMatrix",
    "LeastSquares",
    "LineComponent",
    "LineCovariance",
    "LowRank",
    "LpNorm",
    "Matrix",
    "MixtureProblem",
    "MixtureValue",
    "NormalEquations",
    "Optimality",
    "PackedMatrix",
    "PairSolver",
    "Partition",
    "PassesProblem",
    "PassesValue",
    "Penalty",
    "Progress",
    "RayleighValue",
    "RepeatedMatrix",
    "RestrictedValue",
    "RidgeMachine",
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
    "align_family",
    "align_spectrum",
    "canonical_directions",
    "center",
    "centred_root",
    "condition",
    "expected_logistic",
    "fit_spline",
    "given_split",
    "hold",
    "hsic_statistics",
    "incomplete_cholesky",
    "kernel_kmeans",
    "largest_correlation",
    "largest_eigenpairs",
    "leave_one_out",
    "loo_predictions",
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
    "solve_by_passes",
    "solve_discriminant",
    "solve_mixture",
    "solve_normal",
    "solve_rayleigh",
    "solve_restricted",
    "solve_ridge",
    "solve_smooth",
    "solve_sparse",
    "solve_weights",
    "spectral_root",
    "spline_errors",
    "train_weights",
    "whiten",
]
