"""Machines: estimators in scikit-learn's contract, on any kernel and any objects.

=================  ===================================================================
``base``           ``KernelMachine``: kernel parameters, validation by the domain
``indefinite``     what happens when a kernel is not positive definite
``ridge``          ``KernelRidge``
``pca``            ``KernelPCA``
``preimage``       points of the input space for points of feature space
``cca``            ``KernelCCA``
``svm``            ``SVC``, ``NuSVC``, ``SVR``, ``NuSVR``, ``OneClassSVM``, ``EnclosingBall``
``online``         what machines share that learn one example at a time
``pegasos``        ``PegasosSVC``
``perceptron``     ``KernelPerceptron``
=================  ===================================================================
"""

from .cca import KernelCCA
from .indefinite import IndefiniteKernelWarning
from .pca import KernelPCA
from .pegasos import PegasosSVC
from .perceptron import KernelPerceptron
from .ridge import KernelRidge
from .svm import SVC, SVR, EnclosingBall, NuSVC, NuSVR, OneClassSVM

__all__ = [
    "SVC",
    "SVR",
    "EnclosingBall",
    "IndefiniteKernelWarning",
    "KernelCCA",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRidge",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PegasosSVC",
]
