"""Kernels from probability models.

================  =======================================================================
``fisher``        ``Fisher``: scores under the metric of the information
``posterior``     ``TangentPosterior``: scores of a likelihood ratio
``vectors``       ``FisherVector``: sets of vectors under a mixture
``marginalized``  ``Marginalized``: posterior counts of hidden states
``scored``        what they share
================  =======================================================================
"""

from .fisher import Fisher
from .marginalized import Marginalized
from .posterior import TangentPosterior
from .vectors import FisherVector

__all__ = ["Fisher", "FisherVector", "Marginalized", "TangentPosterior"]
