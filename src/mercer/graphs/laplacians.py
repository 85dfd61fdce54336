r"""Weights, degrees, Laplacians and components of a graph.

With weights :math:`B \ge 0` and degrees :math:`d_i = \sum_j B_{ij}`, the Laplacian is :math:`L = D - B`, and

.. math:: f^\top L f = \tfrac12 \sum_{ij} B_{ij} (f_i - f_j)^2 \ge 0 .

The normalised one, :math:`D^{-1/2} L D^{-1/2}`, has this for :math:`f_i / \sqrt{d_i}`; its eigenvalues are at
most 2.

Point weights stand for repetition: a point of weight 2 is two points, linked to each other and to all others
alike.  The matrices here have one row per distinct point, and the edges of all copies added up.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..domains import Adjacency, check_sparse
from ..errors import InputError

__all__ = ["components", "degrees", "inverse_roots", "laplacian", "smoothness", "weights_of", "without_loops"]

#: A matrix of weights: dense, or sparse with rows of few neighbours.
Affinity: TypeAlias = Any
Vector: TypeAlias = NDArray[np.float64]


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


def laplacian(graph: Any, *, normalized: bool = False, weight: Vector | None = None) -> Affinity:
    r"""Laplacian of a graph, positive semidefinite.

    .. math:: L = D - B, \qquad \text{normalised: } L = D^{-1/2} (D - B) D^{-1/2}

    with :math:`D` the diagonal matrix of the row sums of the weights :math:`B`.  A node without edges has a
    row of zeros in both.

    Parameters
    ----------
    graph : Graph, networkx graph, (n, edges), array or sparse matrix of shape (n, n)
        Undirected, with weights >= 0.
    normalized : bool, default=False
    weight : array of shape (n,), optional
        Point weights, where the matrix has the edges of all copies added up: of a point of weight w each copy
        has the w-th part of the row sum as its degree.

    Returns
    -------
    array if an array was given, else sparse array, of shape (n, n)

    Examples
    --------
    >>> laplacian((3, [(0, 1, 2.0), (1, 2)])).toarray()
    array([[ 2., -2.,  0.],
           [-2.,  3., -1.],
           [ 0., -1.,  1.]])
    """
    A = weights_of(graph, "laplacian")
    d = degrees(A)
    L = (scipy.sparse.diags_array(d) - A).tocsr() if scipy.sparse.issparse(A) else np.diag(d) - A
    if not normalized:
        return L
    s = inverse_roots(d if weight is None else d / weight)
    if scipy.sparse.issparse(L):
        return (scipy.sparse.diags_array(s) @ L @ scipy.sparse.diags_array(s)).tocsr()
    L *= s[:, None]
    L *= s
    return L


def smoothness(graph: Any, f: Any, *, normalized: bool = False) -> Any:
    r"""How much a function changes along the edges of a graph.

    .. math:: f^\top L f = \tfrac12 \sum_{ij} B_{ij} (f_i - f_j)^2

    Parameters
    ----------
    graph : Graph, networkx graph, (n, edges), array or sparse matrix of shape (n, n)
        Undirected, with weights >= 0.
    f : array of shape (n,) or (n, c)
    normalized : bool, default=False
        Use the normalised Laplacian.

    Returns
    -------
    float, or array of shape (c,): 0 for a function that is constant on every component

    Examples
    --------
    >>> smoothness((3, [(0, 1), (1, 2)]), [0.0, 1.0, 3.0])
    5.0
    """
    A = weights_of(graph, "smoothness")
    try:
        F = np.asarray(f, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"smoothness: `f` must be numbers: {error}.") from error
    if not np.isfinite(F).all():
        raise InputError("smoothness: `f` must be finite. Got a NaN or an infinity.")
    if F.ndim not in (1, 2) or len(F) != A.shape[0]:
        n = A.shape[0]
        raise InputError(f"smoothness: `f` must have a value for each of {n} nodes. Got shape {F.shape}.")
    G = F.reshape(len(F), -1)
    G = inverse_roots(degrees(A))[:, None] * G if normalized else G
    edges = scipy.sparse.coo_array(A)
    total = edges.data @ (G[edges.row] - G[edges.col]) ** 2 / 2
    return float(total[0]) if F.ndim == 1 else total


def weights_of(graph: Any, caller: str) -> Affinity:
    """Weights of a graph, as they are if they come as a matrix: symmetric, and >= 0."""
    if scipy.sparse.issparse(graph):
        check_sparse(graph, f"{caller}: `graph`")
        if graph.dtype.kind not in "biuf":
            raise InputError(f"{caller}: `graph` must have real weights. Got {graph.dtype}.")
        A = graph.tocsr().astype(np.float64, copy=False)
    elif isinstance(graph, np.ndarray) and graph.dtype.kind in "biuf":
        A = np.asarray(graph, dtype=np.float64)
    else:
        try:
            A = Adjacency.of(graph).matrix
        except InputError as error:
            raise InputError(f"{caller}: {str(error).removeprefix('Adjacency: ')}") from None
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise InputError(f"{caller}: `graph` must have a square matrix of weights. Got shape {A.shape}.")
    if not A.shape[0]:
        return A
    if not np.isfinite(A.data if scipy.sparse.issparse(A) else A).all():
        raise InputError(f"{caller}: `graph` must have finite weights. Got a NaN or an infinity.")
    if A.min() < 0:
        raise InputError(f"{caller}: `graph` must have weights >= 0. The least is {A.min():.6g}.")
    if abs(A - A.T).max() > 16 * np.finfo(np.float64).eps * A.max():  # more than rounding
        raise InputError(f"{caller}: `graph` must be undirected: its matrix of weights is not symmetric.")
    return A


def inverse_roots(d: Vector) -> Vector:
    """``1 / sqrt(d)``, and 0 where the degree is 0."""
    result = np.zeros_like(d)
    np.divide(1.0, np.sqrt(d), out=result, where=d > 0)
    return result


def components(graph: Any) -> tuple[int, NDArray[np.intp]]:
    """Number of connected components of a graph, and the component of each node.

    An edge whose weight is lost in the rounding of its nodes' degrees counts as none.

    Parameters
    ----------
    graph : Graph, networkx graph, (n, edges), array or sparse matrix of shape (n, n)
        Undirected, with weights >= 0.

    Examples
    --------
    >>> components((4, [(0, 2), (1, 3)]))
    (2, array([0, 1, 0, 1]))
    """
    A = weights_of(graph, "components")
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
