"""Parameters of kernels and penalties by gradients of a criterion.

====================  ==================================================================================
``hyperparameters``   a kernel and a penalty as one vector of logarithms, with names and ranges
``gradients``         sums of weighted derivatives of a Gram matrix, tile by tile
``objectives``        evidence and leave-one-out error, with their derivatives in the matrix
``ridge``             both as functions of hyper-parameters
``search``            L-BFGS on the logarithms, from several starts
``priors``            log-densities of parameters
====================  ==================================================================================

The evidence of a kernel, with its gradient::

    value, gradient = RidgeCriterion(points, Y)(Hyperparameters(kernel, alpha))
"""

from .gradients import block_and_sums, has_gradient, sums_by_name
from .hyperparameters import Hyperparameters
from .objectives import Inverse, Weights, evidence, loo_error, signal_variances
from .priors import Prior
from .ridge import RidgeCriterion
from .search import SearchSpace, maximise

__all__ = [
    "Hyperparameters",
    "Inverse",
    "Prior",
    "RidgeCriterion",
    "SearchSpace",
    "Weights",
    "block_and_sums",
    "evidence",
    "has_gradient",
    "loo_error",
    "maximise",
    "signal_variances",
    "sums_by_name",
]
