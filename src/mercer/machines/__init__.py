"""Machines: estimators in scikit-learn's contract, on any kernel and any objects.

==================== =======================================================================
``base``             ``KernelMachine``: kernel parameters, validation by the domain
``indefinite``       what happens when a kernel is not positive definite
``arguments``        checks of constructor arguments
``translation``      kernels in scikit-learn's words, and its kernel objects
``approximation``    ``approximation=``: machines on the features of a map
``labels``           what classifiers share: labels, weights of classes
``explanation``      which patterns spoke for a prediction
``callbacks``        callbacks: scikit-learn's, and plain functions
``messages``         warnings that point at the line of the user
``ridge``            ``KernelRidge``, with its Gaussian-process view
``splines``          ``SmoothingSpline``, ``ThinPlateSpline``
``logistic``         ``KernelLogistic``
``representer``      ``RepresenterMachine``
``losses``           its losses: names, domains, functions of the user
``svm``              ``SVC``, ``NuSVC``, ``SVR``, ``NuSVR``, ``OneClassSVM``, ``EnclosingBall``
``online``           what machines share that learn one example at a time
``pegasos``          ``PegasosSVC``
``perceptron``       ``KernelPerceptron``
``pca``              ``KernelPCA``
``preimage``         points of the input space for points of feature space
``cca``              ``KernelCCA``
``views``            several kinds of data of the same objects
``projection``       what machines share that project points on learned functions
``discriminant``     ``KernelDiscriminant``
``reduction``        ``SupervisedReduction``
``graph_inference``  ``KernelGraphInference``
``clustering``       ``KernelKMeans``, ``SpectralClustering``
``semi_supervised``  ``LaplacianRLS``, ``LaplacianSVC``, ``LabelPropagation``, ``LabelSpreading``
``distances``        ``kernel_distance``: the metric of a kernel
``significance``     what permutation tests share
``two_sample``       ``mmd`` and ``MMDTest``
``independence``     ``hsic`` and ``HSICTest``
==================== =======================================================================
"""

from .cca import KernelCCA
from .clustering import KernelKMeans, SpectralClustering
from .discriminant import KernelDiscriminant
from .distances import KernelDistance, kernel_distance
from .explanation import Explanation
from .graph_inference import KernelGraphInference
from .indefinite import IndefiniteKernelWarning
from .independence import HSICResult, HSICTest, hsic
from .logistic import KernelLogistic
from .pca import KernelPCA
from .pegasos import PegasosSVC
from .perceptron import KernelPerceptron
from .reduction import SupervisedReduction
from .representer import RepresenterMachine
from .ridge import KernelRidge
from .semi_supervised import (
    LabelPropagation,
    LabelSpreading,
    LaplacianRLS,
    LaplacianRLSClassifier,
    LaplacianSVC,
)
from .splines import SmoothingSpline, ThinPlateSpline
from .svm import SVC, SVR, EnclosingBall, NuSVC, NuSVR, OneClassSVM
from .two_sample import MMDResult, MMDTest, mmd

__all__ = [
    "SVC",
    "SVR",
    "EnclosingBall",
    "Explanation",
    "HSICResult",
    "HSICTest",
    "IndefiniteKernelWarning",
    "KernelCCA",
    "KernelDiscriminant",
    "KernelDistance",
    "KernelGraphInference",
    "KernelKMeans",
    "KernelLogistic",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRidge",
    "LabelPropagation",
    "LabelSpreading",
    "LaplacianRLS",
    "LaplacianRLSClassifier",
    "LaplacianSVC",
    "MMDResult",
    "MMDTest",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PegasosSVC",
    "RepresenterMachine",
    "SmoothingSpline",
    "SpectralClustering",
    "SupervisedReduction",
    "ThinPlateSpline",
    "hsic",
    "kernel_distance",
    "mmd",
]
