"""Choosing kernels by data.

=============  ==========================================================
``search``     ``KernelSearchCV``: grids of kernels and penalties
``weights``    ``learn_weights``: a weight for each pattern of a kernel
=============  ==========================================================
"""

from .search import KernelSearchCV
from .weights import LearnedWeights, learn_weights

__all__ = ["KernelSearchCV", "LearnedWeights", "learn_weights"]
