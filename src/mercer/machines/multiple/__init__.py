"""Machines with several kernels, whose weights they learn.

============  ==========================================================================
``members``   the kernels: names, domains, Gram matrices, definiteness
``matrices``  their matrices on one scale; kernels that data cannot distinguish
``base``      what the machines share: parameters and attributes of the weights
``svm``       ``MultipleKernelSVC``, ``MultipleKernelSVR``, ``MultipleKernelOneClass``
``ridge``     ``MultipleKernelRidge``
============  ==========================================================================
"""

from .matrices import UnidentifiedWeightsWarning
from .ridge import MultipleKernelRidge
from .svm import MultipleKernelOneClass, MultipleKernelSVC, MultipleKernelSVR

__all__ = [
    "MultipleKernelOneClass",
    "MultipleKernelRidge",
    "MultipleKernelSVC",
    "MultipleKernelSVR",
    "UnidentifiedWeightsWarning",
]
