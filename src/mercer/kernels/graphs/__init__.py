"""Kernels between graphs.

=====================  =====================================================================
``histograms``         labels of nodes, labels of edges: the baselines
``weisfeiler_lehman``  colours of nodes over several iterations
``assignments``        nodes assigned to nodes by their colours
``paths``              shortest paths
``graphlets``          induced subgraphs of 3, 4 or 5 nodes
``walks``              random walks: pairs of walks of equal length
``tree_walks``         pairs of tree-shaped walks
``marginalized``       the probability that two random walks read the same labels
=====================  =====================================================================

``counted`` holds what kernels with explicit features share, ``colours`` the refinement of colours,
``path_tables`` what kernels on nodes and lengths see of paths, ``graphlet_types`` the types of graphlets.
``similarities`` says how walks compare nodes and edges; ``product`` is the product graph of two graphs, by
definition, ``walk_sums`` the sums over its walks on the native core, ``walk_features`` the weights of walks
of bounded length by their labels, and ``explained`` names the walks that a value is made of.
"""

from .assignments import WassersteinWL, WLOptimalAssignment
from .graphlets import Graphlets, graphlet_samples
from .histograms import EdgeHistogram, VertexHistogram
from .marginalized import MarginalizedWalk
from .paths import ShortestPath
from .tree_walks import TreeWalk
from .walks import RandomWalk
from .weisfeiler_lehman import WeisfeilerLehman

__all__ = [
    "EdgeHistogram",
    "Graphlets",
    "MarginalizedWalk",
    "RandomWalk",
    "ShortestPath",
    "TreeWalk",
    "VertexHistogram",
    "WLOptimalAssignment",
    "WassersteinWL",
    "WeisfeilerLehman",
    "graphlet_samples",
]
