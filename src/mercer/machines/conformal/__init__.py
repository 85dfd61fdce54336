"""Conformal prediction: intervals and sets that hold the truth with a given probability.

=================  ==============================================================================
``estimator``      ``Conformal``: fit, intervals, sets
``closed_form``    machines that have one: kernel ridge regression, Gaussian processes
``ridge``          their full conformal and jackknife+ intervals
``split``          scores on points that were left out, and their quantiles
=================  ==============================================================================
"""

from .estimator import Conformal, ConformalWarning

__all__ = ["Conformal", "ConformalWarning"]
