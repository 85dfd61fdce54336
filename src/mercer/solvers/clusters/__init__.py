"""Clusters around means in feature space.

============  =======================================================================
``kmeans``    ``kernel_kmeans``: Lloyd's steps and moves of single points
``geometry``  ``FeatureMatrix``, ``GraphMatrix``: inner products of vectors and of a graph
``starts``    ``seed``, ``around``: labels to start from
============  =======================================================================
"""

from .geometry import FeatureMatrix, GraphMatrix, squared_distances
from .kmeans import Partition, kernel_kmeans
from .starts import around, seed

__all__ = [
    "FeatureMatrix",
    "GraphMatrix",
    "Partition",
    "around",
    "kernel_kmeans",
    "seed",
    "squared_distances",
]
