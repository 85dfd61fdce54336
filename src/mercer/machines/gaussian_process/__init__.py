"""Gaussian processes.

=================  ==============================================================================
``regression``     ``GaussianProcessRegressor``
``observations``   likelihood of observations under a kernel, with its gradient
``noise``          white noise in a kernel, apart from the function
``methods``        exact methods, one for each structure of the covariance matrix
=================  ==============================================================================
"""

from .regression import GaussianProcessRegressor

__all__ = ["GaussianProcessRegressor"]
