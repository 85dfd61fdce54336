"""Weights of many kernels.

====================  ===================================================================================
``family``            ``KernelFamily``: the matrices of many kernels, in memory or not
``inner``             ``BoxMachine``, ``RidgeMachine``: the machine of fixed weights, and second derivatives
``newton``            ``solve_weights``: weights of kernels together with a machine, by Newton's method
``penalty``           ``LpNorm``: the sets of weights that it chooses from
``hierarchy``         ``Hierarchical``: weights on a directed acyclic graph
``simplex``           ``simplex_minimum``: quadratic functions on a simplex
``family_alignment``  ``align_family``: weights of kernels by alignment with targets, without a machine
``spectrum``          ``align_spectrum``: eigenvalues of a matrix by alignment with some targets
``problem``           ``MixtureProblem``: rank-one kernels and a machine, with bounds of the minimum
``barrier``           ``solve_mixture``: weights of rank-one kernels, by an interior-point method
``steps``             the linear systems of its steps
``alignment``         ``solve_alignment``: weights of rank-one kernels by alignment with targets
====================  ===================================================================================
"""

from .alignment import solve_alignment
from .barrier import solve_mixture
from .family import KernelFamily, SumMatrix
from .family_alignment import align_family, inner_products
from .hierarchy import Hierarchical
from .inner import BoxMachine, BoxTask, InnerMachine, RidgeMachine, Trained
from .newton import FamilyValue, solve_weights, train_weights
from .penalty import LpNorm, Penalty
from .problem import LargeMargin, LeastSquares, MixtureProblem, MixtureValue
from .simplex import simplex_minimum
from .spectrum import AlignedSpectrum, align_spectrum

__all__ = [
    "AlignedSpectrum",
    "BoxMachine",
    "BoxTask",
    "FamilyValue",
    "Hierarchical",
    "InnerMachine",
    "KernelFamily",
    "LargeMargin",
    "LeastSquares",
    "LpNorm",
    "MixtureProblem",
    "MixtureValue",
    "Penalty",
    "RidgeMachine",
    "SumMatrix",
    "Trained",
    "align_family",
    "align_spectrum",
    "inner_products",
    "simplex_minimum",
    "solve_alignment",
    "solve_mixture",
    "solve_weights",
    "train_weights",
]
