"""Feature maps: vectors whose inner products are kernel values, or near them.

====================  =======================================================================
``base``              ``FeatureMap``, the contract, and ``FeatureKernel``, the kernel of a map
``finite``            ``Explicit``: the features of any kernel that has finitely many
``explicit``          polynomial, all-subsets and ANOVA maps; the Gaussian's Taylor map
``empirical``         the three empirical kernel maps of a sample
``nystrom``           ``Nystrom`` and ``IncompleteCholesky``: landmarks, on any objects
``landmarks``         rules that choose them
``fourier``           ``RandomFourier``: cosines at frequencies from the spectral density
``positive``          ``PositiveRandom``: positive features of the exponential of inner products
``sketch``            ``TensorSketch``: polynomials, and products of kernels with finite features
``homogeneous``       ``Homogeneous``: minimum, chi-square, Jensen and Hellinger on histograms
``sampled``           ``Sampled``: features drawn from any bounded family; min-wise hashing
``random``            what maps drawn at random share
``fitted``            what maps learned from a sample share
``advice``            ``advise``: which map, and how many features
``mercer_expansion``  Mercer expansions: finite, by quadrature, by Nystrom extension
====================  =======================================================================
"""

from .advice import Advice, advise
from .base import FeatureKernel, FeatureMap
from .empirical import EmpiricalMap
from .explicit import AllSubsetsMap, AnovaMap, GaussianTaylorMap, PolynomialMap
from .finite import Explicit
from .fourier import RandomFourier
from .homogeneous import Homogeneous
from .mercer_expansion import MercerExpansion
from .nystrom import IncompleteCholesky, Nystrom
from .positive import PositiveRandom
from .sampled import FeatureFamily, Sampled, WeightedMinHash
from .sketch import TensorSketch

__all__ = [
    "Advice",
    "AllSubsetsMap",
    "AnovaMap",
    "EmpiricalMap",
    "Explicit",
    "FeatureFamily",
    "FeatureKernel",
    "FeatureMap",
    "GaussianTaylorMap",
    "Homogeneous",
    "IncompleteCholesky",
    "MercerExpansion",
    "Nystrom",
    "PolynomialMap",
    "PositiveRandom",
    "RandomFourier",
    "Sampled",
    "TensorSketch",
    "WeightedMinHash",
    "advise",
]
