"""Machines: estimators in scikit-learn's contract, on any kernel and any objects.

=================  ===================================================================
``base``           ``KernelMachine``: kernel parameters, validation by the domain
``indefinite``     what happens when a kernel is not positive definite
``ridge``          ``KernelRidge``
``clustering``     ``KernelKMeans``
``spectral_clustering``  ``SpectralClustering``
``semi_supervised``  ``LaplacianRLS``, ``LaplacianSVC``, ``LabelPropagation``, ...
``distances``      ``kernel_distance``
``arguments``      checks of constructor arguments
``svm``            ``SVC``, ``NuSVC``, ``SVR``, ``NuSVR``, ``OneClassSVM``, ``EnclosingBall``
``online``         what machines share that learn one example at a time
``pegasos``        ``PegasosSVC``
``perceptron``     ``KernelPerceptron``
=================  ===================================================================
"""

from .clustering import KernelKMeans
from .distances import KernelDistance, kernel_distance
from .indefinite import IndefiniteKernelWarning
from .pegasos import PegasosSVC
from .perceptron import KernelPerceptron
from .ridge import KernelRidge
from .semi_supervised import (
    LabelPropagation,
    LabelSpreading,
    LaplacianRLS,
    LaplacianRLSClassifier,
    LaplacianSVC,
)
from .spectral_clustering import SpectralClustering
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
