"""Parameters of kernels and penalties by gradients of a criterion.

====================  ==================================================================================
``hyperparameters``   a kernel and a penalty as one vector of logarithms, with names and ranges
``gradients``         sums of weighted derivatives of a Gram matrix, tile by tile
``objectives``        evidence and leave-one-out error, with their derivatives in the matrix
``ridge``             both as functions of hyper-parameters
``alignment``         the cosine with the targets, as such a function
``logistic``          the approximate leave-one-out loss of logistic regression
``radius_margin``     the radius-margin bound of support vector machines
``span``              the span estimate of their leave-one-out error
``search``            L-BFGS on the logarithms, from several starts
``scales``            what is usual for the data, whatever their units
``space``             bounds, fixed parameters and priors by name
``priors``            log-densities of parameters
====================  ==================================================================================

The evidence of a kernel, with its gradient::

    value, gradient = RidgeCriterion(points, Y)(Hyperparameters(kernel, alpha))
"""

from .gradients import block_and_sums, sums_by_name
from .hyperparameters import Hyperparameters
from .objectives import Inverse, Weights, evidence, loo_error, signal_variances
from .priors import Prior
from .ridge import RidgeCriterion
from .scales import Scales, has_unit, mean_size, mean_squares, scales_of
from .search import SearchSpace, maximise, tune_parameters
from .space import search_space

__all__ = [
    "Hyperparameters",
    "Inverse",
    "Prior",
    "RidgeCriterion",
    "Scales",
    "SearchSpace",
    "Weights",
    "block_and_sums",
    "evidence",
    "has_unit",
    "loo_error",
    "maximise",
    "mean_size",
    "mean_squares",
    "scales_of",
    "search_space",
    "signal_variances",
    "sums_by_name",
    "tune_parameters",
]
