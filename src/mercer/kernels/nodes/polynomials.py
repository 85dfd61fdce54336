r"""Polynomials of the weights: walks of given lengths.

A power :math:`B^k` sums the products of weights over all walks of length k between two nodes.  An even power
is a square, so positive semidefinite; an odd one has the signs of the eigenvalues of B.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ...arithmetic import Arithmetic
from ...certificate import Certificate, Witness
from ...engine.threads import single_threaded_blas
from ...graphs.operators import GraphOperator, operator
from ...intervals import NONNEGATIVE, REAL_LINE, Interval
from ...kernel import parameter
from .base import NodeKernel

__all__ = ["PathKernel", "SeriesKernel"]


class PolynomialKernel(NodeKernel):
    """Base of the kernels ``p(B)``."""

    @property
    def _powers(self) -> tuple[float, ...]:
        """Coefficients of 1, B, B^2, ..."""
        raise NotImplementedError

    @cached_property
    def operator(self) -> GraphOperator:
        """The matrix B with its spectrum."""
        return operator(self.graph, "adjacency", type(self).__name__)

    @property
    def _is_small(self) -> bool:
        return self.operator.is_small

    def _matrix(self) -> np.ndarray:
        with single_threaded_blas():
            K = self._horner(self.graph.matrix.toarray(), np.eye(self.graph.n))
        return np.asarray((K + K.T) / 2)

    def _columns(self, V: np.ndarray) -> np.ndarray:
        return self._horner(self.graph.matrix, V)

    def _horner(self, B: Any, V: np.ndarray) -> np.ndarray:
        *lower, last = self._powers
        result = last * V
        with np.errstate(over="ignore", invalid="ignore"):
            for c in reversed(lower):
                result = B @ result + c * V if c else B @ result
        return np.asarray(result)

    def _value(self, i: int, j: int, m: Arithmetic) -> Any:
        B = self.graph.matrix
        starts, ends, weights = B.indptr.tolist(), B.indices.tolist(), [m.real(w) for w in B.data.tolist()]
        *lower, last = (m.real(c) for c in self._powers)
        column = {j: last}  # nodes that a walk has reached so far, with the sum of its weights
        for c in reversed(lower):
            reached: dict[int, Any] = {j: c}
            for u, value in column.items():
                for a in range(starts[u], starts[u + 1]):
                    v = ends[a]
                    reached[v] = reached.get(v, 0) + weights[a] * value
            column = reached
        return column.get(i, m.real(0))

    @property
    def _is_entrywise(self) -> bool:
        weights = self.graph.matrix.data
        return min(self._powers) >= 0 and (not len(weights) or bool(weights.min() >= 0))

    @property
    def bounds(self) -> Interval:
        return NONNEGATIVE if self._is_entrywise else REAL_LINE

    # -- definiteness ---------------------------------------------------------------------------
    def _certify(self) -> Certificate:
        powers = self._powers
        if min(powers[::2], default=0.0) >= 0 and not any(powers[1::2]):
            strict = powers[0] > 0
            return Certificate.psd(
                self,
                "even powers",
                "a sum of squares of a symmetric matrix, with factors >= 0",
                strict=strict,
            )
        if not self._is_small:
            return self._certify_large()
        values, vectors = self.operator.eigen
        p = np.polynomial.Polynomial(powers)
        slack = self.operator.rounding
        around = np.array([p(values - slack), p(values), p(values + slack)])
        rounding = 64 * len(powers) * np.finfo(np.float64).eps * np.polynomial.Polynomial(np.abs(powers))(
            self.operator.radius
        )  # fmt: skip
        worst = int(around.max(axis=0).argmin())
        if around[:, worst].max() < -rounding:
            return Certificate.refuted(
                self,
                "spectral transform",
                f"B has the eigenvalue {values[worst]:.6g}, where the polynomial is {p(values[worst]):.6g}",
                witness=self._witness(vectors[:, worst]),
            )
        if around.min() > rounding:
            return Certificate.psd(
                self,
                "spectral transform",
                f"the polynomial is at least {around.min():.6g} at the eigenvalues of B, far above rounding",
                strict=True,
            )
        # A small matrix that is singular up to rounding is decided in fractions: 0.2 s.
        if self.graph.n <= 12 and len(powers) <= 9 and self._is_semidefinite():
            return Certificate.psd(
                self, "elimination in fractions", "all pivots of the matrix of all nodes are >= 0, exactly"
            )
        return Certificate.unknown(self, "the polynomial vanishes, up to rounding, at an eigenvalue of B")

    def _is_semidefinite(self) -> bool:
        """Whether the matrix of all nodes is positive semidefinite, in exact arithmetic."""
        rows = self.graph.matrix.toarray().tolist()
        B = np.array([[Fraction(weight) for weight in row] for row in rows], dtype=object)
        K = np.zeros_like(B)
        for c in reversed(self._powers):
            K = K @ B + Fraction(c) * np.eye(len(B), dtype=int)
        for i in range(len(K)):
            if K[i, i] < 0 or (K[i, i] == 0 and K[i, i:].any()):
                return False
            if K[i, i] > 0:
                K[i:, i:] = K[i:, i:] - np.outer(K[i:, i], K[i, i:]) / K[i, i]
        return True

    def _certify_large(self) -> Certificate:
        B = self.graph.matrix
        powers = np.flatnonzero(self._powers)
        row = np.repeat(np.arange(self.graph.n), np.diff(B.indptr))
        if len(powers) == 1 and (B.diagonal()[row] == 0).any():
            return Certificate.refuted(
                self,
                "odd power",
                "B has a negative eigenvalue, since a node with edges has no self-loop; odd powers keep it",
            )
        return Certificate.unknown(self, "the spectrum of a large graph is not computed")

    def _witness(self, direction: np.ndarray) -> Witness | None:
        """Two nodes at a negative squared distance, if there are any; else all nodes, if they are few."""
        K = self._held
        distance = K.diagonal()[:, None] + K.diagonal() - 2 * K
        i, j = (int(v) for v in np.unravel_index(int(distance.argmin()), K.shape))
        names = list(self.graph.names or range(self.graph.n))
        if distance[i, j] < -1e-9 * np.abs(K).max():
            return Witness.of(self, [names[i], names[j]], [1.0, -1.0])
        # A witness with all nodes is recomputed to fifty digits, which many nodes are too many for.
        if self.graph.n > 40:
            return None
        return Witness.of(self, names, direction.tolist())


class PathKernel(PolynomialKernel):
    r"""Walks of one length between two nodes.

    .. math:: K = B^\ell, \qquad k(i, j) = \sum_{i = v_0, v_1, \dots, v_\ell = j} \prod_s B_{v_{s-1} v_s}

    For weights of 1 the number of walks.  Positive definite for an even length; an odd one keeps the signs of
    the eigenvalues of B, some of which are negative on every graph without self-loops: then it is refuted,
    with a witness.

    Cost: O(n^3 log l) once on a graph of n <= 2000 nodes; on a larger one l passes over the edges per row.
    Counts are exact below :math:`2^{53}`.

    Parameters
    ----------
    graph : Graph, networkx graph, (n, edges), array or sparse matrix of weights
        Undirected; weights of any sign.
    length : int, default=2
        Number of edges of a walk, >= 1.

    Examples
    --------
    >>> path = (3, [(0, 1), (1, 2)])
    >>> PathKernel(path, 2).block([0, 1, 2])
    array([[1., 0., 1.],
           [0., 2., 0.],
           [1., 0., 1.]])
    >>> print(PathKernel(path, 3).certificate.verdict)
    REFUTED
    """

    length: int = parameter(default=2, low=1, high=10_000, integer=True)

    @property
    def _powers(self) -> tuple[float, ...]:
        return (*(0.0,) * self.length, 1.0)

    def _matrix(self) -> np.ndarray:
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
            K = np.linalg.matrix_power(self.graph.matrix.toarray(), self.length)
        return np.asarray((K + K.T) / 2)


class SeriesKernel(PolynomialKernel):
    r"""A polynomial of the weights: walks of several lengths.

    .. math:: K = \sum_k c_k B^k

    Positive definite if and only if the polynomial is nonnegative on the spectrum of B: so it is where the
    odd coefficients are 0 and the even ones >= 0; any other is decided by the eigenvalues of a small graph,
    if they are clear of rounding, or else in fractions for up to 12 nodes and the degree 8.  B + B^2 is
    positive definite on the path of three nodes and not on that of four.

    Cost: as many matrix products as the degree, once, on a graph of n <= 2000 nodes; on a larger one as many
    passes over the edges for each row.

    Parameters
    ----------
    graph : Graph, networkx graph, (n, edges), array or sparse matrix of weights
        Undirected; weights of any sign.
    coefficients : sequence of float
        :math:`c_0, c_1, \dots`, of walks of length 0, 1, ...

    Examples
    --------
    >>> k = SeriesKernel((4, [(0, 1), (1, 2), (2, 3)]), [0, 1, 1])
    >>> k.block([0], [0, 1, 2, 3])
    array([[1., 1., 1., 0.]])
    >>> print(k.certificate.verdict)
    REFUTED
    """

    coefficients: Any = parameter(ndim=(1,))

    @property
    def _powers(self) -> tuple[float, ...]:
        return tuple(self.coefficients.tolist()) or (0.0,)
