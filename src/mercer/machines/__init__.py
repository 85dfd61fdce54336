"""Machines: estimators in scikit-learn's contract, on any kernel and any objects.

=================  ===================================================================
``base``           ``KernelMachine``: kernel parameters, validation by the domain
``indefinite``     what happens when a kernel is not positive definite
``ridge``          ``KernelRidge``
``spline``         ``SmoothingSpline``
``svm``            ``SVC``, ``NuSVC``, ``SVR``, ``NuSVR``, ``OneClassSVM``, ``EnclosingBall``
``online``         what machines share that learn one example at a time
``pegasos``        ``PegasosSVC``
``perceptron``     ``KernelPerceptron``
=================  ===================================================================
"""

from .indefinite import IndefiniteKernelWarning
from .pegasos import PegasosSVC
from .perceptron import KernelPerceptron
from .ridge import KernelRidge
from .spline import SmoothingSpline
from .svm import SVC, SVR, EnclosingBall, NuSVC, NuSVR, OneClassSVM

__all__ = [
    "SVC",
    "SVR",
    "EnclosingBall",
    "IndefiniteKernelWarning",
    "KernelPerceptron",
    "KernelRidge",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PegasosSVC",
    "SmoothingSpline",
]
