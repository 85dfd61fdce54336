"""The Gaussian kernel with a full matrix."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..algebra.simple import SimpleKernel
from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Property, Status
from ..domains import Data, Domain, Vectors, size
from ..engine import pairwise
from ..engine.program import Builder, Value
from ..errors import ParameterError
from ..intervals import Interval
from ..kernel import Gradient, Prepared
from ..parameters import parameter
from ..spectral_density import EllipticalNormal
from .radial import Gaussian, dense
from .widths import SAFE_RANGE

__all__ = ["Mahalanobis"]


class Mahalanobis(SimpleKernel):
    r"""Gaussian kernel with a full matrix of inverse squared widths.

    .. math:: k(x, y) = \exp\left(-\tfrac12 (x - y)^\top M (x - y)\right)

    Positive definite for every symmetric positive semidefinite :math:`M`, as the Gaussian kernel after the
    linear map :math:`F` with :math:`M = F^\top F`; strictly iff :math:`M` is positive definite.  Infinitely
    divisible.  Block cost: O((n + m) d^2 + n m d).

    Parameters
    ----------
    matrix : array of shape (d, d)
        The matrix :math:`M`.  It is used through its factor :math:`F`; eigenvalues that are zero to rounding
        count as zero.

    Examples
    --------
    >>> k = Mahalanobis([[2.0, 1.0], [1.0, 2.0]])
    >>> round(k([0.0, 0.0], [1.0, 1.0]), 6) == round(Gaussian(1.0)([0.0], [6.0**0.5]), 6)
    True
    """

    matrix: np.ndarray = parameter(ndim=(2,))
    _overflow: ClassVar[str | None] = None

    def _validate(self) -> None:
        M = self.matrix
        if M.shape[0] != M.shape[1] or not M.size:
            raise ParameterError(f"Mahalanobis: `matrix` must be square and not empty. Got shape {M.shape}.")
        asymmetry = np.abs(M - M.T).max()
        if asymmetry > 8 * np.finfo(float).eps * np.abs(M).max():
            raise ParameterError(
                f"Mahalanobis: `matrix` must be symmetric. Its largest asymmetry is {asymmetry:.3g}."
            )
        least, rounding = self._spectrum[0][0], self._rounding
        if least < -rounding:
            raise ParameterError(
                f"Mahalanobis: `matrix` must be positive semidefinite. Its least eigenvalue is {least:.6g}."
            )

    @cached_property
    def _spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = np.linalg.eigh((self.matrix + self.matrix.T) / 2)
        return values, vectors

    @property
    def _rounding(self) -> float:
        """Bound on the error of the computed eigenvalues."""
        values = self._spectrum[0]
        return float(16 * len(values) * np.finfo(float).eps * np.abs(values).max())

    @property
    def _is_definite(self) -> bool:
        return bool(self._spectrum[0][0] > self._rounding)

    @cached_property
    def factor(self) -> np.ndarray:
        """Matrix ``F`` with ``F' F`` equal to the matrix, to rounding; as many rows as its rank."""
        if self._is_definite:
            return np.ascontiguousarray(np.linalg.cholesky((self.matrix + self.matrix.T) / 2).T)
        values, vectors = self._spectrum
        kept = values > self._rounding
        return np.ascontiguousarray((vectors[:, kept] * np.sqrt(values[kept])).T)

    @property
    def domain(self) -> Domain:
        return Vectors(dim=len(self.matrix))

    def formula(self, D: Any, m: Arithmetic) -> Any:
        return m.exp(-D / 2)

    def _pair(self, x: Any, y: Any, m: Arithmetic) -> tuple[Any]:
        difference = [a - b for a, b in zip(x, y, strict=True)]
        image = [
            m.fsum(m.real(f) * d for f, d in zip(row, difference, strict=True))
            for row in self.factor.tolist()
        ]
        return (m.fsum(z * z for z in image),)

    def _prepare(self, X: Data) -> Prepared:
        return Prepared((X, self._image(X)))

    def _image(self, X: Data) -> np.ndarray:
        return np.asarray(X @ self.factor.T.astype(X.dtype))

    def _pairs(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray]:
        points, image = X.parts
        others, columns = (points, None) if Y is None else Y.parts
        if not _within(SAFE_RANGE, image, columns):
            # Far from the origin the map loses digits: subtract a point of the tile first.
            origin = (points if size(points) else others)[[0]]
            image = self._image(_shift(points, origin))
            columns = None if Y is None else self._image(_shift(others, origin))
        # A tile spread over more widths is computed from differences of points, at d times the cost.
        if _within(256.0, image, columns):
            return (pairwise.squared_distances(image, columns),)
        A, B = dense(points), dense(others)
        D = np.empty((len(A), len(B)), dtype=np.result_type(A, B))
        for i, row in enumerate(A):  # O(n m d^2)
            image = self._image(B - row)
            D[i] = np.einsum("ij,ij->i", image, image)
        return (D,)

    def _steps(self, b: Builder, X: Prepared, Y: Prepared | None) -> tuple[Value] | None:
        image, columns = X.parts[1], None if Y is None else Y.parts[1]
        return (b.squared_distances(image, columns),) if _within(SAFE_RANGE, image, columns) else None

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return np.ones(len(X), dtype=X.parts[0].dtype)

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        return self._block(X, Y), {}

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "pull-back",
            "the Gaussian kernel after the linear map F, M = F'F"
            + (", which is one-to-one because M is positive definite" if self._is_definite else ""),
            strict=self._is_definite,
            premises=[Gaussian(1.0).certificate.positive],
        )

    def _infinitely_divisible(self) -> Claim:
        reason = "|F x - F y|^2 is negative definite"
        return Claim(Property.NEGATIVE, Status.PROVED, f"-log {self!r}", "squared distance", reason)

    def _spectral_density(self) -> EllipticalNormal:
        return EllipticalNormal(self.factor)

    bounds = Interval(0.0, 1.0)

    diagonal_bounds = Interval(1.0, 1.0)


def _within(limit: float, *images: np.ndarray | None) -> bool:
    return all(image is None or not image.size or np.abs(image).max() <= limit for image in images)


def _shift(X: Data, origin: Data) -> np.ndarray:
    return np.asarray(dense(X) - dense(origin))
