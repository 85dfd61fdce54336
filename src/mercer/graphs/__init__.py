"""Graphs as data: what a graph is, and where it comes from.

==============  ===============================================================================
``conversion``  ``as_graphs`` and ``as_graph``: graphs of other libraries, matrices, edges
==============  ===============================================================================
"""

from ..domains import Graph, GraphBatch
from .conversion import as_graph, as_graphs

__all__ = ["Graph", "GraphBatch", "as_graph", "as_graphs"]
