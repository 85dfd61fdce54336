"""Trees as data, and files of them.

=============  ========================================================================
``kelp``       ``read_kelp``: examples with trees in the format of KeLP
=============  ========================================================================
"""

from ..domains import Tree, TreeBatch
from .kelp import KelpExamples, read_kelp

__all__ = ["KelpExamples", "Tree", "TreeBatch", "read_kelp"]
