"""Machines: estimators in scikit-learn's contract, on any kernel and any objects.

=================  ===================================================================
``base``           ``KernelMachine``: kernel parameters, validation by the domain
``indefinite``     what happens when a kernel is not positive definite
``ridge``          ``KernelRidge``
``svm``            ``SVC``, ``NuSVC``, ``SVR``, ``NuSVR``, ``OneClassSVM``, ``EnclosingBall``
=================  ===================================================================
"""

from .indefinite import IndefiniteKernelWarning
from .ridge import KernelRidge
from .svm import SVC, SVR, EnclosingBall, NuSVC, NuSVR, OneClassSVM

__all__ = [
    "SVC",
    "SVR",
    "EnclosingBall",
    "IndefiniteKernelWarning",
    "KernelRidge",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
]
