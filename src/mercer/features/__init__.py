"""Feature maps: vectors whose inner products are kernel values, or near them.

====================  =======================================================================
``base``              ``FeatureMap``, the contract, and ``FeatureKernel``, the kernel of a map
``finite``            ``Explicit``: the features of any kernel that has finitely many
``explicit``          polynomial, all-subsets and ANOVA maps; the Gaussian's Taylor map
``empirical``         the three empirical kernel maps of a sample
``nystrom``           ``Nystrom`` and ``IncompleteCholesky``: landmarks, on any objects
``landmarks``         rules that choose them
``fitted``            what maps learned from a sample share
``mercer_expansion``  Mercer expansions: finite, by quadrature, by Nystrom extension
====================  =======================================================================
"""

from .base import FeatureKernel, FeatureMap
from .empirical import EmpiricalMap
from .explicit import AllSubsetsMap, AnovaMap, GaussianTaylorMap, PolynomialMap
from .finite import Explicit
from .mercer_expansion import MercerExpansion
from .nystrom import IncompleteCholesky, Nystrom

__all__ = [
    "AllSubsetsMap",
    "AnovaMap",
    "EmpiricalMap",
    "Explicit",
    "FeatureKernel",
    "FeatureMap",
    "GaussianTaylorMap",
    "IncompleteCholesky",
    "MercerExpansion",
    "Nystrom",
    "PolynomialMap",
]
