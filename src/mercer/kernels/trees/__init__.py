"""Kernels on ordered trees with labels.

===============  ==========================================================================================
``subtree``      ``SubTree``: nodes with all that is below them
``subset``       ``SubsetTree``: fragments with all children of a node or none
``partial``      ``PartialTree``: fragments with some children of a node
``base``         what they share
``subset_fragments``, ``partial_fragments``  the fragments that trees share, the heaviest first
``definition``   sums over pairs of nodes, in any arithmetic
``forest``       the distinct subtrees of trees
``comparison``   a tree beside others, to say which fragments they share
===============  ==========================================================================================
"""

from .partial import PartialTree
from .subset import SubsetTree
from .subtree import SubTree

__all__ = ["PartialTree", "SubTree", "SubsetTree"]
