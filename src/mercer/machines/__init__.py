"""Machines: estimators in scikit-learn's contract, on any kernel and any objects.

=================  ===================================================================
``base``           ``KernelMachine``: kernel parameters, validation by the domain
``indefinite``     what happens when a kernel is not positive definite
``ridge``          ``KernelRidge``
=================  ===================================================================
"""

from .indefinite import IndefiniteKernelWarning
from .ridge import KernelRidge

__all__ = ["IndefiniteKernelWarning", "KernelRidge"]
