"""Support vector machines, on one solver.

==================  ==================================================================
``base``            limits, the solver, the support vectors
``problems``        how each machine is stated as a ``BoxProblem``
``multiclass``      several two-class problems on one Gram matrix
``folds``           points to leave out
``probability``     from decision values to probabilities
``classifier``      labels, weights, several classes, probabilities
``classification``  ``SVC``, ``NuSVC``
``regression``      ``SVR``, ``NuSVR``
``oneclass``        ``OneClassSVM``, ``EnclosingBall``
``compression``     fewer support vectors for nearly the same decisions
==================  ==================================================================
"""

from .classification import SVC, NuSVC
from .oneclass import EnclosingBall, OneClassSVM
from .regression import SVR, NuSVR

__all__ = ["SVC", "SVR", "EnclosingBall", "NuSVC", "NuSVR", "OneClassSVM"]
