"""Gaussian processes.

==================  =============================================================================
``regression``      ``GaussianProcessRegressor``
``classification``  ``GaussianProcessClassifier``
``evidence``        what they share: kernels tuned by the evidence
``observations``    likelihood of observations under a kernel, with its gradient
``labelled``        the same for labels, by Laplace's approximation
``noise``           white noise in a kernel, apart from the function
``methods``         exact methods of regression, one for each structure of the covariance matrix
==================  =============================================================================
"""

from .classification import GaussianProcessClassifier
from .regression import GaussianProcessRegressor

__all__ = ["GaussianProcessClassifier", "GaussianProcessRegressor"]
