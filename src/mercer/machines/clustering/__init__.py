"""Clusters.

=================  =============================================
``kmeans``         ``KernelKMeans``: means in feature space
``spectral``       ``SpectralClustering``: cuts of a graph
=================  =============================================
"""

from .kmeans import KernelKMeans
from .spectral import SpectralClustering

__all__ = ["KernelKMeans", "SpectralClustering"]
