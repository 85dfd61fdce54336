"""The smoothest eigenvectors of a graph."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .. import memory
from ..engine.factorizations import eigh
from ..gram.spectrum import fix_signs
from ..parameters import Spec
from .laplacians import Affinity, Vector, components, degrees, inverse_roots, weights_of

__all__ = ["Eigenbasis", "eigenbasis"]

#: Up to this size Lanczos iteration has no advantage over the dense solver.
DENSE_SIZE = 500


class Eigenbasis(NamedTuple):
    """Eigenvectors of a Laplacian.

    Attributes
    ----------
    values : array of shape (k,)
        Eigenvalues >= 0, ascending; those of the normalised Laplacian are at most 2.
    vectors : array of shape (n, k)
        Orthonormal columns, each with its largest entry positive.
    n_components : int
        Connected components of the graph: the multiplicity of the eigenvalue zero.
    component : array of shape (n,)
        The component of each node.
    """

    values: Vector
    vectors: NDArray[np.float64]
    n_components: int
    component: NDArray[np.intp]


def eigenbasis(graph: Any, k: int, *, normalized: bool = True) -> Eigenbasis:
    """The ``k`` smoothest eigenvectors of a graph: those of its Laplacian with the least eigenvalues.

    Each component is solved for itself, so that an eigenvalue that several share cannot be missed; the
    vector of eigenvalue 0 is known, constant or the roots of the degrees.  A node without edges is a
    component.

    Cost: O(n^3) for up to 500 nodes in a component; above, Lanczos iteration on products, if k is small.

    Parameters
    ----------
    graph : Graph, networkx graph, (n, edges), array or sparse matrix of shape (n, n)
        Undirected, with weights >= 0.
    k : int
        Number of eigenvectors, at most n.
    normalized : bool, default=True
        Use the normalised Laplacian.

    Examples
    --------
    >>> eigenbasis((4, [(0, 1), (1, 2), (2, 3)]), 2, normalized=False).values.round(4)
    array([0.    , 0.5858])
    """
    A = weights_of(graph, "eigenbasis")
    n = A.shape[0]
    Spec(low=1, high=n, integer=True).check("eigenbasis", "k", k)
    count, component = components(A)
    values, vectors = [], []
    for c in range(count):
        members = np.flatnonzero(component == c)
        own = A if count == 1 else A[members][:, members]
        part_values, part = _component_basis(own, min(k, len(members)), normalized)
        values.append(part_values)
        padded = np.zeros((n, part.shape[1])) if count > 1 else part
        if count > 1:
            padded[members] = part
        vectors.append(padded)
        if len(values) > 1:  # keep no more than are needed
            merged = np.concatenate(values)
            order = np.argsort(merged, kind="stable")[:k]
            values, vectors = [merged[order]], [np.hstack(vectors)[:, order]]
    return Eigenbasis(values[0], fix_signs(vectors[0]), count, component)


def _component_basis(A: Affinity, k: int, normalized: bool) -> tuple[Vector, NDArray[np.float64]]:
    """Eigenpairs of one component, the known one first.

    They are those of a matrix S with the eigenvalue 1 for the known vector, and 1 - x / scale for an
    eigenvalue x of the Laplacian.
    """
    d = degrees(A)
    n = len(d)
    root = np.sqrt(d) if normalized and d.any() else np.ones(n)  # a single node may be without edges
    first = root / np.linalg.norm(root)
    if k == 1:
        return np.zeros(1), first[:, None]
    scale = 1.0 if normalized else 2 * float(d.max())
    sparse = scipy.sparse.issparse(A)
    if normalized:  # D^-1/2 A D^-1/2
        s = inverse_roots(d)
        S = scipy.sparse.diags_array(s) @ A @ scipy.sparse.diags_array(s) if sparse else A * s[:, None] * s
    else:  # I - (D - A) / scale
        rest = 1.0 - d / scale
        S = A / scale + (scipy.sparse.diags_array(rest) if sparse else np.diag(rest))
    found = _lanczos(S, first, k - 1) if n > DENSE_SIZE and 4 * k < n else None
    if found is None:
        memory.require(3 * 8 * n * n, f"the eigenvectors of a graph of {n} nodes")
        dense = S.toarray() if sparse else S
        dense = dense - 3.0 * np.outer(first, first)  # out of the way: eigenvalue 1 becomes -2
        found = eigh(dense, overwrite=True, subset=(n - k + 1, n - 1))
    order = np.argsort(-found[0], kind="stable")
    values = np.clip(scale * (1.0 - found[0][order]), 0.0, 2.0 * scale)
    return np.concatenate([[0.0], values]), np.column_stack([first, found[1][:, order]])


def _lanczos(S: Affinity, first: Vector, k: int) -> tuple[Vector, NDArray[np.float64]] | None:
    """Largest eigenpairs besides the known one, from a fixed start; None if they are not good enough."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    n = len(first)

    def product(v: Vector) -> Vector:
        v = v.reshape(n, -1)
        return np.asarray(S @ v - first[:, None] * (3.0 * (first @ v)))

    operator = LinearOperator((n, n), matvec=product, matmat=product, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    try:
        # Restarts of some fifty products each; a long path has eigenvalues too close for this many.
        size = min(n, max(4 * k, 60))
        values, vectors = eigsh(operator, k=k, which="LA", v0=start, ncv=size, maxiter=1000)
    except (ArpackError, np.linalg.LinAlgError):
        return None
    residual = np.abs(product(vectors) - vectors * values).max()
    overlap = np.abs(vectors.T @ vectors - np.eye(k)).max()
    return (values, vectors) if max(residual, overlap) <= 1e-10 else None
