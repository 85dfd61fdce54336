"""Solvers: numbers in, :class:`Solution` out, no data types.

=================  ==================================================================
``solution``       ``Solution``: value, status, gap, statistics
``ridge``          the regularised linear system of kernel ridge regression
``box``            ``BoxProblem``: the quadratic problem of support vector machines
``decomposition``  ``solve_box``: its solution by two-variable steps on working sets
``pairs``          ``PairSolver``: many of them, each on the points of two classes
``watch``          what is told meanwhile: ``Progress``
``polish``         its exact end: the optimality system of the free variables
``clusters``       ``kernel_kmeans``: clusters around means in feature space
``graphs``         affinities, degrees, Laplacians and components of graphs
``laplacian``      leading eigenvectors of a graph; harmonic functions and consistent labels on it
``warping``        norms with a penalty on values at given points
``matrices``       a symmetric matrix as solvers see it
=================  ==================================================================
"""

from .box import BoxProblem, Optimality
from .clusters import Geometry, Partition, kernel_kmeans
from .decomposition import BoxValue, solve_box
from .graphs import affinity, graph_laplacian
from .matrices import DenseMatrix, GramMatrix, SymmetricMatrix
from .pairs import PairSolver
from .ridge import solve_ridge
from .solution import Solution
from .watch import Progress

__all__ = [
    "BoxProblem",
    "BoxValue",
    "DenseMatrix",
    "Geometry",
    "GramMatrix",
    "Optimality",
    "PairSolver",
    "Partition",
    "Progress",
    "Solution",
    "SymmetricMatrix",
    "affinity",
    "graph_laplacian",
    "kernel_kmeans",
    "solve_box",
    "solve_ridge",
]
