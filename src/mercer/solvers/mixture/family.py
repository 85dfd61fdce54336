"""Many symmetric matrices of one size, as the solvers of multiple kernels see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ... import memory
from ...engine.runs import checkpoint
from ..matrix import HeldMatrix, Index, Matrix, Positions

__all__ = ["KernelFamily", "SumMatrix"]

Array: TypeAlias = NDArray[np.float64]


class KernelFamily:
    """Matrices K_1, ..., K_m, each with a positive factor.

    As many matrices are held in memory as one matrix may take (:func:`mercer.memory.can_hold`); the others
    compute their values, or read them from a store, in every pass.

    Parameters
    ----------
    matrices : sequence of Matrix
    factors : array of shape (m,), optional
        Ones by default.
    """

    def __init__(self, matrices: Sequence[Matrix], factors: Array | None = None) -> None:
        self.factors = np.ones(len(matrices)) if factors is None else np.asarray(factors, dtype=np.float64)
        self.size = n = matrices[0].size
        self.matrices: list[Matrix] = []
        count = len(matrices)  # as many are held as one result may take
        while count and not memory.can_hold(8.0 * count * n**2):
            count -= 1
        stack = np.empty((count, n, n))
        for i, matrix in enumerate(matrices):
            checkpoint()
            if i < count:
                stack[i] = matrix.dense()
                matrix = HeldMatrix(stack[i], source=matrix)
            self.matrices.append(matrix)
        self.stack = stack if count == len(matrices) else None

    def __len__(self) -> int:
        return len(self.matrices)

    def select(self, index: Positions) -> KernelFamily:
        """Some of the matrices, which share their values."""
        if len(index) == len(self):
            return self
        part = object.__new__(KernelFamily)
        part.matrices, part.factors = [self.matrices[i] for i in index.tolist()], self.factors[index]
        part.size, part.stack = self.size, None
        return part

    def combine(self, weights: Array) -> Matrix:
        """The sum of the weighted matrices: in memory if it fits, lazy otherwise."""
        used = np.flatnonzero(weights)
        members = [self.matrices[i] for i in used.tolist()]
        lazy = SumMatrix(members, weights[used] * self.factors[used], self.size)
        if not memory.can_hold(8.0 * self.size**2):
            return lazy
        return HeldMatrix(lazy.dense(), source=lazy)

    def images(self, A: Array) -> Array:
        """All K_l A, of shape (m, n, c)."""
        need = 8.0 * len(self) * A.size
        memory.require(need, "the products of the kernels with the coefficients", "Take fewer kernels.")
        if self.stack is not None:  # one product is faster than many
            out = (self.stack.reshape(-1, self.size) @ A).reshape(len(self), *A.shape)
        else:
            out = np.empty((len(self), *A.shape))
            for i, matrix in enumerate(self.matrices):
                checkpoint()
                out[i] = matrix.product(A)
        out *= self.factors.reshape(-1, *(1,) * A.ndim)
        return out

    def prices(self, A: Array) -> Array:
        """All tr(A' K_l A), of shape (m,)."""
        if self.stack is not None:
            return np.asarray(np.maximum(np.einsum("nc,lnc->l", A, self.images(A)), 0.0))
        out = np.empty(len(self))
        for i, matrix in enumerate(self.matrices):
            checkpoint()
            out[i] = float((A * matrix.product(A)).sum())
        return np.maximum(out * self.factors, 0.0)


class SumMatrix(Matrix):
    """A weighted sum of matrices."""

    def __init__(self, members: Sequence[Matrix], weights: Array, size: int) -> None:
        self.members, self.weights, self.size = list(members), weights, size

    @property
    def cost(self) -> float:
        """Elementary operations of a value."""
        return float(sum(member.cost for member in self.members)) + len(self.members)

    def diagonal(self) -> Array:
        """``K_ii``."""
        terms = (w * m.diagonal() for w, m in self._terms())
        return np.asarray(sum(terms, np.zeros(self.size)))

    def block(self, rows: Index, cols: Index, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Values of some rows and columns."""
        every = np.arange(self.size)
        out = np.zeros((len(every[rows]), len(every[cols])))
        for weight, member in self._terms():
            checkpoint()
            out += weight * member.block(rows, cols)
        return out.astype(dtype, copy=False)

    def product(self, V: Array, *, reduced: bool = False) -> Array:
        """``K @ V``."""
        out = np.zeros_like(V, dtype=np.float64)
        for weight, member in self._terms():
            out += weight * member.product(V, reduced=reduced)
        return out

    def dense(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """All of it; bands of rows stay in the cache while matrices in memory are added."""
        held = [(w, m.whole) for w, m in self._terms() if isinstance(m, HeldMatrix) and m.index is None]
        others = [(w, m) for w, m in self._terms() if not (isinstance(m, HeldMatrix) and m.index is None)]
        out, scratch = np.zeros((self.size, self.size)), np.empty(0)
        # Values of a band of rows of the sum of matrices that are in memory: 2 MiB.
        step = max(1, (1 << 18) // max(self.size, 1))
        scratch = np.empty((min(step, self.size), self.size))
        for start in range(0, self.size, step) if held else ():
            band = slice(start, min(start + step, self.size))
            for weight, values in held:
                out[band] += np.multiply(values[band], weight, out=scratch[: band.stop - band.start])
        for weight, member in others:
            checkpoint()
            out += weight * member.dense()
        return out.astype(dtype, copy=False)

    def select(self, index: Positions) -> Matrix:
        """Principal submatrix."""
        return SumMatrix([member.select(index) for member in self.members], self.weights, len(index))

    def _terms(self) -> list[tuple[float, Matrix]]:
        return list(zip(self.weights.tolist(), self.members, strict=True))
