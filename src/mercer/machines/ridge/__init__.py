"""Kernel ridge regression and its Gaussian-process view.

=================  ==============================================================================
``estimator``      ``KernelRidge``: fit, predict, leave-one-out
``process``        its Gaussian-process view: uncertainty, evidence, and the call of ``machines.tuning``
``posterior``      variances and covariances of the function, given the data
``stream``         normal equations of data that are read a batch at a time
``checks``         what the parameters may be
=================  ==============================================================================
"""

from .estimator import KernelRidge

__all__ = ["KernelRidge"]
