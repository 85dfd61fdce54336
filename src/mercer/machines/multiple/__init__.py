"""Machines with several kernels, whose weights they learn.

===============  ==========================================================================
``members``      the kernels: names, domains, Gram matrices, definiteness
``matrices``     their matrices on one scale; kernels that data cannot distinguish
``dependence``   weights that could be others, because some kernels are sums of others
``hierarchy``    ``KernelHierarchy``: kernels on a directed acyclic graph
``base``         what the machines share: parameters and attributes of the weights
``svm``          ``MultipleKernelSVC``, ``MultipleKernelSVR``, ``MultipleKernelOneClass``
``ridge``        ``MultipleKernelRidge``
``transformer``  ``MultipleKernelTransformer``: the values of the weighted sum
===============  ==========================================================================
"""

from .hierarchy import KernelHierarchy
from .matrices import UnidentifiedWeightsWarning
from .ridge import MultipleKernelRidge
from .svm import MultipleKernelOneClass, MultipleKernelSVC, MultipleKernelSVR
from .transformer import MultipleKernelTransformer

__all__ = [
    "KernelHierarchy",
    "MultipleKernelOneClass",
    "MultipleKernelRidge",
    "MultipleKernelSVC",
    "MultipleKernelSVR",
    "MultipleKernelTransformer",
    "UnidentifiedWeightsWarning",
]
