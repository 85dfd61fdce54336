"""Kernels between graphs.

==================  =====================================================================
``histograms``      labels of nodes, labels of edges: the baselines
==================  =====================================================================

``counted`` holds what kernels with explicit features share.
"""

from .histograms import EdgeHistogram, VertexHistogram

__all__ = ["EdgeHistogram", "VertexHistogram"]
