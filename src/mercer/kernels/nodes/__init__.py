"""Kernels on the nodes of one graph.

===============  ======================================================================================
``base``         the graph, rows and products by actions
``spectral``     functions of the spectrum: ``Diffusion``, ``ExponentialDiffusion``, ``VonNeumann``, ...
``polynomials``  walks of given lengths: ``PathKernel``, ``SeriesKernel``
``laplacian``    ``LaplacianKernel``: any nonnegative function of a Laplacian
``transforms``   such functions: ``Regularized``, ``Heat``, ``OneStep``, ...
===============  ======================================================================================
"""

from .laplacian import LaplacianKernel
from .polynomials import PathKernel, SeriesKernel
from .spectral import Diffusion, ExponentialDiffusion, TruncatedSpectrum, VonNeumann
from .transforms import Cutoff, GraphMatern, Heat, InverseCosine, OneStep, Regularized, Steps, Transform

__all__ = [
    "Cutoff",
    "Diffusion",
    "ExponentialDiffusion",
    "GraphMatern",
    "Heat",
    "InverseCosine",
    "LaplacianKernel",
    "OneStep",
    "PathKernel",
    "Regularized",
    "SeriesKernel",
    "Steps",
    "Transform",
    "TruncatedSpectrum",
    "VonNeumann",
]
