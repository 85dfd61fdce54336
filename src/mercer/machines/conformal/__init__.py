"""Conformal prediction: intervals and sets that hold the truth with a given probability.

=================  ==============================================================================
``estimator``      ``Conformal``: fit, intervals, sets
``ridge``          full conformal and jackknife+ intervals of kernel ridge regression, closed form
``split``          scores on points that were left out, and their quantiles
=================  ==============================================================================
"""

from .estimator import Conformal, ConformalWarning

__all__ = ["Conformal", "ConformalWarning"]
