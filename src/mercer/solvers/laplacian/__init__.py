"""Weighted graphs on points, and functions on them.

==============  ===============================================================================
``affinities``  ``affinity``, ``graph_laplacian``: weights, degrees, Laplacians and components
``laplacian``   leading eigenvectors of a graph; harmonic functions and consistent labels on it
==============  ===============================================================================
"""

from .affinities import Affinity, affinity, components, degrees, graph_laplacian, nearest, without_loops
from .laplacian import consistent, harmonic, slow_waves

__all__ = [
    "Affinity",
    "affinity",
    "components",
    "consistent",
    "degrees",
    "graph_laplacian",
    "harmonic",
    "nearest",
    "slow_waves",
    "without_loops",
]
