"""Graphs as data: what a graph is, and where it comes from.

==============  =================================================================================
``conversion``  ``as_graphs`` and ``as_graph``: graphs of other libraries, matrices, edges;
                ``to_networkx``
``tu``          ``read_tu``: folders of the TU collection
``gml``         ``read_gml``: GML files
``layout``      ``layout``: places in the plane
``files``       text files, plain or gzipped
``laplacians``  ``laplacian``, ``smoothness``, ``components``
``spectra``     ``eigenbasis``: the smoothest eigenvectors
``similarity``  ``similarity_graph``: the graph of some points
``operators``   matrices of graphs, and functions of them
==============  =================================================================================
"""

from ..domains import Adjacency, Graph, GraphBatch
from .conversion import as_graph, as_graphs, to_networkx
from .gml import read_gml
from .laplacians import components, laplacian, smoothness
from .layout import layout
from .similarity import similarity_graph
from .spectra import Eigenbasis, eigenbasis
from .tu import read_tu

__all__ = [
    "Adjacency",
    "Eigenbasis",
    "Graph",
    "GraphBatch",
    "as_graph",
    "as_graphs",
    "components",
    "eigenbasis",
    "laplacian",
    "layout",
    "read_gml",
    "read_tu",
    "similarity_graph",
    "smoothness",
    "to_networkx",
]
