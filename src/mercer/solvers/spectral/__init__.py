"""Eigenvalues, and the directions that they give.

================  =======================================================================
``eigen``         ``largest_eigenpairs``: dense, block Lanczos or randomised, by cost
``centered``      ``CenteredMatrix``: a centred Gram matrix as products
``canonical``     ``canonical_directions``: regularised canonical correlations of factors
``rayleigh``      ``solve_rayleigh``: directions that maximise a penalised quotient
``discriminant``  ``solve_discriminant``: the kernel Fisher discriminant
================  =======================================================================
"""

from .canonical import Whitened, canonical_directions, largest_correlation, whiten
from .centered import CenteredMatrix
from .discriminant import DiscriminantValue, solve_discriminant
from .eigen import Eigenpairs, Operator, largest_eigenpairs, signs
from .rayleigh import RayleighValue, SpectralRoot, centred_root, solve_rayleigh, spectral_root

__all__ = [
    "CenteredMatrix",
    "DiscriminantValue",
    "Eigenpairs",
    "Operator",
    "RayleighValue",
    "SpectralRoot",
    "Whitened",
    "canonical_directions",
    "centred_root",
    "largest_correlation",
    "largest_eigenpairs",
    "signs",
    "solve_discriminant",
    "solve_rayleigh",
    "spectral_root",
    "whiten",
]
