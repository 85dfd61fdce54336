"""What all kernels on nodes share: the graph, its matrices, rows by actions."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...arithmetic import FLOAT, Arithmetic
from ...domains import Adjacency, Domain, NodeData, Nodes
from ...engine.runs import checkpoint
from ...errors import InputError
from ...kernel import Kernel, parameter

__all__ = ["NodeKernel"]

#: Columns of the identity that an action is applied to at a time.
COLUMNS = 16


class NodeKernel(Kernel):
    r"""Base of the kernels on the nodes of one graph, :math:`k(i, j) = K_{ij}` for a matrix K of the graph.

    Subclasses give the matrix of a small graph, its action on columns for a large one, and one value in any
    arithmetic.
    """

    _always_double: ClassVar[bool] = True

    graph: Any
    tol: float = parameter(default=1e-12, low=1e-13, high=1.0, open_high=True, kw_only=True)

    def _validate(self) -> None:
        try:
            graph = Adjacency.of(self.graph)
        except InputError as error:
            raise InputError(f"{type(self).__name__}: {str(error).removeprefix('Adjacency: ')}") from None
        object.__setattr__(self, "graph", graph)
        self._check()

    def _check(self) -> None:
        """Check the parameters against the graph."""

    # -- what a subclass gives ------------------------------------------------------------------
    @property
    @abstractmethod
    def _is_small(self) -> bool:
        """Whether the matrix of all nodes is held."""

    @abstractmethod
    def _matrix(self) -> np.ndarray:
        """The matrix of all nodes of a small graph."""

    @abstractmethod
    def _columns(self, V: np.ndarray) -> np.ndarray:
        """``K @ V`` for all nodes, V of shape (n, c)."""

    @abstractmethod
    def _value(self, i: int, j: int, m: Arithmetic) -> Any:
        """The value of the nodes number i and j, in multiprecision numbers."""

    @property
    def _is_entrywise(self) -> bool:
        """Whether all values are known to be >= 0: rounding errors beyond the bounds are then removed."""
        return False

    # -- values ---------------------------------------------------------------------------------
    @property
    def domain(self) -> Domain:
        return Nodes(self.graph)

    _tile_size = 1 << 30  # no tile is larger: values come by whole columns

    @cached_property
    def _held(self) -> np.ndarray:
        return self._rounded(self._matrix())

    def _rounded(self, K: np.ndarray) -> np.ndarray:
        return np.clip(K, 0.0, self.bounds.high) if self._is_entrywise else K

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        i, j = self.domain.validate([x, y]).numbers.tolist()
        if m is FLOAT:
            return self._block(np.array([i]), np.array([j]))[0, 0]
        value = self._value(i, j, m)
        return m.maximum(value, m.real(0)) if self._is_entrywise else value

    def _prepare(self, X: NodeData) -> np.ndarray:
        return X.numbers

    def _block(self, X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
        Y = X if Y is None else Y
        if self._is_small:
            return np.asarray(self._held[np.ix_(X, Y)])
        if len(X) < len(Y):
            return self._block(Y, X).T
        nodes, place = np.unique(Y, return_inverse=True)
        K = np.empty((len(X), len(nodes)))
        for first in range(0, len(nodes), COLUMNS):
            some = slice(first, first + COLUMNS)
            K[:, some] = self._columns(self._units(nodes[some]))[X]
            checkpoint()
        return np.asarray(self._rounded(K)[:, place])

    def _diagonal(self, X: np.ndarray) -> np.ndarray:
        if self._is_small:
            return np.asarray(self._held[X, X])
        nodes, place = np.unique(X, return_inverse=True)
        values = np.empty(len(nodes))
        for first in range(0, len(nodes), COLUMNS):
            some = nodes[first : first + COLUMNS]
            values[first : first + COLUMNS] = self._columns(self._units(some))[some, np.arange(len(some))]
            checkpoint()
        return np.asarray(self._rounded(values)[place])

    def _units(self, nodes: np.ndarray) -> np.ndarray:
        """Columns of the identity."""
        E = np.zeros((self.graph.n, len(nodes)))
        E[nodes, np.arange(len(nodes))] = 1.0
        return E

    def _action(self, X: np.ndarray, Y: np.ndarray | None, V: np.ndarray) -> np.ndarray | None:
        if self._is_small:
            return None
        W = np.zeros((self.graph.n, 1 if V.ndim == 1 else V.shape[1]))
        np.add.at(W, X if Y is None else Y, V.reshape(len(V), -1))
        result = self._columns(W)[X]
        return np.asarray(result[:, 0] if V.ndim == 1 else result)
