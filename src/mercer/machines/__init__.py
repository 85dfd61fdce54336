"""Machines: estimators in scikit-learn's contract, on any kernel and any objects.

==================== =======================================================================
``base``             ``KernelMachine``: kernel parameters, validation by the domain
``indefinite``       what happens when a kernel is not positive definite
``arguments``        what ``fit`` is given: targets, weights, penalties, callbacks
``translation``      kernels in scikit-learn's words, and its kernel objects
``approximation``    ``approximation=``: machines on the features of a map
``streams``          what machines share that read a batch at a time
``labels``           what classifiers share: labels, weights of classes
``explanation``      which patterns spoke for a prediction
``bounds``           numbers of fitted machines that learning bounds are made of
``factors``          kernels as sums of products over coordinates
``shapley``          ``shapley``: how much each coordinate moved a prediction
``callbacks``        callbacks: scikit-learn's, and plain functions
``ridge``            ``KernelRidge``, with its Gaussian-process view
``tuning``           parameters of kernels and penalties by gradients of a criterion
``gaussian_process`` ``GaussianProcessRegressor``, ``GaussianProcessClassifier``
``splines``          ``SmoothingSpline``, ``ThinPlateSpline``
``logistic``         ``KernelLogistic``
``logistic_stream``  the same on batches: one pass per step
``representer``      ``RepresenterMachine``
``ranking``          ``KernelRanker``
``losses``           its losses: names, domains, functions of the user
``wrapper``          what estimators around another machine have in common
``cells``            ``Cells``: a partition, and one machine for each part of it
``conformal``        ``Conformal``: intervals and sets that hold the truth with a chosen probability
``svm``              ``SVC``, ``NuSVC``, ``SVR``, ``NuSVR``, ``OneClassSVM``, ``EnclosingBall``
``proxy``            ``ProxySVC``: similarities that are not positive definite
``transductive``     ``TransductiveAlignment``: a kernel matrix learned directly
``multiple``         ``MultipleKernelSVC`` and others: several kernels with learned weights
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
from .cells import Cells
from .clustering import KernelKMeans, SpectralClustering
from .conformal import Conformal, ConformalWarning
from .discriminant import KernelDiscriminant
from .distances import KernelDistance, kernel_distance
from .explanation import Explanation
from .gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from .graph_inference import KernelGraphInference
from .indefinite import IndefiniteKernelWarning
from .independence import HSICResult, HSICTest, hsic
from .logistic import KernelLogistic
from .multiple import (
    KernelHierarchy,
    MultipleKernelOneClass,
    MultipleKernelRidge,
    MultipleKernelSVC,
    MultipleKernelSVR,
    MultipleKernelTransformer,
    UnidentifiedWeightsWarning,
)
from .pca import KernelPCA
from .pegasos import PegasosSVC
from .perceptron import KernelPerceptron
from .proxy import ProxySVC
from .ranking import KernelRanker
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
from .shapley import ShapleyValues, shapley
from .splines import SmoothingSpline, ThinPlateSpline
from .svm import SVC, SVR, EnclosingBall, LeaveOneOutBounds, NuSVC, NuSVR, OneClassSVM
from .transductive import TransductiveAlignment
from .two_sample import MMDResult, MMDTest, mmd

__all__ = [
    "SVC",
    "SVR",
    "Cells",
    "Conformal",
    "ConformalWarning",
    "EnclosingBall",
    "Explanation",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "HSICResult",
    "HSICTest",
    "IndefiniteKernelWarning",
    "KernelCCA",
    "KernelDiscriminant",
    "KernelDistance",
    "KernelGraphInference",
    "KernelHierarchy",
    "KernelKMeans",
    "KernelLogistic",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRanker",
    "KernelRidge",
    "LabelPropagation",
    "LabelSpreading",
    "LaplacianRLS",
    "LaplacianRLSClassifier",
    "LaplacianSVC",
    "LeaveOneOutBounds",
    "MMDResult",
    "MMDTest",
    "MultipleKernelOneClass",
    "MultipleKernelRidge",
    "MultipleKernelSVC",
    "MultipleKernelSVR",
    "MultipleKernelTransformer",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PegasosSVC",
    "ProxySVC",
    "RepresenterMachine",
    "ShapleyValues",
    "SmoothingSpline",
    "SpectralClustering",
    "SupervisedReduction",
    "ThinPlateSpline",
    "TransductiveAlignment",
    "UnidentifiedWeightsWarning",
    "hsic",
    "kernel_distance",
    "mmd",
    "shapley",
]
