"""Kernels from probability models.

================  =======================================================================
``fisher``        ``Fisher``: scores under the metric of the information
``posterior``     ``TangentPosterior``: scores of a likelihood ratio
``vectors``       ``FisherVector``: sets of vectors under a mixture
``marginalized``  ``Marginalized``: posterior counts of hidden states
``mutual``        ``MutualInformation``: likelihoods averaged over a prior
``products``      ``ProbabilityProduct``: of histograms and of models
``parameters``    ``ParameterKernel``: maximum-likelihood parameters
``overlaps``      integrals of products of densities
``scored``        what kernels of scores share
================  =======================================================================
"""

from .fisher import Fisher
from .marginalized import Marginalized
from .mutual import MutualInformation, SampledMutualInformation
from .parameters import ParameterKernel
from .posterior import TangentPosterior
from .products import ProbabilityProduct
from .vectors import FisherVector

__all__ = [
    "Fisher",
    "FisherVector",
    "Marginalized",
    "MutualInformation",
    "ParameterKernel",
    "ProbabilityProduct",
    "SampledMutualInformation",
    "TangentPosterior",
]
