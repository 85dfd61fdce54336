"""Machines: estimators in scikit-learn's contract, on any kernel and any objects.

=================  ===================================================================
``base``           ``KernelMachine``: kernel parameters, validation by the domain
``indefinite``     what happens when a kernel is not positive definite
``ridge``          ``KernelRidge``
``clustering``     ``KernelKMeans``, ``SpectralClustering``
``few_labels``     ``LaplacianRLS``, ``LaplacianSVC``, ``LabelPropagation``, ``LabelSpreading``
``distances``      ``kernel_distance``: the metric of a kernel
``arguments``      checks of constructor arguments
``svm``            ``SVC``, ``NuSVC``, ``SVR``, ``NuSVR``, ``OneClassSVM``, ``EnclosingBall``
``online``         what machines share that learn one example at a time
``pegasos``        ``PegasosSVC``
``perceptron``     ``KernelPerceptron``
=================  ===================================================================
"""

from .clustering import KernelKMeans, SpectralClustering
from .distances import KernelDistance, kernel_distance
from .few_labels import (
    LabelPropagation,
    LabelSpreading,
    LaplacianRLS,
    LaplacianRLSClassifier,
    LaplacianSVC,
)
from .indefinite import IndefiniteKernelWarning
from .pegasos import PegasosSVC
from .perceptron import KernelPerceptron
from .ridge import KernelRidge
from .svm import SVC, SVR, EnclosingBall, NuSVC, NuSVR, OneClassSVM

__all__ = [
    "SVC",
    "SVR",
    "EnclosingBall",
    "IndefiniteKernelWarning",
    "KernelDistance",
    "KernelKMeans",
    "KernelPerceptron",
    "KernelRidge",
    "LabelPropagation",
    "LabelSpreading",
    "LaplacianRLS",
    "LaplacianRLSClassifier",
    "LaplacianSVC",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PegasosSVC",
    "SpectralClustering",
    "kernel_distance",
]
