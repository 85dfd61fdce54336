"""Kernels between graphs.

==================  =====================================================================
``histograms``      labels of nodes, labels of edges: the baselines
``paths``           shortest paths
``graphlets``       induced subgraphs of 3, 4 or 5 nodes
==================  =====================================================================

``counted`` holds what kernels with explicit features share, ``path_tables`` what kernels on nodes and lengths
see of paths, ``graphlet_types`` the types of graphlets.
"""

from .graphlets import Graphlets, graphlet_samples
from .histograms import EdgeHistogram, VertexHistogram
from .paths import ShortestPath

__all__ = ["EdgeHistogram", "Graphlets", "ShortestPath", "VertexHistogram", "graphlet_samples"]
