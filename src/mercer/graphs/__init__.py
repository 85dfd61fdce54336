"""Graphs as data: what a graph is, and where it comes from.

==============  =================================================================================
``conversion``  ``as_graphs`` and ``as_graph``: graphs of other libraries, matrices, edges;
                ``to_networkx``
``tu``          ``read_tu``: folders of the TU collection
``gml``         ``read_gml``: GML files
``layout``      ``layout``: places in the plane
``files``       text files, plain or gzipped
==============  =================================================================================
"""

from ..domains import Graph, GraphBatch
from .conversion import as_graph, as_graphs, to_networkx
from .gml import read_gml
from .layout import layout
from .tu import read_tu

__all__ = ["Graph", "GraphBatch", "as_graph", "as_graphs", "layout", "read_gml", "read_tu", "to_networkx"]
