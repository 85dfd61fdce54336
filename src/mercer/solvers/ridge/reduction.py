r"""A symmetric matrix turned into a narrow band once, so that every shift of it is solved cheaply.

Householder reflections in blocks give :math:`A = Q B Q^\top` with orthogonal Q and a band matrix B.  That is
half of an eigendecomposition, and the fast half: products of large matrices throughout, where the other half
(from the band to the diagonal) waits for memory.  Afterwards, for any penalty :math:`\alpha`,
:math:`(A + \alpha I)^{-1} y` costs two products with Q, and the diagonal of the inverse
O(n^2 :data:`WIDTH`) operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack

from ...engine.threads import single_threaded_blas

__all__ = ["BandReduction", "ShiftedBand"]

Array: TypeAlias = NDArray[np.float64]

#: Width of the band: products with this number of columns run at full speed, and the band is still narrow.
WIDTH = 64

#: Rows of a large matrix that are updated at a time: what is subtracted from them stays in cache.
ROWS = 512


@dataclass(frozen=True)
class ShiftedBand:
    """The Cholesky factor of ``B + alpha I``, in the storage of LAPACK (lower band)."""

    factor: Array

    @property
    def log_determinant(self) -> float:
        """``log det (B + alpha I)``."""
        return 2.0 * float(np.log(self.factor[0]).sum())

    def solve(self, right: Array) -> Array:
        """``(B + alpha I)^-1 right``."""
        return np.asarray(linalg.cho_solve_banded((self.factor, True), right, check_finite=False))


class BandReduction:
    """``A = Q B Q'`` for a symmetric matrix, on the space orthogonal to a given vector if there is one.

    Parameters
    ----------
    A : array of shape (n, n)
        Symmetric; overwritten.
    without : array of shape (n,), optional
        A direction to leave out: ``Q`` then has n - 1 columns, all orthogonal to it.

    Attributes
    ----------
    transposed : array of shape (m, n)
        ``Q'``.
    band : array of shape (width + 1, m)
        The lower half of B by diagonals.
    """

    def __init__(self, A: Array, without: Array | None = None) -> None:
        reflector = None
        if without is not None:
            # A unit vector v such that I - 2 v v' takes the first axis to the direction (or its opposite).
            v = without / np.linalg.norm(without)
            v[0] += np.copysign(1.0, v[0])
            reflector = v = np.asarray(v / np.linalg.norm(v))
            p = 2.0 * (A @ v)
            w = p - (v @ p) * v
            A -= np.outer(w, v)
            A -= np.outer(v, w)
            A = np.ascontiguousarray(A[1:, 1:])
        m = len(A)
        self.width = min(WIDTH, max(1, m - 1))
        panels = _reduce(A, self.width)
        self.band = np.zeros((self.width + 1, m))
        for offset in range(min(self.width + 1, m)):
            self.band[offset, : m - offset] = np.diagonal(A, -offset)
        self.transposed = _accumulate(panels, len(A), reflector)

    @property
    def norm(self) -> float:
        """The largest row sum of absolute values of B, which bounds its eigenvalues."""
        size = np.abs(self.band)
        rows, m = size[0].copy(), size.shape[1]
        for offset in range(1, min(self.width + 1, m)):
            rows[offset:] += size[offset, : m - offset]
            rows[: m - offset] += size[offset, : m - offset]
        return float(rows.max(initial=0.0))

    def shifted(self, alpha: float) -> ShiftedBand:
        """Factor ``B + alpha I``; raise ``LinAlgError`` if it is not positive definite."""
        shifted = self.band.copy()
        shifted[0] += alpha
        return ShiftedBand(linalg.cholesky_banded(shifted, lower=True, overwrite_ab=True, check_finite=False))

    def inverse_diagonal(self, shifted: ShiftedBand) -> Array:
        """The diagonal of ``Q (B + alpha I)^-1 Q'``: squared norms of the columns of ``L^-1 Q'``.

        Forward substitution by blocks of rows: each needs only the one before, so that nothing is stored.
        """
        Q, b = self.transposed, self.width
        m, n = Q.shape
        total, ones = np.zeros(n), np.ones(b)
        window = np.zeros((2 * b, n))  # the last block of L^-1 Q', and the next block of Q'
        for start in range(0, m, b):
            count = min(b, m - start)
            inverse, left = _blocks(shifted.factor, start, count, b)
            window[b : b + count] = Q[start : start + count]
            solved = window[:count]
            solved[...] = np.hstack([-inverse @ left, inverse]) @ window[: b + count]
            total += ones[:count] @ (solved * solved)
        return total


def _reduce(A: Array, b: int) -> list[tuple[Array, Array]]:
    """Reduce A to a band of width b in place, its lower half; return the block reflectors ``I - V T V'``."""
    panels = []
    for k in range(0, len(A) - b - 1, b):
        V, T = _panel(A[k + b :, k : k + b])
        rest = A[k + b :, k + b :]
        X = _symmetric_product(rest, V) @ T
        W = X - V @ (0.5 * (T.T @ (V.T @ X)))
        left, right = np.hstack([W, V]), np.hstack([V, W])
        for rows, columns in _bands(len(rest)):
            rest[rows, columns] -= left[rows] @ right[columns].T
        panels.append((V, T))
    return panels


