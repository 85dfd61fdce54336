r"""Kernels by a function of the eigenvalues: :math:`K = r(M) = \sum_i r(\lambda_i) u_i u_i'`.

M is the matrix B of the weights, or a Laplacian.  The matrix is positive semidefinite if r is nonnegative on
the spectrum of M, and strictly if it is positive there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ...arithmetic import ARRAYS, Arithmetic
from ...certificate import Certificate
from ...errors import ParameterError
from ...graphs.operators import GraphOperator, Kind, operator
from ...intervals import NONNEGATIVE, REAL_LINE, Interval
from ...kernel import Gradient, parameter
from .base import NodeKernel

__all__ = ["Diffusion", "ExponentialDiffusion", "SpectralKernel", "TruncatedSpectrum", "VonNeumann"]


class SpectralKernel(NodeKernel):
    """Base of the kernels ``r(M)``."""

    @property
    @abstractmethod
    def _kind(self) -> Kind:
        """Which matrix of the graph M is."""

    @abstractmethod
    def _transform(self, x: Any, m: Arithmetic) -> Any:
        """``r(x)``, in an arithmetic; >= 0 on the spectrum."""

    @property
    def _is_positive(self) -> bool:
        """Whether r is > 0 on the spectrum."""
        return True

    @property
    def operator(self) -> GraphOperator:
        """The matrix M with its spectrum."""
        return operator(self.graph, self._kind, type(self).__name__)

    def _check(self) -> None:
        self.operator  # noqa: B018 - negative weights are an error

    @property
    def _is_small(self) -> bool:
        return self.operator.is_small

    def _on_arrays(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.asarray(self._transform(x, ARRAYS) + np.zeros_like(x))

    def _matrix(self) -> np.ndarray:
        return self.operator.dense(self._on_arrays)

    @property
    def _interval(self) -> tuple[float, float]:
        """Bounds of the spectrum of M; of weights r is up to twice the largest eigenvalue of K there."""
        return self.operator.interval

    def _columns(self, V: np.ndarray) -> np.ndarray:
        tol = self.tol / 2 if self._kind == "adjacency" else self.tol  # r is twice as large, see _interval
        return self.operator.action(self._on_arrays, V, tol, type(self).__name__, self._interval)

    def _value(self, i: int, j: int, m: Arithmetic) -> Any:
        values, vectors = self.operator.eigen_in(m)
        return m.fsum(
            self._transform(values[s], m) * vectors[i, s] * vectors[j, s] for s in range(self.graph.n)
        )

    def _certify(self) -> Certificate:
        name = {"adjacency": "weights", "laplacian": "Laplacian", "normalized": "normalised Laplacian"}
        sign = "> 0" if self._is_positive else ">= 0"
        return Certificate.psd(
            self,
            "spectral transform",
            f"a function of the matrix of {name[self._kind]} that is {sign} on its spectrum",
            strict=self._is_positive,
            conditions=self._conditions,
        )

    @property
    def _conditions(self) -> tuple[str, ...]:
        """What the proof takes from numbers that are not proved bounds."""
        return ()

    @property
    def bounds(self) -> Interval:
        return NONNEGATIVE if self._is_entrywise else REAL_LINE


class Diffusion(SpectralKernel):
    r"""Diffusion kernel on the nodes of a graph (Kondor and Lafferty).

    .. math:: K = e^{-tL}, \qquad L = D - B

    The value is the heat at one node, a time t after a unit of it was put on the other; it flows along the
    edges in proportion to their weights.  Strictly positive definite for t > 0, with values in [0, 1]; nodes
    of different components have the value 0.

    Cost: O(n^3) once on a graph of n <= 2000 nodes.  On a larger one a row, and a product ``K @ v``, takes
    about :math:`\sqrt{2 t \lambda_{\max} \ln(1/tol)}` passes over the edges; the matrix is never formed.

    Parameters
    ----------
    graph : Graph, networkx graph, (n, edges), array or sparse matrix of weights
        Undirected, with weights >= 0.
    t : float, default=1.0
        Time, >= 0.
    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
        With the normalised one, :math:`D^{-1/2} L D^{-1/2}`, every node passes on what it has at one rate.
    tol : float, default=1e-12
        Largest error of ``K @ v`` relative to the length of v, on graphs that are not diagonalised.

    Examples
    --------
    >>> import numpy as np
    >>> k = Diffusion((3, [(0, 1), (1, 2)]), 1.0)
    >>> k.block([0], [0, 1, 2]).round(4)
    array([[0.5256, 0.3167, 0.1577]])
    """

    t: float = parameter(default=1.0, low=0.0, scale="log")
    laplacian: str = parameter(default="combinatorial", choices=("combinatorial", "normalized"), kw_only=True)

    @property
    def _kind(self) -> Kind:
        return "normalized" if self.laplacian == "normalized" else "laplacian"

    def _transform(self, x: Any, m: Arithmetic) -> Any:
        return m.exp(-m.real(self.t) * x)

    _is_entrywise = True

    bounds = Interval(0.0, 1.0)

    def _gradient(self, X: np.ndarray, Y: np.ndarray | None) -> tuple[np.ndarray, Gradient]:
        nodes = np.unique(X if Y is None else Y, return_inverse=True)

        def slope(x: np.ndarray) -> np.ndarray:
            return np.asarray(-self.t * x * np.exp(-self.t * x))

        columns = self.operator.action(slope, self._units(nodes[0]), self.tol, type(self).__name__)
        return self._block(X, Y), {"t": columns[X][:, nodes[1]]}


class ExponentialDiffusion(SpectralKernel):
    r"""Exponential diffusion kernel: walks of all lengths, weighted by 1/k!.

    .. math:: K = e^{\lambda B} = \sum_k \frac{\lambda^k}{k!} B^k

    Strictly positive definite for every decay, whatever the signs of the weights.

    Cost: O(n^3) once on a graph of n <= 2000 nodes; on a larger one some passes over the edges for each row.

    Parameters
    ----------
    graph : Graph, networkx graph, (n, edges), array or sparse matrix of weights
        Undirected; weights are similarities, of any sign.
    decay : float, default=1.0
        The factor :math:`\lambda`.
    tol : float, default=1e-12
        Largest error of ``K @ v`` relative to the largest eigenvalue of K and the length of v, on graphs that
        are not diagonalised.

    Examples
    --------
    >>> import math
    >>> k = ExponentialDiffusion((2, [(0, 1)]), 0.5)
    >>> math.isclose(k(0, 0), math.cosh(0.5)), math.isclose(k(0, 1), math.sinh(0.5))
    (True, True)
    """

    decay: float = parameter(default=1.0)

    _kind = "adjacency"

    def _check(self) -> None:
        radius = max(map(abs, self._interval))
        if abs(self.decay) * radius > 700:
            raise ParameterError(
                f"ExponentialDiffusion: `decay` must be at most {700 / radius:.6g} on this graph: larger "
                f"ones overflow. The spectral radius of its weights is {radius:.6g}. Got {self.decay}."
            )

    @property
    def _interval(self) -> tuple[float, float]:
        return _spectrum(self.operator, lambda b: float(np.exp(min(abs(self.decay) * b, 701))))

    def _transform(self, x: Any, m: Arithmetic) -> Any:
        return m.exp(m.real(self.decay) * x)

    @property
    def _is_entrywise(self) -> bool:
        return self.decay >= 0 and _is_nonnegative(self.graph.matrix)


class VonNeumann(SpectralKernel):
    r"""Von Neumann kernel: walks of all lengths, weighted by a power of the decay.

    .. math:: K = (I - \lambda B)^{-1} = \sum_k \lambda^k B^k, \qquad |\lambda| < 1 / \rho(B)

    with the spectral radius :math:`\rho(B)` (textbooks print the condition without the absolute value).
    Strictly positive definite there; beyond it the series diverges, and the decay is refused.

    Cost: O(n^3) once on a graph of n <= 2000 nodes.  On a larger one a row takes about
    :math:`\ln(1/tol) / \sqrt{1 - |\lambda| \rho}` passes over the edges.

    Parameters
    ----------
    graph : Graph, networkx graph, (n, edges), array or sparse matrix of weights
        Undirected; weights are similarities, of any sign.
    decay : float
        The factor :math:`\lambda`.
    tol : float, default=1e-12
        Largest error of ``K @ v`` relative to the largest eigenvalue of K and the length of v, on graphs that
        are not diagonalised.

    Examples
    --------
    >>> k = VonNeumann((2, [(0, 1)]), 0.5)
    >>> round(k(0, 0), 12), round(k(0, 1), 12)
    (1.333333333333, 0.666666666667)
    >>> VonNeumann((2, [(0, 1)]), 1.0)
    Traceback (most recent call last):
        ...
    mercer.errors.ParameterError: VonNeumann: `decay` must be below 1 in absolute value on this graph, ...
    """

    decay: float = parameter()

    _kind = "adjacency"

    @property
    def _interval(self) -> tuple[float, float]:
        return _spectrum(self.operator, lambda b: 1 / max(1 - abs(self.decay) * b, 1e-6))

    def _may_converge(self, radius: float) -> bool:
        return abs(self.decay) * radius * (1 + 1e-12) < 1

    def _check(self) -> None:
        radius = max(map(abs, self._interval))
        if self._may_converge(radius):
            return
        B = self.operator
        why = "one over the spectral radius of its weights: the sum over walks diverges"
        if not B.is_small and self._may_converge(B.bracket[0]):
            why = "one over the best known bound of the spectral radius of its weights"
        raise ParameterError(
            f"VonNeumann: `decay` must be below {1 / radius:.6g} in absolute value on this graph, {why}. "
            f"Got {self.decay}."
        )

    @property
    def _conditions(self) -> tuple[str, ...]:
        B = self.operator
        if B.is_small or self._may_converge(B.bracket[1]):
            return ()
        return (f"the spectral radius of the weights is {B.radius:.6g}, as found by Lanczos iteration",)

    def _transform(self, x: Any, m: Arithmetic) -> Any:
        return 1 / (1 - m.real(self.decay) * x)

    @property
    def _is_entrywise(self) -> bool:
        return self.decay >= 0 and _is_nonnegative(self.graph.matrix)


class TruncatedSpectrum(SpectralKernel):
    r"""The leading part of a matrix of similarities, as in principal component analysis.

    .. math:: K = \sum_{i \le k} \lambda_i u_i u_i', \qquad \lambda_1 \ge \dots \ge \lambda_n \text{ of } B

    All smaller eigenvalues are set to 0, where the diffusion kernels shrink them.  Positive definite for
    :math:`\lambda_k \ge 0`; more eigenvalues than are positive are refused, and so is a k that would cut
    between two that are equal.

    Cost: O(n^3) once.

    Parameters
    ----------
    graph : Graph, networkx graph, (n, edges), array or sparse matrix of weights
        Undirected; weights are similarities, of any sign.
    k : int
        Number of eigenvalues to keep.

    Examples
    --------
    >>> k = TruncatedSpectrum([[2.0, 1.0], [1.0, 2.0]], 1)  # eigenvalues 3 and 1
    >>> k.block([0, 1]).round(12)
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """

    k: int = parameter(low=1, integer=True)

    _kind = "adjacency"

    def _check(self) -> None:
        B = self.operator
        B.eigen  # noqa: B018 - its need of memory is said first
        values, n = B.eigen[0][::-1], B.n
        gap = 1e-9 * B.radius  # eigenvalues count as different if they are this far apart
        positive = int(np.count_nonzero(values > gap))
        if self.k > positive:
            raise ParameterError(
                f"TruncatedSpectrum: `k` must be at most {positive}, the number of positive eigenvalues of "
                f"the weights. Got {self.k}."
            )
        if self.k < n and values[self.k - 1] - values[self.k] <= gap:
            equal = np.flatnonzero(np.abs(values - values[self.k - 1]) <= gap)
            raise ParameterError(
                f"TruncatedSpectrum: `k` must not cut between equal eigenvalues: those number {equal[0] + 1} "
                f"to {equal[-1] + 1} are {values[self.k - 1]:.6g}. Got {self.k}; use {equal[-1] + 1}."
            )

    @property
    def _is_positive(self) -> bool:
        return bool(self.k == self.graph.n)

    _is_small = True

    def _transform(self, x: Any, m: Arithmetic) -> Any:
        values = self.operator.eigen[0][::-1]
        below = values[self.k] if self.k < len(values) else -np.inf
        least = max(float(values[self.k - 1] + below) / 2, 0.0)
        return m.where(x > least, x, m.real(0))


def _spectrum(B: GraphOperator, largest: Callable[[float], float]) -> tuple[float, float]:
    """Bounds of the eigenvalues of weights, by a few products where those are close enough.

    ``largest(b)`` is the largest value of r between -b and b.  It may be twice that at the spectral radius.
    """
    if B.is_small:
        return B.interval
    low, high = B.bracket
    return (-high, high) if largest(high) <= 2 * largest(low) else B.interval


def _is_nonnegative(B: Any) -> bool:
    return not B.nnz or bool(B.data.min() >= 0)
