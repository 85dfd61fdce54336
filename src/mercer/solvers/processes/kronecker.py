r"""Covariances on a grid that are products over its coordinates.

.. math:: M = s \, K_1 \otimes \dots \otimes K_d + \sigma^2 I

for n = n_1 ... n_d points, one in each cell.  With :math:`K_l = Q_l \Lambda_l Q_l^\top` the eigenvectors of M
are the products of those of its factors (Saatci 2011), and vectors are multiplied by one factor at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...engine.runs import checkpoint
from ...engine.threads import few_threads
from .covariance import Covariance

__all__ = ["KroneckerCovariance"]

Array: TypeAlias = NDArray[np.float64]


class KroneckerCovariance(Covariance):
    r"""A multiple of a Kronecker product, and noise: O(:math:`\sum_l n_l^3 + n \sum_l n_l`).

    Parameters
    ----------
    factors : sequence of arrays of shape (n_l, n_l)
        Symmetric.
    scale : float
        :math:`s > 0`.
    noise : float
        The variance of the noise of all observations.
    cells : array of shape (n,)
        The cell of each observation, counted with the last coordinate first; each cell once.

    Raises ``LinAlgError`` if the matrix is not positive definite to working precision.

    Examples
    --------
    >>> import numpy as np
    >>> A, B = np.array([[2.0, 1.0], [1.0, 2.0]]), np.eye(3)
    >>> M = KroneckerCovariance([A, B], 2.0, 0.5, np.arange(6))
    >>> dense = 2.0 * np.kron(A, B) + 0.5 * np.eye(6)
    >>> bool(np.allclose(M.solve(np.eye(6)), np.linalg.inv(dense)))
    True
    """

    method: ClassVar[str] = "Kronecker"

    def __init__(self, factors: Sequence[Array], scale: float, noise: float, cells: NDArray[np.intp]) -> None:
        self.factors, self.scale, self._cells = list(factors), scale, cells
        self.shape, self.size = tuple(len(K) for K in factors), len(cells)
        found = []
        for K in self.factors:
            checkpoint()
            with few_threads(len(K)):
                found.append(np.linalg.eigh(K))
        self._values = [values for values, _ in found]
        self.vectors = [vectors for _, vectors in found]
        self.spectrum = scale * reduce(np.multiply.outer, self._values) + noise
        low, high = float(self.spectrum.min()), float(self.spectrum.max())
        if not low > np.finfo(np.float64).eps * high:
            raise np.linalg.LinAlgError(f"eigenvalues from {low:.3g} to {high:.3g}")
        self.log_determinant = float(np.log(self.spectrum).sum())

    # -- vectors as arrays on the grid ----------------------------------------------------------
    def on_grid(self, B: Array) -> Array:
        """Columns (n, t) as an array of shape (n_1, ..., n_d, t)."""
        T = np.empty((self.size, B.shape[1]))
        T[self._cells] = B
        return T.reshape(*self.shape, -1)

    def off_grid(self, T: Array) -> Array:
        """The inverse of ``on_grid``."""
        return np.asarray(T.reshape(self.size, -1)[self._cells])

    def solve(self, B: Array) -> Array:
        """``M^-1 B``."""
        T = times_factors([Q.T for Q in self.vectors], self.on_grid(B))
        return self.off_grid(times_factors(self.vectors, T / self.spectrum[..., None]))

    def inverse_diagonal(self) -> Array:
        """The diagonal of ``M^-1``."""
        return self.off_grid(times_factors([Q**2 for Q in self.vectors], 1.0 / self.spectrum[..., None]))[
            :, 0
        ]

    def trace_of_inverse(self) -> float:
        """The trace of ``M^-1``."""
        return float((1.0 / self.spectrum).sum())

    # -- derivatives ----------------------------------------------------------------------------
    def factor_weights(self, C: Array, many: float) -> list[Array]:
        r"""Weights :math:`W_l` of the factors: :math:`\frac12 \langle C C^\top - t M^{-1}, dM \rangle = \langle W_l, dK_l \rangle`.

        For C of shape (n, c), ``many`` is the number t.
        """  # noqa: E501 - one formula
        T = self.on_grid(C)
        result = []
        for own, (values, Q) in enumerate(zip(self._values, self.vectors, strict=True)):
            others = [None if i == own else K for i, K in enumerate(self.factors)]
            left, right = (_unfolded(A, own) for A in (T, times_factors(others, T)))
            rest = [np.ones_like(v) if i == own else v for i, v in enumerate(self._values)]
            share = reduce(np.multiply.outer, rest) / self.spectrum
            trace = _unfolded(share, own).sum(axis=1)
            assert trace.shape == values.shape
            W = left @ right.T
            result.append(0.5 * self.scale * ((W + W.T) / 2 - many * (Q * trace) @ Q.T))
        return result

    def explained(self, rows: Sequence[Array]) -> Array:
        """Variances that the observations explain at m new points.

        ``rows`` holds the values of each factor between the new points and the grid, of shape (m, n_l).
        """
        first, *others = ((V @ Q) ** 2 for V, Q in zip(rows, self.vectors, strict=True))
        T = (1.0 / self.spectrum).reshape(self.shape[0], -1)
        left = first @ T  # of shape (m, n_2 ... n_d)
        for V in others:
            left = np.einsum("mi,mij->mj", V, left.reshape(len(V), V.shape[1], -1))
        return np.asarray(self.scale**2 * left[:, 0])


def times_factors(factors: Sequence[Array | None], T: Array) -> Array:
    """Multiply an array of shape (n_1, ..., n_d, t) by a matrix along each of its first d axes."""
    for A in factors:
        checkpoint()
        shape = T.shape
        moved = T.reshape(shape[0], -1)
        T = (moved if A is None else A @ moved).T.reshape(*shape[1:], shape[0])
    return np.moveaxis(T, 0, -1)


def _unfolded(T: Array, axis: int) -> Array:
    """The array as a matrix with a row for each index of one axis."""
    return np.moveaxis(T, axis, 0).reshape(T.shape[axis], -1)
