"""Clusters around means in feature space.

==========  ===========================================================
``kmeans``  ``kernel_kmeans``: Lloyd's steps and moves of single points
==========  ===========================================================
"""

from .kmeans import Geometry, Partition, around, each_start, kernel_kmeans, seed

__all__ = ["Geometry", "Partition", "around", "each_start", "kernel_kmeans", "seed"]
