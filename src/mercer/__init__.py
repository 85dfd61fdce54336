"""mercer: kernel methods on any data.

=====================  ===================================================================================
``mercer.kernels``     kernels on vectors, numbers, histograms, measures, sets, events, frames
``mercer.Kernel``      the contract: subclass it, or decorate a function with ``mercer.kernel``
``tensor`` ...         kernels out of kernels: ``tensor, direct_sum, convolution, limit, columns``
``mercer.gram``        the lazy Gram matrix; ``mercer.refute`` searches for a refuting witness
``mercer.rkhs``        functions in the space of a kernel
``mercer.features``    explicit, empirical, random, landmark and Mercer feature maps
``mercer.machines``    estimators in scikit-learn's contract; ``mercer.shapley``: their Shapley values
``mercer.selection``   kernels chosen by data: weights of patterns
``mercer.guarantees``  learning bounds as numbers
``mercer.sequences``   files and alphabets of sequences; ``mercer.automata``: weighted transducers
``mercer.trees``       trees as data, and files of them
``mercer.graphs``      graphs as data
``mercer.molecules``   SMILES into fingerprints and graphs
``mercer.images``      images: colours, histograms, patches
``mercer.models``      probability models, for kernels made from them
``mercer.show``        plots
``spectral_density``   densities of frequencies of kernels, for your own to declare
``mercer.Batches``     data that are read a batch at a time
``mercer.solvers``     the numerical methods behind the machines, and their losses
``mercer.testing``     laws to check your own kernel against
=====================  ===================================================================================

All of them are there after ``import mercer``; those that need scikit-learn are loaded when first used.
"""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import domains, errors, kernels, spectral_density
from .algebra import convolution, direct_sum, kernel, limit, tensor
from .batches import Batches
from .certificate import Certificate, Verdict, Witness
from .gram import GramStore, gram
from .kernel import Kernel
from .kernels import columns
from .parameters import parameter
from .refute import refute

# ``kernel``, ``gram`` and ``refute`` are functions that share their name with the module they live in.  All
# three modules are imported by now, so that no later import puts a module in the place of its function.
__version__ = _version("mercer")

if _TYPE_CHECKING:
    from . import (
        automata,
        features,
        graphs,
        guarantees,
        images,
        machines,
        models,
        molecules,
        rkhs,
        selection,
        sequences,
        show,
        solvers,
        trees,
    )
    from .machines import shapley

_LAZY = {
    "automata", "features", "graphs", "guarantees", "images", "machines", "models",
    "molecules", "rkhs",
    "selection", "sequences", "show", "solvers", "testing", "trees",
}  # fmt: skip

#: Functions of subpackages that are loaded when first used.
_FUNCTIONS = {"shapley": "machines"}


def __getattr__(name: str) -> _Any:
    """Load a subpackage, or a function of one, when it is first used."""
    if name in _LAZY:
        return _import_module(f"{__name__}.{name}")
    if name in _FUNCTIONS:
        return getattr(_import_module(f"{__name__}.{_FUNCTIONS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_FUNCTIONS})


__all__ = [
    "Batches",
    "Certificate",
    "GramStore",
    "Kernel",
    "Verdict",
    "Witness",
    "automata",
    "columns",
    "convolution",
    "direct_sum",
    "domains",
    "errors",
    "features",
    "gram",
    "graphs",
    "guarantees",
    "images",
    "kernel",
    "kernels",
    "limit",
    "machines",
    "models",
    "molecules",
    "parameter",
    "refute",
    "rkhs",
    "selection",
    "sequences",
    "shapley",
    "show",
    "solvers",
    "spectral_density",
    "tensor",
    "testing",
    "trees",
]
