"""mercer: kernel methods on any data.

=====================  ===================================================================================
``mercer.kernels``     kernels on vectors, numbers, histograms, measures, sets, events, frames
``mercer.Kernel``      the contract: subclass it, or decorate a function with ``mercer.kernel``
``tensor`` ...         kernels out of kernels: ``tensor, direct_sum, convolution, limit, columns``
``mercer.gram``        the lazy Gram matrix; ``mercer.refute`` searches for a refuting witness
``mercer.rkhs``        functions in the space of a kernel
``mercer.features``    explicit, empirical and Mercer feature maps
``mercer.machines``    estimators in scikit-learn's contract
``mercer.selection``   kernels chosen by data: weights of patterns
``mercer.guarantees``  learning bounds as numbers
``mercer.testing``     laws to check your own kernel against
=====================  ===================================================================================
"""

from importlib.metadata import version as _version

from . import domains, errors, kernels
from .algebra import convolution, direct_sum, kernel, limit, tensor
from .certificate import Certificate, Verdict, Witness
from .gram import GramStore, gram
from .kernel import Kernel
from .kernels import columns
from .parameters import parameter
from .refute import refute

# ``kernel``, ``gram`` and ``refute`` are functions that share their name with the module they live in.  All
# three modules are imported by now, so that no later import puts a module in the place of its function.
__version__ = _version("mercer")

__all__ = [
    "Certificate",
    "GramStore",
    "Kernel",
    "Verdict",
    "Witness",
    "columns",
    "convolution",
    "direct_sum",
    "domains",
    "errors",
    "gram",
    "kernel",
    "kernels",
    "limit",
    "parameter",
    "refute",
    "tensor",
]
