"""Machines: estimators in scikit-learn's contract, on any kernel and any objects.

=================  ===================================================================
``base``           ``KernelMachine``: kernel parameters, validation by the domain
``indefinite``     what happens when a kernel is not positive definite
``ridge``          ``KernelRidge``
``online``         ``OnlineClassifier``: one step per example, shared by the two below
``pegasos``        ``PegasosSVC``
``perceptron``     ``KernelPerceptron``
=================  ===================================================================
"""

from .indefinite import IndefiniteKernelWarning
from .pegasos import PegasosSVC
from .perceptron import KernelPerceptron
from .ridge import KernelRidge

__all__ = ["IndefiniteKernelWarning", "KernelPerceptron", "KernelRidge", "PegasosSVC"]
