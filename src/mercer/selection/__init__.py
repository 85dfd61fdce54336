"""Choosing kernels by data.

=============  ==========================================================
``weights``    ``learn_weights``: a weight for each pattern of a kernel
=============  ==========================================================
"""

from .weights import LearnedWeights, learn_weights

__all__ = ["LearnedWeights", "learn_weights"]
