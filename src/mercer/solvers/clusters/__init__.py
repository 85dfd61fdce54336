"""Clusters around means in feature space.

============  =======================================================================
``kmeans``    ``kernel_kmeans``: Lloyd's steps and moves of single points
``geometry``  ``Geometry``: inner products of a Gram matrix, of vectors, of a graph
``starts``    ``seed``, ``around``: labels to start from
============  =======================================================================
"""

from .geometry import Geometry
from .kmeans import Partition, kernel_kmeans
from .starts import around, seed

__all__ = ["Geometry", "Partition", "around", "kernel_kmeans", "seed"]
