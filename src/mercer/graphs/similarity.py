"""Graphs of data: points that are linked by the values of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .. import memory
from ..domains import Adjacency
from ..errors import InputError, ParameterError
from ..gram import Gram, gram
from ..kernel import Kernel
from ..parameters import Spec
from .laplacians import Affinity, Vector, without_loops

__all__ = ["affinity", "nearest", "similarity_graph"]


def similarity_graph(
    X: Any, kernel: Kernel, *, k: int | None = None, epsilon: float | None = None
) -> Adjacency:
    r"""The graph of some points, weighted by a kernel: :math:`B_{ij} = k(x_i, x_j)`, without self-loops.

    Distances are those of the feature space, :math:`d^2 = k(x, x) + k(y, y) - 2 k(x, y)`.

    Parameters
    ----------
    X : points of the kernel's domain
    kernel : Kernel
        With values >= 0, such as a Gaussian.
    k : int, optional
        Link each point with its k nearest others; an edge that only one of its ends has chosen counts half.
    epsilon : float, optional
        Link points whose distance is at most epsilon.  Without k and epsilon all pairs are linked.

    Returns
    -------
    Adjacency
        A graph for kernels on nodes and for the functions of :mod:`mercer.graphs`; the nodes are the numbers
        of the points.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> similarity_graph([[0.0], [1.0], [5.0]], Gaussian(1.0), k=1).matrix.toarray().round(3).tolist()
    [[0.0, 0.607, 0.0], [0.607, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    if not isinstance(kernel, Kernel):
        raise ParameterError(f"similarity_graph: `kernel` must be a Kernel. Got {type(kernel).__name__}.")
    if k is not None and epsilon is not None:
        raise ParameterError("similarity_graph: `k` and `epsilon` exclude each other. Give one of them.")
    if k is not None:
        Spec(low=1, integer=True).check("similarity_graph", "k", k)
    if epsilon is not None:
        Spec(low=0, open_low=True).check("similarity_graph", "epsilon", epsilon)
    G = gram(kernel, X)
    if epsilon is None:
        return Adjacency.of(without_loops(affinity(G, None if k is None else int(k) + 1)))
    diagonal = np.asarray(G._in_double().diagonal(), dtype=np.float64)
    rows = []
    for band in G._bands(progress=True):
        K = np.asarray(G._in_double()._values(band, slice(0, len(G))), dtype=np.float64)
        is_near = diagonal[band][:, None] + diagonal - 2 * K <= epsilon**2
        rows.append(scipy.sparse.csr_array(_nonnegative(np.where(is_near, K, 0.0), band.start)))
    A = scipy.sparse.vstack(rows, format="csr")
    return Adjacency.of(without_loops(((A + A.T) / 2).tocsr()))


def affinity(G: Gram, n_neighbors: int | None = None, weight: Vector | None = None) -> Affinity:
    r"""Weights of the graph of a Gram matrix.

    All pairs are linked with their kernel value; with ``n_neighbors`` only nearest neighbours in feature
    space (of the two directions, half the weight each), and the matrix is sparse.

    Parameters
    ----------
    G : Gram
        Symmetric, with values >= 0; a negative one is an error that names the pair.
    n_neighbors : int, optional
        How many points, the point itself included, a point is linked with.
    weight : array of shape (n,), optional
        Positive point weights; neighbours are counted by weight, the last one in part if need be.
    """
    n = len(G)
    if n_neighbors is None:
        memory.require(
            2 * 8 * n * n,
            f"the graph of all pairs of {n} points",
            "Link nearest neighbours alone: n_neighbors=10.",
        )
        A = _nonnegative(np.asarray(G._in_double().dense(), dtype=np.float64), 0)
        return A if weight is None else A * weight[:, None] * weight
    diagonal = np.asarray(G._in_double().diagonal(), dtype=np.float64)
    rows = []
    for band in G._bands(progress=True):
        K = np.asarray(G._in_double()._values(band, slice(0, n)), dtype=np.float64)
        distance = diagonal - 2 * K  # up to k(x, x), which is the same for all neighbours of x
        distance[np.arange(len(K)), np.arange(band.start, band.stop)] = -np.inf
        shares = nearest(distance, n_neighbors, weight)
        rows.append(scipy.sparse.csr_array(_nonnegative(np.where(shares > 0, K, 0.0), band.start) * shares))
    A = scipy.sparse.vstack(rows, format="csr")
    if weight is not None:
        by_weight = scipy.sparse.diags_array(weight)
        A = by_weight @ A @ by_weight
    return ((A + A.T) / 2).tocsr()


def nearest(distance: NDArray[np.float64], k: int, weight: Vector | None = None) -> NDArray[np.float64]:
    """Which of the columns are the ``k`` nearest of each row, as shares from 0 to 1.

    Equal distances are decided for the first.  With weights, columns are taken until their weights sum to
    ``k``, the last in part.
    """
    if weight is None:
        k = min(k, distance.shape[1])
        reach = np.partition(distance, k - 1, axis=1)[:, k - 1 : k]
        closer, tied = distance < reach, distance == reach
        remaining = k - closer.sum(axis=1, keepdims=True)
        return np.asarray(closer | (tied & (tied.cumsum(axis=1) <= remaining)), dtype=np.float64)
    order = np.argsort(distance, axis=1, kind="stable")
    taken = weight[order]
    before = np.cumsum(taken, axis=1) - taken
    shares = np.empty_like(distance)
    np.put_along_axis(shares, order, np.clip((k - before) / taken, 0.0, 1.0), axis=1)
    return shares


def _nonnegative(A: NDArray[np.float64], first: int) -> NDArray[np.float64]:
    if A.size and A.min() < 0:
        i, j = (int(v) for v in np.unravel_index(int(A.argmin()), A.shape))
        raise InputError(
            f"the weights of a graph must be >= 0. The kernel has the value {A[i, j]:.6g} for the points "
            f"{first + i} and {j}. Take a kernel with values >= 0, such as a Gaussian."
        )
    return A
