r"""Weighted graphs on points: affinities, degrees, Laplacians, components.

An affinity :math:`A` is a symmetric matrix of weights :math:`\ge 0`, dense or sparse.  With degrees
:math:`d_i = \sum_j A_{ij}` its Laplacian is :math:`L = D - A`, and

.. math:: f^\top L f = \tfrac12 \sum_{ij} A_{ij} (f_i - f_j)^2 \ge 0 .

The normalised one, :math:`D^{-1/2} L D^{-1/2}`, has this for :math:`f_i / \sqrt{d_i}`.

Point weights stand for repetition: a point of weight 2 is two points, linked to each other and to all others
alike.  The matrices here have one row per distinct point, and the edges of all copies added up.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ... import memory
from ...errors import InputError, ParameterError
from ...gram import Gram

__all__ = ["Affinity", "affinity", "components", "degrees", "graph_laplacian", "nearest", "without_loops"]

#: A matrix of weights: dense, or sparse with rows of few neighbours.
Affinity: TypeAlias = Any
Vector: TypeAlias = NDArray[np.float64]


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


def without_loops(A: Affinity) -> Affinity:
    """The same graph without the edges from points to themselves."""
    if scipy.sparse.issparse(A):
        return (A - scipy.sparse.diags_array(A.diagonal())).tocsr()
    A = A.copy()
    np.fill_diagonal(A, 0.0)
    return A


def degrees(A: Affinity) -> Vector:
    """Sums of the rows."""
    return np.asarray(A.sum(axis=1), dtype=np.float64).ravel()


def graph_laplacian(A: Affinity, *, normalized: bool = False, weight: Vector | None = None) -> Affinity:
    r"""Laplacian of a graph, positive semidefinite.

    .. math:: L = D - A, \qquad \text{normalised: } L = D^{-1/2} (D - A) D^{-1/2}

    with :math:`D` the diagonal matrix of the row sums of :math:`A`.  A point without edges has a row of
    zeros in both.

    Parameters
    ----------
    A : array or sparse matrix of shape (n, n)
        Symmetric weights >= 0.
    normalized : bool, default=False
    weight : array of shape (n,), optional
        Point weights, where ``A`` has the edges of all copies added up: of a point of weight w each copy has
        the w-th part of the row sum as its degree.

    Returns
    -------
    array or sparse matrix of shape (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> graph_laplacian(np.array([[0.0, 2.0], [2.0, 0.0]]))
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    A = _square(A)
    d = degrees(A)
    L = scipy.sparse.diags_array(d) - A if scipy.sparse.issparse(A) else np.diag(d) - A
    if not normalized:
        return L
    s = inverse_roots(d if weight is None else d / weight)
    if scipy.sparse.issparse(L):
        return (scipy.sparse.diags_array(s) @ L @ scipy.sparse.diags_array(s)).tocsr()
    L *= s[:, None]
    L *= s
    return L


def _square(A: Any) -> Affinity:
    if not scipy.sparse.issparse(A):
        A = np.asarray(A, dtype=np.float64)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ParameterError(f"graph_laplacian: `A` must be a square matrix of weights. Got shape {A.shape}.")
    if (A.min() if A.shape[0] else 0.0) < 0:
        raise InputError(f"graph_laplacian: `A` must have weights >= 0. The least is {A.min():.6g}.")
    return A


def inverse_roots(d: Vector) -> Vector:
    """``1 / sqrt(d)``, and 0 where the degree is 0."""
    result = np.zeros_like(d)
    np.divide(1.0, np.sqrt(d), out=result, where=d > 0)
    return result


def components(A: Affinity) -> tuple[int, NDArray[np.intp]]:
    """Number of connected components, and that of each point.

    A link that is lost in the rounding of its points' degrees counts as none.
    """
    level = np.finfo(np.float64).eps * degrees(A)
    if not scipy.sparse.issparse(A):
        return _components_dense(A, level)
    from scipy.sparse.csgraph import connected_components

    A = A.tocoo()
    kept = A.data > np.minimum(level[A.row], level[A.col])
    links = scipy.sparse.csr_array((np.ones(kept.sum()), (A.row[kept], A.col[kept])), shape=A.shape)
    count, labels = connected_components(links, directed=False)
    return int(count), np.asarray(labels, dtype=np.intp)


def _components_dense(A: NDArray[np.float64], level: Vector) -> tuple[int, NDArray[np.intp]]:
    """Flood from the first point not yet reached; every row is read once."""
    labels = np.full(len(A), -1, dtype=np.intp)
    count = 0
    for start in range(len(A)):
        if labels[start] >= 0:
            continue
        front = np.array([start])
        labels[front] = count
        while len(front):
            unseen = np.flatnonzero(labels < 0)
            links = A[np.ix_(front, unseen)] > np.minimum(level[front][:, None], level[unseen])
            front = unseen[links.any(axis=0)]
            labels[front] = count
        count += 1
    return count, labels
