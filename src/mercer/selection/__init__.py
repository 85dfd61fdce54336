"""Choosing kernels by data.

=============  ==========================================================
``search``     ``KernelSearchCV``: grids of kernels and penalties
``tuning``     ``tune``: parameters by gradients of a criterion
``ranking``    ``rank_kernels``: kernels by their alignment with targets
``metric``     ``learn_metric``: the metric of a Gaussian kernel
``weights``    ``learn_weights``: a weight for each pattern of a kernel
=============  ==========================================================
"""

from .metric import LearnedMetric, learn_metric
from .ranking import RankedKernel, Ranking, rank_kernels
from .search import KernelSearchCV
from .tuning import Tuned, tune
from .weights import LearnedWeights, learn_weights

__all__ = [
    "KernelSearchCV",
    "LearnedMetric",
    "LearnedWeights",
    "RankedKernel",
    "Ranking",
    "Tuned",
    "learn_metric",
    "learn_weights",
    "rank_kernels",
    "tune",
]
