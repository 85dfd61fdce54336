r"""The symmetric matrices of a graph, and functions of them.

========================  =============================================================
``"adjacency"``           :math:`B`, the weights
``"laplacian"``           :math:`L = D - B`, with the degrees :math:`D = \mathrm{diag}(B 1)`
``"normalized"``          :math:`D^{-1/2} L D^{-1/2}`, eigenvalues in [0, 2]
========================  =============================================================

A small graph is diagonalised once, and the result kept as long as the graph lives.  A function of the matrix
of a large one is applied to columns by its Chebyshev expansion (:mod:`mercer.engine.chebyshev`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import memory
from ..arithmetic import Arithmetic
from ..caches import Cache
from ..domains import Adjacency
from ..engine.chebyshev import act, expand
from ..engine.factorizations import eigh
from ..engine.threads import single_threaded_blas
from ..errors import InputError, ParameterError
from .laplacians import laplacian

__all__ = ["Function", "GraphOperator", "Kind", "operator"]

Kind: TypeAlias = Literal["adjacency", "laplacian", "normalized"]
Function: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]

#: Nodes up to which a graph is diagonalised, some seconds, once; larger ones if they are dense.
SMALL = 2000


class GraphOperator:
    """One of the symmetric matrices of a graph; use :func:`operator` to get one.

    Attributes
    ----------
    matrix : scipy.sparse.csr_array of shape (n, n)
    kind : str
    """

    def __init__(self, matrix: Any, kind: Kind) -> None:
        self.matrix, self.kind = matrix, kind
        self._precise: dict[int, tuple[Any, Any]] = {}

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.matrix.shape[0])

    @property
    def is_small(self) -> bool:
        """Whether the matrix is diagonalised."""
        return self.n <= SMALL or self.matrix.nnz > 0.1 * self.n**2

    @cached_property
    def eigen(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Eigenvalues, ascending, and eigenvectors as columns: O(n^3) time, O(n^2) memory."""
        n = self.n
        memory.require(
            4 * 8 * n * n,
            f"the eigendecomposition of a graph of {n} nodes",
            "Smooth functions of the graph do without it: Diffusion, VonNeumann, Regularized, ...",
        )
        with single_threaded_blas():  # whose number of threads would change the bits
            values, vectors = eigh(self.matrix.toarray(), overwrite=True)
        if self.kind != "adjacency":
            values = np.clip(values, 0.0, 2.0 if self.kind == "normalized" else np.inf)
        return values, vectors

    @property
    def rounding(self) -> float:
        """Bound on the rounding errors of computed eigenvalues; of a large graph, on those of its bound."""
        n = self.n if self.is_small else 1
        return 64 * n * float(np.finfo(np.float64).eps) * max(map(abs, self.interval))

    def eigen_in(self, m: Arithmetic) -> tuple[Any, Any]:
        """Eigenvalues and eigenvectors in the arithmetic of multiprecision numbers."""
        context: Any = m
        if context.dps in self._precise:
            return self._precise[context.dps]
        n, B = self.n, self.adjacency.tocoo()
        M = context.matrix(n, n)
        for i, j, w in zip(B.row.tolist(), B.col.tolist(), B.data.tolist(), strict=True):
            M[i, j] = context.mpf(w)
        if self.kind != "adjacency":
            degrees = [context.fsum(M[i, j] for j in range(n)) for i in range(n)]
            M = -M
            for i in range(n):
                M[i, i] += degrees[i]
        if self.kind == "normalized":
            roots = [context.sqrt(d) if d > 0 else context.mpf(1) for d in degrees]
            for i in range(n):
                for j in range(n):
                    M[i, j] /= roots[i] * roots[j]
        self._precise[context.dps] = context.eigsy(M)
        return self._precise[context.dps]

    @cached_property
    def adjacency(self) -> Any:
        """The weights that the matrix was made of."""
        return self.matrix

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Bounds of the eigenvalues: of the Laplacians by theorem, of the weights by their radius."""
        if self.kind == "normalized":
            return 0.0, 2.0
        if self.kind == "laplacian":
            # The largest sum of the degrees of two neighbours (Anderson and Morley).
            L, degrees = self.matrix.tocoo(), self.matrix.diagonal()
            edges = L.row < L.col
            sums = degrees[L.row[edges]] + degrees[L.col[edges]]
            return 0.0, float(sums.max(initial=0.0)) * (1 + 4 * np.finfo(np.float64).eps)
        if self.is_small:
            values = self.eigen[0]
            return float(values[0]), float(values[-1])
        return -self.radius, self.radius

    @cached_property
    def bracket(self) -> tuple[float, float]:
        r"""A lower and an upper bound of the spectral radius by a few products, close on most graphs.

        .. math:: |x' M x| / x'x \le \rho(M) \le \rho(|M|) \le \max_i (|M| x)_i / x_i

        for every vector x > 0 (Rayleigh; Collatz and Wielandt); x comes from steps of power iteration.
        """
        M, size, x = self.matrix, abs(self.matrix), np.ones(self.n)
        low, high = 0.0, np.inf
        for _ in range(32):  # fewer products than an expansion has terms
            y = size @ x
            if not y.any():
                return 0.0, 0.0
            low = max(low, abs(float(x @ (M @ x))) / float(x @ x))
            high = min(high, float((y / x).max()))
            if high - low <= 1e-4 * high:  # which changes the number of terms by less than one
                break
            y += x * (x @ y) / (x @ x)  # no entry becomes 0, and bipartite graphs converge
            x = np.maximum(y / y.max(), np.finfo(np.float64).tiny)
        rounding = 4 * self.n * np.finfo(np.float64).eps
        return float(low * (1 - rounding)), float(high * (1 + rounding))

    @cached_property
    def largest(self) -> float:
        """The largest eigenvalue of a small graph, and a proved bound of it for a large Laplacian."""
        return float(self.eigen[0][-1]) if self.is_small else self.interval[1]

    @cached_property
    def radius(self) -> float:
        """The largest absolute value of an eigenvalue; on large graphs as for :attr:`largest`."""
        if self.kind != "adjacency":
            return self.largest
        if self.is_small:
            return max(map(abs, self.interval))
        found, bound = self._lanczos(), self.bracket[1]
        return bound if found is None else min(abs(found) * (1 + 1e-8), bound)  # moved outwards

    def _lanczos(self) -> float | None:
        """The eigenvalue of largest absolute value; None if it is not found in time."""
        from scipy.sparse.linalg import ArpackNoConvergence, eigsh

        if not self.matrix.nnz:
            return 0.0
        start = np.random.default_rng(0).standard_normal(self.n)
        # Ten restarts of about ten products each.  What is not found then (the ends of a long path are 1e-12
        # apart) is left to the bounds.
        options: Any = {"v0": start, "tol": 1e-12, "maxiter": 10, "return_eigenvectors": False}
        try:
            return float(eigsh(self.matrix, k=1, which="LM", **options)[0])
        except ArpackNoConvergence:
            return None

    # -- functions of the matrix ----------------------------------------------------------------
    def dense(self, r: Function) -> NDArray[np.float64]:
        """``r(M)`` of a small graph, symmetric."""
        values, vectors = self.eigen
        with single_threaded_blas():
            K = (vectors * r(values)) @ vectors.T
        return np.asarray((K + K.T) / 2)

    def action(
        self,
        r: Function,
        V: NDArray[np.float64],
        tol: float,
        caller: str,
        interval: tuple[float, float] | None = None,
    ) -> NDArray[np.float64]:
        """``r(M) V``; the error on large graphs is at most ``tol max|r|`` times the length of a column.

        ``interval`` holds the spectrum; by default it is :attr:`interval`.
        """
        if self.is_small:
            values, vectors = self.eigen
            with single_threaded_blas():
                return np.asarray(vectors @ (r(values)[:, None] * (vectors.T @ V)))
        interval = self.interval if interval is None else interval
        expansion = expand(r, *interval, tol)
        if expansion is None:
            # Half of each, for a caller may have halved what its user gave.
            tolerances = (1e-11, 1e-10, 1e-9, 1e-8, 1e-6, 1e-4)
            reached = next((e for e in tolerances if e > 2 * tol and expand(r, *interval, e / 2)), None)
            remedy = "" if reached is None else f" `tol={reached:g}` is within reach."
            raise ParameterError(
                f"{caller}: its function of the eigenvalues jumps, or is too steep for `tol` and for "
                f"rounding, on the interval from {interval[0]:.6g} to {interval[1]:.6g} of the spectrum."
                f"{remedy} Graphs of up to {SMALL} nodes are diagonalised."
            )
        return act(self.matrix, expansion, V)


def operator(graph: Adjacency, kind: Kind, caller: str) -> GraphOperator:
    """A matrix of a graph, made once.

    Raises
    ------
    InputError
        If a Laplacian is requested of a graph with negative weights.
    """
    return _MATRICES[kind].of(graph, lambda g: _make(g, kind, caller))


#: Matrices that are known, by graph.
_MATRICES: dict[Kind, Cache] = {"adjacency": Cache(), "laplacian": Cache(), "normalized": Cache()}


def _make(graph: Adjacency, kind: Kind, caller: str) -> GraphOperator:
    if kind == "adjacency":
        return GraphOperator(graph.matrix, kind)
    B = graph.matrix
    if B.nnz and B.data.min() < 0:
        worst = int(B.data.argmin())
        i = int(np.searchsorted(B.indptr, worst, side="right")) - 1
        raise InputError(
            f"{caller}: `graph` must have weights >= 0 for its Laplacian. The edge between the nodes {i} and "
            f"{int(B.indices[worst])} has the weight {B.data[worst]:.6g}."
        )
    found = GraphOperator(laplacian(B, normalized=kind == "normalized"), kind)
    found.adjacency = B
    return found