def _bands(n: int) -> Iterator[tuple[slice, slice]]:
    """Bands of rows, each with the columns up to the diagonal: together the lower half."""
    for start in range(0, n, ROWS):
        stop = min(start + ROWS, n)
        yield slice(start, stop), slice(0, stop)


def _symmetric_product(A: Array, V: Array) -> Array:
    """``A @ V`` from the lower half of A."""
    result = np.zeros_like(V)
    for rows, _ in _bands(len(A)):
        left, square = A[rows, : rows.start], np.tril(A[rows, rows])  # above the diagonal A is out of date
        result[rows] += left @ V[: rows.start] + square @ V[rows] + np.tril(square, -1).T @ V[rows]
        result[: rows.start] += left.T @ V[rows]
    return result


def _panel(P: Array) -> tuple[Array, Array]:
    """QR of a tall panel: R is left in it, the reflectors are returned.

    Its many short steps run on one thread, where they do not wait for another.
    """
    with single_threaded_blas():
        packed, tau, _, info = lapack.dgeqrf(P)
    if info:
        raise np.linalg.LinAlgError(f"dgeqrf failed with info={info}")
    count = len(tau)
    V = np.tril(packed[:, :count], -1)
    V[np.arange(count), np.arange(count)] = 1.0
    overlaps, T = V.T @ V, np.diag(tau)
    for j in range(1, count):
        T[:j, j] = -tau[j] * (T[:j, :j] @ overlaps[:j, j])
    P[...] = 0.0
    P[:count] = np.triu(packed[:count])
    return V, T


def _accumulate(panels: list[tuple[Array, Array]], m: int, reflector: Array | None) -> Array:
    """``Q'``, from the last reflector to the first: each touches only what the later ones have filled."""
    Q = np.eye(m)  # its transpose is built: rows of it are columns of Q
    for V, T in reversed(panels):
        rest = Q[m - len(V) :, m - len(V) :]
        for start in range(0, len(rest), ROWS):
            rows = rest[start : start + ROWS]
            rows -= ((rows @ V) @ T.T) @ V.T
    if reflector is None:
        return Q
    whole = np.zeros((m, m + 1))
    whole[:, 1:] = Q
    whole -= np.outer(2.0 * (whole @ reflector), reflector)
    return whole


def _blocks(factor: Array, start: int, count: int, b: int) -> tuple[Array, Array]:
    """The inverse of a diagonal block of the factor, and the block to the left of it (b columns)."""
    r, c = np.arange(count)[:, None], np.arange(max(b, count))
    inside = np.where(r >= c[:count], factor[np.abs(r - c[:count]), start + c[:count]], 0.0)
    left = np.zeros((count, b))
    if start:
        c = c[:b]
        left = np.where(c >= r, factor[np.minimum(b + r - c, b), start - b + c], 0.0)
    return linalg.solve_triangular(inside, np.eye(count), lower=True, check_finite=False), left
