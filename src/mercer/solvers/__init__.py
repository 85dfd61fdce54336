"""Solvers: numbers in, :class:`Solution` out, no data types.

=================  ==================================================================
``solution``       ``Solution``: value, status, gap, statistics
``ridge``          the regularised linear system of kernel ridge regression
``box``            ``BoxProblem``: the quadratic problem of support vector machines
``decomposition``  ``solve_box``: its solution by two-variable steps on working sets
``polish``         its exact end: the optimality system of the free variables
``rayleigh``       ``solve_rayleigh``: directions that maximise a penalised quotient
``discriminant``   the kernel Fisher discriminant
``permutations``   statistics of all permutations of a sample, and their p-value
``matrices``       a symmetric matrix as solvers see it
=================  ==================================================================
"""

from .box import BoxProblem, Optimality
from .decomposition import BoxValue, Progress, solve_box
from .discriminant import DiscriminantValue, solve_discriminant
from .matrices import DenseMatrix, GramMatrix, SymmetricMatrix
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
from .ridge import solve_ridge
from .solution import Solution

__all__ = [
    "BoxProblem",
    "BoxValue",
    "DenseMatrix",
    "DiscriminantValue",
    "GramMatrix",
    "Optimality",
    "Progress",
    "RayleighValue",
    "Solution",
    "SpectralRoot",
    "SymmetricMatrix",
    "center",
    "centred_root",
    "given_split",
    "hsic_statistics",
    "mmd_statistics",
    "permutation_p_value",
    "random_orders",
    "random_splits",
    "solve_box",
    "solve_discriminant",
    "solve_rayleigh",
    "solve_ridge",
    "spectral_root",
]
