"""Kernel ridge regression and its Gaussian-process view.

=================  ==============================================================================
``estimator``      ``KernelRidge``: fit, predict, leave-one-out
``process``        its Gaussian-process view: uncertainty, evidence, tuning
``posterior``      variances and covariances of the function, given the data
``objectives``     evidence and leave-one-out error of hyper-parameters, with their gradients
``tuning``         the search for the best ones
``stream``         normal equations of data that are read a batch at a time
``checks``         what the parameters may be
=================  ==============================================================================
"""

from .estimator import KernelRidge

__all__ = ["KernelRidge"]
