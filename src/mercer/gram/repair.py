"""Positive semidefinite matrices made from indefinite ones."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from .. import memory
from ..domains import Data
from ..errors import InputError, ParameterError
from .base import Gram
from .indexing import Selection
from .spectrum import full_eigenpairs, rounding_level

__all__ = ["Method", "RepairedGram"]

Method: TypeAlias = Literal["clip", "flip", "shift"]

_TRAINING, _CROSS = True, False


class RepairedGram(Gram):
    r"""Positive semidefinite matrix made from a symmetric one: ``K.repair(method)``.

    With :math:`K = U \Lambda U'`:

    ``"clip"``
        negative eigenvalues become zero: the nearest positive semidefinite matrix in Frobenius norm;
    ``"flip"``
        negative eigenvalues change sign: :math:`|K| = (K^2)^{1/2}`;
    ``"shift"``
        :math:`K + s I` with :math:`s = \max(0, -\lambda_{min})`.

    **New points.**  Clip and flip extend by :math:`k(z, X)\, U f(\Lambda) \Lambda^+ U'`, where :math:`f`
    clips or flips and eigenvalues below ``tol`` in absolute value count as zero.  On the training points
    this is the repaired matrix, and together with
    :math:`\tilde k(z, z') = k(z, X)\, U f(\Lambda) (\Lambda^+)^2 U'\, k(X, z')` it is a positive definite
    kernel on the whole domain; what :math:`k(z, z')` has outside the span of the training points is lost.
    Shift is the kernel :math:`k + s\,[\text{same point}]`: a row of ``cross`` is unchanged, for a new
    point counts as different from every training point, even from one that looks the same.

    Attributes
    ----------
    method : {"clip", "flip", "shift"}
    least_before, least_after : float
        Least eigenvalue of the matrix, and of the repaired one.
    n_changed : int
        Number of eigenvalues below ``-tol`` (for shift: n if anything was added, else 0).
    change : float
        Frobenius norm of what was added, relative to that of the matrix.
    shift : float
        What was added to the diagonal (0 unless ``method="shift"``).
    tol : float
        Eigenvalues within ``tol`` of zero count as rounding; by default max(n, 16) eps times the largest.

    Examples
    --------
    >>> from mercer.gram import gram
    >>> from mercer.kernels import Linear
    >>> K = gram(Linear() - 1.0, [[0.0], [1.0], [2.0]])
    >>> print(K.repair("clip"))
    clip: 1 of 3 eigenvalues were negative; least eigenvalue -1.64575 -> 0; relative change 0.411 (Frobenius)
    """

    def __init__(self, base: Gram, method: Method, tol: float | None = None) -> None:
        base._require_symmetric("repair")
        if method not in get_args(Method):
            raise ParameterError(f"repair: `method` must be 'clip', 'flip' or 'shift'. Got {method!r}.")
        if tol is not None and not (np.isfinite(tol) and tol >= 0):
            raise ParameterError(f"repair: `tol` must be a nonnegative number. Got {tol!r}.")
        self.base, self.kernel, self.shape, self.method = base, base.kernel, base.shape, method
        values, U = full_eigenpairs(base, vectors=method != "shift")
        self._largest = float(np.abs(values).max(initial=0.0))
        self.tol = rounding_level(len(values), base._eps, self._largest) if tol is None else float(tol)
        self.least_before = float(values[-1]) if values.size else 0.0
        self.shift = max(0.0, -self.least_before) if method == "shift" else 0.0
        if method == "shift":
            repaired, self.n_changed = values + self.shift, len(values) if self.shift else 0
        else:
            kept = np.where(np.abs(values) > self.tol, values, 0.0)
            repaired = np.maximum(kept, 0.0) if method == "clip" else np.abs(kept)
            self.n_changed = int(np.sum(values < -self.tol))
            self._keep(U, kept, repaired)
        self.least_after = float(repaired.min(initial=np.inf)) if values.size else 0.0
        norm = float(np.linalg.norm(values))
        self.change = float(np.linalg.norm(repaired - values)) / norm if norm else 0.0
        self._kind = _TRAINING

    def _keep(self, U: np.ndarray, kept: np.ndarray, repaired: np.ndarray) -> None:
        """Keep a square root of the repaired matrix, and the map from old rows to rows of that root."""
        used = repaired > 0
        root = np.sqrt(repaired[used])
        self._root = U[:, used] * root  # n x r with K~ = R R'
        self._map = U[:, used] * (root / kept[used])  # n x r: a new row is k(z, X) M, and K M = R
        self._left = self._root

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.base.dtype

    @property
    def is_symmetric(self) -> bool:
        """Whether rows and columns are the same points."""
        return self._kind is _TRAINING

    def _values(self, rows: Selection, cols: Selection, progress: bool = False) -> np.ndarray:
        if self.method != "shift":
            values = self._left[rows] @ self._root[cols].T
            if self.is_symmetric and isinstance(rows, slice) and isinstance(cols, slice) and rows == cols:
                values = (values + values.T) / 2
            return np.asarray(values, dtype=self.dtype)
        values = self.base._values(rows, cols, progress)
        if self.is_symmetric:
            i = np.arange(self.shape[0])
            values[i[rows][:, None] == i[cols]] += self.shift
        return values

    def diagonal(self) -> np.ndarray:
        """Values of each point with itself."""
        self._require_symmetric("diagonal")
        if self.method == "shift":
            return np.asarray(self.base.diagonal() + self.shift).astype(self.dtype)
        return np.asarray(np.einsum("ij,ij->i", self._root, self._root), dtype=self.dtype)

    def _cross(self, Z: Data) -> RepairedGram:
        if not self.is_symmetric:
            raise InputError(
                "RepairedGram.cross extends the matrix of the training points: use K.repair(...).cross(Z)."
            )
        result = object.__new__(RepairedGram)
        result.__dict__.update(self.__dict__)
        result.base = self.base._cross(Z)
        result.shape, result._kind = (result.base.shape[0], self.shape[1]), _CROSS
        if self.method != "shift":
            n, r = result.shape[0], self._map.shape[1]
            memory.require(8 * n * r, f"the repaired features of {n} new points")
            result._left = result.base._product(self._map, progress=True)
        return result

    def _selected(self, index: np.ndarray) -> RepairedGram:
        result = object.__new__(RepairedGram)
        result.__dict__.update(self.__dict__)
        result.shape = (len(index), len(index))
        if self.method == "shift":
            result.base = self.base._selected(index)
        else:  # new points are brought to the repaired feature space by all training points
            result._root = result._left = self._root[index]
        return result

    def _self(self, Z: Any) -> np.ndarray:
        if self.method == "shift":
            return np.asarray(self.base._self(Z) + self.shift)
        rows = self.base._cross(Z)._product(self._map)
        return np.asarray(np.einsum("ij,ij->i", rows, rows))

    @property
    def _eps(self) -> float:
        return self.base._eps

    def _points(self, index: np.ndarray) -> list[Any]:
        return self.base._points(index)

    def _scale(self) -> float:
        return max(self.base._scale(), self._largest)

    def _value_error(self, index: np.ndarray) -> float:
        return self.base._value_error(index)

    def __str__(self) -> str:
        n = self.shape[1]
        what = (
            f"{self.shift:.6g} added to the diagonal"
            if self.method == "shift"
            else f"{self.n_changed} of {n} eigenvalues were negative"
        )
        return (
            f"{self.method}: {what}; least eigenvalue {self.least_before:.6g} -> {self.least_after:.6g}; "
            f"relative change {self.change:.3g} (Frobenius)"
        )
