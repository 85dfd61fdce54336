"""Choosing kernels by data.

===============  ==========================================================
``search``       ``KernelSearchCV``: grids of kernels and penalties
``tuning``       ``tune``: parameters by gradients of a criterion
``ranking``      ``rank_kernels``: kernels by their alignment with targets
``discovery``    ``discover``: an expression, by greedy search
``expressions``  sums of products that grow, and their evidence
``bases``        base kernels of that search
``metric``       ``learn_metric``: the metric of a Gaussian kernel
``weights``      ``learn_weights``: a weight for each pattern of a kernel
===============  ==========================================================
"""

from .discovery import Discovery, DiscoveryStep, discover
from .metric import LearnedMetric, learn_metric
from .ranking import RankedKernel, Ranking, rank_kernels
from .search import KernelSearchCV
from .tuning import Tuned, tune
from .weights import LearnedWeights, learn_weights

__all__ = [
    "Discovery",
    "DiscoveryStep",
    "KernelSearchCV",
    "LearnedMetric",
    "LearnedWeights",
    "RankedKernel",
    "Ranking",
    "Tuned",
    "discover",
    "learn_metric",
    "learn_weights",
    "rank_kernels",
    "tune",
]
