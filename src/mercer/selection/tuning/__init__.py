"""Parameters of kernels and penalties by gradients of a criterion.

====================  ============================================================================
``tune``              ``tune``: reads its arguments, searches, fits the machine
``criteria``          which criteria belong to which machines, and what they are on given data
``support_vectors``   the radius-margin bound and the span estimate as functions of parameters
``logistic``          the leave-one-out loss of logistic regression, likewise
``result``            ``Tuned``: parameters, relevances, how the search ended
====================  ============================================================================

The search itself and the criteria on arrays are in :mod:`mercer.machines.tuning`, which
``KernelRidge(tune=...)`` and Gaussian processes use too.
"""

from .result import Tuned
from .tune import tune

__all__ = ["Tuned", "tune"]
