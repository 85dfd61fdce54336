"""What the input of a kernel may be.

=================  =========================================================================
``base``           ``Domain`` and ``Objects`` (anything); ``meet``, ``take``, ``join``, ...
``regions``        subsets of R^d: boxes, balls, the simplex
``vectors``        ``Vectors`` and ``Reals``
``numeric``        what a conversion to floats would hide: masks, dates, imaginary parts
``rows``           which row or column is no number, in words
``sparse``         the structure of sparse matrices
``sets``           ``Sets`` of hashables
``sequences``      ``Sequences`` of letters or any hashable symbols
``texts``          ``Texts``: documents, as text or as lists of words
``series``         ``Series``: time series of any lengths, with one or several channels
``graph``          ``Graph``: nodes and edges with labels, weights and vectors
``graph_batch``    ``GraphBatch``: many graphs in compressed rows
``graphs``         ``Graphs``: graphs of libraries, matrices, lists of edges
``nodes``          ``Nodes`` of one graph
``fingerprints``   ``Fingerprints``: bits and counts, also RDKit's
``images``         ``Images``: arrays, images of Pillow, files
``tree``           ``Tree``: one ordered tree with labels, and its forms
``trees``          ``Trees``: ordered trees with labels
``measures``       ``Subsets`` of a universe; ``Gaussians`` as (mean, covariance)
``clouds``         ``Clouds``: points of any kind with weights; ``Cloud``, one of them
``structured``     ``Tuples`` of points; ``Similarities``, the domain of precomputed matrices
``dates``          what dates and times are, and what to do about them
``categories``     ``Categories``: unordered values, compared by equality
``frames``         ``Frames``: rows of a pandas or polars frame
``containers``     strings and documents as they come: lists, arrays, columns, records
``prepared``       ``Prepared``: what a composite kernel has prepared for each of its parts
``ownership``      copies of what the caller may change
``vocabulary``     numbers for hashables
=================  =========================================================================
"""

from .base import Data, Domain, Objects, items, join, meet, size, take, to_float
from .categories import Categories
from .clouds import Cloud, CloudData, Clouds
from .containers import frame_of, indexable, refuse_iterator, refuse_masked
from .dates import is_date
from .fingerprints import Fingerprints
from .frames import Frames
from .graph import Graph
from .graph_batch import GraphBatch
from .graphs import Graphs
from .images import Images
from .measures import Gaussians, Subsets
from .nodes import Adjacency, NodeData, Nodes
from .numeric import check_numbers
from .ownership import owned
from .prepared import Prepared
from .regions import EVERYWHERE, NONNEGATIVE, POSITIVE, UNIT_INTERVAL, Ball, Box, Region, Simplex
from .rows import explain_rows
from .sequences import EncodedSequences, Sequences
from .series import Series, SeriesData
from .sets import Sets
from .sparse import check_sparse
from .structured import MatrixRows, Similarities, TupleColumns, Tuples
from .texts import Texts, Tokens
from .tree import Tree
from .trees import TreeBatch, Trees
from .vectors import Reals, Vectors, is_plain
from .vocabulary import Vocabulary

__all__ = [
    "EVERYWHERE",
    "NONNEGATIVE",
    "POSITIVE",
    "UNIT_INTERVAL",
    "Adjacency",
    "Ball",
    "Box",
    "Categories",
    "Cloud",
    "CloudData",
    "Clouds",
    "Data",
    "Domain",
    "EncodedSequences",
    "Fingerprints",
    "Frames",
    "Gaussians",
    "Graph",
    "GraphBatch",
    "Graphs",
    "Images",
    "MatrixRows",
    "NodeData",
    "Nodes",
    "Objects",
    "Prepared",
    "Reals",
    "Region",
    "Sequences",
    "Series",
    "SeriesData",
    "Sets",
    "Similarities",
    "Simplex",
    "Subsets",
    "Texts",
    "Tokens",
    "Tree",
    "TreeBatch",
    "Trees",
    "TupleColumns",
    "Tuples",
    "Vectors",
    "Vocabulary",
    "check_numbers",
    "check_sparse",
    "explain_rows",
    "frame_of",
    "indexable",
    "is_date",
    "is_plain",
    "items",
    "join",
    "meet",
    "owned",
    "refuse_iterator",
    "refuse_masked",
    "size",
    "take",
    "to_float",
]
