"""Machines: estimators in scikit-learn's contract, on any kernel and any objects.

=================  ===================================================================
``base``           ``KernelMachine``: kernel parameters, validation by the domain
``indefinite``     what happens when a kernel is not positive definite
``labels``         what classifiers share: labels, weights of classes
``logistic``       ``KernelLogistic``
``representer``    ``RepresenterMachine``
``ridge``          ``KernelRidge``
``svm``            ``SVC``, ``NuSVC``, ``SVR``, ``NuSVR``, ``OneClassSVM``, ``EnclosingBall``
``online``         what machines share that learn one example at a time
``pegasos``        ``PegasosSVC``
``perceptron``     ``KernelPerceptron``
=================  ===================================================================
"""

from .indefinite import IndefiniteKernelWarning
from .logistic import KernelLogistic
from .pegasos import PegasosSVC
from .perceptron import KernelPerceptron
from .representer import RepresenterMachine
from .ridge import KernelRidge
from .svm import SVC, SVR, EnclosingBall, NuSVC, NuSVR, OneClassSVM

__all__ = [
    "SVC",
    "SVR",
    "EnclosingBall",
    "IndefiniteKernelWarning",
    "KernelLogistic",
    "KernelPerceptron",
    "KernelRidge",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PegasosSVC",
    "RepresenterMachine",
]
